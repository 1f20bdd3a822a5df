//! Secrets that only their name gives away: `password = "…"`, `API_KEY=…`, `"token": "…"`, `--password …`,
//! `the password is …`. The value must look like one; an expression, a type or a placeholder stays.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::MARKER;
use super::shape::Shape;

macro_rules! name {
    () => {
        concat!(
            r"(?:pass(?:word|wd|phrase|code)|(?:\b|_)pass|pwd|secret(?:[_-]?key(?:[_-]?base)?)?|token|authorization",
            "|(?:api|access|private|signing|encryption|master|account|shared|auth|service|license)[_-]?(?:access[_-]?)?key",
            "|credential)s?[0-9]{0,2}"
        )
    };
}

#[allow(clippy::expect_used, reason = "constant patterns that every test of this module compiles")]
fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid pattern")
}

/// Name and what stands between it and the value. Bounded: nothing in it can run over a whole text.
static PLAIN: LazyLock<Regex> = LazyLock::new(|| {
    compiled(concat!(
        "(?i-u)(?:",
        name!(),
        r#"(?:[\\"'\])]{0,10}[ \t]{0,8}(?::=|=>|={1,3}|:)[ \t]{0,8}|>|[ \t]{1,4}(?:is|was)[ \t:]{1,4})"#,
        "|--[a-z0-9-]{0,40}?",
        name!(),
        r"[ \t]{1,4})",
    ))
});
/// The same with a type in between: `const TOKEN: &str = "…"`.
static TYPED: LazyLock<Regex> = LazyLock::new(|| {
    compiled(concat!(
        "(?i-u)",
        name!(),
        r"[ \t]{0,8}:[ \t]{0,8}[&'a-z_][a-z0-9_<>&'. |\[\]]{0,40}?[ \t]{0,8}=[ \t]{0,8}",
    ))
});

/// Where values stand that look like secrets; in order, not overlapping.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for pattern in [&*PLAIN, &*TYPED] {
        let mut from = 0;
        while let Some(prefix) = pattern.find_at(text, from) {
            from = prefix.end();
            if let Some(secret) = Value::after(text, prefix.range()).and_then(|value| value.secret()) {
                from = secret.end;
                found.push(secret);
            }
        }
    }
    found.sort_by_key(|span| span.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for span in found {
        match merged.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

/// How much of a value is looked at; a longer one is judged by its beginning, and replaced whole.
const LOOKED_AT: usize = 256;

/// The beginning of a value and how its surroundings read.
struct Value<'a> {
    /// The text from the value's first character on.
    rest: &'a str,
    start: usize,
    head: &'a str,
    /// It goes on after what is looked at.
    continues: bool,
    quoted: bool,
    /// `NAME=value` without spaces, as in an environment: no expression of a programming language.
    bare: bool,
    /// The name speaks of a password, which people make up, not of a token, which machines do.
    made_up: bool,
}

impl<'a> Value<'a> {
    fn after(text: &'a str, prefix: Range<usize>) -> Option<Self> {
        let before = text[prefix.clone()].to_ascii_lowercase();
        let bare = before.ends_with('=');
        let (quote, opening) = opening_quote(&text[prefix.end..]);
        let start = prefix.end + opening;
        let rest = &text[start..];
        let window = up_to(rest, LOOKED_AT);
        let closing = quote.and_then(|quote| window.find([quote, '\n']).filter(|end| rest[*end..].starts_with(quote)));
        let end = match closing {
            Some(end) => end,
            None => {
                let end = end_of_value(window, bare);
                let cut_off = end == window.len() || rest[end..].starts_with(['\r', '\n', '\\']);
                if quote.is_some() && !cut_off {
                    return None;
                }
                end
            }
        };
        let head = trim_end(&rest[..end]);
        (!head.is_empty()).then(|| Self {
            rest,
            start,
            head,
            continues: closing.is_none() && end == window.len(),
            quoted: quote.is_some(),
            bare,
            made_up: before.contains("pass") || before.contains("pwd"),
        })
    }

    /// What is to be replaced.
    fn secret(&self) -> Option<Range<usize>> {
        if !self.is_secret() {
            return None;
        }
        let whole = if self.continues { trim_end(&self.rest[..end_of_value(self.rest, self.bare)]) } else { self.head };
        Some(self.start..self.start + whole.len())
    }

    fn is_secret(&self) -> bool {
        // A marker may begin at the last character that is looked at.
        let marked = up_to(self.rest, self.head.len() + MARKER.len()).contains(MARKER);
        let path_goes_on = self.rest.starts_with([':', '@']) && !self.quoted;
        if marked || path_goes_on || is_template(self.head) || (!self.quoted && self.is_expression()) {
            return false;
        }
        let shape = Shape::of(self.head);
        if shape.is_random() {
            return true;
        }
        let word = self.head.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
        let identifier = word && self.head.contains(['_', '-', '.', '/']);
        let path = self.head.starts_with(['/', '~']) || self.head.starts_with("./") || self.head.contains("://");
        if path || self.head.contains(char::is_whitespace) || shape.letters == 0 || shape.chars < 6 || shape.bits < 2.5
        {
            return false;
        }
        if self.made_up {
            (shape.digits > 0 || !word) && (self.quoted || self.bare || !identifier)
        } else {
            shape.chars >= 8 && !identifier && shape.digits > 0 && shape.bits >= 2.75
        }
    }

    /// A call, an index, a path of a program, as opposed to a value written out.
    fn is_expression(&self) -> bool {
        let after = &self.rest[self.head.len()..];
        let called = after.starts_with(['(', '{']) || (after.starts_with('<') && !after.starts_with("</"));
        let identifier = !self.bare
            && self.head.contains(['.', '_'])
            && self.head.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && self.head.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
            && !Shape::of(self.head).is_random();
        called || identifier || self.head.contains(['[', ']']) || self.head.contains("::") || self.head.contains("->")
    }
}

/// The quote a value begins with, and how many bytes stand before the value.
fn opening_quote(rest: &str) -> (Option<char>, usize) {
    // `\"` inside a string, `\\\"` inside a string in a string, `b"`, `r"`, `f"`, `@"` of programming languages
    let prefix = rest.bytes().take(8).take_while(|byte| b"\\@brfBRF".contains(byte)).count();
    match rest[prefix..].chars().next() {
        Some(quote @ ('"' | '\'' | '`')) => (Some(quote), prefix + 1),
        _ => (None, 0),
    }
}

/// `&` goes on to the next parameter of an address or the next command of a shell, but people put it into passwords.
fn ends_a_value(bare: bool) -> impl Fn(char) -> bool {
    move |c| c.is_whitespace() || "\"'`,;|<>(){}".contains(c) || (bare && c == '&')
}

/// Where an unquoted value ends: also before a line break or a tab as JSON writes them, which begin another line.
fn end_of_value(text: &str, bare: bool) -> usize {
    let end = text.find(ends_a_value(bare)).unwrap_or(text.len());
    let escaped = ["\\n", "\\r", "\\t"].into_iter().filter_map(|escape| text[..end].find(escape)).min();
    escaped.unwrap_or(end)
}

fn trim_end(value: &str) -> &str {
    value.trim_end_matches([' ', '\\', '.', ':'])
}

/// Filled in by a shell, a template or whoever reads the documentation.
fn is_template(value: &str) -> bool {
    value.starts_with(['$', '%', '<', '*']) || value.contains("${") || value.contains("{{") || value.contains("$(")
}

fn up_to(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
