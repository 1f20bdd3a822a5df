//! A markdown file as front matter and sections. The parts are places in the text, so a file that nobody changed is
//! written back byte for byte. Only headings that stand by themselves begin a section: not those in code, in comments,
//! in quotations or in lists.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::{BANK_FILE_MAX_BYTES, BankInvalid, SECTION_SEPARATOR};
use crate::memory::normalised;

/// A file of a bank, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankDocument {
    text: String,
    front_matter: Range<usize>,
    /// The sections, which cover the text. The first one has no heading: it is the text before the first heading.
    sections: Vec<BankSection>,
    line_end: &'static str,
}

/// A heading with what stands directly under it, up to the next heading of any level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankSection {
    /// 1 to 6, and 0 for what stands before the first heading.
    pub level: usize,
    /// The titles of the headings that lead here, the section's own last.
    pub path: Vec<String>,
    heading: Range<usize>,
    body: Range<usize>,
}

impl BankSection {
    /// Returns the title of the heading without its markup. It is empty for what stands before the first heading.
    pub fn title(&self) -> &str {
        self.path.last().map(String::as_str).unwrap_or_default()
    }

    /// Returns the path as operations name it.
    pub fn name(&self) -> String {
        self.path.join(SECTION_SEPARATOR)
    }

    /// Returns where the section is, its heading included.
    pub(super) fn range(&self) -> Range<usize> {
        self.heading.start..self.body.end
    }

    pub(super) fn body_range(&self) -> Range<usize> {
        self.body.clone()
    }

    /// Says whether this section is the other one, or stands under it.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        self.path.starts_with(&other.path) && self.heading.start >= other.heading.start
    }
}

impl BankDocument {
    /// Reads a text as sections. The time grows linearly with the text.
    ///
    /// # Errors
    /// The text is longer than a file of a bank may be.
    pub fn parse(text: impl Into<String>) -> Result<Self, BankInvalid> {
        let text = text.into();
        if text.len() > BANK_FILE_MAX_BYTES {
            let problem = format!("has {} bytes; at most {} KiB are allowed", text.len(), BANK_FILE_MAX_BYTES >> 10);
            return Err(BankInvalid::new("file", problem));
        }
        let front_matter = front_matter(&text);
        let sections = sections(&text, front_matter.end);
        let windows = text.matches("\r\n").count();
        let line_end = match text.matches('\n').count() {
            0 if text.contains('\r') => "\r",
            lines if 2 * windows > lines => "\r\n",
            _ => "\n",
        };
        Ok(Self { text, front_matter, sections, line_end })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn into_text(self) -> String {
        self.text
    }

    /// Returns the front matter with its lines of dashes. It is empty where the file has none.
    pub fn front_matter(&self) -> &str {
        &self.text[self.front_matter.clone()]
    }

    /// Returns the sections in their order. There is always one: what stands before the first heading.
    pub fn sections(&self) -> &[BankSection] {
        &self.sections
    }

    /// Returns the heading of a section as it is written, with its line end.
    pub fn heading(&self, section: &BankSection) -> &str {
        &self.text[section.heading.clone()]
    }

    /// Returns what stands directly under the heading of a section.
    pub fn body(&self, section: &BankSection) -> &str {
        &self.text[section.body.clone()]
    }

    /// Returns a section as it is written.
    pub fn section_text(&self, section: &BankSection) -> &str {
        &self.text[section.range()]
    }

    /// Returns the line end that most lines have.
    pub fn line_end(&self) -> &'static str {
        self.line_end
    }

    /// Finds the section that a name means: the whole path, or its end where only one section has that end. Case and
    /// white space do not matter.
    ///
    /// # Errors
    /// No section has the name, or several do.
    pub fn find(&self, name: &str) -> Result<usize, BankInvalid> {
        let parts: Vec<String> = name.split(SECTION_SEPARATOR.trim()).map(normalised).collect();
        let found = |parts: &[String]| -> Vec<usize> {
            let ends_so = |section: &BankSection| {
                let path = &section.path;
                path.len() >= parts.len()
                    && path[path.len() - parts.len()..]
                        .iter()
                        .zip(parts)
                        .all(|(title, part)| normalised(title) == *part)
            };
            (1..self.sections.len()).filter(|index| ends_so(&self.sections[*index])).collect()
        };
        let mut all = found(&parts);
        if all.is_empty() && parts.len() > 1 {
            // The title may hold the separator itself.
            all = found(&[normalised(name)]);
        }
        match all[..] {
            [one] => Ok(one),
            [] => Err(BankInvalid::new("section", format!("{name:?} is not in the file; {}", self.listed()))),
            [first, ..] => {
                let whole: Vec<usize> =
                    all.iter().copied().filter(|index| self.sections[*index].path.len() == parts.len()).collect();
                match whole[..] {
                    [one] => Ok(one),
                    // Two sections with one path cannot be told apart by name; the first is meant.
                    [one, ..] => Ok(one),
                    [] if all.iter().all(|index| self.sections[*index].path == self.sections[first].path) => Ok(first),
                    [] => Err(BankInvalid::new(
                        "section",
                        format!("{name:?} is there several times; name the headings above it, too: {}", self.listed()),
                    )),
                }
            }
        }
    }

    fn listed(&self) -> String {
        const SHOWN: usize = 20;
        let names: Vec<String> = self.sections.iter().skip(1).take(SHOWN).map(BankSection::name).collect();
        if names.is_empty() {
            "it has no sections".to_owned()
        } else {
            format!("its sections are {}", names.join(", "))
        }
    }
}

/// Returns where the front matter is, with a mark of byte order before it. What it says is never read, so that no text
/// in it costs more than its length.
fn front_matter(text: &str) -> Range<usize> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut at = start;
    for (number, line) in text[start..].split_inclusive('\n').enumerate() {
        at += line.len();
        match (number, line.trim_end()) {
            (0, "---") => {}
            (0, _) => break,
            (_, "---" | "...") => return 0..at,
            _ => {}
        }
    }
    0..start
}

fn sections(text: &str, start: usize) -> Vec<BankSection> {
    let mut sections = vec![BankSection { level: 0, path: Vec::new(), heading: 0..0, body: 0..text.len() }];
    // The titles of the open headings with their levels.
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut depth = 0_usize;
    let mut title: Option<String> = None;
    let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
    for (event, range) in Parser::new_ext(&text[start..], options).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                depth += 1;
                let level = level as usize;
                let heading = whole_lines(text, start + range.start..start + range.end);
                open.retain(|(above, _)| *above < level);
                if let Some(last) = sections.last_mut() {
                    last.body.end = heading.start;
                }
                let body = heading.end..text.len();
                sections.push(BankSection { level, path: Vec::new(), heading, body });
                title = Some(String::new());
            }
            Event::Start(_) => depth += 1,
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                if let (TagEnd::Heading(_), Some(words), Some(section)) =
                    (end, title.take_if(|_| depth == 0), sections.last_mut())
                {
                    open.push((section.level, words.trim().to_owned()));
                    section.path = open.iter().map(|(_, title)| title.clone()).collect();
                }
            }
            Event::Text(words) | Event::Code(words) => {
                if let Some(title) = &mut title {
                    title.push_str(&words);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(title) = &mut title {
                    title.push(' ');
                }
            }
            _ => {}
        }
    }
    sections
}

/// Widens a range to whole lines.
fn whole_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let start = bytes[..range.start].iter().rposition(is_end).map_or(0, |at| at + 1);
    let start = if start == 0 && text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { start };
    if range.end > range.start && bytes[range.end - 1] == b'\n' {
        return start..range.end;
    }
    let mut end = range.end;
    if !(end > range.start && bytes[end - 1] == b'\r') {
        end = bytes[end..].iter().position(is_end).map_or(bytes.len(), |at| end + at);
        if bytes.get(end) == Some(&b'\r') {
            end += 1;
        }
    }
    if bytes.get(end) == Some(&b'\n') {
        end += 1;
    }
    start..end
}

#[cfg(test)]
mod tests;
