//! The implementation of the model port over HTTP.

use futures::FutureExt;
use futures::future::BoxFuture;
use reasoning_bank_actors::ports::{Completion, CompletionReply, FailedCall, LanguageModel, ModelError};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::prompt::Purpose;
use serde_json::Value;
use tokio::time::timeout_at;
use tokio_util::sync::CancellationToken;

use super::client::Client;
use super::failure::{FailureClass, ProviderFailure};
use super::parameters::{Adaption, RefusedParameters};
use super::wire::{EndpointAnswer, EndpointQuestion, MAX_VALUES, may_have_too_many_values, usage_said};
use super::{chat, responses};

/// The bound is eight times the length of the tokens of most texts.
const LONG_TOKEN_BYTES: usize = 32;
/// An answer of this size is read although a server does not keep to the number of tokens it is given.
const SHORT_ANSWER_BYTES: usize = 64 * 1024;

/// The API that an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// The endpoint speaks the Responses API with OpenRouter's extensions.
    Openrouter,
    Responses,
    Chat,
}

/// The names of models, as the provider knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Models {
    /// This model drafts and refines.
    pub main: String,
    pub evaluate: String,
    pub judge: String,
    /// This model draws lessons from solves.
    pub extract: String,
    /// This model draws lessons in the background.
    pub capture: String,
}

impl Models {
    /// Takes the same model for everything.
    pub fn all(name: impl Into<String>) -> Self {
        let main = name.into();
        Self { evaluate: main.clone(), judge: main.clone(), extract: main.clone(), capture: main.clone(), main }
    }

    fn of(&self, purpose: Purpose) -> &str {
        match purpose {
            Purpose::Think | Purpose::Refine => &self.main,
            Purpose::Evaluate => &self.evaluate,
            Purpose::Judge => &self.judge,
            Purpose::Extract | Purpose::Contrast => &self.extract,
            Purpose::Capture | Purpose::Distill | Purpose::Bank | Purpose::Patterns => &self.capture,
        }
    }
}

pub struct HttpModel {
    client: Client,
    api: Api,
    models: Models,
    effort: String,
    refused: RefusedParameters,
}

impl HttpModel {
    /// Makes a model. `effort` is that of reasoning. The value `none` is sent too: models that can do without reasoning
    /// do it then.
    pub fn new(client: Client, api: Api, models: Models, effort: &str) -> Self {
        Self { client, api, models, effort: effort.to_owned(), refused: RefusedParameters::default() }
    }

    /// Asks without the parameters that the endpoint refuses by name. Every repetition leaves out one parameter more,
    /// so there are at most six, and later calls of the same model need none.
    async fn answer(&self, completion: &Completion) -> Result<CompletionReply, ProviderFailure> {
        let model = self.models.of(completion.purpose);
        let mut adaption = Adaption::new(self.refused.by(model));
        loop {
            let question = EndpointQuestion {
                completion,
                model,
                effort: &self.effort,
                openrouter: self.api == Api::Openrouter,
                without: adaption.without,
            };
            match self.ask(question).await {
                Ok(EndpointAnswer { text, ended, usage }) => {
                    self.refused.add(model, adaption.learned());
                    check_size(&text, completion).map_err(|failure| failure.costing(usage))?;
                    let text = self.client.redaction().answer(text);
                    return Ok(CompletionReply { text, usage, cached: false, ended });
                }
                Err(failure) => match adaption.leave_out(&failure) {
                    Some(parameter) => {
                        tracing::info!(?parameter, model, "the endpoint refuses a parameter; asking without it");
                    }
                    None => return Err(self.explained(failure)),
                },
            }
        }
    }

    async fn ask(&self, question: EndpointQuestion<'_>) -> Result<EndpointAnswer, ProviderFailure> {
        type Read = fn(&Value, EndpointQuestion<'_>) -> Result<EndpointAnswer, ProviderFailure>;
        let (body, read) = match self.api {
            Api::Openrouter | Api::Responses => {
                (self.client.post(responses::PATH, &responses::request(question)).await?, responses::read as Read)
            }
            Api::Chat => (self.client.post(chat::PATH, &chat::request(question)).await?, chat::read as Read),
        };
        read(&body, question).map_err(|failure| failure.costing(usage_said(&body["usage"])))
    }

    /// Adds advice to a failure of an endpoint that may have only the older API, as many local servers do.
    fn explained(&self, mut failure: ProviderFailure) -> ProviderFailure {
        if self.api == Api::Responses && failure.status == Some(404) && !failure.said().to_lowercase().contains("model")
        {
            failure.advice = Some("an endpoint without the Responses API is used with `--llm chat`");
        }
        failure
    }
}

/// Refuses an answer that is too large: what comes after it takes time and memory by its size.
fn check_size(text: &str, completion: &Completion) -> Result<(), ProviderFailure> {
    let most = (completion.max_output_tokens as usize).saturating_mul(LONG_TOKEN_BYTES).max(SHORT_ANSWER_BYTES);
    if text.len() > most {
        let message = format!("{} bytes, where llm.max_output_tokens allows about {most}", text.len());
        return Err(ProviderFailure::new(FailureClass::Unreadable, message));
    }
    if completion.purpose.schema().is_some() && may_have_too_many_values(text) {
        return Err(ProviderFailure::new(FailureClass::Unreadable, format!("more than {MAX_VALUES} JSON values")));
    }
    Ok(())
}

impl LanguageModel for HttpModel {
    fn name(&self) -> &str {
        &self.models.main
    }

    fn model_for(&self, purpose: Purpose) -> &str {
        self.models.of(purpose)
    }

    fn complete(
        &self,
        request: Completion,
        deadline: Deadline,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<CompletionReply, FailedCall>> {
        async move {
            // Nothing is asked, and paid for, that comes too late: a timer alone lets a fast answer through.
            if deadline.passed() {
                return Err(ModelError::TimedOut.into());
            }
            // Dropping the exchange closes its connection.
            let exchange = timeout_at(deadline.instant(), self.answer(&request));
            match cancel.run_until_cancelled(exchange).await {
                None => Err(ModelError::Cancelled.into()),
                Some(Err(_elapsed)) => Err(ModelError::TimedOut.into()),
                Some(Ok(answered)) => answered.map_err(|failure| failure.told(self.client.redaction())),
            }
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests;
