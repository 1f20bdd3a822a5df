//! The workspace of an invocation, and the proposals of its checkout. What a workspace may read is not decided here.

use std::io;
use std::path::{Path, PathBuf};

use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::memory::workspace::{ProposedScopes, Workspace, WorkspaceId};
use serde::Serialize;

use super::SettingsError;
use super::checkout::{self, CheckoutRanking};
use super::layers::{self, Layer, SettingSources, WORKSPACE_FILE};
use super::links;
use super::problem::SettingProblem;
use crate::project::{self, Identity};
use reasoning_bank_store::data_dir::DEFAULT_WORKSPACE;
use reasoning_bank_store::files::{create_dir, write_synced};

/// The wishes of a checkout that a person has to agree to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckoutProposal {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub org: Option<String>,
    /// The keys and values of the checkout's own ranking.
    #[serde(skip_serializing_if = "CheckoutRanking::is_empty")]
    pub ranking: CheckoutRanking,
    /// The file that makes the proposal.
    pub file: PathBuf,
}

/// The workspace of an invocation.
pub(super) struct Meant {
    pub(super) workspace: WorkspaceRef,
    /// The way in which it came to be the workspace.
    pub(super) origin: String,
    /// The workspace was given with `--workspace`, or is the default that was chosen.
    pub(super) is_chosen: bool,
    /// The settings of its file, and the proposals in it.
    pub(super) file: Option<Layer>,
    pub(super) proposal: Option<CheckoutProposal>,
    /// The wishes of its file that are not granted, and what is strange about its name.
    pub(super) warnings: Vec<String>,
}

/// Finds the workspace. How it is identified, and where the default one is kept, is decided by the user's layers alone:
/// those `below` its file and those `above`. The file is held against those below; those above win in any case.
pub(super) fn meant(
    sources: &SettingSources,
    below: &[Layer],
    above: &[Layer],
    problems: &mut Vec<SettingProblem>,
) -> Option<Meant> {
    let last = |key| below.iter().chain(above).rev().find_map(|layer| layer.text(key));
    let data_dir = last("data_dir").map(|dir| sources.directory.join(dir));
    let identity = if last("workspace.identity") == Some("path") { Identity::Path } else { Identity::Git };
    let (named, origin, is_chosen) = match &sources.flags.workspace {
        Some(named) => (Ok(named.clone()), "flag --workspace".to_owned(), true),
        None if identity == Identity::Git && project::in_repository(&sources.directory) => {
            (Ok(".".to_owned()), "repository of the current directory".to_owned(), false)
        }
        None => match data_dir.as_ref().map(|dir| dir.join(DEFAULT_WORKSPACE)) {
            Some(file) if file.is_file() => (read_default(&file), format!("default in {}", file.display()), true),
            _ => (Ok(".".to_owned()), "current directory".to_owned(), false),
        },
    };
    let workspace = named
        .and_then(|named| project::workspace(&named, &sources.directory, identity).map_err(|error| error.to_string()));
    let workspace = workspace.map_err(|error| problems.push(SettingProblem::new("workspace", error, &origin))).ok()?;
    let mut meant = Meant { workspace, origin, is_chosen, file: None, proposal: None, warnings: Vec::new() };
    if let WorkspaceRef::Root(root) = &meant.workspace {
        let (mut layer, proposal) = file_of(Path::new(root), problems);
        let agreed = data_dir.map(|dir| checkout::agreed(&dir, root)).unwrap_or_default();
        meant.warnings = checkout::narrow(&mut layer, &Path::new(root).join(WORKSPACE_FILE), below, &agreed);
        (meant.file, meant.proposal) = (Some(layer), proposal);
    }
    if let (Some(named), WorkspaceRef::Root(_)) = (&sources.flags.workspace, &meant.workspace)
        && !sources.directory.join(named).exists()
    {
        meant.warnings.push(format!(
            "there is no directory {named}, so the workspace is a new one; `workspace list` has those that are here, with \
             their ids"
        ));
    }
    Some(meant)
}

/// Reads what the checkout at a project root proposes.
///
/// # Errors
/// Its file holds what it may not, or cannot be read.
pub fn proposal(root: &Path) -> Result<Option<CheckoutProposal>, SettingsError> {
    let mut problems = Vec::new();
    let (_, proposal) = file_of(root, &mut problems);
    if problems.is_empty() { Ok(proposal) } else { Err(SettingsError { problems }) }
}

/// Reads the same, and passes over whatever else is wrong with the file.
pub fn proposed(root: &Path) -> ProposedScopes {
    match file_of(root, &mut Vec::new()).1 {
        Some(CheckoutProposal { team, org, .. }) => ProposedScopes { team, org },
        None => ProposedScopes::default(),
    }
}

fn file_of(root: &Path, problems: &mut Vec<SettingProblem>) -> (Layer, Option<CheckoutProposal>) {
    let file = root.join(WORKSPACE_FILE);
    let mut layer = layers::workspace_file(&file, problems);
    let mut take = |key| layer.take(key).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let (team, org) = (take("workspace.team"), take("workspace.org"));
    let ranking = checkout::ranking(&layer);
    let proposal = CheckoutProposal { team, org, ranking, file };
    let proposes = proposal.team.is_some() || proposal.org.is_some() || !proposal.ranking.is_empty();
    (layer, proposes.then_some(proposal))
}

fn read_default(file: &Path) -> Result<String, String> {
    let text = layers::read(file).map_err(|error| format!("cannot be read: {error}"))?;
    let text = text.trim_end_matches('\n');
    if text.is_empty() { Err("is empty; `workspace switch` writes it".to_owned()) } else { Ok(text.to_owned()) }
}

/// Stores the workspace that is used where neither `--workspace` nor a repository names one. It returns the file.
///
/// # Errors
/// The data directory cannot be written to.
pub fn store_default(data_dir: &Path, workspace: &WorkspaceRef) -> io::Result<PathBuf> {
    let text = workspace.to_string();
    if text.contains('\n') {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a path with a line break cannot be stored"));
    }
    let file = data_dir.join(DEFAULT_WORKSPACE);
    create_dir(data_dir)?;
    write_synced(&file, format!("{text}\n").as_bytes())?;
    Ok(file)
}

/// Forgets what is kept beside the bank about a workspace that is deleted: that it is the default, its ranking, and its
/// key on a team's server.
///
/// # Errors
/// The data directory cannot be written to.
pub fn forget(data_dir: &Path, workspace: &Workspace) -> io::Result<()> {
    let file = data_dir.join(DEFAULT_WORKSPACE);
    let is_default = |text: String| {
        text == workspace.root || WorkspaceId::of_root(&text) == workspace.id || text == workspace.id.as_str()
    };
    if read_default(&file).is_ok_and(is_default) {
        std::fs::remove_file(&file)?;
    }
    links::link(data_dir, &workspace.root, None)?;
    checkout::agree(data_dir, &workspace.root, CheckoutRanking::new())
}
