//! The former value of a clause: `from A to B`, `B instead of A`, `replaced A with B`, `(was A)`.

use std::collections::BTreeSet;

use super::lexicon::in_list;
use super::token::Token;
use super::{lexicon, tools, verb};

const CHANGES: &str = "move moves moved moving switch switched switching switches migrate migrated migrating migrates change \
    changed changes raise raised lower lowered bump bumped go went goes gone increase increased reduce reduced up down \
    transition transitioned convert converted rename renamed port ported upgrade upgraded downgrade downgraded cut \
    relocated relocate extended shortened dropped shifted shift grew rose fell transferred rewritten rewrote rewrite";
const REPLACES: &str = "replace replaced replaces replacing swap swapped swaps drop dropped ditch ditched abandon \
    abandoned trade traded exchanged retire retired";
const PREFERS: &str = "picked chose prefer prefers preferred";

/// Words which say that something is no longer there.
const GONE: [&str; 12] = [
    "removed",
    "retired",
    "dropped",
    "gone",
    "decommissioned",
    "discontinued",
    "abandoned",
    "deprecated",
    "history",
    "replaced",
    "out",
    "dead",
];

/// Tells whether a verb says that a value is another one from now on.
pub(super) fn is_change(word: &str) -> bool {
    [CHANGES, REPLACES].iter().any(|list| in_list(list, word))
}

/// Splits words into those without the former value, and the words of that value.
pub(super) fn split(tokens: &[Token]) -> (Vec<Token>, BTreeSet<String>) {
    let mut is_former = vec![false; tokens.len()];
    let mut at = 0;
    while at < tokens.len() {
        let spans = contrasted(tokens, at).map_or_else(|| former_at(tokens, at).into_iter().collect(), Vec::from);
        for (from, to) in &spans {
            is_former[*from..*to].fill(true);
        }
        at = spans.last().map_or(0, |(_, to)| *to).max(at + 1);
    }
    let former = tokens.iter().zip(&is_former).filter(|(token, is_former)| **is_former && carries(token));
    let former = former.map(|(token, _)| token.lower.clone()).collect();
    let rest = tokens.iter().zip(&is_former).filter(|(_, is_former)| !**is_former).map(|(token, _)| token.clone());
    (rest.collect(), former)
}

/// Returns where the former value stands that the word at `at` announces, with this word.
fn former_at(tokens: &[Token], at: usize) -> Option<(usize, usize)> {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    let follows_pause = at > 0 && tokens[at - 1].pauses;
    let behind = |words: usize| Some((at, end(tokens, at + words)));
    match word(at) {
        "from" if tokens[..at].iter().any(|token| in_list(CHANGES, &token.lower)) => behind(1),
        "instead" if word(at + 1) == "of" => behind(2),
        "rather" if word(at + 1) == "than" => behind(2),
        "place" if word(at + 1) == "of" && at > 0 => Some((at - 1, end(tokens, at + 2))),
        "over" if tokens[..at].iter().any(|token| in_list(PREFERS, &token.lower)) => behind(1),
        "not" if (follows_pause || (at > 0 && word(at - 1) == "and")) && !follows_verb(tokens, at + 1) => behind(1),
        "was" | "formerly" | "previously" if at > 0 && (tokens[at].opens || follows_pause) => behind(1),
        _ if in_list(REPLACES, &tokens[at].lower) => replaced(tokens, at),
        _ => None,
    }
}

/// Returns where the denial and the former value stand in `no longer A but B` and `not A but B`. None where no such
/// contrast begins at `at`.
fn contrasted(tokens: &[Token], at: usize) -> Option<[(usize, usize); 2]> {
    let from = at + denial(tokens, at)?;
    let but = from + tokens.get(from..)?.iter().position(|token| token.lower == "but")?;
    let is_value = tokens.len() > but + 1 && verb::main(&tokens[but + 1..]).is_none();
    let object = verb::main(&tokens[from..but]).map_or(from, |verb| from + verb.to);
    (is_value && object < but).then_some([(at, from), (object, but + 1)])
}

/// Tells whether `rest` begins with the word that joins the two values of a contrast: `not A, but B`.
pub(super) fn joins_contrast(before: &[Token], rest: &[Token]) -> bool {
    let is_but = rest.first().is_some_and(|first| first.lower == "but");
    let denial = (0..before.len()).rev().find(|at| is_but && denial(before, *at).is_some());
    let all = || [before, rest].concat();
    denial.and_then(|denial| contrasted(&all(), denial)).is_some_and(|[_, (_, to)]| to == before.len() + 1)
}

/// Returns the number of words of the denial that begins at `at`. None where no denial begins there.
fn denial(tokens: &[Token], at: usize) -> Option<usize> {
    let next = tokens.get(at + 1).map_or("", |next| &next.lower);
    match &*tokens[at].lower {
        "no" => (next == "longer").then_some(2),
        // What holds not only for one thing holds for both.
        "not" => (!matches!(next, "only" | "just" | "merely")).then_some(1),
        word => word.ends_with("n't").then_some(1),
    }
}

/// Returns the names that a sentence says are gone: `Moment.js was removed`, `AWS was too expensive`, `Dmitri left`.
pub(super) fn dismissed(tokens: &[Token]) -> impl Iterator<Item = String> {
    tokens
        .iter()
        .enumerate()
        .filter(|(at, token)| {
            let behind: Vec<&str> = tokens[at + 1..].iter().take(4).map(|token| &*token.lower).collect();
            let is_gone = match behind[..] {
                ["left" | "retired" | "quit", ..] => true,
                ["was" | "were", "too", ..] => true,
                ["was" | "were" | "is" | "are" | "got", word, ..] | ["has" | "have", "been", word, ..] => {
                    GONE.contains(&word)
                }
                _ => false,
            };
            token.is_name && is_gone
        })
        .map(|(_, token)| token.lower.clone())
}

fn carries(token: &Token) -> bool {
    !lexicon::is_filler(&token.lower) && !lexicon::is_preposition(&token.lower) && token.lower != "not"
}

fn follows_verb(tokens: &[Token], at: usize) -> bool {
    tokens.get(at).is_some_and(|token| lexicon::is_light_verb(&token.lower) && token.lower != "in")
}

/// Returns the end of the phrase that begins at `at`: at the next preposition, pause or verb.
fn end(tokens: &[Token], at: usize) -> usize {
    let mut to = at;
    while let Some(token) = tokens.get(to) {
        let word = token.lower.as_str();
        let ends = lexicon::is_preposition(word)
            || matches!(word, "and" | "but" | "as")
            || lexicon::is_condition(word)
            || lexicon::is_reason(word);
        if to > at && ends {
            break;
        }
        to += 1;
        if token.pauses {
            break;
        }
    }
    to
}

/// Returns the words of the former value in `replaced A with B`, `A was replaced by B`, `B replaces A`.
fn replaced(tokens: &[Token], at: usize) -> Option<(usize, usize)> {
    let is_with = |token: &Token| matches!(&*token.lower, "with" | "by" | "for" | "favour" | "favor");
    let next = tokens.get(at + 1)?;
    let passive =
        tokens[..at].iter().any(|token| matches!(&*token.lower, "was" | "were" | "is" | "are" | "been" | "got"));
    if passive && is_with(next) {
        let verb = tokens[..at].iter().position(|token| {
            matches!(&*token.lower, "was" | "were" | "is" | "are" | "been" | "got" | "has" | "have")
        })?;
        return Some((0, verb));
    }
    let to = end(tokens, at + 1);
    let has_new = tokens.get(to).is_some_and(|token| is_with(token) || token.lower == "in");
    // Plain words tell what has another value from now on: `replaced the data warehouse by Snowflake`.
    if has_new && !tokens[at + 1..to].iter().any(|token| token.is_name || tools::tool_kind(&token.lower).is_some()) {
        return None;
    }
    (has_new || tokens[at].lower.starts_with("replac")).then_some((at + 1, to))
}
