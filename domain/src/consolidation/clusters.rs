//! Episodes that tell the same: which they are, and the one that stands for them. Episodes that are less alike, from
//! which a model may learn, are found by the same rule.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};

use super::history::HistoryEntry;
use crate::episode::{EntryBounds, QuantizedVector};
use crate::memory::ids::{MemoryId, TraceId, derived};
use crate::memory::label::label_key;
use crate::memory::normalised;
use crate::memory::trace::{
    ConsolidatedParts, EpisodeParts, FailureAnalysis, Outcome, ResourceUsage, Trace, TraceMetadata, TraceSource,
    Variation, VerdictSource,
};
use crate::pattern::facts::EpisodeFacts;

/// Episodes tell the same from this cosine of their whole vectors on.
pub const SAME_COSINE: f64 = 0.95;
/// They lie within this time of the first of them.
const WITHIN: SignedDuration = SignedDuration::from_hours(30 * 24);
/// The fewest episodes that become one.
pub const INSTANCES_MIN: usize = 3;
/// The most episodes that become one.
const INSTANCES_MAX: usize = 100;
/// The number of texts and labels of the instances that are kept.
const KEPT_MAX: usize = 20;
/// The most bytes of the failures of the instances that are kept.
const FAILURES_MAX_BYTES: usize = 512 << 10;
/// A model may see what successes have in common from this cosine on.
const ALIKE_COSINE: f64 = 0.6;
/// The most successes that are compared to find those that are alike, the newest ones.
const COMPARED_MAX: usize = 2_000;

/// The part of an episode that is compared before its body is read.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterCandidate {
    pub id: TraceId,
    pub domain: Option<String>,
    pub task_type: String,
    pub outcome: Outcome,
    pub at: Timestamp,
}

impl ClusterCandidate {
    /// Reads what is compared.
    pub fn of(trace: &Trace) -> Self {
        let domain = trace.episode.as_deref().and_then(|parts| parts.metadata.domain.as_deref()).map(label_key);
        let (id, task_type, outcome, at) = (trace.trace_id, trace.task_type(), trace.outcome, trace.created_at);
        Self { id, domain, task_type, outcome, at }
    }
}

/// Finds the episodes that tell the same.
pub fn clusters(candidates: &[ClusterCandidate], vectors: &HashMap<TraceId, QuantizedVector>) -> Vec<Vec<TraceId>> {
    clusters_above(SAME_COSINE, candidates, vectors)
}

/// Finds the successes that a model may learn from together, the most of them first.
pub fn clusters_alike(
    candidates: &[ClusterCandidate],
    vectors: &HashMap<TraceId, QuantizedVector>,
) -> Vec<Vec<TraceId>> {
    let mut found = clusters_above(ALIKE_COSINE, candidates, vectors);
    found.sort_by_key(|cluster| (Reverse(cluster.len()), cluster.first().copied()));
    found
}

/// Returns the successes that a model may read. `read` are those that a model has read, as the records of runs name
/// them. A record is kept for 30 days, and older episodes are left out, so none is read twice.
pub fn unread_successes(episodes: &[EpisodeFacts], read: &HashSet<TraceId>, now: Timestamp) -> Vec<ClusterCandidate> {
    let is_recent = |at: Timestamp| at <= now && now.duration_since(at) < HistoryEntry::KEPT;
    let unread = |one: &&EpisodeFacts| one.is_original && is_recent(one.at) && !read.contains(&one.id);
    let mut successes: Vec<ClusterCandidate> = episodes
        .iter()
        .filter(|one| one.succeeded == Some(true))
        .filter(unread)
        .map(|one| ClusterCandidate {
            id: one.id,
            domain: one.domain.clone(),
            task_type: one.task_type.clone(),
            outcome: Outcome::Success,
            at: one.at,
        })
        .collect();
    successes.sort_by_key(|one| (Reverse(one.at), one.id));
    successes.truncate(COMPARED_MAX);
    successes
}

/// Finds clusters of episodes: of one domain, type and outcome, within 30 days, and alike in meaning, with a cosine
/// above the given one. An episode is in one cluster at most. Each cluster is in the order of time, and its first
/// member is the one that all the others are alike to. Episodes without a vector are in none.
fn clusters_above(
    least: f64,
    candidates: &[ClusterCandidate],
    vectors: &HashMap<TraceId, QuantizedVector>,
) -> Vec<Vec<TraceId>> {
    let mut groups: BTreeMap<(Option<&str>, &str, &str), Vec<&ClusterCandidate>> = BTreeMap::new();
    for one in candidates.iter().filter(|one| vectors.contains_key(&one.id)) {
        groups.entry((one.domain.as_deref(), &one.task_type, one.outcome.as_str())).or_default().push(one);
    }
    let mut found = Vec::new();
    for mut group in groups.into_values() {
        group.sort_by_key(|one| (one.at, one.id));
        let mut taken: BTreeSet<TraceId> = BTreeSet::new();
        for (place, first) in group.iter().enumerate() {
            let Some(vector) = vectors.get(&first.id).filter(|_| !taken.contains(&first.id)) else { continue };
            let near = group[place + 1..].iter().take_while(|one| one.at.duration_since(first.at) <= WITHIN);
            let same = near
                .filter(|one| !taken.contains(&one.id))
                .filter(|one| vectors.get(&one.id).is_some_and(|other| vector.cosine(other) > least));
            let members: Vec<TraceId> =
                std::iter::once(first.id).chain(same.map(|one| one.id)).take(INSTANCES_MAX).collect();
            if members.len() >= INSTANCES_MIN {
                taken.extend(&members);
                found.push(members);
            }
        }
    }
    found
}

/// Returns the id of the episode that stands for these. The same episodes give the same id.
pub fn consolidated_id(instances: &[TraceId]) -> TraceId {
    let instances: BTreeSet<TraceId> = instances.iter().copied().collect();
    let ids: Vec<_> = instances.iter().map(|id| id.uuid()).collect();
    let parts: Vec<&[u8]> =
        std::iter::once(&b"consolidated episode"[..]).chain(ids.iter().map(|id| &id.as_bytes()[..])).collect();
    derived(&parts).into()
}

/// Makes the episode that stands for these, which are not empty: it tells what the first one tells, with what all have
/// in common, what each did otherwise, and their means. `success_rate` is that of all episodes of the type. It has the
/// time of the newest one, so that it is as recent as what it stands for, and an erasure by age takes it with that one.
pub fn consolidated(instances: &[Trace], success_rate: Option<f64>) -> Option<Trace> {
    let first = instances.first()?;
    let told = first.episode.as_deref().cloned().unwrap_or_default();
    let tools: Vec<BTreeSet<&str>> = instances.iter().map(tools_of).collect();
    let common: BTreeSet<&str> =
        tools.iter().cloned().reduce(|all, one| all.intersection(&one).copied().collect()).unwrap_or_default();
    let variations = instances.iter().zip(&tools).map(|(instance, tools)| Variation {
        episode_id: instance.trace_id,
        session_id: instance.session().map(str::to_owned),
        further_tools: tools.difference(&common).take(KEPT_MAX).map(|tool| (*tool).to_owned()).collect(),
    });
    let durations: Vec<f64> = instances.iter().filter_map(|one| one.episode.as_ref()?.execution.duration_s).collect();
    let in_all = |ids: fn(&Trace) -> &[MemoryId]| -> Vec<MemoryId> {
        let of_first = ids(first).iter().copied();
        of_first.filter(|id| instances.iter().all(|one| ids(one).contains(id))).take(KEPT_MAX).collect()
    };
    let mut parts = EpisodeParts {
        consolidated: Some(ConsolidatedParts {
            num_instances: instances.len() as u64,
            common_structure: common.iter().take(KEPT_MAX).map(|tool| (*tool).to_owned()).collect(),
            variations: variations.collect(),
            mean_duration_s: mean(&durations),
            common_patterns: in_all(|trace| &trace.memories_used),
            success_rate,
        }),
        ..told
    };
    parts.execution.trace.clear();
    parts.execution.duration_s = mean(&durations);
    parts.execution.resource_usage = ResourceUsage::default();
    let insights = instances.iter().filter_map(|one| one.episode.as_ref()).flat_map(|parts| &parts.reflection.insights);
    let mut seen = BTreeSet::new();
    parts.reflection.insights = insights.filter(|one| seen.insert(one.as_str())).take(KEPT_MAX).cloned().collect();
    parts.reflection.failures_analyzed = failures_of(instances);
    if parts.outcome.primary_output.is_none() {
        parts.outcome.primary_output = instances.iter().find_map(Trace::primary_output).map(str::to_owned);
    }
    let ids: Vec<TraceId> = instances.iter().map(|one| one.trace_id).collect();
    let newest = instances.iter().map(|one| one.created_at).max().unwrap_or(first.created_at);
    let metadata = TraceMetadata { total_tokens: 0, total_iterations: 0, ..first.metadata.clone() };
    Some(Trace {
        task: first.task.clone(),
        outcome: first.outcome,
        verdict_source: VerdictSource::None,
        memories_used: in_all(|trace| &trace.memories_used),
        episode: Some(Box::new(parts)),
        ..Trace::new(consolidated_id(&ids), TraceSource::Consolidated, metadata, newest)
    })
}

/// Returns the failures that the instances tell, those that were resolved first. Each kind of error is there once for
/// each way in which it was resolved; it is there without one only where none is known.
fn failures_of(instances: &[Trace]) -> Vec<FailureAnalysis> {
    let told: Vec<FailureAnalysis> = instances.iter().flat_map(Trace::failures).collect();
    let (resolved, open): (Vec<_>, Vec<_>) = told.into_iter().partition(FailureAnalysis::is_resolved);
    let (mut errors, mut ways, mut room) = (BTreeSet::new(), BTreeSet::new(), FAILURES_MAX_BYTES);
    let mut is_new = |failure: &FailureAnalysis| {
        let signature = failure.read_signature();
        // An error without a name has an empty signature, so its words tell it from others.
        let words = if signature.error().is_empty() { normalised(&failure.error) } else { String::new() };
        let error = (signature, words);
        let is_first = errors.insert(error.clone());
        let way = failure.resolution.as_deref().map(normalised);
        let is_another_way = ways.insert((error, way, failure.resolved_by));
        is_first || failure.is_resolved() && is_another_way
    };
    let mut fits = |failure: &FailureAnalysis| {
        let texts = [Some(&failure.error), failure.cause.as_ref(), failure.resolution.as_ref()];
        let bytes: usize = texts.into_iter().flatten().map(String::len).sum();
        let left = room.checked_sub(bytes);
        room = left.unwrap_or(room);
        left.is_some()
    };
    let kept = resolved.into_iter().chain(open).filter(|failure| is_new(failure)).filter(|failure| fits(failure));
    kept.take(EntryBounds::FAILURES).collect()
}

fn tools_of(trace: &Trace) -> BTreeSet<&str> {
    let Some(parts) = trace.episode.as_deref() else { return BTreeSet::new() };
    let called = parts.execution.trace.iter().filter_map(|entry| entry.tool.as_deref());
    called.chain(parts.metadata.tools_used.iter().map(String::as_str)).collect()
}

fn mean(sample: &[f64]) -> Option<f64> {
    (!sample.is_empty()).then(|| sample.iter().sum::<f64>() / sample.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::episode::{EpisodeFilter, EpisodeState, LifecycleRules};
    use crate::memory::samples::{days_ago, now, strategy, trace as id};
    use crate::memory::trace::TraceEntry;

    fn episode(n: u128, days: f64, tools: &[&str]) -> Trace {
        let mut parts = EpisodeParts::default();
        let call = |tool: &&str| TraceEntry { tool: Some((*tool).to_owned()), ..TraceEntry::default() };
        parts.execution.trace = tools.iter().map(call).collect();
        parts.execution.duration_s = Some(n as f64);
        parts.reflection.insights = vec!["read the log".into()];
        let told = Trace::reported(id(n), strategy(1).workspace_id, "session", None, days_ago(days));
        Trace { task: "Fix the pager".into(), outcome: Outcome::Success, episode: Some(Box::new(parts)), ..told }
    }

    fn candidate(n: u128, days: f64, task_type: &str) -> ClusterCandidate {
        let (task_type, outcome) = (task_type.to_owned(), Outcome::Success);
        ClusterCandidate { id: id(n), domain: None, task_type, outcome, at: days_ago(days) }
    }

    #[test]
    fn episodes_of_one_kind_and_time_that_mean_the_same_are_a_cluster() {
        let vector = |numbers: &[f32]| QuantizedVector::of(numbers).unwrap();
        let (same, other) = (vector(&[1.0, 0.0]), vector(&[0.0, 1.0]));
        let candidates = [
            candidate(1, 60.0, "debugging"),
            candidate(2, 50.0, "debugging"),
            candidate(3, 40.0, "debugging"),
            candidate(4, 45.0, "testing"),
            candidate(5, 44.0, "debugging"),
            candidate(6, 43.0, "debugging"),
            candidate(7, 29.0, "debugging"),
        ];
        let vectors: HashMap<TraceId, QuantizedVector> =
            [(1, &same), (2, &same), (3, &same), (4, &same), (5, &other), (7, &same)]
                .map(|(n, vector)| (id(n), vector.clone()))
                .into();
        // 4 is of another type, 5 means something else, 6 has no vector, and 7 is more than 30 days after the first
        assert_eq!(clusters(&candidates, &vectors), [[id(1), id(2), id(3)]]);
        assert_eq!(clusters(&candidates[1..3], &vectors), Vec::<Vec<TraceId>>::new(), "two are too few");
    }

    #[test]
    fn a_model_may_read_recent_successes_that_none_has_read_and_the_largest_cluster_comes_first() {
        let told = |n: u128, days: f64, succeeded: Option<bool>| EpisodeFacts {
            at: days_ago(days),
            ..crate::pattern::samples::episode(n, succeeded)
        };
        let consolidated = EpisodeFacts { is_original: false, ..told(9, 1.0, Some(true)) };
        let mut episodes: Vec<EpisodeFacts> = (1..=7).map(|n| told(n, n as f64, Some(true))).collect();
        episodes.extend([told(8, 1.0, Some(false)), consolidated, told(10, 1.0, None), told(11, 30.0, Some(true))]);
        episodes.push(told(12, -1.0, Some(true)));
        let successes = unread_successes(&episodes, &HashSet::from([id(7)]), now());
        assert_eq!(successes.iter().map(|one| one.id).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6].map(id));

        let vector = |numbers: &[f32]| QuantizedVector::of(numbers).unwrap();
        let (one, alike, other) = (vector(&[1.0, 0.0]), vector(&[0.8, 0.6]), vector(&[-1.0, 0.3]));
        let vectors: HashMap<TraceId, QuantizedVector> =
            [(1, &one), (2, &alike), (3, &one), (4, &other), (5, &alike), (6, &one)]
                .map(|(n, vector)| (id(n), vector.clone()))
                .into();
        assert_eq!(clusters_alike(&successes, &vectors), [[id(6), id(5), id(3), id(2), id(1)]]);
        assert_eq!(clusters(&successes, &vectors), [[id(6), id(3), id(1)]]);
    }

    #[test]
    fn one_episode_stands_for_several() {
        let instances = [episode(1, 60.0, &["rg", "edit"]), episode(2, 50.0, &["rg", "edit", "cargo test"])];
        let one = consolidated(&instances, Some(0.75)).unwrap();
        let told = one.episode.as_ref().unwrap().consolidated.clone().unwrap();
        assert_eq!((told.num_instances, told.mean_duration_s, told.success_rate), (2, Some(1.5), Some(0.75)));
        assert_eq!(told.common_structure, ["edit", "rg"]);
        assert_eq!(told.variations[1].further_tools, ["cargo test"]);
        assert_eq!(one.episode.as_ref().unwrap().reflection.insights, ["read the log"]);
        assert_eq!(one.trace_id, consolidated_id(&[id(2), id(1)]));
        assert_eq!(one.created_at, instances[1].created_at, "it is as recent as the newest");
    }

    #[test]
    fn one_that_stands_for_others_tells_the_failures_resolutions_and_output_of_all() {
        let failing = |n: u128, error: &str, resolution: Option<&str>| {
            let mut one = episode(n, 60.0, &[]);
            let parts = one.episode.as_mut().unwrap();
            parts.outcome.primary_output = (n == 2).then(|| "The pager turns pages.".to_owned());
            let (error, resolution) = (error.to_owned(), resolution.map(str::to_owned));
            parts.reflection.failures_analyzed =
                vec![FailureAnalysis { error, resolution, ..FailureAnalysis::default() }];
            one
        };
        let instances = [
            failing(1, "KeyError: 'a'", None),
            failing(2, "KeyError: 'b'", Some("use get")),
            failing(3, "KeyError: 'c'", Some("Use  get")),
            failing(4, "KeyError: 'd'", Some("set a default")),
            failing(5, "the gateway gives no answer", None),
            failing(6, "The gateway gives no answer", None),
            failing(7, "the disk is slow", None),
        ];
        let one = consolidated(&instances, None).unwrap();
        let told = one.failures();
        let told: Vec<_> = told.iter().map(|one| (one.error.as_str(), one.resolution.as_deref())).collect();
        let expected = [
            ("KeyError: 'b'", Some("use get")),
            ("KeyError: 'd'", Some("set a default")),
            ("the gateway gives no answer", None),
            ("the disk is slow", None),
        ];
        assert_eq!(told, expected);
        assert_eq!(one.primary_output(), Some("The pager turns pages."));
    }

    #[test]
    fn an_episode_that_stands_for_others_is_found_by_the_session_of_each() {
        let mut instances = [episode(1, 3.0, &[]), episode(2, 2.0, &[]), episode(3, 1.0, &[])];
        for (instance, session) in instances.iter_mut().zip(["monday", "tuesday"]) {
            instance.episode.as_mut().unwrap().session_id = Some(session.into());
        }
        instances[2].metadata.source_session = None;
        let one = consolidated(&instances, None).unwrap();
        let (state, rules) = (EpisodeState::of(&one), LifecycleRules::default());
        let is_found = |session: &str| {
            let all = EpisodeFilter::of(one.metadata.workspace_id.clone(), rules, now());
            EpisodeFilter { session: Some(session.into()), ..all }.holds(&one, &state)
        };
        assert_eq!(["monday", "tuesday", "wednesday"].map(is_found), [true, true, false]);
    }
}
