//! Token counts and the prompt budget.

use std::borrow::Cow;
use std::panic::catch_unwind;
use std::sync::LazyLock;

use tiktoken_rs::CoreBPE;

/// About so many characters are a token.
pub const CHARS_A_TOKEN: usize = 4;

/// The vocabulary o200k of tiktoken, which counts within 10 to 15 % for the models of other vendors. None if it does
/// not load: then [`estimate`] counts four characters as a token.
static O200K: LazyLock<Option<CoreBPE>> = LazyLock::new(|| tiktoken_rs::o200k_base().ok());

/// Returns about how many tokens a text has.
pub fn estimate(text: &str) -> usize {
    // The tokenizer panics when its regular expressions give up on a text.
    let counted = O200K.as_ref().and_then(|bpe| catch_unwind(|| bpe.encode_ordinary(text).len()).ok());
    counted.unwrap_or_else(|| text.chars().count().div_ceil(CHARS_A_TOKEN))
}

/// Returns the end of each token of a text, in bytes, so that the tokens of many of its parts are counted at once.
/// Four characters are a token where the text cannot be split into tokens.
pub fn token_ends(text: &str) -> Vec<usize> {
    let split = |bpe: &CoreBPE| -> Vec<usize> {
        let tokens = bpe.encode_ordinary(text);
        let lengths = bpe._decode_native_and_split(tokens).map(|token| token.len());
        lengths
            .scan(0, |end, length| {
                *end += length;
                Some(*end)
            })
            .collect()
    };
    let ends = O200K.as_ref().and_then(|bpe| catch_unwind(|| split(bpe)).ok());
    ends.unwrap_or_else(|| {
        text.char_indices().skip(CHARS_A_TOKEN).step_by(CHARS_A_TOKEN).map(|(at, _)| at).chain([text.len()]).collect()
    })
}

/// Tells whether a text has at most `budget` tokens. It is cheap for short texts: a token has at least one byte, so the
/// vocabulary is loaded only when the length leaves it open.
pub fn fits(text: &str, budget: usize) -> bool {
    text.len() <= budget || estimate(text) <= budget
}

const MARKER: &str = "\n\n... [content truncated] ...\n\n";

/// Cuts a text to the budget, and answers none where it fits as it is. It keeps its head and its tail around a marker,
/// each 20 % of the budget's characters (four a token), so that the task at the start and the newest at the end
/// survive.
pub fn truncate(text: &str, budget: usize) -> Option<String> {
    if fits(text, budget) { None } else { Some(head_and_tail(text, budget, budget * 4 / 5)) }
}

/// Cuts texts so that they fit the budget together. None is dropped. A text that is longer than its fair share keeps
/// its head and its tail; short texts leave the rest of their share to the long ones.
pub fn fit_all<'a>(texts: &[&'a str], budget: usize) -> Vec<Cow<'a, str>> {
    let whole = || texts.iter().map(|text| Cow::Borrowed(*text)).collect();
    if texts.iter().map(|text| text.len()).sum::<usize>() <= budget {
        return whole();
    }
    let needs: Vec<usize> = texts.iter().map(|text| estimate(text)).collect();
    let shorten = |(text, (need, share)): (&&'a str, (usize, usize))| match need <= share {
        true => Cow::Borrowed(*text),
        false => Cow::Owned(head_and_tail(text, share, 2 * share)),
    };
    let shares = fair_shares(&needs, budget);
    texts.iter().zip(needs.into_iter().zip(shares)).map(shorten).collect()
}

/// Returns the max-min fair shares of `all`: nobody gets more than it needs, and nobody less than an even part unless
/// it needs less.
fn fair_shares(needs: &[usize], all: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by_key(|index| needs[*index]);
    let (mut shares, mut left) = (vec![0; needs.len()], all);
    for (served, index) in order.into_iter().enumerate() {
        shares[index] = needs[index].min(left / (needs.len() - served));
        left -= shares[index];
    }
    shares
}

/// Returns `part` characters of the start and of the end, or as many as fit. There is no marker where the budget has no
/// room for one.
fn head_and_tail(text: &str, budget: usize, part: usize) -> String {
    const LEAST_WITH_MARKER: usize = 24;
    let mut part = part.min(text.chars().count() / 2);
    loop {
        let mut cut: String = text.chars().take(part).collect();
        if budget >= LEAST_WITH_MARKER {
            let end = text.char_indices().rev().take(part).last().map_or(text.len(), |(at, _)| at);
            cut = format!("{cut}{MARKER}{}", &text[end..]);
        }
        // Scripts with about a token for each character need less than four characters a token.
        if part == 0 || fits(&cut, budget) {
            return cut;
        }
        part = part * 3 / 4;
    }
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
        fn the_tokens_of_a_text_end_where_the_next_ones_begin(text in "\\PC{1,300}") {
            let ends = token_ends(&text);
            prop_assert_eq!((ends.len(), ends.last()), (estimate(&text), Some(&text.len())));
            prop_assert!(ends.is_sorted());
        }

        #[test]
        fn a_truncated_text_fits_its_budget(text in "\\PC{0,3000}", budget in 50usize..400) {
            if let Some(cut) = truncate(&text, budget) {
                prop_assert!(estimate(&cut) <= budget);
                prop_assert!(estimate(&text) > budget);
                let (head, tail) = cut.split_once(MARKER).unwrap();
                prop_assert!(text.starts_with(head) && text.ends_with(tail) && !head.is_empty());
            }
        }

        #[test]
        fn texts_that_share_a_budget_fit_it_and_none_is_dropped(
            texts in prop::collection::vec("\\PC{1,900}", 1..12),
            each in 30usize..200,
        ) {
            let budget = each * texts.len();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let fitted = fit_all(&texts, budget);
            prop_assert!(fitted.iter().map(|text| estimate(text)).sum::<usize>() <= budget);
            for (text, fitted) in texts.iter().zip(&fitted) {
                prop_assert!(!fitted.is_empty() && text.starts_with(fitted.split(MARKER).next().unwrap()));
                prop_assert!(estimate(text) > each || fitted == text, "an even share was enough");
            }
        }

        #[test]
        fn shares_are_within_all_and_nobody_has_less_than_an_even_one_unless_it_needs_less(
            needs in prop::collection::vec(0usize..500, 1..12), all in 0usize..3_000,
        ) {
            let shares = fair_shares(&needs, all);
            prop_assert!(shares.iter().sum::<usize>() <= all);
            for (need, share) in needs.iter().zip(&shares) {
                prop_assert!(share <= need && *share >= (all / needs.len()).min(*need));
            }
        }
    }
}
