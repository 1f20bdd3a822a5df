//! The rules that tell whether an episode followed a pattern. There is one for each of four categories: the tools were
//! used, the order was kept, the plan was alike, the action came after the error.

use std::collections::{BTreeSet, HashSet};

use jiff::Timestamp;

use super::facts::{EpisodeFacts, FailureFact};
use super::wording::{PLAN_JACCARD, jaccard, title_key};
use crate::memory::ids::{MemoryId, SignalId};
use crate::memory::label::label_key;
use crate::memory::pattern::{
    ApplicationKind, ApplicationResult, PatternApplication, PatternCategory, PatternPart, application_id,
};
use crate::memory::signature::Signature;

/// Returns an episode as an application of a pattern, where rules can see that the episode followed the pattern. `None`
/// where it did not, or where no rule tells.
pub fn observed(pattern: MemoryId, part: &PatternPart, episode: &EpisodeFacts) -> Option<PatternApplication> {
    let result = followed(part, episode)?;
    Some(application(pattern, part, episode, ApplicationKind::Observed, result))
}

/// Tells whether rules see that an episode did what a pattern says.
pub fn is_followed(part: &PatternPart, episode: &EpisodeFacts) -> bool {
    followed(part, episode).is_some()
}

/// Tells whether nobody knows if an episode did what a pattern says: it names the tools of a sequence and tells no
/// calls.
pub fn is_unclear(part: &PatternPart, episode: &EpisodeFacts) -> bool {
    part.category == PatternCategory::Sequence && episode.steps.is_empty() && used_all(part, episode)
}

/// Returns the application that somebody reports. The rules say how it went where they can tell.
pub fn reported(pattern: MemoryId, part: &PatternPart, episode: &EpisodeFacts) -> PatternApplication {
    let result = match part.category {
        PatternCategory::Failure => avoided(part, episode),
        _ => followed(part, episode).unwrap_or_default(),
    };
    application(pattern, part, episode, ApplicationKind::Reported, result)
}

/// Returns the applications that rules see in these episodes and that are not `known` yet. Episodes from before the
/// current version are left out, because the pattern may have been made of them.
pub fn newly_observed<'a>(
    pattern: MemoryId,
    part: &PatternPart,
    made_at: Timestamp,
    episodes: impl IntoIterator<Item = &'a EpisodeFacts>,
    known: &HashSet<SignalId>,
) -> Vec<PatternApplication> {
    let since = part.lifecycle.version_since.unwrap_or(made_at);
    let later = episodes.into_iter().filter(|episode| episode.is_original && episode.at > since);
    let new = later.filter(|episode| !known.contains(&application_id(pattern, episode.id)));
    new.filter_map(|episode| observed(pattern, part, episode)).collect()
}

fn application(
    pattern: MemoryId,
    part: &PatternPart,
    episode: &EpisodeFacts,
    kind: ApplicationKind,
    result: ApplicationResult,
) -> PatternApplication {
    PatternApplication {
        id: application_id(pattern, episode.id),
        pattern_id: pattern,
        version: part.version,
        episode_id: episode.id,
        workspace_id: episode.workspace.clone(),
        session: episode.session.clone(),
        kind,
        result,
        episode_succeeded: episode.succeeded,
        at: episode.at,
    }
}

fn followed(part: &PatternPart, episode: &EpisodeFacts) -> Option<ApplicationResult> {
    let followed = match part.category {
        PatternCategory::ToolSelection => used_all(part, episode),
        PatternCategory::Sequence => kept_order(part, episode),
        PatternCategory::Decomposition => planned_alike(part, episode),
        PatternCategory::Recovery => return recovered(part, episode),
        _ => false,
    };
    followed.then_some(ApplicationResult::Episode)
}

fn used_all(part: &PatternPart, episode: &EpisodeFacts) -> bool {
    let used = episode.tools();
    let mut wanted = part.content.tools().map(label_key).peekable();
    wanted.peek().is_some() && wanted.all(|tool| used.contains(&tool))
}

/// Tells whether the tools of at least two steps were called, each for the first time after the one before it.
fn kept_order(part: &PatternPart, episode: &EpisodeFacts) -> bool {
    let first = episode.first_calls();
    let wanted: Vec<String> = part.content.tools().map(label_key).collect();
    let places: Option<Vec<usize>> = wanted.iter().map(|tool| first.get(tool).copied()).collect();
    places.is_some_and(|places| places.len() >= 2 && places.is_sorted_by(|a, b| a < b))
}

fn planned_alike(part: &PatternPart, episode: &EpisodeFacts) -> bool {
    let wanted: BTreeSet<String> = part.content.steps().iter().map(|step| title_key(&step.title)).collect();
    let planned: BTreeSet<String> = episode.plan.iter().map(|title| title_key(title)).collect();
    !wanted.is_empty() && jaccard(&wanted, &planned) >= PLAN_JACCARD
}

/// Returns how a recovery went: well where the signature does not come back after the action. None where the error or
/// the action did not come.
fn recovered(part: &PatternPart, episode: &EpisodeFacts) -> Option<ApplicationResult> {
    let about = part.applicability.signatures();
    let is_about = |failure: &&FailureFact| about.iter().any(|wanted| wanted.matches(&failure.signature));
    let met: Vec<&FailureFact> = episode.failures.iter().filter(is_about).collect();
    let first = met.first()?;
    let tools: BTreeSet<String> = part.content.tools().map(label_key).collect();
    let action = part.content.action().map(|action| title_key(&action.text));
    let is_resolution = |failure: &FailureFact| {
        failure.resolved_by.as_deref().is_some_and(|by| {
            action.as_ref().is_some_and(|action| *action == title_key(by)) || tools.contains(&label_key(by))
        })
    };
    let acted = first.at_steps.first().and_then(|at| {
        let after = episode.steps.iter().enumerate().skip(at + 1);
        after
            .map(|(place, step)| (place, label_key(step)))
            .find(|(_, step)| tools.contains(step))
            .map(|(place, _)| place)
    });
    let came_back = match acted {
        Some(acted) => met.iter().any(|failure| failure.at_steps.iter().any(|at| *at > acted)),
        // Failures are told in their order, so what follows the one that was resolved came after it.
        None => met.iter().position(|failure| is_resolution(failure))? + 1 < met.len(),
    };
    Some(if came_back { ApplicationResult::Failed } else { ApplicationResult::Succeeded })
}

/// Returns how the warning of a failure pattern went: well where its error did not come.
fn avoided(part: &PatternPart, episode: &EpisodeFacts) -> ApplicationResult {
    let about: Vec<Signature> = part.applicability.signatures();
    if about.is_empty() {
        return ApplicationResult::Episode;
    }
    let came = episode.failures.iter().any(|failure| about.iter().any(|wanted| wanted.matches(&failure.signature)));
    if came { ApplicationResult::Failed } else { ApplicationResult::Succeeded }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::ids::TraceId;
    use crate::memory::pattern::{PatternAction, PatternCondition, PatternContent, PatternStep};
    use crate::memory::samples::{days_ago, id, trace};
    use crate::pattern::samples::episode;

    fn heuristic(category: PatternCategory, text: &str, tools: &[&str]) -> PatternPart {
        let tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
        let action = PatternAction { text: text.into(), tools };
        let content = PatternContent::Heuristic { condition: "x".into(), action, rationale: String::new() };
        PatternPart::new(category, content)
    }

    fn steps(category: PatternCategory, titles_and_tools: &[(&str, Option<&str>)]) -> PatternPart {
        let step = |(title, tool): &(&str, Option<&str>)| PatternStep {
            title: (*title).into(),
            tool: tool.map(str::to_owned),
            ..PatternStep::default()
        };
        let steps = titles_and_tools.iter().map(step).collect();
        PatternPart::new(category, PatternContent::Procedure { steps, branching: vec![], termination: vec![] })
    }

    fn did(steps: &[&str]) -> EpisodeFacts {
        EpisodeFacts { steps: steps.iter().map(|step| (*step).to_owned()).collect(), ..episode(1, Some(true)) }
    }

    fn result(part: &PatternPart, episode: &EpisodeFacts) -> Option<ApplicationResult> {
        observed(id(1), part, episode).map(|application| application.result)
    }

    #[test]
    fn a_tool_selection_is_followed_where_all_tools_were_used() {
        let part = heuristic(PatternCategory::ToolSelection, "Use both", &["rg", "Cargo Test"]);
        assert_eq!(result(&part, &did(&["edit", "cargo test", "rg"])), Some(ApplicationResult::Episode));
        assert_eq!(result(&part, &did(&["rg"])), None);
        assert_eq!(result(&heuristic(PatternCategory::ToolSelection, "None", &[]), &did(&["rg"])), None);
    }

    #[test]
    fn tools_that_are_named_without_calls_follow_a_selection_and_no_sequence() {
        let named = EpisodeFacts { tools_without_order: vec!["read".into(), "Edit".into()], ..episode(1, Some(true)) };
        let selection = heuristic(PatternCategory::ToolSelection, "Use both", &["edit", "read"]);
        assert_eq!(result(&selection, &named), Some(ApplicationResult::Episode));
        let sequence = steps(PatternCategory::Sequence, &[("a", Some("read")), ("b", Some("edit"))]);
        assert_eq!((result(&sequence, &named), is_unclear(&sequence, &named)), (None, true));
        assert!(!is_unclear(&sequence, &did(&["edit", "read"])) && !is_unclear(&selection, &named));
    }

    #[test]
    fn a_sequence_is_followed_where_the_first_calls_are_in_its_order() {
        let part = steps(PatternCategory::Sequence, &[("a", Some("read")), ("b", None), ("c", Some("edit"))]);
        assert!(result(&part, &did(&["read", "ls", "edit", "read"])).is_some());
        assert!(result(&part, &did(&["edit", "read", "edit"])).is_none());
        assert!(result(&steps(PatternCategory::Sequence, &[("a", Some("read"))]), &did(&["read"])).is_none());
    }

    #[test]
    fn a_decomposition_is_followed_where_the_plan_is_alike() {
        let part = steps(PatternCategory::Decomposition, &[("Design", None), ("Implement", None), ("Test", None)]);
        let planned = |titles: &[&str]| EpisodeFacts {
            plan: titles.iter().map(|title| (*title).to_owned()).collect(),
            ..episode(1, Some(false))
        };
        assert!(result(&part, &planned(&["1. design", "test!", "IMPLEMENT", "Document"])).is_some(), "3 of 4");
        assert!(result(&part, &planned(&["design", "implement", "ship", "measure"])).is_none(), "2 of 5");
        assert!(result(&part, &planned(&[])).is_none());
    }

    fn recovery() -> PatternPart {
        let mut part = heuristic(PatternCategory::Recovery, "Upgrade pip first", &["pip install"]);
        part.applicability.context_conditions = vec![PatternCondition::is("error_signature", "BuildError")];
        part
    }

    fn failed(failures: &[(&str, Option<usize>, Option<&str>)], steps: &[&str]) -> EpisodeFacts {
        let fact = |(error, at_step, by): &(&str, Option<usize>, Option<&str>)| FailureFact {
            signature: Signature::of(error, None),
            at_steps: at_step.iter().copied().collect(),
            resolved_by: by.map(str::to_owned),
        };
        EpisodeFacts { failures: failures.iter().map(fact).collect(), ..did(steps) }
    }

    #[test]
    fn a_recovery_went_well_where_the_error_does_not_come_back_after_the_action() {
        let of = |failures: &[(&str, Option<usize>, Option<&str>)], steps: &[&str]| {
            result(&recovery(), &failed(failures, steps))
        };
        let calls = ["build", "pip install", "build"];
        assert_eq!(of(&[("BuildError: x", Some(0), None)], &calls), Some(ApplicationResult::Succeeded));
        let again = [("BuildError: x", Some(0), None), ("BuildError: y", Some(2), None)];
        assert_eq!(of(&again, &calls), Some(ApplicationResult::Failed));
        let mut twice = failed(&again[..1], &calls);
        twice.failures[0].at_steps.push(2);
        assert_eq!(result(&recovery(), &twice), Some(ApplicationResult::Failed), "one failure that came twice");
        assert_eq!(of(&[("BuildError: x", Some(2), None)], &calls), None, "the action came before the error");
        assert_eq!(of(&[("KeyError: x", Some(0), None)], &calls), None);
        let told = [("BuildError", None, Some("upgrade  pip first."))];
        assert_eq!(of(&told, &[]), Some(ApplicationResult::Succeeded));
        assert_eq!(of(&[told[0], ("BuildError", None, None)], &[]), Some(ApplicationResult::Failed));
        assert_eq!(of(&[("BuildError", None, Some("gave up"))], &[]), None);
    }

    #[test]
    fn episodes_from_before_a_version_and_known_ones_are_no_new_applications() {
        let mut part = heuristic(PatternCategory::ToolSelection, "Use it", &["rg"]);
        let at =
            |n: u128, days: f64| EpisodeFacts { at: days_ago(days), ..EpisodeFacts { id: trace(n), ..did(&["rg"]) } };
        let episodes = [at(1, 9.0), at(2, 5.0), at(3, 1.0)];
        let found = |part: &PatternPart, known: &[u128]| -> Vec<TraceId> {
            let known = known.iter().map(|n| application_id(id(1), trace(*n))).collect();
            let new = newly_observed(id(1), part, days_ago(7.0), &episodes, &known);
            new.iter().map(|application| application.episode_id).collect()
        };
        assert_eq!(found(&part, &[]), [trace(2), trace(3)]);
        assert_eq!(found(&part, &[3]), [trace(2)]);
        part.lifecycle.version_since = Some(days_ago(3.0));
        assert_eq!(found(&part, &[]), [trace(3)]);
    }

    #[test]
    fn a_failure_pattern_that_was_shown_went_well_where_its_error_did_not_come() {
        let part = PatternPart { category: PatternCategory::Failure, ..recovery() };
        let reported = |episode: &EpisodeFacts| reported(id(1), &part, episode).result;
        assert_eq!(reported(&did(&["build"])), ApplicationResult::Succeeded);
        assert_eq!(reported(&failed(&[("BuildError", None, None)], &[])), ApplicationResult::Failed);
        assert_eq!(result(&part, &did(&["build"])), None, "nobody sees whether it was shown");
    }
}
