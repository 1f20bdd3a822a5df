//! Changes of one section. Every byte outside of the section stays, and a change that would alter what another section
//! is (such as code that is never closed) is refused.

mod day_log;
mod decision_log;
mod joining;

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::pieces::{COMMENT_END, ends_fence, fence_of, is_thematic_break, item_without_box, open_box};
use super::tasks::{NestedTask, OpenItem, TaskPlace, first_paragraph, is_marked_done, lists_tasks};
use super::{BankDocument, BankInvalid};

pub(super) use decision_log::{REASON, cells, decisions_of_table};

/// A list marker at the beginning of a line: its spaces, its sign, and its number where it has one.
static MARKER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^( {0,3})(?:([-*+])|(\d{1,9})([.)]))(?:[ \t]+|\r?\n|$)").ok());
const DEEPEST_LEVEL: usize = 6;
/// The boxes of tasks, as they stand before the words of an item.
const BOXES: [&str; 3] = ["[ ] ", "[x] ", "[X] "];
/// An item below another one has at least so many more spaces before it.
const LEAST_NESTING: usize = 2;

/// An item of a list that others may stand below.
struct ItemAbove<'a> {
    indent: usize,
    words: &'a str,
    /// The place among the open items. None where it is none.
    task: Option<usize>,
}

/// The marker of a list item at the outermost level.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ListMarker {
    Bullet(String),
    Number(u32, String),
}

impl ListMarker {
    fn of(line: &str) -> Option<Self> {
        let found = MARKER.as_ref()?.captures(line)?;
        match found.get(2) {
            Some(sign) => Some(Self::Bullet(sign.as_str().to_owned())),
            None => Some(Self::Number(found[3].parse().ok()?, found[4].to_owned())),
        }
    }
}

/// Tells of line after line whether it is code or a comment.
#[derive(Debug, Default)]
struct Enclosed {
    /// The mark that closes the code or the comment that the last line was in.
    closing: Option<String>,
}

impl Enclosed {
    /// Reads the next line. Says whether it is outside of code and comments.
    fn is_outside(&mut self, line: &str) -> bool {
        let trimmed = line.trim();
        match &self.closing {
            Some(mark) => {
                if is_end(trimmed, mark) {
                    self.closing = None;
                }
                false
            }
            None => {
                self.closing = fence_of(trimmed).or_else(|| end_of_html(trimmed).filter(|end| !is_end(trimmed, end)));
                self.closing.is_none()
            }
        }
    }
}

/// Says whether a line ends what a mark closes: code, a comment, or an element of HTML.
fn is_end(line: &str, mark: &str) -> bool {
    if mark.starts_with(['`', '~']) { ends_fence(line, mark) } else { line.to_lowercase().contains(mark) }
}

/// Returns what ends the comment, or the element whose text is no markdown, that a line begins with. One that begins
/// within a line is prose about comments, or ends in its paragraph.
fn end_of_html(line: &str) -> Option<String> {
    const RAW: [&str; 4] = ["pre", "script", "style", "textarea"];
    if line.starts_with("<!--") {
        return Some(COMMENT_END.to_owned());
    }
    let name = line.strip_prefix('<')?.split(|c: char| !c.is_ascii_alphanumeric()).next()?.to_lowercase();
    RAW.contains(&name.as_str()).then(|| format!("</{name}>"))
}

/// Returns what stands before code or a comment that is never closed: what comes after would be part of it.
fn before_unclosed(text: &str) -> &str {
    let mut enclosed = Enclosed::default();
    let (mut at, mut outside) = (0, 0);
    for line in text.split_inclusive('\n') {
        // The line that closes code is inside of it, and what follows is outside.
        if enclosed.is_outside(line) || enclosed.closing.is_none() {
            outside = at + line.len();
        }
        at += line.len();
    }
    &text[..outside]
}

/// Returns what stands before code that is never closed, and before the settings that a board of Obsidian has at its
/// end.
fn before_tail(text: &str) -> &str {
    const SETTINGS: &str = "%% kanban:settings";
    let written = before_unclosed(text);
    let begins_line = |at: &usize| *at == 0 || written[..*at].ends_with('\n');
    let settings = written.rfind(SETTINGS).filter(begins_line).filter(|_| text.trim_end().ends_with("%%"));
    &written[..settings.unwrap_or(written.len())]
}

impl BankDocument {
    /// Adds a text at the end of what stands directly under a heading, but before code or a comment that is never
    /// closed. An item takes the marker of the list before it.
    ///
    /// # Errors
    /// The file would be too long, or another section would change.
    pub fn append(&self, section: usize, content: &str) -> Result<Self, BankInvalid> {
        let content = self.without_boxes(section, content);
        let content = content.as_ref();
        if let Some(placeholder) = self.placeholder(section) {
            return self.replace_body(section, &self.in_place(content, placeholder.as_ref()));
        }
        let body = self.range_of(section)?;
        let written = before_tail(&self.text()[body.clone()]).trim_end();
        let at = self.end_of_line(body.start + written.len());
        let last = last_marker(written);
        let content = self.in_place(content, last.as_ref().map(|(marker, _)| marker));
        let between = match (written.trim().is_empty(), last) {
            (true, _) if section == 0 && self.text()[..at].trim_matches('\u{feff}').is_empty() => "",
            (true, _) => "\n\n",
            (false, Some((_, is_loose))) if ListMarker::of(&content).is_some() => {
                if is_loose {
                    "\n\n"
                } else {
                    "\n"
                }
            }
            (false, _) => "\n\n",
        };
        let before = &self.text()[..at];
        // The text before the new one may end its line already.
        let between =
            if before.ends_with(['\n', '\r']) { between.strip_prefix('\n').unwrap_or_default() } else { between };
        let after = self.line_ends_after(at, body.end);
        let inserted = self.with_line_ends(&format!("{between}{content}{after}"));
        // The line before keeps the end that it has, which may be another than most lines have.
        let own_end = ["\r\n", "\n"].into_iter().find(|end| self.text()[at..].starts_with(end));
        match (own_end, inserted.strip_prefix(self.line_end())) {
            (Some(own), Some(rest)) => {
                let at = at + own.len();
                self.spliced(section, at..at, &format!("{rest}{}", self.line_end()))
            }
            _ => self.spliced(section, at..at, &inserted),
        }
    }

    /// Adds an entry before the other entries of a section, but after what introduces them. A numbered list goes on
    /// counting instead.
    ///
    /// # Errors
    /// The file would be too long, or another section would change.
    pub fn prepend(&self, section: usize, content: &str) -> Result<Self, BankInvalid> {
        let content = self.without_boxes(section, content);
        let content = content.as_ref();
        if let Some(placeholder) = self.placeholder(section) {
            return self.replace_body(section, &self.in_place(content, placeholder.as_ref()));
        }
        let body = self.range_of(section)?;
        let text = &self.text()[body.clone()];
        let mut at = 0;
        let mut first = None;
        let mut enclosed = Enclosed::default();
        for line in text.split_inclusive('\n') {
            let is_item = enclosed.is_outside(line) && !is_thematic_break(line.trim());
            if let Some(marker) = ListMarker::of(line).filter(|_| is_item) {
                first = Some((at, marker));
                break;
            }
            at += line.len();
        }
        match first {
            Some((_, ListMarker::Number(..))) => self.append(section, content),
            Some((at, marker)) => {
                let content = self.in_place(content, Some(&marker));
                let between = if ListMarker::of(&content).is_some() { "\n" } else { "\n\n" };
                let at = body.start + at;
                self.spliced(section, at..at, &self.with_line_ends(&format!("{content}{between}")))
            }
            None if ListMarker::of(content).is_none() && !text.trim().is_empty() => {
                let at = body.start + (text.len() - text.trim_start().len());
                self.spliced(section, at..at, &self.with_line_ends(&format!("{}\n\n", content.trim())))
            }
            None => self.append(section, content),
        }
    }

    /// Puts a text in the place of what stands directly under a heading.
    ///
    /// # Errors
    /// The file would be too long, or another section would change.
    pub fn replace_body(&self, section: usize, content: &str) -> Result<Self, BankInvalid> {
        let body = self.range_of(section)?;
        let text = &self.text()[body.clone()];
        if text.trim().is_empty() {
            return self.append(section, content);
        }
        let start = body.start + (text.len() - text.trim_start().len());
        let end = self.end_of_line(body.start + text.trim_end().len());
        self.spliced(section, start..end, &self.with_line_ends(content.trim_matches(['\n', '\r'])))
    }

    /// Adds a section at the end of the file, or at the end of what stands under another section.
    ///
    /// # Errors
    /// The file would be too long, or another section would change.
    pub fn with_section(&self, parent: Option<usize>, title: &str, content: &str) -> Result<Self, BankInvalid> {
        let sections = self.sections();
        let (level, last) = match parent.and_then(|parent| sections.get(parent).map(|section| (parent, section))) {
            Some((parent, section)) => {
                let under = sections.iter().skip(parent).take_while(|other| other.is_within(section)).count();
                (section.level + 1, parent + under.max(1) - 1)
            }
            None => {
                let least = sections.iter().skip(1).map(|section| section.level).min();
                // The only heading of its level is the title of the file.
                let titles = sections.iter().filter(|section| Some(section.level) == least).count();
                let level = least.map_or(2, |level| if titles == 1 { level + 1 } else { level });
                (level, sections.len() - 1)
            }
        };
        self.with_section_after(parent, last, level, title, content)
    }

    /// Adds a section of a level behind another one, below `parent` where it is given. What that one has and never
    /// closes stays with it: the new section stands before it then.
    fn with_section_after(
        &self,
        parent: Option<usize>,
        last: usize,
        level: usize,
        title: &str,
        content: &str,
    ) -> Result<Self, BankInvalid> {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let body = self.range_of(last)?;
        let text = &self.text()[body.clone()];
        let is_open = before_unclosed(text).len() < text.len();
        if let Some(next) = self.outermost_at(parent, last, level).filter(|_| is_open) {
            return self.with_section_before(next, level, &title, content);
        }
        let heading = self.heading_of(level, &title);
        let at = self.end_of_line(body.start + before_tail(text).trim_end().len());
        let before = &self.text()[..at];
        let between = match before.trim_matches('\u{feff}') {
            "" => "",
            text if text.ends_with(['\n', '\r']) => "\n",
            _ => "\n\n",
        };
        let after = self.line_ends_after(at, self.sections().get(last).map_or(at, |of| of.body_range().end));
        let content = content.trim_matches(['\n', '\r']);
        let content = if content.is_empty() { String::new() } else { format!("\n\n{content}") };
        let inserted = self.with_line_ends(&format!("{between}{heading}{content}{after}"));
        self.spliced(last, at..at, &inserted)
    }

    /// Returns the outermost section below `parent` that another one is or stands under, and that is not above the
    /// level.
    fn outermost_at(&self, parent: Option<usize>, section: usize, level: usize) -> Option<usize> {
        let own = self.sections().get(section)?;
        let first = parent.map_or(1, |parent| parent + 1);
        let mut above = self.sections().iter().enumerate().take(section + 1).skip(first);
        above.find(|(_, other)| other.level >= level && own.is_within(other)).map(|(at, _)| at)
    }

    /// Adds a section before another one.
    ///
    /// # Errors
    /// The file would be too long, or another section would change.
    fn with_section_before(&self, next: usize, level: usize, title: &str, content: &str) -> Result<Self, BankInvalid> {
        let at = self.sections().get(next).map_or(self.text().len(), |section| section.range().start);
        let before = &self.text()[..at];
        let has_blank = before[before.trim_end().len()..].matches(self.line_end()).count() > 1;
        let is_first = before.trim_matches('\u{feff}').is_empty();
        let blank = if has_blank || is_first { "" } else { "\n" };
        let content = if content.is_empty() { String::new() } else { format!("{content}\n\n") };
        let written = format!("{blank}{}\n\n{content}", self.heading_of(level, title));
        self.spliced(next.saturating_sub(1), at..at, &self.with_line_ends(&written))
    }

    /// Writes a heading in the form that the headings of its level have in the file: underlined, or behind `#`.
    fn heading_of(&self, level: usize, title: &str) -> String {
        let of_level = || self.sections().iter().skip(1).filter(|section| section.level == level);
        let is_underlined = |section| !self.heading(section).trim_start().starts_with('#');
        // A line that begins with another sign may be a list or a quotation.
        let is_plain = title.starts_with(char::is_alphabetic);
        if is_plain && of_level().next().is_some() && of_level().all(is_underlined) {
            let line = if level == 1 { "=" } else { "-" };
            return format!("{title}\n{}", line.repeat(title.chars().count().max(3)));
        }
        format!("{} {title}", "#".repeat(level.clamp(1, DEEPEST_LEVEL)))
    }

    /// Marks an open item as done: its box is ticked, and one without a box has the day behind its words.
    pub(super) fn finished(&self, item: &OpenItem<'_>, day: &str) -> Result<Self, BankInvalid> {
        let (range, mark) = mark_of(item, day);
        self.spliced(item.section, range, &mark)
    }

    /// Marks several open items as done, each with its day.
    ///
    /// # Errors
    /// A section would change otherwise.
    pub(super) fn all_finished(&self, items: &[(OpenItem<'_>, String)]) -> Result<Self, BankInvalid> {
        let mut marks: Vec<(Range<usize>, String)> = items.iter().map(|(item, day)| mark_of(item, day)).collect();
        marks.sort_by_key(|(range, _)| range.start);
        let mut text = self.text().to_owned();
        for (range, mark) in marks.into_iter().rev() {
            text.replace_range(range, &mark);
        }
        let changed = Self::parse(text)?;
        let paths = |document: &Self| document.sections().iter().map(|of| of.path.clone()).collect::<Vec<_>>();
        if paths(self) == paths(&changed) && self.front_matter() == changed.front_matter() {
            return Ok(changed);
        }
        Err(BankInvalid::new("content", "would change other sections"))
    }

    /// Returns the open items: those whose boxes are open, and under a heading of tasks those without a box.
    pub(super) fn open_items(&self) -> Vec<NestedTask<'_>> {
        let mut tasks: Vec<NestedTask<'_>> = Vec::new();
        for (index, section) in self.sections().iter().enumerate() {
            let lists_tasks = lists_tasks(section);
            let Range { start: mut at, end } = section.body_range();
            let mut enclosed = Enclosed::default();
            let mut above: Vec<ItemAbove<'_>> = Vec::new();
            for line in self.body(section).split_inclusive('\n') {
                if enclosed.is_outside(line) {
                    let boxed = open_box(line).map(|(space, text)| (TaskPlace::Box(at + space), text));
                    let plain = || plain_task(&self.text()[at..end]).map(|(to, text)| (TaskPlace::End(at + to), text));
                    let is_box = boxed.is_some();
                    let found = boxed.or_else(|| lists_tasks.then(plain).flatten());
                    if let Some((indent, words)) = list_item(line) {
                        above.retain(|item| item.indent + LEAST_NESTING <= indent);
                        for task in above.iter().filter_map(|item| item.task).filter(|_| is_box) {
                            tasks[task].item.has_open_below = true;
                        }
                        let texts = above.iter().map(|item| item.words).collect();
                        above.push(ItemAbove { indent, words, task: found.is_some().then_some(tasks.len()) });
                        tasks.extend(found.map(|(place, text)| {
                            let (text, has_open_below) = (text.trim(), false);
                            NestedTask { item: OpenItem { section: index, place, text, has_open_below }, above: texts }
                        }));
                    }
                }
                at += line.len();
            }
        }
        tasks
    }

    fn range_of(&self, section: usize) -> Result<Range<usize>, BankInvalid> {
        let section = self.sections().get(section);
        let mut range = section.ok_or_else(|| BankInvalid::new("section", "is not in the file"))?.body_range();
        if range.start == 0 {
            range.start = self.front_matter().len();
        }
        Ok(range)
    }

    /// Returns the line ends that have to follow a text which is put at a place, so that a blank line parts it from
    /// what follows, and the file ends with a line end only where it did, or was empty.
    fn line_ends_after(&self, at: usize, section_end: usize) -> &'static str {
        let (before, rest) = self.text().split_at(at);
        let rest = &rest[..section_end - at];
        let follows = rest.trim_start();
        let sign = if self.line_end() == "\r" { '\r' } else { '\n' };
        let there = rest[..rest.len() - follows.len()].matches(sign).count();
        let is_last = section_end == self.text().len() && follows.is_empty();
        match there {
            0 if is_last && (before.ends_with(['\n', '\r']) || before.trim_matches('\u{feff}').is_empty()) => "\n",
            0 if !is_last => "\n\n",
            1 if !is_last => "\n",
            _ => "",
        }
    }

    /// Returns the end of a line whose text ends at a place: two spaces there break the line, and stay with it.
    fn end_of_line(&self, at: usize) -> usize {
        let rest = &self.text()[at..];
        at + rest.len() - rest.trim_start_matches([' ', '\t']).len()
    }

    /// Returns a content whose items have the marker of the list that they join.
    fn in_place(&self, content: &str, marker: Option<&ListMarker>) -> String {
        let content = content.trim_matches(['\n', '\r']);
        let Some(rest) = content.strip_prefix("- ") else { return content.to_owned() };
        match marker {
            Some(ListMarker::Bullet(sign)) if !content.contains("```") => {
                format!("{sign} {}", rest.replace("\n- ", &format!("\n{sign} ")))
            }
            Some(ListMarker::Number(last, sign)) if !content.contains("```") => {
                let item = |(item, n): (&str, u32)| {
                    let marker = format!("{}{sign} ", last.saturating_add(n));
                    // What belongs to the item is indented as far as its marker is wide.
                    format!("{marker}{}", item.replace("\n  ", &format!("\n{}", " ".repeat(marker.len()))))
                };
                rest.split("\n- ").zip(1..).map(item).collect::<Vec<_>>().join("\n")
            }
            _ => content.to_owned(),
        }
    }

    fn with_line_ends(&self, text: &str) -> String {
        let text = text.replace("\r\n", "\n");
        if self.line_end() == "\n" { text } else { text.replace('\n', self.line_end()) }
    }

    /// Puts a text into one section.
    fn spliced(&self, section: usize, range: Range<usize>, inserted: &str) -> Result<Self, BankInvalid> {
        let text = format!("{}{inserted}{}", &self.text()[..range.start], &self.text()[range.end..]);
        let changed = Self::parse(text)?;
        let (before, after) = (self.sections(), changed.sections());
        let behind = before.len() - section - 1;
        let same = |old: usize, new: usize| {
            let (old, new) = (&before[old], &after[new]);
            old.path == new.path && old.level == new.level && self.section_text(old) == changed.section_text(new)
        };
        let is_same = after.len() >= before.len()
            && self.front_matter() == changed.front_matter()
            && (0..section).all(|index| same(index, index))
            && before[section].path == after[section].path
            && self.heading(&before[section]).trim_end() == changed.heading(&after[section]).trim_end()
            && (0..behind).all(|back| same(before.len() - 1 - back, after.len() - 1 - back));
        if is_same {
            return Ok(changed);
        }
        let problem =
            "would change other sections: close its code blocks and comments, and those of the file before it";
        Err(BankInvalid::new("content", problem))
    }
}

/// Returns what marks an open item as done, and its place.
fn mark_of(item: &OpenItem<'_>, day: &str) -> (Range<usize>, String) {
    match item.place {
        TaskPlace::Box(at) => (at..at + 1, "x".to_owned()),
        TaskPlace::End(at) => (at..at, format!(" (done {day})")),
    }
}

/// Returns the spaces before the marker of a list item, nested or not, and its words. None where the line is no item.
fn list_item(line: &str) -> Option<(usize, &str)> {
    let words = line.trim_start();
    let indent: usize = line[..line.len() - words.len()].chars().map(|c| if c == '\t' { 4 } else { 1 }).sum();
    let found = MARKER.as_ref()?.find(words).filter(|_| !is_thematic_break(words.trim()))?;
    let words = words[found.end()..].trim();
    let unboxed = BOXES.iter().find_map(|mark| words.strip_prefix(mark));
    Some((indent, unboxed.unwrap_or(words)))
}

/// Reads the item of a list that a text begins with. Returns the end of its first paragraph and the words of its first
/// line. None where it has a box, or a mark that it is done.
fn plain_task(text: &str) -> Option<(usize, &str)> {
    let first = text.split_inclusive('\n').next()?;
    let words = item_without_box(first)?;
    let end = first_paragraph(text).len();
    // The mark stands behind the marker of the list.
    let start = first.find(words)?;
    (!is_marked_done(&text[start..end])).then_some((end, words))
}

/// Returns the marker of the list that a text ends with, and whether its items have blank lines between them.
fn last_marker(text: &str) -> Option<(ListMarker, bool)> {
    let mut lines = text.lines().rev().peekable();
    while let Some(line) = lines.next() {
        if let Some(marker) = ListMarker::of(line) {
            let is_loose = lines.next().is_some_and(|above| above.trim().is_empty())
                && lines
                    .find(|line| !line.trim().is_empty())
                    .is_some_and(|above| ListMarker::of(above).is_some() || above.starts_with("  "));
            return Some((marker, is_loose));
        }
        if !line.trim().is_empty() && !line.starts_with([' ', '\t']) {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests;
