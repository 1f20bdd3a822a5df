//! Sessions in cookies: `Cookie: session=…; theme=dark`, `Set-Cookie: …`, `curl -b …`. A cookie that only says how a
//! page looks stays.

use std::ops::Range;
use std::sync::LazyLock;

use super::lazy_pattern::LazyPattern;
use super::shape::Shape;
use super::value::{is_written_out, up_to};

static HEADER: LazyLock<LazyPattern> = LazyLock::new(|| {
    let pattern = concat!(
        r#"(?i-u)(?:\b(?:set-)?cookies?[\\"']{0,4}[ \t]{0,4}[:=][ \t]{0,4}|--cookie[ =]|document\.cookie[ \t]{0,4}=[ \t]{0,4}"#,
        r#"|\bcurl(?u:[^\n|;]){0,80}?[ \t]-b[ \t]{0,2})[\\"']{0,4}"#,
    );
    LazyPattern::new(pattern, ["cookie", "curl"])
});

#[cfg(test)]
pub(super) fn pattern() -> &'static LazyPattern {
    &HEADER
}

/// Parts of the names of cookies that hold a session.
const SESSIONS: [&str; 12] =
    ["sess", "sid", "auth", "token", "jwt", "csrf", "xsrf", "remember", "login", "identity", "secret", "key"];

pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let Some(pattern) = HEADER.for_text(text) else { return found };
    let mut from = 0;
    while let Some(header) = pattern.find_at(text, from) {
        from = header.end();
        while let Some(pair) = Pair::at(text, from) {
            if pair.is_secret(text) {
                found.push(pair.value.clone());
            }
            from = pair.value.end;
            let rest = &text[from..];
            let Some(more) = rest.strip_prefix(';') else { break };
            from += 1 + (more.len() - more.trim_start_matches([' ', '\t']).len());
        }
    }
    found
}

struct Pair {
    name: Range<usize>,
    value: Range<usize>,
}

impl Pair {
    /// Reads `name=value`, or an attribute without a value.
    fn at(text: &str, start: usize) -> Option<Self> {
        const LONGEST_NAME: usize = 128;
        let rest = &text[start..];
        let name = up_to(rest, LONGEST_NAME).find(|c: char| !(c.is_ascii_alphanumeric() || "_-.!$%*".contains(c)))?;
        if name == 0 {
            return None;
        }
        let after = &rest[name..];
        let Some(value) = after.strip_prefix('=') else {
            return after
                .starts_with(';')
                .then_some(Self { name: start..start + name, value: start + name..start + name });
        };
        let begin = start + name + 1;
        let end = value.find(|c: char| c.is_whitespace() || ";,\"'\\<>`".contains(c)).unwrap_or(value.len());
        Some(Self { name: start..start + name, value: begin..begin + end })
    }

    fn is_secret(&self, text: &str) -> bool {
        let value = &text[self.value.clone()];
        let name = text[self.name.clone()].to_ascii_lowercase();
        if !is_written_out(value) || name.starts_with('_') && name.contains("ga") {
            return false;
        }
        let shape = Shape::of(up_to(value, 256));
        shape.is_random()
            || (shape.chars >= 6 && shape.digits > 0 && SESSIONS.iter().any(|session| name.contains(session)))
    }
}
