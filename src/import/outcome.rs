//! The result of an import, and the part of the file that it did not take.

use std::collections::{BTreeMap, BTreeSet};

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::Restorable;
use reasoning_bank_domain::learning::imported::UntrustedReaders;
use reasoning_bank_domain::memory::Scope;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::{WorkspaceId, quoted_name};
use serde::Serialize;

use super::ImportFailure;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(crate) struct Imported {
    pub(crate) imported: ImportCounts,
    /// The things whose ids were there already.
    pub(crate) skipped: u64,
    /// The things that nobody vouches for and that were not taken: memories for readers that their workspace is not
    /// trusted with, and evidence.
    #[serde(skip_serializing_if = "ImportCounts::is_nothing")]
    pub(crate) left_out: ImportCounts,
    /// The secrets that were replaced in what was imported.
    pub(crate) redactions: u64,
    /// The characters that were dropped from it, because nobody sees them and they carry nothing.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) dropped_characters: u64,
    /// The parts of the file that were not taken, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct ImportCounts {
    pub(crate) memories: u64,
    pub(crate) traces: u64,
    pub(crate) signals: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) jobs: u64,
    /// Files of memory banks.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) bank_files: u64,
}

impl Imported {
    pub(super) fn broken_off(&self, error: Error) -> ImportFailure {
        ImportFailure::BrokenOff { lines: self.imported.sum() + self.skipped, error: Box::new(error) }
    }
}

impl ImportCounts {
    /// Counts one thing. A workspace is not counted.
    pub(crate) fn of(thing: &Restorable) -> Self {
        let none = Self::default();
        match thing {
            Restorable::Workspace(_) => none,
            Restorable::Memory { .. } => Self { memories: 1, ..none },
            Restorable::Trace { .. } => Self { traces: 1, ..none },
            Restorable::Signal(_) => Self { signals: 1, ..none },
            Restorable::Job(_) => Self { jobs: 1, ..none },
        }
    }

    pub(crate) fn add(&mut self, more: Self) {
        self.memories += more.memories;
        self.traces += more.traces;
        self.signals += more.signals;
        self.jobs += more.jobs;
        self.bank_files += more.bank_files;
    }

    pub(crate) fn sum(self) -> u64 {
        self.memories + self.traces + self.signals + self.jobs + self.bank_files
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.sum() == 0
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// This many notes of one kind name what they are about. The others are counted.
const NAMED: usize = 10;

const NOT_VOUCHED_FOR: &str = "nobody vouches for the file: its memories begin anew, as the word of a model, with low \
                               confidence and without pins, links to other memories here or vectors";

/// The parts of an import's notes that each edge says in its own words.
pub(crate) trait ImportWords {
    /// Says what restores a backup exactly.
    fn exactly(&self) -> &'static str;

    /// Says why memories for a team or an organisation (`what`) are not taken into this workspace, and what to do.
    fn left_out(&self, workspace: &WorkspaceId, what: &str) -> String;
}

/// The part of a checked file that is not taken.
#[derive(Debug, Default)]
pub(super) struct NotTaken {
    /// The memories that are imported without one of their sources, because they would come from themselves with it.
    pub(super) cycle_edges: BTreeSet<(MemoryId, MemoryId)>,
    /// The number of memories of each workspace that are for readers it is not trusted with.
    pub(super) left_out: BTreeMap<(WorkspaceId, UntrustedReaders), u64>,
    /// The evidence and the jobs for which nobody vouches.
    pub(super) doubted: ImportCounts,
    /// Something is taken for which nobody vouches.
    pub(super) is_doubted: bool,
}

impl NotTaken {
    pub(super) fn counts(&self) -> ImportCounts {
        ImportCounts { memories: self.left_out.values().sum(), ..self.doubted }
    }

    /// Writes the notes in sentences.
    pub(super) fn notes(&self, words: &impl ImportWords) -> Vec<String> {
        let doubted = self.is_doubted.then(|| format!("{NOT_VOUCHED_FOR}; {}", words.exactly()));
        let mut notes: Vec<String> = doubted.into_iter().collect();
        let ImportCounts { signals, jobs, bank_files, .. } = self.doubted;
        if signals > 0 {
            notes.push(format!("evidence was not taken: {signals} signals that nobody vouches for"));
        }
        if jobs > 0 {
            notes.push(format!("background jobs were not taken: {jobs} that nobody vouches for"));
        }
        if bank_files > 0 {
            notes.push(format!("memory banks were not taken: {bank_files} files that nobody vouches for"));
        }
        let left_out = self.left_out.iter().map(|((workspace, left_out), memories)| {
            let what = if left_out.scope == Scope::Org { "organisation" } else { "team" };
            let name = quoted_name(&left_out.readers);
            format!("{memories} memories for the {what}{name} were left out: {}", words.left_out(workspace, what))
        });
        let cycles = self
            .cycle_edges
            .iter()
            .map(|(id, source)| format!("{id} was not linked to its source {source}, which comes from it"));
        notes.extend(named(left_out, |more| format!("so were those for {more} more teams and organisations")));
        notes.extend(named(cycles, |more| {
            format!("nor were {more} more memories linked to sources that come from them")
        }));
        notes
    }
}

/// Returns the first of these notes, and how many more there are.
fn named(notes: impl ExactSizeIterator<Item = String>, rest: impl Fn(usize) -> String) -> Vec<String> {
    let more = notes.len().checked_sub(NAMED).filter(|more| *more > 0).map(rest);
    notes.take(NAMED).chain(more).collect()
}
