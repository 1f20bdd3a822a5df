//! The open tasks that a piece of a text reports as done. One line may report several.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::bank::open_item::{OpenItems, ReportedItem, TaskReport, terms_of_task};
use crate::bank::signs::{heading_of, label_of, sentences, stated};
use crate::bank::{BankCategory, BankPath, BankTextPiece, PieceForm};

/// A piece is searched for several tasks in its first clauses.
const CLAUSES_MAX: usize = 60;
/// The most clauses that name one task together.
const SPAN_MAX: usize = 3;

/// A task that a text reports, and the words that do.
pub(super) struct FinishedTask<'a> {
    pub file: &'a BankPath,
    pub report: String,
    /// The report begins with the words of the task, its verb in the past. That it is one, nothing else has to tell.
    pub is_repeated: bool,
    found: ReportedItem<'a>,
}

/// Finds the tasks that a piece reports: the one that its whole text is about, and all that its clauses name in full. A
/// clause that begins with the verb of its task comes first, and no task is taken for a part of another one.
pub(super) fn finished_tasks<'a>(
    piece: &BankTextPiece,
    open_items: &[(&'a BankPath, OpenItems<'a>)],
) -> Vec<FinishedTask<'a>> {
    let text = stated(&piece.text);
    let mut named: Vec<FinishedTask<'a>> = Vec::new();
    let is_listed = piece.form == PieceForm::TickedItem
        || piece.headings.iter().rev().find_map(|title| heading_of(title)) == Some(BankCategory::Done);
    let spans = spans(&text, is_listed);
    let is_single = spans.is_empty();
    for (clauses, is_told) in spans {
        let Some(task) = finished_by(clauses, open_items).filter(|task| task.found.is_whole()) else { continue };
        if task.found.is_told() || (is_told && !TaskReport::intends(clauses)) {
            named.push(task);
        }
    }
    // Of two tasks that one text names, a clause may tell that one is left.
    let is_named = |task: &FinishedTask<'_>| named.iter().any(|other| task.is_same(other));
    let is_sure =
        |task: &FinishedTask<'_>| is_single || !task.found.is_whole() || task.found.is_told() || is_named(task);
    let whole = finished_by(&text, open_items).filter(is_sure);
    named.extend(whole);
    if named.len() < 2 {
        return named;
    }
    named.sort_by_key(|task| (!task.is_repeated, Reverse(terms_of_task(task.found.item.text).len())));
    let mut tasks: Vec<FinishedTask<'a>> = Vec::new();
    let words: Vec<BTreeSet<String>> = named.iter().map(|task| terms_of_task(task.found.item.text)).collect();
    for (at, task) in named.into_iter().enumerate() {
        let is_known = tasks.iter().any(|other| task.is_same(other));
        let is_part = words.iter().any(|other| words[at].len() < other.len() && words[at].is_subset(other));
        if !is_known && !is_part {
            tasks.push(task);
        }
    }
    tasks
}

impl FinishedTask<'_> {
    fn is_same(&self, other: &FinishedTask<'_>) -> bool {
        self.file == other.file && self.found.item == other.found.item
    }
}

/// Finds the task that a text is about, where it says that all of it is done.
fn finished_by<'a>(text: &str, open_items: &[(&'a BankPath, OpenItems<'a>)]) -> Option<FinishedTask<'a>> {
    let report = TaskReport::of(text);
    let found = open_items.iter().filter_map(|(path, items)| Some((*path, items.find(&report)?)));
    let (file, found) = found.max_by(|(_, one), (_, other)| one.compare(other))?;
    let is_repeated = found.is_whole() && TaskReport::repeats(text, found.item.text);
    found.item.is_finished(text).then(|| FinishedTask { file, report: text.to_owned(), is_repeated, found })
}

/// Returns the clauses of a text, each alone and with those that follow it in its sentence, and whether a label says of
/// them that they are done. There are none where the text is a single clause.
fn spans(text: &str, is_listed: bool) -> Vec<(&str, bool)> {
    let mut spans = Vec::new();
    for sentence in sentences(text) {
        let is_done = || {
            let label = sentence.split_once(':').map(|(label, _)| label);
            label_of(sentence.trim_start()) == Some(BankCategory::Done)
                && label.is_some_and(|of| !TaskReport::is_open(of))
        };
        let is_told = is_listed || is_done();
        let ends: Vec<usize> = clause_ends(sentence);
        let starts = || [0].into_iter().chain(ends.iter().copied());
        for (at, start) in starts().take(ends.len()).enumerate() {
            let lengths = ends[at..].iter().take(SPAN_MAX);
            spans.extend(lengths.map(|end| (&sentence[start..*end], is_told)));
        }
        if spans.len() > SPAN_MAX * CLAUSES_MAX {
            break;
        }
    }
    if spans.len() > 1 { spans } else { Vec::new() }
}

/// Returns the places at which the clauses of a sentence end.
fn clause_ends(sentence: &str) -> Vec<usize> {
    const JOINS: [&str; 6] = [", ", "; ", " and ", " & ", " plus ", " as well as "];
    let mut ends: Vec<usize> =
        JOINS.iter().flat_map(|join| sentence.match_indices(join).map(|(at, _)| at + join.len())).collect();
    ends.push(sentence.len());
    ends.sort_unstable();
    ends.dedup();
    ends
}
