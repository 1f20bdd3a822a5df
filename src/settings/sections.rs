//! The sections of the configuration that have no file of their own, each a table of `config/default.toml`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use reasoning_bank_domain::learning::capture::Thresholds;
use reasoning_bank_domain::memory::trace::MattsMode;
use reasoning_bank_domain::retrieval::score::{ProfileName, Weights};
use reasoning_bank_store::backup::Schedule;
use serde::Deserialize;

use crate::project::Identity;

/// The models of calls that are not drafts. An empty name stands for `llm.model`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LlmModelsSection {
    pub evaluate: String,
    pub judge: String,
    pub extract: String,
    pub capture: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetrySection {
    pub max_retries: u32,
    pub base_delay_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheSection {
    pub max_entries: u64,
    pub ttl_s: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimulatedSection {
    pub latency_ms: u64,
    pub jitter: f64,
    pub failure_rate: f64,
    pub seed: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSection {
    pub max_iterations: u32,
    pub success_threshold: f64,
    pub prompt_token_budget: usize,
    pub total_token_budget: u64,
    pub deadline_s: u64,
    pub concurrency: usize,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MattsSection {
    pub enabled: bool,
    pub k: u32,
    pub mode: MattsMode,
    pub workers: usize,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgeSection {
    pub concurrency: usize,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetrievalSection {
    pub n_results: usize,
    pub profile: ProfileName,
    pub half_life_days: f64,
    pub min_relevance: f64,
    pub relevance_floor: f64,
    pub resident_mb: usize,
    pub weights: WeightSection,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightSection {
    pub similarity: f64,
    pub recency: f64,
    pub error_context: f64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbeddingSection {
    /// An empty path stands for the built-in model.
    pub model_dir: PathBuf,
    /// Zero stands for one thread for each core.
    pub threads: usize,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromotionSection {
    pub automatic: bool,
}

impl From<&WeightSection> for Weights {
    fn from(weights: &WeightSection) -> Self {
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
pub struct BackgroundSection {
    pub daily_token_cap: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassiveSection {
    pub enabled: bool,
    pub llm: bool,
    pub min_answer_length: usize,
    pub min_question_length: usize,
    pub require_code_blocks: bool,
    pub require_explanations: bool,
}

impl From<&PassiveSection> for Thresholds {
    fn from(passive: &PassiveSection) -> Self {
        Self {
            min_answer_length: passive.min_answer_length,
            min_question_length: passive.min_question_length,
            require_code_blocks: passive.require_code_blocks,
            require_explanations: passive.require_explanations,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedactionSection {
    /// E-mail addresses and phone numbers are taken out as secrets are.
    pub contacts: bool,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackupSection {
    /// An empty path stands for no backups.
    pub dir: PathBuf,
    pub every: SignedDuration,
    pub keep: usize,
}

impl BackupSection {
    /// Returns the directory of the backups; none where none are made.
    pub fn directory(&self) -> Option<&Path> {
        Some(&*self.dir).filter(|dir| !dir.as_os_str().is_empty())
    }

    pub fn schedule(&self) -> Option<Schedule> {
        Some(Schedule { dir: self.directory()?.to_owned(), every: self.every, keep: self.keep })
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceSection {
    pub identity: Identity,
    /// An empty name stands for the name of the directory.
    pub name: String,
    /// An empty team or organisation is none.
    pub team: String,
    pub org: String,
    /// Clients may write to the team and the organisation themselves.
    pub share: bool,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpSection {
    pub toolsets: Vec<Toolset>,
    pub destructive: Destructive,
}

impl McpSection {
    /// Says whether agents have the tools of working memory.
    pub fn has_working_tools(&self) -> bool {
        self.toolsets.iter().any(|toolset| matches!(toolset, Toolset::Working | Toolset::All))
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpSection {
    pub listen: SocketAddr,
    /// Host names under which the server is reached, beside those of the address it listens on.
    pub allowed_hosts: Vec<String>,
    /// A proxy with TLS stands before the server.
    pub behind_proxy: bool,
    /// Tokens may cross a network that others read.
    pub insecure: bool,
    /// Zero stands for no limit.
    pub requests_per_second: u32,
    pub solves_per_token: usize,
    /// Zero stands for no limit.
    pub model_tokens_per_day: u64,
    pub metrics: MetricsAccess,
}

/// The clients that may read the metrics of a server that is reached from other machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricsAccess {
    /// Holders of a token with the permission `admin:all`.
    Token,
    Open,
}

/// A group of tools that the configuration can have listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Toolset {
    Core,
    Learning,
    Workspace,
    Admin,
    Episodes,
    Working,
    Banks,
    Patterns,
    Context,
    /// The group of every tool.
    All,
}

/// The answer of a server to a client that wants to erase something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Destructive {
    /// The user has to agree.
    Ask,
    Allow,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogSection {
    pub level: LogLevel,
    pub format: LogFormat,
    /// An empty path stands for stderr.
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
