//! The rules of capture, measured on everyday prose that somebody judged: paragraphs without code and hardly a word of
//! computing. Half of them state a finding or advise something, and half are small talk, reports and opinions.

#![allow(clippy::unwrap_used, reason = "helpers of tests are outside the functions that clippy knows as tests")]

use reasoning_bank_domain::learning::capture::{Thresholds, assess};
use serde::Deserialize;

const EXCHANGES: &str = include_str!("../../tests/data/exchanges_prose.jsonl");

#[derive(Deserialize)]
struct Judged {
    id: String,
    question: String,
    answer: String,
    valuable: bool,
}

#[test]
fn findings_and_advice_in_everyday_words_are_kept_and_small_talk_is_not() {
    let all = EXCHANGES.lines().map(|line| serde_json::from_str::<Judged>(line).unwrap());
    let (valuable, worthless): (Vec<Judged>, Vec<Judged>) = all.partition(|one| one.valuable);
    let kept = |of: &[Judged]| -> Vec<String> {
        let is_kept = |one: &&Judged| assess(&one.question, &one.answer, &Thresholds::default()).verdict.is_ok();
        of.iter().filter(is_kept).map(|one| one.id.clone()).collect()
    };
    assert_eq!((valuable.len(), worthless.len()), (30, 30));
    assert!(kept(&valuable).len() >= 29, "kept {:?}", kept(&valuable));
    assert_eq!(kept(&worthless), [] as [String; 0]);
}
