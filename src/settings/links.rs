//! The keys under which a team's server knows the projects of this machine, where the user has said so. A checkout has no
//! say in it: whoever wrote it chose its remote, and could name a project of somebody else.

use std::io;
use std::path::{Path, PathBuf};

use reasoning_bank_domain::memory::workspace::{WorkspaceId, WorkspaceKey};
use reasoning_bank_store::data_dir::LINKS;
use reasoning_bank_store::files::{create_dir, remove_if_there, write_synced};
use serde::{Deserialize, Serialize};

use super::layers;

/// What the file of a link holds. The root is kept as well, because two roots may have one id.
#[derive(Serialize, Deserialize)]
struct LinkFile {
    root: String,
    key: WorkspaceKey,
}

/// Reads the key that the project at a root is linked to. None where nothing readable says so.
pub fn linked(data_dir: &Path, root: &str) -> Option<WorkspaceKey> {
    let text = layers::read(&link_file(data_dir, root)).ok()?;
    let link: LinkFile = serde_json::from_str(&text).ok()?;
    (link.root == root).then_some(link.key)
}

/// Links the project at a root to a key, or to none any more.
///
/// # Errors
/// The data directory cannot be written to.
pub fn link(data_dir: &Path, root: &str, key: Option<WorkspaceKey>) -> io::Result<()> {
    let file = link_file(data_dir, root);
    let Some(key) = key else { return remove_if_there(&file) };
    let text = serde_json::to_string_pretty(&LinkFile { root: root.to_owned(), key })?;
    create_dir(&data_dir.join(LINKS))?;
    write_synced(&file, format!("{text}\n").as_bytes())
}

fn link_file(data_dir: &Path, root: &str) -> PathBuf {
    data_dir.join(LINKS).join(format!("{}.json", WorkspaceId::of_root(root)))
}
