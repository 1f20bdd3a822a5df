//! A file of a bank is read for its tokens and for the pieces of its sections, which decide how it becomes shorter. A
//! reading depends on the text alone, so that a text is read once, whatever is known about the bank and whatever day it
//! is.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use jiff::civil::Date;

use super::edit::{cells, decisions_of_table};
use super::filing::is_decision;
use super::open_mark::{is_open, lists_what_is_open};
use super::pieces::{BlockSpan, PieceForm, block_spans, date_of, piece_hash, tag_in};
use super::signs::{heading_of, label_of};
use super::tasks::category_by_headings;
use super::{BankCategory, BankDocument, BankPath, BankSection, RenamedHeadings};
use crate::safety::secrets::scrub;
use crate::text::shortened;
use crate::text::tokens::token_ends;

const LINE_MAX_CHARS: usize = 110;

/// The text of a file of a bank, with its tokens, and with its sections once somebody asks for them.
#[derive(Debug)]
pub struct BankFileReading {
    text: String,
    token_ends: Vec<usize>,
    sections: OnceLock<Vec<SectionReading>>,
    /// The text without its secrets. None where it has none.
    without_secrets: OnceLock<Option<Arc<Self>>>,
}

/// A part of a text, in bytes, and its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextPart {
    pub range: Range<usize>,
    pub tokens: usize,
}

/// A section of a file that has a heading.
#[derive(Debug)]
pub(super) struct SectionReading {
    /// The titles of the headings above it and of its own.
    pub titles: Vec<String>,
    /// The rank by which it gives way. None where its headings do not tell.
    pub rank: Option<Rank>,
    /// Its heading has a tag.
    pub is_tagged: bool,
    /// Its heading says that it tells what is being worked on.
    pub is_focus: bool,
    /// The place at which its heading is marked as historical, in bytes. None where it has the mark, or is of this
    /// time.
    pub historical_at: Option<usize>,
    pub blocks: Vec<BlockReading>,
}

/// An item, a paragraph or code of a section.
#[derive(Debug)]
pub(super) struct BlockReading {
    pub form: PieceForm,
    /// The piece without the marker of its item.
    pub text: String,
    /// Its lines in the file, in bytes.
    pub range: Range<usize>,
    pub tokens: usize,
    /// The reason for which it stays word for word. None where it may become shorter.
    pub stays: Option<StaysAs>,
    /// It stands between the title of the file and its first section.
    pub is_intro: bool,
    /// The piece as one line.
    pub line: String,
    /// The line in its place where the bank is only shown shorter. None where it is the same.
    pub shown_line: Option<String>,
    pub line_tokens: usize,
    pub date: Option<Date>,
    hash: OnceLock<String>,
}

/// The reason for which a piece stays word for word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StaysAs {
    /// Something of it is open, or it has a tag.
    Open,
    Decision,
}

/// The rank of a section: sections of a lower rank give way earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Discussion,
    Implementation,
    Architecture,
}

impl BankFileReading {
    pub fn of(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            token_ends: token_ends(text),
            sections: OnceLock::new(),
            without_secrets: OnceLock::new(),
        }
    }

    pub fn tokens(&self) -> usize {
        self.token_ends.len()
    }

    /// Reads the text as others may see it: without secrets and characters that nobody sees.
    pub fn without_secrets(self: &Arc<Self>) -> Arc<Self> {
        let scrubbed = self.without_secrets.get_or_init(|| match scrub(&self.text).text {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some(Arc::new(Self::of(&text))),
        });
        scrubbed.as_ref().map_or_else(|| Arc::clone(self), Arc::clone)
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the part of the text from a byte on that has at most so many tokens. It ends with a line where it holds
    /// a whole one, and has a character at least, unless the text has none there.
    pub(super) fn part(&self, begin: usize, tokens: usize) -> TextPart {
        let begin = self.text.floor_char_boundary(begin);
        let before = self.token_ends.partition_point(|end| *end <= begin);
        let last = before.saturating_add(tokens);
        if last >= self.token_ends.len() {
            return TextPart { range: begin..self.text.len(), tokens: self.token_ends.len() - before };
        }
        let end = self.token_ends[..last].last().copied().unwrap_or_default().max(begin);
        let end = self.text.floor_char_boundary(end);
        let of_lines = self.text[begin..end].rfind('\n').map(|at| begin + at + 1);
        let end = of_lines.unwrap_or(end);
        let end = if end > begin { end } else { self.text.ceil_char_boundary(begin + 1) };
        TextPart { range: begin..end, tokens: self.token_ends.partition_point(|of| *of <= end) - before }
    }

    /// Returns the beginning of the text that has at most so many tokens.
    pub(super) fn head(&self, tokens: usize) -> &str {
        let end = tokens.min(self.token_ends.len()).checked_sub(1).and_then(|last| self.token_ends.get(last));
        &self.text[..self.text.floor_char_boundary(end.copied().unwrap_or_default())]
    }

    /// Reads the sections, so that who asks for them later need not wait.
    pub fn read_sections(&self) {
        self.sections();
    }

    /// Returns the sections that have a heading. There are none where the text is no document.
    pub(super) fn sections(&self) -> &[SectionReading] {
        self.sections.get_or_init(|| {
            let Ok(document) = BankDocument::parse(self.text.as_str()) else { return Vec::new() };
            document.sections().iter().skip(1).map(|section| self.section(&document, section)).collect()
        })
    }

    fn section(&self, document: &BankDocument, section: &BankSection) -> SectionReading {
        let (has_decisions, is_listed) = (decisions_in(section), open_in(section));
        // Entries may stand under the heading of their day.
        let day = section.path.iter().rev().find_map(|title| date_of(title));
        let start = section.body_range().start;
        let tokens_before = |at: usize| self.token_ends.partition_point(|end| *end <= at);
        let block = |block: BlockSpan| {
            let range = start + block.range.start..start + block.range.end;
            let raw = &self.text[range.clone()];
            let line = stand_in(raw, "is in the history of the bank").unwrap_or_else(|| one_line(raw));
            let tokens_to = |end: usize| tokens_before(end) - tokens_before(range.start);
            BlockReading {
                stays: stays(has_decisions, is_listed, block.form, &block.text),
                is_intro: section.level == 1 && block.form == PieceForm::Paragraph,
                // A line is the beginning of its piece, and has an end of its own.
                line_tokens: tokens_to(range.end.min(range.start + line.len())) + 1,
                line,
                shown_line: stand_in(raw, "is not shown"),
                tokens: tokens_to(range.end),
                date: date_of(&block.text).or(day),
                form: block.form,
                text: block.text,
                range,
                hash: OnceLock::new(),
            }
        };
        SectionReading {
            titles: section.path.clone(),
            rank: Rank::by_headings(section),
            is_tagged: is_tagged(section.title()),
            is_focus: !is_historical(section) && named(section) == Some(BankCategory::Focus),
            historical_at: historical_at(document, section),
            blocks: block_spans(document.body(section)).into_iter().map(block).collect(),
        }
    }

    /// Returns the hashes of the lines that some pieces become: those whose own hashes `is_own` knows.
    pub fn lines_of(&self, is_own: impl Fn(&str) -> bool) -> BTreeSet<String> {
        let blocks = self.sections().iter().flat_map(|section| &section.blocks);
        let own = blocks.filter(|block| is_own(block.hash()));
        own.flat_map(|block| block_spans(&block.line)).map(|line| piece_hash(line.form, &line.text)).collect()
    }
}

impl SectionReading {
    /// Says whether its file is one of decisions that hold, or they stood under one of its headings before a person
    /// renamed it.
    pub(super) fn is_of_decisions_in(&self, file: &BankPath, renamed: &RenamedHeadings) -> bool {
        let is_of_decisions = |title: &str| heading_of(title) == Some(BankCategory::Decision);
        if file.is_of_decisions() {
            return !self.titles.iter().any(|title| names_history(title));
        }
        let was = |title: &String| renamed.had(file, title, is_of_decisions);
        self.titles.iter().any(was) && !self.titles.iter().any(|title| names_history(title))
    }
}

impl BlockReading {
    /// Returns the hash that tells whether the piece was filed, and knows it in the metadata of the bank.
    pub(super) fn hash(&self) -> &str {
        self.hash.get_or_init(|| piece_hash(self.form, &self.text))
    }
}

impl Rank {
    fn by_headings(section: &BankSection) -> Option<Self> {
        use BankCategory::*;
        if is_historical(section) {
            return Some(Self::Discussion);
        }
        Some(match named(section)? {
            Architecture | Decision | Goal | Requirement | Scope | Constraint | Convention | Preference | Profile => {
                Self::Architecture
            }
            Focus | Next | Question | Note | Problem => Self::Discussion,
            _ => Self::Implementation,
        })
    }
}

/// Returns the category that the headings of a section below the title of its file tell.
fn named(section: &BankSection) -> Option<BankCategory> {
    category_by_headings(section).filter(|_| section.path.len() > 1)
}

/// Says why a piece stays word for word. `has_decisions` is what [`decisions_in`] says of its section, and `is_listed`
/// what [`open_in`] says of it.
pub(super) fn stays(has_decisions: Option<bool>, is_listed: bool, form: PieceForm, text: &str) -> Option<StaysAs> {
    if is_tagged(text) || is_open(is_listed, form, text) {
        return Some(StaysAs::Open);
    }
    let is_in_cell = || {
        let rows = text.lines().filter(|line| line.trim_start().starts_with('|'));
        rows.flat_map(cells).any(|cell| is_decision(PieceForm::Item, cell))
    };
    let is_one = || is_decision(form, text) || !decisions_of_table(text).is_empty() || is_in_cell();
    has_decisions.unwrap_or_else(is_one).then_some(StaysAs::Decision)
}

/// Says of a section by its headings whether its pieces are decisions that hold: everything below a heading that names
/// decisions is one. None where they do not tell.
pub(super) fn decisions_in(section: &BankSection) -> Option<bool> {
    let below_title = section.path.iter().skip(1).any(|title| names_decisions(title));
    let in_file = || section.path.first().is_some_and(|title| is_title_of_decisions(title));
    (below_title || in_file()).then(|| !is_historical(section))
}

/// Says of a section by its headings whether its pieces are open until they are marked as settled.
pub(super) fn open_in(section: &BankSection) -> bool {
    lists_what_is_open(section) && !is_historical(section)
}

/// Says whether a heading names decisions, or is the one of a record of a decision.
fn names_decisions(title: &str) -> bool {
    let lower = title.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_record = words
        .clone()
        .next()
        .is_some_and(|first| first.strip_prefix("adr").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit())));
    is_record
        || words.any(|word| matches!(word, "decision" | "decisions"))
        || [heading_of(title), label_of(title)].contains(&Some(BankCategory::Decision))
}

/// Says whether the title of a file names decisions and nothing else, such as `Decision Log`. Under the title of a file
/// such as `Patterns and decisions` stands much that is none.
fn is_title_of_decisions(title: &str) -> bool {
    const BESIDE: [&str; 13] = [
        "all",
        "architectural",
        "architecture",
        "design",
        "key",
        "log",
        "of",
        "our",
        "project",
        "record",
        "records",
        "technical",
        "the",
    ];
    let lower = title.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_record = || words.first().is_some_and(|first| matches!(*first, "adr" | "adrs"));
    let mut rest = words.iter().filter(|word| !BESIDE.contains(word)).peekable();
    is_record() || rest.peek().is_some() && rest.all(|word| matches!(*word, "decision" | "decisions"))
}

/// Says whether a text has a tag (`#keep`), or is marked as what holds now.
fn is_tagged(text: &str) -> bool {
    let is_tag = |word: &str| tag_in(word).is_some_and(|name| name.starts_with(char::is_alphabetic));
    let lower = text.to_lowercase();
    text.split_whitespace().any(is_tag)
        || ["[keep]", "(keep)", "<!-- keep", "(current)", "[current]", "**current**", "keep:", "important:"]
            .iter()
            .any(|mark| lower.contains(mark))
}

fn is_historical(section: &BankSection) -> bool {
    section.path.iter().any(|title| names_history(title))
}

/// Says whether a heading means what was before, such as `Previous decisions` or `Login (deprecated)`. A feature may
/// have such a word in its name, such as `Order history page`.
fn names_history(title: &str) -> bool {
    const SIGNS: [&str; 9] =
        ["history", "historical", "previous", "legacy", "deprecated", "archive", "archived", "superseded", "obsolete"];
    const OF_RECORDS: [&str; 19] = [
        "and", "change", "changes", "entries", "items", "log", "notes", "of", "old", "older", "past", "project",
        "releases", "session", "sessions", "the", "version", "versions", "work",
    ];
    let title = title.to_lowercase();
    let marked = title.trim_end().strip_suffix([')', ']']).and_then(|rest| rest.rsplit_once(['(', '[']));
    if marked.is_some_and(|(_, mark)| SIGNS.contains(&mark.trim())) {
        return true;
    }
    let words = || title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_empty =
        |word: &&str| SIGNS.contains(word) || OF_RECORDS.contains(word) || word.chars().all(|c| c.is_ascii_digit());
    let rest: Vec<&str> = words().filter(|word| !is_empty(word)).collect();
    title.trim_start().starts_with("history of ")
        || words().any(|word| SIGNS.contains(&word)) && (rest.is_empty() || heading_of(&rest.join(" ")).is_some())
}

/// Returns where the heading of a section of earlier times is marked as historical.
fn historical_at(document: &BankDocument, section: &BankSection) -> Option<usize> {
    if !is_historical(section) || section.title().to_lowercase().contains("historical") {
        return None;
    }
    let heading = document.heading(section);
    let title = heading.trim_end();
    // Another form of heading has its line after the title.
    let is_plain = title.starts_with('#') && !title.contains('\n') && !title.ends_with('#');
    is_plain.then(|| section.body_range().start - heading.len() + title.len())
}

/// Returns the line in the place of code or of a table, which tells where that is. None of any other piece.
fn stand_in(raw: &str, whereabouts: &str) -> Option<String> {
    let first = first_line(raw).trim_start();
    if first.starts_with("```") || first.starts_with("~~~") {
        return Some(format!("- Code that {whereabouts}.\n"));
    }
    first.starts_with('|').then(|| {
        let columns: Vec<&str> = first.split('|').map(str::trim).filter(|name| !name.is_empty()).collect();
        let columns = shortened(&columns.join(", "), LINE_MAX_CHARS / 2);
        format!("- A table ({columns}) that {whereabouts}.\n")
    })
}

/// Returns a piece as one line: its marker, and its first sentence or the beginning of it.
fn one_line(raw: &str) -> String {
    let first = first_line(raw);
    let end = first.match_indices(". ").map(|(at, _)| at + 1).find(|at| *at > 40).unwrap_or(first.len());
    let indent = &first[..first.len() - first.trim_start().len()];
    format!("{indent}{}\n", shortened(first[..end].trim(), LINE_MAX_CHARS))
}

fn first_line(raw: &str) -> &str {
    raw.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}
