//! Answers of deterministic calls are kept: the same question is asked once, also when it is asked several times at
//! once. Drafts always go through. The cache itself belongs to the `CacheActor`.

use std::sync::Arc;

use reasoning_bank_domain::solve::answer::{FinishReason, read};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::{Decorator, with_deadline};
use crate::cache::{CacheHandle, CacheKey};
use crate::ports::{Completion, CompletionReply, FailedCall, LanguageModel, ModelError};
use crate::runtime::Deadline;

/// A model behind the cache.
pub struct CachedModel {
    inner: Arc<dyn LanguageModel>,
    cache: CacheHandle,
    provider: String,
    effort: String,
}

impl CachedModel {
    /// `provider` and `effort` decide the answer besides the request and the model.
    pub fn new(inner: Arc<dyn LanguageModel>, cache: CacheHandle, provider: String, effort: String) -> Self {
        Self { inner, cache, provider, effort }
    }

    /// Makes the key of a question. The task and the attempt are never in it, because another task may ask the same.
    /// The workspace is in it: a caller that gets an answer at once would know that somebody else has asked the same.
    fn key(&self, request: &Completion) -> CacheKey {
        let purpose = request.purpose;
        let response_format = purpose.schema().map(|schema| schema.to_string()).unwrap_or_default();
        let parts = [
            self.provider.as_str(),
            self.inner.model_for(purpose),
            &request.instructions,
            &request.input,
            &purpose.temperature().to_string(),
            &request.max_output_tokens.to_string(),
            &self.effort,
            &response_format,
            purpose.as_str(),
            request.workspace_id.as_str(),
        ];
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().into()
    }
}

impl Decorator for CachedModel {
    fn inner(&self) -> &dyn LanguageModel {
        &*self.inner
    }

    async fn call(
        &self,
        request: Completion,
        deadline: Deadline,
        cancel: CancellationToken,
    ) -> Result<CompletionReply, FailedCall> {
        if request.purpose.is_draft() || self.cache.is_off() {
            self.cache.bypassed();
            return self.inner.complete(request, deadline, cancel).await;
        }
        let key = self.key(&request);
        let purpose = request.purpose;
        let whole =
            move |reply: &CompletionReply| reply.ended == FinishReason::Whole && read(purpose, &reply.text).is_ok();
        // A second caller waits for the first one. If the first one is cancelled or out of time, the next one asks.
        loop {
            let mut own = false;
            let flight = async {
                own = true;
                self.inner.complete(request.clone(), deadline, cancel.clone()).await
            };
            let answer = with_deadline(deadline, &cancel, self.cache.get_or_ask(key, flight, &whole)).await?;
            match answer.as_ref().map_err(|failed| &failed.error) {
                Err(ModelError::Cancelled | ModelError::TimedOut) if !own && !deadline.passed() => {}
                Err(ModelError::TooLate { wait, .. }) if !own && *wait < deadline.remaining() => {}
                _ => return answer,
            }
        }
    }
}

#[cfg(test)]
mod tests;
