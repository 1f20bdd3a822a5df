//! A folded text is a text as the rules read it. Wide spaces and colons, typographic quotes, line breaks of JSON and
//! entities of HTML become what they stand for. What nobody sees is left out, and so are colours that are written out.
//! For each place in the folded text, the place in the text itself is known. The secret is then replaced there.

use std::ops::Range;

use super::MARKER;
use crate::safety::invisible::unseen;

pub(super) struct FoldedText {
    pub text: String,
    /// The places behind each part that was folded, in order.
    changes: Vec<FoldedPart>,
}

struct FoldedPart {
    /// The place at which the folded text goes on behind the part.
    folded: usize,
    /// The place in the text itself at which a span ends if it ends here. It is before a part that was left out.
    ending: usize,
    /// The place in the text itself at which a span begins if it begins here. It is behind the part.
    beginning: usize,
}

impl FoldedText {
    /// Folds a text. Returns None where there is nothing to fold.
    pub(super) fn of(text: &str) -> Option<Self> {
        let mut folded = Self { text: String::new(), changes: Vec::new() };
        let mut copied = 0;
        let may_begin = |byte: u8| {
            !byte.is_ascii() || byte.is_ascii_control() && byte != b'\n' || matches!(byte, b'\\' | b'&' | b'%' | b'^')
        };
        let mut at = 0;
        while let Some(next) = text.as_bytes()[at..].iter().position(|byte| may_begin(*byte)) {
            let start = at + next;
            let Some((bytes, meant)) = unit(&text[start..]) else {
                at = start + text[start..].chars().next().map_or(1, char::len_utf8);
                continue;
            };
            at = start + bytes;
            folded.text.push_str(&text[copied..start]);
            folded.text.extend(meant);
            let ending = if meant.is_some() { at } else { start };
            folded.changes.push(FoldedPart { folded: folded.text.len(), ending, beginning: at });
            copied = at;
        }
        if copied == 0 {
            return None;
        }
        folded.text.push_str(&text[copied..]);
        Some(folded)
    }

    /// Returns the same span in the text itself.
    pub(super) fn unfolded(&self, span: &Range<usize>) -> Range<usize> {
        let before = |at: usize| self.changes.partition_point(|change| change.folded <= at).checked_sub(1);
        let start = before(span.start).map_or(span.start, |index| {
            let change = &self.changes[index];
            change.beginning + (span.start - change.folded)
        });
        let first_there = self.changes.partition_point(|change| change.folded < span.end);
        let end = match (self.changes.get(first_there).filter(|change| change.folded == span.end), first_there) {
            (Some(change), _) => change.ending,
            (None, 0) => span.end,
            (None, index) => {
                let change = &self.changes[index - 1];
                change.beginning + (span.end - change.folded)
            }
        };
        start..end.max(start)
    }
}

/// Returns how many bytes at the beginning of a text stand for something else, and the character that they stand for.
/// That character is None where they are left out. The result is None where they stand for themselves.
fn unit(text: &str) -> Option<(usize, Option<char>)> {
    let first = text.chars().next()?;
    if let Some(meant) = plain(first) {
        return Some((first.len_utf8(), Some(meant)));
    }
    if let Some(bytes) = unseen(text).or_else(|| written_colour(text)) {
        return Some((bytes, None));
    }
    match first {
        // A line break or a tab as JSON writes it.
        '\\' if text[1..].starts_with(['n', 'r']) => Some((2, Some('\n'))),
        '\\' if text[1..].starts_with('t') => Some((2, Some('\t'))),
        '\\' => {
            let (digits, bytes) = written_character(text)?;
            let c = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)?;
            let invisible = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}');
            let meant = plain(c).or(Some(c).filter(char::is_ascii_punctuation).filter(|c| *c != '\\'));
            (invisible || meant.is_some()).then_some((bytes, meant))
        }
        '&' => ENTITIES.iter().find(|(name, _)| text.starts_with(name)).map(|(name, c)| (name.len(), Some(*c))),
        '%' => PERCENT.iter().find(|(name, _)| text.starts_with(name)).map(|(name, c)| (name.len(), Some(*c))),
        _ => None,
    }
}

/// Returns the digits of a character that JSON (`\u00a0`) or Rust (`\u{a0}`) writes out, and how many bytes it takes.
/// None where the text begins with no such character.
fn written_character(text: &str) -> Option<(&str, usize)> {
    let rest = text.strip_prefix("\\u")?;
    match rest.strip_prefix('{') {
        Some(rest) => rest.get(..7).unwrap_or(rest).split_once('}').map(|(digits, _)| (digits, digits.len() + 4)),
        None => rest.get(..4).map(|digits| (digits, 6)),
    }
}

const ENTITIES: [(&str, char); 17] = [
    ("&quot;", '"'),
    ("&#34;", '"'),
    ("&#x22;", '"'),
    ("&apos;", '\''),
    ("&#39;", '\''),
    ("&#x27;", '\''),
    ("&nbsp;", ' '),
    ("&#160;", ' '),
    ("&#32;", ' '),
    ("&colon;", ':'),
    ("&#58;", ':'),
    ("&equals;", '='),
    ("&#61;", '='),
    ("&amp;", '&'),
    ("&#38;", '&'),
    ("&lt;", '<'),
    ("&gt;", '>'),
];

/// The characters that addresses encode by a percent sign. `&` and `@` are not among them: encoded, they are part of a
/// value.
const PERCENT: [(&str, char); 8] =
    [("%3D", '='), ("%3d", '='), ("%3A", ':'), ("%3a", ':'), ("%20", ' '), ("%22", '"'), ("%27", '\''), ("%3B", ';')];

/// Returns the ASCII character that a reader takes this one for. None where there is none.
fn plain(c: char) -> Option<char> {
    Some(match c {
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0)?,
        '\u{2d0}' | '\u{589}' | '\u{2236}' | '\u{a789}' | '\u{fe13}' | '\u{fe55}' => ':',
        '→' | '⇒' | '⟶' | '⟹' | '➜' | '➔' | '➡' => ':',
        '\u{fe66}' | '\u{a78a}' | '\u{1400}' => '=',
        '“' | '”' | '„' | '‟' | '«' | '»' | '「' | '」' | '『' | '』' => '"',
        '‘' | '’' | '‚' | '‛' | '‹' | '›' => '\'',
        '\u{2010}' | '\u{2011}' | '\u{fe63}' => '-',
        '│' | '┃' | '║' => '|',
        _ => return None,
    })
}

/// Returns the length in bytes of a colour whose escape character is written out: `\u001b[31m`, `\x1b[0m`,
/// `\033[1;32m`, `\e[0m`, `^[[31m`, `␛[31m`. None where the text begins with none.
fn written_colour(text: &str) -> Option<usize> {
    const ESCAPES: [&str; 8] = ["\\u001b", "\\u001B", "\\x1b", "\\x1B", "\\033", "\\e", "^[", "␛"];
    const LONGEST: usize = 32;
    let escape = ESCAPES.into_iter().find(|escape| text.starts_with(escape))?;
    let rest = &text[escape.len()..];
    if rest.starts_with(MARKER) {
        return None;
    }
    let parameters = rest.strip_prefix('[')?;
    let digits = parameters.bytes().take(LONGEST).take_while(|byte| b"0123456789;:?".contains(byte)).count();
    let last = parameters.as_bytes().get(digits)?;
    (*last == b'm' || (digits > 0 && last.is_ascii_alphabetic())).then_some(escape.len() + 1 + digits + 1)
}
