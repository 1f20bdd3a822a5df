//! Bringing a directory into order. Its format is checked first (`format`). A table that is damaged goes back to what
//! is whole (`recovery`), one of an earlier format is upgraded (`upgrade`), and journals of dead processes are replayed
//! (`orphans`). Whoever gets the write lock finishes what the last holder began (`pending`), which may be an erasure
//! (`erasure`). What cannot be written to is opened as it is (`read_only`).

pub(super) mod erasure;
pub(super) mod format;
mod orphans;
pub(super) mod pending;
pub(super) mod read_only;
pub(super) mod recovery;
pub(super) mod upgrade;
