//! The relation of a newer clause to an older one: whether it updates the older one.

use super::aligned::differ_in_one_value;
use super::clause::Clause;
use super::difference;
use super::lexicon;
use super::subject::{Agreement, agreement};
use super::term::Role;
use super::tools;
use super::values::{ClauseValue, Comparison, ValueKind, compare};
use super::verb::Joint;

/// The share of common words from which on two subjects are the same.
const SAME_SUBJECT: f64 = 0.5;
/// That share where the newer clause names the older value as the one before.
const SAME_SUBJECT_NAMED: f64 = 0.3;
/// The share from which on a negated clause is the opposite of another. It is higher, as nothing but the words says
/// what they are about.
const SAME_ADVICE: f64 = 0.75;

/// The confidence in an update that repeats the sentence with another value.
const SAME_SENTENCE: f64 = 0.9;

/// The share that is assumed where two clauses say the same in other words but for one value.
const SAME_OUTLINE: f64 = 0.9;

/// The relation of a newer clause to an older one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ClauseRelation {
    /// They speak of different things.
    Apart,
    /// They speak of the same thing and agree, or one says more.
    Agrees,
    /// They speak of the same thing, which may have several values.
    Several,
    /// They speak of the same thing and differ; the confidence is in 0..=1.
    Updates(f64),
}

pub(super) fn clause_relation(newer: &Clause, older: &Clause) -> ClauseRelation {
    let adds = (newer.is_added || older.is_added) && newer.former.is_empty();
    if newer.is_doubtful || older.is_doubtful || adds || (newer.is_past && !older.is_past) {
        return ClauseRelation::Apart;
    }
    if newer.outline.measures_other(&older.outline) {
        return ClauseRelation::Apart;
    }
    let is_typed = compare(&newer.values, &older.values)
        .kind()
        .is_some_and(|kind| !matches!(kind, ValueKind::Name | ValueKind::Phrase | ValueKind::Path));
    if newer.outline.joins_otherwise(&older.outline) && !is_typed && newer.is_affirmed == older.is_affirmed {
        return ClauseRelation::Apart;
    }
    if newer.is_affirmed && older.is_affirmed && differ_in_one_value(&newer.sequence, &older.sequence) {
        return ClauseRelation::Updates(SAME_SENTENCE);
    }
    let found = by_subject(newer, older);
    if matches!(found, ClauseRelation::Updates(_) | ClauseRelation::Agrees) || newer.is_affirmed != older.is_affirmed {
        return found;
    }
    difference::differ(newer, older, names_as_former(newer, older))
        .map_or(found, |kind| ClauseRelation::Updates(confidence(kind, SAME_OUTLINE)))
}

/// Finds the relation of a newer clause to an older one by their subjects.
fn by_subject(newer: &Clause, older: &Clause) -> ClauseRelation {
    let Some(agreement) = agreement(newer, older) else { return ClauseRelation::Apart };
    if newer.is_affirmed != older.is_affirmed {
        return opposite(newer, older, agreement);
    }
    let names_older = names_as_former(newer, older);
    let least = if names_older { SAME_SUBJECT_NAMED } else { SAME_SUBJECT };
    let same_tools = tools_of_one_kind(&newer.values, &older.values);
    let without_subject = agreement.words == 0.0 && (same_tools || names_older);
    let one_has_none = names_older && (newer.has_no_subject() || older.has_no_subject());
    if !(agreement.share >= least || without_subject || one_has_none) {
        return ClauseRelation::Apart;
    }
    match compare(&newer.values, &older.values) {
        Comparison::Apart => ClauseRelation::Apart,
        Comparison::Contained => ClauseRelation::Agrees,
        Comparison::Several => ClauseRelation::Several,
        Comparison::Differ(kind) if names_older => ClauseRelation::Updates(confidence(kind, agreement.share.max(0.9))),
        Comparison::Differ(kind) => {
            if is_one_attribute(newer, older, kind, agreement, same_tools) {
                ClauseRelation::Updates(confidence(kind, if without_subject { 0.7 } else { agreement.share }))
            } else {
                ClauseRelation::Apart
            }
        }
    }
}

fn confidence(kind: ValueKind, share: f64) -> f64 {
    let of_kind = match kind {
        ValueKind::Phrase => 0.75,
        ValueKind::Name | ValueKind::Path => 0.9,
        _ => 0.95,
    };
    of_kind * share
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

/// Tells whether both speak of one attribute of the subject. Where the verb names none (`uses`, `is`), a short subject
/// has many.
fn is_one_attribute(newer: &Clause, older: &Clause, kind: ValueKind, agreement: Agreement, same_tools: bool) -> bool {
    let topics = |clause: &Clause| clause.subject.iter().filter(|term| term.role == Role::Topic).count();
    let least_topics = topics(newer).min(topics(older));
    let weakest = |joint: Joint| newer.joint == joint || older.joint == joint;
    let is_permission = kind == ValueKind::Name && (newer.outline.is_permission() || older.outline.is_permission());
    if is_permission || matches!(kind, ValueKind::Name | ValueKind::Phrase) && (newer.is_additive || older.is_additive)
    {
        return false;
    }
    match kind {
        ValueKind::Name => {
            same_tools
                || (!tools_of_other_kinds(&newer.values, &older.values)
                    && (!weakest(Joint::Light) || least_topics > 1 || agreement.shared > 1.0)
                    && least_topics + usize::from(agreement.shared >= 1.0) > 0)
        }
        ValueKind::Phrase => {
            let is_short = |values: &[ClauseValue]| values.iter().all(|value| value.words.len() <= 4);
            let is_marked = newer.joint == Joint::Mark && older.joint == Joint::Mark;
            (same_tools && agreement.shared >= 1.0)
                || is_short(&newer.values)
                    && is_short(&older.values)
                    && !(newer.acts || older.acts)
                    && agreement.share >= 0.8
                    && (is_marked || agreement.shared >= 1.5)
                    && (!weakest(Joint::Light) || least_topics > 0)
        }
        _ => agreement.shared >= 1.0,
    }
}

fn tool_kinds(values: &[ClauseValue]) -> Vec<usize> {
    let names = values.iter().filter(|value| matches!(value.kind, ValueKind::Name | ValueKind::Phrase));
    names.flat_map(|value| value.words.iter().filter_map(|word| tools::tool_kind(word))).collect()
}

fn tools_of_one_kind(a: &[ClauseValue], b: &[ClauseValue]) -> bool {
    let (a, b) = (tool_kinds(a), tool_kinds(b));
    a.iter().any(|kind| b.contains(kind))
}

fn tools_of_other_kinds(a: &[ClauseValue], b: &[ClauseValue]) -> bool {
    !tool_kinds(a).is_empty() && !tool_kinds(b).is_empty() && !tools_of_one_kind(a, b)
}

/// Finds the relation of two clauses, one of which has a negation. They are opposites where almost all of their words
/// agree, also those of the values, or where the newer one bans what the older one says.
fn opposite(newer: &Clause, older: &Clause, agreement: Agreement) -> ClauseRelation {
    let words = |clause: &Clause| clause.values.iter().flat_map(|value| value.words.clone()).collect::<Vec<_>>();
    let (new, old) = (words(newer), words(older));
    let common =
        new.iter().filter(|word| older.says(word)).count() + old.iter().filter(|word| newer.says(word)).count();
    let all = new.len() + old.len();
    let share =
        (2.0 * agreement.shared + common as f64) / (2.0 * agreement.words.max(agreement.shared) + all as f64).max(1.0);
    let typed_differ =
        matches!(compare(&newer.values, &older.values), Comparison::Differ(kind) if kind != ValueKind::Phrase);
    // What held on one day is no rule.
    if newer.outline.has_date() != older.outline.has_date() {
        return ClauseRelation::Apart;
    }
    // A ban holds for everything that contains what is forbidden.
    let is_ban = !newer.is_affirmed && newer.bans && newer.outline.is_said_by(&older.outline);
    if is_ban || newer.outline.has_words_of(&older.outline) {
        return ClauseRelation::Updates(0.85);
    }
    if share >= SAME_ADVICE && !typed_differ && agreement.shared + common as f64 / 2.0 >= 1.5 {
        ClauseRelation::Updates(0.85 * share.min(1.0))
    } else {
        ClauseRelation::Apart
    }
}
