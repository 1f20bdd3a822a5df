//! Secrets in texts. They are found by their looks (`rules`, `pem`), by the name before them (`assignment`, `table`,
//! `cookie`) or by their place (`address`, `command_line`), and replaced by `[REDACTED:kind]`, on every way in and out.
//! This is no guard against someone who hides a secret on purpose. The only personal data that is looked for are
//! `contacts`, and only where the user wants that.
//!
//! Scrubbing again changes nothing. Three rules make that hold. A marker is never part of a match. A match ends where
//! its word ends, so that a replacement rarely gives a neighbour an edge that it did not have before. A text with
//! secrets is gone through again, until nothing more is found or `TIMES` is reached.

mod address;
mod assignment;
mod base64;
mod command_line;
mod contacts;
mod cookie;
mod folded_text;
mod lazy_pattern;
mod password_words;
mod pem;
mod rules;
mod scrub;
mod shape;
mod table;
mod value;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;

use crate::safety::invisible::drop_invisible;
use folded_text::FoldedText;
pub(crate) use password_words::PASSWORD_WORDS;
pub(crate) use scrub::all;
pub use scrub::{Removed, Scrub};

/// The beginning of every replacement. The kind of the secret and `]` follow it.
pub const MARKER: &str = "[REDACTED:";

/// A text whose secrets were replaced. [`scrub()`] has also dropped the characters that nobody sees, as one of those
/// within a key could hide the key from the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScrubbedText<'a> {
    /// The text, borrowed when there was nothing to replace or to drop.
    pub text: Cow<'a, str>,
    /// The number of replacements that were made now. Markers that were there before do not count.
    pub redactions: u32,
    /// The number of invisible characters that were dropped.
    pub dropped_characters: u32,
    /// The kinds of the secrets: `github`, `jwt`, `assigned` and so on.
    pub kinds: BTreeSet<&'static str>,
}

/// The most times that a text is gone through. A replacement may give a neighbour an edge that it did not have before,
/// so a text with secrets is gone through again. A third time has not been needed yet.
const TIMES: usize = 4;

/// It is set once the process treats e-mail addresses and phone numbers as secrets.
static CONTACTS: OnceLock<()> = OnceLock::new();

/// Makes the whole process replace e-mail addresses and phone numbers wherever it replaces secrets, from now on. It is
/// no argument of [`scrub()`], because whoever forgot to hand it on would let them through. There is no way back.
pub fn redact_contacts_too() {
    let _ = CONTACTS.set(());
}

/// Drops what nobody sees and replaces every secret. The time grows linearly with the length of the text, whatever it
/// says.
pub fn scrub(text: &str) -> ScrubbedText<'_> {
    let visible = drop_invisible(text);
    ScrubbedText { dropped_characters: visible.dropped, ..redacted(visible.text, CONTACTS.get().is_some()) }
}

/// Replaces every secret and leaves all else as it is. It is for text that has our own colours.
pub fn redact(text: &str) -> ScrubbedText<'_> {
    redacted(Cow::Borrowed(text), CONTACTS.get().is_some())
}

/// Says whether a name or a key has a secret in it. An e-mail address is none: people go by it.
pub fn has_secret(name: &str) -> bool {
    redacted(Cow::Borrowed(name), false).redactions > 0
}

fn redacted(text: Cow<'_, str>, contacts_too: bool) -> ScrubbedText<'_> {
    let mut reading = Redactor::of(text);
    for _ in 0..TIMES {
        let before = reading.redactions;
        reading.replace_all();
        if contacts_too {
            reading.replace_contacts();
        }
        if reading.redactions == before {
            break;
        }
    }
    let Redactor { text, redactions, kinds, .. } = reading;
    ScrubbedText { text, redactions, dropped_characters: 0, kinds }
}

/// A text while its secrets are being replaced.
struct Redactor<'a> {
    text: Cow<'a, str>,
    /// The text as the rules read it, where that differs from the text.
    folded: Option<FoldedText>,
    redactions: u32,
    kinds: BTreeSet<&'static str>,
}

impl<'a> Redactor<'a> {
    fn of(text: Cow<'a, str>) -> Self {
        Self { folded: FoldedText::of(&text), text, redactions: 0, kinds: BTreeSet::new() }
    }

    fn as_read(&self) -> &str {
        self.folded.as_ref().map_or(&self.text, |folded| &folded.text)
    }

    fn replace_all(&mut self) {
        self.replace("private-block", pem::find(self.as_read()));
        for rule in rules::all() {
            self.replace(rule.kind, rule.find(self.as_read()));
        }
        self.replace("url-login", address::find(self.as_read()));
        self.replace("cookie", cookie::find(self.as_read()));
        self.replace("command", command_line::find(self.as_read()));
        self.replace("assigned", table::find(self.as_read()));
        self.replace("assigned", assignment::find(self.as_read()));
    }

    fn replace_contacts(&mut self) {
        self.replace("email", contacts::emails(self.as_read()));
        self.replace("phone", contacts::phones(self.as_read()));
    }

    /// Replaces the spans that were found. They are places in the text as the rules read it.
    fn replace(&mut self, kind: &'static str, found: Vec<Range<usize>>) {
        let found = match &self.folded {
            Some(folded) => found.iter().map(|span| folded.unfolded(span)).collect(),
            None => found,
        };
        let spans = without_markers(&self.text, merged(found));
        if spans.is_empty() {
            return;
        }
        let mut out = String::with_capacity(self.text.len());
        let mut copied = 0;
        for span in &spans {
            out.push_str(&self.text[copied..span.start]);
            out.push_str(MARKER);
            out.push_str(kind);
            out.push(']');
            copied = span.end;
        }
        out.push_str(&self.text[copied..]);
        self.text = Cow::Owned(out);
        self.folded = FoldedText::of(&self.text);
        self.redactions = self.redactions.saturating_add(u32::try_from(spans.len()).unwrap_or(u32::MAX));
        self.kinds.insert(kind);
    }
}

/// Sorts the spans and joins overlapping ones. Empty ones are left out.
fn merged(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.sort_by_key(|span| span.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for span in spans.into_iter().filter(|span| !span.is_empty()) {
        match merged.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

/// Returns the spans that overlap no marker, as what was replaced stays as it is.
fn without_markers(text: &str, mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    if spans.is_empty() {
        return spans;
    }
    let kind = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let markers = text.match_indices(MARKER).map(|(start, marker)| {
        let rest = &text[start + marker.len()..];
        let kind = rest.find(|c| !kind(c)).unwrap_or(rest.len());
        start..start + marker.len() + kind + usize::from(rest[kind..].starts_with(']'))
    });
    let markers: Vec<Range<usize>> = markers.collect();
    spans.retain(|span| {
        let next = markers.partition_point(|marker| marker.end <= span.start);
        markers.get(next).is_none_or(|marker| marker.start >= span.end)
    });
    spans
}

#[cfg(test)]
mod tests;
