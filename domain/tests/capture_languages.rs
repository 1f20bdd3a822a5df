//! The rules of capture, measured on exchanges that somebody judged, one language at a time. The sets are in
//! tests/data.

#![allow(clippy::unwrap_used, reason = "helpers of tests are outside the functions that clippy knows as tests")]

use jiff::Timestamp;
use reasoning_bank_domain::learning::capture::{
    CaptureIds, CaptureOrigin, CaptureRefusal, Thresholds, assess, memory_of, scrubbed,
};
use reasoning_bank_domain::learning::transcript::Exchange;
use reasoning_bank_domain::memory::Trust;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use rstest::rstest;
use serde::Deserialize;

const DEVELOPMENT: &str = include_str!("../../tests/data/exchanges_languages.jsonl");
const HELD_OUT: &str = include_str!("../../tests/data/exchanges_languages_heldout.jsonl");

#[derive(Deserialize)]
struct Sample {
    id: String,
    language: String,
    question: String,
    answer: String,
    valuable: bool,
}

/// Applies the rules to an exchange, up to the store.
fn judged(sample: &Sample) -> Result<(), CaptureRefusal> {
    let (question, answer) = (sample.question.clone(), sample.answer.clone());
    let exchange = Exchange { question, answer, session: None, asked_first: None, said_next: None, at: None };
    let (exchange, _) = scrubbed(exchange);
    assess(&exchange.question, &exchange.answer, &Thresholds::default()).verdict?;
    let origin = CaptureOrigin { workspace_id: WorkspaceId::of_root("/"), trust: Trust::Model };
    let id = CaptureIds::of(&exchange, &origin.workspace_id).memory;
    memory_of(&exchange, id, &origin, Timestamp::UNIX_EPOCH).map(drop)
}

/// The shares of the exchanges of a language that are kept, of the valuable ones and of the worthless ones, with the
/// ids of those that are told wrongly.
fn kept(set: &str, languages: &[&str]) -> (f64, f64, Vec<String>) {
    let samples = set.lines().map(|line| serde_json::from_str::<Sample>(line).unwrap());
    let samples: Vec<Sample> = samples.filter(|one| languages.contains(&one.language.as_str())).collect();
    let told: Vec<(&Sample, bool)> = samples.iter().map(|one| (one, judged(one).is_ok())).collect();
    let share = |valuable: bool| {
        let of: Vec<bool> = told.iter().filter(|(one, _)| one.valuable == valuable).map(|(_, kept)| *kept).collect();
        assert!(!of.is_empty(), "no exchanges of {languages:?}");
        of.iter().filter(|kept| **kept).count() as f64 / of.len() as f64
    };
    let wrong = told.iter().filter(|(one, kept)| one.valuable != *kept).map(|(one, _)| one.id.clone()).collect();
    (share(true), share(false), wrong)
}

#[rstest]
#[case("de")]
#[case("en")]
#[case("es")]
#[case("fr")]
#[case("it")]
#[case("ja")]
#[case("nl")]
#[case("pt")]
#[case("ru")]
#[case("zh")]
fn what_is_worth_keeping_is_told_in_each_language(#[case] language: &str) {
    let (valuable, worthless, wrong) = kept(DEVELOPMENT, &[language]);
    assert!(valuable >= 0.9 && worthless <= 0.1, "{valuable} {worthless} {wrong:?}");
    // Six or seven of each language are valuable here, so that one of them is a sixth.
    let (valuable, worthless, wrong) = kept(HELD_OUT, &[language]);
    assert!(valuable >= 0.8 && worthless <= 0.1, "{valuable} {worthless} {wrong:?}");
}

#[test]
fn languages_that_the_rules_were_not_tuned_on_are_told_apart_as_well() {
    // Swedish has no words of its own in the rules.
    let (valuable, worthless, wrong) = kept(HELD_OUT, &["ko", "pl", "sv"]);
    assert!(valuable >= 0.75 && worthless <= 0.1, "{valuable} {worthless} {wrong:?}");
}
