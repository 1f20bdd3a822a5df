//! No single call takes longer than a limit, counted from when it begins: waiting for a place does not use it up.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout_at;
use tokio_util::sync::CancellationToken;

use super::Decorator;
use crate::ports::{Completion, CompletionReply, FailedCall, LanguageModel, ModelError};
use crate::runtime::Deadline;

pub struct TimedModel {
    inner: Arc<dyn LanguageModel>,
    limit: Duration,
}

impl TimedModel {
    pub fn new(inner: Arc<dyn LanguageModel>, limit: Duration) -> Self {
        Self { inner, limit }
    }
}

impl Decorator for TimedModel {
    fn inner(&self) -> &dyn LanguageModel {
        &*self.inner
    }

    async fn call(
        &self,
        request: Completion,
        deadline: Deadline,
        cancel: CancellationToken,
    ) -> Result<CompletionReply, FailedCall> {
        let own = deadline.at_most(self.limit);
        let call = self.inner.complete(request, own, cancel);
        match timeout_at(own.instant(), call).await.unwrap_or(Err(ModelError::TimedOut.into())) {
            // A slow model, not a caller out of time: another attempt may be faster.
            Err(FailedCall { error: ModelError::TimedOut, usage }) if !deadline.passed() => {
                let message = format!("no answer within {} s", self.limit.as_secs());
                Err(FailedCall { error: ModelError::Transient { message, retry_after: None }, usage })
            }
            answer => answer,
        }
    }
}
