//! Settings: what can be configured, read from all layers, checked, with the origin of every value. The keys and their
//! bounds are in `keys`, where values come from in `layers`. Which provider a command can use is `provider`'s matter.

use std::path::PathBuf;

use config::Config;
use reasoning_bank_actors::memories::WorkspaceRef;
use reasoning_bank_actors::workspaces::RootName;
use reasoning_bank_domain::matts::MattsMode;
use reasoning_bank_domain::score::{ProfileName, Weights};
use serde::Deserialize;

use crate::mcp::Toolset;
use crate::project::{self, Identity};

mod api_key;
mod keys;
mod layers;
mod problem;
mod provider;
mod show;

pub use api_key::ApiKey;
pub use layers::{Flags, Sources};
pub use problem::{Problem, SettingsError};
pub use provider::{Provider, ProviderError};
pub use show::Effective;

use layers::{Layer, WORKSPACE_FILE};

/// `config/default.toml`: every key with its comment.
pub const DEFAULTS: &str = include_str!("../config/default.toml");

/// The effective values; units and bounds are in [`DEFAULTS`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub data_dir: PathBuf,
    pub llm: LlmSettings,
    pub agent: AgentSettings,
    pub matts: MattsSettings,
    pub judge: JudgeSettings,
    pub retrieval: RetrievalSettings,
    pub workspace: WorkspaceSettings,
    pub mcp: McpSettings,
    pub log: LogSettings,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LlmSettings {
    pub provider: Provider,
    /// Empty: the provider's own, see [`LlmSettings::endpoint`].
    pub base_url: String,
    pub model: String,
    pub effort: String,
    pub max_output_tokens: u32,
    pub timeout_s: u64,
    pub requests_per_minute: u32,
    pub models: ModelSettings,
    pub retry: RetrySettings,
    pub cache: CacheSettings,
    pub simulated: SimulatedSettings,
}

/// Of calls that are not drafts; empty: `llm.model`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSettings {
    pub evaluate: String,
    pub judge: String,
    pub extract: String,
    pub capture: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetrySettings {
    pub max_retries: u32,
    pub base_delay_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheSettings {
    pub max_entries: u64,
    pub ttl_s: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimulatedSettings {
    pub latency_ms: u64,
    pub jitter: f64,
    pub failure_rate: f64,
    pub seed: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSettings {
    pub max_iterations: u32,
    pub success_threshold: f64,
    pub prompt_token_budget: usize,
    pub total_token_budget: u64,
    pub deadline_s: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MattsSettings {
    pub enabled: bool,
    pub k: u32,
    pub mode: MattsMode,
    pub workers: usize,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgeSettings {
    pub concurrency: usize,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetrievalSettings {
    pub n_results: usize,
    pub profile: ProfileName,
    pub half_life_days: f64,
    pub relevance_floor: f64,
    pub weights: WeightSettings,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightSettings {
    pub similarity: f64,
    pub recency: f64,
    pub error_context: f64,
}

impl From<&WeightSettings> for Weights {
    fn from(weights: &WeightSettings) -> Self {
        Self {
            similarity: weights.similarity,
            recency: weights.recency,
            error_context: weights.error_context,
            ..Self::default()
        }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceSettings {
    pub identity: Identity,
    /// Empty: the name of the directory.
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpSettings {
    pub toolsets: Vec<Toolset>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogSettings {
    pub level: LogLevel,
    pub format: LogFormat,
    /// Empty: stderr.
    pub file: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Text,
    Json,
}

/// What loading gives: the settings, and how they came about.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub settings: Settings,
    /// Every key in the order of [`DEFAULTS`].
    pub effective: Vec<Effective>,
    /// The workspace of this invocation: `--workspace`, else the current directory.
    pub workspace: WorkspaceRef,
    /// It was given with `--workspace`.
    pub workspace_is_named: bool,
    /// Of the provider; none where there is none, or where the provider takes none.
    pub api_key: Option<ApiKey>,
    /// Worth telling the user.
    pub warnings: Vec<String>,
}

impl Loaded {
    /// What `workspace.name` calls the workspace of this invocation.
    pub fn root_name(&self) -> Option<RootName> {
        match (&self.workspace, self.settings.workspace.name.trim()) {
            (WorkspaceRef::Id(_), _) | (_, "") => None,
            (WorkspaceRef::Root(root), name) => {
                Some(RootName { root: root.clone(), name: Some(name.to_owned()), ..RootName::default() })
            }
        }
    }

    /// Whether a key has its built-in value.
    pub fn is_default(&self, key: &str) -> bool {
        self.origin_of(key) == layers::BUILT_IN
    }

    /// The layer that a value comes from.
    fn origin_of(&self, key: &str) -> String {
        let entry = self.effective.iter().find(|entry| entry.key == key);
        entry.map(|entry| entry.origin.clone()).unwrap_or_default()
    }
}

/// Reads and checks every layer.
///
/// # Errors
/// All problems of all layers at once.
pub fn load(sources: &Sources) -> Result<Loaded, SettingsError> {
    let mut problems = Vec::new();
    let below = [
        layers::built_in(&mut problems),
        layers::data_home(sources, &mut problems),
        layers::user_file(sources, &mut problems),
    ];
    let above = [
        layers::config_flag(sources, &mut problems),
        layers::seed_environment(sources, &mut problems),
        layers::environment(sources, &mut problems),
        layers::flags(sources, &mut problems),
    ];

    let (workspace, workspace_file) = workspace(sources, below.iter().chain(&above), &mut problems);
    let layers: Vec<Layer> = below.into_iter().chain(workspace_file).chain(above).collect();
    let merged = layers.iter().cloned().fold(Config::builder(), |builder, layer| builder.add_source(layer));
    let merged = merged.build().map_err(|error| SettingsError::one(Problem::internal(error)))?;

    keys::check_together(&merged, &mut problems);
    let effective = show::effective(&merged.cache);
    let (Some(workspace), true) = (workspace, problems.is_empty()) else {
        return Err(SettingsError { problems });
    };
    let mut settings: Settings =
        merged.try_deserialize().map_err(|error| SettingsError::one(Problem::internal(error)))?;
    settings.data_dir = sources.directory.join(&settings.data_dir);
    let api_key = api_key::find(&settings.llm, sources, layers.iter()).map_err(SettingsError::one)?;
    let warnings = warnings(sources, &workspace);
    let workspace_is_named = sources.flags.workspace.is_some();
    let loaded = Loaded { settings, effective, workspace, workspace_is_named, api_key, warnings };
    provider::check_transport(&loaded).map_err(SettingsError::one)?;
    Ok(loaded)
}

/// The workspace of this invocation and the settings its file makes. How a workspace is identified is decided by the
/// other layers alone.
fn workspace<'a>(
    sources: &Sources,
    layers: impl Iterator<Item = &'a Layer>,
    problems: &mut Vec<Problem>,
) -> (Option<WorkspaceRef>, Option<Layer>) {
    let by_path = layers.filter_map(|layer| layer.text("workspace.identity")).last() == Some("path");
    let identity = if by_path { Identity::Path } else { Identity::Git };
    let named = sources.flags.workspace.as_deref().unwrap_or(".");
    match project::workspace(named, &sources.directory, identity) {
        Ok(workspace) => {
            let file = match &workspace {
                WorkspaceRef::Root(root) => {
                    Some(layers::workspace_file(&PathBuf::from(root).join(WORKSPACE_FILE), problems))
                }
                WorkspaceRef::Id(_) => None,
            };
            (Some(workspace), file)
        }
        Err(error) => {
            let origin = if sources.flags.workspace.is_some() { "flag --workspace" } else { "current directory" };
            problems.push(Problem::new("workspace", error, origin));
            (None, None)
        }
    }
}

fn warnings(sources: &Sources, workspace: &WorkspaceRef) -> Vec<String> {
    let mut warnings = Vec::new();
    if let WorkspaceRef::Root(root) = workspace {
        warnings.extend(project::warning(root, sources.home.as_deref()));
    }
    if sources.variable("REASONING_BANK_TRACES").is_some() {
        warnings.push("REASONING_BANK_TRACES is set, but this version writes no trace files".to_owned());
    }
    warnings
}

#[cfg(test)]
mod tests;
