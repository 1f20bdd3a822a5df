//! Confirmations: a lesson that says the same as a stored memory is evidence for that memory, unless both come from one
//! source.

use super::Memory;
use super::kinds::SourceType;
use super::signal::{Signal, SignalKind, id_within_trace};
use crate::memory::ids::{MemoryId, SignalId, derived};

impl Memory {
    /// Tells whether this lesson is the word of the session that `existing` comes from, which is no further evidence
    /// for it. A solve is a source of its own, whichever session asked for it, and so is whoever promotes a memory.
    pub fn is_own_word_on(&self, existing: &Self) -> bool {
        let is_own_source = self.source_type == SourceType::Solve || self.is_copy();
        self.source_session.is_some() && self.source_session == existing.source_session && !is_own_source
    }

    /// Returns the signal by which this lesson confirms `existing`, a stored memory that says the same. None where it
    /// is the [own word](Self::is_own_word_on) of the session that said so first. The id of the signal is `fresh` for a
    /// lesson without a trace.
    pub fn confirmation(&self, existing: &Self, fresh: SignalId) -> Option<Signal> {
        if self.is_own_word_on(existing) {
            return None;
        }
        let (id, workspace) = (self.confirmation_id(existing.id, fresh), self.workspace_id.clone());
        let confirmed = Signal::new(id, existing.id, workspace, SignalKind::Confirmed, self.created_at);
        Some(Signal { trace_id: self.trace_id, ..confirmed })
    }

    /// Returns the id of the signal by which this lesson confirms `existing`. It is the same for all lessons of one
    /// trace that say the same, so that a solve, or a session that reports on it, confirms a memory once. It is `fresh`
    /// without a trace.
    fn confirmation_id(&self, existing: MemoryId, fresh: SignalId) -> SignalId {
        self.trace_id.map_or(fresh, |trace| {
            id_within_trace(trace, existing, SignalKind::Confirmed, self.source_session.as_deref())
        })
    }

    /// Returns an id for the confirmation by this lesson that is the same whenever its session says it again: of the
    /// memory that it confirms, or of what it says where that memory is not known yet. None where the lesson has no
    /// session.
    pub fn session_confirmation_id(&self, existing: Option<MemoryId>) -> Option<SignalId> {
        let of = existing.map_or_else(|| self.duplicate_key(), |id| id.to_string());
        let session = self.source_session.as_deref()?;
        Some(derived(&[b"confirmed in a session", session.as_bytes(), of.as_bytes()]).into())
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

    #[test]
    fn a_session_is_no_further_evidence_for_what_it_said_itself() {
        let first = of(1, Some("a"));
        assert!(!confirms(&of(2, Some("a")), &first));
        assert!(!confirms(&Memory { trace_id: Some(trace(7)), ..of(2, Some("a")) }, &first), "nor by another report");
        assert!(confirms(&of(2, Some("b")), &first));
        assert!(confirms(&of(2, None), &of(1, None)), "what is said by hand counts each time");
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
