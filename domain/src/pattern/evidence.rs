//! The evidence for a pattern: its applications, held against comparable episodes without it.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::facts::EpisodeFacts;
use super::observation;
use super::significance::{ContingencyTable, binomial_at_least, fisher_greater, mann_whitney_less};
use crate::memory::ids::TraceId;
use crate::memory::pattern::{ApplicationResult, PatternApplication, PatternPart, PatternStatistics};

/// The number of days for which an application counts.
pub const WINDOW_DAYS: i64 = 90;
/// The fewest applications that are tested.
pub const APPLICATIONS_MIN: u64 = 5;
/// The fewest sessions that they come from.
const SESSIONS_MIN: usize = 2;
/// The fewest comparable episodes that say how often the work succeeds without the pattern.
const COMPARABLE_MIN: u64 = 10;
/// The rate from which on nearly everything succeeds, so that success cannot tell patterns apart.
const SATURATED_RATE: f64 = 0.8;
/// The most by which the rate of a pattern that only makes the work cheaper may lie below that of comparable episodes.
const RATE_MARGIN: f64 = 0.05;
pub const CONFIDENCE_MIN: f64 = 0.7;
pub const SIGNIFICANCE: f64 = 0.05;
/// The level of significance for less effort. It is smaller, because a test of measures uses up all of its level at
/// each look, while those of counts do not: with 0.05, 14 in 100 patterns that do nothing would be validated within 40
/// applications.
const EFFORT_SIGNIFICANCE: f64 = 0.03;
/// The rate of somebody who guesses.
const CHANCE: f64 = 0.5;

/// An application with the episode that it was in, as that stands now. The episode is None where it is gone.
#[derive(Debug, Clone, Copy)]
pub struct Applied<'a> {
    pub application: &'a PatternApplication,
    pub episode: Option<&'a EpisodeFacts>,
}

impl Applied<'_> {
    /// Tells whether the application succeeded. None where it did so in part, or nobody knows.
    pub fn succeeded(&self) -> Option<bool> {
        match self.application.result {
            ApplicationResult::Succeeded => Some(true),
            ApplicationResult::Failed => Some(false),
            ApplicationResult::Episode => match self.episode {
                Some(episode) => episode.succeeded,
                None => self.application.episode_succeeded,
            },
        }
    }
}

/// Returns the moment before which nothing counts.
pub fn window_start(now: Timestamp) -> Timestamp {
    now.checked_sub(SignedDuration::from_hours(24 * WINDOW_DAYS)).unwrap_or(Timestamp::MIN)
}

/// Returns the episodes that applications are compared with: originals of the same workspaces and types of task, in the
/// same time, that did not follow the pattern and whose end is known. Episodes from before the pattern that did what it
/// says are no applications, and are not compared either.
pub fn comparable<'a>(
    part: &PatternPart,
    applied: &[Applied<'_>],
    episodes: &'a [EpisodeFacts],
    now: Timestamp,
) -> Vec<&'a EpisodeFacts> {
    let own: BTreeSet<TraceId> = applied.iter().map(|one| one.application.episode_id).collect();
    let kinds: BTreeSet<(&str, &str)> = applied
        .iter()
        .filter_map(|one| one.episode)
        .map(|episode| (episode.workspace.as_str(), episode.task_type.as_str()))
        .collect();
    let since = window_start(now);
    episodes
        .iter()
        .filter(|episode| episode.is_original && episode.succeeded.is_some() && episode.at >= since)
        .filter(|episode| kinds.contains(&(episode.workspace.as_str(), episode.task_type.as_str())))
        .filter(|episode| !own.contains(&episode.id))
        .filter(|episode| !observation::is_followed(part, episode) && !observation::is_unclear(part, episode))
        .collect()
}

/// The evidence of the applications of a pattern, added up.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PatternEvidence {
    pub applications: u64,
    pub successes: u64,
    pub undecided: u64,
    pub sessions: usize,
    /// The success rate of comparable episodes, where there are enough of them.
    pub base_rate: Option<f64>,
    /// The larger of the p-values against chance and against comparable episodes. 1 without applications.
    pub p_value: f64,
    /// The smallest p-value for less time, fewer tokens or fewer tool calls, corrected for the number of those that are
    /// known.
    pub cheaper_p: Option<f64>,
    pub time_saving: Option<f64>,
    pub token_saving: Option<f64>,
}

/// The reason why applications do not validate a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotValidated {
    #[error("there are fewer than 5 applications in 90 days")]
    TooFew,
    #[error("all applications come from one session")]
    OneSession,
    #[error("as many successes are likely by chance or without the pattern")]
    NotSignificant,
    #[error("the confidence is not above 0.7")]
    LowConfidence,
}

impl PatternEvidence {
    /// Adds up the applications of the last 90 days.
    pub fn of(applied: &[Applied<'_>], comparable: &[&EpisodeFacts], now: Timestamp) -> Self {
        let since = window_start(now);
        let counted: Vec<&Applied<'_>> = applied.iter().filter(|one| one.application.at >= since).collect();
        let successes: Vec<&Applied<'_>> =
            counted.iter().copied().filter(|one| one.succeeded() == Some(true)).collect();
        let failures = counted.iter().filter(|one| one.succeeded() == Some(false)).count() as u64;
        let applications = successes.len() as u64 + failures;
        let decided = counted.iter().filter(|one| one.succeeded().is_some());
        let sessions: BTreeSet<&str> = decided.map(|one| one.application.session.as_str()).collect();

        let others: Vec<&EpisodeFacts> =
            comparable.iter().copied().filter(|episode| episode.succeeded == Some(true)).collect();
        let others_known = comparable.iter().filter(|episode| episode.succeeded.is_some()).count() as u64;
        let has_base = others_known >= COMPARABLE_MIN;
        let base_rate = has_base.then(|| others.len() as f64 / others_known as f64);
        let table = ContingencyTable {
            successes: successes.len() as u64,
            failures,
            other_successes: others.len() as u64,
            other_failures: others_known - others.len() as u64,
        };
        let by_chance = binomial_at_least(table.successes, applications, CHANCE);
        let p_value = if has_base { by_chance.max(fisher_greater(table)) } else { by_chance };

        let own: Vec<&EpisodeFacts> = successes.iter().filter_map(|one| one.episode).collect();
        let (own, others) = (measures(&own), measures(&others));
        let known = (0..3).filter(|place| !own[*place].is_empty() && !others[*place].is_empty());
        let known: Vec<f64> = known.map(|place| mann_whitney_less(&own[place], &others[place])).collect();
        let smallest = known.iter().copied().reduce(f64::min).filter(|_| has_base);
        Self {
            applications,
            successes: successes.len() as u64,
            undecided: counted.len() as u64 - applications,
            sessions: sessions.len(),
            base_rate,
            p_value,
            cheaper_p: smallest.map(|p| (p * known.len() as f64).min(1.0)),
            time_saving: saving(&own[0], &others[0]),
            token_saving: saving(&own[1], &others[1]),
        }
    }

    /// Returns the share of applications that succeeded, in 0..=1. None without applications.
    pub fn rate(&self) -> Option<f64> {
        (self.applications > 0).then(|| self.successes as f64 / self.applications as f64)
    }

    /// Returns how far the pattern may be relied on, in 0..=1: half by its rate, then by the number of applications and
    /// by their significance.
    pub fn confidence(&self) -> f64 {
        let Some(rate) = self.rate() else { return 0.0 };
        let size = 1.0 - (-(self.applications as f64) / 20.0).exp();
        (0.5 * rate + 0.3 * size + 0.2 * (1.0 - self.p_value)).clamp(0.0, 1.0)
    }

    /// Decides whether the applications validate a pattern: they succeed more often than by chance and than comparable
    /// episodes, or as often with less effort where nearly everything succeeds.
    pub fn verdict(&self) -> Result<(), NotValidated> {
        if self.applications < APPLICATIONS_MIN {
            return Err(NotValidated::TooFew);
        }
        if self.sessions < SESSIONS_MIN {
            return Err(NotValidated::OneSession);
        }
        if self.is_cheaper() {
            return Ok(());
        }
        if self.p_value >= SIGNIFICANCE {
            return Err(NotValidated::NotSignificant);
        }
        if self.confidence() > CONFIDENCE_MIN { Ok(()) } else { Err(NotValidated::LowConfidence) }
    }

    fn is_cheaper(&self) -> bool {
        let (Some(base), Some(rate), Some(p)) = (self.base_rate, self.rate(), self.cheaper_p) else { return false };
        base >= SATURATED_RATE && rate >= base - RATE_MARGIN && p < EFFORT_SIGNIFICANCE
    }

    /// Returns the numbers as they are shown. `all` are the applications of any age.
    pub fn statistics(&self, all: &[Applied<'_>]) -> PatternStatistics {
        PatternStatistics {
            num_applications: self.applications,
            successes: self.successes,
            undecided: self.undecided,
            success_rate: self.rate(),
            base_rate: self.base_rate,
            success_rate_improvement: self.rate().zip(self.base_rate).map(|(rate, base)| rate - base),
            avg_time_saving: self.time_saving,
            avg_cost_saving: self.token_saving,
            confidence: self.confidence(),
            p_value: (self.applications > 0).then_some(self.p_value),
            usage_count: all.len() as u64,
            last_used: all.iter().map(|one| one.application.at).max(),
        }
    }
}

/// Returns the durations, tokens and tool calls that are known.
fn measures(episodes: &[&EpisodeFacts]) -> [Vec<f64>; 3] {
    let mut known: [Vec<f64>; 3] = Default::default();
    for episode in episodes {
        for (place, measure) in episode.measures.each().into_iter().enumerate() {
            known[place].extend(measure.filter(|measure| measure.is_finite()));
        }
    }
    known
}

fn saving(own: &[f64], others: &[f64]) -> Option<f64> {
    let mean = |sample: &[f64]| (!sample.is_empty()).then(|| sample.iter().sum::<f64>() / sample.len() as f64);
    mean(others).zip(mean(own)).map(|(others, own)| others - own)
}
