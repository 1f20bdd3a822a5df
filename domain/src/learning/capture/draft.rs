//! Drafts: the memories that rules make of exchanges, before anybody asks what the bank already has of them. A draft
//! that the bank already has adds nothing to it.

use std::collections::HashSet;

use jiff::Timestamp;
use uuid::Uuid;

use super::rule_sentences::is_rule_of_once;
use super::{
    CaptureIds, CaptureOrigin, CaptureRefusal, Novelty, Thresholds, Traits, assess, memory_of, rule_memory_of,
};
use crate::learning::transcript::Exchange;
use crate::memory::Memory;
use crate::memory::ids::MemoryId;

/// The memory that rules made of an exchange, with the ids that follow from the exchange. `ids.memory` is the id of the
/// memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    pub ids: CaptureIds,
    pub memory: Memory,
}

impl Draft {
    /// Makes the draft of an exchange that is worth keeping, and says what makes it so. The exchange has been
    /// [`super::scrubbed`].
    pub fn of(
        exchange: &Exchange,
        origin: &CaptureOrigin,
        thresholds: &Thresholds,
        at: Timestamp,
    ) -> Result<(Traits, Self), CaptureRefusal> {
        let verdict = assess(&exchange.whole_question(), &exchange.answer, thresholds).verdict;
        let is_short = matches!(verdict, Err(CaptureRefusal::AnswerTooShort | CaptureRefusal::QuestionTooShort));
        if is_short && is_rule_of_once(&exchange.question) {
            return Err(CaptureRefusal::OneOff);
        }
        let traits = verdict?;
        let ids = CaptureIds::of(exchange, &origin.workspace_id);
        let memory = memory_of(exchange, ids.memory, origin, at)?;
        Ok((traits, Self { ids, memory }))
    }

    /// Makes the draft of the rule that the question of an exchange states. None where it states none. The exchange has
    /// been [`super::scrubbed`].
    pub fn of_rule(exchange: &Exchange, origin: &CaptureOrigin, at: Timestamp) -> Option<Self> {
        let ids = CaptureIds::of_rule(exchange, &origin.workspace_id);
        let memory = rule_memory_of(exchange, ids.memory, origin, at)?;
        Some(Self { ids, memory })
    }

    /// Returns what a draft whose own memory is not `stored` adds to the bank, and the memory that stands for the
    /// draft. `same` is the memory that says the same. A draft that confirmed a memory before is known in any case,
    /// though that memory may be another one now, or gone. So is one whose session said the same before.
    pub fn compared(&self, same: Option<&Memory>, stored: &HashSet<Uuid>) -> (Novelty, Option<MemoryId>) {
        let is_own_word = same.is_some_and(|same| self.memory.is_own_word_on(same));
        if is_own_word || stored.contains(&self.ids.confirmation.uuid()) {
            return (Novelty::Known, same.map(|same| same.id));
        }
        match same {
            Some(existing) => (Novelty::Confirms, Some(existing.id)),
            None => (Novelty::New, Some(self.ids.memory)),
        }
    }
}

/// Tells which drafts are new, before they are compared with other memories. A draft is new where its own memory is not
/// `stored` and no draft before it is of the same exchange. Otherwise it is known.
pub fn novelties(drafts: &[Draft], stored: &HashSet<Uuid>) -> Vec<Novelty> {
    let mut seen = HashSet::new();
    let is_new = |id: MemoryId| !stored.contains(&id.uuid()) && seen.insert(id);
    let new = drafts.iter().map(|draft| draft.ids.memory).map(is_new);
    new.map(|new| if new { Novelty::New } else { Novelty::Known }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::samples::{id, strategy};
    use crate::memory::workspace::WorkspaceId;
    use crate::memory::{SourceType, Trust};

    fn draft(n: u128) -> Draft {
        let ids = CaptureIds { memory: id(n), confirmation: Uuid::from_u128(1_000 + n).into() };
        Draft { ids, memory: strategy(n) }
    }

    #[test]
    fn a_rule_of_this_once_is_refused_as_one_and_not_for_a_short_answer() {
        let origin = CaptureOrigin { workspace_id: WorkspaceId::of_root("/p"), trust: Trust::Model };
        let refused = |question: &str| {
            let (question, answer) = (question.to_owned(), "OK.".to_owned());
            let exchange = Exchange { question, answer, session: None, asked_first: None, said_next: None, at: None };
            assert_eq!(Draft::of_rule(&exchange, &origin, Timestamp::UNIX_EPOCH), None);
            Draft::of(&exchange, &origin, &Thresholds::default(), Timestamp::UNIX_EPOCH).map(drop)
        };
        for once in [
            "For this task only, never touch the tests.",
            "Until the release is out, never merge into main.",
            "Nur für diese Aufgabe: nie die Tests ändern.",
        ] {
            assert_eq!(refused(once), Err(CaptureRefusal::OneOff), "{once}");
        }
        assert_eq!(refused("Run the tests again."), Err(CaptureRefusal::AnswerTooShort));
    }

    #[test]
    fn a_draft_is_new_or_confirms_what_says_the_same_and_does_so_once() {
        let (draft, none) = (draft(1), HashSet::new());
        assert_eq!(draft.compared(None, &none), (Novelty::New, Some(id(1))));
        let same = strategy(2);
        assert_eq!(draft.compared(Some(&same), &none), (Novelty::Confirms, Some(id(2))));
        let confirmed = HashSet::from([draft.ids.confirmation.uuid()]);
        assert_eq!(draft.compared(Some(&same), &confirmed), (Novelty::Known, Some(id(2))));
        assert_eq!(draft.compared(None, &confirmed), (Novelty::Known, None));
        let source_type = SourceType::PassiveLearning;
        let of_session = |memory: Memory| Memory { source_session: Some("a".into()), source_type, ..memory };
        let again = Draft { memory: of_session(draft.memory.clone()), ..draft };
        assert_eq!(again.compared(Some(&of_session(same)), &none), (Novelty::Known, Some(id(2))), "its own word");
    }

    proptest! {
        #[test]
        fn what_is_stored_or_seen_twice_is_new_once_at_most(
            drafts in prop::collection::vec(0u128..6, 0..12),
            stored in prop::collection::hash_set(0u128..6, 0..4),
        ) {
            let drafts: Vec<Draft> = drafts.into_iter().map(draft).collect();
            let stored: HashSet<Uuid> = stored.into_iter().map(|n| id(n).uuid()).collect();
            let novelties = novelties(&drafts, &stored);
            prop_assert_eq!(novelties.len(), drafts.len());
            for draft in &drafts {
                let of_it = drafts.iter().zip(&novelties).filter(|(other, _)| other.ids == draft.ids);
                let new = of_it.filter(|(_, novelty)| **novelty == Novelty::New);
                prop_assert_eq!(new.count(), usize::from(!stored.contains(&draft.ids.memory.uuid())));
            }
        }
    }
}
