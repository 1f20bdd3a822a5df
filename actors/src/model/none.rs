//! No model at all: memory tools work whole, solving is refused.

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use tokio_util::sync::CancellationToken;

use crate::ports::{Completion, CompletionReply, FailedCall, LanguageModel, ModelError};
use crate::runtime::Deadline;

pub struct NoModel;

impl LanguageModel for NoModel {
    fn name(&self) -> &str {
        "none"
    }

    fn complete(
        &self,
        _: Completion,
        _: Deadline,
        _: CancellationToken,
    ) -> BoxFuture<'_, Result<CompletionReply, FailedCall>> {
        ready(Err(ModelError::NoModel.into())).boxed()
    }
}
