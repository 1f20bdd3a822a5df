//! The open items of a bank, and the one that a report is about. A report that puts other words in the place of some of
//! an item's words is about another task: another page, another version, another person.

mod variants;

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use regex::Regex;

use self::variants::{tells_part, tells_variant};
use super::BankDocument;
use super::past_forms::{base_form, is_past_form};
use super::pieces::{undated, words_of};
use super::signs::{is_question, stated};
use super::tasks::{NestedTask, OpenItem};
use crate::text::terms::query;

/// The least share of an item's words that a report about it has.
const SAME_TASK: f64 = 0.6;
/// The most items, which a report fits equally well, that are searched for the one whose verb it has in the past.
const ALIKE_MAX: usize = 20;
/// Words that say of any task that it is done.
const OF_REPORTS: [&str; 10] =
    ["already", "complete", "completed", "done", "finished", "implement", "implemented", "now", "working", "works"];
/// Words that say of a task that some of it is left.
const OF_OPEN_TASKS: [&str; 42] = [
    "neither",
    "nor",
    "failed",
    "unable",
    "cancelled",
    "canceled",
    "postponed",
    "abandoned",
    "skipped",
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
    "attempted",
    "few",
    "first",
    "locally",
    "missing",
    "most",
    "mostly",
    "only",
    "partial",
    "reverted",
    "sandbox",
    "several",
    "some",
    "staging",
    "thought",
    "tried",
];
/// Words that say of a task what somebody means to do with it.
const OF_PLANS: [&str; 15] = [
    "cannot", "could", "going", "later", "must", "need", "needs", "plan", "planned", "should", "todo", "tomorrow",
    "until", "waiting", "will",
];

/// The day by which a task is due.
static DUE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let weekday = "(?:mon|tues|wednes|thurs|fri|satur|sun)day";
    let month = "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
    let span = format!("(?:week|sprint|month|quarter|year|q[1-4]|{weekday}|{month})");
    let date = format!(
        r"(?:\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}\.\d{{1,2}}\.(?:\d{{2,4}})?|(?:\d{{1,2}}(?:st|nd|rd|th)? )?{month}(?: \d{{1,2}}(?:st|nd|rd|th)?)?(?:,? \d{{4}})?)"
    );
    let day = format!(
        "(?:{date}|(?:(?:next|this) )?{weekday}|(?:next|this) {span}|(?:the )?end of (?:the |this |next )?{span}|today|tomorrow|tonight|eod|eow)"
    );
    Regex::new(&format!(r"(?i)\s*(?:[(\[]\s*)?(?:\b(?:due(?: (?:by|on|until))?|by|before|until|deadline)\b|📅)\s*:?\s*(?:on )?{day}\b\.?\s*[)\]]?")).ok()
});

/// An item with how well a report fits it. Of two, the report is about the greater one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ReportedItem<'a> {
    /// The share of the item's words that the report has, in 0..=1.
    share: f64,
    /// The number of words that both have.
    shared: usize,
    /// The report has the verb of the item in the past, or a word that says of anything that it is done. It is set for
    /// the item that is found.
    is_told: bool,
    pub(super) item: OpenItem<'a>,
}

/// The open items of a document. Each is found by its rarest terms, so that a report is held against few of them.
pub(super) struct OpenItems<'a> {
    tasks: Vec<TaskWithWords<'a>>,
    /// The places of the items by terms of which a report about them has one.
    of_term: HashMap<String, Vec<usize>>,
}

/// An open item with its own words, and with those of the items above it.
struct TaskWithWords<'a> {
    item: OpenItem<'a>,
    own: TaskWords,
    /// It is absent where the item stands below no other.
    whole: Option<TaskWords>,
}

/// The words of an item or a report that tell what the task is.
struct TaskWords {
    terms: BTreeSet<String>,
    /// The names and numbers in it, of which none may be missing or another.
    names: BTreeSet<String>,
}

/// A report that something is done.
pub(super) struct TaskReport {
    terms: BTreeSet<String>,
    words: BTreeSet<String>,
    /// Its words without a label such as `Done:`.
    unlabelled: BTreeSet<String>,
    /// The terms of each of its clauses.
    clauses: Vec<BTreeSet<String>>,
}

impl<'a> OpenItems<'a> {
    pub(super) fn of(document: &'a BankDocument) -> Self {
        let with_words = |task: NestedTask<'a>| {
            let whole = (!task.above.is_empty()).then(|| TaskWords::below(&task));
            TaskWithWords { item: task.item, own: TaskWords::of(task.item.text), whole }
        };
        let tasks: Vec<TaskWithWords<'a>> = document.open_items().into_iter().map(with_words).collect();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for words in tasks.iter().flat_map(TaskWithWords::words) {
            words.terms.iter().for_each(|term| *counts.entry(term).or_default() += 1);
        }
        let mut of_term: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, task) in tasks.iter().enumerate() {
            for words in task.words() {
                let mut terms: Vec<&String> = words.terms.iter().collect();
                terms.sort_by_key(|term| counts.get(term.as_str()));
                // A report about the item lacks no more of its terms than these.
                let lacked = terms.len() - words.least_shared().min(terms.len());
                for term in terms.into_iter().take(lacked + 1) {
                    of_term.entry(term.clone()).or_default().push(at);
                }
            }
        }
        Self { tasks, of_term }
    }

    /// Finds the item that a report is about.
    pub(super) fn find(&self, report: &TaskReport) -> Option<ReportedItem<'a>> {
        let found = report.terms.iter().filter_map(|term| self.of_term.get(term)).flatten();
        let places: BTreeSet<usize> = found.copied().collect();
        let likely: Vec<ReportedItem<'a>> =
            places.into_iter().filter_map(|at| report.about(self.tasks.get(at)?)).collect();
        let best = likely.iter().copied().max_by(ReportedItem::compare)?;
        let alike = likely.into_iter().filter(|other| other.compare(&best) == Ordering::Equal).take(ALIKE_MAX);
        let told = alike.map(|item| ReportedItem { is_told: report.tells(item.item.text), ..item });
        told.max_by(ReportedItem::compare)
    }
}

impl TaskWithWords<'_> {
    fn words(&self) -> impl Iterator<Item = &TaskWords> {
        self.whole.iter().chain([&self.own])
    }
}

impl ReportedItem<'_> {
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let by_words = self.share.total_cmp(&other.share).then(self.shared.cmp(&other.shared));
        by_words.then(self.is_told.cmp(&other.is_told))
    }

    /// Says whether the report has all words of the item.
    pub(super) fn is_whole(&self) -> bool {
        self.share >= 1.0
    }

    pub(super) fn is_told(&self) -> bool {
        self.is_told
    }
}

impl OpenItem<'_> {
    /// Says whether a report about the item means all of it, and no open box below it is left. Words of the item itself
    /// tell nothing.
    pub(super) fn is_finished(&self, report: &str) -> bool {
        if self.has_open_below || (is_question(report) && !is_question(self.text)) {
            return false;
        }
        let item = words_of(self.text);
        let own: BTreeSet<&str> = split(&item).collect();
        let is_part = tells_part(report) && !tells_part(self.text);
        if is_part || stated(report).trim().is_empty() || tells_variant(report, self.text) {
            return false;
        }
        !split(&words_of(report)).any(|word| is_of_open_task(word) && !own.contains(word))
    }
}

impl TaskWords {
    fn of(text: &str) -> Self {
        let text = without_due_day(&undated(text));
        let begins_name = |word: &&str| word.starts_with(char::is_uppercase);
        let has_digit = |word: &&str| word.contains(|c: char| c.is_ascii_digit());
        // The first word has a capital letter in any case.
        let names =
            bare_words(&text).enumerate().filter(|(at, word)| (*at > 0 && begins_name(word)) || has_digit(word));
        Self { names: names.map(|(_, word)| word.to_lowercase()).collect(), terms: terms_of_task(&text) }
    }

    /// Returns the words of an item with those of the items above it.
    fn below(task: &NestedTask<'_>) -> Self {
        let mut words = Self::of(task.item.text);
        for above in task.above.iter().map(|text| Self::of(text)) {
            words.terms.extend(above.terms);
            words.names.extend(above.names);
        }
        words
    }

    /// Returns the least number of terms that a report about the item has.
    fn least_shared(&self) -> usize {
        (self.terms.len() as f64 * SAME_TASK) as usize + 1
    }
}

impl TaskReport {
    pub(super) fn of(report: &str) -> Self {
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
        let words = |text: &str| bare_words(text).map(str::to_lowercase).collect();
        let unlabelled = report.split_once(": ").map_or(report, |(_, rest)| rest);
        Self { terms: terms_of_task(report), words: words(report), unlabelled: words(unlabelled), clauses }
    }

    /// Says whether the report tells that an item is done.
    pub(super) fn finishes(&self, report: &str, item: &OpenItem<'_>, items: &OpenItems<'_>) -> bool {
        let task = items.tasks.iter().find(|task| task.item == *item);
        item.is_finished(report) && task.is_some_and(|task| self.about(task).is_some())
    }

    /// Says whether a report begins with the words of a task, its verb in the past: `Load tested` for `Load test`.
    pub(super) fn repeats(report: &str, task: &str) -> bool {
        const BEFORE_VERB: usize = 2;
        let (report, task) = (undated(report), undated(task));
        let words = bare_words(&report).zip(bare_words(&task)).take(BEFORE_VERB + 1);
        let words = words.map(|(done, verb)| (done.to_lowercase(), verb.to_lowercase()));
        let mut others = words.skip_while(|(done, verb)| done == verb);
        others.next().is_some_and(|(done, verb)| is_past_of(&done, &verb))
    }

    /// Says whether words tell that some of a task is left.
    pub(super) fn is_open(words: &str) -> bool {
        split(&words_of(words)).any(is_of_open_task)
    }

    /// Says whether words tell what somebody means to do.
    pub(super) fn intends(words: &str) -> bool {
        split(&words_of(words)).any(|word| OF_PLANS.contains(&word))
    }

    /// Says whether the report has the verb of a task in the past, or a word that says of any task that it is done.
    fn tells(&self, task: &str) -> bool {
        let task = undated(task).to_lowercase();
        let own: Vec<&str> = bare_words(&task).collect();
        let is_done = |word: &str| self.unlabelled.contains(word) && !own.contains(&word);
        let verb = own.first().copied().unwrap_or_default();
        OF_REPORTS.iter().any(|word| is_done(word)) || self.words.iter().any(|word| is_past_of(word, verb))
    }

    /// Says how well the report fits an item, by its own words or with those of the items above it. None where it is
    /// about another task.
    fn about<'a>(&self, task: &TaskWithWords<'a>) -> Option<ReportedItem<'a>> {
        let says_own = !task.own.terms.is_disjoint(&self.terms);
        let fits = |words: &TaskWords| Some((self.shares(words)?, task.item)).filter(|_| says_own);
        let of = |((share, shared), item)| ReportedItem { share, shared, is_told: false, item };
        task.words().filter_map(fits).map(of).max_by(ReportedItem::compare)
    }

    /// Returns the share of the words that the report has, and their number. None where it is about something else.
    fn shares(&self, words: &TaskWords) -> Option<(f64, usize)> {
        let TaskWords { terms, names } = words;
        let shared = terms.intersection(&self.terms).count();
        let share = shared as f64 / terms.len().max(1) as f64;
        let is_likely =
            shared >= words.least_shared() && (shared >= 2 || self.terms == *terms) && names.is_subset(&self.words);
        let puts_others = || {
            let about = self.clauses.iter().filter(|clause| !clause.is_disjoint(terms));
            about.flatten().any(|term| !terms.contains(term))
        };
        (is_likely && (shared == terms.len() || !puts_others())).then_some((share, shared))
    }
}

/// Returns the terms of an item or a report that tell what the task is. A word with a digit is a term as it is written.
pub(super) fn terms_of_task(text: &str) -> BTreeSet<String> {
    let text = words_of(text);
    let words = text.split(' ').filter(|word| !OF_REPORTS.contains(word));
    let (numbers, words): (Vec<&str>, Vec<&str>) =
        words.map(base_form).partition(|word| word.contains(|c: char| c.is_ascii_digit()));
    let words = words.join(" ");
    query(&words).into_iter().map(|of| of.term).chain(numbers.into_iter().map(str::to_owned)).collect()
}

/// Returns the words of a task without the day by which it is due. No report has to name it.
fn without_due_day(task: &str) -> String {
    DUE.as_ref().map_or(task.into(), |due| due.replace_all(task, "")).into_owned()
}

/// Returns the words of a text without the signs around them.
fn bare_words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().map(bare)
}

/// Returns a word without the signs around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

fn is_of_open_task(word: &str) -> bool {
    OF_OPEN_TASKS.contains(&word) || word.ends_with("n't")
}

/// Says whether a word is the past form of a verb. Both are in lower case.
fn is_past_of(word: &str, verb: &str) -> bool {
    word != verb && is_past_form(word) && terms_of_task(word) == terms_of_task(verb)
}

fn split(words: &str) -> impl Iterator<Item = &str> {
    words.split(|c: char| !c.is_alphanumeric() && c != '\'')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn ticked(items: &[&str], report: &str) -> Option<String> {
        ticked_in(&items.iter().map(|item| format!("- [ ] {item}\n")).collect::<String>(), report)
    }

    fn ticked_in(list: &str, report: &str) -> Option<String> {
        let document = BankDocument::parse(format!("# Tasks\n\n{list}")).unwrap();
        let found = OpenItems::of(&document).find(&TaskReport::of(report)).map(|found| found.item);
        found.filter(|item| item.is_finished(report)).map(|item| item.text.to_owned())
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
    #[case("Release version 1.2.1 to the app store", "Released version 1.2.2 to the app store", false)]
    #[case("Fix the crash at line 42", "Fixed the crash at line 97", false)]
    #[case("Send the invoices to Carla and Dan", "Sent the invoices to Carla", false)]
    #[case(
        "2026-11-25: Implement the export of orders as a file",
        "Done: export of orders, tested with 1,000 rows",
        true
    )]
    #[case("Send the invoices to Carla", "Sent the invoices to Carla", true)]
    #[case("Send the invoices to Carla", "Sent the invoices to Carla?", false)]
    #[case("Deploy to production", "Did we deploy to production?", false)]
    #[case("Find out: who pays for the CDN?", "Done: find out: who pays for the CDN?", true)]
    #[case("Docs", "Docs done", true)]
    #[case("Write the runbook for failed captures by Friday", "Done: wrote the runbook for failed captures.", true)]
    #[case("Write the runbook (due 2026-12-04)", "Wrote the runbook.", true)]
    #[case("Write the runbook before Friday", "Wrote the runbook.", true)]
    #[case("Write the runbook by the end of the week", "Wrote the runbook.", true)]
    #[case("Review the contract by Carla", "Reviewed the contract.", false)]
    #[case("Write the runbook by Friday", "Wrote the guide by Friday.", false)]
    #[case("Migrate the customer tables", "Migrated the customer tables.", true)]
    #[case("Migrate the customer tables", "Migrated 3 of 40 customer tables.", false)]
    #[case("Migrate the customer tables", "Migrated 40 of 40 customer tables.", true)]
    #[case("Migrate the customer tables", "Migrated 80 % of the customer tables.", false)]
    #[case("Migrate the customer tables", "Migrated most of the customer tables.", false)]
    #[case("Migrate the customer tables", "Migrated the customer tables on staging only.", false)]
    #[case("Migrate the customer tables", "Rolled back: migrated the customer tables.", false)]
    #[case("Migrate the customer tables on staging", "Migrated the customer tables on staging.", true)]
    #[case("Docs", "The docs of the importer are done", false)]
    fn a_report_ticks_its_own_task(#[case] item: &str, #[case] report: &str, #[case] is_ticked: bool) {
        assert_eq!(ticked(&[item], report).as_deref(), is_ticked.then_some(item), "{report}");
    }

    #[test]
    fn of_several_tasks_the_one_with_the_same_words_is_ticked() {
        let items = ["Add dark mode to the settings page", "Add dark mode to the login page", "Add dark mode"];
        assert_eq!(ticked(&items, "Added dark mode to the login page").as_deref(), Some(items[1]));
    }

    #[test]
    fn of_many_items_the_one_with_the_number_is_found() {
        let list: String = (1..=300).map(|n| format!("- [ ] Measure part {n} of the importer\n")).collect();
        let report = "Measured part 217 of the importer.";
        assert_eq!(ticked_in(&list, report).as_deref(), Some("Measure part 217 of the importer"));
    }

    #[rstest]
    #[case::child("Wrote the e2e tests.", Some("e2e"))]
    #[case::other_child("Done: unit tests", Some("unit"))]
    #[case::parent("Wrote the tests.", None)]
    #[case::more_than_the_parent("Wrote the tests, unit and e2e.", Some("e2e"))]
    #[case::another_task("Wrote the load tests.", None)]
    #[case::without_open_children("Wrote the docs", Some("Write docs"))]
    fn an_item_below_another_is_ticked_and_never_one_above_an_open_box(
        #[case] report: &str,
        #[case] item: Option<&str>,
    ) {
        let list = "- [ ] Write tests\n  - [ ] unit\n  - [ ] e2e\n- [ ] Write docs\n  - [x] of the API\n";
        assert_eq!(ticked_in(list, report).as_deref(), item);
    }

    #[test]
    fn an_item_may_stand_below_one_without_a_box() {
        let list = "- Tests to write:\n  - [ ] unit\n  - [ ] e2e\n";
        assert_eq!(ticked_in(list, "Wrote the e2e tests.").as_deref(), Some("e2e"));
    }
}
