//! Two clauses that say the same of something but for one value, whatever the order and the form of their words: what
//! both say is taken away, and one value of the same kind has to be left over on either side.

use std::collections::BTreeSet;

use super::clause::{Clause, Role, Term};
use super::lexicon;
use super::phrase::{self, Phrase};
use super::relations;
use super::token::Token;
use super::tools;
use super::values::{Kind, Value};
use super::verb::Verb;

/// How much a verb counts beside a noun.
const VERB_WEIGHT: f64 = 0.5;
/// From this share of common words on, two clauses speak of the same thing.
const LEAST_SHARE: f64 = 0.6;
/// From this share on they do where the newer clause names the older value as the one before.
const LEAST_SHARE_NAMED: f64 = 0.4;
/// Names and words say less about which attribute they are the value of than amounts do, so that more has to be shared.
const LEAST_SHARED_BESIDE_NAMES: f64 = 1.5;
/// Tools for different purposes take each other's place where this much is shared.
const LEAST_SHARED_BESIDE_TOOLS: f64 = 2.5;

/// What a clause says, without the order of its phrases.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Outline {
    parts: Vec<Part>,
    actions: Vec<String>,
    /// Its verbs, those that name no attribute among them.
    verbs: BTreeSet<String>,
    /// All words, in the spelling that is compared.
    said: BTreeSet<String>,
    /// Which points of which scales it tells: the limit, the default.
    points: BTreeSet<(usize, usize)>,
    is_copula: bool,
    /// How a verb that is but `to be` joins what is said: by which kind of preposition, or by none.
    joins_by: Option<&'static str>,
    /// Its predicate says which one its subject is: `is the owner`.
    is_definite: bool,
    /// What it says may be done in several ways.
    is_permission: bool,
}

/// A phrase: what it is about, and the values in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Part {
    opening: String,
    is_condition: bool,
    is_action: bool,
    lists: bool,
    is_before_verb: bool,
    words: Vec<String>,
    values: Vec<Value>,
}

impl Outline {
    pub(super) fn add(&mut self, phrases: &[Phrase], is_before_verb: bool) {
        self.parts.extend(phrases.iter().map(|phrase| Part {
            opening: phrase.opening.clone(),
            is_condition: phrase.is_condition,
            is_action: phrase.is_action,
            lists: phrase.lists,
            is_before_verb,
            words: phrase.words.clone(),
            values: phrase.values.iter().filter(|value| value.kind != Kind::Phrase).cloned().collect(),
        }));
    }

    /// The bare words before the verb are a name.
    pub(super) fn begin_with(&mut self, name: Option<Value>) {
        self.parts.retain(|part| !part.is_before_verb);
        self.parts.push(Part { is_before_verb: true, values: name.into_iter().collect(), ..Part::default() });
    }

    pub(super) fn measure(&mut self, tokens: &[Token]) {
        let point = |token: &Token| {
            relations::point(&token.lower).or_else(|| relations::point(&lexicon::canonical(&token.lower)))
        };
        // A time before and a time after something narrow a clause where they begin it.
        let may_lead =
            |at: usize, word: &str| at == 0 || !matches!(word, "before" | "until" | "after" | "from" | "since");
        let tells = tokens.iter().enumerate().filter(|(at, token)| may_lead(*at, &token.lower));
        self.points.extend(tells.filter_map(|(_, token)| point(token)));
    }

    pub(super) fn recur(&mut self) {
        self.parts.iter_mut().flat_map(|part| &mut part.values).for_each(Value::recur);
    }

    pub(super) fn is_permission(&self) -> bool {
        self.is_permission
    }

    pub(super) fn set_verb(&mut self, verb: &Verb, next: &str, is_definite: bool, is_permission: bool) {
        self.actions.clone_from(&verb.actions);
        self.verbs.clone_from(&verb.words);
        self.is_copula = verb.is_copula && !verb.has_preposition;
        self.joins_by = verb.is_copula.then(|| relations::preposition(next));
        self.is_definite = is_definite;
        self.is_permission = is_permission;
    }

    /// `inherited` is what a clause without a subject speaks of.
    pub(super) fn finish(mut self, inherited: &[Term]) -> Self {
        let has_subject =
            self.parts.iter().any(|part| part.is_before_verb && !(part.words.is_empty() && part.values.is_empty()));
        if !has_subject {
            self.narrow(
                inherited
                    .iter()
                    .filter(|term| matches!(term.role, Role::Topic | Role::Qualifier))
                    .map(|term| term.word.clone()),
            );
        }
        let of_values =
            |part: &Part| part.values.iter().flat_map(|value| value.words.iter().cloned()).collect::<Vec<_>>();
        let of_parts = self.parts.iter().flat_map(|part| part.words.iter().cloned().chain(of_values(part)));
        let words: Vec<String> = of_parts.chain(self.actions.iter().cloned()).collect();
        self.points.extend(words.iter().filter_map(|word| relations::point(word)));
        self.said = words.iter().map(|word| lexicon::canonical(word)).chain(words.iter().cloned()).collect();
        self
    }

    pub(super) fn narrow(&mut self, words: impl IntoIterator<Item = String>) {
        let words: Vec<String> = words.into_iter().collect();
        if words.is_empty() {
            return;
        }
        self.said.extend(words.iter().cloned());
        let opening = "in".to_owned();
        self.parts.push(Part { opening, is_before_verb: true, words, ..Part::default() });
    }

    fn says(&self, word: &str) -> bool {
        self.said.contains(word) || self.said.contains(&lexicon::canonical(word))
    }
}

/// What one clause says and the other does not.
struct LeftOver<'a> {
    /// The only phrase with values that the other does not tell.
    slot: &'a Part,
    values: Vec<&'a Value>,
    nouns: usize,
    verbs: Vec<&'a String>,
    /// One of the verbs tells what for.
    has_purpose: bool,
    shared: f64,
}

/// The kind of the one value in which two clauses differ.
pub(super) fn differ(newer: &Clause, older: &Clause, names_older: bool) -> Option<Kind> {
    let is_comparable = |a: &Value| older.outline.values().any(|b| a.kind == b.kind);
    if !newer.outline.values().any(is_comparable) {
        return None;
    }
    let (new, old) = (left_over(&newer.outline, &older.outline)?, left_over(&older.outline, &newer.outline)?);
    if newer.outline.measures_other(&older.outline) {
        return None;
    }
    let (a, b) = new.values.iter().find_map(|a| Some((*a, *old.values.iter().find(|b| a.may_replace(b))?)))?;
    let kind = a.kind;
    if matches!(kind, Kind::Name | Kind::Path) && newer.outline.joins_otherwise(&older.outline) {
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
    let is_named = matches!(kind, Kind::Name);
    let least = if is_named && !same_tools && !names_older { LEAST_SHARED_BESIDE_NAMES } else { 1.0 };
    // What is said to be the one that has a role is all there is of it: `we picked X as our proxy`.
    let least = if left == 0.0 && newer.outline.defines() && older.outline.defines() { 1.0 } else { least };
    // Who does nothing but one thing does it once: `we release every Tuesday`.
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
        !(is_named || (kind == Kind::Number && left.slot.is_before_verb))
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
    /// Whether the value may be one of several: what a verb of many objects, or a permission, is about.
    fn may_have_several(&self, left: &LeftOver<'_>) -> bool {
        !left.slot.is_before_verb && (self.is_additive || self.outline.is_permission)
    }
}

impl Outline {
    /// Whether it says what has a role: `the proxy is X`, `X as the proxy`.
    fn defines(&self) -> bool {
        self.is_copula || self.parts.iter().any(|part| part.opening == "as")
    }

    /// Whether a phrase tells the only value of an attribute: not who does something, nor where something comes from.
    fn tells(&self, slot: &Part) -> bool {
        if slot.is_before_verb { self.is_definite } else { slot.opening != "from" }
    }
}

fn same_tool(a: &str, b: &str) -> bool {
    tools::tool_kind(a).is_some() && tools::tool_kind(a) == tools::tool_kind(b)
}

/// Whether both are names of tools, for different purposes.
fn is_other_tool(a: &Value, b: &Value) -> bool {
    let kinds = |value: &Value| value.words.iter().filter_map(|word| tools::tool_kind(word)).collect::<Vec<_>>();
    let (a, b) = (kinds(a), kinds(b));
    !a.is_empty() && !b.is_empty() && !a.iter().any(|kind| b.contains(kind))
}

/// None where what is left over narrows the clause, or does not hold one value.
fn left_over<'a>(a: &'a Outline, b: &Outline) -> Option<LeftOver<'a>> {
    let is_known = |value: &Value| {
        value.words.iter().all(|word| b.says(word))
            || b.values().any(|other| value.kind == other.kind && value.overlaps(other))
    };
    let mut slots = a.parts.iter().filter_map(|part| {
        let values: Vec<&Value> = part.values.iter().filter(|value| !is_known(value)).collect();
        (!values.is_empty()).then_some((part, values))
    });
    let (slot, values) = slots.next()?;
    if slots.next().is_some() || slot.lists {
        return None;
    }
    let kind = values[0].kind;
    let mut verbs: Vec<&String> = a.actions.iter().filter(|verb| !b.says(verb)).collect();
    let describes = kind == Kind::Name && (!slot.is_before_verb || a.is_definite);
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

impl Outline {
    /// Whether they speak of other points of one scale: the default and the limit, the start and the end.
    pub(super) fn measures_other(&self, other: &Self) -> bool {
        // A value is told without its limit; what it has to be at least is another thing than what it is.
        let has_minimum =
            |outline: &Self| outline.points.iter().copied().filter(|point| point.0 == 0).eq([relations::MINIMUM]);
        if has_minimum(self) != has_minimum(other) {
            return true;
        }
        self.points.iter().any(|(scale, _)| {
            let on_scale = |outline: &Self| {
                outline.points.iter().filter(|point| point.0 == *scale).copied().collect::<BTreeSet<_>>()
            };
            let others = on_scale(other);
            !others.is_empty() && on_scale(self).is_disjoint(&others)
        })
    }

    /// Whether they consist of the same words, but for those that affirm or deny.
    pub(super) fn has_words_of(&self, other: &Self) -> bool {
        let (own, others) = (self.plain_words(), other.plain_words());
        !own.is_empty() && own == others && (self.verbs.is_subset(&other.verbs) || other.verbs.is_subset(&self.verbs))
    }

    /// Whether each of its words is said by another one, two of them at least.
    pub(super) fn is_said_by(&self, other: &Self) -> bool {
        let own = self.plain_words();
        own.len() > 1 && own.iter().all(|word| other.says(word))
    }

    fn plain_words(&self) -> BTreeSet<&String> {
        let of_values = self.parts.iter().flat_map(|part| part.values.iter().flat_map(|value| &value.words));
        let words = self.parts.iter().flat_map(|part| &part.words).chain(of_values).chain(&self.actions);
        words.filter(|word| !lexicon::is_polarity(word)).collect()
    }

    pub(super) fn has_date(&self) -> bool {
        self.values().any(|value| matches!(value.kind, Kind::Date | Kind::Time))
    }

    /// Whether both say what something is, where it is or where it is from, and not both the same of it.
    pub(super) fn joins_otherwise(&self, other: &Self) -> bool {
        self.joins_by.zip(other.joins_by).is_some_and(|(own, others)| own != others)
    }

    fn values(&self) -> impl Iterator<Item = &Value> {
        self.parts.iter().flat_map(|part| &part.values)
    }
}
