//! The question before something is destroyed or trusted. It is asked on a terminal, or not at all.

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
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(CommandFailure::usage(format!("{what}? There is no terminal to ask on")).hint("--yes agrees"));
    }
    let _ = write!(io::stderr().lock(), "{what}? [y/N] ");
    let mut answer = String::new();
    let read = io::stdin().lock().take(ANSWER_BYTES).read_line(&mut answer);
    match read.map(|_| answer.trim().to_lowercase()) {
        Ok(answer) if answer == "y" || answer == "yes" => Ok(()),
        Ok(_) => Err(CommandFailure::declined()),
        Err(error) => Err(CommandFailure::usage("the answer cannot be read").caused_by(error)),
    }
}
