//! Replaying journals: they hold what was acknowledged, and what a commit that broke off left undone. Frames may be in
//! the tables in full, in part or not at all, and later ones may be there already.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use reasoning_bank_actors::ports::{Batch, EraseScope, Record, StoreError};
use reasoning_bank_domain::memory::ids::JobId;

use super::erasures::Erasures;
use super::frames::Frame;
use super::journal;
use super::{apply, revisions};
use crate::lance::errors::failed;
use crate::lance::layout::Layout;
use crate::lance::tables::Tables;
use crate::lance::threads::blocking;

/// Applies all frames of these journals, except what was erased after they were written. Returns how many frames there
/// were.
pub(in crate::lance) async fn replay(
    layout: &Layout,
    tables: &Tables,
    dims: usize,
    journals: Vec<PathBuf>,
) -> Result<usize, StoreError> {
    let erasures = Erasures::read(layout).await?;
    let erased_jobs = match &erasures.pending {
        Some(scope @ EraseScope::Jobs { .. }) => erased_jobs(layout, scope, &journals).await?,
        _ => HashSet::new(),
    };
    let mut replayed = 0;
    for path in journals {
        let frames = read_if_there(layout, path).await?;
        replayed += frames.len();
        let frames = frames.into_iter().flat_map(|frame| surviving(frame, &erasures));
        let batch: Batch = frames.filter(|record| !is_one_of(record, &erased_jobs)).collect();
        apply::apply_again(tables, &revisions::newest(batch), dims).await?;
    }
    Ok(replayed)
}

async fn read_if_there(layout: &Layout, path: PathBuf) -> Result<Vec<Frame>, StoreError> {
    let layout = layout.clone();
    let read = move || if path.exists() { journal::read(&layout, &path) } else { Ok(Vec::new()) };
    blocking(read).await?.map_err(failed)
}

/// Finds the jobs that an erasure by age removes, by their last revision. Earlier revisions of these jobs, which were
/// not over, must not come back instead.
async fn erased_jobs(layout: &Layout, scope: &EraseScope, journals: &[PathBuf]) -> Result<HashSet<JobId>, StoreError> {
    let mut last: HashMap<JobId, (u32, bool)> = HashMap::new();
    let mut all = journal::history(layout);
    all.extend(journals.iter().filter(|path| !all.contains(path)).cloned().collect::<Vec<_>>());
    for path in all {
        for record in read_if_there(layout, path).await?.iter().flat_map(|frame| &frame.batch) {
            let Record::Job(job) = record else { continue };
            if last.get(&job.id).is_none_or(|(revision, _)| job.revision >= *revision) {
                last.insert(job.id, (job.revision, scope.covers(record)));
            }
        }
    }
    Ok(last.into_iter().filter(|(_, (_, is_erased))| *is_erased).map(|(id, _)| id).collect())
}

fn is_one_of(record: &Record, jobs: &HashSet<JobId>) -> bool {
    matches!(record, Record::Job(job) if jobs.contains(&job.id))
}

/// Returns the records of a frame that were not erased after it was written.
fn surviving(frame: Frame, erasures: &Erasures) -> Batch {
    let erased = erasures.pending.as_ref().filter(|_| frame.erasures < erasures.count);
    let survives = |record: &Record| erased.is_none_or(|scope| !scope.covers(record));
    frame.batch.into_iter().filter(survives).collect()
}
