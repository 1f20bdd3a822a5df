//! Signatures of errors: what makes two failures "the same kind". One function normalises an error type, a raw message
//! or a signature, so that all three find the same warnings.
//!
//! `error_name` finds the name of an error in a text, `message` makes one of what a program printed, and
//! `mentioned_error` finds the error that a task is about. Two failures of one signature may still have nothing in
//! common: `informative_error` tells signatures that say much from those that every program has, `printed_failure`
//! keeps the lines that tell a failure from others, `same_failure` compares two that programs printed, and `agreement`
//! compares one with what a person tells of it. `telling_words` finds the words that they compare, and `word_class` has
//! the patterns of words.

mod agreement;
mod error_name;
mod informative_error;
mod mentioned_error;
mod message;
mod printed_failure;
mod same_failure;
mod telling_words;
mod word_class;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use agreement::ToldFailure;
pub(crate) use error_name::{first_match, names_error};
pub use informative_error::SignatureFrequency;
pub use mentioned_error::mentioned;
pub use message::error_message;
pub use printed_failure::PrintedFailure;

use crate::memory::label::label_key;

/// The last path segment of the error type in lowercase, then `|`, then the domain in lowercase or nothing:
/// `valueerror|parsing`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Signature(String);

impl Signature {
    /// Returns the signature of `raw`: an error type (`std::io::Error`, `requests.Timeout`), a raw message, or a
    /// signature (`valueerror|parsing`). The message may be one line (`ValueError: bad literal`) or all that was
    /// printed with frames and positions. A domain inside a signature counts only where `domain` gives none.
    pub fn of(raw: &str, domain: Option<&str>) -> Self {
        let readable = message::readable(raw);
        let raw = readable.trim();
        let (error, own_domain) = match raw.rsplit_once('|') {
            Some((error, own)) if is_signature(error, own) => (error, Some(own)),
            _ => (raw, None),
        };
        let domain = domain.map(str::trim).filter(|d| !d.is_empty()).or(own_domain).unwrap_or_default();
        Self(format!("{}|{}", message::name(error), label_key(domain)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the error without its domain.
    pub fn error(&self) -> &str {
        self.0.split_once('|').map_or(&*self.0, |(error, _)| error)
    }

    pub fn domain(&self) -> Option<&str> {
        self.0.split_once('|').map(|(_, domain)| domain).filter(|domain| !domain.is_empty())
    }

    /// Tells whether two signatures are equal, or have the same error where one of them names no domain.
    pub fn matches(&self, other: &Self) -> bool {
        let domains_agree = match (self.domain(), other.domain()) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        !self.error().is_empty() && self.error() == other.error() && domains_agree
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Tells a signature from a message that holds a bar of its own: `TypeError: unsupported operand type(s) for |: 'int'
/// and 'str'`.
fn is_signature(error: &str, domain: &str) -> bool {
    let is_label = |c: char| c.is_alphanumeric() || "_-./ ".contains(c);
    !error.contains(": ") && !error.contains('\n') && domain.chars().all(is_label)
}

/// Tells whether a query speaks of something that went wrong.
pub fn mentions_error(query: &str) -> bool {
    const WORDS: [&str; 14] = [
        "error",
        "errors",
        "exception",
        "fail",
        "fails",
        "failed",
        "failing",
        "failure",
        "panic",
        "panicked",
        "crash",
        "traceback",
        "bug",
        "timeout",
    ];
    query.split(|c: char| !c.is_alphanumeric()).any(|word| {
        word.ends_with("Error") || word.ends_with("Exception") || WORDS.contains(&word.to_lowercase().as_str())
    })
}

#[cfg(test)]
mod tests;
