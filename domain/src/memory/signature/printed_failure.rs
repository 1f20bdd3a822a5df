//! The lines that a program printed when it failed, as far as they tell its failure from others, with what they quote
//! or name and their other words.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::Signature;
use super::message::{DecidingLine, readable};
use super::same_failure::MessageParts;
use super::word_class::compiled;

/// Names of types that stand in messages whatever failed.
const BUILT_IN: [&str; 20] = [
    "any",
    "bool",
    "boolean",
    "bytes",
    "dict",
    "float",
    "function",
    "int",
    "list",
    "module",
    "nonetype",
    "null",
    "number",
    "object",
    "str",
    "string",
    "tuple",
    "undefined",
    "unknown",
    "void",
];
/// Words that stand in messages whatever failed.
const FILLERS: [&str; 38] = [
    "an", "as", "at", "by", "if", "in", "is", "it", "no", "of", "on", "to", "and", "are", "bash", "but", "can",
    "cannot", "could", "does", "errno", "error", "failed", "for", "from", "got", "has", "have", "line", "not", "the",
    "zsh", "this", "was", "while", "with", "you", "your",
];
/// The number of lines that are read from the beginning of what was printed.
const FIRST_LINES: usize = 20;
/// The number of lines that are read from its end.
const LAST_LINES: usize = 60;
/// The bytes of a line that are read.
const LINE_BYTES: usize = 500;
/// The bytes of what is searched by.
const GIST_BYTES: usize = 1_000;
/// A longer quotation is prose, whose words count.
const LITERAL_CHARS: usize = 80;

static LITERALS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // A quotation, or else what no word of prose looks like: a path, a file, a name with an underscore or with capitals
    // in it, a flag, a long number.
    compiled(concat!(
        r#"(?:^|\W)'([^']+)'|"([^"]+)"|`([^`']+)[`']|([\w.~@-]*[/\\][\w./\\~-]*\w|\w+[_.]\w[\w.]*)|\s(--?[a-z][\w-]+)"#,
        r"|\b([A-Za-z]?[a-z0-9]+(?:[A-Z][A-Za-z0-9]+)+|\w+(?:-\w+){2,}|0x[0-9a-fA-F]+|\d{4,})\b",
    ))
    .ok()
});

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
        let said = statement.map(|statement| MessageParts::of_printed(&statement, &signature, &lines));
        Self { signature, message: PrintedLine::of(&message.unwrap_or_default()), said, lines }
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

/// Returns what a text quotes or names, in lowercase, without what says nothing about the cause.
pub(super) fn literals(text: &str) -> Vec<String> {
    let Some(pattern) = &*LITERALS else { return Vec::new() };
    let found = pattern.captures_iter(text).filter_map(|found| found.iter().skip(1).flatten().next());
    let found: HashSet<String> = found.map(|literal| literal.as_str().trim().to_lowercase()).collect();
    let is_telling = |literal: &String| {
        let is_short = literal.chars().count() <= LITERAL_CHARS;
        let last = last_name(literal);
        let is_type = last.ends_with("error") || last.ends_with("exception");
        let is_short_number = is_number(literal) && (literal.len() < 4 || literal.contains('.'));
        let is_program = literal.contains("/bin/");
        let is_common = BUILT_IN.contains(&literal.as_str()) || FILLERS.contains(&literal.as_str());
        is_short && !is_common && !is_type && !is_program && !is_short_number
    };
    found.into_iter().filter(is_telling).collect()
}

/// Returns the last part of a dotted name.
pub(super) fn last_name(literal: &str) -> &str {
    literal.split(['.', ':']).next_back().unwrap_or(literal)
}

/// Tells whether a text, in lowercase, names a literal as a whole: of a path the last part, its name without an ending,
/// or the directory will do.
pub(super) fn is_named(literal: &str, text: &str) -> bool {
    let last = literal.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(literal);
    let stem = last.rsplit_once('.').map(|(stem, _)| stem).filter(|stem| stem.contains(['_', '-']));
    let directory = literal.rsplit_once('/').map(|(directory, _)| directory);
    let directory = directory.filter(|directory| directory.trim_start_matches('/').matches('/').count() > 1);
    [Some(literal), Some(last), stem, directory].into_iter().flatten().any(|name| {
        text.match_indices(name).any(|(at, _)| {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let begins = name.starts_with(is_word);
            let ends = name.ends_with(is_word);
            let before = begins && text[..at].chars().next_back().is_some_and(is_word);
            let after = ends && text[at + name.len()..].chars().next().is_some_and(is_word);
            !before && !after
        })
    })
}

pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Tells whether a word may say something of a cause.
pub(super) fn is_telling(word: &str) -> bool {
    word.len() > 1 && !FILLERS.contains(&word) && !is_number(word)
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}
