//! Overriding a verdict: what becomes of the votes of a solve when something is observed of its result afterwards. How
//! the reporter votes and how votes move confidence is decided elsewhere.
//!
//! A memory that was **used** in the solve has the solve's own vote: a success or a failure, by the judge or by the
//! solve's own check. That vote counts until the first report of evidence that contradicts it, and then never again,
//! once for each trace and memory. Reporters are independent witnesses: the votes of each stand, and where their
//! evidence is divided, the votes add up. So the sum is the same in whatever order reports come.
//!
//! A strategy that was **learned** from the solve as from a success has one vote of the trace against it as long as the
//! latest report says that the solve failed. Each change of the verdict casts that vote or takes it back. The revisions
//! of the trace order these changes in the same way for all processes.

use crate::memory::ids::{MemoryId, SignalId, TraceId};
use crate::memory::signal::{SignalKind, id_of_trace_vote, id_of_verdict, id_within_trace};
use crate::memory::trace::{Outcome, Trace};
use crate::memory::{Memory, MemoryOutcome};

/// The vote of a solve itself about a memory that was used in it, once evidence contradicts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnVote {
    pub memory: MemoryId,
    /// The id of the signal, if the vote was cast.
    pub id: SignalId,
    /// The kind of the signal that takes the vote back.
    pub reversal: SignalKind,
    pub reversal_id: SignalId,
}

impl OwnVote {
    /// Returns the vote of a reported trace itself, where a report changes its outcome to `passed`. `turns` is how
    /// often the outcome changed before.
    pub fn of_reported_trace(passed: bool, trace: TraceId, turns: u32, memory: MemoryId) -> Self {
        let (own, reversal) = own_vote_and_reversal(passed);
        let id = |kind| id_of_trace_vote(trace, turns, memory, kind);
        Self { memory, id: id(own), reversal, reversal_id: id(reversal) }
    }

    pub fn of_solve(passed: bool, trace: TraceId, memory: MemoryId) -> Self {
        let (own, reversal) = own_vote_and_reversal(passed);
        let id = |kind| id_within_trace(trace, memory, kind, None);
        Self { memory, id: id(own), reversal, reversal_id: id(reversal) }
    }
}

/// Returns the vote that an observation contradicts, and the signal that takes it back.
fn own_vote_and_reversal(passed: bool) -> (SignalKind, SignalKind) {
    match passed {
        true => (SignalKind::TaskFailed, SignalKind::FailureOverruled),
        false => (SignalKind::TaskSucceeded, SignalKind::SuccessOverruled),
    }
}

/// Returns the vote about a memory learned from a trace that follows from the trace's new verdict, with the id of its
/// signal.
pub fn vote_on_learned(memory: &Memory, before: &Trace, after: &Trace) -> Option<(SignalKind, SignalId)> {
    if !is_strategy(memory) || memory.trace_id != Some(after.trace_id) {
        return None;
    }
    let kind = match (before.is_refuted(), after.is_refuted()) {
        (false, true) => SignalKind::TaskFailed,
        (true, false) => SignalKind::FailureOverruled,
        (true, true) | (false, false) => return None,
    };
    Some((kind, id_of_verdict(after.trace_id, after.revision, memory.id, kind)))
}

/// Returns a lesson that was learned from a trace as it is with the outcome that the trace has now. A strategy is one
/// of what failed as long as its task counts as failed, so that nobody reads it as something that worked. None where
/// the lesson is not of the trace, or knows its outcome.
pub fn with_outcome_of(trace: &Trace, lesson: &Memory) -> Option<Memory> {
    if lesson.trace_id != Some(trace.trace_id) || lesson.trace_outcome == Some(trace.outcome) {
        return None;
    }
    let outcome = match trace.outcome {
        Outcome::Success if is_strategy(lesson) => MemoryOutcome::Success,
        Outcome::Failure if is_strategy(lesson) => MemoryOutcome::Failure,
        _ => lesson.outcome,
    };
    Some(Memory { trace_outcome: Some(trace.outcome), outcome, ..lesson.clone() })
}

/// Tells whether a lesson was learned as from a success. One without an error has the outcome of a failure only since
/// its task counts as failed.
fn is_strategy(lesson: &Memory) -> bool {
    !lesson.is_warning() && lesson.outcome != MemoryOutcome::Mixed
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::memory::observation::{EvidenceKind, Observed};
    use crate::memory::samples::{self, id, strategy, warning};
    use crate::memory::trace::MattsMode;
    use crate::memory::trace::{TraceMetadata, TraceSource, VerdictSource};

    fn solved(outcome: Outcome, verdict_source: VerdictSource) -> Trace {
        let metadata = TraceMetadata {
            model: "m".into(),
            reasoning_effort: "medium".into(),
            matts_enabled: false,
            matts_k: 1,
            matts_mode: MattsMode::Parallel,
            total_iterations: 1,
            total_tokens: 1,
            workspace_id: strategy(1).workspace_id,
            source_session: None,
        };
        Trace {
            task: "task".into(),
            outcome,
            verdict_source,
            memory_items: vec![id(2)],
            memories_used: vec![id(1)],
            ..Trace::new(samples::trace(7), TraceSource::Solve, metadata, samples::now())
        }
    }

    /// A report of evidence: whose it is, and whether it passed.
    type Report = (u8, bool);

    /// Returns all signals of a trace, by id, after these reports of it.
    fn after(
        outcome: Outcome,
        reports: &[Report],
        learned: &Memory,
    ) -> (Trace, BTreeMap<SignalId, (MemoryId, SignalKind)>) {
        let (mut trace, mut learned) = (solved(outcome, VerdictSource::Judge), learned.clone());
        let used = id(1);
        let own = if outcome == Outcome::Success { SignalKind::TaskSucceeded } else { SignalKind::TaskFailed };
        let mut signals = BTreeMap::from([(id_within_trace(trace.trace_id, used, own, None), (used, own))]);
        for (n, (session, passed)) in reports.iter().enumerate() {
            let said = if *passed { SignalKind::TaskSucceeded } else { SignalKind::TaskFailed };
            let session = session.to_string();
            signals.insert(id_within_trace(trace.trace_id, used, said, Some(&session)), (used, said));
            let vote = OwnVote::of_solve(*passed, trace.trace_id, used);
            if signals.contains_key(&vote.id) {
                signals.insert(vote.reversal_id, (used, vote.reversal));
            }
            let observed = Observed { kind: EvidenceKind::Tests, passed: *passed, detail: Some(n.to_string()) };
            let Some(next) = trace.observed(&observed) else { continue };
            if let Some((kind, signal)) = vote_on_learned(&learned, &trace, &next) {
                assert_eq!(signals.insert(signal, (learned.id, kind)), None, "each change has a vote of its own");
            }
            learned = with_outcome_of(&next, &learned).unwrap_or(learned);
            trace = next;
        }
        (trace, signals)
    }

    fn learned() -> Memory {
        Memory { trace_id: Some(samples::trace(7)), ..strategy(2) }
    }

    fn of(memory: MemoryId, signals: &BTreeMap<SignalId, (MemoryId, SignalKind)>) -> Vec<SignalKind> {
        let mut kinds: Vec<SignalKind> =
            signals.values().filter(|(about, _)| *about == memory).map(|(_, kind)| *kind).collect();
        kinds.sort_by_key(|kind| kind.as_str());
        kinds
    }

    fn sum(kinds: &[SignalKind]) -> f64 {
        kinds.iter().map(|kind| kind.weight()).sum()
    }

    #[test]
    fn evidence_beats_the_judge_in_what_the_trace_says_of_the_memories_it_used_too() {
        use SignalKind::{FailureOverruled, SuccessOverruled, TaskFailed, TaskSucceeded};
        let used = |outcome, reports: &[Report]| of(id(1), &after(outcome, reports, &learned()).1);
        assert_eq!(used(Outcome::Success, &[(1, false)]), [SuccessOverruled, TaskFailed, TaskSucceeded]);
        assert_eq!(used(Outcome::Failure, &[(1, true)]), [FailureOverruled, TaskFailed, TaskSucceeded]);
        assert_eq!(used(Outcome::Success, &[(1, true)]), [TaskSucceeded, TaskSucceeded], "they are two witnesses");
        let said_by_both = used(Outcome::Success, &[(1, false), (2, false), (1, false)]);
        assert_eq!(said_by_both, [SuccessOverruled, TaskFailed, TaskFailed, TaskSucceeded], "overruled once");
    }

    #[test]
    fn only_strategies_learned_as_from_a_success_of_this_trace_are_held_against_it() {
        let (before, failed) = (
            solved(Outcome::Success, VerdictSource::Judge),
            Observed { kind: EvidenceKind::User, passed: false, detail: None },
        );
        let refuted = before.observed(&failed).unwrap();
        let vote = |memory: &Memory| vote_on_learned(memory, &before, &refuted).map(|(kind, _)| kind);
        assert_eq!(vote(&learned()), Some(SignalKind::TaskFailed));
        assert_eq!(vote(&strategy(2)), None, "it confirmed a memory that was there");
        assert_eq!(vote(&Memory { trace_id: learned().trace_id, ..warning(3) }), None);
        assert_eq!(vote(&Memory { outcome: MemoryOutcome::Mixed, ..learned() }), None);
        let own_check = solved(Outcome::Failure, VerdictSource::Evidence);
        assert!(!own_check.is_refuted() && refuted.is_refuted());
    }

    #[test]
    fn a_strategy_is_of_a_failure_as_long_as_its_task_counts_as_failed() {
        let [succeeded, failed, partial] =
            [Outcome::Success, Outcome::Failure, Outcome::Partial].map(|outcome| solved(outcome, VerdictSource::Judge));
        let strategy = Memory { trace_outcome: Some(Outcome::Success), ..learned() };
        assert_eq!(with_outcome_of(&succeeded, &strategy), None);
        assert_eq!(with_outcome_of(&failed, &Memory { trace_id: None, ..strategy.clone() }), None);
        let refuted = with_outcome_of(&failed, &strategy).unwrap();
        assert!(refuted.is_of_failure() && !strategy.is_of_failure());
        assert_eq!(refuted.trace_outcome, Some(Outcome::Failure));
        let kept = with_outcome_of(&partial, &refuted).unwrap();
        assert_eq!((kept.outcome, kept.trace_outcome), (MemoryOutcome::Failure, Some(Outcome::Partial)));
        assert_eq!(with_outcome_of(&succeeded, &refuted), Some(strategy.clone()), "the way back");
        for other in [MemoryOutcome::Mixed, MemoryOutcome::Failure] {
            let error_context = (other == MemoryOutcome::Failure).then(|| warning(3).error_context).flatten();
            let lesson = Memory { outcome: other, error_context, ..strategy.clone() };
            assert_eq!(with_outcome_of(&failed, &lesson).unwrap().outcome, other);
        }
    }

    proptest! {
        #[test]
        fn of_a_memory_that_was_used_the_same_counts_in_whatever_order_reports_come(
            (reports, shuffled) in prop::collection::vec((0u8..3, any::<bool>()), 0..6)
                .prop_flat_map(|reports| (Just(reports.clone()), Just(reports).prop_shuffle())),
            was_success: bool,
        ) {
            let outcome = if was_success { Outcome::Success } else { Outcome::Failure };
            let (used, other) = (after(outcome, &reports, &learned()).1, after(outcome, &shuffled, &learned()).1);
            let of_used = |signals: &BTreeMap<_, (MemoryId, SignalKind)>| -> BTreeMap<SignalId, _> {
                signals.iter().filter(|(_, (about, _))| *about == id(1)).map(|(id, said)| (*id, *said)).collect()
            };
            prop_assert_eq!(of_used(&used), of_used(&other));
            let twice: Vec<Report> = reports.iter().chain(&reports).copied().collect();
            prop_assert_eq!(of_used(&after(outcome, &twice, &learned()).1), of_used(&used), "said again");

            let distinct: std::collections::BTreeSet<Report> = reports.iter().copied().collect();
            let vote = |passed: bool| if passed { SignalKind::TaskSucceeded } else { SignalKind::TaskFailed }.weight();
            let reported: f64 = distinct.iter().map(|(_, passed)| vote(*passed)).sum();
            let contradicted = distinct.iter().any(|(_, passed)| *passed != was_success);
            let own = if contradicted { 0.0 } else { vote(was_success) };
            prop_assert!((sum(&of(id(1), &used)) - reported - own).abs() < 1e-9);
        }

        #[test]
        fn against_a_strategy_that_was_learned_stands_what_was_observed_last(
            reports in prop::collection::vec((0u8..3, any::<bool>()), 0..6), was_success: bool,
        ) {
            let outcome = if was_success { Outcome::Success } else { Outcome::Failure };
            let (trace, signals) = after(outcome, &reports, &learned());
            let refuted = reports.last().is_some_and(|(_, passed)| !passed);
            let expected = if refuted { SignalKind::TaskFailed.weight() } else { 0.0 };
            prop_assert!((sum(&of(learned().id, &signals)) - expected).abs() < 1e-9);
            prop_assert_eq!(trace.is_refuted(), refuted);
        }
    }
}
