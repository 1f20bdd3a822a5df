//! Cuts a long query down to the words that say most of it, so that it is embedded nearly as fast as a short one.
//!
//! A vocabulary lists its frequent tokens first (BERT's and those of SentencePiece do), so the further down a word's
//! rarest token stands, the rarer is the word. docs/RETRIEVAL.md says what this costs and what other ways were tried.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use tokenizers::{Encoding, Tokenizer};

use super::chunking;

/// The largest number of tokens of a query that are embedded.
pub(crate) const QUERY_TOKENS: usize = 64;
/// The number of bytes that are read of a query that has more: three quarters of them at its start, the others at its
/// end.
const READ_BYTES: usize = 16 * 1024;
/// A word of more tokens is a text without spaces, and each of its tokens counts as a word.
const WORD_TOKENS: usize = 16;

/// Returns the text itself where it has few enough tokens. Else it returns the words that are rare, or said again and
/// again, each once and in their order. `window` counts the tokens that the model reads at once, its special tokens
/// included.
pub(crate) fn condensed<'t>(tokenizer: &Tokenizer, text: &'t str, window: usize) -> Result<Cow<'t, str>, String> {
    let most = QUERY_TOKENS.min(chunking::most_tokens(tokenizer, window));
    let (mut words, mut tokens) = (Vec::new(), 0);
    for part in read(text) {
        let encoding = tokenizer.encode(&text[part.clone()], false).map_err(|error| error.to_string())?;
        tokens += encoding.len();
        words.extend(words_of(&encoding, text, part.start));
    }
    if text.len() <= READ_BYTES && tokens <= most {
        return Ok(Cow::Borrowed(text));
    }
    let vocabulary = tokenizer.get_vocab_size(false);
    let mut room = most;
    loop {
        let short = joined(&best(&words, room, vocabulary));
        // Words that are put beside each other may have more tokens than where they stood.
        let tokens = tokenizer.encode(short.as_str(), false).map_err(|error| error.to_string())?.len();
        if tokens <= most || room == 0 {
            return Ok(Cow::Owned(short));
        }
        room = room.saturating_sub(tokens - most);
    }
}

/// Returns the two ranges of a query that are read: its start and its end, or the whole text and an empty range where
/// it is short enough.
fn read(text: &str) -> [Range<usize>; 2] {
    if text.len() <= READ_BYTES {
        return [0..text.len(), text.len()..text.len()];
    }
    let (start, end) = (READ_BYTES / 4 * 3, text.len() - READ_BYTES / 4);
    [0..text.floor_char_boundary(start), text.ceil_char_boundary(end)..text.len()]
}

struct QueryWord<'t> {
    text: &'t str,
    /// The word begins at this byte of the whole text.
    start: usize,
    tokens: usize,
    /// The place of its rarest token in the vocabulary.
    rank: u32,
}

/// Lists the words of a part of the text, which begins at `from`, without its punctuation.
fn words_of<'t>(encoding: &Encoding, text: &'t str, from: usize) -> Vec<QueryWord<'t>> {
    let (ids, words, offsets) = (encoding.get_ids(), encoding.get_word_ids(), encoding.get_offsets());
    let word = |tokens: Range<usize>| -> Option<QueryWord<'t>> {
        let (first, last) = (offsets.get(tokens.start)?, offsets.get(tokens.end.checked_sub(1)?)?);
        let whole = text.get(from + first.0..from + last.1)?;
        let start = from + first.0 + (whole.len() - whole.trim_start().len());
        let rank = ids.get(tokens.clone())?.iter().copied().max()?;
        let word = QueryWord { text: whole.trim(), start, tokens: tokens.len(), rank };
        whole.contains(char::is_alphanumeric).then_some(word)
    };
    let mut all = Vec::new();
    let mut start = 0;
    while start < ids.len() {
        let of_word = words[start..].iter().take_while(|of| words[start].is_some() && **of == words[start]).count();
        let length = if of_word > WORD_TOKENS { 1 } else { of_word.max(1) };
        all.extend(word(start..start + length));
        start += length;
    }
    all
}

/// Picks the words that count most, as many as there is room for.
fn best<'w, 't>(words: &'w [QueryWord<'t>], mut room: usize, vocabulary: usize) -> Vec<&'w QueryWord<'t>> {
    let mut counts: HashMap<String, u32> = HashMap::new();
    words.iter().for_each(|word| *counts.entry(word.text.to_lowercase()).or_default() += 1);
    let mut best: Vec<(f64, &QueryWord<'t>)> = Vec::new();
    for word in words {
        // Each word is taken once, at its first place.
        if let Some(count) = counts.remove(&word.text.to_lowercase()) {
            best.push((worth(word, count, vocabulary), word));
        }
    }
    best.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    best.retain(|(_, word)| {
        let fits = word.tokens <= room;
        room -= if fits { word.tokens } else { 0 };
        fits
    });
    best.sort_by_key(|(_, word)| word.start);
    best.into_iter().map(|(_, word)| word).collect()
}

/// Joins words, with a space between those that do not touch in the text.
fn joined(words: &[&QueryWord<'_>]) -> String {
    let (mut all, mut end) = (String::new(), None);
    for word in words {
        if end.is_some_and(|end| end != word.start) {
            all.push(' ');
        }
        all.push_str(word.text);
        end = Some(word.start + word.text.len());
    }
    all
}

/// Computes what it is worth to embed a word that a query says this often.
fn worth(word: &QueryWord<'_>, count: u32, vocabulary: usize) -> f64 {
    (f64::from(word.rank) / vocabulary.max(1) as f64).cbrt() * (1.0 + f64::from(count).ln())
}

#[cfg(test)]
mod tests;
