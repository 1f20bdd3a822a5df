//! Secrets are removed from what goes to a model and from what comes back.

use std::sync::Arc;

use reasoning_bank_domain::safety::secrets::{Scrub, scrub};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Decorator;
use crate::ports::{Completion, CompletionReply, FailedCall, LanguageModel};
use crate::runtime::Deadline;

/// A model, of any provider, that neither reads nor says a secret.
pub struct ScrubbedModel {
    inner: Arc<dyn LanguageModel>,
}

impl ScrubbedModel {
    pub fn new(inner: Arc<dyn LanguageModel>) -> Self {
        Self { inner }
    }
}

impl Decorator for ScrubbedModel {
    fn inner(&self) -> &dyn LanguageModel {
        &*self.inner
    }

    async fn call(
        &self,
        mut request: Completion,
        deadline: Deadline,
        cancel: CancellationToken,
    ) -> Result<CompletionReply, FailedCall> {
        request.instructions.scrub();
        request.input.scrub();
        let is_draft = request.purpose.is_draft();
        match self.inner.complete(request, deadline, cancel).await {
            Ok(reply) if is_draft => Ok(CompletionReply { text: scrubbed(reply.text), ..reply }),
            Ok(reply) => Ok(CompletionReply { text: scrubbed_object(reply.text), ..reply }),
            // Providers quote requests, and keys, in what they refuse.
            Err(failed) => Err(failed.map_error(|error| error.map_text(scrubbed))),
        }
    }
}

fn scrubbed(text: String) -> String {
    scrub(&text).text.into_owned()
}

/// A structured answer stays one, with prose and fences around it or not.
fn scrubbed_object(text: String) -> String {
    let object = text.find('{').zip(text.rfind('}')).and_then(|(start, end)| text.get(start..=end));
    let Some(mut answer) = object.and_then(|object| serde_json::from_str::<Value>(object).ok()) else {
        return scrubbed(text);
    };
    if answer.scrub().is_nothing() { text } else { answer.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_structured_answer_with_secrets_stays_one() {
        let text = "Here:\n```json\n{\"score\": 0.5, \"feedback\": \"never password=\\\"hunter2\\\"\"}\n```".to_owned();
        let expected = r#"{"feedback":"never password=\"[REDACTED:assigned]\"","score":0.5}"#;
        let same = |text: String| serde_json::from_str::<Value>(&text).unwrap();
        assert_eq!(same(scrubbed_object(text)), same(expected.to_owned()));
    }

    #[test]
    fn what_is_no_object_is_scrubbed_as_text() {
        assert_eq!(scrubbed_object("password=hunter2 }{".into()), "password=[REDACTED:assigned] }{");
        assert_eq!(scrubbed_object("fine: {\"a\": 1} ok".into()), "fine: {\"a\": 1} ok");
    }
}
