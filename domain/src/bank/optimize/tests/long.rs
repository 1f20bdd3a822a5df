//! A piece that is very long.

use jiff::SignedDuration;

use super::*;

fn bank() -> (BankFiles, BankPath) {
    let path: BankPath = "activeContext.md".parse().unwrap();
    let long = "The ships of the harbour have a mast each. ".repeat(1_500);
    (BankFiles::from([(path.clone(), format!("# Active context\n\n## Notes\n\n- {long}\n"))]), path)
}

#[test]
fn a_long_piece_is_cut_where_the_bank_would_be_too_short_without_it() {
    let (files, path) = bank();
    let short = optimized(&files);
    assert!((OPTIMIZED_MIN_TOKENS..=OPTIMIZE_ABOVE_TOKENS).contains(&short.tokens), "{}", short.tokens);
    assert!(short.files[&path].contains("have a mast each. ") && short.files[&path].ends_with(" …\n"));
    let [(piece, left)] = &short.cut[..] else { panic!("{:?}", short.cut.len()) };
    assert!(new_pieces("", &files[&path]).contains(piece) && short.files[&path].ends_with(left.as_str()));
    assert_eq!(optimized(&short.files).files, short.files);
    // An old entry stays where the bank would be too short without it.
    let entry =
        "2025-01-02: Looked at the ships of the harbour. They have a mast each. ".to_owned() + &"x y ".repeat(1_000);
    let old = BankFiles::from([(path, format!("# A\n\n## Notes\n\n{}", format!("- {entry}\n").repeat(3)))]);
    let short = collapse_old(&old, facts(&|_| None), now());
    assert!(short.tokens_before > OPTIMIZED_MIN_TOKENS && short.tokens >= OPTIMIZED_MIN_TOKENS, "{}", short.tokens);
}

#[test]
fn a_long_piece_that_was_filed_just_now_waits() {
    let (files, _) = bank();
    let at = |secs: i64| {
        let timestamp = Some(now() - SignedDuration::from_secs(secs));
        let metadata = move |_: &str| Some(BankMetadata { timestamp, ..BankMetadata::default() });
        let facts = BankFacts { may_shorten: Some(&|_| true), ..facts(&metadata) };
        optimize(&files, OPTIMIZE_ABOVE_TOKENS, facts, now())
    };
    let (just_now, later) = (at(0), at(1));
    assert!(just_now.waits && just_now.files == files, "{}", just_now.tokens);
    assert!(!later.waits && later.tokens < OPTIMIZE_ABOVE_TOKENS && later.tokens >= OPTIMIZED_MIN_TOKENS);
}
