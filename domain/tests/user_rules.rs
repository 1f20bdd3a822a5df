//! Rules that users state in their messages, and what is none, measured. The set is in tests/data: half of it was looked
//! at while the rules were made.

#![allow(clippy::unwrap_used, reason = "helpers of tests are outside the functions that clippy knows as tests")]

use reasoning_bank_domain::learning::capture::rule_of;
use reasoning_bank_domain::learning::transcript::Exchange;
use rstest::rstest;
use serde::Deserialize;

const MESSAGES: &str = include_str!("../../tests/data/standing_rules.jsonl");

#[derive(Deserialize)]
struct Message {
    set: String,
    rule: bool,
    text: String,
}

fn states_rule(message: &str) -> bool {
    let exchange = Exchange {
        question: message.into(),
        answer: String::new(),
        session: None,
        asked_first: None,
        said_next: None,
        at: None,
    };
    rule_of(&exchange).is_some()
}

/// Returns the messages of a set that are told wrongly, and the number of all of the kind.
fn wrong(set: &str, rule: bool) -> (Vec<String>, usize) {
    let messages: Vec<Message> = MESSAGES.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_kind: Vec<&Message> = messages.iter().filter(|message| message.set == set && message.rule == rule).collect();
    let told_wrongly = of_kind.iter().filter(|message| states_rule(&message.text) != rule);
    (told_wrongly.map(|message| message.text.clone()).collect(), of_kind.len())
}

#[rstest]
#[case("first", 15, 0)]
#[case("heldout", 15, 2)]
#[case("second", 19, 5)]
fn rules_of_users_are_known(#[case] set: &str, #[case] least: usize, #[case] most_missed: usize) {
    let (missed, all) = wrong(set, true);
    assert!(all >= least && missed.len() <= most_missed, "{} of {all} are missed: {missed:#?}", missed.len());
}

#[rstest]
fn what_is_said_of_this_once_is_no_rule(#[values("first", "heldout", "second")] set: &str) {
    let (taken, all) = wrong(set, false);
    assert!(all >= 15 && taken.is_empty(), "{} of {all} are taken for rules: {taken:#?}", taken.len());
}
