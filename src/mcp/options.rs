//! The options of a server: the part of the configuration that the server and its tools follow.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::memory::trace::MattsMode;
use reasoning_bank_domain::prompt::Prompts;

use crate::project::Identity;
use crate::recall_log::RecallLog;
use crate::settings::{Destructive, Toolset};

/// Everything that a server is started with.
#[derive(Debug, Clone)]
pub struct McpOptions {
    /// The workspace that a session works in. Without one, the first sign of which project a session is for binds it.
    pub workspace: Option<WorkspaceRef>,
    /// Relative paths in calls are relative to this directory.
    pub base: PathBuf,
    /// The home directory is no project by itself, because every project of the user may lie below it.
    pub home: Option<PathBuf>,
    pub identity: Identity,
    /// The data directory, which keeps the choice of the default workspace.
    pub data_dir: PathBuf,
    /// The directory of scheduled backups, which an erasure looks at.
    pub backup_dir: Option<PathBuf>,
    /// The toolsets whose tools are listed, at least one.
    pub toolsets: Vec<Toolset>,
    /// The server does this when a client wants to erase something.
    pub destructive: Destructive,
    /// Clients may write to what the team and the organisation read as well.
    pub shares: bool,
    /// There is a model. Without one `solve_coding_task` does not exist.
    pub can_solve: bool,
    /// Exchanges are captured, and `capture_exchange` is among the core tools.
    pub captures: bool,
    /// The log of what agents were shown; none where nobody wants one.
    pub(crate) recalls: Option<RecallLog>,
    pub solve_deadline: Duration,
    pub defaults: ToolDefaults,
    /// The prompts, with what an agent is told beside a memory bank.
    pub prompts: Arc<Prompts>,
}

impl McpOptions {
    /// Says whether sessions may name workspaces other than their own.
    pub(super) fn names_workspaces(&self) -> bool {
        self.toolsets.iter().any(|toolset| matches!(toolset, Toolset::Workspace | Toolset::All))
    }
}

/// The values of arguments that a caller leaves out, as the configuration has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolDefaults {
    pub enable_matts: bool,
    /// The number of attempts, in 1..=8.
    pub matts_k: u32,
    pub matts_mode: MattsMode,
    /// The number of memories of an answer, in 1..=50.
    pub n_results: usize,
}

impl Default for ToolDefaults {
    fn default() -> Self {
        Self { enable_matts: true, matts_k: 5, matts_mode: MattsMode::Parallel, n_results: 5 }
    }
}
