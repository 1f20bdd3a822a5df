//! Warnings against failures of many tools, in `tests/data/hooks/`: each warning is found for the failure that it tells of,
//! and for hardly another one.

use reasoning_bank_domain::memory::signature::ToldFailure;
use serde::Deserialize;

#[derive(Deserialize)]
struct Failure {
    warning: Warning,
    /// What a command printed that failed as the warning tells.
    met: String,
    /// What one printed that failed otherwise, in half of the cases one of the same tool.
    other: String,
}

#[derive(Deserialize)]
struct Warning {
    error_type: String,
    failure_pattern: String,
    error_message: Option<String>,
}

impl Warning {
    fn is_of(&self, printed: &str) -> bool {
        let message = self.error_message.as_deref().unwrap_or_default();
        let text = [&self.error_type, &self.failure_pattern, message].join("\n");
        ToldFailure { error_type: &self.error_type, text: &text }.is_of(printed)
    }
}

/// Says of a file how many warnings are found, how many for the other failure beside, and how many for any of all others.
fn found(name: &str) -> (usize, usize, usize, usize) {
    let path = format!("{}/../tests/data/hooks/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let all: Vec<Failure> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let missed = all
        .iter()
        .filter(|of| !of.warning.is_of(&of.met))
        .inspect(|of| println!("missed: {}", of.warning.failure_pattern));
    let missed = missed.count();
    let wrong = all
        .iter()
        .filter(|of| of.warning.is_of(&of.other))
        .inspect(|of| println!("wrong: {}", of.warning.failure_pattern));
    let wrong = wrong.count();
    let mut far = 0;
    for (at, of) in all.iter().enumerate() {
        let others = all.iter().enumerate().filter(|(other, _)| *other != at);
        let printed = others.flat_map(|(_, other)| [&other.met, &other.other]);
        far += printed
            .filter(|printed| of.warning.is_of(printed))
            .inspect(|_| println!("far: {}", of.warning.failure_pattern))
            .count();
    }
    (all.len(), all.len() - missed, wrong, far)
}

#[test]
fn a_warning_is_found_for_its_failure_and_hardly_for_another() {
    let (all, right, wrong, far) = found("failures.jsonl");
    println!("{right} of {all} found, {wrong} of {all} wrong beside, {far} of {} wrong elsewhere", all * (all - 1) * 2);
    assert!(right * 100 >= all * 90 && wrong * 100 <= all * 5 && far * 1_000 <= all * (all - 1) * 2);
}
