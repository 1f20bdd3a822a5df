//! No model at all: memory tools work whole, solving is refused.

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use tokio_util::sync::CancellationToken;

use crate::ports::{Completion, CompletionReply, LanguageModel, ModelError};
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
    ) -> BoxFuture<'_, Result<CompletionReply, ModelError>> {
        ready(Err(ModelError::NoModel)).boxed()
    }
}
