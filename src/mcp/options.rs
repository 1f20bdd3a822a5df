//! What a server is started with: the part of the configuration that it and its tools follow.

use std::path::PathBuf;
use std::time::Duration;

use reasoning_bank_actors::memories::WorkspaceRef;
use reasoning_bank_domain::memory::trace::MattsMode;

use crate::project::Identity;
use crate::settings::{Destructive, Toolset};

/// The options of a server.
#[derive(Debug, Clone)]
pub struct McpOptions {
    /// The workspace that a session works in; without one the session is bound by the first sign of which project it is
    /// for.
    pub workspace: Option<WorkspaceRef>,
    /// What relative paths in calls are relative to.
    pub base: PathBuf,
    /// No project by itself: every project of the user may lie below it.
    pub home: Option<PathBuf>,
    pub identity: Identity,
    /// Where it is kept which workspace is the default one.
    pub data_dir: PathBuf,
    /// Whose tools are listed; at least one.
    pub toolsets: Vec<Toolset>,
    /// What happens when a client wants to erase something.
    pub destructive: Destructive,
    /// Whether clients may write to what the team and the organisation read as well.
    pub shares: bool,
    /// Whether there is a model; without one `solve_coding_task` does not exist.
    pub can_solve: bool,
    /// Whether exchanges are captured; `capture_exchange` is among the core tools then.
    pub captures: bool,
    pub solve_deadline: Duration,
    pub defaults: ToolDefaults,
}

impl McpOptions {
    /// Whether sessions may name workspaces other than their own.
    pub(super) fn names_workspaces(&self) -> bool {
        self.toolsets.iter().any(|toolset| matches!(toolset, Toolset::Workspace | Toolset::All))
    }
}

/// What the configuration says about arguments that a caller leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolDefaults {
    pub enable_matts: bool,
    /// 1..=8.
    pub matts_k: u32,
    pub matts_mode: MattsMode,
    /// 1..=50.
    pub n_results: usize,
}

impl Default for ToolDefaults {
    fn default() -> Self {
        Self { enable_matts: true, matts_k: 5, matts_mode: MattsMode::Parallel, n_results: 5 }
    }
}
