//! The agreement of subjects: whether two clauses speak of the same thing. It is decided by how far the words of their
//! subjects agree, and by what may not differ.

use std::collections::BTreeMap;

use super::clause::Clause;
use super::term::Role;

/// The weight of a verb that names an attribute, beside that of a noun that does.
const ACTION_WEIGHT: f64 = 0.5;

/// The agreement of two subjects where nothing speaks against it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Agreement {
    /// The share of all words that the two subjects have in common, in 0..=1.
    pub share: f64,
    /// The number of words that they have in common. A verb counts as `ACTION_WEIGHT`.
    pub shared: f64,
    /// The number of different words that say what the two clauses are about. A verb counts as `ACTION_WEIGHT`.
    pub words: f64,
}

/// Returns the agreement of two clauses. None where a qualifier, or a word on either side, says that they speak of
/// different things.
pub(super) fn agreement(a: &Clause, b: &Clause) -> Option<Agreement> {
    let (left_a, left_b) = (left_over(a, b)?, left_over(b, a)?);
    if left_a.topics > 0 && left_b.topics > 0 || left_a.actions > 0 && left_b.actions > 0 {
        return None;
    }
    if a.has_topic() && b.has_topic() && !shares_topic(a, b) {
        return None;
    }
    // A statement about one thing alone is an exception.
    if a.has_topic() != b.has_topic() && left_a.topics + left_b.topics > 0 && (a.has_qualifier() || b.has_qualifier()) {
        return None;
    }
    let shared = left_a.shared.max(left_b.shared);
    let left = left_a.weight() + left_b.weight();
    let all = 2.0 * shared + left;
    let share = if all > 0.0 { 2.0 * shared / all } else { 0.0 };
    Some(Agreement { share, shared, words: shared + left })
}

/// Tells whether both clauses say a word that narrows neither of them, and at least one says it in its subject.
fn shares_topic(a: &Clause, b: &Clause) -> bool {
    let tells = |a: &Clause, b: &Clause| {
        a.subject.iter().any(|term| {
            let narrows = b.subject.iter().any(|other| other.word == term.word && other.role == Role::Qualifier)
                && b.subject.iter().all(|other| other.word != term.word || other.role == Role::Qualifier);
            term.role != Role::Qualifier && b.says(&term.word) && !narrows
        })
    };
    tells(a, b) || tells(b, a)
}

#[derive(Default)]
struct LeftOver {
    topics: usize,
    actions: usize,
    shared: f64,
}

impl LeftOver {
    fn weight(&self) -> f64 {
        self.topics as f64 + ACTION_WEIGHT * self.actions as f64
    }
}

/// Finds what of `a` is not in `b`, and what they share. None where a word that is not in `b` narrows `a`.
fn left_over(a: &Clause, b: &Clause) -> Option<LeftOver> {
    let mut found = LeftOver::default();
    let mut roles: BTreeMap<&str, Role> = BTreeMap::new();
    for (at, term) in a.subject.iter().enumerate() {
        let is_known = b.says(&term.word);
        let joined = a.subject[at..].iter().take_while(|term| term.joins_next).count();
        let behind = a.subject[at..].iter().take(joined + 1).skip(1).find(|term| term.role != Role::Detail);
        if !is_known && term.role == Role::Qualifier {
            return None;
        }
        // A word before a noun narrows it: `upload timeout`.
        if !is_known
            && term.role == Role::Topic
            && term.word != "limit"
            && behind.is_some_and(|behind| b.says(&behind.word))
        {
            return None;
        }
        let role = roles.entry(&term.word).or_insert(term.role);
        if matches!(*role, Role::Detail | Role::Action) && term.role != Role::Detail {
            *role = term.role;
        }
    }
    for (word, role) in roles {
        match (role, b.says(word)) {
            (Role::Detail, _) => {}
            (Role::Action, true) => found.shared += ACTION_WEIGHT,
            (_, true) => found.shared += 1.0,
            (Role::Action, false) => found.actions += 1,
            (_, false) => found.topics += 1,
        }
    }
    Some(found)
}
