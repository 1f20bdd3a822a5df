//! Confirmations: a lesson that says the same as a stored memory is evidence for that memory, once for each source. What
//! is learned of a session by itself is no evidence for what the session said before, because nobody said it again.

use super::Memory;
use super::kinds::SourceType;
use super::signal::{Signal, SignalKind, id_within_trace};
use crate::memory::ids::{MemoryId, SignalId, derived};

impl Memory {
    /// Tells whether this lesson was learned, by nobody's intention, of the session that `existing` comes from. It is no
    /// further evidence then. What somebody records on purpose is, also where they said it first.
    pub fn is_own_word_on(&self, existing: &Self) -> bool {
        let is_learned = matches!(self.source_type, SourceType::PassiveLearning | SourceType::Distilled);
        let is_of_session = self.source_session.is_some() && self.source_session == existing.source_session;
        is_learned && is_of_session && !self.is_copy()
    }

    /// Returns the signal by which this lesson confirms `existing`, a stored memory that says the same. None where it
    /// is the [own word](Self::is_own_word_on) of the session that said so first. The id of the signal is `fresh` for a
    /// lesson without a trace that no session recorded on purpose.
    pub fn confirmation(&self, existing: &Self, fresh: SignalId) -> Option<Signal> {
        if self.is_own_word_on(existing) {
            return None;
        }
        let (id, workspace) = (self.confirmation_id(existing.id, fresh), self.workspace_id.clone());
        let confirmed = Signal::new(id, existing.id, workspace, SignalKind::Confirmed, self.created_at);
        Some(Signal { trace_id: self.trace_id, ..confirmed })
    }

    /// Returns the id of the signal by which this lesson confirms `existing`. It is the same for all that a session
    /// records on purpose and that says the same, also in several reports, so that a session confirms a memory once.
    /// It is the same for all lessons of one trace, too. Otherwise it is `fresh`.
    fn confirmation_id(&self, existing: MemoryId, fresh: SignalId) -> SignalId {
        let is_recorded = self.source_type == SourceType::Explicit && self.source_session.is_some() && !self.is_copy();
        match self.trace_id {
            _ if is_recorded => self.confirmation_id_of(self.source_session.as_deref(), Some(existing)),
            Some(trace) => id_within_trace(trace, existing, SignalKind::Confirmed, self.source_session.as_deref()),
            None => fresh,
        }
    }

    /// Returns an id for the confirmation by this lesson that is the same whenever this source says it again, or
    /// whenever it is said again by hand, where there is no source. It is of the memory that the lesson confirms, or of
    /// what the lesson says where that memory is not known yet.
    pub fn confirmation_id_of(&self, source: Option<&str>, existing: Option<MemoryId>) -> SignalId {
        let of = existing.map_or_else(|| self.duplicate_key(), |id| id.to_string());
        match source {
            Some(source) => derived(&[b"confirmed in a session", source.as_bytes(), of.as_bytes()]).into(),
            None => derived(&[b"confirmed by hand", of.as_bytes()]).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::memory::Scope;
    use crate::memory::samples::{id, strategy, trace};

    fn of(n: u128, session: Option<&str>) -> Memory {
        Memory { source_session: session.map(str::to_owned), ..strategy(n) }
    }

    fn confirms(lesson: &Memory, existing: &Memory) -> bool {
        let signal = lesson.confirmation(existing, Uuid::from_u128(9).into());
        assert!(signal.as_ref().is_none_or(|signal| signal.memory_id == existing.id));
        signal.is_some()
    }

    fn signal_of(lesson: &Memory, existing: &Memory, fresh: u128) -> SignalId {
        lesson.confirmation(existing, Uuid::from_u128(fresh).into()).unwrap().id
    }

    #[test]
    fn what_is_recorded_on_purpose_confirms_once_a_session_also_for_who_said_it_first() {
        let first = of(1, Some("a"));
        let own = signal_of(&of(2, Some("a")), &first, 9);
        assert_eq!(signal_of(&of(3, Some("a")), &first, 10), own, "by repeating it is not confirmed more");
        let reported = Memory { trace_id: Some(trace(7)), ..of(4, Some("a")) };
        assert_eq!(signal_of(&reported, &first, 11), own, "nor by a report");
        assert_ne!(signal_of(&of(2, Some("b")), &first, 9), own, "another session is another witness");
        let by_hand = |n| of(n, None).confirmation_id_of(None, Some(first.id));
        assert_eq!(by_hand(2), by_hand(3));
    }

    #[test]
    fn what_is_learned_of_a_session_by_itself_is_no_evidence_for_what_it_said() {
        let first = of(1, Some("a"));
        for source_type in [SourceType::PassiveLearning, SourceType::Distilled] {
            assert!(!confirms(&Memory { source_type, ..of(2, Some("a")) }, &first), "{source_type:?}");
            assert!(confirms(&Memory { source_type, ..of(2, Some("b")) }, &first), "{source_type:?}");
            assert!(confirms(&Memory { source_type, ..of(2, None) }, &of(1, None)), "{source_type:?}");
        }
    }

    #[test]
    fn a_solve_and_a_promotion_are_sources_of_their_own() {
        let first = of(1, Some("a"));
        let solved = Memory { source_type: SourceType::Solve, trace_id: Some(trace(7)), ..of(2, Some("a")) };
        assert!(confirms(&solved, &first));
        let promoted =
            Memory { scope: Scope::Team, parent_memory_id: Some(id(3)), derived_from: vec![id(3)], ..of(2, Some("a")) };
        assert!(confirms(&promoted, &first));
    }
}
