//! One question to a model: the answer in the form asked for, after at most one repair, and what it cost.

use reasoning_bank_domain::answer::{Answer, InvalidAnswer, read};
use reasoning_bank_domain::solve::SolveUsage;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::within;
use crate::ports::{Completion, CompletionReply, LanguageModel, ModelError};
use crate::runtime::Deadline;
use crate::spans;

/// What came of a question. Calls that failed are counted too.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub result: Result<Answer, ModelError>,
    /// The answer, a draft, ended at its limit of tokens before the model was done.
    pub cut_off: bool,
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
    let answered = answer(model, request, deadline, cancel, &mut spent).await;
    let (result, cut_off) = match answered {
        Ok((answer, cut_off)) => (Ok(answer), cut_off),
        Err(error) => (Err(error), false),
    };
    Asked { result, cut_off, spent }
}

async fn answer(
    model: &dyn LanguageModel,
    request: Completion,
    deadline: Deadline,
    cancel: CancellationToken,
    spent: &mut SolveUsage,
) -> Result<(Answer, bool), ModelError> {
    let (purpose, limit) = (request.purpose, request.max_output_tokens);
    let reply = reply(model, request.clone(), deadline, cancel.clone(), spent).await?;
    let problem = match read(purpose, &reply.text) {
        Ok(answer) => return Ok((answer, purpose.is_draft() && reply.cut_off)),
        Err(invalid) => problem(&invalid, &reply, limit),
    };
    if purpose.is_draft() {
        return Err(ModelError::InvalidOutput(problem));
    }
    let input = format!(
        "{}\n\n## Your answer was refused\n{problem}\nAnswer again, with one JSON object of the form asked for and \
         nothing else.",
        request.input
    );
    let reply = self::reply(model, Completion { input, ..request }, deadline, cancel, spent).await?;
    let answer = read(purpose, &reply.text);
    answer
        .map(|answer| (answer, false))
        .map_err(|invalid| ModelError::InvalidOutput(self::problem(&invalid, &reply, limit)))
}

/// Why an answer cannot be used.
fn problem(invalid: &InvalidAnswer, reply: &CompletionReply, limit: u32) -> String {
    if reply.cut_off {
        format!("{invalid}; it was cut off at llm.max_output_tokens ({limit}, reasoning included)")
    } else {
        invalid.to_string()
    }
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
    let reply = within(deadline, &cancel, call).await.flatten();
    span.in_scope(|| spans::model_call_ended(begun, &reply));
    count(spent, reply.as_ref().ok());
    reply
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
