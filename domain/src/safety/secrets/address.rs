//! Passwords in addresses: `scheme://user:password@host`, also those with `@` or `/` in them.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::value::{is_template, up_to};

#[allow(clippy::expect_used, reason = "a constant pattern that every test of this module compiles")]
static LOGIN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"'<>\[\]`\\]*:"#).expect("a valid pattern"));

/// The longest password that is looked for in an address.
const LONGEST: usize = 256;

pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let password = |login: regex::Match<'_>| {
        let start = login.end();
        let length = password(up_to(&text[start..], LONGEST))?;
        Some(start..start + length)
    };
    LOGIN.find_iter(text).filter_map(password).collect()
}

/// How long the password is that a text begins with.
fn password(text: &str) -> Option<usize> {
    let ends = |c: char| c.is_whitespace() || "\"'<>[]`\\".contains(c);
    let word = &text[..text.find(ends).unwrap_or(text.len())];
    // It is the next address of a list, which has a host of its own.
    let word = &word[..word.find("://").unwrap_or(word.len())];
    let authority = &word[..word.find(['/', '?', '#']).unwrap_or(word.len())];
    let length = match authority.rfind('@') {
        Some(at) => at,
        // It is behind a port, where there is a path, and `@` may be in it.
        None if authority.bytes().all(|byte| byte.is_ascii_digit()) => return None,
        None => word.find('@').filter(|at| is_host(&word[at + 1..]))?,
    };
    (length > 0 && !is_template(word) && !word.starts_with('{')).then_some(length)
}

/// Tells a host: `db.internal:5432/app`, `localhost`, `10.0.0.5`.
fn is_host(text: &str) -> bool {
    let host = &text[..text.find([':', '/', '?', '#', ',', ';', ')']).unwrap_or(text.len())];
    !host.is_empty() && host.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_'))
}
