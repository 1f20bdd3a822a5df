//! Clauses whose verb nobody knows, as in other languages. What is their subject and what is their value cannot be told,
//! so two of them that differ at two places tell different things: `Julie est responsable des paiements` and `Marc est
//! responsable des livraisons`.

use super::token::Token;
use super::{lexicon, verb};

/// Articles, prepositions and the like of German, French, Spanish and Italian that are no English words.
const FOREIGN: &str = "der das den dem des ein eine einen einem einer für mit auf bei beim von vom zum zur nicht und wir \
    unsere unser unseren im am um nach aus über unter le la les l un une du de au aux avec chez dans sur par nous notre \
    nos et à el los las lo una unas unos del al con por para se están en y nuestro nuestra il gli uno della dello dei \
    degli delle nel nella dal dalla dai di da si e ed alla alle allo ai che";
/// Forms of `to be` in these languages.
const IS: &str = "ist sind wird werden est sont es son está è sono";
/// Words of these languages that are English words too, but begin no English clause.
const FIRST: &str = "die per i";
/// Words that only an English clause has.
const ENGLISH: &str = "the we our is are was were of to for and it you they this that with at on from by";
/// The shortest beginning that two forms of a word share, in signs.
const STEM_SIGNS: usize = 4;
/// The longest ending that tells two forms of a word apart, in signs.
const ENDING_SIGNS: usize = 2;

/// Returns the words of a clause that carry meaning, in their order, where its verb is not known. None where it is.
pub(super) fn words(tokens: &[Token]) -> Option<Vec<String>> {
    let is_in = |token: &Token, list: &str| lexicon::in_list(list, &token.lower);
    let is_foreign = |token: &&Token| is_in(token, FOREIGN) || is_in(token, IS);
    let first = tokens.first()?;
    let begins_foreign = is_foreign(&first) || is_in(first, FIRST);
    let is_unread = !verb::is_known(tokens) || begins_foreign || tokens.iter().filter(is_foreign).count() > 1;
    let is_english = tokens.iter().any(|token| token.separates || is_in(token, ENGLISH));
    let carries = |token: &&Token| {
        let is_small = is_in(token, FOREIGN) || is_in(token, FIRST) || lexicon::is_filler(&token.lower);
        !is_small && !lexicon::is_preposition(&token.lower)
    };
    (is_unread && !is_english).then(|| tokens.iter().filter(carries).map(|token| token.lower.clone()).collect())
}

/// Tells whether each of them has words that the other does not have, at two places with common words between.
pub(super) fn differ_at_two_places(a: &[String], b: &[String]) -> bool {
    let places = |own: &[String], other: &[String]| {
        let is_own = |word: &String| !other.iter().any(|known| is_form_of(word, known));
        own.chunk_by(|a, b| is_own(a) == is_own(b)).filter(|words| words.first().is_some_and(is_own)).count()
    };
    places(a, b) > 1 && places(b, a) > 1
}

/// Tells whether both are forms of one word: `encargado`, `encargada`.
fn is_form_of(a: &str, b: &str) -> bool {
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b && a.is_alphabetic()).count();
    let longer = a.chars().count().max(b.chars().count());
    a == b || (common >= STEM_SIGNS && longer - common <= ENDING_SIGNS)
}
