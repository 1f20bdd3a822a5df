//! The questions that a hook asks a process that serves, and the files that it leaves for one.

use std::path::{Path, PathBuf};

use reasoning_bank_clients::HookCall;
use reasoning_bank_domain::memory::ids::MemoryId;
use serde::{Deserialize, Serialize};

use crate::project::Identity;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HookQuestion {
    /// The absolute path of a directory in the project that the session works in.
    pub(crate) directory: PathBuf,
    /// The directory that the session was begun in, where the client names it and `directory` lies below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) begun_in: Option<PathBuf>,
    pub(crate) call: HookCall,
}

impl HookQuestion {
    /// Returns the directory that tells the project. Where a path is a project of its own, that is the one that the
    /// session was begun in: each `cd` of the agent moves the other.
    pub(crate) fn place(&self, identity: Identity) -> &Path {
        match (identity, &self.begun_in) {
            (Identity::Path, Some(begun_in)) => begun_in,
            _ => &self.directory,
        }
    }
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

#[cfg(test)]
mod tests {
    use reasoning_bank_clients::{AgentClient, HookEvent};

    use super::*;

    #[test]
    fn a_session_stays_in_the_path_that_it_was_begun_in() {
        let call = HookCall {
            client: AgentClient::ClaudeCode,
            name: "SessionStart".to_owned(),
            session: "s".to_owned(),
            directory: None,
            event: HookEvent::SessionStarted,
        };
        let question = HookQuestion { directory: "/w/shop/sub".into(), begun_in: Some("/w/shop".into()), call };
        assert_eq!(question.place(Identity::Path), Path::new("/w/shop"));
        assert_eq!(question.place(Identity::Git), Path::new("/w/shop/sub"));
        let unnamed = HookQuestion { begun_in: None, ..question };
        assert_eq!(unnamed.place(Identity::Path), Path::new("/w/shop/sub"));
    }
}
