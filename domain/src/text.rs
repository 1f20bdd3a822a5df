//! Texts as searches and models take them: `terms` are what is searched, `tokens` are what a model counts, and `json`
//! tells the size of a JSON text before it is parsed.

use std::borrow::Cow;

pub mod hex;
pub mod json;
pub mod terms;
pub mod tokens;

/// Cuts a text to its head and its tail, with `between` in the middle, where it has more than `most` bytes.
pub fn head_and_tail<'a>(text: &'a str, most: usize, between: &str) -> Cow<'a, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let half = most.saturating_sub(between.len()) / 2;
    let head = &text[..text.floor_char_boundary(half)];
    let tail = &text[text.ceil_char_boundary(text.len() - half)..];
    Cow::Owned(format!("{head}{between}{tail}"))
}

/// Returns the text cut to at most `max` characters, between words where that is possible.
pub fn shortened(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let head: String = text.chars().take(max - 1).collect();
    let end = head.rfind(char::is_whitespace).filter(|end| *end > head.len() / 2).unwrap_or(head.len());
    format!("{}…", head[..end].trim_end_matches([',', ';', ':', ' ', '.']))
}
