//! Learning from a transcript, for whoever has read one: its exchanges become lessons, and its requests episodes.

use std::time::Duration;

use reasoning_bank_actors::episodes::LearnedRequests;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::learner::MAX_BATCH;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::learning::capture::{Captured, trust_of};
use reasoning_bank_domain::learning::correction::{TakenBackExchange, left_standing};
use reasoning_bank_domain::learning::transcript::Transcript;
use reasoning_bank_domain::memory::trace::TraceSource;

/// One batch may take this long, because all its texts may have to be embedded.
const BATCH_TIMEOUT: Duration = Duration::from_secs(600);

/// Learns from a transcript in batches. `each` is told what became of the exchanges of a batch. Returns the number of
/// new episodes. What was learned before adds nothing.
///
/// # Errors
/// A batch could not be stored. Those before it are.
pub(crate) async fn learn(
    transcript: Transcript,
    workspace: &WorkspaceRef,
    system: &SystemHandle,
    mut each: impl FnMut(Vec<Captured>),
) -> Result<u64, Error> {
    let Transcript { format, exchanges, requests, .. } = transcript;
    let deadline = || Deadline::after(BATCH_TIMEOUT);
    let (exchanges, taken_back) = left_standing(format, exchanges, &requests);
    each(taken_back.iter().map(TakenBackExchange::refused).collect());
    let mut standing = Vec::new();
    for batch in exchanges.chunks(MAX_BATCH) {
        let captured = system.learner.learn(batch.to_vec(), workspace, trust_of(format), deadline()).await?;
        standing.extend(captured.iter().map(|captured| captured.id));
        each(captured);
    }
    system.memories.withdraw(&taken_back, &standing, workspace, deadline()).await?;
    let told = LearnedRequests { requests, source: TraceSource::Transcript, owner: None, outcome: None };
    system.episodes.learn(told, workspace, deadline()).await
}
