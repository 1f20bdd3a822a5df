//! The bounds of a pattern's part.

use std::collections::BTreeMap;

use regex::RegexBuilder;

use super::PatternPart;
use super::condition::{ConditionOp, FeatureValue, PatternCondition};
use super::content::{PatternContent, PatternStep};
use crate::memory::field::{FieldProblem, LABEL_MAX_CHARS, check_count, check_length, check_text};
use crate::memory::ids::MemoryId;
use crate::memory::kinds::Complexity;

/// The longest text of a pattern's part, such as an approach, in characters.
pub const TEXT_MAX_CHARS: usize = 4_000;
/// The longest item of a list of sentences, such as a principle, in characters.
pub const PHRASE_MAX_CHARS: usize = 500;
pub const PHRASES_MAX: usize = 30;
pub const LABELS_MAX: usize = 30;
pub const CONDITIONS_MAX: usize = 20;
pub const STEPS_MAX: usize = 50;
pub const IDS_MAX: usize = 20;
pub const REGEX_MAX_CHARS: usize = 200;
/// The most memory that a regular expression may take when it is compiled, in bytes.
const REGEX_MAX_BYTES: usize = 256 * 1024;

/// The most features that a caller names of a task.
const FEATURES_MAX: usize = 50;
/// The most texts of one of them.
pub const FEATURE_TEXTS_MAX: usize = 200;
/// The longest text of a feature, in characters.
pub const FEATURE_MAX_CHARS: usize = 2_000;

/// Checks features that a caller names.
pub(crate) fn check_features(
    field: &'static str,
    features: &BTreeMap<String, FeatureValue>,
) -> Result<(), FieldProblem> {
    check_count(field, features.len(), "features", FEATURES_MAX)?;
    features.iter().try_for_each(|(name, value)| check_feature(field, name, value))
}

fn check_feature(field: &'static str, name: &str, value: &FeatureValue) -> Result<(), FieldProblem> {
    check_length(field, name, LABEL_MAX_CHARS)?;
    match value {
        FeatureValue::Text(text) => check_length(field, text, FEATURE_MAX_CHARS),
        FeatureValue::Texts(texts) => {
            check_count(field, texts.len(), "texts", FEATURE_TEXTS_MAX)?;
            texts.iter().try_for_each(|text| check_length(field, text, FEATURE_MAX_CHARS))
        }
        FeatureValue::Truth(_) | FeatureValue::Number(_) => Ok(()),
    }
}

/// Adds those of more features that the caller did not name, as far as they fit. Nobody is refused for what was added.
pub(crate) fn add_features(features: &mut BTreeMap<String, FeatureValue>, more: &BTreeMap<String, FeatureValue>) {
    for (name, value) in more {
        let fits = features.len() < FEATURES_MAX && check_feature("features", name, value).is_ok();
        if fits && !features.contains_key(name) {
            features.insert(name.clone(), value.clone());
        }
    }
}

impl PatternPart {
    /// Returns everything that is wrong with the part.
    pub fn problems(&self) -> Vec<FieldProblem> {
        let mut found = PartProblems::default();
        content(&mut found, &self.content);
        let applicability = &self.applicability;
        found.list("applicability.problem_types", &applicability.problem_types, LABELS_MAX, LABEL_MAX_CHARS);
        found.list("applicability.domains", &applicability.domains, LABELS_MAX, LABEL_MAX_CHARS);
        let capabilities = &applicability.required_capabilities;
        found.list("applicability.required_capabilities", capabilities, LABELS_MAX, LABEL_MAX_CHARS);
        if let (Some(min), Some(max)) = (applicability.complexity.min, applicability.complexity.max)
            && min > max
        {
            found.add("applicability.complexity", format!("goes from {} to {}", min.as_str(), max.as_str()));
        }
        conditions(&mut found, "applicability.context_conditions", &applicability.context_conditions);
        conditions(&mut found, "applicability.anti_conditions", &applicability.anti_conditions);
        let guidance = &self.guidance;
        found.text("guidance.when_to_apply", &guidance.when_to_apply, TEXT_MAX_CHARS);
        found.text("guidance.how_to_apply", &guidance.how_to_apply, TEXT_MAX_CHARS);
        found.list("guidance.expected_benefits", &guidance.expected_benefits, PHRASES_MAX, PHRASE_MAX_CHARS);
        found.list("guidance.potential_risks", &guidance.potential_risks, PHRASES_MAX, PHRASE_MAX_CHARS);
        found.ids("guidance.alternative_patterns", &guidance.alternative_patterns);
        let relationships = &self.relationships;
        found.ids("relationships.generalizes", &relationships.generalizes);
        found.ids("relationships.contradicts", &relationships.contradicts);
        found.ids("relationships.complements", &relationships.complements);
        let reason = self.lifecycle.deprecation_reason.as_deref().unwrap_or_default();
        found.text("lifecycle.deprecation_reason", reason, PHRASE_MAX_CHARS);
        let accepted = self.lifecycle.validation.as_ref().and_then(|validation| validation.accepted_because.as_deref());
        found.text("lifecycle.validation.accepted_because", accepted.unwrap_or_default(), PHRASE_MAX_CHARS);
        if self.version == 0 {
            found.add("version", "is 0; the first version is 1");
        }
        found.0
    }
}

/// The problems that were found so far.
#[derive(Default)]
struct PartProblems(Vec<FieldProblem>);

impl PartProblems {
    fn add(&mut self, field: &'static str, problem: impl Into<String>) {
        self.0.push(FieldProblem::new(field, problem));
    }

    fn required(&mut self, field: &'static str, text: &str, max: usize) {
        self.0.extend(check_text(field, text, max).err());
    }

    fn text(&mut self, field: &'static str, text: &str, max: usize) {
        self.0.extend(check_length(field, text, max).err());
    }

    fn list(&mut self, field: &'static str, items: &[String], most: usize, max: usize) {
        self.0.extend(check_count(field, items.len(), "items", most).err());
        items.iter().take(most).for_each(|item| self.required(field, item, max));
    }

    fn ids(&mut self, field: &'static str, ids: &[MemoryId]) {
        self.0.extend(check_count(field, ids.len(), "ids", IDS_MAX).err());
    }
}

fn content(found: &mut PartProblems, content: &PatternContent) {
    match content {
        PatternContent::Strategy { approach, key_principles, trade_offs } => {
            found.required("content.approach", approach, TEXT_MAX_CHARS);
            found.list("content.key_principles", key_principles, PHRASES_MAX, PHRASE_MAX_CHARS);
            found.text("content.trade_offs", trade_offs, TEXT_MAX_CHARS);
        }
        PatternContent::Template { structure, parameters, instantiation_rules } => {
            steps(found, "content.structure", structure);
            found.list("content.parameters", parameters, PHRASES_MAX, PHRASE_MAX_CHARS);
            found.list("content.instantiation_rules", instantiation_rules, PHRASES_MAX, PHRASE_MAX_CHARS);
        }
        PatternContent::Heuristic { condition, action, rationale } => {
            found.required("content.condition", condition, TEXT_MAX_CHARS);
            found.required("content.action.text", &action.text, TEXT_MAX_CHARS);
            found.list("content.action.tools", &action.tools, LABELS_MAX, LABEL_MAX_CHARS);
            found.text("content.rationale", rationale, TEXT_MAX_CHARS);
        }
        PatternContent::Procedure { steps: of, branching, termination } => {
            steps(found, "content.steps", of);
            found.list("content.branching", branching, PHRASES_MAX, PHRASE_MAX_CHARS);
            found.list("content.termination", termination, PHRASES_MAX, PHRASE_MAX_CHARS);
        }
    }
}

fn steps(found: &mut PartProblems, field: &'static str, steps: &[PatternStep]) {
    if steps.is_empty() {
        found.add(field, "has no step");
    }
    found.0.extend(check_count(field, steps.len(), "steps", STEPS_MAX).err());
    let steps = &steps[..steps.len().min(STEPS_MAX)];
    for (place, step) in steps.iter().enumerate() {
        found.required(field, &step.title, PHRASE_MAX_CHARS);
        found.text(field, &step.id, LABEL_MAX_CHARS);
        found.text(field, step.tool.as_deref().unwrap_or_default(), LABEL_MAX_CHARS);
        found.list(field, &step.depends_on, STEPS_MAX, LABEL_MAX_CHARS);
        if !step.id.is_empty() && steps[..place].iter().any(|other| other.id == step.id) {
            found.add(field, format!("has two steps with the id {:?}", step.id));
        }
        // A step comes after those that it depends on, so there is no cycle.
        for wanted in &step.depends_on {
            if !steps[..place].iter().any(|other| !other.id.is_empty() && other.id == *wanted) {
                found.add(field, format!("has a step that depends on {wanted:?}, which is no step before it"));
            }
        }
    }
}

fn conditions(found: &mut PartProblems, field: &'static str, conditions: &[PatternCondition]) {
    found.0.extend(check_count(field, conditions.len(), "conditions", CONDITIONS_MAX).err());
    for condition in conditions.iter().take(CONDITIONS_MAX) {
        found.required(field, &condition.feature, LABEL_MAX_CHARS);
        if let Some(problem) = value_problem(condition) {
            found.add(field, format!("has a condition on {:?} with {problem}", condition.feature));
        }
    }
}

fn value_problem(condition: &PatternCondition) -> Option<String> {
    use ConditionOp::{AtLeast, AtMost, Contains, Exists, In, Is, Matches};
    use FeatureValue::{Number, Text, Texts, Truth};
    let op = condition.op.as_str();
    let too_long = |text: &str| text.trim().is_empty() || text.chars().count() > PHRASE_MAX_CHARS;
    match (condition.op, &condition.value) {
        (Exists, None) | (Is, Some(Truth(_))) => None,
        (Exists, Some(_)) => Some("a value, which `exists` does not take".into()),
        (Is | AtLeast | AtMost, Some(Number(number))) if number.is_finite() => None,
        (AtLeast | AtMost, Some(Text(text))) if condition.feature == "complexity" && Complexity::of(text).is_some() => {
            None
        }
        (Matches, Some(Text(text))) => regex_problem(text),
        (Is | Contains, Some(Text(text))) if too_long(text) => {
            Some(format!("a value that is blank or has more than {PHRASE_MAX_CHARS} characters"))
        }
        (Is | Contains, Some(Text(_))) => None,
        (In, Some(Texts(texts))) if texts.is_empty() || texts.len() > LABELS_MAX => {
            Some(format!("{} values; `in` takes 1 to {LABELS_MAX}", texts.len()))
        }
        (In, Some(Texts(texts))) if texts.iter().any(|text| too_long(text)) => {
            Some(format!("a value that is blank or has more than {PHRASE_MAX_CHARS} characters"))
        }
        (In, Some(Texts(_))) => None,
        (In, _) => Some("no list of texts, which `in` takes".into()),
        (Is, _) => Some("no text, number or truth value, one of which `is` takes".into()),
        (AtLeast | AtMost, _) => {
            Some(format!("no number, which `{op}` takes; of complexity it takes low, medium or high"))
        }
        (Contains | Matches, _) => Some(format!("no text, which `{op}` takes")),
    }
}

fn regex_problem(pattern: &str) -> Option<String> {
    let count = pattern.chars().count();
    if count > REGEX_MAX_CHARS {
        return Some(format!("a regular expression of {count} characters; at most {REGEX_MAX_CHARS} are allowed"));
    }
    let problem = compiled(pattern).err()?.to_string();
    let short = problem.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
    Some(format!("a regular expression that cannot be read: {short}"))
}

/// Compiles the regular expression of a condition.
pub(crate) fn compiled(pattern: &str) -> Result<regex::Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(REGEX_MAX_BYTES).build()
}
