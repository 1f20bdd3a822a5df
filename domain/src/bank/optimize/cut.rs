//! A piece that is much longer than what has to leave is cut: its beginning stays.

use crate::bank::pieces::{block_spans, ends_fence, fence_of};
use crate::bank::{BankDocument, BankFileReading};

/// The tokens of the mark behind a piece that was cut, and of the end of its code.
const MARK_TOKENS: usize = 8;
/// A piece is cut at a line where that takes at most this share of what could stay, in percent.
const LINE_PERCENT: usize = 20;

/// Returns the beginning of a piece within some tokens: whole lines, or whole words of a long one, with a mark behind
/// them. Code is closed. None where no piece remains.
pub(super) fn beginning(raw: &str, tokens: usize) -> Option<String> {
    let head = BankFileReading::of(raw).head(tokens.checked_sub(MARK_TOKENS)?).len();
    let head = &raw[..head];
    let line = head.rfind('\n').filter(|at| (head.len() - at) * 100 <= head.len() * LINE_PERCENT);
    let end = line.or_else(|| head.rfind(char::is_whitespace))?;
    let kept = head[..end].trim_end();
    let mut fence: Option<String> = None;
    for line in kept.lines() {
        fence = match fence {
            Some(mark) => Some(mark).filter(|mark| !ends_fence(line, mark)),
            None => fence_of(line),
        };
    }
    let last = kept.lines().last()?;
    let indent = &last[..last.len() - last.trim_start().len()];
    let cut = match fence {
        Some(mark) => format!("{kept}\n{indent}{mark}\n"),
        None if last.trim_start().starts_with('|') => format!("{kept}\n"),
        None => format!("{kept} …\n"),
    };
    let is_whole = || {
        let read = BankDocument::parse(format!("{cut}\n# after\n"));
        read.is_ok_and(|read| read.sections().len() == 2) && block_spans(&cut).len() == 1
    };
    (kept.contains(char::is_alphanumeric) && is_whole()).then_some(cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokens::estimate;

    #[test]
    fn the_beginning_of_a_piece_is_a_piece_within_its_tokens() {
        let words = "The ships of the harbour have a mast each. ".repeat(200);
        let lines = "  The ships of the harbour have a mast each.\n".repeat(200);
        let code = format!("- Run:\n  ```sh\n{lines}  ```\n");
        let rows = format!("| a | b |\n|---|---|\n{}", "| one ship | one mast |\n".repeat(300));
        for raw in [format!("{words}\n"), format!("- {words}\n"), format!("- Ships\n{lines}"), code, rows] {
            let cut = beginning(&raw, 300).unwrap();
            assert!((200..=300).contains(&estimate(&cut)), "{}: {cut}", estimate(&cut));
            assert!(cut.ends_with('\n') && block_spans(&cut).len() == 1, "{cut}");
        }
        assert_eq!(beginning("- word\n", 5), None);
        assert_eq!(beginning(&format!("<!--\n{words}\n-->\n"), 300), None, "a comment stays whole");
    }
}
