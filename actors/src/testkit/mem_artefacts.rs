//! Artefacts that are in memory.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, PoisonError};

use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;

use crate::ports::Artefacts;

/// Artefacts in memory. They stay when their episodes go.
#[derive(Default)]
pub struct MemArtefacts(Mutex<BTreeMap<(WorkspaceId, String), Vec<u8>>>);

impl Artefacts for MemArtefacts {
    fn keep(&self, workspace: &WorkspaceId, _episode: TraceId, sha256: &str, content: &[u8]) -> io::Result<()> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert((workspace.clone(), sha256.to_owned()), content.to_vec());
        Ok(())
    }

    fn read(&self, workspace: &WorkspaceId, sha256: &str) -> io::Result<Option<Vec<u8>>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(kept.get(&(workspace.clone(), sha256.to_owned())).cloned())
    }
}
