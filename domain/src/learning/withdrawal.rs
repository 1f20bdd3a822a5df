//! Withdrawals: a lesson whose answer was taken back after the lesson was learned. It leaves search as a superseded
//! memory does, and comes back as one does.

use crate::evidence::confidence::Evidence;
use crate::evidence::promotion::positive;
use crate::learning::capture::{CaptureIds, scrubbed};
use crate::learning::correction::TakenBackExchange;
use crate::memory::ids::MemoryId;
use crate::memory::signal::SignalKind;
use crate::memory::workspace::WorkspaceId;
use crate::memory::{Memory, Scope, SourceType, Status};

/// A lesson whose answer was taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Withdrawal {
    pub lesson: MemoryId,
    /// The memory that puts it right, where there is one.
    pub put_right_by: Option<MemoryId>,
}

impl Withdrawal {
    /// Returns the withdrawals of what was learned from an exchange of this workspace, if it was: of its answer, and of
    /// its rule where that is taken back. `standing` are the memories that stand for the exchanges of the file that were
    /// not taken back.
    pub fn of(wrong: &TakenBackExchange, standing: &[Option<MemoryId>], workspace: &WorkspaceId) -> Vec<Self> {
        let (exchange, _) = scrubbed(wrong.exchange.clone());
        let put_right_by = wrong.put_right_by.and_then(|place| *standing.get(place)?);
        let rule = wrong.takes_back_rule.then(|| CaptureIds::of_rule(&exchange, workspace));
        let ids = std::iter::once(CaptureIds::of(&exchange, workspace)).chain(rule);
        ids.map(|ids| Self { lesson: ids.memory, put_right_by }).collect()
    }
}

/// Tells whether a stored memory is the lesson that the same session taught before.
pub fn is_of_same_session(stored: &Memory, lesson: &Memory) -> bool {
    let said = |memory: &Memory| (memory.title.clone(), memory.content.clone());
    stored.source_type == lesson.source_type
        && stored.source_session.is_some()
        && stored.source_session == lesson.source_session
        && stored.workspace_id == lesson.workspace_id
        && said(stored) == said(lesson)
}

/// Tells whether a lesson leaves search because its answer was taken back. It does not where it is out of search
/// already, was recorded by somebody, helped anybody, is pinned, or was brought back before.
pub fn is_to_be_withdrawn(memory: &Memory, evidence: &Evidence) -> bool {
    let is_learned = matches!(memory.source_type, SourceType::PassiveLearning | SourceType::Distilled)
        && memory.scope == Scope::Project;
    let is_vouched_for = memory.pinned || positive(evidence) > 0 || evidence.count(SignalKind::Reinstated) > 0;
    memory.status == Status::Active && is_learned && !is_vouched_for
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learning::capture::CaptureRefusal;
    use crate::learning::transcript::Exchange;
    use crate::memory::samples::{now, strategy, warning};

    #[test]
    fn the_rule_of_an_exchange_is_withdrawn_where_it_was_taken_back_and_not_only_the_answer() {
        let exchange = Exchange {
            question: "Always use yarn for installs.".into(),
            answer: "OK.".into(),
            session: Some("s".into()),
            asked_first: None,
            said_next: None,
            at: None,
        };
        let workspace = WorkspaceId::of_root("/p");
        let rule = CaptureIds::of_rule(&exchange, &workspace).memory;
        let (refusal, put_right_by) = (CaptureRefusal::TakenBack, Some(0));
        for takes_back_rule in [true, false] {
            let wrong = TakenBackExchange { exchange: exchange.clone(), put_right_by, refusal, takes_back_rule };
            let withdrawn = Withdrawal::of(&wrong, &[Some(rule)], &workspace);
            assert_eq!(withdrawn.iter().any(|of| of.lesson == rule), takes_back_rule);
            assert!(withdrawn.iter().all(|of| of.put_right_by == Some(rule)));
        }
    }

    #[test]
    fn what_was_learned_from_a_conversation_is_withdrawn_unless_somebody_vouches_for_it() {
        let none = Evidence::default();
        let learned = Memory { source_type: SourceType::PassiveLearning, ..strategy(1) };
        assert!(is_to_be_withdrawn(&learned, &none));
        assert!(is_to_be_withdrawn(&Memory { source_type: SourceType::Distilled, ..strategy(1) }, &none));
        let of_an_error = Memory { source_type: SourceType::PassiveLearning, ..warning(1) };
        assert!(is_to_be_withdrawn(&of_an_error, &none), "an answer about an error may be wrong as well");
        for other in [
            strategy(1),
            Memory { pinned: true, ..learned.clone() },
            Memory { status: Status::Archived, ..learned.clone() },
        ] {
            assert!(!is_to_be_withdrawn(&other, &none), "{other:?}");
        }
        for (kind, withdrawn) in [
            (SignalKind::Helpful, false),
            (SignalKind::Reinstated, false),
            (SignalKind::Shown, true),
            (SignalKind::Confirmed, true),
        ] {
            let mut evidence = Evidence::default();
            evidence.add(kind, now());
            assert_eq!(is_to_be_withdrawn(&learned, &evidence), withdrawn, "{kind:?}");
        }
    }
}
