//! Which workspace is meant, and what its checkout proposes. What a workspace may read is not decided here.

use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use reasoning_bank_actors::memories::WorkspaceRef;
use reasoning_bank_domain::workspace::{Proposed, Workspace, WorkspaceId};
use serde::Serialize;

use super::SettingsError;
use super::layers::{self, Layer, Sources, WORKSPACE_FILE};
use super::problem::Problem;
use crate::project::{self, Identity};

/// In the data directory: the canonical root, or the id, of the workspace that `workspace switch` chose.
const DEFAULT_FILE: &str = "default_workspace";

/// What a checkout asks for and a person has to agree to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proposal {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub org: Option<String>,
    /// Where it stands.
    pub file: PathBuf,
}

/// The workspace of an invocation.
pub(super) struct Meant {
    pub(super) workspace: WorkspaceRef,
    /// How it came to be the one.
    pub(super) origin: String,
    /// What its file sets, and what it proposes.
    pub(super) file: Option<Layer>,
    pub(super) proposal: Option<Proposal>,
}

/// How a workspace is identified, and where the default one is kept, is decided by the other layers alone.
pub(super) fn meant<'a>(
    sources: &Sources,
    layers: impl Iterator<Item = &'a Layer> + Clone,
    problems: &mut Vec<Problem>,
) -> Option<Meant> {
    let last = |key| layers.clone().filter_map(|layer| layer.text(key)).last();
    let identity = if last("workspace.identity") == Some("path") { Identity::Path } else { Identity::Git };
    let (named, origin) = match &sources.flags.workspace {
        Some(named) => (Ok(named.clone()), "flag --workspace".to_owned()),
        None if identity == Identity::Git && project::in_repository(&sources.directory) => {
            (Ok(".".to_owned()), "repository of the current directory".to_owned())
        }
        None => match last("data_dir").map(|dir| sources.directory.join(dir).join(DEFAULT_FILE)) {
            Some(file) if file.is_file() => (read_default(&file), format!("default in {}", file.display())),
            _ => (Ok(".".to_owned()), "current directory".to_owned()),
        },
    };
    let workspace = named
        .and_then(|named| project::workspace(&named, &sources.directory, identity).map_err(|error| error.to_string()));
    let workspace = workspace.map_err(|error| problems.push(Problem::new("workspace", error, &origin))).ok()?;
    let (file, proposal) = match &workspace {
        WorkspaceRef::Root(root) => {
            let (layer, proposal) = file_of(Path::new(root), problems);
            (Some(layer), proposal)
        }
        WorkspaceRef::Id(_) => (None, None),
    };
    Some(Meant { workspace, origin, file, proposal })
}

/// What the checkout at a project root proposes.
///
/// # Errors
/// Its file holds what it may not, or cannot be read.
pub fn proposal(root: &Path) -> Result<Option<Proposal>, SettingsError> {
    let mut problems = Vec::new();
    let (_, proposal) = file_of(root, &mut problems);
    if problems.is_empty() { Ok(proposal) } else { Err(SettingsError { problems }) }
}

/// The same where what else is wrong with the file is somebody else's matter.
pub fn proposed(root: &Path) -> Proposed {
    match file_of(root, &mut Vec::new()).1 {
        Some(Proposal { team, org, .. }) => Proposed { team, org },
        None => Proposed::default(),
    }
}

fn file_of(root: &Path, problems: &mut Vec<Problem>) -> (Layer, Option<Proposal>) {
    let file = root.join(WORKSPACE_FILE);
    let mut layer = layers::workspace_file(&file, problems);
    let mut take = |key| layer.take(key).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let (team, org) = (take("workspace.team"), take("workspace.org"));
    let proposal = (team.is_some() || org.is_some()).then_some(Proposal { team, org, file });
    (layer, proposal)
}

fn read_default(file: &Path) -> Result<String, String> {
    let text = layers::read(file).map_err(|error| format!("cannot be read: {error}"))?;
    let text = text.trim_end_matches('\n');
    if text.is_empty() { Err("is empty; `workspace switch` writes it".to_owned()) } else { Ok(text.to_owned()) }
}

/// Stores the workspace that is meant where neither `--workspace` nor a repository says so. Returns the file.
///
/// # Errors
/// The data directory cannot be written to.
pub fn store_default(data_dir: &Path, workspace: &WorkspaceRef) -> io::Result<PathBuf> {
    let text = match workspace {
        WorkspaceRef::Root(root) => root.clone(),
        WorkspaceRef::Id(id) => id.to_string(),
    };
    if text.contains('\n') {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a path with a line break cannot be stored"));
    }
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(data_dir)?;
    let file = data_dir.join(DEFAULT_FILE);
    let mut written = tempfile::NamedTempFile::new_in(data_dir)?;
    writeln!(written, "{text}")?;
    written.as_file().sync_data()?;
    written.persist(&file)?;
    Ok(file)
}

/// Forgets the default where it is this workspace.
///
/// # Errors
/// The data directory cannot be written to.
pub fn clear_default(data_dir: &Path, workspace: &Workspace) -> io::Result<()> {
    let file = data_dir.join(DEFAULT_FILE);
    let is_default = |text: String| {
        text == workspace.root || WorkspaceId::of_root(&text) == workspace.id || text == workspace.id.as_str()
    };
    if read_default(&file).is_ok_and(is_default) { std::fs::remove_file(&file) } else { Ok(()) }
}
