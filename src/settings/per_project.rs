//! The user's settings for one project: a file of the data directory for each root, so that no checkout can write them
//! itself.

use std::io;
use std::path::{Path, PathBuf};

use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_store::files::{create_dir, remove_if_there, write_synced};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::layers;

/// The content of a file. The root is kept as well, because two roots may have one id.
#[derive(Serialize, Deserialize)]
struct RootFile<T> {
    root: String,
    #[serde(flatten)]
    said: T,
}

/// Reads what was said of the project at a root, in a folder of the data directory. None where nothing readable says
/// it.
pub(super) fn read<T: DeserializeOwned>(data_dir: &Path, folder: &str, root: &str) -> Option<T> {
    let text = layers::read(&path(data_dir, folder, root)).ok()?;
    let file: RootFile<T> = serde_json::from_str(&text).ok()?;
    (file.root == root).then_some(file.said)
}

/// Keeps what is said of the project at a root. None takes it back.
///
/// # Errors
/// The data directory cannot be written to.
pub(super) fn keep<T: Serialize>(data_dir: &Path, folder: &str, root: &str, said: Option<T>) -> io::Result<()> {
    let path = path(data_dir, folder, root);
    let Some(said) = said else { return remove_if_there(&path) };
    let text = serde_json::to_string_pretty(&RootFile { root: root.to_owned(), said })?;
    create_dir(&data_dir.join(folder))?;
    write_synced(&path, format!("{text}\n").as_bytes())
}

fn path(data_dir: &Path, folder: &str, root: &str) -> PathBuf {
    data_dir.join(folder).join(format!("{}.json", WorkspaceId::of_root(root)))
}
