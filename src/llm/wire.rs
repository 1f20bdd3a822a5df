//! What the two APIs have in common: what a request is made of, and the parts of an answer. Answers are read from JSON of
//! any form; what is missing, unknown or of another type counts as not said.

use std::borrow::Cow;
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
    pub(super) effort: &'a str,
    /// Speak OpenRouter's own extensions.
    pub(super) openrouter: bool,
    /// What the endpoint does not take.
    pub(super) without: Parameters,
}

impl<'a> Question<'a> {
    fn takes(self, parameter: Parameter) -> bool {
        !self.without.contains(parameter)
    }

    /// With the form of the answer in words, where nothing else makes the model keep it.
    pub(super) fn instructions(self) -> Cow<'a, str> {
        let instructions = self.completion.instructions.as_str();
        let is_kept = self.takes(Parameter::Schema) && self.takes(Parameter::RequireParameters);
        match self.completion.purpose.schema().filter(|_| !is_kept) {
            Some(schema) => Cow::Owned(format!(
                "{instructions}\n\nAnswer with one JSON object and nothing else, of this JSON schema:\n{schema}"
            )),
            None => Cow::Borrowed(instructions),
        }
    }

    pub(super) fn temperature(self) -> Option<f32> {
        self.takes(Parameter::Temperature).then(|| self.completion.purpose.temperature())
    }

    pub(super) fn effort(self) -> Option<&'a str> {
        Some(self.effort).filter(|_| self.takes(Parameter::Reasoning))
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

const THOUGHT_BEGINS: &str = "<think>";
const THOUGHT_ENDS: &str = "</think>";

/// What a model thought aloud before it answered is no part of the answer. Without an end, all of it is thought.
pub(super) fn without_thinking(text: &str) -> &str {
    if !text.trim_start().starts_with(THOUGHT_BEGINS) {
        return text;
    }
    text.split_once(THOUGHT_ENDS).map_or("", |(_, answer)| answer.trim_start())
}

/// The same where a template may have opened the thought, so that only its end is in the text: alone on its line, with an
/// empty line behind it, as models write it. Such an end in a block of code is part of the answer, and in JSON there is
/// none: strings have no line ends.
pub(super) fn without_opened_thinking(text: &str) -> &str {
    let mut at = 0;
    let mut in_code = false;
    for line in text.split_inclusive('\n') {
        at += line.len();
        match line.trim_end() {
            line if line.trim_start().starts_with("```") => in_code = !in_code,
            line if line.contains(THOUGHT_BEGINS) => break,
            THOUGHT_ENDS if !in_code => {
                let is_apart = text[at..].lines().next().is_some_and(|line| line.trim().is_empty());
                let answer = text[at..].trim_start();
                return if is_apart && !answer.is_empty() { answer } else { text };
            }
            _ => {}
        }
    }
    without_thinking(text)
}

/// Under either naming. What is not said is estimated, so that budgets hold with servers that count nothing.
pub(super) fn usage_of(usage: &Value, question: Question<'_>, text: &str) -> Usage {
    let count = |names: [&str; 2]| names.iter().find_map(|name| whole(&usage[*name])).filter(|count| *count > 0);
    let details = ["output_tokens_details", "completion_tokens_details"];
    Usage {
        input_tokens: count(["input_tokens", "prompt_tokens"])
            .unwrap_or_else(|| (estimate(&question.instructions()) + estimate(&question.completion.input)) as u64),
        output_tokens: count(["output_tokens", "completion_tokens"]).unwrap_or_else(|| estimate(text) as u64),
        reasoning_tokens: details.iter().find_map(|name| whole(&usage[*name]["reasoning_tokens"])).unwrap_or(0),
        cost_usd: usage["cost"].as_f64().filter(|cost| *cost >= 0.0).map(|cost| cost.min(f64::from(MOST))),
    }
}

/// More is no count of one answer, and would not add up.
const MOST: u32 = u32::MAX;

fn whole(value: &Value) -> Option<u64> {
    let count = value.as_u64().or_else(|| value.as_f64().filter(|number| *number >= 0.0).map(|number| number as u64));
    count.map(|count| count.min(MOST.into()))
}
