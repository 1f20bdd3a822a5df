//! Secrets in texts: found by one table of rules and replaced by `[REDACTED:kind]`, on every way in and out.
//! Not a guard against someone who hides a secret on purpose, and no search for personal data.
//!
//! Scrubbing again changes nothing. What makes that hold: a marker is never part of a match, and a match ends where
//! its word ends, so that a replacement gives no neighbour an edge that it did not have before.

mod assignment;
mod fields;
mod pem;
mod rules;
mod shape;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

pub use fields::Scrub;

/// How every replacement begins; the kind of secret and `]` follow.
pub const MARKER: &str = "[REDACTED:";

/// A text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scrubbed<'a> {
    /// Borrowed when there was nothing to replace.
    pub text: Cow<'a, str>,
    /// How many replacements were made now; markers that were there before do not count.
    pub redactions: u32,
    /// What kinds of secrets they were: `github`, `jwt`, `assigned` and so on.
    pub kinds: BTreeSet<&'static str>,
}

/// Replaces every secret. Time grows linearly with the length of the text, whatever it says.
pub fn scrub(text: &str) -> Scrubbed<'_> {
    let mut scrubbed = Scrubbed { text: Cow::Borrowed(text), redactions: 0, kinds: BTreeSet::new() };
    let blocks = pem::find(&scrubbed.text);
    scrubbed.replace("private-block", &blocks);
    for rule in rules::present_in(&scrubbed.text) {
        let found = rule.find(&scrubbed.text);
        scrubbed.replace(rule.kind, &found);
    }
    let assigned = assignment::find(&scrubbed.text);
    scrubbed.replace("assigned", &assigned);
    scrubbed
}

impl Scrubbed<'_> {
    /// `spans` are in order and do not overlap.
    fn replace(&mut self, kind: &'static str, spans: &[Range<usize>]) {
        if spans.is_empty() {
            return;
        }
        let mut out = String::with_capacity(self.text.len());
        let mut copied = 0;
        for span in spans {
            out.push_str(&self.text[copied..span.start]);
            out.push_str(MARKER);
            out.push_str(kind);
            out.push(']');
            copied = span.end;
        }
        out.push_str(&self.text[copied..]);
        self.text = Cow::Owned(out);
        self.redactions = self.redactions.saturating_add(u32::try_from(spans.len()).unwrap_or(u32::MAX));
        self.kinds.insert(kind);
    }
}

#[cfg(test)]
mod tests;
