//! Update detection: which of two statements about the same thing outdates the other. A statement is split into
//! clauses, and a clause into phrases with the values in them (`clause`, `phrase`, `values`, `outline`), without what
//! it tells about reasons (`reason`) and about the value before (`former_value`). What two clauses both say is taken
//! away. A newer clause updates an older one where one value of a kind is left over on either side, and little else
//! (`alignment`, `features`, `clause_relation`).
//!
//! `comparable` decides which memories are compared. What is found orders the answers of a search (`order`), and links
//! memories when one is stored (`memory::Succession`). Nothing is deleted by it.
//!
//! There is no link in doubt: a value that is added, an exception for one environment and one of several values are all
//! said in words that are nearly those of a change.

mod alignment;
mod calendar;
mod clause;
mod clause_relation;
mod cleft;
mod comparable;
mod dotted;
mod east_asian;
mod features;
mod former_value;
mod lexicon;
mod order;
mod outline;
mod phrase;
mod plans;
mod reason;
mod relations;
mod several;
mod statement;
mod synonyms;
mod tense;
mod term;
mod token;
mod tools;
mod units;
mod unread;
mod values;
mod verb;

pub use comparable::{ComparableMemory, OlderMemory, UpdateLinks, links, possibly_outdated};
pub use order::{DatedResult, NewestFirst, newest_first};
pub use statement::Statement;

use jiff::Timestamp;

use self::clause::Clause;
use self::clause_relation::{ClauseRelation, clause_relation, confidence};
use self::features::UpdateEvidence;

/// The least share of an older statement's claims that must change for it to be outdated.
const LEAST_SHARE_OF_CLAIMS: f64 = 0.25;
/// The confidence from which on a statement updates another one. Below it, both are only of the same subject.
const LEAST_CONFIDENCE: f64 = 0.5;

/// A statement and when it was said, which is not when it was stored.
#[derive(Debug, Clone, Copy)]
pub struct DatedStatement<'a> {
    pub statement: &'a Statement,
    pub at: Timestamp,
}

/// An older statement that is compared with a new one.
#[derive(Debug, Clone, Copy)]
pub struct OlderStatement<'a> {
    pub said: DatedStatement<'a>,
    /// True where another statement updates or supersedes this one already.
    pub is_outdated: bool,
}

/// Returns the confidence, in 0..=1, with which the newer statement updates the older one. None where it does not, or
/// is not newer.
pub fn updates(newer: DatedStatement<'_>, older: DatedStatement<'_>) -> Option<f64> {
    let confidence = if newer.at > older.at { differs(newer.statement, older.statement) } else { None };
    confidence.filter(|confidence| *confidence >= LEAST_CONFIDENCE)
}

/// Tells whether two statements say different things of the same subject under the same qualifiers, so that the newer
/// one is shown first. The order of the two does not matter.
pub fn same_subject(a: &Statement, b: &Statement) -> bool {
    differs(a, b).is_some() || differs(b, a).is_some()
}

/// Finds the neighbours that a newer statement updates. Returns their places and the confidence of each, in their
/// order.
///
/// Neighbours that are outdated already are not among them. An attribute that holds two values, neither of which
/// outdates the other, has several: none of them is updated.
pub fn found(newer: DatedStatement<'_>, neighbours: &[OlderStatement<'_>]) -> Vec<(usize, f64)> {
    let open = neighbours.iter().enumerate().filter(|(_, neighbour)| !neighbour.is_outdated);
    let found: Vec<(usize, f64)> =
        open.filter_map(|(place, older)| Some((place, updates(newer, older.said)?))).collect();
    let statement = |place: usize| neighbours[place].said.statement;
    let is_alone = |place: usize| {
        found.iter().all(|(other, _)| *other == place || !same_subject(statement(place), statement(*other)))
    };
    found.iter().copied().filter(|(place, _)| is_alone(*place)).collect()
}

/// Returns the confidence with which two statements differ about the same subject. None where they do not differ.
fn differs(newer: &Statement, older: &Statement) -> Option<f64> {
    let confidences =
        evidence(newer, older).into_iter().map(|of_claim| of_claim.iter().filter_map(confidence).reduce(f64::max));
    let changed: Vec<f64> = confidences.flatten().collect();
    let is_enough = changed.len() as f64 >= LEAST_SHARE_OF_CLAIMS * older.claims().count() as f64;
    changed.into_iter().reduce(f64::max).filter(|_| is_enough)
}

/// Collects the evidence that claims of a newer statement update those of an older one. Each claim of the older one has
/// a list, with an entry for each claim of the newer one that differs from it in one value.
fn evidence(newer: &Statement, older: &Statement) -> Vec<Vec<UpdateEvidence>> {
    if !newer.shares_context(older) {
        return Vec::new();
    }
    // A claim that both make is not changed and changes nothing, whatever else is said. Their title is often such a
    // claim.
    let is_own = |claim: &&Clause, other: &Statement| other.claims().all(|said| said != *claim);
    let of_claim = |old: &Clause| {
        let mut all = Vec::new();
        for new in newer.claims().filter(|new| is_own(new, older)) {
            match clause_relation(new, old) {
                ClauseRelation::Differs(evidence) => all.push(evidence),
                ClauseRelation::Agrees => return Vec::new(),
                ClauseRelation::Apart => {}
            }
        }
        all
    };
    older.claims().filter(|old| is_own(old, newer)).map(of_claim).collect()
}

#[cfg(test)]
mod tests;
