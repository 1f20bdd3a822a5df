//! What the two APIs have in common: what a request is made of, and the parts of an answer. Answers are read from JSON of
//! any form; what is missing, unknown or of another type counts as not said.

use std::collections::BTreeMap;

use reasoning_bank_actors::ports::{Completion, Usage};
use reasoning_bank_domain::answer::Ended;
use reasoning_bank_domain::tokens::estimate;
use serde::Serialize;
use serde_json::Value;

use super::parameters::{Parameter, Parameters};

/// A question, and how it is put to this endpoint.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) completion: &'a Completion,
    pub(super) model: &'a str,
    pub(super) effort: Option<&'a str>,
    /// Speak OpenRouter's own extensions.
    pub(super) openrouter: bool,
    /// What the endpoint does not take.
    pub(super) without: Parameters,
}

impl<'a> Question<'a> {
    fn takes(self, parameter: Parameter) -> bool {
        !self.without.contains(parameter)
    }

    pub(super) fn temperature(self) -> Option<f32> {
        self.takes(Parameter::Temperature).then(|| self.completion.purpose.temperature())
    }

    pub(super) fn effort(self) -> Option<&'a str> {
        self.effort.filter(|_| self.takes(Parameter::Reasoning))
    }

    pub(super) fn schema(self) -> Option<Schema> {
        let schema = self.completion.purpose.schema().filter(|_| self.takes(Parameter::Schema))?;
        Some(Schema { name: self.completion.purpose.as_str(), schema, strict: true })
    }

    pub(super) fn requires_parameters(self) -> bool {
        self.openrouter && self.takes(Parameter::RequireParameters) && self.schema().is_some()
    }

    pub(super) fn metadata(self) -> Option<BTreeMap<&'static str, String>> {
        let Completion { purpose, task_id, attempt, .. } = self.completion;
        let mut metadata = BTreeMap::from([("purpose", purpose.as_str().to_owned()), ("task_id", task_id.to_string())]);
        metadata.extend(attempt.map(|attempt| ("attempt", attempt.to_string())));
        Some(metadata).filter(|_| self.takes(Parameter::Metadata))
    }
}

/// The form of a structured answer.
#[derive(Debug, Serialize)]
pub(super) struct Schema {
    pub(super) name: &'static str,
    pub(super) schema: Value,
    pub(super) strict: bool,
}

/// What an answer says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) ended: Ended,
    pub(super) usage: Usage,
}

/// An error, where one is said.
pub(super) fn error_in(value: &Value) -> Option<&Value> {
    let error = value.get("error")?;
    let said = match error {
        Value::Object(fields) => !fields.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => false,
    };
    said.then_some(error)
}

/// Text, or the text of parts with one of these types.
pub(super) fn text_of(content: &Value, types: &[&str]) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let wanted = parts.iter().filter(|part| part["type"].as_str().is_some_and(|kind| types.contains(&kind)));
            wanted.filter_map(|part| part["text"].as_str()).collect()
        }
        _ => String::new(),
    }
}

/// What a model thought aloud before it answered is no part of the answer. Templates may open the block themselves, so
/// that only its end is in the text; without an end, all of it is thought.
pub(super) fn without_thinking(text: &str) -> &str {
    const OPEN: &str = "<think>";
    const CLOSE: &str = "</think>";
    let opened = text.trim_start().starts_with(OPEN);
    match text.split_once(CLOSE) {
        Some((thought, answer)) if opened || !thought.contains(OPEN) => answer.trim_start(),
        None if opened => "",
        _ => text,
    }
}

/// Under either naming. What is not said is estimated, so that budgets hold with servers that count nothing.
pub(super) fn usage_of(usage: &Value, completion: &Completion, text: &str) -> Usage {
    let count = |names: [&str; 2]| names.iter().find_map(|name| whole(&usage[*name])).filter(|count| *count > 0);
    let details = ["output_tokens_details", "completion_tokens_details"];
    Usage {
        input_tokens: count(["input_tokens", "prompt_tokens"])
            .unwrap_or_else(|| (estimate(&completion.instructions) + estimate(&completion.input)) as u64),
        output_tokens: count(["output_tokens", "completion_tokens"]).unwrap_or_else(|| estimate(text) as u64),
        reasoning_tokens: details.iter().find_map(|name| whole(&usage[*name]["reasoning_tokens"])).unwrap_or(0),
        cost_usd: usage["cost"].as_f64().filter(|cost| *cost >= 0.0),
    }
}

fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_f64().filter(|number| *number >= 0.0).map(|number| number as u64))
}
