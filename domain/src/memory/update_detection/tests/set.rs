//! The statements in `tests/data/updates.jsonl` and the pairs in `tests/data/update_pairs.jsonl`: changes must be
//! found, look-alikes must not.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::*;
use crate::learning::lesson::is_repeat;
use crate::memory::Memory;
use crate::memory::samples::strategy;

#[derive(Deserialize)]
struct Line {
    id: String,
    group: String,
    split: String,
    kind: String,
    #[serde(default)]
    title: String,
    text: String,
    at: i64,
    updates: Option<String>,
}

struct Said {
    line: Line,
    statement: Statement,
}

impl Said {
    fn dated(&self) -> DatedStatement<'_> {
        DatedStatement { statement: &self.statement, at: at(self.line.at) }
    }

    fn is_statement_of_its_time(&self) -> bool {
        matches!(&*self.line.kind, "base" | "change" | "back")
    }

    /// A later change may well update what only said more than the statement before.
    fn says_more(&self) -> bool {
        matches!(&*self.line.kind, "detail_added" | "growing_list")
    }
}

fn set(split: &str) -> Vec<Said> {
    let lines = include_str!("../../../../../tests/data/updates.jsonl").lines();
    let lines = lines.map(|line| serde_json::from_str::<Line>(line).unwrap()).filter(|line| line.split == split);
    lines.map(|line| Said { statement: Statement::of(&line.title, &line.text), line }).collect()
}

fn is_linked_or_reordered(newer: &Said, older: &Said) -> bool {
    updates(newer.dated(), older.dated()).is_some() || same_subject(&newer.statement, &older.statement)
}

/// The counts of what was found in a split, in numbers of statements or pairs.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    changes: usize,
    linked: usize,
    orderable: usize,
    look_alikes: usize,
    false_look_alikes: usize,
    false_pairs_across_groups: usize,
}

fn counts(all: &[Said]) -> Counts {
    let by_id: BTreeMap<&str, &Said> = all.iter().map(|said| (&*said.line.id, said)).collect();
    let mut counts = Counts::default();
    for said in all {
        if let Some(older) = said.line.updates.as_deref().map(|id| by_id[id]) {
            let (link, order) = (updates(said.dated(), older.dated()), is_linked_or_reordered(said, older));
            counts.changes += 1;
            counts.linked += usize::from(link.is_some());
            counts.orderable += usize::from(order);
        }
        if matches!(&*said.line.kind, "base" | "change") {
            continue;
        }
        counts.look_alikes += 1;
        let false_link = all.iter().any(|other| {
            let same_group = other.line.group == said.line.group && other.line.id != said.line.id;
            let is_real = said.line.updates.as_deref() == Some(&*other.line.id);
            // A statement that says more than a change says what changed, too; and a later change may update it.
            let is_latest = |other: &Said| {
                all.iter().all(|between| {
                    between.line.group != other.line.group
                        || !between.is_statement_of_its_time()
                        || !(other.line.at + 1..said.line.at).contains(&between.line.at)
                })
            };
            let is_later_change = said.says_more()
                && other.is_statement_of_its_time()
                && (other.line.at > said.line.at || !is_latest(other));
            let (newer, older) = if said.line.at > other.line.at { (said, other) } else { (other, said) };
            same_group && !is_real && !is_later_change && is_linked_or_reordered(newer, older)
        });
        counts.false_look_alikes += usize::from(false_link);
    }
    // Harsher than what a search by vectors would bring together: each with each.
    for (place, a) in all.iter().enumerate() {
        for b in &all[place + 1..] {
            if a.line.group != b.line.group && is_linked_or_reordered(b, a) {
                counts.false_pairs_across_groups += 1;
            }
        }
    }
    counts
}

#[test]
fn changes_are_found_and_look_alikes_are_not() {
    for (split, least_orderable, most_false, most_across) in [("dev", 0.86, 0.01, 0), ("held_out", 0.84, 0.02, 2)] {
        let all = set(split);
        let counts = counts(&all);
        assert!(counts.orderable as f64 >= least_orderable * counts.changes as f64, "{split}: {counts:?}");
        assert!(counts.false_look_alikes as f64 <= most_false * counts.look_alikes as f64, "{split}: {counts:?}");
        assert!(counts.false_pairs_across_groups <= most_across, "{split}: {counts:?}");
    }
}

/// A statement and a later one, by somebody who did not know the rules. Whoever wrote the split `trained` did.
#[derive(Deserialize)]
struct Pair {
    #[serde(default)]
    split: String,
    #[serde(default)]
    kind: String,
    title: String,
    older: String,
    newer: String,
}

/// Reads pairs of statements from standard input, one JSON object a line, and prints the evidence of each pair as a
/// JSON array with an object for each pair of clauses. `scripts/fit_updates.py` fits the weights to it.
#[test]
#[ignore = "it reads from standard input"]
#[allow(clippy::print_stdout, reason = "what it prints is read by the script")]
fn prints_the_evidence_of_pairs() {
    for line in std::io::stdin().lines() {
        let pair: Pair = serde_json::from_str(&line.unwrap()).unwrap();
        let (older, newer) = (Statement::of(&pair.title, &pair.older), Statement::of(&pair.title, &pair.newer));
        let of_clauses = evidence(&newer, &older).into_iter().flatten();
        let named = |evidence: UpdateEvidence| -> BTreeMap<&str, [f64; 2]> {
            evidence.into_iter().map(|(name, weight, value)| (name, [weight, value])).collect()
        };
        println!("{}", serde_json::json!(of_clauses.map(named).collect::<Vec<_>>()));
    }
}

#[test]
fn changes_that_somebody_else_wrote_are_found_and_look_alikes_are_not() {
    let lines = include_str!("../../../../../tests/data/update_pairs.jsonl").lines();
    let pairs: Vec<Pair> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    let splits = [
        ("dev", 75, 0),
        ("fitted", 73, 1),
        ("trained", 152, 4),
        ("held_out", 76, 1),
        ("later", 48, 2),
        ("blind", 27, 6),
        ("varied", 42, 2),
        ("varied_2", 23, 3),
    ];
    for (split, least_found, most_false) in splits {
        let (mut found, mut wrong) = (0, 0);
        for pair in pairs.iter().filter(|pair| pair.split == split) {
            let (older, newer) = (Statement::of(&pair.title, &pair.older), Statement::of(&pair.title, &pair.newer));
            let older = DatedStatement { statement: &older, at: at(1) };
            let is_linked = updates(DatedStatement { statement: &newer, at: at(2) }, older).is_some();
            *(if pair.kind == "change" { &mut found } else { &mut wrong }) += usize::from(is_linked);
        }
        assert!(found >= least_found && wrong <= most_false, "{split}: {found} found, {wrong} wrong");
    }
}

#[test]
fn no_change_says_the_same() {
    for split in ["dev", "held_out"] {
        let all = set(split);
        let memory = |said: &Said| Memory { content: said.line.text.clone(), ..strategy(1) };
        for newer in all.iter().filter(|said| said.line.updates.is_some()) {
            let older = all.iter().find(|said| Some(&*said.line.id) == newer.line.updates.as_deref()).unwrap();
            assert!(!is_repeat(&memory(newer), &memory(older), 1.0), "{}", newer.line.id);
        }
    }
}
