//! Help with an error: the patterns that name it, warnings, and what resolved it in earlier tasks.

use std::time::Duration;

use reasoning_bank_domain::context::{
    BUDGET_DEFAULT, EPISODES_MAX, FoundForError, KnownResolutions, RESOLVED_MAX, RecoveryAdvice, WARNINGS_MAX,
    error_features, failure_score,
};
use reasoning_bank_domain::episode::Strategy;
use reasoning_bank_domain::memory::pattern::PatternCategory;
use reasoning_bank_domain::memory::trace::TASK_MAX_CHARS;
use reasoning_bank_domain::memory::workspace::ProposedScopes;
use reasoning_bank_domain::memory::{check_length, check_text, gist};
use reasoning_bank_domain::pattern::finding::PatternQuestion;
use reasoning_bank_domain::retrieval::conditions::Conditions;
use tokio::time::Instant;

use super::{ContextHandle, PATTERNS_LOOKED_AT};
use crate::episodes::EpisodeQuery;
use crate::error::Error;
use crate::memories::RetrieveRequest;
use crate::runtime::Deadline;
use crate::workspaces::WorkspaceRef;

/// A question for what helps with an error.
#[derive(Debug, Clone, PartialEq)]
pub struct RecoveryRequest {
    /// The error, as an error type or as it was printed.
    pub error: String,
    /// The task in which it was met. Patterns for tasks of another type are left out.
    pub task: Option<String>,
    pub workspace: WorkspaceRef,
    /// The team and the organisation that the checkout proposes.
    pub proposed: ProposedScopes,
    /// The error gets its vector within this time, or is searched by its words alone, which the answer says. None: the
    /// first half of the caller's time.
    pub embedding_timeout: Option<Duration>,
}

impl RecoveryRequest {
    pub fn new(error: impl Into<String>, workspace: WorkspaceRef) -> Self {
        let (task, proposed) = (None, ProposedScopes::default());
        Self { error: error.into(), task, workspace, proposed, embedding_timeout: None }
    }
}

impl ContextHandle {
    /// Finds what helps with an error. The error is embedded once; then everything is searched at the same time.
    pub async fn recovery(&self, request: RecoveryRequest, deadline: Deadline) -> Result<RecoveryAdvice, Error> {
        let begun = Instant::now();
        let RecoveryRequest { error, task, workspace, proposed, embedding_timeout } = request;
        check_text("error", &error, TASK_MAX_CHARS)?;
        let task = task.unwrap_or_default();
        check_length("task", &task, TASK_MAX_CHARS)?;
        let error = gist(&error);
        let features = error_features(&error, &task);
        let id = self.workspaces.resolve(&workspace, deadline).await?.workspace.id;
        let timeout = self.embedded(&error, &id, embedding_timeout, deadline).await;
        let question = PatternQuestion {
            features: features.clone(),
            categories: vec![PatternCategory::Recovery, PatternCategory::Failure],
            limit: PATTERNS_LOOKED_AT,
            ..PatternQuestion::default()
        };
        let of_warnings = RetrieveRequest {
            conditions: Conditions { warnings_only: true, ..Conditions::default() },
            error_signature: Some(error.clone()),
            proposed,
            embedding_timeout: timeout,
            ..RetrieveRequest::new(error.clone(), workspace.clone(), WARNINGS_MAX)
        };
        let of_failures = EpisodeQuery {
            min_relevance: failure_score(),
            embedding_timeout: timeout,
            ..EpisodeQuery::new(workspace.clone(), Strategy::Failure, Some(error), EPISODES_MAX)
        };
        let (patterns, (warnings, mut notes), failures) = futures::try_join!(
            self.memories.suggested_patterns(&workspace, &question, deadline),
            self.memories.recall(of_warnings, deadline),
            self.episodes.search(of_failures, deadline),
        )?;
        notes.extend(failures.notes);
        let found = FoundForError { patterns, warnings, failures: failures.hits, notes };
        let mut answer = RecoveryAdvice::new(found, &features, self.memories.relevance_floor(), BUDGET_DEFAULT);
        answer.took_ms = begun.elapsed().as_millis() as u64;
        Ok(answer)
    }

    /// Finds what ended the very failure that was printed, as far as that is known. The signature and the words of the
    /// failure decide, so this waits for no vector.
    pub async fn known_resolutions(
        &self,
        printed: &str,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<KnownResolutions, Error> {
        let features = error_features(&gist(printed), "");
        let question = PatternQuestion {
            features: features.clone(),
            categories: vec![PatternCategory::Recovery],
            limit: PATTERNS_LOOKED_AT,
            ..PatternQuestion::default()
        };
        let (patterns, failures) = futures::try_join!(
            self.memories.suggested_patterns(workspace, &question, deadline),
            self.episodes.resolved(printed, workspace, RESOLVED_MAX, deadline),
        )?;
        Ok(KnownResolutions::new(patterns, failures, &features))
    }
}
