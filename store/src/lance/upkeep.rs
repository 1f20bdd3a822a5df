//! Work that no caller waits for, in slices beside the writers (`slices`): compaction, indexes, pruning. What was made
//! so is published under the write lock (`publish`). All vectors are made again for another embedder (`reembed`).

mod publish;
pub(super) mod reembed;
mod slices;

pub(super) use self::slices::{after_commit, maintain};
