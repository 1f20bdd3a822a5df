//! Characters that nobody sees: controls, escape sequences of terminals, zero-width characters, marks of direction,
//! tags. Those that carry nothing are dropped from every text that is stored. Those that a script or an emoji needs
//! stay: the joiners of Persian, of Hindi and of families, the tags of the flag of England, a mark of direction beside
//! Hebrew.
//!
//! Texts that were stored earlier, or are only passed on, are escaped where they are shown.

mod classes;
mod terminal;

use std::borrow::Cow;
use std::fmt::Write;

use classes::CharacterClass;

/// A text in which every character can be seen, or is needed by one that can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleText<'a> {
    /// The text. It is borrowed where nothing had to be dropped.
    pub text: Cow<'a, str>,
    /// The number of characters that were dropped. A line end of another system that became `\n` counts as one.
    pub dropped: u32,
}

/// Drops the characters that carry nothing. Doing so again changes nothing, and the time grows linearly with the text.
pub fn drop_invisible(text: &str) -> VisibleText<'_> {
    if !may_have_invisible(text) {
        return VisibleText { text: Cow::Borrowed(text), dropped: 0 };
    }
    let mut out = String::with_capacity(text.len());
    let mut dropped: u32 = 0;
    for (part, fate) in Parts::to_drop(text) {
        let chars = |part: &str| u32::try_from(part.chars().count()).unwrap_or(u32::MAX);
        match fate {
            CharacterAction::Kept => out.push_str(part),
            CharacterAction::LineEnd => {
                out.push('\n');
                dropped = dropped.saturating_add(chars(part));
            }
            CharacterAction::Dropped => dropped = dropped.saturating_add(chars(part)),
        }
    }
    if dropped == 0 {
        return VisibleText { text: Cow::Borrowed(text), dropped };
    }
    VisibleText { text: Cow::Owned(out), dropped }
}

/// Returns the number of bytes at the beginning of a text that nobody sees, whatever stands beside them. They are one
/// character, or a sequence that a terminal takes. None where the text begins with any other character.
pub(crate) fn unseen(text: &str) -> Option<usize> {
    let c = text.chars().next()?;
    match CharacterClass::of(c) {
        CharacterClass::Nothing => Some(c.len_utf8()),
        CharacterClass::Escape => Some(terminal::sequence(text).unwrap_or(c.len_utf8())),
        _ => None,
    }
}

/// Replaces each character that [`drop_invisible`] would drop by `\u{…}`, for text that people read.
pub fn escaped_for_people(text: &str) -> Cow<'_, str> {
    escaped(text, |out, c| {
        let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
    })
}

/// Replaces each character that [`drop_invisible`] would drop by `\uXXXX`. In a JSON document these characters stand in
/// strings only, so it stays the same document.
pub fn escaped_in_json(document: &str) -> Cow<'_, str> {
    escaped(document, |out, c| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    })
}

fn escaped(text: &str, write: impl Fn(&mut String, char)) -> Cow<'_, str> {
    if !may_have_invisible(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut changed = false;
    for (part, fate) in Parts::to_escape(text) {
        if fate == CharacterAction::Kept {
            out.push_str(part);
            continue;
        }
        changed = true;
        // Only the controls of an escape sequence are invisible; the rest is shown as it is.
        for c in part.chars() {
            if CharacterClass::of(c) == CharacterClass::Seen { out.push(c) } else { write(&mut out, c) }
        }
    }
    if changed { Cow::Owned(out) } else { Cow::Borrowed(text) }
}

/// Tells whether a text may have invisible characters. A text of ordinary letters, marks and emoji without joiners has
/// none.
fn may_have_invisible(text: &str) -> bool {
    // Plain ASCII, by far the most frequent text, is looked through byte by byte.
    let plain = |byte: u8| (b' '..=b'~').contains(&byte) || byte == b'\n' || byte == b'\t';
    !text.bytes().all(plain) && text.chars().any(|c| CharacterClass::of(c) != CharacterClass::Seen)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharacterAction {
    Kept,
    /// It ends a line and becomes `\n`.
    LineEnd,
    Dropped,
}

/// An iterator over the parts of a text. A part is treated as a whole. It is a run of seen characters, one other
/// character, a flag with its tags, or one escape sequence.
struct Parts<'a> {
    rest: &'a str,
    /// The character that stands before the rest in the new text. None at its beginning and behind an escaped
    /// character.
    before: Option<char>,
    /// True where characters that are not kept are written out, and so stand between their neighbours.
    escapes: bool,
}

impl<'a> Parts<'a> {
    fn to_drop(text: &'a str) -> Self {
        Self { rest: text, before: None, escapes: false }
    }

    fn to_escape(text: &'a str) -> Self {
        Self { rest: text, before: None, escapes: true }
    }

    /// Returns the character that comes next in the new text, as far as `text` tells, which follows the current
    /// character.
    fn next_after(&self, text: &str) -> Option<char> {
        if self.escapes { text.chars().next() } else { next_that_stays(text) }
    }

    /// Returns the length in bytes of the first part of the rest, and what becomes of it. The length is 0 at the end.
    fn first(&self) -> (usize, CharacterAction) {
        let seen = self.rest.find(|c| CharacterClass::of(c) != CharacterClass::Seen).unwrap_or(self.rest.len());
        if seen > 0 {
            return (seen, CharacterAction::Kept);
        }
        let Some(c) = self.rest.chars().next() else { return (0, CharacterAction::Dropped) };
        let after = &self.rest[c.len_utf8()..];
        let kept_if = |kept: bool| if kept { CharacterAction::Kept } else { CharacterAction::Dropped };
        let fate = match CharacterClass::of(c) {
            CharacterClass::Escape => {
                return (terminal::sequence(self.rest).unwrap_or(c.len_utf8()), CharacterAction::Dropped);
            }
            CharacterClass::CarriageReturn => match self.next_after(after) {
                Some('\n') => CharacterAction::Kept,
                Some('\r') => CharacterAction::Dropped,
                _ => CharacterAction::LineEnd,
            },
            CharacterClass::LineEnd => CharacterAction::LineEnd,
            CharacterClass::Flag => match classes::flag_of_a_country(self.rest) {
                Some(bytes) => return (bytes, CharacterAction::Kept),
                None => return (c.len_utf8(), CharacterAction::Kept),
            },
            class => kept_if(classes::is_needed(class, c, self.before, self.next_after(after))),
        };
        (c.len_utf8(), fate)
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = (&'a str, CharacterAction);

    fn next(&mut self) -> Option<Self::Item> {
        let (bytes, fate) = self.first();
        if bytes == 0 {
            return None;
        }
        let (part, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        match fate {
            CharacterAction::Kept => self.before = part.chars().next_back(),
            _ if self.escapes => {
                self.before = part.chars().next_back().filter(|c| CharacterClass::of(*c) == CharacterClass::Seen)
            }
            CharacterAction::LineEnd => self.before = Some('\n'),
            CharacterAction::Dropped => {}
        }
        Some((part, fate))
    }
}

/// The number of characters and sequences that are looked at in search of a character that stays. It is bounded so that
/// a long run of invisible ones takes linear time.
const LOOKED_AT: usize = 64;

/// Returns the next character that may stay. It passes over characters that are dropped whatever stands beside them.
/// None at the end of the text, and where the first [`LOOKED_AT`] are all dropped.
fn next_that_stays(mut text: &str) -> Option<char> {
    for _ in 0..LOOKED_AT {
        let c = text.chars().next()?;
        match CharacterClass::of(c) {
            CharacterClass::Nothing => text = &text[c.len_utf8()..],
            CharacterClass::Escape => text = &text[terminal::sequence(text).unwrap_or(c.len_utf8())..],
            _ => return Some(c),
        }
    }
    None
}

#[cfg(test)]
mod tests;
