//! The answers of `workspace`.

use std::path::PathBuf;

use reasoning_bank_actors::ports::Erased;
use reasoning_bank_domain::evidence::promotion::PromotedCopy;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceDetail, WorkspaceId, WorkspaceKey};
use reasoning_bank_store::backup::KnownBackup;
use serde::Serialize;

use crate::settings::{CheckoutProposal, CheckoutRanking};

#[derive(Debug, Serialize)]
pub(in crate::cli) struct WorkspaceList {
    pub(in crate::cli) workspaces: Vec<WorkspaceEntry>,
}

#[derive(Debug, Serialize)]
pub(in crate::cli) struct WorkspaceEntry {
    #[serde(flatten)]
    pub(in crate::cli) workspace: Workspace,
    /// The workspace is the one in use.
    pub(in crate::cli) current: bool,
}

#[derive(Debug, Serialize)]
pub(in crate::cli) struct WorkspaceOverview {
    #[serde(flatten)]
    pub(in crate::cli) detail: WorkspaceDetail,
    /// The way in which it came to be the one in use.
    pub(in crate::cli) origin: String,
    /// The key that the user has linked it to on a team's server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) linked: Option<WorkspaceKey>,
    /// The key that the remote of its repository gives it on a team's server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) key_of_remote: Option<WorkspaceKey>,
    /// The proposal of its checkout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) proposal: Option<CheckoutProposal>,
    /// The ranking of its checkout that was agreed to.
    #[serde(skip_serializing_if = "CheckoutRanking::is_empty")]
    pub(in crate::cli) ranking: CheckoutRanking,
}

#[derive(Debug, Serialize)]
pub(in crate::cli) struct Trusted {
    #[serde(flatten)]
    pub(in crate::cli) workspace: Workspace,
    #[serde(skip_serializing_if = "CheckoutRanking::is_empty")]
    pub(in crate::cli) ranking: CheckoutRanking,
}

/// A project, and its key on a team's server.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct LinkedWorkspace {
    pub(in crate::cli) root: String,
    pub(in crate::cli) key: Option<WorkspaceKey>,
}

#[derive(Debug, Serialize)]
pub(in crate::cli) struct Switched {
    pub(in crate::cli) id: WorkspaceId,
    pub(in crate::cli) name: String,
    pub(in crate::cli) root: String,
    /// The file that keeps the choice.
    pub(in crate::cli) file: PathBuf,
}

#[derive(Debug, Serialize)]
pub(in crate::cli) struct WorkspaceRemoval {
    pub(in crate::cli) id: WorkspaceId,
    pub(in crate::cli) name: String,
    pub(in crate::cli) removed: Erased,
    /// The files of its memory bank that were removed. Those in a checkout stay.
    #[serde(skip_serializing_if = "super::is_zero")]
    pub(in crate::cli) bank_files: u64,
    /// The copies of its memories that were erased along with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::cli) promoted_removed: Vec<PromotedCopy>,
    /// The copies of its memories that its team, its organisation or others keep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) promoted_kept: Option<usize>,
    /// The memories of its team and its organisation that its own had superseded, which are back in search.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::cli) reinstated: Vec<MemoryId>,
    /// The backups that still have something of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::cli) backups: Vec<KnownBackup>,
    /// The reason why it is not known which backups still have something of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) backups_unknown: Option<String>,
}
