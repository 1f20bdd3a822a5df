//! The former value of a clause: `from A to B`, `B instead of A`, `replaced A with B`, `(was A)`.

use std::collections::BTreeSet;

use super::lexicon::in_list;
use super::token::Token;
use super::{lexicon, tools, verb};

const CHANGES: &str = "move moves moved moving switch switched switching switches migrate migrated migrating migrates change \
    changed changes raise raised lower lowered bump bumped go went goes gone increase increased reduce reduced up down \
    transition transitioned convert converted rename renamed port ported upgrade upgraded downgrade downgraded cut \
    relocated relocate extended shortened dropped shifted shift grew rose fell transferred rewritten rewrote rewrite";
/// Participles of other languages for a change from one thing to another.
const FOREIGN_CHANGES: &str = "gewechselt umgestiegen migriert umgezogen passé passés passées migré basculé migrado cambiado \
    pasado migramos cambiamos pasamos passato passati migrato migrati mudamos overgestapt gemigreerd verhuisd overgegaan";
/// Words of these languages before the value before, before the new value, and before such a participle.
const FOREIGN_FROM: &str = "von vom de du des desde da dal van";
const FOREIGN_TO: &str = "zu zum zur auf nach à au vers a al para naar";
const FOREIGN_HELPERS: &str = "sind haben ist wurde sommes avons est hemos ha han siamo abbiamo è zijn hebben";
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

/// Tells whether a word of another language than English says so.
pub(super) fn is_foreign_change(word: &str) -> bool {
    in_list(FOREIGN_CHANGES, word)
}

/// Splits words into those without the former value, and the words of that value.
pub(super) fn split(tokens: &[Token]) -> (Vec<Token>, BTreeSet<String>) {
    if let Some(split) = foreign(tokens) {
        return split;
    }
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
        "from" if takes_over(&tokens[..at]) => behind(1),
        "renamed" => renamed(tokens, at),
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

/// Reads `Wir sind von GitLab zu Forgejo gewechselt`. What is left tells of the new value alone. None for another
/// clause.
fn foreign(tokens: &[Token]) -> Option<(Vec<Token>, BTreeSet<String>)> {
    if !tokens.iter().any(|token| is_foreign_change(&token.lower)) {
        return None;
    }
    let is_in = |at: usize, list: &str| in_list(list, &tokens[at].lower);
    let from = (0..tokens.len()).find(|at| is_in(*at, FOREIGN_FROM))?;
    let to = (from + 2..tokens.len()).find(|at| is_in(*at, FOREIGN_TO))?;
    let former = tokens[from + 1..to].iter().filter(|token| carries(token)).map(|token| token.lower.clone());
    let tells_change = |at: &usize| is_in(*at, FOREIGN_CHANGES) || is_in(*at, FOREIGN_HELPERS);
    let rest = (0..from).chain(to + 1..tokens.len()).filter(|at| !tells_change(at));
    Some((rest.map(|at| tokens[at].clone()).collect(), former.collect()))
}

/// Tells whether words say that somebody takes a duty: `Jonas took over billing`.
fn takes_over(tokens: &[Token]) -> bool {
    let takes = |pair: &[Token]| in_list("take takes took taken", &pair[0].lower) && pair[1].lower == "over";
    tokens.windows(2).any(takes) || tokens.iter().any(|token| in_list("inherited inherits", &token.lower))
}

/// Returns where the name before stands in `acme-utils was renamed to acme-core`, with the verb behind it. None where a
/// noun is told that has another name.
fn renamed(tokens: &[Token], at: usize) -> Option<(usize, usize)> {
    let to = tokens.get(at + 1).is_some_and(|next| matches!(&*next.lower, "to" | "as" | "into"));
    let verb = tokens[..at].iter().position(|token| in_list("was were is are has have got been", &token.lower))?;
    let is_name = !tokens[0].opens && !tokens[..verb].iter().any(|token| lexicon::is_filler(&token.lower));
    (to && is_name && (1..=3).contains(&verb)).then_some((0, verb))
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
