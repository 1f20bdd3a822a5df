//! Replaying journals: what was acknowledged, and what a commit that broke off left undone. Frames may be in the tables
//! in full, in part or not at all, and later ones may be there already.

use std::path::{Path, PathBuf};

use reasoning_bank_actors::ports::{Batch, EraseScope, Record, StoreError};
use reasoning_bank_domain::memory::Scope;

use super::format::Layout;
use super::journal::{self, Erasures, Frame};
use super::{Shared, apply, blocking, failed, revisions};

/// Applies all frames of these journals, except what was erased after they were written.
pub(super) async fn replay(shared: &Shared, journals: Vec<PathBuf>) -> Result<usize, StoreError> {
    let erasures = Erasures::read(&shared.layout).await?;
    let mut replayed = 0;
    for path in journals {
        let layout = shared.layout.clone();
        let frames = blocking(move || read_if_there(&layout, &path)).await?.map_err(failed)?;
        replayed += frames.len();
        let batch = frames.into_iter().flat_map(|frame| surviving(frame, &erasures)).collect::<Batch>();
        apply::apply_again(&shared.tables, &revisions::newest(batch), shared.dims).await?;
    }
    Ok(replayed)
}

fn read_if_there(layout: &Layout, path: &Path) -> std::io::Result<Vec<Frame>> {
    if path.exists() { journal::read(layout, path) } else { Ok(Vec::new()) }
}

fn surviving(frame: Frame, erasures: &Erasures) -> Batch {
    let erased = erasures.pending.as_ref().filter(|_| frame.erasures < erasures.count);
    let survives = |record: &Record| erased.is_none_or(|scope| !concerns(scope, record));
    frame.batch.into_iter().filter(survives).collect()
}

/// Whether an erasure removes this record.
fn concerns(scope: &EraseScope, record: &Record) -> bool {
    match (scope, record) {
        (EraseScope::Memory(id), Record::Memory { memory, .. } | Record::Revision { memory, .. }) => memory.id == *id,
        (EraseScope::Memory(id), Record::Signal(signal)) => signal.memory_id == *id,
        (EraseScope::Memory(_), Record::Workspace(_) | Record::Trace(_) | Record::Verdict(_) | Record::Job(_)) => false,
        (EraseScope::Workspace(id), Record::Memory { memory, .. } | Record::Revision { memory, .. }) => {
            memory.workspace_id == *id && memory.scope == Scope::Project
        }
        (EraseScope::Traces { workspace, before }, Record::Trace(trace) | Record::Verdict(trace)) => {
            workspace.as_ref().is_none_or(|id| trace.metadata.workspace_id == *id)
                && trace.created_at.as_microsecond() < before.as_microsecond()
        }
        (EraseScope::Jobs { over_before }, Record::Job(job)) => {
            job.is_over() && job.updated_at.as_microsecond() < over_before.as_microsecond()
        }
        (EraseScope::Traces { .. } | EraseScope::Jobs { .. }, _) => false,
        (EraseScope::Workspace(id), Record::Signal(signal)) => signal.workspace_id == *id,
        (EraseScope::Workspace(id), Record::Trace(trace) | Record::Verdict(trace)) => {
            trace.metadata.workspace_id == *id
        }
        (EraseScope::Workspace(id), Record::Workspace(workspace)) => workspace.id == *id,
        (EraseScope::Workspace(id), Record::Job(job)) => job.workspace_id == *id,
    }
}
