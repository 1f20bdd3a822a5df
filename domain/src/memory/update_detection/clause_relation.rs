//! The relation of a newer clause to an older one: whether it updates the older one.

use super::alignment::{Alignment, Candidate, Difference, UnsharedWords, VERB_WEIGHT, align, is_other_tool, is_said};
use super::clause::Clause;
use super::values::ValueKind;
use super::{lexicon, relations};

/// The most left-over words of a sort that count.
const MOST_LEFT: f64 = 3.0;
/// The weight of the words that two clauses about one thing share at least.
const LEAST_SHARED: f64 = 1.0;

/// The evidence that a newer clause updates an older one: the name, the weight and the value of each sort.
pub(super) type UpdateEvidence = Vec<(&'static str, f64, f64)>;

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
        || newer.outline.measures_other(&older.outline))
}

pub(super) fn clause_relation(newer: &Clause, older: &Clause) -> ClauseRelation {
    if !may_relate(newer, older) {
        return ClauseRelation::Apart;
    }
    match evidence(newer, older) {
        Some(evidence) => ClauseRelation::Differs(evidence),
        None if is_said(newer, older) => ClauseRelation::Agrees,
        None => ClauseRelation::Apart,
    }
}

/// Collects the evidence that a newer clause updates an older one. None where the clauses do not differ in one value.
///
/// The weights are those of a logistic regression (Cox 1958), which `scripts/fit_updates.py` makes.
fn evidence(newer: &Clause, older: &Clause) -> Option<UpdateEvidence> {
    let (a, b) = (&newer.outline, &older.outline);
    let Alignment { difference, slots, new, old } = align(newer, older)?;
    let of_both = |has: &dyn Fn(&Candidate<'_>, &Clause) -> bool| {
        slots.as_ref().is_some_and(|[x, y]| has(x, newer) || has(y, older))
    };
    let names_older = names_as_former(newer, older);
    let shared = new.shared.min(old.shared);
    let is_all = new.is_empty() && old.is_empty() && difference != Difference::Words;
    let is_enough = names_older || shared >= if is_all { VERB_WEIGHT } else { LEAST_SHARED };
    // Plain words are no other value if a value is told on one side alone.
    let is_of_other_type = difference == Difference::Words && (new.values > 0.0) != (old.values > 0.0);
    if !is_enough
        || is_of_other_type
        || (matches!(difference, Difference::Exclusive | Difference::Names | Difference::Words) && a.joins_otherwise(b))
    {
        return None;
    }
    let flag = |is: bool| f64::from(u8::from(is));
    let any = |of: fn(&UnsharedWords) -> f64| (of(&new) + of(&old)).min(MOST_LEFT);
    let both = |of: fn(&UnsharedWords) -> f64| flag(of(&new) > 0.0 && of(&old) > 0.0);
    let is_in = |kind: ValueKind| {
        slots
            .as_ref()
            .is_some_and(|[x, y]| [x, y].iter().all(|slot| slot.value.is_some_and(|value| value.kind == kind)))
    };
    let is = |of: Difference| difference == of;
    // Amounts and times are one, while there may be several names, paths and words.
    let is_open = is(Difference::Names) || is(Difference::Words) || is_in(ValueKind::Path);
    let may_have_several =
        of_both(&|slot, clause| !slot.is_before_verb() && takes_several(clause, slot)) && !names_older;
    let has_indefinite = of_both(&|slot, clause| !slot.is_before_verb() && clause.is_indefinite);
    let in_condition = of_both(&|slot, _| slot.part.is_some_and(|part| part.is_condition));
    let is_subject = of_both(&|slot, clause| slot.is_before_verb() && !clause.outline.is_definite);
    let are_subjects = slots.as_ref().is_some_and(|[x, y]| x.is_before_verb() == y.is_before_verb());
    // The one who does something may stand before the verb or behind `by`.
    let is_agent =
        |slot: &Candidate<'_>, clause: &Clause| clause.outline.is_passive && slot.opening_behind_verb() == Some("by");
    let is_turned = !are_subjects && !of_both(&is_agent);
    let object = of_both(&|slot, clause| {
        clause.acts && slot.part.is_some_and(|part| !part.is_before_verb && part.opening.is_empty())
    }) && !names_older;
    let is_other_tool = slots.as_ref().is_some_and(|[x, y]| is_other_tool(x, y));
    let is_related = a.actions.iter().any(|x| b.actions.iter().any(|y| relations::are_related(x, y)));
    let other_verbs = !is_related && new.verbs > 0.0 && old.verbs > 0.0;
    let is_passive = a.is_passive && b.is_passive;
    let behind_verb = slots.as_ref().and_then(|[x, y]| x.opening_behind_verb().zip(y.opening_behind_verb()));
    let other_opening = behind_verb.is_some_and(|(x, y)| {
        let (kind_of_x, kind_of_y) = (relations::preposition(x), relations::preposition(y));
        let are_kinds = !kind_of_x.is_empty() && !kind_of_y.is_empty() && kind_of_x != kind_of_y;
        is_passive && (are_kinds || (x != y && is(Difference::Words) && new.verbs + old.verbs == 0.0))
    });
    Some(vec![
        // The score of two clauses that differ in one value alone.
        ("one", 1.22, 1.0),
        // Words on both sides that the other does not say.
        ("nouns_both", -0.59, both(|rest| rest.nouns + rest.subjects + rest.behind)),
        // Different objects of the verb: `retry webhooks`, `retry uploads`.
        ("objects_both", -1.57, both(|rest| rest.nouns)),
        // Each noun that one side speaks of.
        ("subjects_any", -0.82, any(|rest| rest.subjects)),
        // Nouns that one clause speaks of, where the other one leaves nothing over: one of its cases.
        ("exception", -0.95, flag((new.subjects > 0.0 && old.is_empty()) || (old.subjects > 0.0 && new.is_empty()))),
        // Each word before a noun, where both say the noun.
        ("modifiers_any", -2.15, any(|rest| rest.modifiers)),
        // Each word that narrows one side.
        ("narrowing_any", -3.36, any(|rest| rest.narrowing)),
        // Each word behind a preposition.
        ("behind_any", -1.80, any(|rest| rest.behind)),
        // Another value on both sides.
        ("values_both", -1.90, both(|rest| rest.values)),
        // Another name.
        ("names_any", -2.27, any(|rest| rest.names)),
        // Words on both sides beside the value, which tell what it measures.
        ("beside_both", -2.66, both(|rest| rest.beside)),
        // Such verbs beside two values of one type, which say more of their attribute than names do.
        ("typed_verbs", -1.40, flag(other_verbs && is(Difference::Typed))),
        // Two things that are done to the subject: `is formatted with`, `is linted with`.
        ("passive_verbs", -1.52, flag(other_verbs && is_passive)),
        // Other words, and not a name or an amount.
        ("words", -0.29, flag(is(Difference::Words))),
        // One clause says what the subject is, and the other what is done to it: `is a monolith`, `is written in PHP`.
        ("being", -0.41, flag((a.is_copula && b.is_passive) || (a.is_passive && b.is_copula))),
        // Values behind prepositions that say other things: `is done with`, `is done by`.
        ("other_opening", -1.70, flag(is_open && other_opening)),
        // One side denies what the other affirms.
        ("polarity", 0.98, flag(is(Difference::Polarity))),
        // The newer clause says something beside that.
        ("polarity_left", -1.76, flag(is(Difference::Polarity) && !new.is_empty())),
        // Two tools of different purposes.
        ("other_tool", -2.59, flag(is_other_tool && !is_related)),
        // The newer clause says that something changed.
        ("marker", 1.52, flag(newer.announces)),
        // The newer clause names the older value as the one before.
        ("names_older", 3.34, flag(names_older)),
        // A verb that may have several objects.
        ("additive", -2.97, flag(is_open && may_have_several)),
        // One of several, by its article: `a customer of ours is`.
        ("indefinite", -3.07, flag(is_open && has_indefinite)),
        // One of several, by the title: `Sponsors`.
        ("of_several", -2.78, flag(is_open && newer.is_of_several && older.is_of_several && !names_older)),
        // One of several occasions: `when an order is created`.
        ("condition", -2.49, flag(is_open && in_condition)),
        // A permission, beside which there may be others.
        ("permission", -3.21, flag(is_open && (a.is_permission() || b.is_permission()))),
        // Two prohibitions, which may hold side by side.
        ("both_denied", -1.93, flag(is_open && !newer.is_affirmed && !older.is_affirmed)),
        // Two advices, which may hold side by side.
        ("advice", -2.99, flag(is(Difference::Words) && newer.is_advice && older.is_advice)),
        // A name that does something, which others may do as well.
        (
            "subject_name",
            -3.46,
            flag((is(Difference::Names) || is_in(ValueKind::Number)) && is_subject && are_subjects),
        ),
        // Words before the verb.
        ("subject_phrase", -2.86, flag(is(Difference::Words) && is_subject && are_subjects)),
        // A value before the verb of one clause and behind that of the other.
        ("turned", -1.05, flag(is_open && is_subject && is_turned)),
        // Something as the object of a verb, which may have several.
        ("object", -1.07, flag(is_open && object)),
        // The newer clause tells what somebody did once.
        ("deed", -1.86, flag(newer.is_deed && !older.is_deed && !newer.announces)),
    ])
}

/// Tells whether there may be several of a value behind the verb: `depends on`, `is allergic to`.
fn takes_several(clause: &Clause, value: &Candidate<'_>) -> bool {
    let opening = value.opening_behind_verb();
    let is_object = opening.is_some_and(|opening| matches!(opening, "" | "to" | "on" | "for" | "against" | "into"))
        || (opening == Some("in") && value.is_path())
        // A preposition behind an active verb belongs to it: `works with`.
        || (value.is_next_to_verb() && !clause.outline.is_passive);
    (clause.is_additive && is_object) || (clause.outline.joins() && opening == Some("to"))
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
