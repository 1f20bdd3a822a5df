//! Succession: which newer memory took the place of an older one. Where somebody said so, the older one is superseded
//! and out of every search. Where rules found it, there is a link until a person or reports decide. Which statement
//! updates which is decided in `supersession`.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Memory, Status};
use crate::memory::ids::MemoryId;

/// The most memories that one may replace, and the most pairs that a memory remembers as undone.
pub const REPLACED_MAX: usize = 50;

/// What a memory replaced, and what replaced it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Succession {
    /// The newer memory that says something else of the same thing. The memory is superseded by it where its status
    /// says so; otherwise this is a link, which holds as long as the newer one names this memory, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outdated_by: Option<Successor>,
    /// The older memories that it replaces, or is found to update.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<MemoryId>,
    /// The memories that do not outdate it, as a person or a report said. No rule links them again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stands_beside: Vec<MemoryId>,
}

/// The newer memory of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Successor {
    pub id: MemoryId,
    /// The confidence of the rule that found it, in 0..=1. Absent where somebody said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
}

impl Succession {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Memory {
    /// Returns the time when the memory's words were said, which may be long before they were stored.
    pub fn said_at(&self) -> Timestamp {
        self.valid_from.unwrap_or(self.created_at)
    }

    /// Returns the memory that supersedes this one.
    pub fn superseded_by(&self) -> Option<MemoryId> {
        self.newer().filter(|_| self.status == Status::Superseded)
    }

    /// Returns the newer memory that this one has an open link to.
    pub fn linked_to(&self) -> Option<Successor> {
        self.succession.outdated_by.filter(|_| self.status == Status::Active)
    }

    /// Tells whether the link to this newer memory holds: both are active, and each names the other.
    pub fn is_updated_by(&self, newer: &Self) -> bool {
        self.linked_to().is_some_and(|link| link.id == newer.id)
            && newer.status == Status::Active
            && newer.succession.replaces.contains(&self.id)
    }

    /// Tells whether this newer memory is shown before it, because it supersedes it or a link holds.
    pub fn comes_after(&self, newer: &Self) -> bool {
        self.superseded_by() == Some(newer.id) || self.is_updated_by(newer)
    }

    /// Links the older memory of a pair that rules found. None where nothing changes, because the memory is not active,
    /// because it has a link already, or because the pair was undone.
    #[must_use]
    pub fn linked(&self, newer: MemoryId, confidence: f64) -> Option<Self> {
        let Succession { outdated_by, stands_beside, .. } = &self.succession;
        let is_open = self.status == Status::Active && outdated_by.is_none() && !stands_beside.contains(&newer);
        is_open.then(|| self.outdated(Status::Active, newer, Some(confidence)))
    }

    /// Supersedes the older memory of a pair that somebody named, or that reports confirmed. None where it is
    /// superseded already, by this memory or another one, and where it is out of search for another reason.
    #[must_use]
    pub fn superseded(&self, newer: MemoryId) -> Option<Self> {
        let is_in_place = matches!(self.status, Status::Active | Status::Superseded);
        (is_in_place && self.superseded_by().is_none()).then(|| self.outdated(Status::Superseded, newer, None))
    }

    /// Links the older memory to `newer`, which superseded the memory that it was linked to. What holds now contradicts
    /// it, too.
    #[must_use]
    pub fn relinked(&self, newer: MemoryId) -> Self {
        self.outdated(Status::Active, newer, self.linked_to().and_then(|link| link.confidence))
    }

    /// Releases the older memory of a pair whose newer one is gone or out of search, because the older one is then what
    /// holds now. None where `newer` did not outdate it.
    fn released(&self, newer: MemoryId) -> Option<Self> {
        (self.newer() == Some(newer)).then(|| self.clone().back_in_search())
    }

    /// Returns the memory as it is when nothing outdates it.
    fn back_in_search(mut self) -> Self {
        self.succession.outdated_by = None;
        if self.status == Status::Superseded {
            self.status = Status::Active;
        }
        self
    }

    fn outdated(&self, status: Status, newer: MemoryId, confidence: Option<f64>) -> Self {
        let mut older = self.clone();
        older.status = status;
        older.succession.stands_beside.retain(|id| *id != newer);
        // A replaced memory outdates nothing.
        older.succession.replaces.retain(|id| *id != newer);
        older.succession.outdated_by = Some(Successor { id: newer, confidence });
        older
    }

    /// Reinstates the older memory of a pair that is undone. It is back in search, without a link, and is never linked
    /// to the same memory again. It is never linked to `newer` again either, where that is given and nothing links the
    /// two. None where nothing changes.
    #[must_use]
    pub fn reinstated(&self, newer: Option<MemoryId>) -> Option<Self> {
        let own = self.newer().filter(|own| newer.is_none_or(|newer| newer == *own));
        let mut older = self.clone();
        if own.is_some() || (newer.is_none() && self.status == Status::Superseded) {
            older = older.back_in_search();
        }
        older.stands_beside(own.or(newer));
        (older != *self).then_some(older)
    }

    fn stands_beside(&mut self, newer: Option<MemoryId>) {
        let beside = &mut self.succession.stands_beside;
        let Some(newer) = newer.filter(|newer| !beside.contains(newer)) else { return };
        beside.push(newer);
        // The oldest pairs are forgotten.
        beside.drain(..beside.len().saturating_sub(REPLACED_MAX));
    }

    /// Removes the older memories whose links ended from those that this newer memory replaces. The links ended because
    /// its words changed from those `before`. `ended` are these older memories.
    #[must_use]
    pub fn without_links_to(mut self, before: &Self, ended: &[Self]) -> Self {
        if self.content != before.content {
            let is_ended = |id: &MemoryId| ended.iter().any(|older| older.id == *id && older.newer() != Some(self.id));
            self.succession.replaces.retain(|id| !is_ended(id));
        }
        self
    }

    /// Tells whether the memory has room to name this one among those that it replaces.
    pub fn has_room_for(&self, older: MemoryId) -> bool {
        let replaces = &self.succession.replaces;
        replaces.len() < REPLACED_MAX || replaces.contains(&older)
    }

    /// Adds the older memory of a pair to those that this newer one replaces. It adds nothing where the older one is
    /// named already, or where there is no room for it. The older one no longer outdates the newer one.
    #[must_use]
    pub fn replacing(mut self, older: MemoryId) -> Self {
        let has_room = self.has_room_for(older);
        let Succession { outdated_by, replaces, .. } = &mut self.succession;
        if has_room && !replaces.contains(&older) {
            replaces.push(older);
        }
        if outdated_by.is_some_and(|link| link.id == older) {
            *outdated_by = None;
        }
        self
    }

    fn newer(&self) -> Option<MemoryId> {
        self.succession.outdated_by.map(|newer| newer.id)
    }
}

/// Returns the reason why `newer` cannot take the place of `older`, in words that follow the older one's name. None
/// where it can. Only a person may replace a memory by a less trusted one, or by one of another scope, team or
/// organisation.
pub fn replacement_problem(older: &Memory, newer: &Memory, said_by_person: bool) -> Option<String> {
    if older.id == newer.id {
        Some("is the memory itself".into())
    } else if newer.status != Status::Active {
        Some(format!("cannot be replaced by {}, which is {}", newer.id, newer.status.as_str()))
    } else if !matches!(older.status, Status::Active | Status::Superseded) {
        Some(format!("is {}; only what is in search is superseded", older.status.as_str()))
    } else if !newer.has_room_for(older.id) {
        Some(format!("cannot be replaced by {}, which replaces {REPLACED_MAX} memories already", newer.id))
    } else if !said_by_person && newer.trust < older.trust {
        let (trusted, less) = (older.trust.as_str(), newer.trust.as_str());
        Some(format!("is what a {trusted} said, which the word of a {less} does not replace; a person decides that"))
    } else if !said_by_person && older.owner() != newer.owner() {
        let owner = older.scope.as_str();
        Some(format!("belongs to another scope ({owner}); a person decides that: `reasoning-bank memory supersede`"))
    } else {
        None
    }
}

/// Returns those of `others` that change, in their new form, when a memory changes from `before` to `after`, or is
/// erased. `others` are the memories that are, or were, paired with it as older or newer. A memory that is erased,
/// archived or quarantined says nothing any more: what it superseded is back in search and its links end. Where it was
/// superseded itself, what superseded it takes its place. A memory whose words change loses its links, which rules
/// found between the old words. A memory that comes back into search is linked again to what was said before it.
pub fn left_behind(before: &Memory, after: Option<&Memory>, others: &[Memory]) -> Vec<Memory> {
    match after {
        None => handed_on(before, others),
        Some(after) if !is_silent(before) && is_silent(after) => handed_on(before, others),
        Some(after) if is_silent(before) && after.status == Status::Active => {
            let is_older = |memory: &&Memory| {
                after.succession.replaces.contains(&memory.id) && memory.said_at() <= after.said_at()
            };
            others.iter().filter(is_older).filter_map(|memory| memory.linked(after.id, 1.0)).collect()
        }
        Some(after) if after.content != before.content => {
            let linked = others.iter().filter(|memory| memory.linked_to().is_some());
            linked.filter_map(|memory| memory.released(before.id)).collect()
        }
        Some(_) => Vec::new(),
    }
}

/// Hands on the older memories of a memory that says nothing any more, and returns the memories that change. The older
/// ones go to the memory that superseded it, if there is one, which changes as well. Otherwise they are released.
fn handed_on(before: &Memory, others: &[Memory]) -> Vec<Memory> {
    let newest =
        others.iter().find(|memory| Some(memory.id) == before.superseded_by() && memory.status == Status::Active);
    let mut newest = newest.cloned();
    let mut changed = Vec::new();
    for older in others {
        let Some(released) = older.released(before.id) else { continue };
        let may_replace = |newest: &&mut Memory| {
            newest.has_room_for(older.id) && !older.succession.stands_beside.contains(&newest.id)
        };
        let heir = newest.as_mut().filter(may_replace).filter(|_| older.status == Status::Superseded);
        changed.push(match heir {
            Some(newest) => {
                *newest = newest.clone().replacing(older.id);
                released.outdated(Status::Superseded, newest.id, None)
            }
            None => released,
        });
    }
    let is_changed = |newest: &Memory| !others.contains(newest);
    changed.extend(newest.filter(is_changed));
    changed
}

/// Tells whether a memory is out of search although nothing newer took its place.
pub(super) fn is_silent(memory: &Memory) -> bool {
    matches!(memory.status, Status::Archived | Status::Quarantined)
}

/// Returns the memories whose links change because a report says that memories helped. A reporter who vouches for the
/// newer memory alone confirms that it superseded the older one, unless the newer one comes from the reporter's own
/// session. A reporter who vouches for the older one alone takes the link away. `others` are the memories that the
/// reported ones replace.
pub fn settled_by_report(reported: &[&Memory], others: &[Memory], session: Option<&str>) -> Vec<Memory> {
    let is_reported = |id: MemoryId| reported.iter().any(|memory| memory.id == id);
    let stands = reported.iter().filter(|memory| memory.linked_to().is_some_and(|newer| !is_reported(newer.id)));
    let stands = stands.filter_map(|memory| memory.reinstated(None));
    let is_by_another = |newer: &Memory| session.is_none() || newer.source_session.as_deref() != session;
    let confirming = |older: &Memory| reported.iter().find(|newer| older.is_updated_by(newer) && is_by_another(newer));
    let superseded = others.iter().filter(|older| !is_reported(older.id));
    stands.chain(superseded.filter_map(|older| older.superseded(confirming(older)?.id))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::samples::{id, strategy};
    use crate::memory::{Scope, Trust};

    #[test]
    fn a_link_holds_while_both_name_each_other_and_are_active() {
        let older = strategy(1).linked(id(2), 0.8).unwrap();
        let newer = strategy(2).replacing(id(1));
        assert!(older.is_updated_by(&newer) && older.status == Status::Active);
        assert!(!older.is_updated_by(&strategy(2)), "the newer one says nothing of it any more");
        assert!(!older.is_updated_by(&Memory { status: Status::Archived, ..newer.clone() }));
        assert!(!Memory { status: Status::Quarantined, ..older.clone() }.is_updated_by(&newer));
        assert_eq!(older.linked(id(3), 0.9), None, "one link is enough");
        assert_eq!(older.superseded_by(), None);
    }

    #[test]
    fn what_was_undone_is_not_linked_again_and_may_be_said_again() {
        let older = strategy(1).linked(id(2), 0.8).unwrap().reinstated(None).unwrap();
        assert_eq!((older.linked_to(), older.linked(id(2), 0.8)), (None, None));
        assert!(older.linked(id(3), 0.8).is_some());
        let said = older.superseded(id(2)).unwrap();
        assert_eq!((said.status, said.superseded_by()), (Status::Superseded, Some(id(2))));
        assert!(said.succession.stands_beside.is_empty());
        assert_eq!(said.superseded(id(2)), None);
    }

    #[test]
    fn a_pair_may_be_undone_before_anything_links_it() {
        let older = strategy(1).reinstated(Some(id(2))).unwrap();
        assert_eq!(older.linked(id(2), 1.0), None);
        assert_eq!(older.reinstated(Some(id(2))), None);
        assert_eq!(strategy(1).reinstated(None), None);
        let by_another = strategy(1).superseded(id(3)).unwrap().reinstated(Some(id(2))).unwrap();
        assert_eq!(by_another.superseded_by(), Some(id(3)));
    }

    #[test]
    fn what_was_superseded_by_nobody_named_comes_back_too() {
        let by_hand = Memory { status: Status::Superseded, ..strategy(1) };
        assert_eq!(by_hand.reinstated(None), Some(strategy(1)));
    }

    #[test]
    fn what_is_out_of_search_for_other_reasons_is_not_replaced() {
        for status in [Status::Archived, Status::Quarantined] {
            let memory = Memory { status, ..strategy(1) };
            assert_eq!((memory.superseded(id(2)), memory.linked(id(2), 1.0)), (None, None));
        }
    }

    #[test]
    fn of_two_that_replace_each_other_the_word_that_was_said_last_counts() {
        let (a, b) = (strategy(1).linked(id(2), 0.9).unwrap(), strategy(2).replacing(id(1)));
        let (a, b) = (a.replacing(id(2)), b.superseded(id(1)).unwrap());
        assert_eq!((a.linked_to(), b.superseded_by()), (None, Some(id(1))));
        assert!(b.succession.replaces.is_empty());
    }

    #[test]
    fn what_a_superseded_memory_updated_is_updated_by_what_superseded_it() {
        let oldest = strategy(1).linked(id(2), 0.8).unwrap().relinked(id(3));
        assert_eq!(oldest.linked_to(), Some(Successor { id: id(3), confidence: Some(0.8) }));
        assert!(oldest.is_updated_by(&strategy(3).replacing(id(2)).replacing(id(1))));
    }

    #[test]
    fn a_report_about_one_of_a_pair_decides_and_one_about_both_does_not() {
        let older = strategy(1).linked(id(2), 0.8).unwrap();
        let newer = Memory { source_session: Some("author".into()), ..strategy(2).replacing(id(1)) };
        let settled =
            |reported: &[&Memory], session| settled_by_report(reported, std::slice::from_ref(&older), session);
        assert_eq!(settled(&[&newer], Some("another")), [older.superseded(id(2)).unwrap()]);
        assert_eq!(settled(&[&newer], None), [older.superseded(id(2)).unwrap()]);
        assert_eq!(settled(&[&newer], Some("author")), []);
        assert_eq!(settled(&[&older], Some("another")), [older.reinstated(None).unwrap()]);
        assert_eq!(settled(&[&older, &newer], Some("another")), []);
        assert_eq!(settled(&[&strategy(3)], Some("another")), []);
    }

    #[test]
    fn what_may_take_the_place_of_what() {
        let (older, newer) = (strategy(1), strategy(2));
        assert_eq!(replacement_problem(&older, &newer, false), None);
        assert!(replacement_problem(&older, &older, true).is_some());
        let team = Memory { scope: Scope::Team, team: Some("red".into()), ..strategy(1) };
        assert_eq!(replacement_problem(&team, &newer, true), None);
        let problem = replacement_problem(&team, &newer, false).unwrap();
        assert!(problem.contains("team") && problem.contains("memory supersede"), "{problem}");
        for status in [Status::Archived, Status::Quarantined] {
            assert!(replacement_problem(&Memory { status, ..strategy(1) }, &newer, true).is_some());
            assert!(replacement_problem(&older, &Memory { status, ..strategy(2) }, true).is_some());
        }
        let chained = older.superseded(id(3)).unwrap();
        assert_eq!(replacement_problem(&chained, &newer, false), None);
        assert_eq!(chained.superseded(id(2)), None, "it stays with the one that superseded it");
        let trusted = Memory { trust: Trust::User, ..strategy(1) };
        assert!(replacement_problem(&trusted, &newer, false).is_some());
        assert_eq!(replacement_problem(&trusted, &newer, true), None);
    }

    fn with_status(memory: &Memory, status: Status) -> Memory {
        Memory { status, ..memory.clone() }
    }

    #[test]
    fn what_is_out_of_search_outdates_nothing_and_is_linked_again_when_it_is_back() {
        let said = strategy(1).superseded(id(9)).unwrap();
        let found = strategy(2).linked(id(9), 0.8).unwrap();
        let by_another = strategy(3).superseded(id(8)).unwrap();
        let others = [said, found, by_another];
        let newer = strategy(9).replacing(id(1)).replacing(id(2)).replacing(id(3));
        for status in [Status::Archived, Status::Quarantined] {
            let out = with_status(&newer, status);
            assert_eq!(left_behind(&newer, Some(&out), &others), [strategy(1), strategy(2)]);
            assert_eq!(left_behind(&out, Some(&with_status(&newer, Status::Superseded)), &others), []);
            let back = left_behind(&out, Some(&newer), &[strategy(1), with_status(&strategy(2), Status::Archived)]);
            assert_eq!(back.len(), 1);
            assert!(back[0].is_updated_by(&newer) && back[0].status == Status::Active);
        }
        assert_eq!(left_behind(&newer, None, &others), [strategy(1), strategy(2)]);
        assert_eq!(left_behind(&newer, Some(&newer), &others), []);
    }

    #[test]
    fn other_words_end_links_and_nothing_that_was_said() {
        let others = [strategy(1).superseded(id(9)).unwrap(), strategy(2).linked(id(9), 0.8).unwrap()];
        let newer = strategy(9).replacing(id(1)).replacing(id(2));
        let reworded = Memory { content: "Something else.".into(), ..newer.clone() };
        let changed = left_behind(&newer, Some(&reworded), &others);
        assert_eq!(changed, [strategy(2)]);
        assert_eq!(reworded.without_links_to(&newer, &changed).succession.replaces, [id(1)]);
    }

    #[test]
    fn what_superseded_the_erased_one_takes_its_place() {
        let erased = strategy(2).replacing(id(1)).superseded(id(3)).unwrap();
        let others = [strategy(1).superseded(id(2)).unwrap(), strategy(3).replacing(id(2))];
        let changed = left_behind(&erased, None, &others);
        assert_eq!(changed[0].superseded_by(), Some(id(3)));
        assert_eq!(changed[1].succession.replaces, [id(2), id(1)]);
    }

    #[test]
    fn what_superseded_the_erased_one_takes_its_place_only_where_it_may() {
        let oldest = strategy(1).superseded(id(2)).unwrap();
        let archived = with_status(&strategy(3), Status::Archived);
        let full = (100..100 + REPLACED_MAX as u128).fold(strategy(3), |memory, n| memory.replacing(id(n)));
        let apart = strategy(1).reinstated(Some(id(3))).unwrap().superseded(id(2)).unwrap();
        for (oldest, newest) in [(&oldest, archived), (&oldest, full), (&apart, strategy(3))] {
            let erased = strategy(2).replacing(id(1)).superseded(id(3)).unwrap();
            let changed = left_behind(&erased, None, &[oldest.clone(), newest]);
            assert_eq!(changed.iter().map(|memory| memory.status).collect::<Vec<_>>(), [Status::Active]);
        }
    }

    #[test]
    fn one_that_says_something_else_when_it_is_back_is_not_linked_again() {
        let out = Memory { status: Status::Archived, ..strategy(9).replacing(id(1)) };
        let now = crate::memory::samples::now() + jiff::SignedDuration::from_hours(1);
        let reword = |memory: &Memory, content: &str, status| {
            let changes = crate::memory::Changes { content: Some(content.into()), status, ..Default::default() };
            changes.apply(memory, now)
        };
        let back = reword(&out, "Something else.", Some(Status::Active));
        assert_eq!(left_behind(&out, Some(&back), &[strategy(1)]), []);
        let reworded = reword(&strategy(1), "Something newer.", None);
        let back = with_status(&out, Status::Active);
        assert_eq!(left_behind(&out, Some(&back), &[reworded]), [], "what was said later stands");
    }

    #[test]
    fn a_memory_replaces_so_many_and_no_more() {
        let full = (100..100 + REPLACED_MAX as u128).fold(strategy(9), |memory, n| memory.replacing(id(n)));
        assert!(replacement_problem(&strategy(1), &full, true).unwrap().contains("50 memories already"));
        assert_eq!(replacement_problem(&strategy(100), &full, true), None);
    }

    proptest! {
        #[test]
        fn to_undo_is_the_reverse_but_for_the_memory_of_it(newer in 2u128..9, said: bool, confidence in 0.0..=1.0) {
            let before = strategy(1);
            let outdated = if said { before.superseded(id(newer)) } else { before.linked(id(newer), confidence) };
            let after = outdated.unwrap().reinstated(None).unwrap();
            prop_assert_eq!(&after.succession.stands_beside, &vec![id(newer)]);
            let forgotten = Memory { succession: Succession::default(), ..after };
            prop_assert_eq!(forgotten, before);
        }

        #[test]
        fn lists_are_bounded(pairs in prop::collection::vec(2u128..200, 0..150)) {
            let older = pairs.iter().fold(strategy(1), |memory, n| memory.reinstated(Some(id(*n))).unwrap_or(memory));
            let newer = pairs.iter().fold(strategy(1), |memory, n| memory.replacing(id(*n)));
            prop_assert!(older.succession.stands_beside.len() <= REPLACED_MAX);
            prop_assert!(newer.succession.replaces.len() <= REPLACED_MAX);
        }
    }
}
