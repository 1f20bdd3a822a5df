//! Cuts a text into pieces that fit the model's window, where a reader would: after a line, a sentence or a word.

use tokenizers::{Encoding, PostProcessor, Tokenizer};

use super::encoder::TextPiece;

/// No piece is longer, however few tokens it has: a word of more than 100 characters is one unknown token.
pub(crate) const PIECE_BYTES: usize = 4096;

/// The kinds of places to cut at, the best last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Boundary {
    /// The place is between two signs without white space, such as Chinese characters or punctuation.
    Sign,
    Word,
    Sentence,
    Line,
}

/// Reads a tokenizer from the bytes of a `tokenizer.json`. It neither truncates nor fills up.
pub(crate) fn tokenizer(bytes: &[u8]) -> Result<Tokenizer, String> {
    let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(|error| error.to_string())?;
    tokenizer.with_padding(None).with_truncation(None).map_err(|error| error.to_string())?;
    Ok(tokenizer)
}

/// Counts the tokens of a text that a window has room for, beside the special tokens of the model.
pub(crate) fn most_tokens(tokenizer: &Tokenizer, window: usize) -> usize {
    let special = tokenizer.get_post_processor().map_or(0, |processor| processor.added_tokens(false));
    window.saturating_sub(special).max(1)
}

/// Cuts a text into pieces. `window` counts the tokens that the model reads at once, its special tokens included;
/// `tokenizer` must not truncate. Time grows with the length of the text alone.
pub(crate) fn cut(tokenizer: &Tokenizer, text: &str, window: usize) -> Result<Vec<TextPiece>, String> {
    let most = most_tokens(tokenizer, window);
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let end = text.floor_char_boundary(start + PIECE_BYTES);
        let view = &text[start..end];
        let encoding = tokenizer.encode(view, false).map_err(|error| error.to_string())?;
        let (length, tokens) = if end == text.len() && encoding.len() <= most {
            (view.len(), encoding.len())
        } else {
            best_cut(view, &encoding, most)
        };
        let piece = &view[..length];
        let trimmed = piece.trim();
        if !trimmed.is_empty() {
            let from = start + piece.len() - piece.trim_start().len();
            pieces.push(TextPiece { range: from..from + trimmed.len(), tokens });
        }
        start += length;
    }
    Ok(pieces)
}

/// Finds the bytes and tokens before the best place to cut: the last of the best kind in the second half. The place is
/// inside a word only where that word does not fit, such as a paragraph without spaces, which is one word to
/// SentencePiece: then it is between two tokens. A view that is one word and fits is taken whole.
fn best_cut(view: &str, encoding: &Encoding, most: usize) -> (usize, usize) {
    let (offsets, words) = (encoding.get_offsets(), encoding.get_word_ids());
    let last = most.min(offsets.len().saturating_sub(1));
    let start = |token: usize| view.floor_char_boundary(offsets[token].0);
    let boundary = |token: usize| {
        let inside_word = words[token].is_some() && words[token] == words[token - 1];
        let at = start(token);
        (!inside_word && at > 0).then(|| (boundary_before(view, offsets[token - 1].1, at), at, token))
    };
    let latter_half = (last / 2 + 1..=last).filter_map(boundary).max_by_key(|(kind, at, _)| (*kind, *at));
    let earlier = || (1..=last / 2).rev().find_map(boundary);
    if let Some((_, at, token)) = latter_half.or_else(earlier) {
        return (at, token);
    }
    let inside = (1..=last).rev().map(|token| (start(token), token)).find(|(at, _)| *at > 0);
    inside.filter(|_| offsets.len() > most).unwrap_or((view.len(), offsets.len()))
}

fn boundary_before(view: &str, previous_end: usize, at: usize) -> Boundary {
    let gap = view.get(previous_end..at).unwrap_or_default();
    if gap.contains('\n') {
        Boundary::Line
    } else if gap.is_empty() {
        Boundary::Sign
    } else if view[..at].trim_end().ends_with(['.', '!', '?', ';', ':', '。', '！', '？']) {
        Boundary::Sentence
    } else {
        Boundary::Word
    }
}

#[cfg(test)]
mod tests;
