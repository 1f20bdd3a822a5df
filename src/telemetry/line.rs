//! A line of the log on its way out: without secrets, of bounded length, in one piece. Everything that is stored, sent
//! or answered is scrubbed where it comes in; this is the belt for what a log line picks up on another way.

use std::borrow::Cow;
use std::io::{self, Write};

use reasoning_bank_domain::secrets::{Scrub, scrub};
use serde_json::{Value, json};
use tracing_subscriber::fmt::MakeWriter;

/// In bytes; a longer line is left out, and the log says so.
const MAX_LINE: usize = 64 * 1024;

/// Where lines go.
pub(super) struct Lines<W> {
    to: W,
    json: bool,
}

impl<W> Lines<W> {
    pub(super) fn to(to: W, json: bool) -> Self {
        Self { to, json }
    }
}

impl<'a, W: MakeWriter<'a>> MakeWriter<'a> for Lines<W> {
    type Writer = Line<W::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        Line { to: self.to.make_writer(), json: self.json }
    }
}

pub(super) struct Line<W> {
    to: W,
    json: bool,
}

impl<W: Write> Write for Line<W> {
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
    if json { clean_strings(line) } else { scrub(line).text }
}

/// String by string: so the line stays JSON, and what is escaped in it is seen as it was.
fn clean_strings(line: &str) -> Cow<'_, str> {
    let Ok(mut value) = serde_json::from_str::<Value>(line) else { return Cow::Owned(left_out(line.len(), true)) };
    match value.scrub() {
        0 => Cow::Borrowed(line),
        _ => Cow::Owned(format!("{value}\n")),
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
