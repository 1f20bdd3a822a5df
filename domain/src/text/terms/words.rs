//! This file finds where words begin and end, and drops what of their spelling does not matter.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextRun<'a> {
    /// Letters, digits and `_`.
    Word(&'a str),
    /// A run of signs of a script that puts no spaces between words.
    Signs(&'a str),
}

/// Returns the words and signs of a text, in order. An apostrophe within a word ends it where only an `s` follows.
/// Otherwise it belongs to neither side.
pub(super) fn runs(text: &str) -> impl Iterator<Item = TextRun<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !is_of_word(c));
        let first = rest.chars().next()?;
        let unspaced = is_unspaced(first);
        let end = rest.find(|c: char| !is_of_word(c) || is_unspaced(c) != unspaced).unwrap_or(rest.len());
        let piece = &rest[..end];
        rest = &rest[end..];
        if unspaced {
            return Some(TextRun::Signs(piece));
        }
        for possessive in ["'s", "\u{2019}s"] {
            let after = rest.strip_prefix(possessive);
            rest = after.filter(|after| !after.starts_with(is_of_word)).unwrap_or(rest);
        }
        Some(TextRun::Word(piece))
    })
}

fn is_of_word(c: char) -> bool {
    if c.is_ascii() {
        return c == '_' || c.is_ascii_alphanumeric();
    }
    c.is_alphanumeric() || is_combining_mark(c)
}

/// Tells a character of a script without spaces: Chinese characters, kana, Thai, Lao, Khmer and Burmese. Hangul is
/// spaced.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{323af}'
        | '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
}

/// Returns the parts of an identifier, or the identifier itself where it is one part. It is cut at `_`, from small to
/// capital letters, before the last of several capitals that begins a word (`HTTPServer`), and between letters and
/// digits.
pub(super) fn parts(word: &str) -> Vec<&str> {
    word.split('_').filter(|part| !part.is_empty()).flat_map(humps).collect()
}

fn humps(word: &str) -> Vec<&str> {
    let signs: Vec<(usize, char)> = word.char_indices().collect();
    let mut parts = Vec::new();
    let mut start = 0;
    for at in 1..signs.len() {
        let (before, here) = (signs[at - 1].1, signs[at].1);
        let next_is_small = signs.get(at + 1).is_some_and(|(_, next)| next.is_lowercase());
        let hump = here.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && next_is_small));
        if hump || before.is_numeric() != here.is_numeric() {
            parts.push(&word[start..signs[at].0]);
            start = signs[at].0;
        }
    }
    parts.push(&word[start..]);
    parts
}

/// Returns the word in small letters without accents, in their plain form.
pub(super) fn folded(word: &str) -> impl Iterator<Item = char> {
    word.nfkd().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).filter(|c| !is_combining_mark(*c))
}
