//! The settings: everything that can be configured, read from all layers and checked, with the origin of every value.
//! `keys` lists the keys and their bounds, `layers` reads the places that values come from, `workspace` and `checkout`
//! decide what a checkout may set, and `provider` finds the key and says whether a command can use the provider.
//!
//! A section is a table of the configuration; those that have no file of their own are in `sections`. The settings of
//! an actor are made of the sections in `bootstrap`.

use std::path::PathBuf;
use std::sync::Arc;

use config::Config;
use reasoning_bank_actors::workspaces::{RootName, WorkspaceRef};
use reasoning_bank_domain::safety::secrets::scrub;
use serde::Deserialize;

use crate::embed::HUB_PREFIX;
use crate::project;

mod api_key;
mod banks;
mod checkout;
mod consolidation;
mod episodes;
mod hooks;
mod keys;
mod layers;
mod links;
mod patterns;
mod per_project;
mod problem;
mod prompts;
mod provider;
mod recall_log;
mod sections;
mod show;
mod workspace;

pub use api_key::{ApiKey, BOOTSTRAP_TOKEN_FILE, SECRET_VARIABLES};
pub use banks::BanksSection;
pub use checkout::{CheckoutRanking, agree, agreed};
pub use consolidation::ConsolidationSection;
pub use episodes::{EpisodeSection, TraceSection};
pub use hooks::HooksSection;
pub use layers::{Flags, SettingSources};
pub use links::{link, linked};
pub use patterns::PatternsSection;
pub use problem::{SettingProblem, SettingsError};
pub use provider::{LlmSection, Provider, ProviderError};
pub use recall_log::RecallLogSection;
pub use sections::{
    AgentSection, BackgroundSection, BackupSection, CacheSection, Destructive, EmbeddingSection, HttpSection,
    JudgeSection, LlmModelsSection, LogFormat, LogLevel, LogSection, MattsSection, McpSection, MetricsAccess,
    PassiveSection, PromotionSection, RedactionSection, RetrievalSection, RetrySection, SimulatedSection, Toolset,
    WeightSection, WorkspaceSection,
};
pub use show::Effective;
pub use workspace::{CheckoutProposal, forget, proposal, proposed, store_default};

use layers::Layer;
use show::MergedLayers;

/// The text of `config/default.toml`, which explains every key.
pub const DEFAULTS: &str = include_str!("../config/default.toml");

/// The effective values. Their units and bounds are in [`DEFAULTS`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub data_dir: PathBuf,
    pub llm: LlmSection,
    pub agent: AgentSection,
    pub matts: MattsSection,
    pub judge: JudgeSection,
    pub retrieval: RetrievalSection,
    pub embedding: EmbeddingSection,
    pub promotion: PromotionSection,
    pub background: BackgroundSection,
    pub passive: PassiveSection,
    pub redaction: RedactionSection,
    pub traces: TraceSection,
    pub recall_log: RecallLogSection,
    pub hooks: HooksSection,
    pub episodes: EpisodeSection,
    pub consolidation: ConsolidationSection,
    pub patterns: PatternsSection,
    pub banks: BanksSection,
    pub backup: BackupSection,
    pub workspace: WorkspaceSection,
    pub mcp: McpSection,
    pub http: HttpSection,
    pub log: LogSection,
}

/// The result of loading: the settings, and how they came about.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub settings: Settings,
    merged: MergedLayers,
    /// The workspace of this invocation: that of `--workspace`, else the repository of the current directory, else the
    /// default that was chosen, else the current directory.
    pub workspace: WorkspaceRef,
    /// The one of these places that the workspace comes from.
    pub workspace_origin: String,
    /// The workspace was given with `--workspace`.
    pub workspace_is_named: bool,
    /// The workspace was given with `--workspace`, or is the default that was chosen.
    pub workspace_is_chosen: bool,
    /// The reason why the workspace is probably not what was meant, where every other project lies below it.
    pub too_wide: Option<String>,
    /// The proposal of the workspace's checkout.
    pub proposal: Option<CheckoutProposal>,
    /// The key of the provider. There is none where none is given, or where the provider takes none.
    pub api_key: Option<ApiKey>,
    /// The reason why the key that is given cannot be used; there is no `api_key` then. Only what needs the key fails
    /// of it.
    pub key_problem: Option<SettingProblem>,
    /// The warnings that the user should see.
    pub warnings: Vec<String>,
}

impl Loaded {
    /// Returns what the settings say of the workspace of this invocation, or none where it is known by its id alone.
    pub fn root_name(&self) -> Option<RootName> {
        let WorkspaceRef::Root(root) = &self.workspace else { return None };
        let set = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let WorkspaceSection { name, team, org, .. } = &self.settings.workspace;
        let named = RootName { root: root.clone(), name: set(name), team: set(team), org: set(org) };
        (named.name.is_some() || named.team.is_some() || named.org.is_some()).then_some(named)
    }

    /// Lists the warnings for whoever works in this workspace.
    pub fn all_warnings(&self) -> Vec<&str> {
        self.warnings.iter().chain(&self.too_wide).map(String::as_str).collect()
    }

    /// Lists every key that is no secret with its value, in the order of [`DEFAULTS`].
    pub fn effective(&self) -> Vec<Effective> {
        self.merged.effective()
    }

    /// Says whether a key has its built-in value.
    pub fn is_default(&self, key: &str) -> bool {
        self.merged.origin_of(key) == layers::BUILT_IN
    }

    /// Returns the layer that a value comes from, as a user may read it.
    fn origin_of(&self, key: &str) -> String {
        scrub(self.merged.origin_of(key)).text.into_owned()
    }
}

/// Reads and checks every layer.
///
/// # Errors
/// The error has all problems of all layers.
pub fn load(sources: &SettingSources) -> Result<Loaded, SettingsError> {
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

    let meant = workspace::meant(sources, &below, &above, &mut problems);
    let file = meant.as_ref().and_then(|meant| meant.file.clone());
    let layers: Vec<Layer> = below.into_iter().chain(file).chain(above).collect();
    let merged = layers.iter().cloned().fold(Config::builder(), |builder, layer| builder.add_source(layer));
    let merged = merged.build().map_err(|error| SettingsError::one(SettingProblem::internal(error)))?;

    keys::check_together(&merged, &mut problems);
    let key = provider::usable_key(&merged, sources, &layers, &problems);
    let values = MergedLayers::of(&merged.cache);
    let (Some(meant), true) = (meant, problems.is_empty()) else {
        problems.extend(key.err());
        return Err(SettingsError { problems });
    };
    let prompts_from = keys::at(&merged.cache, prompts::KEY).map(|(_, layer)| layer.to_owned()).unwrap_or_default();
    let mut settings: Settings =
        merged.try_deserialize().map_err(|error| SettingsError::one(SettingProblem::internal(error)))?;
    settings.data_dir = sources.directory.join(&settings.data_dir);
    for dir in [
        &mut settings.traces.dir,
        &mut settings.backup.dir,
        &mut settings.embedding.model_dir,
        &mut settings.llm.prompts_dir,
    ] {
        let is_name = dir.to_str().is_some_and(|dir| dir.is_empty() || dir.starts_with(HUB_PREFIX));
        if !is_name {
            *dir = sources.directory.join(&*dir);
        }
    }
    if !settings.llm.prompts_dir.as_os_str().is_empty() {
        let own =
            prompts::read(&settings.llm.prompts_dir, &prompts_from).map_err(|problems| SettingsError { problems })?;
        settings.llm.prompts = Arc::new(own);
    }
    let (api_key, key_problem) = match key {
        Ok(key) => (key, None),
        Err(problem) => (None, Some(problem)),
    };
    let too_wide = meant.workspace.root().and_then(|root| project::warning(root, sources.home.as_deref()));
    Ok(Loaded {
        settings,
        merged: values,
        workspace: meant.workspace,
        workspace_origin: meant.origin,
        workspace_is_named: sources.flags.workspace.is_some(),
        workspace_is_chosen: meant.is_chosen,
        too_wide,
        proposal: meant.proposal,
        api_key,
        key_problem,
        warnings: meant.warnings,
    })
}

#[cfg(test)]
mod tests;
