//! Decisions in the form that a person gave those before them: rows of a table, or sections of their own, each with its
//! day and its title.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::{Enclosed, before_unclosed};
use crate::bank::pieces::{date_of, undated};
use crate::bank::{BankDocument, BankInvalid, BankSection};
use crate::memory::normalised;
use crate::text::shortened;

const TITLE_MAX_CHARS: usize = 80;
/// These words stand between a decision and its reason in a sentence. The first one is what a row is read with.
pub(in crate::bank) const REASON: &str = " because ";
const REASON_OF: &str = " because of ";

/// The title of a section with a decision: its day, what parts the two, and what was decided.
static DATED_TITLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^([0-9]{4}-[0-9]{2}-[0-9]{2})(\s*[:–—-]\s+)\S").ok());
/// The title of a record of a decision: its name, its number, its day where it has one, and what parts them.
static NUMBERED_TITLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let day = r"(?:(\s*[:–—(-]?\s*)[0-9]{4}-[0-9]{2}-[0-9]{2})?";
    Regex::new(&format!(r"(?i)^((?:ADR|RFC|DR|Decision)[ -]?#?)([0-9]{{1,6}}){day}(\)?\s*[:–—.-]\s+|\)?\s+)\S")).ok()
});
static DELIMITER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\|?(?:\s*:?-+:?\s*\|?)+$").ok());

/// What a column of a table of decisions has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DecisionColumn {
    Day,
    Decision,
    Reason,
    Other,
}

/// A table with a column for decisions.
#[derive(Debug)]
struct DecisionTable<'a> {
    columns: Vec<DecisionColumn>,
    rows: Vec<Vec<&'a str>>,
}

impl DecisionColumn {
    fn of(name: &str) -> Self {
        match normalised(name.trim_matches(|c: char| !c.is_alphanumeric())).as_str() {
            "date" | "day" | "when" => Self::Day,
            "decision" | "decisions" | "choice" | "what" | "what we decided" => Self::Decision,
            "reason" | "reasons" | "rationale" | "reasoning" | "why" | "because" => Self::Reason,
            _ => Self::Other,
        }
    }
}

impl<'a> DecisionTable<'a> {
    /// Reads a table from its first line to its last. None where it has no column for decisions.
    fn of(lines: &[&'a str]) -> Option<Self> {
        let (header, rest) = lines.split_first()?;
        let (delimiter, rows) = rest.split_first()?;
        let columns: Vec<DecisionColumn> = cells(header).into_iter().map(DecisionColumn::of).collect();
        let is_table = DELIMITER.as_ref()?.is_match(delimiter.trim());
        let count = |column| columns.iter().filter(|of| **of == column).count();
        let is_log =
            count(DecisionColumn::Decision) == 1 && count(DecisionColumn::Day) + count(DecisionColumn::Reason) > 0;
        (is_table && is_log).then(|| Self { columns, rows: rows.iter().copied().map(cells).collect() })
    }

    fn cell(&self, row: &[&'a str], column: DecisionColumn) -> Option<&'a str> {
        let at = self.columns.iter().position(|of| *of == column)?;
        row.get(at).copied().filter(|cell| !cell.is_empty())
    }

    /// Says whether the rows have the newest first.
    fn is_newest_first(&self) -> bool {
        let day = |row: &Vec<&'a str>| self.cell(row, DecisionColumn::Day);
        self.rows.first().and_then(day) > self.rows.last().and_then(day)
    }

    fn row(&self, decision: &str, day: &str) -> String {
        let day = day_in(decision, day);
        // Without a column for it, the day stays with the decision.
        let decision = if self.columns.contains(&DecisionColumn::Day) { undated(decision) } else { decision.into() };
        let has_reason = self.columns.contains(&DecisionColumn::Reason);
        let (what, why) = if has_reason { parted(&decision) } else { (&*decision, "") };
        let (what, why) = (without_stop(what), without_stop(why));
        let cell = |column: &DecisionColumn| match column {
            DecisionColumn::Day => day.clone(),
            DecisionColumn::Decision => escaped(what),
            DecisionColumn::Reason => escaped(why),
            DecisionColumn::Other => String::new(),
        };
        format!("| {} |", self.columns.iter().map(cell).collect::<Vec<_>>().join(" | "))
    }
}

/// Returns the decisions of a table, each with its reason where it has one. There are none where the piece is another
/// one.
pub(in crate::bank) fn decisions_of_table(piece: &str) -> Vec<String> {
    let lines: Vec<&str> = piece.lines().skip_while(|line| !line.trim_start().starts_with('|')).collect();
    let Some(table) = DecisionTable::of(&lines) else { return Vec::new() };
    let decision = |row: &Vec<&str>| {
        let what = table.cell(row, DecisionColumn::Decision)?.replace("\\|", "|");
        let why = table.cell(row, DecisionColumn::Reason).map(|why| why.replace("\\|", "|"));
        Some(in_sentences(&what, why.as_deref()))
    };
    table.rows.iter().filter_map(decision).flatten().collect()
}

/// Returns the sentences that a row may have been made of.
fn in_sentences(what: &str, why: Option<&str>) -> Vec<String> {
    match why {
        Some(why) => [REASON, REASON_OF].iter().map(|reason| format!("{what}{reason}{why}")).collect(),
        None => vec![what.to_owned()],
    }
}

/// Parts a decision from its reason.
fn parted(decision: &str) -> (&str, &str) {
    let (what, why) = decision.split_once(REASON).unwrap_or((decision, ""));
    (what, why.strip_prefix("of ").unwrap_or(why))
}

/// Returns a single sentence without its full stop, as cells have none.
fn without_stop(sentence: &str) -> &str {
    let bare = sentence.trim().trim_end_matches(['.', ',', ';']);
    if bare.contains(". ") { sentence } else { bare }
}

/// Returns the cells of a row, without the space around them. An escaped bar ends none.
pub(in crate::bank) fn cells(row: &str) -> Vec<&str> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = row.strip_suffix('|').filter(|inner| !inner.ends_with('\\')).unwrap_or(row);
    let (mut cells, mut from) = (Vec::new(), 0);
    for (at, _) in row.match_indices('|').filter(|(at, _)| !row[..*at].ends_with('\\')) {
        cells.push(row[from..at].trim());
        from = at + 1;
    }
    cells.push(row[from..].trim());
    cells
}

/// Returns a text as the cell of a table, in which a bar would end it.
fn escaped(text: &str) -> String {
    text.trim().replace("\\|", "|").replace('|', "\\|")
}

impl BankDocument {
    /// Adds decisions, each a list item, in the form that a section has them in. None where that is a list, or nothing.
    ///
    /// # Errors
    /// The file would be too long, or another section would change.
    pub(in crate::bank) fn with_decisions(
        &self,
        section: usize,
        content: &str,
        day: &str,
    ) -> Option<Result<Self, BankInvalid>> {
        let items: Vec<&str> = content.trim().strip_prefix("- ")?.split("\n- ").collect();
        if items.iter().any(|item| item.starts_with('[') || item.contains("```")) {
            return None;
        }
        self.with_rows(section, &items, day).or_else(|| self.with_dated_sections(section, &items, day))
    }

    fn with_rows(&self, section: usize, items: &[&str], day: &str) -> Option<Result<Self, BankInvalid>> {
        let of = self.sections().get(section)?;
        let body = self.body(of);
        if before_unclosed(body) != body || items.iter().any(|item| item.contains('\n')) {
            return None;
        }
        let lines: Vec<&str> = body.split_inclusive('\n').collect();
        let (end, table) = last_table(&lines)?;
        let rows: Vec<String> = items.iter().map(|item| table.row(item, day)).collect();
        let below = if table.is_newest_first() { table.rows.len() } else { 0 };
        // Where the rows begin, or the table ends.
        let length = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
        let above = &lines[..end - below];
        let ended = if below > 0 { 0 } else { above.last().map_or(0, |last| last.len() - last.trim_end().len()) };
        let at = of.body_range().start + length(above) - ended;
        let rows = rows.join("\n");
        let inserted = if below > 0 { format!("{rows}\n") } else { format!("\n{rows}") };
        Some(self.spliced(section, at..at, &self.with_line_ends(&inserted)))
    }

    /// Returns the sections that stand right below a section one after another, with what is within them.
    fn run_below(&self, section: usize) -> impl Iterator<Item = &BankSection> {
        let level = self.sections().get(section + 1).map_or(0, |first| first.level);
        let of = self.sections().get(section);
        let below = self.sections().iter().skip(section + 1);
        below.take_while(move |other| of.is_some_and(|of| other.is_within(of)) && other.level >= level)
    }

    /// Adds decisions as sections of their own, where those that stand right below a section are records of one form.
    fn with_dated_sections(&self, section: usize, items: &[&str], day: &str) -> Option<Result<Self, BankInvalid>> {
        let level = self.run_below(section).next()?.level;
        let records = self.run_below(section).filter(|other| other.level == level);
        let titles: Vec<&str> = records.map(BankSection::title).collect();
        let form = RecordForm::of(&titles)?;
        let mut document = self.clone();
        for (item, number) in items.iter().zip(form.next..) {
            let text = undated(item);
            let lines = text.lines().map(|line| line.strip_prefix("  ").unwrap_or(line));
            let text = lines.collect::<Vec<_>>().join("\n");
            let day = day_in(item, day);
            let title = form.title(number, &day, &title_of(text.lines().next()?));
            let text = if form.has_day { text } else { format!("Date: {day}\n\n{text}") };
            let changed = if form.is_newest_first {
                document.with_section_before(section + 1, level, &title, &text)
            } else {
                let last = section + document.run_below(section).count();
                document.with_section_after(Some(section), last, level, &title, &text)
            };
            match changed {
                Ok(changed) => document = changed,
                Err(error) => return Some(Err(error)),
            }
        }
        Some(Ok(document))
    }
}

/// Finds the last table of decisions in lines, and the line behind it.
fn last_table<'a>(lines: &[&'a str]) -> Option<(usize, DecisionTable<'a>)> {
    let mut enclosed = Enclosed::default();
    let is_row: Vec<bool> =
        lines.iter().map(|line| enclosed.is_outside(line) && line.trim_start().starts_with('|')).collect();
    let mut end = lines.len();
    while end > 0 {
        let count = is_row[..end].iter().rev().take_while(|is_row| **is_row).count();
        if let Some(table) = DecisionTable::of(&lines[end - count..end]) {
            return Some((end, table));
        }
        end -= count.max(1);
    }
    None
}

/// The form of the titles of records: `2026-11-25: title`, `ADR-001: title`, or `ADR-001 2026-11-25: title`.
struct RecordForm {
    /// The text before the number, and the least number of its digits. It is none where the titles have no numbers.
    numbered: Option<(String, usize)>,
    before_day: String,
    has_day: bool,
    before_title: String,
    is_newest_first: bool,
    /// The number of the next record.
    next: u32,
}

impl RecordForm {
    /// Reads the form of titles. None where one of them has another form.
    fn of(titles: &[&str]) -> Option<Self> {
        let all = |form: &'static LazyLock<Option<Regex>>| {
            let form = form.as_ref()?;
            let found: Option<Vec<_>> = titles.iter().map(|title| form.captures(title)).collect();
            found.filter(|found| !found.is_empty())
        };
        if let Some(dated) = all(&DATED_TITLE) {
            let is_newest_first = dated.first()?[1] > dated.last()?[1];
            let (before_day, before_title) = (String::new(), dated.last()?[2].to_owned());
            return Some(Self { numbered: None, before_day, has_day: true, before_title, is_newest_first, next: 0 });
        }
        let titles = all(&NUMBERED_TITLE)?;
        let number = |of: &Captures<'_>| of[2].parse::<u32>().ok();
        let newest = titles.iter().max_by_key(|of| number(of))?;
        Some(Self {
            numbered: Some((newest[1].to_owned(), newest[2].len())),
            before_day: newest.get(3).map(|before| before.as_str().to_owned()).unwrap_or_default(),
            has_day: newest.get(3).is_some(),
            before_title: newest[4].to_owned(),
            is_newest_first: number(titles.first()?) > number(titles.last()?),
            next: number(newest)? + 1,
        })
    }

    fn title(&self, number: u32, day: &str, title: &str) -> String {
        let Self { before_day, before_title, .. } = self;
        let number = self.numbered.as_ref().map(|(name, digits)| format!("{name}{number:0digits$}"));
        let day = if self.has_day { format!("{before_day}{day}") } else { String::new() };
        format!("{}{day}{before_title}{title}", number.unwrap_or_default())
    }
}

/// Returns the day that an item is dated with, or this one where it has none.
fn day_in(item: &str, day: &str) -> String {
    date_of(item).map_or_else(|| day.to_owned(), |date| date.to_string())
}

/// Returns what was decided as a title: the first sentence of a decision, without its reason.
fn title_of(decision: &str) -> String {
    let what = decision.split_once(REASON).map_or(decision, |(what, _)| what);
    let what = what.split_once(". ").map_or(what, |(first, _)| first);
    shortened(what.trim().trim_end_matches(['.', ',', ';', ':']), TITLE_MAX_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str, content: &str) -> Option<String> {
        let document = BankDocument::parse(text).unwrap();
        let section = document.find("Decisions").unwrap();
        document.with_decisions(section, content, "2026-11-25").map(|changed| changed.unwrap().into_text())
    }

    #[test]
    fn a_decision_becomes_a_row_of_a_table_of_decisions() {
        let table =
            "| Date | Decision | Why | Owner |\n|------|:--|---|---|\n| 2026-01-02 | Rust | It is fast | Ana |\n";
        let text = format!("# A\n\n## Decisions\n\nAll of them.\n\n{table}\n## B\n");
        let rows = "| 2026-11-24 | We use `a \\| b` | it is short |  |\n| 2026-11-25 | SQLite |  |  |\n";
        let content = "- 2026-11-24: We use `a | b` because it is short\n- SQLite";
        assert_eq!(with(&text, content), Some(text.replace("| Ana |\n", &format!("| Ana |\n{rows}"))));
        assert_eq!(with(text.trim_end().trim_end_matches("## B").trim_end(), "- SQLite").unwrap().lines().count(), 10);
        let newest = text.replace("|---|---|\n", "|---|---|\n| 2026-05-01 | Tokio | | |\n");
        let row = "| 2026-11-25 | SQLite |  |  |\n";
        assert_eq!(with(&newest, "- SQLite"), Some(newest.replace("| 2026-05", &format!("{row}| 2026-05"))));
        let windows = text.replace('\n', "\r\n");
        assert_eq!(
            with(&windows, "- SQLite"),
            Some(windows.replace("| Ana |\r\n", &format!("| Ana |\r\n{}\r\n", row.trim())))
        );
        for other in [
            text.replace("Decision |", "Port |"),
            text.replace(table, "- one\n"),
            text.replace("| Date", "```\n| Date").replace("Ana |\n", "Ana |\n```\n"),
        ] {
            assert_eq!(with(&other, "- SQLite"), None, "{other}");
        }
        assert_eq!(with(&text, "- two\n  lines"), None);
        let said = decisions_of_table(&format!("{table}{rows}"));
        for one in ["Rust because It is fast", "We use `a | b` because it is short", "SQLite"] {
            assert!(said.iter().any(|said| said == one), "{one}: {said:?}");
        }
        let content = "- We decided to drop Sentry because of cost.";
        let row = "| 2026-11-25 | We decided to drop Sentry | cost |  |\n";
        assert_eq!(with(&text, content), Some(text.replace("| Ana |\n", &format!("| Ana |\n{row}"))));
        assert!(
            decisions_of_table(&format!("{table}{row}")).contains(&"We decided to drop Sentry because of cost".into())
        );
    }

    #[test]
    fn a_decision_becomes_a_section_where_the_others_are() {
        let one = "### 2026-01-02 - Rust\n\nIt is fast.\n";
        let text = format!("# A\n\n## Decisions\n\n{one}\n## B\n");
        let new = "### 2026-11-25 - We use SQLite\n\nWe use SQLite because it needs no server. More.\n";
        let content = "- We use SQLite because it needs no server. More.";
        assert_eq!(with(&text, content), Some(text.replace(one, &format!("{one}\n{new}"))));
        let newest = text.replace("\n## B", "\n### 2025-12-01 - Tokio\n\n## B");
        assert_eq!(with(&newest, content), Some(newest.replace(one, &format!("{new}\n{one}"))));
        assert_eq!(with(&text.replace("### 2026-01-02 - ", "### "), content), None);
        let under_title = format!("# Decisions\n\n{one}\n## Notes\n\n- x\n");
        assert_eq!(with(&under_title, content), Some(under_title.replace(one, &format!("{one}\n{new}"))));
    }
}
