//! Objections to answers, and what is none, measured one language at a time. The set is in tests/data.

#![allow(clippy::unwrap_used, reason = "helpers of tests are outside the functions that clippy knows as tests")]

use reasoning_bank_domain::learning::correction::left_standing;
use reasoning_bank_domain::learning::transcript::{Exchange, Format};
use rstest::rstest;
use serde::Deserialize;

const MESSAGES: &str = include_str!("../../tests/data/objections_languages.jsonl");

#[derive(Deserialize)]
struct Message {
    language: String,
    set: String,
    objects: bool,
    text: String,
}

/// Tells whether a message takes back the answer before it.
fn takes_back(message: &str) -> bool {
    let exchange = Exchange {
        question: "How do I make the uploads faster?".into(),
        answer: "Compress each file with gzip before the upload.".into(),
        session: None,
        asked_first: None,
        said_next: Some(message.into()),
        at: None,
    };
    left_standing(Format::Messages, vec![exchange], &[]).0.is_empty()
}

/// Returns the messages of a kind that are told wrongly, and the number of all of the kind.
fn wrong(of: impl Fn(&Message) -> bool) -> (Vec<String>, usize) {
    let messages: Vec<Message> = MESSAGES.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_kind: Vec<&Message> = messages.iter().filter(|message| of(message)).collect();
    let told_wrongly = of_kind.iter().filter(|message| takes_back(&message.text) != message.objects);
    (told_wrongly.map(|message| message.text.clone()).collect(), of_kind.len())
}

#[rstest]
fn objections_are_known_in_each_language(
    #[values("en", "de", "es", "it", "nl", "ja")] language: &str,
    #[values(("first", 9), ("second", 10), ("third", 10), ("fourth", 6), ("fifth", 6))] (set, least): (&str, usize),
) {
    let (missed, all) = wrong(|message| message.objects && message.language == language && message.set == set);
    assert!(all >= least, "{all} objections");
    assert!(missed.len() <= 1.max(all / 10), "{} of {all} are missed: {missed:#?}", missed.len());
}

#[rstest]
fn few_continuations_are_taken_for_objections(#[values("second", "third", "fourth", "fifth")] set: &str) {
    let (taken, all) = wrong(|message| !message.objects && message.set == set);
    assert!(all >= 36, "{all} continuations");
    assert!(taken.len() * 100 <= all * 3, "{} of {all} are taken for objections: {taken:#?}", taken.len());
}
