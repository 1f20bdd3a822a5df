//! Patterns that are compiled when a text may have a match. All patterns for secrets together take some 70 ms to
//! compile in a build for every day, and most texts of a process that ends after one answer have nothing that is like a
//! secret.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex::Regex;

/// The letters of a pattern are looked for in this many bytes of texts. A process that reads more compiles the pattern,
/// which is faster then.
const BYTES_BEFORE_COMPILING: usize = 64 << 10;

/// A constant pattern, which is compiled once.
pub(super) struct LazyPattern {
    source: String,
    /// Every match has one of these in it, in capitals or not. Where there are none, a match may be anywhere.
    letters: Vec<&'static str>,
    /// The bytes of the texts so far.
    bytes: AtomicUsize,
    regex: OnceLock<Regex>,
}

impl LazyPattern {
    pub(super) fn new(source: impl Into<String>, letters: impl Into<Vec<&'static str>>) -> Self {
        Self { source: source.into(), letters: letters.into(), bytes: AtomicUsize::new(0), regex: OnceLock::new() }
    }

    /// Returns the pattern to search a text with. None where the text has no match.
    #[allow(clippy::expect_used, reason = "all sources are constants, and the tests compile each of them")]
    pub(super) fn for_text(&self, text: &str) -> Option<&Regex> {
        let bytes = || self.bytes.fetch_add(text.len(), Ordering::Relaxed).saturating_add(text.len());
        let is_needed = self.regex.get().is_some() || bytes() > BYTES_BEFORE_COMPILING || self.may_match(text);
        is_needed.then(|| self.regex.get_or_init(|| Regex::new(&self.source).expect("a valid pattern")))
    }

    /// Tells whether a text may have a match. False only where it has none.
    fn may_match(&self, text: &str) -> bool {
        let has = |letters: &&str| {
            text.as_bytes().windows(letters.len()).any(|part| part.eq_ignore_ascii_case(letters.as_bytes()))
        };
        self.letters.is_empty() || self.letters.iter().any(has)
    }

    /// Tells whether the pattern matches a text that has not its letters, which must never be.
    #[cfg(test)]
    pub(super) fn matches_without_its_letters(&self, text: &str) -> bool {
        Regex::new(&self.source).unwrap().is_match(text) && !self.may_match(text)
    }
}
