//! Helpers that the tests of the decorators share.

use std::time::Duration;

use reasoning_bank_domain::memory::ids::TaskId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::prompt::Purpose;
use tokio_util::sync::CancellationToken;

use crate::ports::{Completion, CompletionReply, LanguageModel, ModelError};
use crate::runtime::Deadline;

pub(super) const S: fn(u64) -> Duration = Duration::from_secs;
pub(super) const GOOD: &str = r#"{"score": 0.9, "feedback": "fine"}"#;

pub(super) type Said = Result<CompletionReply, ModelError>;

pub(super) fn request(purpose: Purpose, input: &str) -> Completion {
    Completion {
        purpose,
        workspace_id: WorkspaceId::of_root("/project"),
        task_id: TaskId::from(uuid::Uuid::now_v7()),
        attempt: None,
        instructions: "do it".into(),
        input: input.into(),
        max_output_tokens: 100,
    }
}

/// Asks for an evaluation, with an hour for it.
pub(super) async fn ask(model: &impl LanguageModel) -> Said {
    ask_until(model, S(3600)).await
}

pub(super) async fn ask_until(model: &impl LanguageModel, limit: Duration) -> Said {
    let request = request(Purpose::Evaluate, "what of this?");
    model.complete(request, Deadline::after(limit), CancellationToken::new()).await.map_err(|failed| failed.error)
}

pub(super) fn busy() -> ModelError {
    ModelError::Transient { message: "503".into(), retry_after: None }
}

pub(super) fn limited(retry_after: Option<Duration>) -> ModelError {
    ModelError::RateLimited { message: "429".into(), retry_after }
}
