//! The command `memory recalls` lists what agents were shown, and what came of it.

use std::collections::HashMap;

use jiff::SignedDuration;
use reasoning_bank_actors::ports::Page;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signal::Signal;

use crate::cli::answers::{RecallList, RecallOutcome, ShownRecall};
use crate::cli::failure::CommandFailure;
use crate::cli::session::request_deadline;
use crate::recall_log::{self, RecallEntry};
use crate::settings::Loaded;

/// The time after a memory was shown within which what is said of it counts as what came of it.
const OUTCOME_WITHIN: SignedDuration = SignedDuration::from_hours(24);
/// The most signals about what was shown that are read.
const SIGNALS_MAX: usize = 10_000;

pub(super) async fn recalls(
    limit: usize,
    loaded: &Loaded,
    system: &SystemHandle,
) -> Result<RecallList, CommandFailure> {
    let id = system.workspaces.resolve(&loaded.workspace, request_deadline()).await?.workspace.id;
    let entries = recall_log::newest(&loaded.settings.data_dir, &id, limit)
        .map_err(|error| CommandFailure::usage("the recall log cannot be read").caused_by(error))?;
    let mut shown: Vec<MemoryId> = entries.iter().flat_map(shown_in).collect();
    shown.sort_unstable();
    shown.dedup();
    let signals = system.store.signals_about(shown, Page::first(SIGNALS_MAX), request_deadline()).await?;
    let mut by_memory: HashMap<MemoryId, Vec<Signal>> = HashMap::new();
    for signal in signals.into_iter().filter(|signal| signal.kind.weight() != 0.0) {
        by_memory.entry(signal.memory_id).or_default().push(signal);
    }
    let recall = |entry: RecallEntry| {
        let came_of_it = |signal: &&Signal| (entry.at..=entry.at + OUTCOME_WITHIN).contains(&signal.at);
        let signals = shown_in(&entry).filter_map(|id| by_memory.get(&id)).flatten().filter(came_of_it);
        let outcomes = signals.map(|signal| RecallOutcome { id: signal.memory_id, signal: signal.kind, at: signal.at });
        ShownRecall { outcomes: outcomes.collect(), entry }
    };
    Ok(RecallList { recalls: entries.into_iter().map(recall).collect() })
}

fn shown_in(entry: &RecallEntry) -> impl Iterator<Item = MemoryId> + '_ {
    entry.candidates.iter().filter(|candidate| candidate.shown).map(|candidate| candidate.id)
}
