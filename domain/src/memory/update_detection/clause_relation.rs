//! The relation of a newer clause to an older one: whether it updates the older one.

use super::alignment::{Alignment, Candidate, Difference, Rest, VERB_WEIGHT, align, is_other_tool, is_said};
use super::clause::Clause;
use super::values::ValueKind;
use super::{lexicon, relations};

/// The most left-over words of a sort that count.
const MOST_LEFT: f64 = 3.0;
/// The weight of the words that two clauses about one thing share at least.
const LEAST_SHARED: f64 = 1.0;
/// The number of shared words from which on more of them say nothing more.
const MOST_SHARED: f64 = 4.0;
// The weights are those of a logistic regression (Cox 1958) on pairs of statements, each with the sign that its
// evidence has. SUBJECTS_ANY, VERBS_BOTH and OBJECT stand at bounds set by hand, as the fit left them weaker.
/// The score of two clauses that differ in one value alone.
const ONE: f64 = 1.29;
/// A word that both say.
const SHARED: f64 = 0.21;
/// Words on both sides that the other does not say.
const NOUNS_BOTH: f64 = -1.01;
/// Each noun that one side speaks of.
const SUBJECTS_ANY: f64 = -1.80;
/// Each word before a noun, where both say the noun.
const MODIFIERS_ANY: f64 = -3.16;
/// Each word that narrows one side.
const NARROWING_ANY: f64 = -4.36;
/// Each word behind a preposition.
const BEHIND_ANY: f64 = -2.83;
/// Another value on both sides.
const VALUES_BOTH: f64 = -1.92;
/// Different verbs that tell different relations.
const VERBS_BOTH: f64 = -0.60;
/// Such verbs beside two values of one type, which say more of their attribute than names do.
const TYPED_VERBS: f64 = -1.87;
/// One side denies what the other affirms.
const POLARITY: f64 = 0.22;
/// Two tools of different purposes.
const OTHER_TOOL: f64 = -2.65;
/// A verb that may have several objects.
const ADDITIVE: f64 = -3.74;
/// The newer clause says that something changed.
const MARKER: f64 = 1.20;
/// The newer clause names the older value as the one before.
const NAMES_OLDER: f64 = 3.34;
/// A name that does something, which others may do as well.
const SUBJECT_NAME: f64 = -3.33;
/// Words before the verb.
const SUBJECT_PHRASE: f64 = -2.82;
/// A permission, beside which there may be others.
const PERMISSION: f64 = -3.42;
/// Another name.
const NAMES_ANY: f64 = -2.43;
/// Other words as the object of a verb, which may have several.
const OBJECT: f64 = -1.80;
/// Words on both sides beside the value, which tell what it measures.
const BESIDE_BOTH: f64 = -2.93;
/// Two prohibitions, which may hold side by side.
const BOTH_DENIED: f64 = -0.70;
/// Two advices, which may hold side by side.
const ADVICE: f64 = -3.10;
/// The newer clause tells what somebody did once.
const DEED: f64 = -1.83;

/// The relation of a newer clause to an older one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ClauseRelation {
    /// They speak of different things.
    Apart,
    /// They speak of the same thing and agree, or one says more.
    Agrees,
    /// They speak of the same thing and differ; the confidence is in 0..=1.
    Updates(f64),
}

/// Tells whether both state what holds, at the same point of a scale, and neither adds a value.
fn may_relate(newer: &Clause, older: &Clause) -> bool {
    let adds = (newer.is_added || older.is_added) && newer.former.is_empty();
    !(newer.is_doubtful
        || older.is_doubtful
        || adds
        || (newer.is_past && !older.is_past)
        || newer.outline.measures_other(&older.outline))
}

pub(super) fn clause_relation(newer: &Clause, older: &Clause) -> ClauseRelation {
    if !may_relate(newer, older) {
        return ClauseRelation::Apart;
    }
    match score(newer, older) {
        Some(score) if score > 0.0 => ClauseRelation::Updates(1.0 / (1.0 + (-score).exp())),
        None if is_said(newer, older) => ClauseRelation::Agrees,
        _ => ClauseRelation::Apart,
    }
}

/// Weighs the evidence that a newer clause updates an older one. None where the clauses do not differ in one value.
fn score(newer: &Clause, older: &Clause) -> Option<f64> {
    let (a, b) = (&newer.outline, &older.outline);
    let Alignment { difference, slots, new, old } = align(newer, older)?;
    let of_both = |has: &dyn Fn(&Candidate<'_>, &Clause) -> bool| {
        slots.as_ref().is_some_and(|[x, y]| has(x, newer) || has(y, older))
    };
    let names_older = names_as_former(newer, older);
    let shared = new.shared.min(old.shared);
    let is_all = new.is_empty() && old.is_empty() && difference != Difference::Words;
    let is_enough = names_older || shared >= if is_all { VERB_WEIGHT } else { LEAST_SHARED };
    // Where a value is told on one side alone, plain words are no other value.
    let is_of_other_type = difference == Difference::Words && (new.values > 0.0) != (old.values > 0.0);
    if !is_enough
        || is_of_other_type
        || (matches!(difference, Difference::Exclusive | Difference::Names | Difference::Words) && a.joins_otherwise(b))
    {
        return None;
    }
    let flag = |is: bool| f64::from(u8::from(is));
    let any = |of: fn(&Rest) -> f64| (of(&new) + of(&old)).min(MOST_LEFT);
    let both = |of: fn(&Rest) -> f64| flag(of(&new) > 0.0 && of(&old) > 0.0);
    let is_related = a.actions.iter().any(|x| b.actions.iter().any(|y| relations::are_related(x, y)));
    let is_open = difference == Difference::Names || difference == Difference::Words;
    let may_have_several = of_both(&|slot, clause| !slot.is_before_verb() && clause.is_additive) && !names_older;
    let is_subject = of_both(&|slot, clause| slot.is_before_verb() && !clause.outline.is_definite);
    let object = of_both(&|slot, clause| {
        clause.acts && slot.part.is_some_and(|part| !part.is_before_verb && part.opening.is_empty())
    }) && !names_older;
    let is_number = slots.as_ref().is_some_and(|[x, _]| x.value.is_some_and(|value| value.kind == ValueKind::Number));
    let is_other_tool = slots.as_ref().is_some_and(|[x, y]| is_other_tool(x, y));
    let is = |of: Difference| flag(difference == of);
    let evidence = [
        (ONE, 1.0),
        (SHARED, shared.min(MOST_SHARED)),
        (NOUNS_BOTH, both(|rest| rest.nouns + rest.subjects + rest.behind)),
        (SUBJECTS_ANY, any(|rest| rest.subjects)),
        (MODIFIERS_ANY, any(|rest| rest.modifiers)),
        (NARROWING_ANY, any(|rest| rest.narrowing)),
        (BEHIND_ANY, any(|rest| rest.behind)),
        (VALUES_BOTH, both(|rest| rest.values)),
        (VERBS_BOTH, if is_related { 0.0 } else { both(|rest| rest.verbs) }),
        (TYPED_VERBS, if is_related { 0.0 } else { is(Difference::Typed) * both(|rest| rest.verbs) }),
        (POLARITY, is(Difference::Polarity)),
        (OTHER_TOOL, flag(is_other_tool && !is_related)),
        (ADDITIVE, flag(is_open && may_have_several)),
        (MARKER, flag(newer.announces)),
        (NAMES_OLDER, flag(names_older)),
        (SUBJECT_NAME, flag((difference == Difference::Names || is_number) && is_subject)),
        (SUBJECT_PHRASE, flag(difference == Difference::Words && is_subject)),
        (PERMISSION, flag(is_open && (a.is_permission() || b.is_permission()))),
        (NAMES_ANY, any(|rest| rest.names)),
        (OBJECT, flag(difference == Difference::Words && object)),
        (BESIDE_BOTH, both(|rest| rest.beside)),
        (BOTH_DENIED, flag(is_open && !newer.is_affirmed && !older.is_affirmed)),
        (ADVICE, flag(difference == Difference::Words && newer.is_advice && older.is_advice)),
        (DEED, flag(newer.is_deed && !older.is_deed && !newer.announces)),
    ];
    Some(evidence.iter().map(|(weight, of)| weight * of).sum())
}

/// Tells whether the newer clause names the older value as the one before: `from Jenkins to Buildkite`.
fn names_as_former(newer: &Clause, older: &Clause) -> bool {
    !newer.former.is_empty()
        && older.values.iter().any(|value| {
            let is_former = |word: &String| {
                newer
                    .former
                    .iter()
                    .any(|former| former == word || lexicon::canonical(former) == *word || is_amount_of(former, word))
            };
            value.words.iter().all(is_former) || (value.kind == ValueKind::Name && value.words.iter().any(is_former))
        })
}

fn is_amount_of(former: &str, word: &str) -> bool {
    let digits: String = former.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    !digits.is_empty() && digits == word
}
