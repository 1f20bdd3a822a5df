//! The part that the two APIs share: what a request is made of, and how an answer is read. Answers are read from JSON
//! of any form; a field that is missing, unknown or of another type counts as not said.

use std::borrow::Cow;
use std::collections::BTreeMap;

use reasoning_bank_actors::ports::{Completion, Usage};
use reasoning_bank_domain::solve::answer::FinishReason;
use reasoning_bank_domain::text::tokens::estimate;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::failure::{FailureClass, ProviderFailure};
use super::parameters::{Parameter, Parameters};

/// A completion, and how this endpoint is asked for it.
#[derive(Clone, Copy)]
pub(super) struct EndpointQuestion<'a> {
    pub(super) completion: &'a Completion,
    pub(super) model: &'a str,
    pub(super) effort: &'a str,
    /// The request uses OpenRouter's own extensions.
    pub(super) openrouter: bool,
    /// The endpoint does not take these parameters.
    pub(super) without: Parameters,
}

impl<'a> EndpointQuestion<'a> {
    fn takes(self, parameter: Parameter) -> bool {
        !self.without.contains(parameter)
    }

    /// Returns the instructions. They describe the form of the answer in words where nothing else makes the model keep
    /// it.
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

    /// Returns the effort of reasoning. Where all parameters are required, `none` would rule out the models that do not
    /// reason.
    pub(super) fn effort(self) -> Option<&'a str> {
        let is_ruled_out = self.effort == "none" && self.requires_parameters();
        Some(self.effort).filter(|_| self.takes(Parameter::Reasoning) && !is_ruled_out)
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

/// The text of an answer, why it ended, and what it cost.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EndpointAnswer {
    pub(super) text: String,
    pub(super) ended: FinishReason,
    pub(super) usage: Usage,
}

/// The bound is far above the number of values in an answer. Once it is read, a small value takes up to a hundred times
/// its size in memory.
pub(super) const MAX_VALUES: usize = 50_000;

/// Counts the values of a JSON document without making any.
pub(super) fn has_too_many_values(document: &[u8]) -> bool {
    let (mut values, mut is_in_text, mut is_escaped) = (0, false, false);
    for byte in document {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_in_text => is_escaped = true,
            b'"' => is_in_text = !is_in_text,
            b'[' | b'{' | b',' if !is_in_text => values += 1,
            _ => {}
        }
    }
    values > MAX_VALUES
}

/// Counts the same for JSON among prose, where nobody knows which quotes begin a text. The values in texts are counted
/// as well.
pub(super) fn may_have_too_many_values(text: &str) -> bool {
    text.bytes().filter(|byte| matches!(byte, b'[' | b'{' | b',')).count() > MAX_VALUES
}

/// Returns the error of an answer, where it names one.
pub(super) fn error_in(value: &Value) -> Option<&Value> {
    let error = value.get("error")?;
    let said = match error {
        Value::Object(fields) => !fields.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => false,
    };
    said.then_some(error)
}

/// Returns a text, or joins the texts of parts with one of these types.
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

/// Cuts off what a model thought aloud before it answered, which is no part of the answer. Without an end, all of it is
/// thought. Where a template opened the thought, only its end is in the text: the first that is alone on its line
/// outside of a block of code, or, where JSON is asked for and the text is none, the last.
pub(super) fn without_thinking(text: &str, is_structured: bool) -> &str {
    if text.trim_start().starts_with(THOUGHT_BEGINS) {
        return text.split_once(THOUGHT_ENDS).map_or("", |(_, answer)| answer.trim_start());
    }
    let opened = if is_structured {
        let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
        text.rfind(THOUGHT_ENDS).filter(|_| !is_json).map(|at| at + THOUGHT_ENDS.len())
    } else {
        end_of_opened_thought(text)
    };
    opened.map_or(text, |end| text[end..].trim_start())
}

fn end_of_opened_thought(text: &str) -> Option<usize> {
    let mut at = 0;
    let mut in_code = false;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end();
        if content.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if content.contains(THOUGHT_BEGINS) {
            return None;
        } else if !in_code && content.trim_start() == THOUGHT_ENDS {
            return Some(at + content.len());
        }
        at += line.len();
    }
    None
}

/// Returns the usage that is said, or else an estimate, so that budgets hold with servers that count nothing.
pub(super) fn usage_of(usage: &Value, question: EndpointQuestion<'_>, text: &str) -> Usage {
    let mut usage = usage_said(usage);
    if usage.input_tokens == 0 {
        usage.input_tokens = (estimate(&question.instructions()) + estimate(&question.completion.input)) as u64;
    }
    if usage.output_tokens == 0 {
        usage.output_tokens = estimate(text) as u64;
    }
    usage
}

/// Makes a failure of a refusal in the place of an answer. The model wrote it, so it costs what an answer of its length
/// does.
pub(super) fn refused(refusal: &str, usage: &Value, question: EndpointQuestion<'_>) -> ProviderFailure {
    ProviderFailure::new(FailureClass::Refused, refusal).costing(usage_of(usage, question, refusal))
}

/// Reads the counts under either naming. A count that is not said is zero.
pub(super) fn usage_said(usage: &Value) -> Usage {
    let count = |names: [&str; 2]| names.iter().find_map(|name| whole(&usage[*name])).unwrap_or(0);
    let details = ["output_tokens_details", "completion_tokens_details"];
    Usage {
        input_tokens: count(["input_tokens", "prompt_tokens"]),
        output_tokens: count(["output_tokens", "completion_tokens"]),
        reasoning_tokens: details.iter().find_map(|name| whole(&usage[*name]["reasoning_tokens"])).unwrap_or(0),
        cost_usd: usage["cost"].as_f64().filter(|cost| *cost >= 0.0).map(|cost| cost.min(f64::from(MOST))),
    }
}

/// A larger number is no count of one answer, and would not add up.
const MOST: u32 = u32::MAX;

fn whole(value: &Value) -> Option<u64> {
    let count = value.as_u64().or_else(|| value.as_f64().filter(|number| *number >= 0.0).map(|number| number as u64));
    count.map(|count| count.min(MOST.into()))
}
