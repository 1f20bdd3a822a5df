//! The former value of a clause: `from A to B`, `B instead of A`, `replaced A with B`, `(was A)`.

use std::collections::BTreeSet;

use super::lexicon;
use super::token::Token;
use super::tools;

const CHANGES: &str = "move moves moved moving switch switched switching switches migrate migrated migrating migrates change \
    changed changes raise raised lower lowered bump bumped go went goes gone increase increased reduce reduced up down \
    transition transitioned convert converted rename renamed port ported upgrade upgraded downgrade downgraded cut \
    relocated relocate extended shortened dropped shifted shift grew rose fell transferred rewritten rewrote rewrite";
const REPLACES: &str = "replace replaced replaces replacing swap swapped swaps drop dropped ditch ditched abandon \
    abandoned trade traded exchanged retire retired";

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

fn in_list(list: &str, token: &Token) -> bool {
    list.split_whitespace().any(|word| word == token.lower)
}

/// Tells whether a verb says that a value is another one from now on.
pub(super) fn is_change(word: &str) -> bool {
    [CHANGES, REPLACES].iter().any(|list| list.split_whitespace().any(|listed| listed == word))
}

/// Splits words into those without the former value, and the words of that value.
pub(super) fn split(tokens: &[Token]) -> (Vec<Token>, BTreeSet<String>) {
    let mut is_former = vec![false; tokens.len()];
    let word = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    let mut at = 0;
    while at < tokens.len() {
        let span = match word(at) {
            "from" if tokens[..at].iter().any(|token| in_list(CHANGES, token)) => Some((at, end(tokens, at + 1))),
            "instead" if word(at + 1) == "of" => Some((at, end(tokens, at + 2))),
            "rather" if word(at + 1) == "than" => Some((at, end(tokens, at + 2))),
            "place" if word(at + 1) == "of" && at > 0 => Some((at - 1, end(tokens, at + 2))),
            "over"
                if tokens[..at]
                    .iter()
                    .any(|token| matches!(&*token.lower, "picked" | "chose" | "prefer" | "prefers" | "preferred")) =>
            {
                Some((at, end(tokens, at + 1)))
            }
            "not" if at > 0 && (tokens[at - 1].pauses || word(at - 1) == "and") && !follows_verb(tokens, at + 1) => {
                Some((at, end(tokens, at + 1)))
            }
            "was" | "formerly" | "previously" if at > 0 && (tokens[at].opens || tokens[at - 1].pauses) => {
                Some((at, end(tokens, at + 1)))
            }
            _ if in_list(REPLACES, &tokens[at]) => replaced(tokens, at),
            _ => None,
        };
        let Some((from, to)) = span else {
            at += 1;
            continue;
        };
        is_former[from..to].fill(true);
        at = to.max(at + 1);
    }
    let former = tokens.iter().zip(&is_former).filter(|(token, is_former)| **is_former && carries(token));
    let former = former.map(|(token, _)| token.lower.clone()).collect();
    let rest = tokens.iter().zip(&is_former).filter(|(_, is_former)| !**is_former).map(|(token, _)| token.clone());
    (rest.collect(), former)
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
