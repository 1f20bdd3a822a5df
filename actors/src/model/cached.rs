//! Answers of deterministic calls are kept: the same question is asked once, also when it is asked several times at
//! once. Drafts always go through. The cache itself belongs to the `CacheActor`.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use reasoning_bank_domain::answer::read;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use crate::cache::{CacheHandle, CacheKey};
use crate::ports::{Completion, CompletionReply, LanguageModel, ModelError};
use crate::runtime::Deadline;

/// A model behind the cache.
pub struct Cached {
    inner: Arc<dyn LanguageModel>,
    cache: CacheHandle,
    /// What besides the request decides the answer: provider, model, effort.
    scope: String,
}

impl Cached {
    pub fn new(inner: Arc<dyn LanguageModel>, cache: CacheHandle, provider: &str, effort: &str) -> Self {
        let scope = [provider, inner.name(), effort].join("\n");
        Self { inner, cache, scope }
    }

    /// Never the task or the attempt: another task may ask the same.
    fn key(&self, request: &Completion) -> CacheKey {
        let schema = request.purpose.schema().map(|schema| schema.to_string()).unwrap_or_default();
        let parts = [
            self.scope.as_str(),
            request.purpose.as_str(),
            &request.instructions,
            &request.input,
            &request.purpose.temperature().to_string(),
            &request.max_output_tokens.to_string(),
            &schema,
        ];
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().into()
    }
}

impl LanguageModel for Cached {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn complete(
        &self,
        request: Completion,
        deadline: Deadline,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<CompletionReply, ModelError>> {
        if request.purpose.is_draft() {
            self.cache.bypassed();
            return self.inner.complete(request, deadline, cancel);
        }
        let key = self.key(&request);
        let cancelled = cancel.clone();
        async move {
            // Who asks second waits for the first; a first that is cancelled or out of time leaves it to the next.
            loop {
                let flight = self.inner.complete(request.clone(), deadline, cancel.clone());
                let answer = self.cache.get_or_ask(key, flight).await;
                match &answer {
                    Err(ModelError::Cancelled | ModelError::TimedOut)
                        if !cancelled.is_cancelled() && !deadline.passed() => {}
                    Ok(reply) if read(request.purpose, &reply.text).is_err() => {
                        self.cache.forget(&key).await;
                        return answer;
                    }
                    _ => return answer,
                }
            }
        }
        .boxed()
    }
}
