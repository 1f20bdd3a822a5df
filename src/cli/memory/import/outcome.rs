//! The result of an import, and the part of the file that it did not take.

use std::collections::{BTreeMap, BTreeSet};

use reasoning_bank_domain::learning::imported::UntrustedReaders;
use reasoning_bank_domain::memory::Scope;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::{WorkspaceId, quoted_name};

use crate::cli::answers::ImportCounts;

/// This many notes of one kind name what they are about. The others are counted.
const NAMED: usize = 10;

const NOT_VOUCHED_FOR: &str = "nobody vouches for the file: its memories begin anew, as the word of a model, with low \
                               confidence and without pins, links to other memories here or vectors; `--trusted-backup` \
                               restores a backup of your own exactly";

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

    /// Writes the notes in sentences. `root_of` knows the directories of workspaces that have one here.
    pub(super) fn notes(&self, root_of: impl Fn(&WorkspaceId) -> Option<String>) -> Vec<String> {
        let mut notes: Vec<String> = self.is_doubted.then(|| NOT_VOUCHED_FOR.to_owned()).into_iter().collect();
        let ImportCounts { signals, jobs, .. } = self.doubted;
        if signals > 0 {
            notes.push(format!("evidence was not taken: {signals} signals that nobody vouches for"));
        }
        if jobs > 0 {
            notes.push(format!("background jobs were not taken: {jobs} that nobody vouches for"));
        }
        let left_out = self.left_out.iter().map(|((workspace, left_out), memories)| {
            let what = if left_out.scope == Scope::Org { "organisation" } else { "team" };
            let name = quoted_name(&left_out.readers);
            match root_of(workspace) {
                Some(root) => format!(
                    "{memories} memories for the {what}{name} were left out: the workspace {root} is not trusted with it; \
                     where it should be, name the {what} in its .reasoning-bank.toml, run `reasoning-bank workspace trust \
                     {root}`, and import the file again"
                ),
                None => format!(
                    "{memories} memories for the {what}{name} were left out: the workspace {workspace} has no directory \
                     here, so it cannot be trusted with it; `--trusted-backup` restores a backup of your own exactly"
                ),
            }
        });
        let circles = self
            .cycle_edges
            .iter()
            .map(|(id, source)| format!("{id} was not linked to its source {source}, which comes from it"));
        notes.extend(named(left_out, |more| format!("so were those for {more} more teams and organisations")));
        notes.extend(named(circles, |more| {
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
