//! The lines that a program printed when it failed, as far as they tell its failure from others, with what they quote
//! or name and their other words.

use super::Signature;
use super::message::{DecidingLine, readable};
use super::same_failure::MessageParts;
use super::telling_words::{LITERALS, literals, words};

/// The number of lines that are read from the beginning of what was printed.
const FIRST_LINES: usize = 20;
/// The number of lines that are read from its end.
const LAST_LINES: usize = 60;
/// The bytes of a line that are read.
const LINE_BYTES: usize = 500;
/// The bytes of what is searched by.
const GIST_BYTES: usize = 1_000;
/// A failure as a program printed it. It is read once, and compared with many warnings.
#[derive(Debug)]
pub struct PrintedFailure {
    pub(super) signature: Signature,
    /// The line that names the error or says what failed.
    pub(super) message: PrintedLine,
    /// The parts of the message, where a program printed it.
    pub(super) said: Option<MessageParts>,
    /// The lines that may say what failed.
    pub(super) lines: Vec<PrintedLine>,
}

/// A line, in lowercase.
#[derive(Debug)]
pub(super) struct PrintedLine {
    pub(super) text: String,
    /// The names and quotations in it, without those that say nothing about the cause.
    pub(super) literals: Vec<String>,
    /// Its words, without what it quotes or names.
    pub(super) words: Vec<String>,
}

impl PrintedFailure {
    pub fn of(printed: &str) -> Self {
        let printed = &*readable(printed);
        let lines = telling_lines(printed);
        let deciding = DecidingLine::of(printed);
        let message = deciding.as_ref().and_then(DecidingLine::message);
        let message = message.or_else(|| lines.first().map(|line| (*line).to_owned()));
        let statement = deciding.and_then(|line| line.statement());
        let signature = Signature::of(printed, None);
        let lines: Vec<PrintedLine> = lines.into_iter().map(PrintedLine::of).collect();
        let texts: Vec<&str> = lines.iter().map(|line| &*line.text).collect();
        let said = statement.map(|statement| MessageParts::of_printed(&statement, &signature, &texts));
        Self { signature, message: PrintedLine::of(&message.unwrap_or_default()), said, lines }
    }

    /// Tells whether a program printed it with more than the name of the error, so that it can be told from others.
    pub fn has_message(&self) -> bool {
        self.said.as_ref().is_some_and(|said| !said.is_empty())
    }

    /// Tells whether another failure of the same signature says the same. Both have a message.
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.said.as_ref().zip(other.said.as_ref()).is_some_and(|(own, others)| own.is_like(others))
    }

    /// Returns what the failure is searched by: the line that names the error and those that may say more, at most
    /// 1,000 bytes of them. It is empty where no line says anything.
    pub fn gist(&self) -> String {
        let others = self.lines.iter().filter(|line| line.text != self.message.text);
        let all: Vec<&str> = std::iter::once(&self.message).chain(others).map(|line| line.text.trim()).collect();
        let all = all.join("\n");
        all[..all.floor_char_boundary(GIST_BYTES)].trim().to_owned()
    }
}

impl PrintedLine {
    pub(super) fn of(line: &str) -> Self {
        let rest = match &*LITERALS {
            Some(pattern) => pattern.replace_all(line, " ").to_lowercase(),
            None => line.to_lowercase(),
        };
        Self { text: line.to_lowercase(), literals: literals(line), words: words(&rest).map(str::to_owned).collect() }
    }
}

/// Returns the lines that may say what failed: no frames of a stack, no commands that are echoed, and no exit code that
/// many failures have.
fn telling_lines(printed: &str) -> Vec<&str> {
    const EXIT_CODE: &str = "exit code ";
    let says = |line: &&str| {
        let is_frame = line.starts_with("at ") || line.starts_with("File \"") || line.starts_with("--> ");
        let is_command = ["> ", "$ ", "+ "].iter().any(|sign| line.starts_with(sign));
        let is_header = line.starts_with("Traceback (most recent call last)");
        let code = line.split_at_checked(EXIT_CODE.len()).filter(|(words, _)| words.eq_ignore_ascii_case(EXIT_CODE));
        let is_code = code.is_some_and(|(_, code)| code.trim() != "137");
        let has_words = line.chars().filter(|c| c.is_alphanumeric()).nth(2).is_some();
        has_words && !is_frame && !is_command && !is_header && !is_code
    };
    let mut lines = printed.lines().map(str::trim).filter(says);
    let mut read: Vec<&str> = lines.by_ref().take(FIRST_LINES).collect();
    let first = read.len();
    read.extend(lines.rev().take(LAST_LINES));
    read[first..].reverse();
    read.iter().map(|line| &line[..line.floor_char_boundary(LINE_BYTES)]).collect()
}
