//! Every request that goes out is counted, with what it cost and how long it took.

use std::sync::Arc;

use reasoning_bank_domain::prompt::Purpose;
use reasoning_bank_domain::system::statistics::LlmCounts;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Decorator;
use crate::ports::{Completion, CompletionReply, FailedCall, LanguageModel, ModelError, Usage};
use crate::runtime::Deadline;
use crate::statistics::{Meters, Timer};

pub(crate) struct MeteredModel {
    inner: Arc<dyn LanguageModel>,
    meters: Meters,
}

impl MeteredModel {
    pub(crate) fn new(inner: Arc<dyn LanguageModel>, meters: Meters) -> Self {
        Self { inner, meters }
    }
}

/// A request that went out. One that is dropped before its answer has failed if its time was up.
struct Sent<'a> {
    meters: &'a Meters,
    purpose: Purpose,
    deadline: Deadline,
    begun: Instant,
    answered: bool,
}

impl Sent<'_> {
    fn count(&self, counts: LlmCounts) {
        self.meters.spent(self.purpose, counts);
    }

    fn answered(&mut self, answer: &Result<CompletionReply, FailedCall>) {
        self.answered = true;
        let (failures, usage) = match answer {
            Ok(reply) => (0, &reply.usage),
            Err(FailedCall { error: ModelError::Cancelled, .. }) => return,
            Err(failed) => (1, &failed.usage),
        };
        self.meters.took(Timer::Llm, self.begun.elapsed());
        let Usage { input_tokens, output_tokens, reasoning_tokens, cost_usd } = *usage;
        let counts =
            LlmCounts { failures, input_tokens, output_tokens, reasoning_tokens, cost_usd, ..LlmCounts::default() };
        self.count(counts);
    }
}

impl Drop for Sent<'_> {
    fn drop(&mut self) {
        if !self.answered && self.deadline.passed() {
            self.answered(&Err(ModelError::TimedOut.into()));
        }
    }
}

impl Decorator for MeteredModel {
    fn inner(&self) -> &dyn LanguageModel {
        &*self.inner
    }

    async fn call(
        &self,
        request: Completion,
        deadline: Deadline,
        cancel: CancellationToken,
    ) -> Result<CompletionReply, FailedCall> {
        let purpose = request.purpose;
        let mut sent = Sent { meters: &self.meters, purpose, deadline, begun: Instant::now(), answered: false };
        sent.count(LlmCounts { calls: 1, ..LlmCounts::default() });
        let answer = self.inner.complete(request, deadline, cancel).await;
        sent.answered(&answer);
        answer
    }
}

#[cfg(test)]
mod tests;
