//! The score of an episode for a task: how like it is, how recent, whether it succeeded, how often it was looked at,
//! and whether it is of the same domain. Each part is shown. How likely a memory is about a task is
//! `retrieval::relevance`.

use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::filter::EpisodeFilter;
use super::labels::EpisodeLabels;
use super::lifecycle::{EpisodePhase, EpisodeState, EpisodeTimes};
use crate::evidence::fading::{days_between, recency, usage_part};
use crate::memory::ids::TraceId;
use crate::memory::label::label_key;
use crate::memory::trace::{Outcome, Trace};

const SEMANTIC: f64 = 0.5;
const RECENCY: f64 = 0.2;
const SUCCESS: f64 = 0.15;
const ACCESS: f64 = 0.1;
const DOMAIN: f64 = 0.05;
/// The age at which the part of recency has fallen to 1/e, in days.
const RECENCY_DAYS: f64 = 30.0;
/// The age of an episode that is recent, in days.
pub const RECENT_DAYS: i64 = 30;
/// An aged episode is found from this similarity on.
const AGED_SIMILARITY: f64 = 0.6;

/// The parts of a score. Each is weighted already, so that their sum is the score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "")]
pub struct EpisodeScore {
    /// 0.5 times the similarity, in 0..=0.5.
    pub semantic: f64,
    /// 0.2 on the first day, less with age.
    pub recency: f64,
    /// 0.15 for a success.
    pub success: f64,
    /// Up to 0.1 for an episode that is looked at often.
    pub access: f64,
    /// 0.05 for the same domain.
    pub domain: f64,
}

impl EpisodeScore {
    /// Returns the whole score, in 0..=1.
    pub fn total(&self) -> f64 {
        self.semantic + self.recency + self.success + self.access + self.domain
    }

    /// Returns the similarity of the episode to what was asked, in 0..=1.
    pub fn similarity(&self) -> f64 {
        self.semantic / SEMANTIC
    }
}

/// The parts of an episode's score, beside its similarity.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreInputs {
    pub id: TraceId,
    pub times: EpisodeTimes,
    pub succeeded: bool,
    /// The key of its domain.
    pub domain: Option<Arc<str>>,
    pub access_count: u64,
}

impl ScoreInputs {
    pub fn of(trace: &Trace, state: &EpisodeState) -> Self {
        Self {
            id: trace.trace_id,
            times: state.times(),
            succeeded: trace.outcome == Outcome::Success,
            domain: EpisodeLabels::of(trace).domain.map(Into::into),
            access_count: state.access_count,
        }
    }

    /// Weighs the episode. `similarity` lies in -1..=1; what is below 0 counts as 0.
    pub fn score(&self, similarity: f64, domain: Option<&str>, now: Timestamp) -> EpisodeScore {
        let is_of_domain = domain.is_some_and(|domain| self.domain.as_deref() == Some(label_key(domain).as_str()));
        EpisodeScore {
            semantic: SEMANTIC * similarity.clamp(0.0, 1.0),
            recency: RECENCY * recency(days_between(self.times.created_at, now), RECENCY_DAYS),
            success: if self.succeeded { SUCCESS } else { 0.0 },
            access: ACCESS * usage_part(self.access_count),
            domain: if is_of_domain { DOMAIN } else { 0.0 },
        }
    }
}

/// An episode with what it scored.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredEpisode {
    pub inputs: ScoreInputs,
    pub similarity: f64,
    pub score: EpisodeScore,
}

impl ScoredEpisode {
    pub fn new(inputs: ScoreInputs, similarity: f64, domain: Option<&str>, now: Timestamp) -> Self {
        let score = inputs.score(similarity, domain, now);
        Self { inputs, similarity, score }
    }

    /// Tells whether the episode is found: an aged one is only where it is very like what is asked.
    pub fn is_found(&self, filter: &EpisodeFilter, min_relevance: f64) -> bool {
        let is_aged = self.inputs.times.phase(filter.rules, filter.now) == EpisodePhase::Aged;
        (!is_aged || self.similarity >= AGED_SIMILARITY) && self.score.total() >= min_relevance
    }

    /// Sorts the best to the front; of equals the newest is first, then the one with the lowest id.
    pub fn rank(episodes: &mut [Self]) {
        episodes.sort_by(|a, b| {
            let score = b.score.total().total_cmp(&a.score.total());
            let newest = b.inputs.times.created_at.cmp(&a.inputs.times.created_at);
            score.then(newest).then(a.inputs.id.cmp(&b.inputs.id))
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::samples::{days_ago, now, strategy, trace};
    use crate::memory::trace::{EpisodeMetadata, EpisodeParts};

    fn episode(days: f64, outcome: Outcome, accesses: u64) -> ScoreInputs {
        let parts = EpisodeParts {
            metadata: EpisodeMetadata { domain: Some("Rust".into()), ..EpisodeMetadata::default() },
            ..EpisodeParts::default()
        };
        let trace = Trace {
            outcome,
            episode: Some(Box::new(parts)),
            ..Trace::reported(trace(1), strategy(1).workspace_id, "s", None, days_ago(days))
        };
        let state = EpisodeState { access_count: accesses, ..EpisodeState::of(&trace) };
        ScoreInputs::of(&trace, &state)
    }

    #[test]
    fn each_part_of_a_score_has_its_weight() {
        let parts = episode(30.0, Outcome::Success, 0).score(0.8, Some("rust"), now());
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(near(parts.semantic, 0.4) && near(parts.recency, 0.2 / std::f64::consts::E), "{parts:?}");
        assert_eq!((parts.success, parts.access, parts.domain), (0.15, 0.0, 0.05));
        let parts = episode(0.0, Outcome::Failure, 1_000_000).score(-0.5, Some("go"), now());
        assert_eq!((parts.semantic, parts.recency, parts.success, parts.domain), (0.0, 0.2, 0.0, 0.0));
        assert!(near(parts.access, 0.1), "{parts:?}");
    }

    #[test]
    fn an_aged_episode_needs_to_be_very_like_what_is_asked() {
        let filter = EpisodeFilter::of_all(super::super::LifecycleRules::default(), now());
        for (days, similarity, found) in [(10.0, 0.1, true), (200.0, 0.59, false), (200.0, 0.6, true)] {
            let scored = ScoredEpisode::new(episode(days, Outcome::Success, 0), similarity, None, now());
            assert_eq!(scored.is_found(&filter, 0.0), found, "{days} {similarity}");
        }
    }

    proptest! {
        #[test]
        fn a_score_lies_in_its_range_and_grows_with_each_part(
            days in 0.0..2_000.0_f64,
            similarity in -1.0..1.0_f64,
            accesses in 0..u64::MAX,
        ) {
            let inputs = episode(days, Outcome::Success, accesses);
            let of = |similarity| inputs.score(similarity, Some("rust"), now()).total();
            prop_assert!((0.0..=1.0 + 1e-9).contains(&of(similarity)));
            prop_assert!(of(similarity) <= of(1.0) && of(similarity) >= of(-1.0));
            let newer = episode(days / 2.0, Outcome::Success, accesses);
            prop_assert!(newer.score(similarity, Some("rust"), now()).total() >= of(similarity));
        }
    }
}
