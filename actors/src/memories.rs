//! Memories as clients use them: retrieve, record, get, export. No actor: it combines the store, the embedder and the
//! rules, and holds no state of its own.

use reasoning_bank_domain::ids::MemoryId;
use reasoning_bank_domain::memory::{ErrorContext, MemoryOutcome, Scope, SourceType, Trust};
use reasoning_bank_domain::score::ProfileName;
use reasoning_bank_domain::workspace::WorkspaceId;

/// A workspace as a caller names it. A root that nobody has written to is empty on reading and registered on the first
/// write; an id must be known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceRef {
    /// Canonical path of the project root.
    Root(String),
    Id(WorkspaceId),
}

/// How far a query reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    /// Project, team and org.
    #[default]
    Cascade,
    Project,
    Team,
    Org,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RetrieveRequest {
    pub query: String,
    /// 1..=50.
    pub n_results: usize,
    pub workspace: WorkspaceRef,
    pub reach: Reach,
    /// Boosts memories of this domain.
    pub domain: Option<String>,
    /// Keeps only memories of this domain.
    pub domain_filter: Option<String>,
    pub tags: Vec<String>,
    pub include_errors: bool,
    pub errors_only: bool,
    /// A signature, an error type or a raw message.
    pub error_signature: Option<String>,
    pub min_confidence: Option<f64>,
    /// None: the configured one.
    pub profile: Option<ProfileName>,
    pub max_tokens: Option<usize>,
}

impl RetrieveRequest {
    pub fn new(query: impl Into<String>, workspace: WorkspaceRef, n_results: usize) -> Self {
        Self {
            query: query.into(),
            n_results,
            workspace,
            reach: Reach::Cascade,
            domain: None,
            domain_filter: None,
            tags: Vec::new(),
            include_errors: true,
            errors_only: false,
            error_signature: None,
            min_confidence: None,
            profile: None,
            max_tokens: None,
        }
    }
}

/// A lesson to keep. `outcome` defaults to failure with an error context, else success.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordRequest {
    pub title: String,
    pub description: String,
    pub content: String,
    pub outcome: Option<MemoryOutcome>,
    pub error_context: Option<ErrorContext>,
    pub pattern_tags: Vec<String>,
    pub domain_category: Option<String>,
    pub difficulty_level: Option<String>,
    pub parent_memory_id: Option<MemoryId>,
    pub derived_from: Vec<MemoryId>,
    pub scope: Scope,
    pub task: Option<String>,
    pub workspace: WorkspaceRef,
    pub source_type: SourceType,
    pub trust: Trust,
}
