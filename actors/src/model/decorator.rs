//! The parts that all decorators of a model share. A decorator answers to the name of the model that it stands around.

use futures::FutureExt;
use futures::future::BoxFuture;
use reasoning_bank_domain::prompt::Purpose;
use tokio_util::sync::CancellationToken;

use crate::ports::{Completion, CompletionReply, FailedCall, LanguageModel};
use crate::runtime::Deadline;

/// A model that stands around another one and changes how its calls are made.
pub(crate) trait Decorator: Send + Sync + 'static {
    fn inner(&self) -> &dyn LanguageModel;

    /// Makes a call as [`LanguageModel::complete`] does.
    fn call(
        &self,
        request: Completion,
        deadline: Deadline,
        cancel: CancellationToken,
    ) -> impl Future<Output = Result<CompletionReply, FailedCall>> + Send;
}

impl<D: Decorator> LanguageModel for D {
    fn name(&self) -> &str {
        self.inner().name()
    }

    fn model_for(&self, purpose: Purpose) -> &str {
        self.inner().model_for(purpose)
    }

    fn complete(
        &self,
        request: Completion,
        deadline: Deadline,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<CompletionReply, FailedCall>> {
        self.call(request, deadline, cancel).boxed()
    }
}
