//! Index terms: what of a text is searched by words, and what a query looks for. One function makes both, so that a
//! text index anywhere compares like with like. How terms are weighed is the index's work (BM25).
//!
//! Words are folded (case, accents, width) and stemmed as English. Identifiers are found by their parts and as a whole.
//! Scripts without spaces between words are cut into overlapping pairs of signs, as Lucene's CJK analysis does. What
//! differs from one run of a program to the next (addresses, line numbers) is dropped. Nothing else is left out of a
//! text. The words of a query that only say that it is a question are left out. docs/RETRIEVAL.md has the numbers
//! behind each choice.

mod noise;
mod words;

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};

use self::words::TextRun;

/// The longest word, in characters. A longer one, such as a hash or encoded data, is cut.
const LONGEST_CHARS: usize = 64;
/// The most terms of a query. A task may be a whole file, and the terms that it says most often say what it is about.
pub const QUERY_TERMS: usize = 128;
/// Lucene's English stop words, question words and auxiliaries. Every other word of a question may be what it is about.
const STOP_WORDS: &str = "a an and are as at be but by for if in into is it no not of on or such that the their then \
    there these they this to was will with what when where which who how do does did has have from";
/// The number of times that the title is added to a passage.
const TITLE_REPEATS: usize = 2;
/// The shortest word that is stemmed, in characters.
const SHORTEST_STEMMED: usize = 3;

/// The most words that each thread that analyses texts remembers with their terms. They take some 3 MB, and analysing
/// then takes a third of the time.
const KNOWN_WORDS: usize = 16_384;
const LONGEST_KNOWN_BYTES: usize = 32;

thread_local! {
    static KNOWN: RefCell<HashMap<Box<str>, Box<[String]>>> = RefCell::default();
    static ENGLISH: RefCell<Stemmer> = RefCell::new(Stemmer::new(Algorithm::English));
}

static STOP_TERMS: LazyLock<HashSet<String>> = LazyLock::new(|| terms(STOP_WORDS).into_iter().collect());

/// A term of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryTerm {
    pub term: String,
    /// The number of times that the query says the term.
    pub count: u32,
}

/// Returns the terms that a query looks for. They are distinct and in their order, without stop words unless there is
/// nothing else. Where there are more than 128, those stay that the query says most often.
pub fn query(text: &str) -> Vec<QueryTerm> {
    let mut all = counted(terms(text));
    if all.iter().any(|of| !STOP_TERMS.contains(&of.term)) {
        all.retain(|of| !STOP_TERMS.contains(&of.term));
    }
    if all.len() > QUERY_TERMS {
        let mut in_order: Vec<(usize, QueryTerm)> = all.into_iter().enumerate().collect();
        // The first ones come first among terms that are said equally often.
        in_order.sort_by_key(|(_, of)| Reverse(of.count));
        in_order.truncate(QUERY_TERMS);
        in_order.sort_unstable_by_key(|(place, _)| *place);
        all = in_order.into_iter().map(|(_, of)| of).collect();
    }
    all
}

/// Counts terms. Returns the distinct ones in their order, with their counts.
pub fn counted(terms: impl IntoIterator<Item = String>) -> Vec<QueryTerm> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut all: Vec<QueryTerm> = Vec::new();
    for term in terms {
        match places.get(&term) {
            Some(place) => all[*place].count += 1,
            None => {
                places.insert(term.clone(), all.len());
                all.push(QueryTerm { term, count: 1 });
            }
        }
    }
    all
}

/// Returns the terms of a text in their order, with repeats. None contains white space.
pub fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::with_capacity(text.len() / 5);
    each_term(text, &mut |term| terms.push(term.to_owned()));
    terms
}

/// Returns the terms of a passage of the memory with this title, separated by single spaces. Text indexes are built
/// over this column. The terms of the title are in every passage, repeated, because a term counts by how often it is
/// there.
pub fn indexed(title: &str, passage: &str) -> String {
    let (mut all, mut title_terms) = (String::with_capacity(passage.len()), String::new());
    each_term(passage, &mut |term| append(&mut all, term));
    each_term(title, &mut |term| append(&mut title_terms, term));
    for _ in 0..TITLE_REPEATS {
        append(&mut all, &title_terms);
    }
    all
}

fn append(terms: &mut String, more: &str) {
    if !terms.is_empty() && !more.is_empty() {
        terms.push(' ');
    }
    terms.push_str(more);
}

fn each_term(text: &str, take: &mut impl FnMut(&str)) {
    for piece in words::runs(&noise::without(text)) {
        match piece {
            TextRun::Word(word) => of_word(word, take),
            TextRun::Signs(signs) => of_signs(signs, take),
        }
    }
}

/// Gives the terms of a word to `take`. Most words were met before, so their terms are remembered.
fn of_word(word: &str, take: &mut impl FnMut(&str)) {
    if word.len() > LONGEST_KNOWN_BYTES {
        return of_new_word(word).iter().for_each(|term| take(term));
    }
    KNOWN.with_borrow_mut(|known| {
        if let Some(terms) = known.get(word) {
            return terms.iter().for_each(|term| take(term));
        }
        if known.len() >= KNOWN_WORDS {
            known.clear();
        }
        let terms = of_new_word(word);
        terms.iter().for_each(|term| take(term));
        known.insert(word.into(), terms.into());
    });
}

/// Returns the terms of a word that was not met before: its parts, and the whole where it has several parts.
fn of_new_word(word: &str) -> Vec<String> {
    if is_plain(word) {
        return vec![stem(word)];
    }
    let parts = words::parts(word);
    let parts = if parts.len() > 1 { parts } else { Vec::new() };
    parts.into_iter().chain([word]).map(term).filter(|term| !term.is_empty()).collect()
}

/// Gives the terms of signs to `take`: overlapping pairs, or the sign itself where it is a single one.
fn of_signs(signs: &str, take: &mut impl FnMut(&str)) {
    let starts: Vec<usize> = signs.char_indices().map(|(at, _)| at).chain([signs.len()]).collect();
    match starts.len() {
        0 | 1 => {}
        2 => take(signs),
        _ => starts.windows(3).for_each(|pair| take(&signs[pair[0]..pair[2]])),
    }
}

/// Tells whether a word has one part and nothing in it is folded.
fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.len() <= LONGEST_CHARS && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Returns the term of a word that is taken as one part.
pub(crate) fn term(part: &str) -> String {
    if is_plain(part) {
        return stem(part);
    }
    let folded: String = words::folded(part).take(LONGEST_CHARS).collect();
    if is_plain(&folded) { stem(&folded) } else { folded }
}

/// Returns the stem of a plain word.
fn stem(word: &str) -> String {
    if word.len() < SHORTEST_STEMMED {
        return word.to_owned();
    }
    ENGLISH.with_borrow(|stemmer| stemmer.stem(word).into_owned())
}

#[cfg(test)]
mod tests;
