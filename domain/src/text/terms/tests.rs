use proptest::prelude::*;

use super::*;

fn joined(text: &str) -> String {
    terms(text).join(" ")
}

#[test]
fn identifiers_are_found_by_their_parts_and_as_a_whole() {
    assert_eq!(joined("parseHTTPResponse"), "pars http respons parsehttprespons");
    assert_eq!(joined("max_retry_count"), "max retri count maxretrycount");
    assert_eq!(joined("sha256"), "sha 256 sha256");
}

#[test]
fn every_word_of_a_text_is_indexed_by_its_stem() {
    assert_eq!(joined("When did the caches expire?"), "when did the cach expir");
}

#[test]
fn a_query_looks_for_each_term_once_and_for_stop_words_only_where_there_is_nothing_else() {
    let counted =
        |text: &str| -> Vec<(String, u32)> { query(text).into_iter().map(|of| (of.term, of.count)).collect() };
    let expected = [("cach", 2), ("expir", 1), ("lru", 1)].map(|(term, count)| (term.to_owned(), count));
    assert_eq!(counted("When did the caches expire, the LRU caches?"), expected);
    assert_eq!(counted("who is it").len(), 3);
    assert_eq!(counted("?!"), []);
}

#[test]
fn of_a_long_query_the_terms_count_that_it_says_most_often_and_then_the_first() {
    let word = |n: u8| format!("{}{}x ", char::from(b'b' + n / 20), char::from(b'b' + n % 20));
    let long: String = (0..200).map(word).collect();
    let terms = query(&format!("{long}{}{}", word(198), word(199)));
    let first: Vec<QueryTerm> = (0..126).flat_map(|n| query(&word(n))).collect();
    assert_eq!(terms[..126], first);
    let last: Vec<(&str, u32)> = terms[126..].iter().map(|of| (of.term.as_str(), of.count)).collect();
    assert_eq!(last, [(word(198).trim(), 2), (word(199).trim(), 2)]);
}

#[test]
fn the_title_counts_in_every_passage() {
    assert_eq!(indexed("Retry budgets", "wait longer"), "wait longer retri budget retri budget");
}

#[test]
fn spelling_that_does_not_matter_is_folded() {
    assert_eq!(joined("Café ＡＢＣ Ünïcode"), joined("cafe abc unicode"));
    assert_eq!(joined("Caroline's cat"), "carolin cat");
    assert_eq!(joined("Caroline’s cat"), "carolin cat");
}

#[test]
fn what_differs_from_run_to_run_is_dropped() {
    assert_eq!(joined("segfault at 0x7f3a9c001000"), joined("segfault at 0x55d0aa12e4f0"));
    assert_eq!(joined("thread panicked at src/main.rs:10:5"), joined("thread panicked at src/main.rs:99:1"));
    assert_eq!(joined("File \"app.py\", line 42, in load"), joined("File \"app.py\", line 7, in load"));
    assert_eq!(joined("E0382"), "e 0382 e0382");
}

#[test]
fn scripts_without_spaces_are_cut_into_pairs() {
    assert_eq!(joined("数据库错误"), "数据 据库 库错 错误");
    assert_eq!(joined("用 git 提交"), "用 git 提交");
}

proptest! {
    #[test]
    fn terms_are_not_empty_hold_no_white_space_and_are_bounded(text in any::<String>()) {
        for term in terms(&text) {
            prop_assert!(!term.is_empty());
            prop_assert!(!term.contains(char::is_whitespace));
            prop_assert!(term.chars().count() <= LONGEST_CHARS);
        }
    }

    #[test]
    fn case_does_not_matter_within_a_plain_word(word in "[a-z]{1,20}") {
        prop_assert_eq!(terms(&word), terms(&word.to_uppercase()));
    }
}
