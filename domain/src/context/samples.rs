//! Patterns and episodes that were found, for the tests of this room.

use crate::episode::{
    EpisodeFound, EpisodeScore, EpisodeState, EpisodeStatus, EpisodeSummary, FailureMatch, FailureTier, LifecycleRules,
    NewEpisode,
};
use crate::memory::Memory;
use crate::memory::pattern::{PatternCondition, PatternPart, PatternStage};
use crate::memory::samples::{now, strategy, trace};
use crate::memory::trace::{FailureAnalysis, TraceSource};
use crate::pattern::finding::{Match, SuggestedPattern, pattern_score};
use crate::pattern::samples::tool_pattern;

/// Makes a validated pattern for debugging that says to use `rg`.
pub(crate) fn suggested(n: u128) -> SuggestedPattern {
    let mut part = PatternPart { stage: PatternStage::Validated, ..tool_pattern(&["rg"]) };
    part.applicability.problem_types = vec!["debugging".into()];
    let score = pattern_score(&part, Match { met: 1, open: 0 }, now());
    let memory = Memory { pattern: Some(Box::new(part.clone())), ..strategy(n) };
    SuggestedPattern { memory, part, score, preferred_over: Vec::new() }
}

/// Makes a pattern that is about an error.
pub(crate) fn about_error(mut part: PatternPart, error: &str) -> PatternPart {
    part.applicability.context_conditions.push(PatternCondition::is("error_signature", error));
    part
}

fn summary(n: u128) -> EpisodeSummary {
    let mut told = NewEpisode::new(format!("Fix the pager {n}"), EpisodeStatus::Success);
    told.reflection.insights = vec!["The upper bound is exclusive.".into()];
    told.metadata.tools_used = vec!["cargo test".into()];
    let workspace = strategy(1).workspace_id;
    let episode = told.into_trace(trace(n), TraceSource::Reported, workspace, None, now()).unwrap().trace;
    EpisodeSummary::new(&episode, &EpisodeState::of(&episode), LifecycleRules::default(), now())
}

/// Makes an episode that is similar to a task.
pub(crate) fn similar(n: u128, similarity: f64) -> EpisodeFound {
    let score = EpisodeScore { semantic: 0.5 * similarity, recency: 0.2, success: 0.15, access: 0.0, domain: 0.0 };
    EpisodeFound::by_score(summary(n), score)
}

/// Makes an episode that met the same error.
pub(crate) fn failed(n: u128, resolution: Option<&str>) -> EpisodeFound {
    let failure = FailureAnalysis {
        error: "KeyError: 'user'".into(),
        resolution: resolution.map(str::to_owned),
        ..FailureAnalysis::default()
    };
    EpisodeFound::by_failure(summary(n), FailureMatch { tier: FailureTier::Message, failure: Some(failure) }, 0.3)
}
