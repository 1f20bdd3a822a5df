//! Conditions on the features of a task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A condition on one feature of a task: domain, task_type, complexity, tools, language, framework, error_signature, or
/// a name of the caller's own context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatternCondition {
    pub feature: String,
    pub op: ConditionOp,
    /// The value for the comparison: a list for `in`, a number for `at_least` and `at_most` (of complexity: low, medium
    /// or high), nothing for `exists`, else a text, a number or a truth value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<FeatureValue>,
}

/// The kind of comparison. Texts are compared without regard to case. Of a feature with several values one is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConditionOp {
    Is,
    In,
    /// The text contains the value, or the list has it.
    Contains,
    /// The text matches a regular expression of at most 200 characters.
    Matches,
    AtLeast,
    AtMost,
    /// The feature is known.
    Exists,
}

impl ConditionOp {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Is => "is",
            Self::In => "in",
            Self::Contains => "contains",
            Self::Matches => "matches",
            Self::AtLeast => "at_least",
            Self::AtMost => "at_most",
            Self::Exists => "exists",
        }
    }
}

/// The value of a feature, or what it is compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FeatureValue {
    Truth(bool),
    Number(f64),
    Text(String),
    Texts(Vec<String>),
}

impl From<&str> for FeatureValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl PatternCondition {
    /// Makes the condition that a feature is a text.
    pub fn is(feature: &str, value: &str) -> Self {
        Self { feature: feature.to_owned(), op: ConditionOp::Is, value: Some(value.into()) }
    }

    /// Returns the texts that `is` and `in` compare with.
    pub fn wanted_texts(&self) -> &[String] {
        match (&self.op, &self.value) {
            (ConditionOp::Is, Some(FeatureValue::Text(text))) => std::slice::from_ref(text),
            (ConditionOp::In, Some(FeatureValue::Texts(texts))) => texts,
            _ => &[],
        }
    }
}

impl std::fmt::Display for FeatureValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Truth(truth) => write!(f, "{truth}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
            Self::Texts(texts) => f.write_str(&texts.join(", ")),
        }
    }
}

impl std::fmt::Display for PatternCondition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.feature, self.op.as_str())?;
        self.value.as_ref().map_or(Ok(()), |value| write!(f, " {value}"))
    }
}
