//! The form of the entries of a section, which a new one takes: whether they have dates, and how those are written.

use std::sync::LazyLock;

use jiff::Timestamp;
use regex::Regex;

use crate::bank::apply::day;
use crate::bank::pieces::{PieceForm, blocks};
use crate::bank::tasks::lists_tasks;
use crate::bank::{BankDocument, BankSection};

/// A date at the beginning of an entry: what stands before it, its time, what closes it, and what parts it from the
/// words.
static DATED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^([\[(*_]*)\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2})?)?([\])*_]*)(\s*[:–—-]\s*|\s+)[\])*_]*\s*").ok()
});

/// The form of the entries that a section has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct NeighbourForm {
    date: DateForm,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum DateForm {
    #[default]
    Plain,
    /// Tasks without boxes that have no dates.
    None,
    Written {
        before: String,
        has_time: bool,
        has_seconds: bool,
        after: String,
    },
}

impl NeighbourForm {
    /// Reads the form of the entries of a section.
    pub(super) fn of(document: &BankDocument, section: &BankSection) -> Self {
        let items: Vec<(PieceForm, String)> =
            blocks(document.body(section)).into_iter().filter(|(form, _)| form.is_item()).collect();
        let has_words = |(_, text): &&(PieceForm, String)| text.contains(char::is_alphanumeric);
        let items: Vec<&(PieceForm, String)> = items.iter().filter(has_words).collect();
        let is_plain = items.iter().all(|(form, _)| *form == PieceForm::Item);
        let are_plain_tasks = !items.is_empty() && is_plain && lists_tasks(section);
        let date = match items.first().and_then(|(_, text)| DateForm::of(text)) {
            Some(date) => date,
            None if are_plain_tasks => DateForm::None,
            None => DateForm::Plain,
        };
        Self { date }
    }

    /// Says whether the entries have dates, whatever file they are in.
    pub(super) fn has_dates(&self) -> bool {
        matches!(self.date, DateForm::Written { .. })
    }

    /// Returns a date as the entries have it, with what parts it from the words.
    pub(super) fn dated(&self, now: Timestamp) -> String {
        let today = day(now);
        match &self.date {
            DateForm::Plain => format!("{today}: "),
            DateForm::None => String::new(),
            DateForm::Written { before, has_time, has_seconds, after } => {
                let format = if *has_seconds { " %H:%M:%S" } else { " %H:%M" };
                let time = if *has_time { now.strftime(format).to_string() } else { String::new() };
                format!("{before}{today}{time}{after}")
            }
        }
    }
}

impl DateForm {
    fn of(entry: &str) -> Option<Self> {
        let found = DATED.as_ref()?.captures(entry)?;
        let part = |at: usize| found.get(at).map(|part| part.as_str()).unwrap_or_default();
        let whole = &found[0];
        // What stands behind the date and its time, up to the words.
        let after = &whole[part(1).len() + "2026-01-01".len() + part(2).len()..];
        Some(Self::Written {
            before: part(1).to_owned(),
            has_time: found.get(2).is_some(),
            has_seconds: found.get(3).is_some(),
            after: after.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Done", "- [2025-01-02 10:00:00] - one", "[2026-11-25 12:00:00] - ")]
    #[case("Done", "- [2025-01-02] one", "[2026-11-25] ")]
    #[case("Done", "- **2025-01-02** one", "**2026-11-25** ")]
    #[case("Done", "- **2025-01-02:** one", "**2026-11-25:** ")]
    #[case("Done", "- 2025-01-02 - one", "2026-11-25 - ")]
    #[case("Done", "- (2025-01-02 09:15) one", "(2026-11-25 12:00) ")]
    #[case("Done", "- one", "2026-11-25: ")]
    #[case("Done", "", "2026-11-25: ")]
    #[case("Next steps", "3. one", "")]
    #[case("Next steps", "- [ ] one", "2026-11-25: ")]
    fn a_new_entry_is_dated_as_the_others_are(#[case] title: &str, #[case] items: &str, #[case] date: &str) {
        let document = BankDocument::parse(format!("# A\n\n## {title}\n\n{items}\n")).unwrap();
        let form = NeighbourForm::of(&document, &document.sections()[2]);
        assert_eq!(form.dated("2026-11-25T12:00:00Z".parse().unwrap()), date);
        assert_eq!(form.has_dates(), items.contains("2025"));
    }
}
