//! Cleft sentences, which put one thing first and tell of it with a clause: `Vault is where we keep secrets`. They are
//! written as the plain sentence that says the same: `we keep secrets in Vault`.

use super::token::Token;
use super::{phrase, verb};

/// The most words that such a sentence puts first.
const MOST_WORDS_FIRST: usize = 8;

/// The place that the thing has in the plain sentence.
enum ThingPlace {
    Subject,
    /// Behind the verb, with this preposition. It is empty for an object.
    Behind(&'static str),
}

/// Returns the plain sentence. None where the words are no cleft sentence.
pub(super) fn plain(tokens: &[Token]) -> Option<Vec<Token>> {
    put_first(tokens).or_else(|| put_last(tokens))
}

/// Reads `Vault is where we keep secrets` and `it is Ann who owns billing`.
fn put_first(tokens: &[Token]) -> Option<Vec<Token>> {
    let is_it = tokens.first().is_some_and(|token| token.lower == "it");
    let (thing, clause, joins) = if is_it && tokens.get(1).is_some_and(is_copula) {
        let at = tokens.iter().position(|token| matches!(&*token.lower, "who" | "that" | "where"))?;
        (&tokens[2..at], &tokens[at + 1..], &tokens[at])
    } else {
        let at = tokens.windows(2).position(|pair| is_copula(&pair[0]) && opens_clause(&pair[1]))?;
        (&tokens[..at], &tokens[at + 2..], &tokens[at + 1])
    };
    join(thing, clause, &joins.lower)
}

/// Reads `where we keep secrets is Vault`.
fn put_last(tokens: &[Token]) -> Option<Vec<Token>> {
    let joins = tokens.first().filter(|token| opens_clause(token))?;
    let at = tokens.iter().rposition(is_copula)?;
    let clause = tokens.get(1..at)?;
    (!clause.iter().any(|token| token.pauses)).then(|| join(&tokens[at + 1..], clause, &joins.lower))?
}

fn join(thing: &[Token], clause: &[Token], joins: &str) -> Option<Vec<Token>> {
    let is_short = !thing.is_empty() && thing.len() <= MOST_WORDS_FIRST;
    let is_whole = !thing.iter().any(|token| token.pauses || token.separates);
    let verb = verb::main(clause).filter(|_| is_short && is_whole)?;
    let place = match joins {
        "where" => ThingPlace::Behind("in"),
        "how" => ThingPlace::Behind("with"),
        "when" => ThingPlace::Behind("on"),
        _ if verb.from == 0 => ThingPlace::Subject,
        _ => ThingPlace::Behind(""),
    };
    let mut thing = thing.to_vec();
    if let [name] = &mut thing[..] {
        name.is_name |= phrase::may_be_name(name);
    }
    Some(match place {
        ThingPlace::Subject => [thing, clause.to_vec()].concat(),
        ThingPlace::Behind(preposition) => behind(clause, preposition, thing),
    })
}

/// Puts a thing behind a clause, and before what a pause keeps apart from the clause.
fn behind(clause: &[Token], preposition: &str, thing: Vec<Token>) -> Vec<Token> {
    let end = clause.iter().position(|token| token.pauses).map_or(clause.len(), |pause| pause + 1);
    let mut all = clause[..end].to_vec();
    let pauses = all.last_mut().is_some_and(|last| std::mem::take(&mut last.pauses));
    all.extend((!preposition.is_empty()).then(|| Token::word(preposition)));
    all.extend(thing);
    all.last_mut().into_iter().for_each(|last| last.pauses = pauses);
    all.extend_from_slice(&clause[end..]);
    all
}

fn is_copula(token: &Token) -> bool {
    matches!(&*token.lower, "is" | "are")
}

fn opens_clause(token: &Token) -> bool {
    matches!(&*token.lower, "where" | "how" | "what" | "who" | "when")
}
