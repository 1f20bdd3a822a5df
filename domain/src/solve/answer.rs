//! The answers of models, and how they are read. Drafts are text. Everything else is a JSON object whose schema goes
//! out with the call. The schema is enforced again on arrival, because providers do not always keep it.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bank::BankProposal;
use crate::consolidation::{PatternProposal, PatternProposals};
use crate::learning::lesson::Lesson;
use crate::prompt::Purpose;

impl Purpose {
    /// Returns the JSON schema of the answer. Drafts have none.
    pub fn schema(self) -> Option<Value> {
        let schema = match self {
            Self::Think | Self::Refine => return None,
            Self::Evaluate => schemars::schema_for!(Evaluation),
            Self::Judge => schemars::schema_for!(Judgement),
            Self::Extract | Self::Capture | Self::Distill => schemars::schema_for!(Extracted),
            Self::Contrast => schemars::schema_for!(Contrasted),
            Self::Bank => schemars::schema_for!(BankProposal),
            Self::Patterns => schemars::schema_for!(PatternProposals),
        };
        let mut schema = schema.to_value();
        make_strict(&mut schema);
        Some(schema)
    }
}

/// Makes a schema strict. Strict structured output wants every property to be required and no other to be allowed. What
/// may be absent is null instead.
fn make_strict(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            for annotation in ["$schema", "default", "format"] {
                map.remove(annotation);
            }
            if let Some(Value::Object(properties)) = map.get_mut("properties") {
                properties.values_mut().for_each(make_strict);
                let names = properties.keys().cloned().map(Value::from).collect();
                map.insert("required".into(), Value::Array(names));
                map.insert("additionalProperties".into(), Value::Bool(false));
            }
            map.iter_mut().filter(|(key, _)| *key != "properties").for_each(|(_, value)| make_strict(value));
        }
        Value::Array(items) => items.iter_mut().for_each(make_strict),
        _ => {}
    }
}

/// How good a solution is, and what would make it better.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Evaluation {
    /// In 0..1.
    pub score: f64,
    pub feedback: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Verdict {
    Success,
    Failure,
}

/// The verdict on the chosen solution, and what can be learned from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Judgement {
    pub verdict: Verdict,
    /// In 0..1.
    pub score: f64,
    pub reasoning: String,
    #[serde(default)]
    pub learnings: Vec<Lesson>,
}

/// Lessons from one solution, exchange or session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Extracted {
    pub learnings: Vec<Lesson>,
}

/// Lessons from comparing several attempts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Contrasted {
    /// The attempt the model thinks best; for information, it decides nothing.
    #[serde(default)]
    pub best_index: i64,
    #[serde(default)]
    pub analysis: String,
    pub learnings: Vec<Lesson>,
}

/// An answer that has the form asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The solution of a think or refine call.
    Draft(String),
    Evaluation(Evaluation),
    Judgement(Judgement),
    /// The lessons of an extract, contrast, capture or distill call.
    Lessons(Vec<Lesson>),
    /// The operations that file content into a memory bank.
    Bank(BankProposal),
    /// The patterns that a model sees in episodes that are alike.
    Patterns(Vec<PatternProposal>),
}

/// The reason why the model stopped writing an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FinishReason {
    /// The model was done.
    #[default]
    Whole,
    /// The answer reached `llm.max_output_tokens`; it may be empty.
    AtLimit,
    /// The content filter of the provider stopped it; it may be empty.
    Filtered,
}

impl FinishReason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::AtLimit => "at_limit",
            Self::Filtered => "filtered",
        }
    }

    /// Returns what cut the answer off, in words that follow "cut off". None where nothing did.
    pub fn cut_off(self) -> Option<&'static str> {
        match self {
            Self::Whole => None,
            Self::AtLimit => Some("at llm.max_output_tokens"),
            Self::Filtered => Some("by the provider's content filter"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidAnswer(pub String);

/// Reads an answer. A fence or prose around the JSON object is tolerated. A missing or wrong field is an error.
pub fn read(purpose: Purpose, text: &str) -> Result<Answer, InvalidAnswer> {
    match purpose {
        Purpose::Think | Purpose::Refine => {
            let solution = text.trim();
            if solution.is_empty() {
                return Err(InvalidAnswer("the answer is empty".into()));
            }
            Ok(Answer::Draft(solution.to_owned()))
        }
        Purpose::Evaluate => {
            let evaluation: Evaluation = object(text)?;
            unit_interval(evaluation.score)?;
            Ok(Answer::Evaluation(evaluation))
        }
        Purpose::Judge => {
            let judgement: Judgement = object(text)?;
            unit_interval(judgement.score)?;
            Ok(Answer::Judgement(judgement))
        }
        Purpose::Extract | Purpose::Capture | Purpose::Distill => {
            object::<Extracted>(text).map(|extracted| Answer::Lessons(extracted.learnings))
        }
        Purpose::Bank => object(text).map(Answer::Bank),
        Purpose::Patterns => object::<PatternProposals>(text).map(|proposed| Answer::Patterns(proposed.patterns)),
        Purpose::Contrast => object::<Contrasted>(text).map(|contrasted| Answer::Lessons(contrasted.learnings)),
    }
}

fn object<T: DeserializeOwned>(text: &str) -> Result<T, InvalidAnswer> {
    let json = match (text.find('{'), text.rfind('}')) {
        (Some(start), Some(end)) if start < end => &text[start..=end],
        _ => return Err(InvalidAnswer("the answer holds no JSON object".into())),
    };
    serde_json::from_str(json).map_err(|error| InvalidAnswer(error.to_string()))
}

fn unit_interval(score: f64) -> Result<(), InvalidAnswer> {
    if (0.0..=1.0).contains(&score) {
        Ok(())
    } else {
        Err(InvalidAnswer(format!("score is {score}; it lies between 0 and 1")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_inside_a_fence_or_prose_is_read() {
        let text = "Here you are:\n```json\n{\"score\": 0.5, \"feedback\": \"ok\"}\n```";
        assert_eq!(
            read(Purpose::Evaluate, text),
            Ok(Answer::Evaluation(Evaluation { score: 0.5, feedback: "ok".into() }))
        );
    }

    #[test]
    fn a_score_outside_the_unit_interval_and_a_missing_field_are_refused() {
        for text in [r#"{"score": 1.5, "feedback": ""}"#, r#"{"score": 0.5}"#, "no json", "", "}{"] {
            assert!(read(Purpose::Evaluate, text).is_err(), "{text}");
        }
        assert!(read(Purpose::Think, "  \n").is_err());
    }

    #[test]
    fn every_schema_is_strict_all_the_way_down() {
        fn check(schema: &Value) {
            if let Some(properties) = schema.get("properties").and_then(|p| p.as_object()) {
                assert_eq!(schema["additionalProperties"], false, "{schema}");
                let required: Vec<&str> =
                    schema["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
                for name in properties.keys() {
                    assert!(required.contains(&name.as_str()), "{name} is not required in {schema}");
                }
            }
            match schema {
                Value::Object(map) => map.values().for_each(check),
                Value::Array(items) => items.iter().for_each(check),
                _ => {}
            }
        }
        for purpose in [
            Purpose::Evaluate,
            Purpose::Judge,
            Purpose::Extract,
            Purpose::Contrast,
            Purpose::Distill,
            Purpose::Bank,
            Purpose::Patterns,
        ] {
            check(&purpose.schema().unwrap());
        }
    }
}
