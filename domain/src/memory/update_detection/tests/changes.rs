//! Changes that say the value before, or say the new one in other words.

use rstest::rstest;

use super::is_update;

#[rstest]
#[case::never_any_more("Always use black for formatting.", "Never use black any more, always use ruff for formatting.")]
#[case::never_alone("Always use Moment for dates.", "Never use Moment for dates any more.")]
fn a_change_in_other_words_is_an_update(#[case] older: &str, #[case] newer: &str) {
    assert!(is_update(older, newer));
}
