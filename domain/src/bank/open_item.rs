//! The open items of a bank, and the one that a report is about. A report that puts other words in the place of some of
//! an item's words is about another task: another page, another version, another person.

use std::collections::BTreeSet;

use super::BankDocument;
use super::known::words_of;
use crate::text::terms::{query, terms};

/// The least share of an item's words that a report about it has.
const SAME_TASK: f64 = 0.6;
/// Words that say of any task that it is done.
const OF_REPORTS: [&str; 10] =
    ["already", "complete", "completed", "done", "finished", "implement", "implemented", "now", "working", "works"];
/// Words that say of a task that some of it is left.
const OF_OPEN_TASKS: [&str; 17] = [
    "not",
    "half",
    "partly",
    "partially",
    "started",
    "start",
    "starting",
    "begun",
    "began",
    "almost",
    "nearly",
    "next",
    "remaining",
    "remains",
    "still",
    "except",
    "without",
];
/// Forms of verbs that stemming does not bring together.
const PAST_FORMS: [(&str, &str); 27] = [
    ("bought", "buy"),
    ("brought", "bring"),
    ("built", "build"),
    ("chose", "choose"),
    ("chosen", "choose"),
    ("drawn", "draw"),
    ("drew", "draw"),
    ("found", "find"),
    ("gave", "give"),
    ("given", "give"),
    ("held", "hold"),
    ("hid", "hide"),
    ("hidden", "hide"),
    ("kept", "keep"),
    ("made", "make"),
    ("met", "meet"),
    ("paid", "pay"),
    ("ran", "run"),
    ("rebuilt", "rebuild"),
    ("rewritten", "rewrite"),
    ("rewrote", "rewrite"),
    ("sent", "send"),
    ("taken", "take"),
    ("took", "take"),
    ("told", "tell"),
    ("written", "write"),
    ("wrote", "write"),
];

/// An item of a bank whose box is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenItem<'a> {
    pub(super) section: usize,
    /// The place of the space in its box, in bytes.
    pub(super) at: usize,
    text: &'a str,
}

/// The open items of a document, with the terms of each.
pub(super) struct OpenItems<'a>(Vec<(OpenItem<'a>, BTreeSet<String>)>);

impl<'a> OpenItems<'a> {
    pub(super) fn of(document: &'a BankDocument) -> Self {
        let items = document.open_items().into_iter();
        Self(items.map(|(section, at, text)| (OpenItem { section, at, text }, terms_of_task(text))).collect())
    }

    /// Finds the item that a report is about.
    pub(super) fn find(&self, report: &str) -> Option<OpenItem<'a>> {
        if self.0.is_empty() {
            return None;
        }
        let report = TaskReport::of(report);
        let likely = self.0.iter().map(|(item, terms)| (report.likeness(terms), item));
        let best = likely.max_by(|one, other| one.0.total_cmp(&other.0))?;
        (best.0 > SAME_TASK).then_some(*best.1)
    }
}

impl OpenItem<'_> {
    /// Says whether a report about the item means all of it. Words of the item itself tell nothing.
    pub(super) fn is_finished(&self, report: &str) -> bool {
        let item = words_of(self.text);
        let own: BTreeSet<&str> = split(&item).collect();
        let is_open = |word: &str| OF_OPEN_TASKS.contains(&word) || word.ends_with("n't");
        !split(&words_of(report)).any(|word| is_open(word) && !own.contains(word))
    }
}

struct TaskReport {
    terms: BTreeSet<String>,
    /// The terms of each of its clauses.
    clauses: Vec<BTreeSet<String>>,
}

impl TaskReport {
    fn of(report: &str) -> Self {
        let ends = |(at, sign): &(usize, char)| {
            let next = report[at + sign.len_utf8()..].chars().next();
            matches!(sign, '.' | ',' | ';' | ':' | '!' | '?') && next.is_none_or(char::is_whitespace)
                || matches!(sign, '\n' | '(' | ')' | '–' | '—')
        };
        let mut clauses = Vec::new();
        let mut from = 0;
        for (at, sign) in report.char_indices().filter(ends) {
            clauses.push(terms_of_task(&report[from..at]));
            from = at + sign.len_utf8();
        }
        clauses.push(terms_of_task(&report[from..]));
        Self { terms: terms_of_task(report), clauses }
    }

    /// Returns the share of an item's terms that the report has, in 0..=1. It is 0 where the report is about another
    /// task.
    fn likeness(&self, item: &BTreeSet<String>) -> f64 {
        let shared = item.intersection(&self.terms).count();
        let puts_others = || {
            let about = self.clauses.iter().filter(|clause| !clause.is_disjoint(item));
            about.flatten().any(|term| !item.contains(term))
        };
        let is_same = self.terms == *item || shared >= 2;
        if !is_same || (shared < item.len() && puts_others()) {
            return 0.0;
        }
        shared as f64 / item.len().max(1) as f64
    }
}

/// Returns the terms of an item or a report that tell what the task is.
fn terms_of_task(text: &str) -> BTreeSet<String> {
    let text = words_of(text);
    let words = text.split(' ').filter(|word| !OF_REPORTS.contains(word));
    let words: Vec<&str> = words.map(base_form).collect();
    let words = words.join(" ");
    let telling: BTreeSet<String> = query(&words).into_iter().map(|of| of.term).collect();
    if telling.is_empty() { terms(&words).into_iter().collect() } else { telling }
}

fn base_form(word: &str) -> &str {
    PAST_FORMS.iter().find(|(past, _)| *past == word).map_or(word, |(_, base)| base)
}

fn split(words: &str) -> impl Iterator<Item = &str> {
    words.split(|c: char| !c.is_alphanumeric() && c != '\'')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn ticked(items: &[&str], report: &str) -> Option<String> {
        let list: String = items.iter().map(|item| format!("- [ ] {item}\n")).collect();
        let document = BankDocument::parse(format!("# Tasks\n\n{list}")).unwrap();
        OpenItems::of(&document).find(report).filter(|item| item.is_finished(report)).map(|item| item.text.to_owned())
    }

    #[rstest]
    #[case("Release version 2.4.0 to the app store", "Released version 2.3.9 to the app store.", false)]
    #[case("Release version 2.4.0 to the app store", "Released version 2.4.0 to the app store.", true)]
    #[case("Add dark mode to the settings page", "Added dark mode to the login page", false)]
    #[case("Add dark mode to the settings page", "Removed dark mode", false)]
    #[case("Review the contract of Carla", "Reviewed the contract of Dan", false)]
    #[case("Migrate bakery Sommer to the new plan", "Migrated bakery Winter to the new plan.", false)]
    #[case("Write the getting started guide", "Finished: write the getting started guide", true)]
    #[case("Write the getting started guide", "The getting started guide is written", true)]
    #[case("Handle orders without a pickup time", "Done: handle orders without a pickup time", true)]
    #[case("Set up the next sprint board", "Done: set up the next sprint board", true)]
    #[case("Alert when a label was not printed", "Merged PR #42: alert when a label was not printed", true)]
    #[case("Alert when a label was printed", "Alert when a label was printed is not merged", false)]
    #[case("2026-11-25: Implement the export of orders as CSV", "Done: export of orders, tested with 1,000 rows", true)]
    #[case("Send the invoices to Carla", "Sent the invoices to Carla", true)]
    #[case("Docs", "Docs done", true)]
    #[case("Docs", "The docs of the importer are done", false)]
    fn a_report_ticks_its_own_task(#[case] item: &str, #[case] report: &str, #[case] is_ticked: bool) {
        assert_eq!(ticked(&[item], report).as_deref(), is_ticked.then_some(item), "{report}");
    }

    #[test]
    fn of_several_tasks_the_one_with_the_same_words_is_ticked() {
        let items = ["Add dark mode to the settings page", "Add dark mode to the login page", "Add dark mode"];
        assert_eq!(ticked(&items[..2], "Added dark mode to the login page").as_deref(), Some(items[1]));
    }
}
