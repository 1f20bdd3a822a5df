//! The blocks of an answer: fenced code, list items, paragraphs of sentences.

use super::classify::is_output_line;
use crate::learning::transcript::{FenceLine, Fences};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Block {
    Code(CodeBlock),
    Text(Text),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CodeBlock {
    /// The language that the fence names, in lower case. It is empty where the fence names none.
    pub(super) language: String,
    pub(super) body: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    /// The marker of the list item with its indentation. It is empty in a text that is no list item.
    pub(super) marker: String,
    pub(super) sentences: Vec<String>,
    pub(super) kind: TextKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    Paragraph,
    Bullet,
    /// An item of an ordered list.
    Step,
    Heading,
    /// A row of a table.
    Row,
}

pub(super) fn blocks(answer: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut fences = Fences::default();
    let mut code: Option<CodeBlock> = None;
    let mut open: Option<(String, TextKind, String)> = None;
    for line in answer.lines() {
        match fences.next(line) {
            FenceLine::Opens { info } => {
                flush(&mut open, &mut blocks);
                let language = info.split(|c: char| c.is_whitespace() || ",{:".contains(c)).next().unwrap_or_default();
                code = Some(CodeBlock { language: language.to_lowercase(), body: String::new() });
            }
            FenceLine::Inside => {
                if let Some(code) = &mut code {
                    code.body.push_str(line);
                    code.body.push('\n');
                }
            }
            FenceLine::Closes => blocks.extend(code.take().map(Block::Code)),
            FenceLine::Outside => take(line, &mut open, &mut blocks),
        }
    }
    flush(&mut open, &mut blocks);
    blocks.extend(code.map(Block::Code));
    blocks
}

fn take(line: &str, open: &mut Option<(String, TextKind, String)>, blocks: &mut Vec<Block>) {
    let text = line.trim();
    if text.is_empty() {
        return flush(open, blocks);
    }
    if text.starts_with('#') && text.trim_start_matches('#').starts_with(' ') {
        flush(open, blocks);
        let heading = (String::new(), TextKind::Heading, text.trim_start_matches('#').trim().to_owned());
        return flush(&mut Some(heading), blocks);
    }
    if text.starts_with('|') && text.len() > 1 {
        flush(open, blocks);
        return flush(&mut Some((String::new(), TextKind::Row, text.to_owned())), blocks);
    }
    if let Some((marker, kind, rest)) = item(line) {
        flush(open, blocks);
        *open = Some((marker, kind, rest.to_owned()));
        return;
    }
    match open {
        // The line continues the open text. `sentences` finds out whether it stands for itself.
        Some((_, _, so_far)) => {
            so_far.push('\n');
            so_far.push_str(text);
        }
        None => *open = Some((String::new(), TextKind::Paragraph, text.to_owned())),
    }
}

/// Returns the marker of a list item with its indentation, its kind, and the text behind the marker. None where the
/// line begins no list item.
fn item(line: &str) -> Option<(String, TextKind, &str)> {
    let text = line.trim_start();
    let indent = &line[..line.len() - text.len()];
    if let Some(rest) = text.strip_prefix(['-', '*', '+', '•', '–'])
        && rest.starts_with([' ', '\t'])
        && !rest.trim().is_empty()
    {
        return Some((format!("{indent}- "), TextKind::Bullet, rest.trim()));
    }
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let rest = &text[digits..];
    let after = rest.strip_prefix(['.', ')', '、', '．']).filter(|_| (1..=3).contains(&digits))?;
    let spaced = after.starts_with([' ', '\t']) || after.starts_with(|c: char| !c.is_ascii());
    (spaced && !after.trim().is_empty())
        .then(|| (format!("{indent}{}. ", &text[..digits]), TextKind::Step, after.trim()))
}

fn flush(open: &mut Option<(String, TextKind, String)>, blocks: &mut Vec<Block>) {
    let Some((marker, kind, text)) = open.take() else { return };
    let sentences = sentences(&text);
    if !sentences.is_empty() {
        blocks.push(Block::Text(Text { marker, sentences, kind }));
    }
}

/// Cuts a text into sentences. A sentence ends at a full stop, question mark or exclamation mark that has white space
/// behind it or is of a script that uses none. A line that a program wrote is a sentence by itself. Other lines are
/// prose that was wrapped, and are joined.
pub(crate) fn sentences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut current = String::new();
    for line in text.lines() {
        if is_output_line(line) {
            push(&mut found, &mut current);
            found.push(line.trim().to_owned());
            continue;
        }
        if !current.is_empty() {
            current.push(' ');
        }
        let mut quoted = false;
        let mut signs = line.chars().peekable();
        while let Some(sign) = signs.next() {
            quoted ^= sign == '`';
            current.push(sign);
            let ends = match sign {
                '。' | '！' | '？' => true,
                '.' | '!' | '?' => signs.peek().is_none_or(|c| c.is_whitespace()) && !is_abbreviation(&current),
                _ => false,
            };
            if ends && !quoted {
                push(&mut found, &mut current);
            }
        }
    }
    push(&mut found, &mut current);
    found
}

fn push(found: &mut Vec<String>, current: &mut String) {
    let text = std::mem::take(current);
    if text.chars().any(char::is_alphanumeric) {
        found.push(text.trim().to_owned());
    }
}

fn is_abbreviation(text: &str) -> bool {
    let mut words = text.rsplit(char::is_whitespace).map(|word| word.trim_start_matches('('));
    let (last, before) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_known = matches!(last, "e.g." | "i.e." | "etc." | "vs." | "z.B." | "ca." | "p.ej." | "approx." | "cf.");
    // A single letter is part of one, as in `z. B.`. A unit, or a capital on its own, may end a sentence.
    let is_unit = before.ends_with(|c: char| c.is_ascii_digit());
    is_known
        || (is_letter(last, char::is_lowercase) && !is_unit)
        || (is_letter(last, char::is_alphabetic) && is_letter(before, char::is_lowercase))
}

/// Tells whether a word is a single letter of a kind with a full stop.
fn is_letter(word: &str, is_kind: fn(char) -> bool) -> bool {
    let mut signs = word.chars();
    signs.next().is_some_and(is_kind) && signs.as_str() == "."
}
