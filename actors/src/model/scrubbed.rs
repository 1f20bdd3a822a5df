//! Secrets leave neither towards a model nor come back from one.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use reasoning_bank_domain::answer::Purpose;
use reasoning_bank_domain::secrets::scrub;
use tokio_util::sync::CancellationToken;

use crate::ports::{Completion, CompletionReply, LanguageModel, ModelError};
use crate::runtime::Deadline;

/// Around every model, whatever the provider.
pub struct Scrubbed {
    inner: Arc<dyn LanguageModel>,
}

impl Scrubbed {
    pub fn new(inner: Arc<dyn LanguageModel>) -> Self {
        Self { inner }
    }
}

impl LanguageModel for Scrubbed {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn model_for(&self, purpose: Purpose) -> &str {
        self.inner.model_for(purpose)
    }

    fn complete(
        &self,
        mut request: Completion,
        deadline: Deadline,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<CompletionReply, ModelError>> {
        request.input = scrub(&request.input).text.into_owned();
        async move {
            // Providers quote requests, and keys, in what they refuse.
            let scrubbed = |text: String| scrub(&text).text.into_owned();
            match self.inner.complete(request, deadline, cancel).await {
                Ok(reply) => Ok(CompletionReply { text: scrubbed(reply.text), ..reply }),
                Err(error) => Err(error.map_text(scrubbed)),
            }
        }
        .boxed()
    }
}
