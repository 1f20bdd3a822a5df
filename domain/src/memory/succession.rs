//! Succession: which newer memory took the place of an older one. Where somebody said so, the older one is superseded
//! and out of every search. Where rules found it, there is a link until a person or reports decide. Which statement
//! updates which is decided in `update_detection`.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Memory, Status, Trust};
use crate::memory::ids::MemoryId;

/// The most memories that one may replace, and the most pairs that a memory remembers as undone.
pub const REPLACED_MAX: usize = 50;

/// The memories that a memory replaced, and the one that replaced it.
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
    /// The memory that superseded it until that one went out of search. It supersedes it again when it comes back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reinstated_without: Option<MemoryId>,
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

    /// Returns the newer memory of the pair, which may be out of search.
    pub fn newer(&self) -> Option<MemoryId> {
        self.outdated_by.map(|newer| newer.id).or(self.reinstated_without)
    }
}

impl Memory {
    /// Returns the time when the memory's words were said, which may be long before they were stored.
    pub fn said_at(&self) -> Timestamp {
        self.valid_from.unwrap_or(self.created_at)
    }

    /// Returns this memory with the time at which `lesson`, which says the same, said it again. That time matters only
    /// where one of the memories near it was said in between, and only the word of one who is trusted as much counts.
    /// Otherwise there is none, so that no revision is made of a memory that is said again and again.
    #[must_use]
    pub fn said_again(&self, lesson: &Self, neighbours: &[Self]) -> Option<Self> {
        let (before, now) = (self.said_at(), lesson.said_at());
        let is_between = |other: &Self| other.said_at() > before && other.said_at() < now;
        let counts = lesson.trust >= self.trust && neighbours.iter().any(is_between);
        counts.then(|| Self { valid_from: Some(now), ..self.clone() })
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

    /// Returns the memory as it is when the one that it was reinstated without does not come back. None where it was
    /// not reinstated without `newer`.
    fn without_return_of(&self, newer: MemoryId) -> Option<Self> {
        let mut older = self.clone();
        older.succession.reinstated_without = self.succession.reinstated_without.filter(|former| *former != newer);
        (older != *self).then_some(older)
    }

    /// Returns the older memory of a pair whose newer one came back into search: superseded or linked, as it was
    /// before.
    fn outdated_again(&self, newer: &Self) -> Option<Self> {
        if self.succession.reinstated_without == Some(newer.id) {
            return self.superseded(newer.id);
        }
        (self.said_at() <= newer.said_at()).then(|| self.linked(newer.id, 1.0)).flatten()
    }

    /// Returns the memory as it is when nothing outdates it.
    fn back_in_search(mut self) -> Self {
        self.succession.reinstated_without = None;
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
        if status == Status::Superseded {
            older.succession.reinstated_without = None;
        }
        older.succession.outdated_by = Some(Successor { id: newer, confidence });
        older
    }

    /// Reinstates the older memory of a pair that is undone. It is back in search, without a link, and is never linked
    /// to the same memory again. It is never linked to `newer` again either, where that is given and nothing links the
    /// two. None where nothing changes.
    #[must_use]
    pub fn reinstated(&self, newer: Option<MemoryId>) -> Option<Self> {
        let own = self.succession.newer().filter(|own| newer.is_none_or(|newer| newer == *own));
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

    /// Removes an older memory from those that this newer one replaces. None where it does not replace it.
    fn without_replacing(&self, older: MemoryId) -> Option<Self> {
        let mut newer = self.clone();
        newer.succession.replaces.retain(|id| *id != older);
        (newer != *self).then_some(newer)
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
        let [trusted, less] = [older.trust, newer.trust].map(with_article);
        let said_by = format!("is what {trusted} said, which the word of {less} does not replace");
        Some(format!("{said_by}; a person decides that: `reasoning-bank memory supersede`"))
    } else if !said_by_person && older.owner() != newer.owner() {
        let owner = older.scope.as_str();
        Some(format!("belongs to another scope ({owner}); a person decides that: `reasoning-bank memory supersede`"))
    } else {
        None
    }
}

fn with_article(trust: Trust) -> &'static str {
    match trust {
        Trust::Model => "a model",
        Trust::Tool => "a tool",
        Trust::Agent => "an agent",
        Trust::User => "a user",
    }
}

/// Returns those of `others` that change, in their new form, when a memory changes from `before` to `after`, or is
/// erased. `others` are the memories that are, or were, paired with it as older or newer. A memory that is erased,
/// archived or quarantined says nothing any more: what it superseded is back in search and its links end. Where it was
/// superseded itself, what superseded it takes its place. A memory whose words change loses its links, which rules
/// found between the old words. A memory that comes back into search supersedes again what it superseded, and is linked
/// again to what was said before it. A memory that somebody reinstates is no longer named by the newer one, and has the
/// links back that went on to it.
pub fn left_behind(before: &Memory, after: Option<&Memory>, others: &[Memory]) -> Vec<Memory> {
    match after {
        None => handed_on(before, true, others),
        Some(after) if !is_silent(before) && is_silent(after) => handed_on(before, false, others),
        Some(after) if is_silent(before) && after.status == Status::Active => {
            let older = others.iter().filter(|memory| after.succession.replaces.contains(&memory.id));
            older.filter_map(|memory| memory.outdated_again(after)).collect()
        }
        Some(after) if after.content != before.content => {
            let linked = others.iter().filter(|memory| memory.linked_to().is_some());
            linked.filter_map(|memory| memory.released(before.id)).collect()
        }
        Some(after) => {
            let ended = before.succession.newer().filter(|_| after.succession.newer().is_none());
            let newer = others.iter().find(|memory| ended == Some(memory.id));
            newer.map_or_else(Vec::new, |newer| given_back(before, newer, others))
        }
    }
}

/// Takes the place of a memory back from the newer one that had it, and returns the memories that change. What was
/// linked to the memory when it was superseded, and to the newer one since then, is linked to the memory again.
fn given_back(memory: &Memory, newer: &Memory, others: &[Memory]) -> Vec<Memory> {
    let name_it = [memory, newer].map(|one| &one.succession.replaces);
    let is_given_back = |older: &&Memory| {
        memory.status == Status::Superseded
            && older.linked_to().is_some_and(|link| link.id == newer.id)
            && name_it.iter().all(|replaces| replaces.contains(&older.id))
            && !older.succession.stands_beside.contains(&memory.id)
    };
    let mut changed: Vec<Memory> = others.iter().filter(is_given_back).map(|older| older.relinked(memory.id)).collect();
    let given: Vec<MemoryId> = std::iter::once(memory.id).chain(changed.iter().map(|older| older.id)).collect();
    let without = given.iter().fold(newer.clone(), |newer, id| newer.without_replacing(*id).unwrap_or(newer));
    changed.extend((without != *newer).then_some(without));
    changed
}

/// Hands on the older memories of a memory that says nothing any more, and returns the memories that change. The older
/// ones go to the memory that superseded it, if there is one, which changes as well. Otherwise they are released. A
/// memory that is erased is no longer named by the one that replaced it, takes no room there, and leaves none of its
/// words with one that said the same.
fn handed_on(before: &Memory, is_erased: bool, others: &[Memory]) -> Vec<Memory> {
    let mut newest = others.iter().find(|memory| Some(memory.id) == before.newer()).cloned();
    if let Some(newest) = newest.as_mut().filter(|_| is_erased) {
        newest.succession.replaces.retain(|id| *id != before.id);
        *newest = newest.clone().without_texts_of(before);
    }
    let mut changed = Vec::new();
    for older in others {
        let Some(mut released) = older.released(before.id) else {
            changed.extend(older.without_return_of(before.id).filter(|_| is_erased));
            continue;
        };
        released.succession.reinstated_without = older.superseded_by().filter(|_| !is_erased);
        let may_replace = |newest: &&mut Memory| {
            Some(newest.id) == before.superseded_by()
                && newest.status == Status::Active
                && newest.has_room_for(older.id)
                && !older.succession.stands_beside.contains(&newest.id)
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
pub fn links_decided_by_report(reported: &[&Memory], others: &[Memory], session: Option<&str>) -> Vec<Memory> {
    let is_reported = |id: MemoryId| reported.iter().any(|memory| memory.id == id);
    let stands = reported.iter().filter(|memory| memory.linked_to().is_some_and(|newer| !is_reported(newer.id)));
    let stands = stands.filter_map(|memory| memory.reinstated(None));
    let is_by_another = |newer: &Memory| session.is_none() || newer.source_session.as_deref() != session;
    let confirming = |older: &Memory| reported.iter().find(|newer| older.is_updated_by(newer) && is_by_another(newer));
    let superseded = others.iter().filter(|older| !is_reported(older.id));
    stands.chain(superseded.filter_map(|older| older.superseded(confirming(older)?.id))).collect()
}

#[cfg(test)]
mod tests;
