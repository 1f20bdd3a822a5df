//! The difference of two outlines: the one value in which they differ. What both clauses say is taken away, and one
//! value of the same kind has to be left over on either side.

use std::collections::BTreeSet;

use super::clause::Clause;
use super::outline::{Outline, Part};
use super::values::{ClauseValue, ValueKind};
use super::{lexicon, phrase, relations, tools};

/// The weight of a verb beside that of a noun.
const VERB_WEIGHT: f64 = 0.5;
/// The share of common words from which on two clauses speak of the same thing.
const LEAST_SHARE: f64 = 0.6;
/// That share where the newer clause names the older value as the one before.
const LEAST_SHARE_NAMED: f64 = 0.4;
/// The least weight of the shared words where the values are names, which say less about their attribute than amounts
/// do.
const LEAST_SHARED_BESIDE_NAMES: f64 = 1.5;
/// The least weight of the shared words for tools of different purposes to take each other's place.
const LEAST_SHARED_BESIDE_TOOLS: f64 = 2.5;

/// The part of what one clause says that the other does not say.
struct LeftOver<'a> {
    /// The only phrase with values that the other clause does not tell.
    slot: &'a Part,
    values: Vec<&'a ClauseValue>,
    nouns: usize,
    verbs: Vec<&'a String>,
    /// True where one of the verbs tells a purpose.
    has_purpose: bool,
    shared: f64,
}

/// Returns the kind of the one value in which two clauses differ. None where they do not differ in one value alone.
pub(in crate::memory::supersession) fn differ(newer: &Clause, older: &Clause, names_older: bool) -> Option<ValueKind> {
    let is_comparable = |a: &ClauseValue| older.outline.values().any(|b| a.kind == b.kind);
    if !newer.outline.values().any(is_comparable) {
        return None;
    }
    let (new, old) = (left_over(&newer.outline, &older.outline)?, left_over(&older.outline, &newer.outline)?);
    if newer.outline.measures_other(&older.outline) {
        return None;
    }
    let (a, b) = new.values.iter().find_map(|a| Some((*a, *old.values.iter().find(|b| a.may_replace(b))?)))?;
    let kind = a.kind;
    if matches!(kind, ValueKind::Name | ValueKind::Path) && newer.outline.joins_otherwise(&older.outline) {
        return None;
    }
    let counts = |left: &LeftOver<'_>| left.nouns > 0;
    if counts(&new) && counts(&old) {
        return None;
    }
    let same_tools = a.words.iter().any(|a| b.words.iter().any(|b| same_tool(a, b)));
    let is_related = new.verbs.iter().any(|a| old.verbs.iter().any(|b| relations::are_related(a, b)));
    let mixes = |a: &LeftOver<'_>, b: &LeftOver<'_>| a.nouns > 0 && !b.verbs.is_empty() && !b.has_purpose;
    if !same_tools && (mixes(&new, &old) || mixes(&old, &new)) {
        return None;
    }
    if !new.verbs.is_empty() && !old.verbs.is_empty() && !is_related && !same_tools {
        return None;
    }
    let shared = new.shared.min(old.shared) + if is_related { VERB_WEIGHT } else { 0.0 };
    let left_verbs = if is_related { 0 } else { new.verbs.len() + old.verbs.len() };
    let left = (new.nouns + old.nouns) as f64 + VERB_WEIGHT * left_verbs as f64;
    let is_named = matches!(kind, ValueKind::Name);
    let least = if is_named && !same_tools && !names_older { LEAST_SHARED_BESIDE_NAMES } else { 1.0 };
    // Something that is said to have a role is the only one that has it: `we picked X as our proxy`.
    let least = if left == 0.0 && newer.outline.defines() && older.outline.defines() { 1.0 } else { least };
    // A subject that does nothing else does it once: `we release every Tuesday`.
    let is_all = !is_named && shared >= VERB_WEIGHT && left == 0.0;
    let is_unique = newer
        .outline
        .actions
        .iter()
        .any(|verb| relations::has_one_object(verb) && older.outline.actions.contains(verb));
    let is_all = is_all || (is_unique && left == 0.0 && !new.slot.is_before_verb && !old.slot.is_before_verb);
    let is_enough = (shared >= least || is_all)
        && shared / (shared + left) >= if names_older { LEAST_SHARE_NAMED } else { LEAST_SHARE };
    let is_open = is_named && !names_older && (newer.may_have_several(&new) || older.may_have_several(&old));
    let may_differ = |clause: &Clause, left: &LeftOver<'_>| {
        !(is_named || (kind == ValueKind::Number && left.slot.is_before_verb))
            || same_tools
            || names_older
            || clause.outline.tells(left.slot)
    };
    (is_enough
        && !is_open
        && may_differ(newer, &new)
        && may_differ(older, &old)
        && (is_related || shared >= LEAST_SHARED_BESIDE_TOOLS || !is_other_tool(a, b)))
    .then_some(kind)
}

impl Clause {
    /// Tells whether the value may be one of several, because the verb has many objects or the clause is a permission.
    fn may_have_several(&self, left: &LeftOver<'_>) -> bool {
        !left.slot.is_before_verb && (self.is_additive || self.outline.is_permission)
    }
}

impl Outline {
    /// Tells whether it says what has a role: `the proxy is X`, `X as the proxy`.
    fn defines(&self) -> bool {
        self.is_copula || self.parts.iter().any(|part| part.opening == "as")
    }

    /// Tells whether a phrase tells the only value of an attribute: not who does something, nor where something comes
    /// from.
    fn tells(&self, slot: &Part) -> bool {
        if slot.is_before_verb { self.is_definite } else { slot.opening != "from" }
    }
}

fn same_tool(a: &str, b: &str) -> bool {
    tools::tool_kind(a).is_some() && tools::tool_kind(a) == tools::tool_kind(b)
}

/// Tells whether both are names of tools, for different purposes.
fn is_other_tool(a: &ClauseValue, b: &ClauseValue) -> bool {
    let kinds = |value: &ClauseValue| value.words.iter().filter_map(|word| tools::tool_kind(word)).collect::<Vec<_>>();
    let (a, b) = (kinds(a), kinds(b));
    !a.is_empty() && !b.is_empty() && !a.iter().any(|kind| b.contains(kind))
}

/// Finds what outline `a` says and outline `b` does not. None where that narrows the clause, or does not hold one
/// value.
fn left_over<'a>(a: &'a Outline, b: &Outline) -> Option<LeftOver<'a>> {
    let is_known = |value: &ClauseValue| {
        value.words.iter().all(|word| b.says(word))
            || b.values().any(|other| value.kind == other.kind && value.overlaps(other))
    };
    let mut slots = a.parts.iter().filter_map(|part| {
        let values: Vec<&ClauseValue> = part.values.iter().filter(|value| !is_known(value)).collect();
        (!values.is_empty()).then_some((part, values))
    });
    let (slot, values) = slots.next()?;
    if slots.next().is_some() || slot.lists {
        return None;
    }
    let kind = values[0].kind;
    let mut verbs: Vec<&String> = a.actions.iter().filter(|verb| !b.says(verb)).collect();
    let describes = kind == ValueKind::Name && (!slot.is_before_verb || a.is_definite);
    let mut has_purpose = false;
    let (mut nouns, mut shared) = (0, BTreeSet::new());
    for part in &a.parts {
        for (at, word) in part.words.iter().enumerate() {
            if phrase::is_detail(word) || relations::names_kind(word, kind.noun()) {
                continue;
            }
            if b.says(word) {
                shared.insert(word.as_str());
                continue;
            }
            if relations::is_bound(word) {
                continue;
            }
            if part.is_action && at == 0 {
                verbs.push(word);
                has_purpose = true;
                continue;
            }
            let is_narrowing = part.is_condition || (!part.opening.is_empty() && !std::ptr::eq(part, slot));
            let is_modifier = part.words[at + 1..].iter().any(|behind| b.says(behind) && !phrase::is_detail(behind));
            if is_narrowing || is_modifier || lexicon::environment(word).is_some() {
                return None;
            }
            // A word beside a name says what is named: `the bucket prod-a`.
            nouns += usize::from(!(describes && std::ptr::eq(part, slot)));
        }
        let known = part.values.iter().filter(|value| is_known(value));
        shared.extend(known.flat_map(|value| value.words.iter().map(String::as_str)));
    }
    let known_verbs = a.actions.iter().filter(|verb| b.says(verb) && !shared.contains(verb.as_str())).count();
    let shared = shared.len() as f64 + VERB_WEIGHT * known_verbs as f64;
    Some(LeftOver { slot, values, nouns, verbs, has_purpose, shared })
}
