//! The form of the entries of a section, which a new one takes: whether they have dates, and how those are written.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::civil::Date;
use regex::Regex;

use crate::bank::pieces::{PieceForm, blocks};
use crate::bank::tasks::lists_tasks;
use crate::bank::{BankDocument, BankPath, BankSection};
use crate::learning::job::day_of;

/// A date at the beginning of an entry: what stands before it, its time, what closes it, and what parts it from the
/// words.
static DATED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^([\[(*_]*)[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2})?)?([\])*_]*)(\s*[:–—-]\s*|\s+)[\])*_]*\s*").ok()
});

/// The facts that were read of the sections of a bank: a long one is read once, and not for each piece of a text.
#[derive(Debug, Default)]
pub(super) struct ReadSections {
    /// The forms by the files and the places in them at which the sections begin.
    forms: RefCell<HashMap<(BankPath, usize), NeighbourForm>>,
    /// The numbers of the sections with the most boxes.
    boxed: RefCell<HashMap<BankPath, Option<usize>>>,
}

impl ReadSections {
    pub(super) fn form(&self, path: &BankPath, document: &BankDocument, section: &BankSection) -> NeighbourForm {
        let key = (path.clone(), section.range().start);
        self.forms.borrow_mut().entry(key).or_insert_with(|| NeighbourForm::of(document, section)).clone()
    }

    /// Returns the section of a file of tasks that has the most boxes.
    pub(super) fn most_boxes<'a>(&self, path: &BankPath, document: &'a BankDocument) -> Option<&'a BankSection> {
        let boxes = |section: &BankSection| {
            let is_boxed =
                |(form, _): &(PieceForm, String)| matches!(form, PieceForm::OpenItem | PieceForm::TickedItem);
            blocks(document.body(section)).iter().filter(|block| is_boxed(block)).count()
        };
        let most = || {
            let counts = document.sections().iter().map(boxes).enumerate();
            counts.filter(|(_, boxes)| *boxes > 0).max_by_key(|(_, boxes)| *boxes).map(|(number, _)| number)
        };
        let number = *self.boxed.borrow_mut().entry(path.clone()).or_insert_with(most);
        document.sections().get(number?)
    }
}

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
    fn of(document: &BankDocument, section: &BankSection) -> Self {
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

    /// Returns a day as the entries have their dates, with what parts it from the words. Only today has a time.
    pub(super) fn dated(&self, day: Date, now: Timestamp) -> String {
        match &self.date {
            DateForm::Plain => format!("{day}: "),
            DateForm::None => String::new(),
            DateForm::Written { before, has_time, has_seconds, after } => {
                let format = if *has_seconds { " %H:%M:%S" } else { " %H:%M" };
                let has_time = *has_time && day == day_of(now);
                let time = if has_time { now.strftime(format).to_string() } else { String::new() };
                format!("{before}{day}{time}{after}")
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
        let after = &whole[found.get(4).map_or(whole.len(), |closing| closing.start())..];
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
        let now = "2026-11-25T12:00:00Z".parse().unwrap();
        assert_eq!(form.dated(day_of(now), now), date);
        let earlier = date.replace(" 12:00:00", "").replace(" 12:00", "").replace("2026-11-25", "2026-11-20");
        assert_eq!(form.dated("2026-11-20".parse().unwrap(), now), earlier);
        assert_eq!(form.has_dates(), items.contains("2025"));
    }
}
