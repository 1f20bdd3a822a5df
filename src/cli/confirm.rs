//! The question before something is destroyed, trusted or set up. It is asked on a terminal, or not at all.

use std::io::{self, BufRead, IsTerminal, Read, Write};

use reasoning_bank_domain::safety::secrets::scrub;

use super::args::Sure;
use super::failure::CommandFailure;
use super::render::clean;

/// The bound is above any answer.
const ANSWER_BYTES: u64 = 1024;

/// Returns when the user agreed, now or by `--yes`. `what` is a question without its mark: `Delete the memory x`.
///
/// # Errors
/// There is no terminal to ask on, or the user did not agree.
pub(super) fn confirm(what: &str, sure: Sure) -> Result<(), CommandFailure> {
    if sure.yes {
        return Ok(());
    }
    let what = clean(&scrub(what).text);
    if !is_on_terminal() {
        return Err(CommandFailure::usage(format!("{what}? There is no terminal to ask on")).hint("--yes agrees"));
    }
    match answer(&what, "[y/N]")?.as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(CommandFailure::declined()),
    }
}

/// Asks what is done unless the user declines. None where nobody is asked: without a terminal, or where `--yes` says
/// that nobody shall be.
///
/// # Errors
/// The answer cannot be read.
pub(super) fn offer(what: &str, sure: Sure) -> Result<Option<bool>, CommandFailure> {
    if sure.yes || !is_on_terminal() {
        return Ok(None);
    }
    answer(what, "[Y/n]").map(|answer| Some(!matches!(answer.as_str(), "n" | "no")))
}

fn is_on_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

fn answer(question: &str, choice: &str) -> Result<String, CommandFailure> {
    let _ = write!(io::stderr().lock(), "{question}? {choice} ");
    let mut answer = String::new();
    match io::stdin().lock().take(ANSWER_BYTES).read_line(&mut answer) {
        Ok(_) => Ok(answer.trim().to_lowercase()),
        Err(error) => Err(CommandFailure::usage("the answer cannot be read").caused_by(error)),
    }
}
