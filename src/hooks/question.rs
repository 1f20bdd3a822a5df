//! The questions that a hook asks a process that serves, and the files that it leaves for one.

use std::path::PathBuf;

use reasoning_bank_clients::HookCall;
use reasoning_bank_domain::memory::ids::MemoryId;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HookQuestion {
    /// The absolute path of a directory in the project that the session works in.
    pub(crate) directory: PathBuf,
    pub(crate) call: HookCall,
}

/// A file that is left for a process that serves, which does once what follows from it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum SpoolEntry {
    Event(HookQuestion),
    Worked(WorkedWarnings),
}

/// The warnings that a session was shown for a command which succeeded afterwards.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkedWarnings {
    /// The absolute path of a directory in the project.
    pub(crate) directory: PathBuf,
    /// The client and its session.
    pub(crate) session: String,
    pub(crate) warnings: Vec<MemoryId>,
}
