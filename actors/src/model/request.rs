//! One question to a model: the answer in the form asked for, after at most one repair, and what it cost.

use reasoning_bank_domain::solve::answer::{Answer, FinishReason, read};
use reasoning_bank_domain::solve::task::SolveUsage;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::with_deadline;
use crate::ports::{Completion, CompletionReply, FailedCall, LanguageModel, ModelError, Usage};
use crate::runtime::Deadline;
use crate::spans;

/// The outcome of one question to a model, with what all calls for it cost, those that failed included.
#[derive(Debug, Clone, PartialEq)]
pub struct CallOutcome {
    pub result: Result<Answer, ModelError>,
    /// `Whole` where there is no answer.
    pub ended: FinishReason,
    pub spent: SolveUsage,
}

/// Asks; where a structured answer has not its form, says so to the model, with the form, and asks once more. What a
/// content filter stopped, it would stop again.
pub async fn ask(
    model: &dyn LanguageModel,
    request: Completion,
    deadline: Deadline,
    cancel: CancellationToken,
) -> CallOutcome {
    let mut spent = SolveUsage::default();
    let answered = answer(model, request, deadline, cancel, &mut spent).await;
    let (result, ended) = match answered {
        Ok((answer, ended)) => (Ok(answer), ended),
        Err(error) => (Err(error), FinishReason::Whole),
    };
    CallOutcome { result, ended, spent }
}

async fn answer(
    model: &dyn LanguageModel,
    request: Completion,
    deadline: Deadline,
    cancel: CancellationToken,
    spent: &mut SolveUsage,
) -> Result<(Answer, FinishReason), ModelError> {
    let first = reply(model, request.clone(), deadline, cancel.clone(), spent).await?;
    let problem = match answer_in(&first, &request) {
        Err(ModelError::InvalidOutput(problem)) => problem,
        other => return other.map(|answer| (answer, first.ended)),
    };
    let Some(schema) = request.purpose.schema() else { return Err(ModelError::InvalidOutput(problem)) };
    // Endpoints that take no schema with the request leave the model without it.
    let input = format!(
        "{}\n\n## Your answer was refused\n{problem}\nAnswer again, with one JSON object and nothing else, of this JSON \
         schema: {schema}",
        request.input
    );
    let repaired = Completion { input, ..request };
    let second = reply(model, repaired.clone(), deadline, cancel, spent).await?;
    answer_in(&second, &repaired).map(|answer| (answer, second.ended))
}

fn answer_in(reply: &CompletionReply, request: &Completion) -> Result<Answer, ModelError> {
    read(request.purpose, &reply.text).map_err(|invalid| match reply.ended {
        FinishReason::Whole => ModelError::InvalidOutput(invalid.to_string()),
        FinishReason::AtLimit => {
            let limit = request.max_output_tokens;
            let cut_off = format!("it was cut off at llm.max_output_tokens ({limit}, reasoning included)");
            ModelError::InvalidOutput(format!("{invalid}; {cut_off}"))
        }
        FinishReason::Filtered => ModelError::Refused("the answer was cut off by the provider's content filter".into()),
    })
}

async fn reply(
    model: &dyn LanguageModel,
    request: Completion,
    deadline: Deadline,
    cancel: CancellationToken,
    spent: &mut SolveUsage,
) -> Result<CompletionReply, ModelError> {
    let (span, begun) = (spans::model_call(model, &request), Instant::now());
    let call = model.complete(request, deadline, cancel.clone()).instrument(span.clone());
    let reply = with_deadline(deadline, &cancel, call).await.map_err(FailedCall::from).flatten();
    span.in_scope(|| spans::model_call_ended(begun, &reply));
    count(spent, &reply);
    reply.map_err(|failed| failed.error)
}

fn count(spent: &mut SolveUsage, reply: &Result<CompletionReply, FailedCall>) {
    let usage = match reply {
        Ok(reply) if reply.cached => {
            spent.cache_hits += 1;
            return;
        }
        Ok(reply) => &reply.usage,
        Err(failed) => &failed.usage,
    };
    let Usage { input_tokens, output_tokens, reasoning_tokens, cost_usd } = *usage;
    *spent += SolveUsage { llm_calls: 1, cache_hits: 0, input_tokens, output_tokens, reasoning_tokens, cost_usd };
}
