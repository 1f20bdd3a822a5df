//! The parts of a commit, in the order in which a commit meets them; `writer` puts them together. A commit waits in the
//! queue (`queue`) for the write lock (`write_lock`), beside which is written what is being applied (`write_owner`).
//! The fate of its records is decided against what is stored (`resolve`, `revisions`). The batch is one frame
//! (`frames`) of the journal (`journal`), which is synced before the tables are touched (`apply`); many records go past
//! the journal (`bulk`). A checkpoint (`checkpoint`) syncs the tables and empties the journal. After a crash frames are
//! applied again (`replay`), except what was erased since (`erasures`).

pub(super) mod apply;
pub(super) mod bulk;
pub(super) mod checkpoint;
pub(super) mod erasure_log;
pub(super) mod erasures;
pub(super) mod frames;
pub(super) mod journal;
pub(super) mod queue;
pub(super) mod replay;
pub(super) mod resolve;
mod revisions;
pub(super) mod write_lock;
pub(super) mod write_owner;
