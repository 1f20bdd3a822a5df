//! Warnings against failures of many tools, in `tests/data/hooks/`: each warning is found for the failure that it tells
//! of, and for hardly another one.

use reasoning_bank_domain::memory::signature::{PrintedFailure, ToldFailure};
use serde::Deserialize;

#[derive(Deserialize)]
struct Failure {
    warning: Warning,
    /// The output of a command that failed as the warning tells.
    met: String,
    /// The output of one that failed otherwise, in half of the cases one of the same tool.
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
        ToldFailure::of(&self.error_type, &text).is_of(&PrintedFailure::of(printed))
    }
}

/// Says of a file how many failures it has, how many warnings are found, how many are wrong for the failure beside, and
/// how many for all others.
fn found(text: &str) -> (usize, usize, usize, usize) {
    let all: Vec<Failure> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let right = all.iter().filter(|of| of.warning.is_of(&of.met)).count();
    let wrong = all.iter().filter(|of| of.warning.is_of(&of.other)).count();
    let far = |(at, of): (usize, &Failure)| {
        let others = all.iter().enumerate().filter(|(other, _)| *other != at);
        others.flat_map(|(_, other)| [&other.met, &other.other]).filter(|printed| of.warning.is_of(printed)).count()
    };
    (all.len(), right, wrong, all.iter().enumerate().map(far).sum())
}

#[test]
fn a_warning_is_found_for_its_failure_and_hardly_for_another() {
    // The rules were made on the first file, and mended once after a look at half of the second and once after a look
    // at half of the third. Both were written by somebody who had not seen them; half of the other failures of the
    // third are near the one that is told of.
    let files = [
        (include_str!("../../tests/data/hooks/failures.jsonl"), 50, 85, 5),
        (include_str!("../../tests/data/hooks/failures_heldout.jsonl"), 80, 75, 5),
        (include_str!("../../tests/data/hooks/failures_near.jsonl"), 80, 85, 8),
    ];
    for (text, lines, least_percent, most_wrong_percent) in files {
        let (all, right, wrong, far) = found(text);
        assert_eq!(all, lines);
        assert!(right * 100 >= all * least_percent, "{right} of {all} found");
        let others = all * (all - 1) * 2;
        assert!(
            wrong * 100 <= all * most_wrong_percent && far * 500 <= others,
            "of {all}, {wrong} wrong beside and {far} elsewhere"
        );
    }
}
