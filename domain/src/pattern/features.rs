//! The features of a task, and whether conditions on them hold.

use std::collections::BTreeMap;

use regex::Regex;

use crate::memory::Complexity;
use crate::memory::label::label_key;
use crate::memory::pattern::{ConditionOp, FeatureValue, PatternCondition, compiled};
use crate::memory::signature::Signature;

/// The known features of a task. A field that is None, or an empty list of tools, is unknown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TaskFeatures {
    pub domain: Option<String>,
    pub task_type: Option<String>,
    pub complexity: Option<Complexity>,
    pub tools: Vec<String>,
    pub language: Option<String>,
    pub framework: Option<String>,
    pub error_signature: Option<String>,
    /// Further features that the caller names.
    pub context: BTreeMap<String, FeatureValue>,
}

/// The result of holding a condition against the features of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    Holds,
    Fails,
    /// The feature is unknown, or is of a kind that the condition cannot be compared with.
    Open,
}

/// A condition with its regular expression compiled.
#[derive(Debug, Clone)]
pub struct PreparedCondition {
    pub condition: PatternCondition,
    regex: Option<Regex>,
}

impl From<&PatternCondition> for PreparedCondition {
    fn from(condition: &PatternCondition) -> Self {
        let regex = match (&condition.op, &condition.value) {
            (ConditionOp::Matches, Some(FeatureValue::Text(pattern))) => compiled(pattern).ok(),
            _ => None,
        };
        Self { condition: condition.clone(), regex }
    }
}

impl TaskFeatures {
    /// Returns the value of a feature by its name.
    fn value(&self, feature: &str) -> Option<FeatureValue> {
        let text = |text: &Option<String>| text.clone().map(FeatureValue::Text);
        match feature {
            "domain" => text(&self.domain),
            "task_type" => text(&self.task_type),
            "complexity" => self.complexity.map(|complexity| complexity.as_str().into()),
            "tools" => (!self.tools.is_empty()).then(|| FeatureValue::Texts(self.tools.clone())),
            "language" => text(&self.language),
            "framework" => text(&self.framework),
            "error_signature" => text(&self.error_signature),
            other => self.context.get(other).cloned(),
        }
        .filter(|value| !matches!(value, FeatureValue::Text(text) if text.trim().is_empty()))
    }

    /// Tells whether a condition holds.
    pub fn meets(&self, prepared: &PreparedCondition) -> Truth {
        let PatternCondition { feature, op, value: wanted } = &prepared.condition;
        let known = self.value(feature);
        let of = |holds: bool| if holds { Truth::Holds } else { Truth::Fails };
        let Some(known) = known else {
            return if *op == ConditionOp::Exists { Truth::Fails } else { Truth::Open };
        };
        let is_same: fn(&str, &str) -> bool = match feature.as_str() {
            "error_signature" => |a, b| Signature::of(a, None).matches(&Signature::of(b, None)),
            _ => |a, b| label_key(a) == label_key(b),
        };
        match (op, wanted, &known) {
            (ConditionOp::Exists, ..) => Truth::Holds,
            (ConditionOp::Is, Some(FeatureValue::Number(wanted)), FeatureValue::Number(known)) => of(wanted == known),
            (ConditionOp::Is, Some(FeatureValue::Truth(wanted)), FeatureValue::Truth(known)) => of(wanted == known),
            (ConditionOp::Is | ConditionOp::In, ..) => {
                let texts = texts_of(&known);
                if texts.is_empty() {
                    return Truth::Open;
                }
                let wanted = prepared.condition.wanted_texts();
                of(texts.iter().any(|known| wanted.iter().any(|wanted| is_same(known, wanted))))
            }
            (ConditionOp::Contains, Some(FeatureValue::Text(wanted)), FeatureValue::Text(known)) => {
                of(label_key(known).contains(&label_key(wanted)))
            }
            (ConditionOp::Contains, Some(FeatureValue::Text(wanted)), FeatureValue::Texts(known)) => {
                of(known.iter().any(|known| is_same(known, wanted)))
            }
            (ConditionOp::Matches, ..) => match &prepared.regex {
                Some(regex) if !texts_of(&known).is_empty() => {
                    of(texts_of(&known).iter().any(|known| regex.is_match(known)))
                }
                _ => Truth::Open,
            },
            (ConditionOp::AtLeast | ConditionOp::AtMost, Some(wanted), known) => {
                match (number_of(feature, known), number_of(feature, wanted)) {
                    (Some(known), Some(wanted)) if *op == ConditionOp::AtLeast => of(known >= wanted),
                    (Some(known), Some(wanted)) => of(known <= wanted),
                    _ => Truth::Open,
                }
            }
            _ => Truth::Open,
        }
    }
}

fn texts_of(value: &FeatureValue) -> &[String] {
    match value {
        FeatureValue::Text(text) => std::slice::from_ref(text),
        FeatureValue::Texts(texts) => texts,
        FeatureValue::Truth(_) | FeatureValue::Number(_) => &[],
    }
}

fn number_of(feature: &str, value: &FeatureValue) -> Option<f64> {
    match value {
        FeatureValue::Number(number) => Some(*number),
        FeatureValue::Text(text) if feature == "complexity" => Complexity::of(text).map(|one| one as u8 as f64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn features() -> TaskFeatures {
        TaskFeatures {
            domain: Some("Web".into()),
            complexity: Some(Complexity::Medium),
            tools: vec!["cargo test".into(), "rg".into()],
            error_signature: Some("KeyError: 'x'".into()),
            context: BTreeMap::from([
                ("files".into(), FeatureValue::Number(12.0)),
                ("ci".into(), FeatureValue::Truth(true)),
                ("branch".into(), "release-1.2".into()),
            ]),
            ..TaskFeatures::default()
        }
    }

    #[rstest]
    #[case("domain", "is", json!("web "), Truth::Holds)]
    #[case("domain", "in", json!(["cli", "WEB"]), Truth::Holds)]
    #[case("domain", "in", json!(["cli"]), Truth::Fails)]
    #[case("domain", "contains", json!("we"), Truth::Holds)]
    #[case("tools", "contains", json!("rg"), Truth::Holds)]
    #[case("tools", "contains", json!("cargo"), Truth::Fails)]
    #[case("tools", "is", json!("Cargo Test"), Truth::Holds)]
    #[case("tools", "matches", json!("^cargo"), Truth::Holds)]
    #[case("branch", "matches", json!(r"^release-\d"), Truth::Holds)]
    #[case("branch", "matches", json!("^main$"), Truth::Fails)]
    #[case("error_signature", "is", json!("keyerror|web"), Truth::Holds)]
    #[case("error_signature", "is", json!("ValueError"), Truth::Fails)]
    #[case("complexity", "at_least", json!("low"), Truth::Holds)]
    #[case("complexity", "at_most", json!("low"), Truth::Fails)]
    #[case("files", "at_least", json!(12), Truth::Holds)]
    #[case("files", "at_most", json!(11.5), Truth::Fails)]
    #[case("files", "is", json!("many"), Truth::Open)]
    #[case("ci", "is", json!(false), Truth::Fails)]
    #[case("ci", "exists", Value::Null, Truth::Holds)]
    #[case("language", "exists", Value::Null, Truth::Fails)]
    #[case("language", "is", json!("rust"), Truth::Open)]
    #[case("weather", "at_least", json!(1), Truth::Open)]
    fn a_condition_holds_fails_or_stays_open(
        #[case] feature: &str,
        #[case] op: &str,
        #[case] value: Value,
        #[case] truth: Truth,
    ) {
        let given = json!({"feature": feature, "op": op, "value": value});
        let condition: PatternCondition = serde_json::from_value(given).unwrap();
        assert_eq!(features().meets(&PreparedCondition::from(&condition)), truth, "{condition}");
    }
}
