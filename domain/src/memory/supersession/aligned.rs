//! Two clauses that are the same sentence but for the words of one value.

use std::collections::BTreeSet;

use super::lexicon;
use super::token::Token;
use super::tools;
use super::units;
use super::values::{self, ValueKind};
use super::verb::Joint;

/// The most words of a value. A longer one is another statement.
const MOST_WORDS: usize = 5;

/// The words of a clause that carry meaning, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Sequence {
    words: Vec<Word>,
    /// The words from outside of the clause that narrow it.
    narrowed_by: BTreeSet<String>,
    /// The place in `words` where the value begins, which is behind the verb or the mark.
    value_from: usize,
    /// True where the clause may have several values, or where nothing names the attribute whose only value it tells.
    is_open: bool,
    /// True where several values may hold side by side, even if they are tools of one kind.
    is_one_of_many: bool,
}

impl Sequence {
    pub(super) fn narrow(&mut self, by: impl IntoIterator<Item = String>) {
        self.narrowed_by.extend(by);
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    text: String,
    is_preposition: bool,
    /// True for a number, a date, a path or a name.
    is_typed: bool,
    /// The kind of the value that begins with this word, unless that is a name.
    kind: Option<ValueKind>,
    lists: bool,
}

/// Makes the sequence of a clause whose value begins at the token `predicate_to`. Other values may stand beside that of
/// an advice, and of a verb that is additive.
pub(super) fn sequence(
    tokens: &[Token],
    predicate_to: usize,
    joint: Joint,
    is_advice: bool,
    is_additive: bool,
) -> Sequence {
    let mut words = Vec::new();
    let mut value_from = 0;
    for (at, token) in tokens.iter().enumerate() {
        if at == predicate_to {
            value_from = words.len();
        }
        let word = token.lower.as_str();
        let is_preposition = !token.is_name && (lexicon::is_preposition(word) || lexicon::is_condition(word));
        let lists = matches!(word, "and" | "or" | "plus" | "&");
        if !is_preposition
            && !token.is_name
            && !lists
            && !tools::is_exclusive(word)
            && (lexicon::is_filler(word) || lexicon::is_light_verb(word))
            && values::typed(tokens, at).is_none()
        {
            continue;
        }
        if is_preposition && at == predicate_to {
            continue;
        }
        words.push(Word {
            text: lexicon::canonical(word),
            is_preposition,
            kind: values::typed(tokens, at).map(|(value, _)| value.kind),
            is_typed: token.is_name || values::typed(tokens, at).is_some(),
            lists: lists || (token.pauses && at + 1 < tokens.len()),
        });
    }
    if predicate_to >= tokens.len() {
        value_from = words.len();
    }
    let names_no_attribute = matches!(joint, Joint::Light | Joint::Copula) && value_from < 2;
    Sequence {
        words,
        narrowed_by: BTreeSet::new(),
        value_from,
        is_open: is_advice || is_additive || names_no_attribute,
        is_one_of_many: is_additive,
    }
}

/// Tells whether the first words exclude one another, and those behind them are the same.
fn exclude(a: &[Word], b: &[Word]) -> bool {
    let (Some((first_a, rest_a)), Some((first_b, rest_b))) = (a.split_first(), b.split_first()) else { return false };
    tools::exclude(&first_a.text, &first_b.text)
        && rest_a.iter().map(|word| &word.text).eq(rest_b.iter().map(|word| &word.text))
}

/// Tells whether two clauses differ in one value alone, and in nothing that narrows them.
pub(super) fn differ_in_one_value(a: &Sequence, b: &Sequence) -> bool {
    let prefix = a.words.iter().zip(&b.words).take_while(|(a, b)| a.text == b.text).count();
    if a.narrowed_by == b.narrowed_by && a.words.len() > 1 && exclude(&a.words[prefix..], &b.words[prefix..]) {
        return true;
    }
    if a.narrowed_by != b.narrowed_by
        || prefix == 0
        || prefix < a.value_from.max(b.value_from)
        || a.value_from == 0
        || b.value_from == 0
    {
        return false;
    }
    let (rest_a, rest_b) = (&a.words[prefix..], &b.words[prefix..]);
    let suffix = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(a, b)| a.text == b.text).count();
    let (value_a, value_b) = (&rest_a[..rest_a.len() - suffix], &rest_b[..rest_b.len() - suffix]);
    let is_value = |words: &[Word]| {
        !words.is_empty()
            && words.len() <= MOST_WORDS
            && words.iter().all(|word| !word.lists && lexicon::environment(&word.text).is_none())
            && words.iter().skip(1).all(|word| !word.is_preposition)
            && words.iter().any(|word| !word.is_preposition)
    };
    // What stands behind a second preposition narrows the value before it.
    let is_narrowed = a.words[a.value_from..prefix].iter().any(|word| word.is_preposition || word.lists);
    let prepositions = |words: &[Word]| -> Vec<String> {
        words.iter().filter(|word| word.is_preposition).map(|word| word.text.clone()).collect()
    };
    let contains = |a: &[Word], b: &[Word]| b.iter().all(|word| a.iter().any(|other| other.text == word.text));
    let begins_with_preposition = value_a.first().is_some_and(|word| word.is_preposition);
    let is_typed =
        |words: &[Word]| words.iter().any(|word| word.is_typed && word.text.starts_with(|c: char| c.is_ascii_digit()));
    // A time takes the place of a time; a path may be written as a name.
    let kind = |words: &[Word]| words.first().and_then(|word| word.kind).filter(|kind| *kind != ValueKind::Path);
    // A day of the week also tells how often something happens.
    let kind =
        |words: &[Word]| kind(words).map(|kind| if kind == ValueKind::Date { ValueKind::Frequency } else { kind });
    // Amounts of different things are different measures: `80 percent CPU`, `90 percent memory`.
    let measured = |words: &[Word]| {
        words
            .iter()
            .skip(1)
            .filter(|word| !word.is_typed && !word.is_preposition && units::unit(&word.text).is_none())
            .count()
    };
    let measures_other = kind(value_a).is_some() && measured(value_a) > 0 && measured(value_b) > 0;
    // Two amounts are one number each, before a unit that both have. Nothing else stands at the place of such a number,
    // however far it stands from the verb. A number that no unit follows may be a name, as in `worker 3`.
    let is_number = |words: &[Word]| matches!(words, [word] if word.is_typed && word.text.parse::<f64>().is_ok());
    let has_unit =
        rest_a.len() > value_a.len() && !rest_a[value_a.len()].is_preposition && !rest_a[value_a.len()].lists;
    let are_amounts = is_number(value_a) && is_number(value_b) && has_unit;
    let of_kinds = |words: &[Word]| words.iter().filter_map(|word| tools::tool_kind(&word.text)).collect::<Vec<_>>();
    let (kinds_a, kinds_b) = (of_kinds(value_a), of_kinds(value_b));
    let same_tools = kinds_a.iter().any(|kind| kinds_b.contains(kind));
    let has_other_tools =
        !kinds_a.is_empty() && !kinds_b.is_empty() && !same_tools && a.value_from.min(b.value_from) < 2;
    is_value(value_a)
        && is_value(value_b)
        && !has_other_tools
        && (kind(value_a) == kind(value_b) || same_tools)
        && !measures_other
        && (are_amounts || same_tools || !is_narrowed)
        && prepositions(value_a) == prepositions(value_b)
        && !(begins_with_preposition && prefix > a.value_from)
        && !contains(value_a, value_b)
        && !contains(value_b, value_a)
        && (!(a.is_open || b.is_open)
            || (same_tools && !(a.is_one_of_many || b.is_one_of_many))
            || (is_typed(value_a) && is_typed(value_b)))
}
