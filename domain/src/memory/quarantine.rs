//! Quarantine: it takes a memory out of every search and puts it back. A memory is taken out for its own sake or for
//! that of one it came from. `genealogy` decides who came from whom.

use super::{Memory, Status};
use crate::memory::ids::MemoryId;

/// A change to a memory and to all that came from it. Each memory remembers the memories for whose sake it is out of
/// search. Undoing the change for one of them is therefore its exact reverse: a memory that is out of search for
/// another one too stays there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Quarantine {
    /// The memory goes out of search for the sake of this one.
    For(MemoryId),
    /// The memory is no longer out of search for the sake of these. It comes back where no others are left.
    Undone(Vec<MemoryId>),
}

impl Quarantine {
    /// Makes the change that undoes the quarantine of `root`, whatever keeps it out of search. A memory that came from
    /// it comes back where nothing else keeps it out of search.
    pub fn undone(root: &Memory) -> Self {
        let mut sakes = sakes(root);
        if !sakes.contains(&root.id) {
            sakes.push(root.id);
        }
        Self::Undone(sakes)
    }

    /// Returns the memory after the change. None where nothing changes. An archived or superseded memory stays so.
    pub fn apply(&self, memory: &Memory) -> Option<Memory> {
        if !matches!(memory.status, Status::Active | Status::Quarantined) {
            return None;
        }
        let before = sakes(memory);
        let mut after = before.clone();
        match self {
            Self::For(root) if !before.contains(root) => after.push(*root),
            Self::For(_) => {}
            Self::Undone(sakes) => after.retain(|sake| !sakes.contains(sake)),
        }
        let status = if after.is_empty() { Status::Active } else { Status::Quarantined };
        (after != before).then(|| Memory { status, quarantined_for: after, ..memory.clone() })
    }
}

/// Returns the memories for whose sake a memory is out of search. A quarantined memory that names none is out for its
/// own sake.
fn sakes(memory: &Memory) -> Vec<MemoryId> {
    match memory.status {
        Status::Quarantined if memory.quarantined_for.is_empty() => vec![memory.id],
        Status::Quarantined => memory.quarantined_for.clone(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::samples::{id, strategy};

    fn in_turn(memory: &Memory, changes: &[Quarantine]) -> Memory {
        let apply = |memory: Memory, change: &Quarantine| change.apply(&memory).unwrap_or(memory);
        changes.iter().fold(memory.clone(), apply)
    }

    #[test]
    fn who_was_out_of_search_for_itself_or_for_another_one_stays_there() {
        let by_hand = Memory { status: Status::Quarantined, ..strategy(1) };
        let with_nine = in_turn(&by_hand, &[Quarantine::For(id(9))]);
        assert_eq!(with_nine.quarantined_for, [id(1), id(9)]);
        let left = in_turn(&with_nine, &[Quarantine::Undone(vec![id(9)])]);
        assert_eq!((left.status, left.quarantined_for), (Status::Quarantined, vec![id(1)]));
        let for_two = in_turn(&strategy(1), &[Quarantine::For(id(8)), Quarantine::For(id(9))]);
        assert_eq!(in_turn(&for_two, &[Quarantine::Undone(vec![id(8)])]).status, Status::Quarantined);
        assert_eq!(Quarantine::undone(&for_two), Quarantine::Undone(vec![id(8), id(9), id(1)]));
        assert_eq!(in_turn(&for_two, &[Quarantine::undone(&for_two)]), strategy(1), "who is named comes back");
        assert_eq!(in_turn(&by_hand, &[Quarantine::undone(&by_hand)]), strategy(1));
    }

    #[test]
    fn what_is_out_of_search_for_other_reasons_is_left_alone() {
        for status in [Status::Archived, Status::Superseded] {
            let memory = Memory { status, ..strategy(1) };
            assert_eq!(Quarantine::For(id(9)).apply(&memory), None);
            assert_eq!(Quarantine::undone(&memory).apply(&memory), None);
        }
        assert_eq!(Quarantine::undone(&strategy(1)).apply(&strategy(1)), None);
    }

    proptest! {
        #[test]
        fn to_undo_it_is_its_exact_reverse_in_whatever_order(
            others in prop::collection::vec(1u128..9, 0..5),
            at in 0usize..6,
        ) {
            let mut changes: Vec<Quarantine> = others.iter().map(|n| Quarantine::For(id(*n))).collect();
            let without = in_turn(&strategy(1), &changes);
            changes.insert(at.min(others.len()), Quarantine::For(id(9)));
            changes.push(Quarantine::Undone(vec![id(9)]));
            prop_assert_eq!(in_turn(&strategy(1), &changes), without);
        }
    }
}
