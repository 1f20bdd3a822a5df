//! The alignment of two clauses. Words that both say are taken away. From what is left over on either side, the two
//! values that fit together best are the difference, and the rest speaks against an update.

use std::collections::BTreeSet;

use super::clause::Clause;
use super::outline::{Outline, Part};
use super::values::{ClauseValue, ValueKind};
use super::{lexicon, phrase, relations, tools};

/// The weight of a verb beside that of a noun.
pub(super) const VERB_WEIGHT: f64 = 0.5;
/// The shortest beginning that two words of one family share, in bytes.
const FAMILY_BYTES: usize = 4;
/// The suffixes that may stand behind that beginning in a word of the family.
const SUFFIXES: [&str; 20] = [
    "", "e", "y", "i", "c", "er", "or", "ist", "tist", "ion", "at", "ation", "ment", "al", "ant", "ent", "anc", "abl",
    "iv", "ship",
];

/// The way in which two values differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Difference {
    /// Two amounts, dates or other values of one type.
    Typed,
    /// Two tools of one purpose, or two words that exclude one another.
    Exclusive,
    Names,
    /// Words, at least on one side.
    Words,
    /// One clause denies what the other affirms.
    Polarity,
    /// Two things change places: `from the shop to the warehouse`, `from the warehouse to the shop`.
    Places,
}

/// Something that one clause says and the other does not, and that may be the value in which they differ.
#[derive(Clone)]
pub(super) struct Candidate<'a> {
    /// The phrase that it stands in. None for a verb.
    pub(super) part: Option<&'a Part>,
    /// The value, where it is not plain words.
    pub(super) value: Option<&'a ClauseValue>,
    /// True for plain words beside a value.
    is_beside: bool,
    words: Vec<&'a String>,
}

impl Candidate<'_> {
    pub(super) fn is_before_verb(&self) -> bool {
        self.part.is_some_and(|part| part.is_before_verb)
    }

    /// Returns the preposition before it. None for what does not stand behind the verb.
    pub(super) fn opening_behind_verb(&self) -> Option<&str> {
        self.part.filter(|part| !part.is_before_verb).map(|part| part.joined_by.as_str())
    }

    pub(super) fn is_path(&self) -> bool {
        self.value.is_some_and(|value| value.kind == ValueKind::Path)
    }

    pub(super) fn is_next_to_verb(&self) -> bool {
        self.part.is_some_and(|part| !part.is_before_verb && part.opening.is_empty())
    }

    fn is_in(&self, part: &Part) -> bool {
        self.part.is_some_and(|own| std::ptr::eq(own, part))
    }

    /// Returns the tool that it names. A name of several words may be that of another tool: `GitHub Actions`.
    pub(super) fn tool(&self) -> Option<&str> {
        match self.words[..] {
            [word] => tools::tool_kind(word).map(|_| word.as_str()),
            _ => None,
        }
    }

    fn tool_kinds(&self) -> BTreeSet<usize> {
        self.words.iter().filter_map(|word| tools::tool_kind(word)).collect()
    }
}

/// The numbers of words of one clause that the other does not say, by what they do, beside the value that differs.
#[derive(Default)]
pub(super) struct UnsharedWords {
    pub(super) nouns: f64,
    /// Nouns that the clause speaks of.
    pub(super) subjects: f64,
    /// Words before a noun that both say: `upload timeout`.
    pub(super) modifiers: f64,
    /// Environments, and words of conditions.
    pub(super) narrowing: f64,
    /// Words behind a preposition.
    pub(super) behind: f64,
    /// Words beside the value that differs.
    pub(super) beside: f64,
    pub(super) values: f64,
    pub(super) names: f64,
    pub(super) verbs: f64,
    /// The words that both say. A verb counts as `VERB_WEIGHT`.
    pub(super) shared: f64,
}

impl UnsharedWords {
    pub(super) fn is_empty(&self) -> bool {
        self.nouns
            + self.subjects
            + self.modifiers
            + self.narrowing
            + self.behind
            + self.values
            + self.names
            + self.verbs
            == 0.0
    }
}

/// Two clauses that differ in one value, or in what they affirm.
pub(super) struct Alignment<'a> {
    pub(super) difference: Difference,
    /// The values that differ. None where the clauses differ in what they affirm, or where things change places.
    pub(super) slots: Option<[Candidate<'a>; 2]>,
    pub(super) new: UnsharedWords,
    pub(super) old: UnsharedWords,
}

/// Finds in what a newer clause differs from an older one. None where no value of one fits to one of the other.
pub(super) fn align<'a>(newer: &'a Clause, older: &'a Clause) -> Option<Alignment<'a>> {
    let (a, b) = (&newer.outline, &older.outline);
    if newer.is_affirmed != older.is_affirmed {
        let (new, old) = (rest(a, b, None), rest(b, a, None));
        // A title affirms nothing but what it names.
        if newer.is_affirmed && a.only_names() && !old.is_empty() {
            return None;
        }
        return Some(Alignment { difference: Difference::Polarity, slots: None, new, old });
    }
    if change_places(a, b) {
        let (new, old) = (rest(a, b, None), rest(b, a, None));
        return Some(Alignment { difference: Difference::Places, slots: None, new, old });
    }
    let (new, old) = (candidates(a, b), candidates(b, a));
    let pairs = new.iter().flat_map(|x| old.iter().map(move |y| (x, y)));
    let fitting = pairs.filter_map(|(x, y)| fit(x, y).map(|(difference, fit)| (x, y, difference, fit)));
    let (x, y, difference, _) = fitting.reduce(|best, next| if next.3 > best.3 { next } else { best })?;
    let (new, old) = (rest(a, b, Some([x, y])), rest(b, a, Some([y, x])));
    Some(Alignment { difference, slots: Some([x.clone(), y.clone()]), new, old })
}

/// Tells whether two phrases behind the verb of one outline stand at each other's place in the other outline.
fn change_places(a: &Outline, b: &Outline) -> bool {
    let says = |outline: &Outline, opening: &str, of: &Part| {
        outline.parts.iter().any(|part| part.opening == opening && part.words == of.words && part.values == of.values)
    };
    a.parts.iter().any(|x| {
        a.parts.iter().any(|y| {
            let differ = x.opening != y.opening && x.words != y.words;
            let are_phrases = [x, y].iter().all(|part| !part.is_before_verb && !part.words.is_empty());
            differ && are_phrases && says(b, &y.opening, x) && says(b, &x.opening, y)
        })
    })
}

/// Tells whether the newer clause says all that the older one says.
pub(super) fn is_said(newer: &Clause, older: &Clause) -> bool {
    let (new, old) = (&newer.outline, &older.outline);
    let rest = rest(old, new, None);
    newer.is_affirmed == older.is_affirmed && candidates(old, new).is_empty() && rest.is_empty() && rest.shared > 0.0
}

/// Tells whether an outline says a word, or another word of its family: `scientist`, `science`.
fn says(outline: &Outline, word: &str) -> bool {
    outline.says(word) || outline.words().any(|other| is_family(word, other) && lexicon::environment(other).is_none())
}

/// Tells whether two stems differ in the suffixes alone that derive one word from another.
fn is_family(a: &str, b: &str) -> bool {
    let common: usize = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let derives = |word: &str| word.get(common..).is_some_and(|suffix| SUFFIXES.contains(&suffix));
    common >= FAMILY_BYTES && derives(a) && derives(b)
}

/// Tells whether another outline says a value of outline `own`, or part of it.
fn is_known(value: &ClauseValue, own: &Outline, other: &Outline) -> bool {
    // The longer of two names on one side is another thing: the state of Terraform in Terraform Cloud.
    let is_own = |known: &ClauseValue| own.values().any(|value| value == known);
    other.says_value(value)
        || other.values().any(|known| value.kind == known.kind && value.overlaps(known) && !is_own(known))
}

/// Finds what outline `a` says and outline `b` does not.
fn candidates<'a>(a: &'a Outline, b: &Outline) -> Vec<Candidate<'a>> {
    let mut all = Vec::new();
    for part in &a.parts {
        let before = all.len();
        let values = part.values.iter().filter(|value| !is_known(value, a, b));
        all.extend(values.map(|value| Candidate {
            part: Some(part),
            value: Some(value),
            is_beside: false,
            words: value.words.iter().collect(),
        }));
        // A word that tells no subject from another may still be what is said of one: `the branch is main`.
        let is_bare = !part.is_before_verb && part.words.iter().all(|word| phrase::is_detail(word));
        let is_last = |word: &String| {
            !part.is_before_verb
                && tools::is_exclusive(word)
                && part.words.last().is_some_and(|last| std::ptr::eq(last, word))
        };
        let words: Vec<&String> = part
            .words
            .iter()
            .filter(|word| {
                (is_bare || is_last(word) || !phrase::is_detail(word)) && !lexicon::is_polarity(word) && !says(b, word)
            })
            .collect();
        if !words.is_empty() {
            all.push(Candidate { part: Some(part), value: None, is_beside: all.len() > before, words });
        }
    }
    let verbs: Vec<&String> = a.actions.iter().filter(|verb| !says(b, verb)).collect();
    if !verbs.is_empty() {
        all.push(Candidate { part: None, value: None, is_beside: false, words: verbs });
    }
    all
}

pub(super) fn is_other_tool(a: &Candidate<'_>, b: &Candidate<'_>) -> bool {
    let kind = |of: &Candidate<'_>| of.tool().and_then(tools::tool_kind);
    kind(a).zip(kind(b)).is_some_and(|(a, b)| a != b)
}

/// Tells how two values differ, and how well they fit together. None where they are of different types.
fn fit(a: &Candidate<'_>, b: &Candidate<'_>) -> Option<(Difference, f64)> {
    let narrows = |of: &Candidate<'_>| {
        let mut are_environments = of.words.iter().map(|word| lexicon::environment(word).is_some());
        // A name may have a part that is an environment elsewhere: `Dr Hoffmann`.
        if of.value.is_some() { are_environments.all(|is| is) } else { are_environments.any(|is| is) }
    };
    if narrows(a) || narrows(b) {
        return None;
    }
    let excludes = |a: &String, b: &String| tools::exclude(&lexicon::canonical(a), &lexicon::canonical(b));
    // The words that narrow both clauses before the verb are not what the clauses tell:
    // `on the blue fleet the heap is`.
    let narrows_before =
        |of: &Candidate<'_>| of.part.is_some_and(|part| part.is_before_verb && !part.opening.is_empty());
    let excluded =
        !(narrows_before(a) && narrows_before(b)) && a.words.iter().any(|a| b.words.iter().any(|b| excludes(a, b)));
    let same_tools = !a.tool_kinds().is_disjoint(&b.tool_kinds());
    let day = |kind: ValueKind| if kind == ValueKind::Frequency { ValueKind::Date } else { kind };
    let (difference, fit) = match (a.value, b.value) {
        _ if excluded || same_tools => (Difference::Exclusive, 6.0),
        _ if a.part.is_none() || b.part.is_none() || a.is_beside || b.is_beside => return None,
        (Some(a), Some(b)) if a.kind == ValueKind::Name && b.kind == ValueKind::Name => (Difference::Names, 3.0),
        // A command, an address or a place of a file may be written with signs that tell a path, or without them.
        (Some(x), Some(y)) if x.is_written_name() && y.is_written_name() && x.kind != y.kind => {
            (Difference::Names, 2.5)
        }
        (Some(a), Some(b)) if a.may_replace(b) => (Difference::Typed, 5.0),
        (Some(a), Some(b))
            if (a.is_hour() && b.kind == ValueKind::Time) || (a.kind == ValueKind::Time && b.is_hour()) =>
        {
            (Difference::Typed, 4.0)
        }
        (Some(a), Some(b)) if day(a.kind) == day(b.kind) && a.kind != b.kind => (Difference::Typed, 4.0),
        (None, None) => (Difference::Words, 1.0),
        (Some(value), None) | (None, Some(value)) if matches!(value.kind, ValueKind::Name | ValueKind::Path) => {
            (Difference::Words, 1.5)
        }
        _ => return None,
    };
    let place = |of: &Candidate<'_>| {
        let part = of.part?;
        let narrows = part.is_only_condition() || (part.is_before_verb && !part.opening.is_empty());
        Some(f64::from(u8::from(!part.is_before_verb)) / 4.0 - f64::from(u8::from(narrows)))
    };
    let same_opening = a.part.zip(b.part).is_some_and(|(a, b)| a.opening == b.opening);
    let places = place(a).unwrap_or(0.0) + place(b).unwrap_or(0.0) + f64::from(u8::from(same_opening)) / 2.0;
    Some((difference, fit + places))
}

/// Counts what outline `a` says and outline `b` does not, beside the values that differ: that of `a` first.
fn rest(a: &Outline, b: &Outline, slots: Option<[&Candidate<'_>; 2]>) -> UnsharedWords {
    let mut reading = RestReading { a, b, slots, rest: UnsharedWords::default(), shared: BTreeSet::new() };
    for part in &a.parts {
        part.values.iter().for_each(|value| reading.value(part, value));
        (0..part.words.len()).for_each(|at| reading.word(part, at));
    }
    reading.finish()
}

/// The reading of what outline `a` says and outline `b` does not.
struct RestReading<'a, 'b> {
    a: &'a Outline,
    b: &'b Outline,
    slots: Option<[&'b Candidate<'b>; 2]>,
    rest: UnsharedWords,
    shared: BTreeSet<&'a str>,
}

impl<'a> RestReading<'a, '_> {
    /// Returns the value of `a` that differs, where it stands in this phrase.
    fn slot_in(&self, part: &Part) -> Option<&Candidate<'_>> {
        self.slots.map(|[own, _]| own).filter(|own| own.is_in(part))
    }

    fn value(&mut self, part: &'a Part, value: &'a ClauseValue) {
        if is_known(value, self.a, self.b) {
            self.shared.extend(value.words.iter().map(String::as_str));
            return;
        }
        let slot = self.slot_in(part);
        let is_slot = slot.is_some_and(|slot| slot.value == Some(value));
        let is_name = value.kind == ValueKind::Name;
        let of_slot = slot.and_then(|slot| slot.value);
        let describes = is_name && !part.lists && of_slot.is_some_and(|value| value.kind == ValueKind::Name);
        if is_slot || describes || self.changes_too(part, value) {
            return;
        }
        let count = match () {
            () if part.is_condition || (!part.opening.is_empty() && slot.is_none()) => &mut self.rest.narrowing,
            () if is_name => &mut self.rest.names,
            () => &mut self.rest.values,
        };
        *count += 1.0;
    }

    /// Tells whether outline `b` says another value at the place of this one, beside the values that differ: with the
    /// day the hour changes, and with the beginning the end.
    fn changes_too(&self, part: &Part, value: &ClauseValue) -> bool {
        let Some([own, other]) = self.slots else { return false };
        let (Some(of_own), Some(of_other)) = (own.value, other.value) else { return false };
        let may_stand = |part: &Part| !part.is_before_verb && !part.is_only_condition();
        let is_counterpart = |of_b: &ClauseValue| {
            !std::ptr::eq(of_b, of_other) && !is_known(of_b, self.b, self.a) && of_b.changes_with(value)
        };
        may_stand(part)
            && value.belongs_to(of_own)
            && self.b.parts.iter().filter(|part| may_stand(part)).flat_map(|part| &part.values).any(is_counterpart)
    }

    fn word(&mut self, part: &'a Part, at: usize) {
        let word = &part.words[at];
        if says(self.b, word) && !phrase::is_detail(word) {
            self.shared.insert(word);
            return;
        }
        let noun = self.slots.and_then(|[own, _]| own.value).map(|value| value.kind.noun());
        let names_kind = noun.is_some_and(|noun| relations::names_kind(word, noun));
        if phrase::is_detail(word) || relations::is_bound(word) || lexicon::is_polarity(word) || names_kind {
            return;
        }
        let slot = self.slot_in(part);
        let is_of_words = slot.is_some_and(|slot| slot.value.is_none());
        let is_modifier = self.is_modifier(part, at);
        let of_slot = slot.is_some() && (is_of_words || !is_modifier);
        let count = match () {
            () if lexicon::environment(word).is_some() => &mut self.rest.narrowing,
            () if is_of_words => return,
            () if of_slot => &mut self.rest.beside,
            () if part.is_action && at == 0 => &mut self.rest.verbs,
            () if is_modifier => &mut self.rest.modifiers,
            () if part.is_condition => &mut self.rest.narrowing,
            () if !part.opening.is_empty() => &mut self.rest.behind,
            () if part.is_before_verb => &mut self.rest.subjects,
            () => &mut self.rest.nouns,
        };
        *count += 1.0;
    }

    /// Tells whether a word stands before a noun that both say.
    fn is_modifier(&self, part: &Part, at: usize) -> bool {
        let behind = &part.words[at + 1..];
        behind.first().is_some_and(|next| phrase::is_detail(next) && says(self.b, next))
            || behind.iter().any(|behind| says(self.b, behind) && !phrase::is_detail(behind))
    }

    fn finish(mut self) -> UnsharedWords {
        let (actions, b) = (&self.a.actions, self.b);
        let is_verb = self.slots.is_some_and(|[own, _]| own.part.is_none());
        let known = actions.iter().filter(|verb| says(b, verb) && !self.shared.contains(verb.as_str())).count();
        let unknown = actions.iter().filter(|verb| !is_verb && !lexicon::is_polarity(verb) && !says(b, verb)).count();
        self.rest.verbs += unknown as f64;
        self.rest.shared = self.shared.len() as f64 + VERB_WEIGHT * known as f64;
        self.rest
    }
}
