use rstest::rstest;

use super::*;
use crate::embed::chunking::tokenizer;

const WINDOW: usize = 256;

fn minilm() -> Tokenizer {
    tokenizer(include_bytes!("../../../assets/all-MiniLM-L6-v2-int8/tokenizer.json")).unwrap()
}

fn tokens(text: &str) -> usize {
    minilm().encode(text, false).unwrap().len()
}

#[rstest]
#[case::nothing("")]
#[case::a_question("When did the caches expire, and why were they not filled again?")]
#[case::signs("?! ... --")]
fn a_short_text_stays_as_it_is(#[case] text: &str) {
    assert_eq!(condensed(&minilm(), text, WINDOW).unwrap(), text);
}

#[test]
fn of_a_long_text_the_words_stay_that_it_is_about() {
    let filler = "It was not there when we looked at it again and so we had to do it all over once more. ".repeat(20);
    let text = format!("{filler}The semaphore deadlocks under backpressure. {filler}The semaphore leaks permits.");
    let short = condensed(&minilm(), &text, WINDOW).unwrap();
    for word in ["semaphore", "deadlocks", "backpressure", "leaks", "permits"] {
        assert_eq!(short.matches(word).count(), 1, "{short}");
    }
    assert!(tokens(&short) <= QUERY_TOKENS, "{short}");
}

#[rstest]
#[case::code("    let midpoint = low + (high - low) / 2; // no overflow\n".repeat(300))]
#[case::punctuation(".".repeat(20_000))]
#[case::less_punctuation("{ } ; ".repeat(500))]
#[case::json(r#"{"a": [1, 2, {"b": null}], "c": "d"}, "#.repeat(60))]
#[case::less_emoji("🚀✅".repeat(200))]
#[case::less_chinese("検索上限排他的".repeat(60))]
#[case::chinese_without_spaces("検索上限排他的".repeat(3_000))]
#[case::emoji("🚀✅👩‍💻".repeat(5_000))]
#[case::a_megabyte_without_spaces("x".repeat(1 << 20))]
#[case::a_megabyte_of_spaces(format!("a{}b", " ".repeat(1 << 20)))]
#[case::accents_apart("e\u{301}".repeat(10_000))]
#[case::different_words((0..50_000).map(|n| format!("word{n} ")).collect::<String>())]
fn any_text_becomes_one_that_fits(#[case] text: String) {
    let short = condensed(&minilm(), &text, WINDOW).unwrap();
    assert!(tokens(&short) <= QUERY_TOKENS, "{} tokens: {short}", tokens(&short));
}

#[test]
fn a_small_window_is_not_exceeded() {
    let text = "A semaphore that is acquired twice deadlocks when no permit is left for the second time.";
    let short = condensed(&minilm(), text, 10).unwrap();
    assert!(tokens(&short) <= 8 && short.contains("semaphore"), "{short}");
}

#[test]
fn the_end_of_a_very_long_text_counts_too() {
    let text = format!("{} the quorum was lost", "we waited for it and ".repeat(10_000));
    assert!(condensed(&minilm(), &text, WINDOW).unwrap().contains("quorum"));
}
