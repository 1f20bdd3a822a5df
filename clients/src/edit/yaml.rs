//! YAML, as lines: a map of one level of sections, in block form, such as Goose writes. A section in another form is
//! left alone, with an error.

use super::ConfigEditError;
use crate::document::{ConfigChange, ConfigValue, names_program, starts_program};

const INDENT: &str = "  ";

/// The lines that a block takes: its first line and the one after its last.
struct YamlBlock {
    start: usize,
    end: usize,
}

pub(super) fn apply(text: &str, changes: &[ConfigChange]) -> Result<String, ConfigEditError> {
    let mut lines = lines_of(text);
    let mut is_changed = false;
    for change in changes {
        let ConfigChange::Entry { section, name, value } = change else { continue };
        let section = section.join(".");
        let made = format!("{section}:");
        let at = match section_line(&lines, &section)? {
            Some(at) => at,
            None => {
                let at = end_of_document(&lines);
                if let Some(last) = lines[..at].last_mut().filter(|last| !last.ends_with('\n')) {
                    last.push('\n');
                }
                lines.insert(at, format!("{made}\n"));
                is_changed = true;
                at
            }
        };
        if value_after(&lines[at], &section) == Some("{}") {
            lines[at] = lines[at].replacen("{}", "", 1);
            if lines[at].trim_end() == made {
                lines[at] = format!("{made}\n");
            }
        }
        let indent = child_indent(&lines, at).unwrap_or_else(|| INDENT.to_owned());
        let block = block(name, value, &indent);
        match entry(&lines, at, name, &indent) {
            Some(own) => {
                let lists = entry_lists(&lines.concat(), std::slice::from_ref(&section), name)?;
                let merged = merged(&lines[own.start..own.end], value, lists).unwrap_or_else(|| vec![block]);
                if lines[own.start..own.end] == merged {
                    continue;
                }
                drop(lines.splice(own.start..own.end, merged));
            }
            None => lines.insert(at + 1, block),
        }
        if !lines[at].ends_with('\n') {
            lines[at].push('\n');
        }
        is_changed = true;
    }
    Ok(if is_changed { lines.concat() } else { text.to_owned() })
}

/// Returns the line before which a document ends: the one with its end mark, or the one after the last.
fn end_of_document(lines: &[String]) -> usize {
    lines.iter().rposition(|line| line.trim_end() == "...").unwrap_or(lines.len())
}

/// Puts a value into an entry that starts a program already: its other keys are the user's, and stay, as do the
/// variables in its `lists`. None where it starts none, names a server elsewhere, or is not written as a block.
fn merged(entry_lines: &[String], value: &ConfigValue, lists: Option<ConfigValue>) -> Option<Vec<String>> {
    let ConfigValue::Map(values) = value else { return None };
    let Some(ConfigValue::Map(lists)) = lists else { return None };
    let mut lines = entry_lines.to_vec();
    let indent = child_indent(&lines, 0)?;
    if !starts_program(|key| entry(&lines, 0, key, &indent).is_some()) {
        return None;
    }
    for (name, value) in values {
        let own = lists.iter().find(|(own, _)| own == name).map(|(_, list)| list);
        let value = &value.united(name, own);
        match entry(&lines, 0, name, &indent) {
            Some(_) if value.is_the_users() => {}
            Some(old) if value_after(lines[old.start].trim_start(), name) == Some(&*flow(value)) => {}
            Some(old) => {
                let end = old.end + list_at_left(&lines[old.end..], &indent);
                drop(lines.splice(old.start..end, [block(name, value, &indent)]));
            }
            None => {
                if let Some(last) = lines.last_mut().filter(|last| !last.ends_with('\n')) {
                    last.push('\n');
                }
                lines.push(block(name, value, &indent));
            }
        }
    }
    Some(lines)
}

/// Counts the lines of a list whose items stand as far left as its key, with what stands between them.
fn list_at_left(lines: &[String], indent: &str) -> usize {
    let is_item = |line: &String| line.strip_prefix(indent).is_some_and(|rest| rest.starts_with("- "));
    let is_within = |line: &String| !is_content(line) || indent_of(line).len() > indent.len() || is_item(line);
    let within = lines.iter().take_while(|line| is_within(line));
    within.enumerate().filter(|(_, line)| is_item(line)).last().map_or(0, |(at, _)| at + 1)
}

pub(super) fn remove(text: &str, original: Option<&str>, changes: &[ConfigChange]) -> Result<String, ConfigEditError> {
    let mut lines = lines_of(text);
    let before = original.map(lines_of);
    for change in changes {
        let ConfigChange::Entry { section, name, .. } = change else { continue };
        let section = section.join(".");
        let Some(at) = section_line(&lines, &section)? else { continue };
        let indent = child_indent(&lines, at).unwrap_or_else(|| INDENT.to_owned());
        if let Some(own) = entry(&lines, at, name, &indent) {
            let replaced = match &before {
                Some(before) => section_line(before, &section)?.and_then(|at| {
                    let own = entry(before, at, name, &child_indent(before, at)?)?;
                    Some(before[own.start..own.end].to_vec())
                }),
                None => None,
            };
            lines.splice(own.start..own.end, replaced.unwrap_or_default());
        }
        let Some(before) = &before else { continue };
        if child_indent(&lines, at).is_none() {
            match section_line(before, &section)? {
                None => drop(lines.remove(at)),
                Some(was) => lines[at].clone_from(&before[was]),
            }
        }
    }
    Ok(lines.concat())
}

/// Reads the program of an entry, and its lists of texts, of which each text may stand on a line of its own. What else
/// the entry has is an empty list.
pub(super) fn entry_lists(text: &str, section: &[String], name: &str) -> Result<Option<ConfigValue>, ConfigEditError> {
    let lines = lines_of(text);
    let section = section.join(".");
    let Some(at) = section_line(&lines, &section)? else { return Ok(None) };
    let Some(own) = child_indent(&lines, at).and_then(|indent| entry(&lines, at, name, &indent)) else {
        return Ok(None);
    };
    let mut lists: Vec<(String, ConfigValue)> = Vec::new();
    for line in lines[own.start + 1..own.end].iter().filter(|line| is_content(line)).map(|line| line.trim()) {
        match (line.strip_prefix("- "), lists.last_mut(), line.split_once(':')) {
            (Some(text), Some((_, ConfigValue::List(texts))), _) => texts.push(ConfigValue::Text(scalar(text, &[]).0)),
            (None, _, Some((key, value))) => {
                let value = if names_program(key) { ConfigValue::Text(scalar(value, &[]).0) } else { flow_list(value) };
                lists.push((key.to_owned(), value));
            }
            _ => {}
        }
    }
    Ok(Some(ConfigValue::Map(lists)))
}

/// Reads a list of texts on one line: `[a, "b"]`. What is none is an empty list.
fn flow_list(text: &str) -> ConfigValue {
    let mut texts = Vec::new();
    let mut rest = text.trim().strip_prefix('[');
    while let Some(within) = rest {
        let (text, behind) = scalar(within, &[',', ']']);
        match behind.chars().next() {
            Some(',') => texts.push(ConfigValue::Text(text)),
            Some(']') => {
                // The last comma may end the list.
                texts.extend((!within.trim_start().starts_with(']')).then_some(ConfigValue::Text(text)));
                return ConfigValue::List(texts);
            }
            _ => break,
        }
        rest = behind.get(1..);
    }
    ConfigValue::List(Vec::new())
}

/// Reads the text that a line begins with, in quotes or up to a comment or one of the `ends`. Gives with it what stands
/// behind.
fn scalar<'a>(text: &'a str, ends: &[char]) -> (String, &'a str) {
    let text = text.trim_start();
    let Some(quote @ ('"' | '\'')) = text.chars().next() else {
        let end = text.find(ends).unwrap_or(text.len()).min(text.find(" #").unwrap_or(text.len()));
        let own = if text.starts_with('#') { "" } else { text[..end].trim_end() };
        return (own.to_owned(), &text[end..]);
    };
    let Some(end) = end_of_quoted(text, quote) else { return (text.to_owned(), "") };
    let within = &text[1..end];
    let own = match super::json::value(&text[..=end]).filter(|_| quote == '"') {
        Some(ConfigValue::Text(own)) => own,
        _ => within.replace("''", "'"),
    };
    (own, text[end + 1..].trim_start())
}

/// Finds the quote that ends a text in quotes. Within double ones a backslash escapes, and a single one is written twice.
fn end_of_quoted(text: &str, quote: char) -> Option<usize> {
    let escape = if quote == '"' { '\\' } else { quote };
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, character)) = characters.next() {
        let escapes = |next: &(usize, char)| quote == '"' || next.1 == quote;
        if character == escape && characters.peek().is_some_and(escapes) {
            characters.next();
        } else if character == quote {
            return Some(at);
        }
    }
    None
}

fn lines_of(text: &str) -> Vec<String> {
    text.split_inclusive('\n').map(str::to_owned).collect()
}

/// Finds the line of a section, and refuses one whose value stands on that line.
fn section_line(lines: &[String], section: &str) -> Result<Option<usize>, ConfigEditError> {
    let is_start = |line: &&String| line.split('#').next().is_some_and(|line| !line.trim().is_empty());
    let first = lines.iter().find(is_start).map_or("", |line| line.trim());
    if first.starts_with(['{', '[', '-', '%']) && first != "---" {
        return Err(ConfigEditError::Unsupported("the file".to_owned()));
    }
    let found: Vec<usize> = (0..lines.len()).filter(|&at| value_after(&lines[at], section).is_some()).collect();
    let [at] = found[..] else {
        return if found.is_empty() { Ok(None) } else { Err(ConfigEditError::Unsupported(section.to_owned())) };
    };
    match value_after(&lines[at], section) {
        Some("" | "{}") => Ok(Some(at)),
        _ => Err(ConfigEditError::Unsupported(section.to_owned())),
    }
}

/// Returns what stands behind the key at the left edge, without a comment.
fn value_after<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let quoted = [format!("\"{key}\""), format!("'{key}'"), key.to_owned()];
    let rest = quoted.iter().find_map(|key| line.strip_prefix(key.as_str()))?.trim_start().strip_prefix(':')?;
    let value = if rest.trim_start().starts_with('#') { "" } else { rest.split(" #").next().unwrap_or(rest) };
    Some(value.trim())
}

fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches(' ').len()]
}

fn is_content(line: &str) -> bool {
    let text = line.trim();
    !text.is_empty() && !text.starts_with('#')
}

/// Returns the indent of the entries below a section, where it has some.
fn child_indent(lines: &[String], section: usize) -> Option<String> {
    let first = lines[section + 1..].iter().find(|line| is_content(line))?;
    Some(indent_of(first).to_owned()).filter(|indent| !indent.is_empty())
}

/// Finds an entry of a section: its line, and those below it that are indented more, with what stands between them.
fn entry(lines: &[String], section: usize, name: &str, indent: &str) -> Option<YamlBlock> {
    let ends = |line: &String| is_content(line) && indent_of(line).len() < indent.len();
    let end_of_section =
        lines[section + 1..].iter().position(ends).map_or(lines.len(), |position| section + 1 + position);
    let is_own = |line: &String| line.strip_prefix(indent).is_some_and(|rest| value_after(rest, name).is_some());
    let start = section + 1 + lines[section + 1..end_of_section].iter().position(is_own)?;
    let content = lines[start + 1..end_of_section].iter().enumerate().filter(|(_, line)| is_content(line));
    let below = content.take_while(|(_, line)| indent_of(line).len() > indent.len());
    let end = start + 1 + below.last().map_or(0, |(position, _)| position + 1);
    Some(YamlBlock { start, end })
}

fn block(name: &str, value: &ConfigValue, indent: &str) -> String {
    let ConfigValue::Map(entries) = value else { return format!("{indent}{name}: {}\n", flow(value)) };
    let mut block = format!("{indent}{name}:\n");
    for (name, value) in entries {
        block.push_str(&format!("{indent}{INDENT}{name}: {}\n", flow(value)));
    }
    block
}

/// Writes a value on one line, in the form that JSON and YAML share.
fn flow(value: &ConfigValue) -> String {
    match value {
        ConfigValue::Text(text) => quoted(text),
        ConfigValue::Flag(flag) => flag.to_string(),
        ConfigValue::Number(number) => number.to_string(),
        ConfigValue::List(values) => format!("[{}]", values.iter().map(flow).collect::<Vec<_>>().join(", ")),
        ConfigValue::Map(entries) => {
            let entries = entries.iter().map(|(name, value)| format!("{name}: {}", flow(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Quotes a text with double quotes, in which a backslash escapes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            character if character.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            character => out.push(character),
        }
    }
    out.push('"');
    out
}
