//! The relation of a newer clause to an older one: whether it updates the older one.

use super::alignment::{Difference, VERB_WEIGHT, is_said};
use super::clause::Clause;
use super::features::{ClausePair, UpdateEvidence, names_as_former};
use super::unread;

/// The weight of the words that two clauses about one thing share at least.
const LEAST_SHARED: f64 = 1.0;

/// The relation of a newer clause to an older one.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ClauseRelation {
    /// They speak of different things.
    Apart,
    /// They speak of the same thing and agree, or one says more.
    Agrees,
    /// They differ in one value. The evidence tells whether they speak of the same thing.
    Differs(UpdateEvidence),
}

/// Weighs evidence. Returns the confidence in 0..=1 that it is an update. None where it is more likely none.
pub(super) fn confidence(evidence: &UpdateEvidence) -> Option<f64> {
    let score: f64 = evidence.iter().map(|(_, weight, value)| weight * value).sum();
    (score > 0.0).then(|| 1.0 / (1.0 + f64::exp(-score)))
}

/// Tells whether both state what holds, at the same point of a scale, and neither adds a value.
fn may_relate(newer: &Clause, older: &Clause) -> bool {
    let adds = (newer.is_added || older.is_added) && newer.former.is_empty();
    !(newer.is_doubtful
        || older.is_doubtful
        || adds
        || (newer.is_past && !older.is_past)
        || newer.outlook.is_apart_from(older.outlook)
        || newer.outline.measures_other(&older.outline))
}

/// Tells whether they tell of two days, each of which has its own: `the API was down on 3 June` and `on 9 July`.
fn tell_of_two_days(newer: &Clause, older: &Clause) -> bool {
    let tell_of_days = newer.tells_of_a_day && older.tells_of_a_day && !names_as_former(newer, older);
    tell_of_days && newer.outline.has_other_dates(&older.outline)
}

/// Tells whether they tell different things, as far as can be told where nobody knows their verbs.
fn tell_of_other_things(newer: &Clause, older: &Clause) -> bool {
    let unread = newer.unread.as_ref().zip(older.unread.as_ref());
    unread.is_some_and(|(newer, older)| unread::tell_of_other_things(newer, older)) && !names_as_former(newer, older)
}

pub(super) fn clause_relation(newer: &Clause, older: &Clause) -> ClauseRelation {
    if !may_relate(newer, older) || tell_of_two_days(newer, older) || tell_of_other_things(newer, older) {
        return ClauseRelation::Apart;
    }
    match evidence(newer, older) {
        Some(evidence) => ClauseRelation::Differs(evidence),
        None if is_said(newer, older) => ClauseRelation::Agrees,
        None => ClauseRelation::Apart,
    }
}

/// Collects the evidence that a newer clause updates an older one. None where the clauses do not differ in one value,
/// or share too little to be about one thing.
fn evidence(newer: &Clause, older: &Clause) -> Option<UpdateEvidence> {
    let pair = ClausePair::of(newer, older)?;
    let shared = pair.new.shared.min(pair.old.shared);
    let is_all = pair.new.is_empty() && pair.old.is_empty() && !pair.is(Difference::Words);
    let is_enough = pair.names_older || shared >= if is_all { VERB_WEIGHT } else { LEAST_SHARED };
    // Plain words are no other value if a value is told on one side alone.
    let is_of_other_type = pair.is(Difference::Words) && (pair.new.values > 0.0) != (pair.old.values > 0.0);
    let may_be_joined = matches!(pair.difference, Difference::Exclusive | Difference::Names | Difference::Words);
    let joins_otherwise = may_be_joined && newer.outline.joins_otherwise(&older.outline);
    (is_enough && !is_of_other_type && !joins_otherwise).then(|| pair.features().evidence())
}
