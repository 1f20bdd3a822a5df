//! The Responses API: `POST {base}/responses`, with the history in the request and nothing stored.

use std::borrow::Cow;
use std::collections::BTreeMap;

use reasoning_bank_domain::solve::answer::FinishReason;
use serde::Serialize;
use serde_json::Value;

use super::failure::{FailureClass, ProviderFailure};
use super::wire::{EndpointAnswer, EndpointQuestion, Schema, error_in, refused, text_of, usage_of, without_thinking};

pub(super) const PATH: &[&str] = &["responses"];

#[derive(Debug, Serialize)]
pub(super) struct ResponsesRequest<'a> {
    model: &'a str,
    instructions: Cow<'a, str>,
    input: &'a str,
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<TextOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<Routing>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<BTreeMap<&'static str, String>>,
    store: bool,
}

#[derive(Debug, Serialize)]
struct Reasoning<'a> {
    effort: &'a str,
}

#[derive(Debug, Serialize)]
struct TextOptions {
    format: ResponsesFormat,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "json_schema")]
struct ResponsesFormat {
    #[serde(flatten)]
    schema: Schema,
}

/// OpenRouter's choice of the providers that may answer.
#[derive(Debug, Serialize)]
struct Routing {
    require_parameters: bool,
}

pub(super) fn request(question: EndpointQuestion<'_>) -> ResponsesRequest<'_> {
    ResponsesRequest {
        model: question.model,
        instructions: question.instructions(),
        input: &question.completion.input,
        max_output_tokens: question.completion.max_output_tokens,
        temperature: question.temperature(),
        reasoning: question.effort().map(|effort| Reasoning { effort }),
        text: question.schema().map(|schema| TextOptions { format: ResponsesFormat { schema } }),
        provider: question.requires_parameters().then_some(Routing { require_parameters: true }),
        metadata: question.metadata(),
        store: false,
    }
}

pub(super) fn read(body: &Value, question: EndpointQuestion<'_>) -> Result<EndpointAnswer, ProviderFailure> {
    if let Some(error) = error_in(body) {
        return Err(ProviderFailure::inside(error));
    }
    let status = body["status"].as_str().unwrap_or_default();
    if matches!(status, "failed" | "cancelled") {
        return Err(ProviderFailure::new(FailureClass::Transient, format!("the answer is {status}, without a reason")));
    }
    let output = body["output"].as_array();
    let messages = || output.into_iter().flatten().filter(|item| item["type"] == "message");
    let mut text: String = messages().map(|item| text_of(&item["content"], &["output_text", "text"])).collect();
    if text.is_empty() {
        text = body["output_text"].as_str().unwrap_or_default().to_owned();
    }
    let text = without_thinking(&text, question.completion.purpose.schema().is_some()).to_owned();
    let ended = match (status, body["incomplete_details"]["reason"].as_str()) {
        ("incomplete", Some("content_filter")) => FinishReason::Filtered,
        ("incomplete", _) => FinishReason::AtLimit,
        _ => FinishReason::Whole,
    };
    if text.is_empty() {
        let parts = messages().filter_map(|item| item["content"].as_array()).flatten();
        if let Some(refusal) = parts.filter_map(|part| part["refusal"].as_str()).find(|refusal| !refusal.is_empty()) {
            return Err(refused(refusal, &body["usage"], question));
        }
        if output.is_none() && ended == FinishReason::Whole {
            return Err(ProviderFailure::new(FailureClass::Transient, "the answer holds no output"));
        }
        if matches!(status, "in_progress" | "queued") {
            return Err(ProviderFailure::new(FailureClass::Transient, format!("the answer is {status}")));
        }
    }
    Ok(EndpointAnswer { usage: usage_of(&body["usage"], question, &text), text, ended })
}
