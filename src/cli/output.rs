//! The way out of answers and failures: stdout is for answers, or for exactly one JSON document; stderr is for all
//! else.

use std::io::{self, Write};

use clap::error::ErrorKind;
use reasoning_bank_domain::safety::invisible::escaped_in_json;
use reasoning_bank_domain::safety::secrets::{Scrub, redact, scrub};
use serde::Serialize;
use serde_json::{Value, json};

use super::failure::{CommandExit, CommandFailure};
use super::render::clean;
use super::render::style::{bad, bold, doubtful};

#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    pub(super) json: bool,
    pub(super) quiet: bool,
}

impl Output {
    /// Prints the answer: its document, or the text made of it.
    pub(super) fn answer<T: Serialize>(
        self,
        answer: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<CommandExit, CommandFailure> {
        if self.json {
            let document = serde_json::to_string(answer).map_err(|error| CommandFailure::output(error.into()))?;
            line(&escaped_in_json(&without_secrets(&document)))
        } else {
            line(redact(text(answer).trim_end()).text.as_ref())
        }
        .map(|()| CommandExit::Ok)
    }

    /// Prints an answer that is a secret, because the user asked for it.
    pub(super) fn secret<T: Serialize>(
        self,
        answer: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<CommandExit, CommandFailure> {
        if self.json {
            line(&serde_json::to_string(answer).map_err(|error| CommandFailure::output(error.into()))?)
        } else {
            line(text(answer).trim_end())
        }
        .map(|()| CommandExit::Ok)
    }

    pub(super) fn warning(self, text: &str) {
        if !self.quiet {
            let _ = writeln!(anstream::stderr(), "{} {}", doubtful("warning:"), clean(&scrub(text).text));
        }
    }

    /// Warns where the audit log has no line about what was done. It is done by then, so this is no failure.
    pub(super) fn noted(self, noted: io::Result<()>) {
        if let Err(error) = noted {
            self.warning(&format!("the audit log has no line about this: {error}"));
        }
    }

    /// Prints on stderr what was done, where stdout has something else.
    pub(super) fn remark(self, text: &str) {
        if !self.quiet {
            let _ = writeln!(anstream::stderr(), "{}", clean(&scrub(text.trim_end()).text));
        }
    }

    /// Prints a failure without secrets, because a failure repeats what it was given.
    pub(super) fn failure(self, failure: &CommandFailure) -> CommandExit {
        if self.json && !failure.is_after_output {
            let _ = line(&document(failure).to_string());
        }
        let mut stderr = anstream::stderr().lock();
        let _ = writeln!(stderr, "{} {}", bad("error:"), clean(&scrub(&failure.message).text));
        if let Some(hint) = &failure.hint {
            let _ = writeln!(stderr, "{} {}", bold("hint:"), clean(&scrub(hint).text));
        }
        if let (Some(best), false) = (&failure.best, self.json) {
            let _ = line(&clean(&best.solution));
        }
        failure.exit
    }
}

/// Removes the secrets of the strings of a JSON document, and leaves all else as it was.
fn without_secrets(document: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(document.len()), document);
    while let Some(start) = rest.find('"') {
        let (before, from) = rest.split_at(start);
        let mut strings = serde_json::Deserializer::from_str(from).into_iter::<String>();
        let Some(Ok(text)) = strings.next() else { break };
        let (string, after) = from.split_at(strings.byte_offset());
        out.push_str(before);
        let redacted = redact(&text);
        match redacted.redactions {
            0 => out.push_str(string),
            _ => out.push_str(&json!(redacted.text).to_string()),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

fn document(failure: &CommandFailure) -> Value {
    let mut document = json!({ "error": failure });
    document.scrub();
    document
}

/// Prints a line on stdout, without colours where it is no terminal. That nobody reads it any more (`| head`) is no
/// failure.
pub(super) fn line(text: &str) -> Result<(), CommandFailure> {
    let mut stdout = anstream::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CommandFailure::output(error)),
        _ => Ok(()),
    }
}

/// Prints what clap says: help and version on stdout, wrong arguments on stderr.
pub(super) fn usage(error: &clap::Error) -> CommandExit {
    if !error.use_stderr() {
        let _ = error.print();
        return CommandExit::Ok;
    }
    let asks_for_json =
        std::env::args_os().take_while(|argument| argument != "--").any(|argument| argument == "--json");
    let styled = error.render();
    let plain = styled.to_string();
    let scrubbed = scrub(&plain);
    // Colours would hide where a secret begins.
    let said = if scrubbed.redactions > 0 { scrubbed.text.into_owned() } else { styled.ansi().to_string() };
    // Clap writes flags of which one is needed as `<--one|--other>`, and does not say so.
    let one_of = if error.kind() == ErrorKind::MissingRequiredArgument && plain.contains("|--") {
        "one of the flags between < and > is needed; "
    } else {
        ""
    };
    let said = said.replace("For more information, try ", &format!("hint: {one_of}for more information, try "));
    let _ = write!(anstream::stderr(), "{said}");
    if asks_for_json {
        let message = plain.split("\n\n").next().unwrap_or(&plain).trim_start_matches("error: ").trim();
        let failure =
            CommandFailure::usage(message).hint(format!("{one_of}`--help` after a command shows what it takes"));
        let _ = line(&document(&failure).to_string());
    }
    CommandExit::Usage
}
