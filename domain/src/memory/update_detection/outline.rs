//! The outline of a clause: its phrases with the values in them, whatever the order and the form of its words.
//! `alignment` finds in which value two outlines differ.

use std::collections::BTreeSet;

use super::lexicon;
use super::phrase::Phrase;
use super::relations;
use super::term::{Role, Term};
use super::token::Token;
use super::values::{ClauseValue, ValueKind};
use super::verb::Verb;

/// The outline of a clause: what it says, without the order of its phrases.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Outline {
    pub(super) parts: Vec<Part>,
    pub(super) actions: Vec<String>,
    /// The verbs of the clause, including those that name no attribute.
    verbs: BTreeSet<String>,
    /// All words, in the spelling that is compared.
    said: BTreeSet<String>,
    /// The points of scales that the clause tells, such as the limit or the default.
    points: BTreeSet<(usize, usize)>,
    pub(super) is_copula: bool,
    /// True where something is done to the subject: `is formatted with`.
    pub(super) is_passive: bool,
    /// The kind of preposition by which `to be` joins what is said. It is empty for no preposition, and None for other
    /// verbs.
    joins_by: Option<&'static str>,
    /// True where the predicate says which one its subject is: `is the owner`.
    pub(super) is_definite: bool,
    /// True where a duty is told that one alone has: `Leo cuts the releases`.
    pub(super) tells_a_duty: bool,
    /// True where the clause is a permission, so that what it says may be done in several ways.
    pub(super) is_permission: bool,
}

/// A phrase: what it is about, and the values in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Part {
    pub(super) opening: String,
    /// The preposition between the verb and the phrase, which may belong to the verb: `is done by`.
    pub(super) joined_by: String,
    pub(super) is_condition: bool,
    pub(super) is_action: bool,
    pub(super) lists: bool,
    pub(super) is_before_verb: bool,
    pub(super) words: Vec<String>,
    pub(super) values: Vec<ClauseValue>,
}

impl Part {
    /// Tells whether it is a condition. A time behind `after` may be what a clause tells.
    pub(super) fn is_only_condition(&self) -> bool {
        self.is_condition && !matches!(&*self.opening, "after" | "until" | "before" | "once")
    }
}

impl Outline {
    pub(super) fn add(&mut self, phrases: &[Phrase], is_before_verb: bool) {
        self.parts.extend(phrases.iter().map(|phrase| Part {
            opening: phrase.opening.clone(),
            joined_by: phrase.opening.clone(),
            is_condition: phrase.is_condition,
            is_action: phrase.is_action,
            lists: phrase.lists,
            is_before_verb,
            words: phrase.words.clone(),
            values: phrase.values.iter().filter(|value| value.kind != ValueKind::Phrase).cloned().collect(),
        }));
    }

    /// Returns the word for the duty that it tells of its subject: `cuts`, `on call`, `has the pager`. None where it tells
    /// of none.
    pub(super) fn role(&self) -> Option<&String> {
        let predicate = self.parts.iter().find(|part| !part.is_before_verb && part.opening.is_empty());
        self.actions.last().or_else(|| predicate?.words.last()).filter(|_| self.tells_a_duty)
    }

    /// Tells whether it has a verb that names an attribute or none.
    pub(super) fn has_verb(&self, verb: &String) -> bool {
        self.verbs.contains(verb)
    }

    /// Adds a name that stands before the verb, in the place of its bare words.
    pub(super) fn begin_with(&mut self, name: Option<ClauseValue>) {
        self.parts.push(Part { is_before_verb: true, values: name.into_iter().collect(), ..Part::default() });
    }

    /// Reads the points of scales. That there is no such thing denies whatever is told of it.
    pub(super) fn measure(&mut self, tokens: &[Token], denies: bool) {
        let point = |token: &Token| {
            relations::point(&token.lower).or_else(|| relations::point(&lexicon::canonical(&token.lower)))
        };
        // A time before and a time after something narrow a clause where they begin it.
        let may_lead =
            |at: usize, word: &str| at == 0 || !matches!(word, "before" | "until" | "after" | "from" | "since");
        let tells = tokens
            .iter()
            .enumerate()
            .filter(|(at, token)| may_lead(*at, &token.lower) && !(denies && token.lower == "there"));
        self.points.extend(tells.filter_map(|(_, token)| point(token)));
        if tokens.windows(2).any(|pair| pair[0].lower == "as" && pair[1].lower == "of") {
            self.points.extend(relations::point("from"));
        }
        // A version is the least one where later ones will do: `iOS 14 and later`.
        let is_or = |token: &Token| matches!(&*token.lower, "and" | "or");
        let is_later = |token: &Token| matches!(&*token.lower, "later" | "newer" | "above" | "higher" | "up" | "more");
        if tokens.windows(2).any(|pair| is_or(&pair[0]) && is_later(&pair[1])) {
            self.points.insert(relations::MINIMUM);
        }
    }

    pub(super) fn recur(&mut self) {
        self.parts.iter_mut().flat_map(|part| &mut part.values).for_each(ClauseValue::recur);
    }

    pub(super) fn is_permission(&self) -> bool {
        self.is_permission
    }

    pub(super) fn set_verb(&mut self, verb: &Verb, next: &str, is_definite: bool, is_permission: bool) {
        let first = self.parts.iter_mut().find(|part| !part.is_before_verb);
        if let Some(first) = first.filter(|part| part.joined_by.is_empty() && lexicon::is_preposition(next)) {
            next.clone_into(&mut first.joined_by);
        }
        self.actions.clone_from(&verb.actions);
        self.verbs.clone_from(&verb.words);
        self.is_copula = verb.is_copula && !verb.has_preposition;
        self.joins_by = verb.is_copula.then(|| relations::preposition(next));
        self.is_definite = is_definite;
        self.is_permission = is_permission;
    }

    /// Completes the outline. A clause without a subject speaks of `inherited`.
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

    /// Returns all words that it says, in the spelling that is compared.
    pub(super) fn words(&self) -> impl Iterator<Item = &String> {
        self.said.iter()
    }

    pub(super) fn says(&self, word: &str) -> bool {
        self.said.contains(word) || self.said.contains(&lexicon::canonical(word))
    }

    /// Tells whether it says each word of a value. The name `#alerts` is not the word `alerts`.
    pub(super) fn says_value(&self, value: &ClauseValue) -> bool {
        let is_symbol = |word: &String| word.starts_with(['#', '@', '/']);
        value.words.iter().all(|word| if is_symbol(word) { self.said.contains(word) } else { self.says(word) })
    }
}

impl Outline {
    /// Tells whether they speak of different points of one scale: the default and the limit, the start and the end.
    pub(super) fn measures_other(&self, other: &Self) -> bool {
        // A value says nothing about its limit, and what it has to be at least is another thing than what it is.
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

    /// Tells whether both tell dates, and none of them is told by both.
    pub(super) fn has_other_dates(&self, other: &Self) -> bool {
        let dates = |outline: &Self| outline.values().filter(|value| value.kind == ValueKind::Date).cloned().collect();
        let (own, others): (Vec<ClauseValue>, Vec<ClauseValue>) = (dates(self), dates(other));
        let is_told = |date: &ClauseValue| others.iter().any(|other| date.overlaps(other));
        !own.is_empty() && !others.is_empty() && !own.iter().any(is_told)
    }

    /// Tells whether both say what something is, where it is or where it is from, but not the same one of these.
    pub(super) fn joins_otherwise(&self, other: &Self) -> bool {
        self.joins_by.zip(other.joins_by).is_some_and(|(own, others)| own != others)
    }

    /// Tells whether both say what is done, and name different acts.
    pub(super) fn does_otherwise(&self, other: &Self) -> bool {
        let are_same = |a: &String, b: &String| a == b || relations::are_related(a, b);
        let does_too = other.acts().any(|other| self.acts().any(|own| are_same(own, other)));
        self.acts().next().is_some() && other.acts().next().is_some() && !does_too
    }

    fn acts(&self) -> impl Iterator<Item = &String> {
        self.verbs.iter().filter(|verb| !lexicon::is_polarity(verb) && !relations::is_general(verb))
    }

    /// Tells whether it only names things, as a title does.
    pub(super) fn only_names(&self) -> bool {
        let says_nothing = self.values().next().is_none() && !self.said.iter().any(|word| lexicon::is_polarity(word));
        says_nothing && !self.is_copula && !self.joins() && self.verbs.is_empty() && self.actions.is_empty()
    }

    /// Tells whether its verb is a form of `to be`.
    pub(super) fn joins(&self) -> bool {
        self.joins_by.is_some()
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &ClauseValue> {
        self.parts.iter().flat_map(|part| &part.values)
    }
}
