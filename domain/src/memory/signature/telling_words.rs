//! The words of messages that may tell the cause of a failure: what a message quotes or names, and its other words
//! without those that any message has.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

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
/// A longer quotation is prose, whose words count.
const LITERAL_CHARS: usize = 80;

/// The pattern of what a text quotes or names.
pub(super) static LITERALS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // A quotation, or else what no word of prose looks like: a path, a file, a name with an underscore or with capitals
    // in it, a flag, a long number.
    compiled(concat!(
        r#"(?:^|\W)'([^']+)'|"([^"]+)"|`([^`']+)[`']|([\w.~@-]*[/\\][\w./\\~-]*\w|\w+[_.]\w[\w.]*)|\s(--?[a-z][\w-]+)"#,
        r"|\b([A-Za-z]?[a-z0-9]+(?:[A-Z][A-Za-z0-9]+)+|\w+(?:-\w+){2,}|0x[0-9a-fA-F]+|\d{4,})\b",
    ))
    .ok()
});

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
