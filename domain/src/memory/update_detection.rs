//! Update detection: which of two statements about the same thing outdates the other. A statement is split into clauses, and
//! a clause into phrases with the values in them (`clause`, `phrase`, `values`, `outline`), without what it tells about
//! reasons (`reason`) and about the value before (`former`). What two clauses both say is taken away. A newer clause
//! updates an older one where one value of a kind is left over on either side, and little else (`alignment`,
//! `clause_relation`).
//!
//! `compared` decides which memories are compared. What is found orders the answers of a search (`order`), and links
//! memories when one is stored (`memory::Succession`). Nothing is deleted by it.
//!
//! In doubt there is no link: a value that is added, an exception for one environment and one of several values are all
//! said in words that are nearly those of a change.

mod alignment;
mod clause;
mod clause_relation;
mod compared;
mod former;
mod lexicon;
mod order;
mod outline;
mod phrase;
mod reason;
mod relations;
mod statement;
mod term;
mod token;
mod tools;
mod units;
mod values;
mod verb;

pub use compared::{Compared, Links, Older, links};
pub use order::{NewestFirst, Placed, newest_first};
pub use statement::Statement;

use jiff::Timestamp;

use self::clause_relation::{ClauseRelation, clause_relation};

/// The least share of an older statement's claims that must change for it to be outdated.
const LEAST_SHARE_OF_CLAIMS: f64 = 0.25;
/// The confidence from which on a statement updates another one. Below it, both are only of the same subject.
const LEAST_CONFIDENCE: f64 = 0.5;

/// A statement and when it was said, which is not when it was stored.
#[derive(Debug, Clone, Copy)]
pub struct Dated<'a> {
    pub statement: &'a Statement,
    pub at: Timestamp,
}

/// An older statement that is compared with a new one.
#[derive(Debug, Clone, Copy)]
pub struct Neighbour<'a> {
    pub said: Dated<'a>,
    /// True where another statement updates or supersedes this one already.
    pub is_outdated: bool,
}

/// Returns the confidence, in 0..=1, with which the newer statement updates the older one. None where it does not, or
/// is not newer.
pub fn updates(newer: Dated<'_>, older: Dated<'_>) -> Option<f64> {
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
pub fn found(newer: Dated<'_>, neighbours: &[Neighbour<'_>]) -> Vec<(usize, f64)> {
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
    if !newer.shares_context(older) {
        return None;
    }
    let claims = older.claims().count();
    let (mut changed, mut best) = (0, 0.0f64);
    for old in older.claims() {
        let mut of_claim = 0.0f64;
        // A claim that is said again is not changed, whatever else is said.
        if newer.claims().any(|new| new == old) {
            continue;
        }
        for new in newer.claims() {
            match clause_relation(new, old) {
                ClauseRelation::Updates(confidence) => of_claim = of_claim.max(confidence),
                ClauseRelation::Agrees => {
                    of_claim = 0.0;
                    break;
                }
                ClauseRelation::Apart => {}
            }
        }
        changed += usize::from(of_claim > 0.0);
        best = best.max(of_claim);
    }
    (changed > 0 && changed as f64 >= LEAST_SHARE_OF_CLAIMS * claims as f64).then_some(best.min(1.0))
}

#[cfg(test)]
mod tests;
