//! The features of a task: what the caller says, and what rules read in its words.

use std::collections::BTreeMap;

use crate::episode::{OTHER_TASK, task_type};
use crate::memory::pattern::FeatureValue;
use crate::memory::signature::{error_message, mentioned};
use crate::memory::{Complexity, FieldProblem};
use crate::pattern::features::TaskFeatures;
use crate::pattern::input::FeaturesInput;

/// The features that a caller gives of a task, by name. The names domain, task_type, complexity, tools, language,
/// framework and error are those features; conditions of patterns may ask for any other.
pub type ContextMap = BTreeMap<String, FeatureValue>;

/// Returns the features of a task. What is said beside the map counts before what the map says. Where nobody says the
/// type of the task or its error, they are read in its words.
///
/// # Errors
/// A feature of the map that is of another kind than it must be, too many of them, or too long ones.
pub fn task_features(
    task: &str,
    domain: Option<String>,
    kind: Option<String>,
    mut context: ContextMap,
) -> Result<TaskFeatures, FieldProblem> {
    let mut text = |name: &str| match context.remove(name) {
        None => Ok(None),
        Some(FeatureValue::Text(text)) => Ok(Some(text)),
        Some(other) => Err(FieldProblem::new("context", format!("{name} is {other}; it must be a text"))),
    };
    let (said_domain, said_kind) = (text("domain")?, text("task_type")?);
    let (language, framework, error) = (text("language")?, text("framework")?, text("error")?);
    let complexity = text("complexity")?.map(|said| {
        let problem = || FieldProblem::new("context", format!("complexity is {said}; it must be low, medium or high"));
        Complexity::of(&said).ok_or_else(problem)
    });
    let tools = match context.remove("tools") {
        None => Vec::new(),
        Some(FeatureValue::Text(tool)) => vec![tool],
        Some(FeatureValue::Texts(tools)) => tools,
        Some(other) => {
            return Err(FieldProblem::new("context", format!("tools is {other}; it must be a list of texts")));
        }
    };
    let input = FeaturesInput {
        domain: domain.or(said_domain),
        task_type: kind.or(said_kind),
        complexity: complexity.transpose()?,
        tools,
        language,
        framework,
        error,
        context,
    };
    let features = input.features()?;
    let read_error = || mentioned(task).map(|signature| signature.to_string());
    Ok(TaskFeatures {
        task_type: features.task_type.or_else(|| kind_of(task)),
        error_signature: features.error_signature.or_else(read_error),
        ..features
    })
}

/// Returns the features of a task in which an error was met. The task may be blank.
pub fn error_features(error: &str, task: &str) -> TaskFeatures {
    let printed = error_message(error).unwrap_or_else(|| error.to_owned());
    TaskFeatures {
        task_type: kind_of(task),
        error_signature: Some(printed).filter(|printed| !printed.trim().is_empty()),
        ..TaskFeatures::default()
    }
}

/// Reads the type of a task in its words.
fn kind_of(task: &str) -> Option<String> {
    Some(task_type(task)).filter(|kind| *kind != OTHER_TASK).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn map(entries: &[(&str, FeatureValue)]) -> ContextMap {
        entries.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    #[test]
    fn what_nobody_says_is_read_in_the_words_of_the_task() {
        let features = task_features("Fix the KeyError in the loader", None, None, ContextMap::new()).unwrap();
        assert_eq!(features.task_type.as_deref(), Some("debugging"));
        assert_eq!(features.error_signature.as_deref(), Some("keyerror|"));
        let features = task_features("Hello there", None, None, ContextMap::new()).unwrap();
        assert_eq!((features.task_type, features.error_signature), (None, None), "no word tells");
    }

    #[test]
    fn of_what_was_printed_the_line_that_names_the_error_counts() {
        let printed = "Traceback (most recent call last):\n  File \"a.py\", line 3, in load\nKeyError: 'user'";
        let features = error_features(printed, "Fix the loader");
        assert_eq!(features.error_signature.as_deref(), Some("KeyError: 'user'"));
        assert_eq!(features.task_type.as_deref(), Some("debugging"));
        assert_eq!(
            error_features("the door is open", ""),
            TaskFeatures { error_signature: Some("the door is open".into()), ..TaskFeatures::default() }
        );
    }

    #[test]
    fn names_of_features_are_taken_out_of_the_map_and_arguments_come_first() {
        let said = map(&[
            ("language", "rust".into()),
            ("complexity", "HIGH".into()),
            ("tools", FeatureValue::Texts(vec!["rg".into()])),
            ("domain", "sql".into()),
            ("files", FeatureValue::Number(3.0)),
        ]);
        let features = task_features("Fix it", Some("dates".into()), Some("testing".into()), said).unwrap();
        assert_eq!((features.domain.as_deref(), features.task_type.as_deref()), (Some("dates"), Some("testing")));
        assert_eq!((features.language.as_deref(), features.complexity), (Some("rust"), Some(Complexity::High)));
        assert_eq!(features.tools, ["rg"]);
        assert_eq!(features.context, map(&[("files", FeatureValue::Number(3.0))]));
    }

    #[rstest]
    #[case("language", FeatureValue::Number(1.0), "language is 1; it must be a text")]
    #[case("complexity", "huge".into(), "complexity is huge; it must be low, medium or high")]
    #[case("tools", FeatureValue::Truth(true), "tools is true; it must be a list of texts")]
    fn a_feature_of_another_kind_is_refused_with_its_name(
        #[case] name: &str,
        #[case] value: FeatureValue,
        #[case] problem: &str,
    ) {
        let refused = task_features("Fix it", None, None, map(&[(name, value)])).unwrap_err();
        assert_eq!((refused.field, refused.problem.as_str()), ("context", problem));
    }
}
