//! A line of the log on its way out: without secrets, of bounded length, in one piece. Everything that is stored, sent
//! or answered is scrubbed where it comes in. This writer catches what a log line picks up on another way.

use std::borrow::Cow;
use std::io::{self, Write};

use reasoning_bank_domain::safety::invisible::escaped_for_people;
use reasoning_bank_domain::safety::secrets::{Scrub, redact};
use serde_json::{Value, json};
use tracing_subscriber::fmt::MakeWriter;

/// The bound is in bytes. A longer line is left out, and the log says so.
const MAX_LINE: usize = 64 * 1024;

/// Makes writers for the lines that go to `to`.
pub(super) struct RedactingLines<W> {
    to: W,
    json: bool,
}

impl<W> RedactingLines<W> {
    pub(super) fn to(to: W, json: bool) -> Self {
        Self { to, json }
    }
}

impl<'a, W: MakeWriter<'a>> MakeWriter<'a> for RedactingLines<W> {
    type Writer = RedactingWriter<W::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        RedactingWriter { to: self.to.make_writer(), json: self.json }
    }
}

pub(super) struct RedactingWriter<W> {
    to: W,
    json: bool,
}

impl<W: Write> Write for RedactingWriter<W> {
    /// Takes a whole line, as the formatter gives it, and writes it with one call: lines of several processes in one
    /// file do not mix.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.to.write_all(clean(&String::from_utf8_lossy(line), self.json).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

fn clean(line: &str, json: bool) -> Cow<'_, str> {
    if line.len() > MAX_LINE {
        return Cow::Owned(left_out(line.len(), json));
    }
    if json { clean_strings(line) } else { Cow::Owned(escaped_but_colours(&redact(line).text)) }
}

/// Writes out everything that nobody sees, but for the colours of the log itself on a terminal.
fn escaped_but_colours(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for (n, part) in line.split("\u{1b}[").enumerate() {
        let digits = part.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(part.len());
        let colour = if part[digits..].starts_with('m') { digits + 1 } else { 0 };
        if n > 0 {
            out.push_str(if colour > 0 { "\u{1b}[" } else { "\\u{1b}[" });
        }
        let (colour, text) = part.split_at(if n > 0 { colour } else { 0 });
        out.push_str(colour);
        out.push_str(&escaped_for_people(text));
    }
    out
}

/// Cleans string by string, so that the line stays JSON, and what is escaped in it is seen as it was.
fn clean_strings(line: &str) -> Cow<'_, str> {
    let Ok(mut value) = serde_json::from_str::<Value>(line) else { return Cow::Owned(left_out(line.len(), true)) };
    match value.scrub().is_nothing() {
        true => Cow::Borrowed(line),
        false => Cow::Owned(format!("{value}\n")),
    }
}

fn left_out(bytes: usize, json: bool) -> String {
    let message = "a line of the log was left out";
    match json {
        true => format!("{}\n", json!({"level": "WARN", "fields": {"message": message, "bytes": bytes}})),
        false => format!("WARN {message} bytes={bytes}\n"),
    }
}

#[cfg(test)]
mod tests;
