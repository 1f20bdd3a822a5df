//! Cuts a long query down to the words that say most of it, so that it is embedded nearly as fast as a short one.
//!
//! A vocabulary lists its frequent tokens first (BERT's and those of SentencePiece do), so that a word is as rare as its
//! rarest token is far down. docs/RETRIEVAL.md says what this costs and what other ways were tried.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use tokenizers::Tokenizer;

/// Tokens of a query that are embedded, at most.
pub(crate) const QUERY_TOKENS: usize = 64;
/// Bytes of a query that are read: three quarters of them at its start, the others at its end.
const READ_BYTES: usize = 16 * 1024;
/// A word of more tokens is a text without spaces, and each of its tokens counts as a word.
const WORD_TOKENS: usize = 16;

/// The text itself where it has few enough tokens. Else its words that are rare, or said again and again, each once and in
/// their order.
pub(crate) fn condensed<'t>(tokenizer: &Tokenizer, text: &'t str) -> Result<Cow<'t, str>, String> {
    let parts = read(text);
    let mut words = Vec::new();
    for part in &parts {
        words.extend(words_of(tokenizer, part)?);
    }
    if parts.len() == 1 && words.iter().map(|word| word.tokens).sum::<usize>() <= QUERY_TOKENS {
        return Ok(Cow::Borrowed(text));
    }
    Ok(Cow::Owned(best(&words, tokenizer.get_vocab_size(false)).join(" ")))
}

/// The whole text, or its start and its end.
fn read(text: &str) -> Vec<&str> {
    if text.len() <= READ_BYTES {
        return vec![text];
    }
    let start = text.floor_char_boundary(READ_BYTES / 4 * 3);
    let end = text.ceil_char_boundary(text.len() - READ_BYTES / 4);
    vec![&text[..start], &text[end..]]
}

struct Word<'t> {
    text: &'t str,
    tokens: usize,
    /// The place of its rarest token in the vocabulary.
    rank: u32,
}

fn words_of<'t>(tokenizer: &Tokenizer, text: &'t str) -> Result<Vec<Word<'t>>, String> {
    let encoding = tokenizer.encode(text, false).map_err(|error| error.to_string())?;
    let (ids, words, offsets) = (encoding.get_ids(), encoding.get_word_ids(), encoding.get_offsets());
    let word = |tokens: Range<usize>| -> Option<Word<'t>> {
        let (from, to) = (offsets.get(tokens.start)?.0, offsets.get(tokens.end.checked_sub(1)?)?.1);
        let text = text.get(from..to)?.trim();
        let rank = ids.get(tokens.clone())?.iter().copied().max()?;
        text.contains(char::is_alphanumeric).then_some(Word { text, tokens: tokens.len(), rank })
    };
    let mut all = Vec::new();
    let mut start = 0;
    while start < ids.len() {
        let of_word = words[start..].iter().take_while(|of| words[start].is_some() && **of == words[start]).count();
        let length = if of_word > WORD_TOKENS { 1 } else { of_word.max(1) };
        all.extend(word(start..start + length));
        start += length;
    }
    Ok(all)
}

/// The words that count most, as many as there is room for.
fn best<'t>(words: &[Word<'t>], vocabulary: usize) -> Vec<&'t str> {
    let mut counts: HashMap<String, u32> = HashMap::new();
    words.iter().for_each(|word| *counts.entry(word.text.to_lowercase()).or_default() += 1);
    let mut seen = HashSet::new();
    let first = words.iter().enumerate().filter(|(_, word)| seen.insert(word.text.to_lowercase()));
    let mut candidates: Vec<(f64, usize, &Word<'t>)> = first
        .map(|(place, word)| {
            let count = counts.get(&word.text.to_lowercase()).copied().unwrap_or(1);
            (worth(word, count, vocabulary), place, word)
        })
        .collect();
    candidates.sort_by(|(a, x, _), (b, y, _)| b.total_cmp(a).then(x.cmp(y)));
    let mut room = QUERY_TOKENS;
    candidates.retain(|(_, _, word)| {
        let fits = word.tokens <= room;
        room -= if fits { word.tokens } else { 0 };
        fits
    });
    candidates.sort_by_key(|(_, place, _)| *place);
    candidates.into_iter().map(|(_, _, word)| word.text).collect()
}

/// What it is worth to embed a word that a query says so often.
fn worth(word: &Word<'_>, count: u32, vocabulary: usize) -> f64 {
    (f64::from(word.rank) / vocabulary.max(1) as f64).cbrt() * (1.0 + f64::from(count).ln())
}

#[cfg(test)]
mod tests;
