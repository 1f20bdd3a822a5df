//! Answers as text for people: pure functions of the documents that `--json` prints. Stored text is shown without its
//! control characters: a memory must not steer the terminal.

use reasoning_bank_domain::trace::Outcome;

mod doctor;
mod memory;
mod solve;
pub(super) mod style;

pub(super) use doctor::diagnosis;
pub(super) use memory::{memory, recorded, retrieved, why};
pub(super) use solve::{attempts, solve, verdict};

/// Without control characters other than line ends and tabs.
pub(super) fn clean(text: &str) -> String {
    let shown = |c: char| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c };
    text.chars().map(shown).collect()
}

fn kind(warning: bool) -> String {
    if warning { style::doubtful("warning ") } else { style::good("strategy") }
}

fn outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Success => style::good(outcome.as_str()),
        Outcome::Failure => style::bad(outcome.as_str()),
        Outcome::Partial => style::doubtful(outcome.as_str()),
    }
}

pub(super) fn score(score: Option<f64>) -> String {
    score.map_or_else(|| "none".into(), |score| format!("{score:.2}"))
}

fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests;
