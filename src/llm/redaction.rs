//! Takes the provider's key out of what the provider says. A provider quotes the key that it was sent: whole or cut
//! off, between bytes that are no text, in another case, or encoded.

use secrecy::{ExposeSecret, SecretString};

/// A piece of the key of this length does not stand in the reason of a failure.
const PIECE_IN_REASON: usize = 8;
/// A piece of the key of this length does not stand in an answer, where a shorter one may be a word that belongs there.
/// A shorter key is one that a local server wants for form's sake, and may be any word.
const PIECE_IN_ANSWER: usize = 16;
const PLACEHOLDER: &str = "[key]";

/// A redaction knows the key that requests carry, where they carry one.
#[derive(Clone)]
pub(super) struct Redaction(Option<SecretString>);

impl Redaction {
    pub(super) fn of(key: Option<SecretString>) -> Self {
        Self(key)
    }

    /// Returns the reason of a failure without the key and its pieces. The word that a piece stands in goes with it:
    /// the rest of it may be the rest of another key, which nobody would know without its beginning.
    pub(super) fn reason(&self, text: &str) -> String {
        let Some(key) = self.key().filter(|key| !key.is_empty()) else { return text.to_owned() };
        let spans = Pieces::of(key, PIECE_IN_REASON).spans(text);
        replaced(text, &to_ends_of_words(text, spans))
    }

    /// Returns an answer without the key and its longer pieces.
    pub(super) fn answer(&self, text: String) -> String {
        let Some(key) = self.key().filter(|key| key.len() >= PIECE_IN_ANSWER) else { return text };
        let spans = Pieces::of(key, PIECE_IN_ANSWER).spans(&text);
        if spans.is_empty() { text } else { replaced(&text, &spans) }
    }

    fn key(&self) -> Option<&str> {
        self.0.as_ref().map(ExposeSecret::expose_secret)
    }
}

/// A span is a part of a text; its ends count bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    start: usize,
    end: usize,
}

fn to_ends_of_words(text: &str, spans: Vec<Span>) -> Vec<Span> {
    let in_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let mut ended: Vec<Span> = Vec::new();
    for Span { start, end } in spans {
        let end = text[end..].find(|c| !in_word(c)).map_or(text.len(), |more| end + more);
        match ended.last_mut() {
            Some(last) if start <= last.end => last.end = last.end.max(end),
            _ => ended.push(Span { start, end }),
        }
    }
    ended
}

/// Replaces the spans, which are in order and do not overlap.
fn replaced(text: &str, spans: &[Span]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for span in spans {
        out.push_str(&text[at..span.start]);
        out.push_str(PLACEHOLDER);
        at = span.end;
    }
    out.push_str(&text[at..]);
    out
}

/// The set of all pieces of the key that have one length, in lower case.
struct Pieces {
    sorted: Vec<u128>,
    length: usize,
    /// The bytes that are in the key.
    alphabet: [bool; 256],
}

impl Pieces {
    /// `length` is at most 16, the bytes that a `u128` holds.
    fn of(key: &str, length: usize) -> Self {
        let length = length.min(key.len());
        let (mut sorted, mut alphabet) = (Vec::new(), [false; 256]);
        for piece in key.as_bytes().windows(length) {
            sorted.push(piece.iter().fold(0, |all, byte| all << 8 | u128::from(byte.to_ascii_lowercase())));
            piece.iter().for_each(|byte| alphabet[usize::from(byte.to_ascii_lowercase())] = true);
        }
        sorted.sort_unstable();
        Self { sorted, length, alphabet }
    }

    /// Finds the pieces of the key: as they are, behind one or two layers of escapes, in base64 and in hexadecimal
    /// digits.
    fn spans(&self, text: &str) -> Vec<Span> {
        let mut spans = self.found(units(text));
        spans.extend(self.found(Unescaped::new(units(text))));
        spans.extend(self.found(Unescaped::new(Unescaped::new(units(text)))));
        spans.extend(self.encoded(text, is_base64, &BASE64));
        spans.extend(self.encoded(text, |byte| byte.is_ascii_hexdigit(), &HEXADECIMAL));
        merged(spans)
    }

    fn found(&self, units: impl Iterator<Item = Unit>) -> Vec<Span> {
        let mut window = Window::new(self);
        let mut starts = [0; PIECE_IN_ANSWER];
        let mut spans: Vec<Span> = Vec::new();
        for (number, Unit { byte, span }) in units.enumerate() {
            starts[number % self.length] = span.start;
            if window.completes_piece(byte) {
                let start = starts[(number + 1) % self.length];
                match spans.last_mut() {
                    Some(last) if last.end >= start => last.end = span.end,
                    _ => spans.push(Span { start, end: span.end }),
                }
            }
        }
        spans
    }

    /// Finds the words that hold a piece of the key in this encoding, wherever in the word its first digit is.
    fn encoded(&self, text: &str, is_digit: impl Fn(u8) -> bool, encoding: &Encoding) -> Vec<Span> {
        let mut spans = Vec::new();
        let mut start = 0;
        for word in text.as_bytes().split(|byte| !is_digit(*byte)) {
            let holds_piece = |offset| {
                let mut window = Window::new(self);
                encoding.decoded(word.get(offset..).unwrap_or_default()).any(|byte| window.completes_piece(byte))
            };
            if word.len() >= self.length && (0..encoding.digits_of_group).any(holds_piece) {
                spans.push(Span { start, end: start + word.len() });
            }
            start += word.len() + 1;
        }
        spans
    }
}

/// The window holds the last bytes that were seen.
struct Window<'a> {
    pieces: &'a Pieces,
    bytes: u128,
    /// The window holds this many bytes, up to the last that is not in the key.
    filled: usize,
}

impl<'a> Window<'a> {
    fn new(pieces: &'a Pieces) -> Self {
        Self { pieces, bytes: 0, filled: 0 }
    }

    fn completes_piece(&mut self, byte: u8) -> bool {
        let byte = byte.to_ascii_lowercase();
        self.filled = if self.pieces.alphabet[usize::from(byte)] { self.filled + 1 } else { 0 };
        self.bytes = self.bytes << 8 | u128::from(byte);
        let unused_bits = 128 - 8 * self.pieces.length;
        let last = self.bytes << unused_bits >> unused_bits;
        self.filled >= self.pieces.length && self.pieces.sorted.binary_search(&last).is_ok()
    }
}

fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut merged: Vec<Span> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if last.end >= span.start => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

/// A unit is a character that a key may have, and where it is written.
#[derive(Debug, Clone, Copy)]
struct Unit {
    byte: u8,
    span: Span,
}

/// Leaves out white space, control characters and whatever is no ASCII: a key with such between its characters is a
/// key.
fn units(text: &str) -> impl Iterator<Item = Unit> + '_ {
    let graphic = text.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_graphic());
    graphic.map(|(at, byte)| Unit { byte, span: Span { start: at, end: at + 1 } })
}

/// This iterator resolves `%2d`, `\u002d`, `\x2d`, `\-`, `&#45;` and `&#x2d;`.
struct Unescaped<I> {
    inner: I,
    ahead: [Option<Unit>; LONGEST_ESCAPE],
}

/// `&#x0002d;` is longer than anybody writes.
const LONGEST_ESCAPE: usize = 8;

impl<I: Iterator<Item = Unit>> Unescaped<I> {
    fn new(mut inner: I) -> Self {
        let ahead = std::array::from_fn(|_| inner.next());
        Self { inner, ahead }
    }

    fn advance(&mut self, units: usize) {
        for _ in 0..units {
            self.ahead.rotate_left(1);
            self.ahead[LONGEST_ESCAPE - 1] = self.inner.next();
        }
    }
}

impl<I: Iterator<Item = Unit>> Iterator for Unescaped<I> {
    type Item = Unit;

    fn next(&mut self) -> Option<Unit> {
        loop {
            let first = self.ahead[0]?;
            let bytes = || self.ahead.map(|unit| unit.map_or(0, |unit| unit.byte));
            let begins_escape = matches!(first.byte, b'%' | b'\\' | b'&');
            let Some((code, length)) = begins_escape.then(bytes).and_then(|bytes| escape(&bytes)) else {
                self.advance(1);
                return Some(first);
            };
            let last = self.ahead[length - 1].unwrap_or(first);
            self.advance(length);
            if let Ok(byte) = u8::try_from(code)
                && byte.is_ascii_graphic()
            {
                return Some(Unit { byte, span: Span { start: first.span.start, end: last.span.end } });
            }
        }
    }
}

/// Reads an escape at the beginning: the character that it stands for, and how long it is.
fn escape(bytes: &[u8; LONGEST_ESCAPE]) -> Option<(u32, usize)> {
    let digits = |digits: &[u8], radix| {
        let digits =
            std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|b| b.is_ascii_alphanumeric()));
        u32::from_str_radix(digits?, radix).ok()
    };
    let until_semicolon = |from: usize, radix| {
        let end = bytes.iter().position(|byte| *byte == b';')?;
        Some((digits(bytes.get(from..end)?, radix)?, end + 1))
    };
    match bytes {
        [b'%', code @ .., _, _, _, _, _] => Some((digits(code, 16)?, 3)),
        [b'\\', b'u', code @ .., _, _] => Some((digits(code, 16)?, 6)),
        [b'\\', b'x', code @ .., _, _, _, _] => Some((digits(code, 16)?, 4)),
        [b'\\', other, ..] if other.is_ascii_punctuation() => Some((u32::from(*other), 2)),
        [b'&', b'#', b'x' | b'X', ..] => until_semicolon(3, 16),
        [b'&', b'#', ..] => until_semicolon(2, 10),
        _ => None,
    }
}

/// An encoding says how digits become bytes.
struct Encoding {
    value: fn(u8) -> u8,
    bits_of_digit: u32,
    /// After this many digits a byte begins with a digit again.
    digits_of_group: usize,
}

const BASE64: Encoding = Encoding { value: base64_value, bits_of_digit: 6, digits_of_group: 4 };
const HEXADECIMAL: Encoding = Encoding { value: hexadecimal_value, bits_of_digit: 4, digits_of_group: 2 };

impl Encoding {
    fn decoded<'a>(&self, digits: &'a [u8]) -> impl Iterator<Item = u8> + use<'a> {
        let (value, bits_of_digit) = (self.value, self.bits_of_digit);
        let (mut bits, mut count) = (0_u32, 0);
        digits.iter().filter_map(move |digit| {
            bits = (bits << bits_of_digit | u32::from(value(*digit))) & 0xffff;
            count += bits_of_digit;
            if count < 8 {
                return None;
            }
            count -= 8;
            Some((bits >> count & 0xff) as u8)
        })
    }
}

/// Both alphabets of base64 count.
fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

fn base64_value(digit: u8) -> u8 {
    match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' | b'-' => 62,
        _ => 63,
    }
}

fn hexadecimal_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20).saturating_sub(b'a') + 10,
    }
}

#[cfg(test)]
mod tests;
