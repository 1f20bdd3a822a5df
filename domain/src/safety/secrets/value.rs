//! The value behind a name: where it begins and ends, and whether it is a secret. A secret was written out; it is no
//! expression, type or placeholder.

use std::ops::Range;

use super::MARKER;
use super::base64;
use super::shape::Shape;

/// The most bytes of a value that are looked at. A longer one is judged by its beginning, and replaced whole.
const LOOKED_AT: usize = 256;

/// The knowledge about a value that comes from what stands before it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ValueContext {
    /// True where the text reads `NAME=value` without spaces, as in an environment. The value is then no expression of
    /// a programming language.
    pub bare: bool,
    /// True where the name speaks of a password, which people make up. Tokens come from machines.
    pub made_up: bool,
    /// True where the value must have quotes around it.
    pub in_quotes: bool,
    /// True where nothing else may stand behind the value on its line, unless the value is random.
    pub own_line: bool,
    /// True where the value must stand in a cell of a table, with a border `|` behind it.
    pub in_cell: bool,
    /// True where no sign says that a value stands here, so that it has to look like a password.
    pub strong: bool,
    /// True where only a random value counts.
    pub random: bool,
}

/// The beginning of a value, and what its surroundings say about it.
pub(super) struct AssignedValue<'a> {
    /// The text from the value's first character on.
    rest: &'a str,
    start: usize,
    head: &'a str,
    /// True where the value goes on after what is looked at.
    continues: bool,
    quoted: bool,
    before: ValueContext,
}

impl<'a> AssignedValue<'a> {
    pub(super) fn at(text: &'a str, at: usize, before: ValueContext) -> Option<Self> {
        let (emphasis, opened) = emphasis(&text[at..]);
        let (quote, opening) = Quote::opening(&text[at + opened..]);
        let start = at + opened + opening;
        let rest = &text[start..];
        let window = up_to(rest, LOOKED_AT);
        let closing = quote.as_ref().and_then(|quote| quote.closing(window));
        let end = match closing {
            Some(end) => end,
            None => {
                let end = end_of_value(window, before.bare);
                let cut_off = end == window.len() || rest[end..].starts_with(['\r', '\n', '\\']);
                if quote.is_some() && !cut_off {
                    return None;
                }
                end
            }
        };
        let head = trim_end(&rest[..end]);
        let head = if emphasis.is_empty() { head } else { &head[..head.find(emphasis).unwrap_or(head.len())] };
        let behind = rest[head.len()..].trim_start_matches(['*', '_', '`', '"', '\'', '\\', ',', ';', ' ', '\t', '.']);
        let alone = !before.own_line
            || behind.is_empty()
            || behind.starts_with(['\n', '\r', '}'])
            || Shape::of(up_to(head, LOOKED_AT)).is_random();
        let in_cell = !before.in_cell || behind.starts_with('|');
        let fits = alone && in_cell && (quote.is_some() || !before.in_quotes);
        (fits && !head.is_empty()).then(|| Self {
            rest,
            start,
            head,
            continues: closing.is_none() && end == window.len(),
            quoted: quote.is_some(),
            before,
        })
    }

    /// Returns the span to replace. None where the value is no secret.
    pub(super) fn secret(&self) -> Option<Range<usize>> {
        if !self.is_secret() {
            return None;
        }
        let whole =
            if self.continues { trim_end(&self.rest[..end_of_value(self.rest, self.before.bare)]) } else { self.head };
        Some(self.start..self.start + whole.len())
    }

    fn is_secret(&self) -> bool {
        // A marker may begin at the last character that is looked at.
        let marked = up_to(self.rest, self.head.len() + MARKER.len()).contains(MARKER);
        let path_goes_on = self.rest.starts_with([':', '@']) && !self.quoted;
        if marked || path_goes_on || is_template(self.head) || (!self.quoted && self.is_expression()) {
            return false;
        }
        // The name is a verb: `Pass -DBUILD_TESTS=ON.`
        if self.before.own_line && !self.quoted && assigns(self.head) {
            return false;
        }
        let shape = Shape::of(self.head);
        if self.before.random {
            return shape.is_random() && !self.head.contains('/');
        }
        if self.before.strong && !is_strong(self.head) {
            return false;
        }
        if shape.is_random() || shape.is_random_in_letters() {
            return true;
        }
        let asked = if self.quoted || self.before.bare { self.head } else { self.head.trim_matches(['¿', '?']) };
        let word = asked.chars().all(|c| c.is_alphanumeric() || "_-./".contains(c));
        let identifier = word && self.head.contains(['_', '-', '.', '/']);
        let path = self.head.starts_with(['/', '~']) || self.head.starts_with("./") || self.head.contains("://");
        if path || is_method(self.head) || shape.letters == 0 || shape.chars < 6 || shape.bits < 2.5 {
            return false;
        }
        // Several words are a sentence, unless one of them is none of a language.
        if self.head.contains(char::is_whitespace) {
            let at_least = if self.before.made_up { 5 } else { 8 };
            let is_mixed = self.head.split_whitespace().map(Shape::of).any(|word| word.is_mixed(at_least));
            return self.quoted && (is_mixed || (self.before.made_up && is_phrase(self.head.split_whitespace())));
        }
        if self.before.made_up {
            // Clusters keep passwords in base64, which may have no digits.
            let encoded = shape.chars.is_multiple_of(4) && base64::decoded(self.head).is_some();
            (shape.digits > 0 || !word || encoded)
                && (self.quoted || self.before.bare || !identifier || is_phrase(self.head.split('-')))
        } else {
            shape.chars >= 8 && !identifier && shape.digits > 0 && shape.bits >= 2.75
        }
    }

    /// Tells whether the value is a call, an index or a path of a program, as opposed to a value that was written out.
    fn is_expression(&self) -> bool {
        let after = &self.rest[self.head.len()..];
        let called = after.starts_with(['(', '{']) || (after.starts_with('<') && !after.starts_with("</"));
        let identifier = !self.before.bare
            && self.head.contains(['.', '_'])
            && self.head.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && self.head.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
            && !Shape::of(self.head).is_random();
        called || identifier || self.head.contains(['[', ']']) || self.head.contains("::") || self.head.contains("->")
    }
}

/// Tells whether a value is made of two to five words with capitals and a number of three digits or more, as passwords
/// that people can say are: `Blue-Falcon-8812`.
fn is_phrase<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    let words: Vec<&str> = words.collect();
    let is_number = |word: &&str| word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_digit());
    let is_capitalised = |word: &&str| {
        let mut signs = word.chars();
        signs.next().is_some_and(char::is_uppercase) && word.chars().count() >= 3 && signs.all(char::is_lowercase)
    };
    (2..=5).contains(&words.len())
        && words.iter().any(is_number)
        && words.iter().any(is_capitalised)
        && words.iter().all(|word| is_number(word) || is_capitalised(word))
}

/// Tells whether a value looks like a password by itself: letters, digits and another sign, or letters and digits mixed
/// as in no word.
fn is_strong(value: &str) -> bool {
    let shape = Shape::of(value);
    let has_sign = value.chars().any(|c| c.is_ascii_punctuation() && !"-_./:".contains(c));
    let is_login = shape.letters > 0 && shape.digits > 0 && has_sign && shape.chars >= 6;
    is_login || shape.is_mixed(8) || is_phrase(value.split('-'))
}

/// Tells whether a value gives a value to an option or to a variable of the environment: `-std=c++17`, `JOBS=4`.
fn assigns(value: &str) -> bool {
    value.split_once('=').is_some_and(|(name, given)| {
        let option = name.trim_start_matches('-');
        let is_variable = !option.chars().any(|c| c.is_ascii_lowercase());
        let is_name = option.starts_with(|c: char| c.is_ascii_alphabetic())
            && option.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        is_name && (option.len() < name.len() || is_variable) && !given.trim_start_matches('=').is_empty()
    })
}

fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

/// Tells whether a value is the way in which a password is stored, as in `the password is base64 encoded`.
fn is_method(value: &str) -> bool {
    const METHODS: [&str; 12] = [
        "base32", "base58", "base64", "sha224", "sha256", "sha384", "sha512", "argon2", "argon2i", "argon2id",
        "pbkdf2", "oauth2",
    ];
    METHODS.iter().any(|method| value.eq_ignore_ascii_case(method))
}

/// Tells whether a value in the place of a password was written out.
pub(super) fn is_written_out(value: &str) -> bool {
    const WORDS: [&str; 22] = [
        "password",
        "passwd",
        "pass",
        "pwd",
        "pw",
        "secret",
        "token",
        "changeme",
        "change-me",
        "example",
        "postgres",
        "root",
        "test",
        "admin",
        "user",
        "username",
        "null",
        "none",
        "true",
        "false",
        "undefined",
        "redacted",
    ];
    let lower = up_to(value, 64).to_ascii_lowercase();
    let same = |c: char| lower.chars().all(|other| other == c);
    let placeholder = WORDS.contains(&lower.as_str())
        || lower.starts_with("your")
        || lower.starts_with("my-")
        || lower.starts_with("<")
        || lower.contains("xxxx")
        || lower.contains("...")
        || lower.contains('…')
        || lower.chars().next().is_some_and(same);
    value.len() >= 3 && !placeholder && !is_template(value) && !value.contains(MARKER)
}

/// Returns the emphasis of markdown that a value begins with, and its length in bytes.
fn emphasis(rest: &str) -> (&'static str, usize) {
    let marks = ["**", "__"].into_iter().find(|marks| rest.starts_with(marks));
    let marks = marks.filter(|marks| rest[marks.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '`'));
    marks.map_or(("", 0), |marks| (marks, marks.len()))
}

/// The quote that a value begins with.
struct Quote {
    sign: char,
    /// The backslashes before it. There is one where the value stands in a string, and three in a string in a string.
    backslashes: usize,
}

impl Quote {
    /// Returns the quote at the beginning of a text, if there is one, and how many bytes stand before the value.
    fn opening(text: &str) -> (Option<Self>, usize) {
        // `\"` inside a string, `\\\"` inside a string in a string, `b"`, `r"`, `f"`, `@"` of programming languages
        let prefix = text.bytes().take(8).take_while(|byte| b"\\@brfBRF".contains(byte)).count();
        let backslashes = text[..prefix].bytes().filter(|byte| *byte == b'\\').count();
        match text[prefix..].chars().next() {
            Some(sign @ ('"' | '\'' | '`')) => (Some(Self { sign, backslashes }), prefix + 1),
            _ => (None, 0),
        }
    }

    /// Returns the place of the quote that closes the value, on the same line. A quote in the value has more backslashes
    /// before it, as in `"a\"b"`, or is doubled, as in `'it''s'`. Where no quote closes the value, the first one does.
    fn closing(&self, value: &str) -> Option<usize> {
        let line = value.split('\n').next().unwrap_or_default();
        let (mut first, mut from) = (None, 0);
        while let Some(next) = line[from..].find(self.sign) {
            let at = from + next;
            first = first.or(Some(at));
            let backslashes = line[..at].bytes().rev().take_while(|byte| *byte == b'\\').count();
            let escaped =
                if self.backslashes == 0 { !backslashes.is_multiple_of(2) } else { backslashes > self.backslashes };
            let doubled = self.backslashes == 0 && self.sign != '`' && at > 0 && line[at + 1..].starts_with(self.sign);
            match (escaped, doubled) {
                (true, _) => from = at + 1,
                (false, true) => from = at + 2,
                (false, false) => return Some(at),
            }
        }
        first
    }
}

/// Returns the span of the value at a place in a text. A value in quotes reaches to the closing quote, and any other
/// value to a sign that ends values.
pub(super) fn written_at(text: &str, at: usize) -> Range<usize> {
    const LONGEST: usize = 1_024;
    let (quote, opening) = Quote::opening(&text[at..]);
    let start = at + opening;
    let rest = up_to(&text[start..], LONGEST);
    let ends = ends_a_value(true);
    let end = quote.and_then(|quote| quote.closing(rest));
    let end = end.or_else(|| rest.find(|c| ends(c) || "\\[]".contains(c))).unwrap_or(rest.len());
    let value = rest[..end].trim_end_matches('\\');
    start..start + value.len()
}

/// Returns a test for the characters that end a value. `&` ends only a bare value. It leads to the next parameter of an
/// address or the next command of a shell, but people also put it into passwords. In prose, a value also ends at a
/// character of a script that has no spaces.
fn ends_a_value(bare: bool) -> impl Fn(char) -> bool {
    move |c| c.is_whitespace() || "\"'`,;|<>(){}".contains(c) || (if bare { c == '&' } else { is_unspaced(c) })
}

/// Returns the place where an unquoted value ends.
fn end_of_value(text: &str, bare: bool) -> usize {
    let end = text.find(ends_a_value(bare)).unwrap_or(text.len());
    // `]]>` ends the character data of XML.
    text[..end].find("]]").filter(|at| text[*at..].starts_with("]]>")).unwrap_or(end)
}

fn trim_end(value: &str) -> &str {
    value.trim_end_matches([' ', '\\', '.', ':'])
}

/// Tells whether a value is a template, which a shell, a program or the reader of the documentation fills in.
pub(super) fn is_template(value: &str) -> bool {
    value.starts_with(['$', '%', '<', '*']) || value.contains("${") || value.contains("{{") || value.contains("$(")
}

pub(super) fn up_to(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
