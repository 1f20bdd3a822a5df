//! The keys under which a team's server knows the projects of this machine, where the user has said so. A checkout has
//! no say in it: whoever wrote it chose its remote, and could name a project of somebody else.

use std::io;
use std::path::Path;

use reasoning_bank_domain::memory::workspace::WorkspaceKey;
use reasoning_bank_store::data_dir::LINKS;
use serde::{Deserialize, Serialize};

use super::per_project;

#[derive(Serialize, Deserialize)]
struct Linked {
    key: WorkspaceKey,
}

/// Reads the key that the project at a root is linked to. None where nothing readable says so.
pub fn linked(data_dir: &Path, root: &str) -> Option<WorkspaceKey> {
    per_project::read(data_dir, LINKS, root).map(|Linked { key }| key)
}

/// Links the project at a root to a key, or to none any more.
///
/// # Errors
/// The data directory cannot be written to.
pub fn link(data_dir: &Path, root: &str, key: Option<WorkspaceKey>) -> io::Result<()> {
    per_project::keep(data_dir, LINKS, root, key.map(|key| Linked { key }))
}
