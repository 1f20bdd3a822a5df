//! The comparison of the titles and texts of patterns.

use std::collections::BTreeSet;

/// Plans are alike from this share of common titles on.
pub(super) const PLAN_JACCARD: f64 = 0.6;

/// Returns a title in the form in which it is compared: its words in lowercase, without numbers before them and without
/// signs.
pub(super) fn title_key(title: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || "_-./+#".contains(c);
    let words = title.split(|c: char| !is_word(c)).map(|word| word.trim_matches(['.', '-', '/']));
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    let numbered = words.len() > 1 && words[0].chars().all(|c| c.is_ascii_digit() || c == '.');
    words[usize::from(numbered)..].join(" ")
}

/// Returns the share of what two sets have in common, in 0..=1. Two empty sets have nothing in common.
pub(super) fn jaccard<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> f64 {
    let common = a.intersection(b).count();
    let all = a.len() + b.len() - common;
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_case_and_signs_do_not_make_another_title() {
        assert_eq!(title_key(" 2) Write the Tests! "), "write the tests");
        assert_eq!(title_key("1.2. Run `cargo-nextest`"), "run cargo-nextest");
        assert_eq!(title_key("404"), "404");
        assert_eq!(title_key("Edit src/main.rs."), "edit src/main.rs");
    }

    #[test]
    fn the_share_of_two_sets() {
        let set = |items: &[u8]| items.iter().copied().collect::<BTreeSet<u8>>();
        assert_eq!(jaccard(&set(&[1, 2, 3]), &set(&[2, 3, 4])), 0.5);
        assert_eq!(jaccard(&set(&[]), &set(&[])), 0.0);
    }
}
