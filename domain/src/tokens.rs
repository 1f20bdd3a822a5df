//! Token counts and the prompt budget.

use std::panic::catch_unwind;
use std::sync::LazyLock;

use tiktoken_rs::CoreBPE;

/// tiktoken's o200k; within 10 to 15 % for the models of other vendors. None if the vocabulary does not load: then
/// [`estimate`] counts four characters as a token.
static O200K: LazyLock<Option<CoreBPE>> = LazyLock::new(|| tiktoken_rs::o200k_base().ok());

/// How many tokens a text has, about.
pub fn estimate(text: &str) -> usize {
    // The tokenizer panics where its regular expressions give up on a text.
    let counted = O200K.as_ref().and_then(|bpe| catch_unwind(|| bpe.encode_ordinary(text).len()).ok());
    counted.unwrap_or_else(|| text.chars().count().div_ceil(4))
}

/// Whether a text has at most `budget` tokens. Cheap for short texts: a token has at least one byte, so the vocabulary
/// is loaded only when the length leaves it open.
pub fn fits(text: &str, budget: usize) -> bool {
    text.len() <= budget || estimate(text) <= budget
}

const MARKER: &str = "\n\n... [content truncated] ...\n\n";

/// A text that fits the budget as it is, or its head and tail around a marker: each 20 % of the budget's characters
/// (four a token), so that the task at the start and the newest at the end survive.
pub fn truncate(text: &str, budget: usize) -> Option<String> {
    if fits(text, budget) {
        return None;
    }
    let part = budget * 4 / 5;
    let mut head: String = text.chars().take(part).collect();
    let mut tail: Vec<char> = text.chars().rev().take(part).collect();
    tail.reverse();
    let mut tail: String = tail.into_iter().collect();
    // Scripts with about a token a character need less than four characters a token.
    while !fits(&format!("{head}{MARKER}{tail}"), budget) && head.len() + tail.len() > 0 {
        head = head.chars().take(head.chars().count() / 2).collect();
        tail = tail.chars().skip(tail.chars().count().div_ceil(2)).collect();
    }
    Some(format!("{head}{MARKER}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn short_texts_are_left_alone() {
        assert_eq!(truncate("hello", 5), None);
    }

    #[test]
    fn head_and_tail_survive_around_the_marker() {
        let text = format!("HEAD {} TAIL", "middle ".repeat(10_000));
        let cut = truncate(&text, 1_000).unwrap();
        assert!(cut.starts_with("HEAD middle") && cut.ends_with("middle  TAIL") && cut.contains("[content truncated]"));
        assert_eq!(cut.chars().count(), 800 + 800 + MARKER.chars().count());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn a_truncated_text_fits_its_budget(text in "\\PC{0,3000}", budget in 50usize..400) {
            if let Some(cut) = truncate(&text, budget) {
                prop_assert!(estimate(&cut) <= budget);
                prop_assert!(estimate(&text) > budget);
            }
        }
    }
}
