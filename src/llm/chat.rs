//! The Chat Completions API: `POST {base}/chat/completions`, which every local server speaks.

use std::borrow::Cow;
use std::collections::BTreeMap;

use reasoning_bank_domain::solve::answer::FinishReason;
use serde::Serialize;
use serde_json::Value;

use super::failure::{FailureClass, ProviderFailure};
use super::parameters::Parameter;
use super::wire::{EndpointAnswer, EndpointQuestion, Schema, error_in, refused, text_of, usage_of, without_thinking};

pub(super) const PATH: &[&str] = &["chat", "completions"];

#[derive(Debug, Serialize)]
pub(super) struct ChatRequest<'a> {
    model: &'a str,
    messages: [Message<'a>; 2],
    /// Every server knows this name. An unknown one would leave the answer without a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ChatFormat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<BTreeMap<&'static str, String>>,
}

#[derive(Debug, Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Cow<'a, str>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "json_schema")]
struct ChatFormat {
    json_schema: Schema,
}

pub(super) fn request(question: EndpointQuestion<'_>) -> ChatRequest<'_> {
    let completion = question.completion;
    let renamed = question.without.contains(Parameter::MaxTokens);
    ChatRequest {
        model: question.model,
        messages: [
            Message { role: "system", content: question.instructions() },
            Message { role: "user", content: Cow::Borrowed(&completion.input) },
        ],
        max_tokens: (!renamed).then_some(completion.max_output_tokens),
        max_completion_tokens: renamed.then_some(completion.max_output_tokens),
        temperature: question.temperature(),
        reasoning_effort: question.effort(),
        response_format: question.schema().map(|json_schema| ChatFormat { json_schema }),
        metadata: question.metadata(),
    }
}

pub(super) fn read(body: &Value, question: EndpointQuestion<'_>) -> Result<EndpointAnswer, ProviderFailure> {
    let choice = &body["choices"][0];
    if let Some(error) = error_in(body).or_else(|| error_in(choice)) {
        return Err(ProviderFailure::inside(error));
    }
    if choice["finish_reason"] == "error" {
        return Err(ProviderFailure::new(
            FailureClass::Transient,
            "the answer broke off with an error, without a reason",
        ));
    }
    let message = &choice["message"];
    if !message.is_object() {
        return Err(ProviderFailure::new(FailureClass::Transient, "the answer holds no message"));
    }
    let text = text_of(&message["content"], &["text", "output_text"]);
    let text = without_thinking(&text, question.completion.purpose.schema().is_some()).to_owned();
    if text.is_empty()
        && let Some(refusal) = message["refusal"].as_str().filter(|refusal| !refusal.is_empty())
    {
        return Err(refused(refusal, &body["usage"], question));
    }
    let ended = match choice["finish_reason"].as_str() {
        Some("length") => FinishReason::AtLimit,
        Some("content_filter") => FinishReason::Filtered,
        _ => FinishReason::Whole,
    };
    Ok(EndpointAnswer { usage: usage_of(&body["usage"], question, &text), text, ended })
}
