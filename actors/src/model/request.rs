//! One question to a model: the answer in the form asked for, after at most one repair, and what it cost.

use reasoning_bank_domain::answer::{Answer, read};
use reasoning_bank_domain::solve::SolveUsage;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::ports::{Completion, CompletionReply, LanguageModel, ModelError};
use crate::runtime::Deadline;
use crate::spans;

/// What came of a question. Calls that failed are counted too.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub result: Result<Answer, ModelError>,
    pub spent: SolveUsage,
}

/// Asks; where a structured answer has not its form, says so to the model and asks once more.
pub async fn ask(
    model: &dyn LanguageModel,
    request: Completion,
    deadline: Deadline,
    cancel: CancellationToken,
) -> Asked {
    let mut spent = SolveUsage::default();
    let result = answer(model, request, deadline, cancel, &mut spent).await;
    Asked { result, spent }
}

async fn answer(
    model: &dyn LanguageModel,
    request: Completion,
    deadline: Deadline,
    cancel: CancellationToken,
    spent: &mut SolveUsage,
) -> Result<Answer, ModelError> {
    let purpose = request.purpose;
    let text = text(model, request.clone(), deadline, cancel.clone(), spent).await?;
    let problem = match read(purpose, &text) {
        Ok(answer) => return Ok(answer),
        Err(invalid) => invalid.to_string(),
    };
    if purpose.is_draft() {
        return Err(ModelError::InvalidOutput(problem));
    }
    let input = format!(
        "{}\n\n## Your answer was refused\n{problem}\nAnswer again, with one JSON object of the form asked for and \
         nothing else.",
        request.input
    );
    let text = self::text(model, Completion { input, ..request }, deadline, cancel, spent).await?;
    read(purpose, &text).map_err(|invalid| ModelError::InvalidOutput(invalid.to_string()))
}

async fn text(
    model: &dyn LanguageModel,
    request: Completion,
    deadline: Deadline,
    cancel: CancellationToken,
    spent: &mut SolveUsage,
) -> Result<String, ModelError> {
    let (span, begun) = (spans::model_call(model, &request), Instant::now());
    let call = model.complete(request, deadline, cancel.clone()).instrument(span.clone());
    let reply = tokio::select! {
        biased;
        () = cancel.cancelled() => Err(ModelError::Cancelled),
        reply = tokio::time::timeout_at(deadline.instant(), call) => reply.unwrap_or(Err(ModelError::TimedOut)),
    };
    span.in_scope(|| spans::model_call_ended(begun, &reply));
    count(spent, reply.as_ref().ok());
    reply.map(|reply| reply.text)
}

fn count(spent: &mut SolveUsage, reply: Option<&CompletionReply>) {
    match reply {
        Some(reply) if reply.cached => spent.cache_hits += 1,
        Some(CompletionReply { usage, .. }) => {
            *spent += SolveUsage {
                llm_calls: 1,
                cache_hits: 0,
                input_tokens: usage.input_tokens,
                output_tokens: usage.output_tokens,
                reasoning_tokens: usage.reasoning_tokens,
                cost_usd: usage.cost_usd,
            }
        }
        None => spent.llm_calls += 1,
    }
}
