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

/// Splits a text into pieces of at most `max` characters. A piece ends behind a paragraph where its second half has an
/// end of one, else behind a line, else behind a word, else anywhere. White space around pieces is dropped.
pub fn pieces(text: &str, max: usize) -> Vec<&str> {
    let (mut pieces, mut rest) = (Vec::new(), text.trim());
    while let Some((end, _)) = rest.char_indices().nth(max.max(1)) {
        let head = &rest[..end];
        let at = ["\n\n", "\n", " "].iter().find_map(|mark| head.rfind(mark).filter(|at| at * 2 > end)).unwrap_or(end);
        pieces.push(head[..at].trim_end());
        rest = rest[at..].trim_start();
    }
    pieces.extend(Some(rest).filter(|rest| !rest.is_empty()));
    pieces
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_split_behind_paragraphs_lines_or_words_and_nothing_is_lost() {
        assert_eq!(pieces(" one two ", 7), ["one two"]);
        assert_eq!(pieces("one two three", 8), ["one two", "three"]);
        assert_eq!(pieces("one two\n\nthree four\nfive", 12), ["one two", "three four", "five"]);
        assert_eq!(pieces("a bcdefghijk", 6), ["a bcde", "fghijk"], "a break in the first half leaves little");
        assert_eq!(pieces("äöüäöü", 4), ["äöüä", "öü"]);
        assert_eq!(pieces("  ", 4), Vec::<&str>::new());
        let text = "Each word of a text that is far too long stays.\nAnd its lines.\n\n".repeat(500);
        let parts = pieces(&text, 1_000);
        assert!(parts.iter().all(|part| part.chars().count() <= 1_000));
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&parts.join(" ")), words(&text));
    }
}
