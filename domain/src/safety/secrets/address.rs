//! Passwords in addresses: `scheme://user:password@host`, also those with `@` or `/` in them.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::value::{is_template, up_to};

#[allow(clippy::expect_used, reason = "a constant pattern that every test of this module compiles")]
static LOGIN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"'<>\[\]`\\]*:"#).expect("a valid pattern"));

/// The longest password that is looked for in an address, in bytes.
const LONGEST: usize = 256;

pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let password = |login: regex::Match<'_>| {
        let start = login.end();
        let length = password(up_to(&text[start..], LONGEST))?;
        Some(start..start + length)
    };
    LOGIN.find_iter(text).filter_map(password).collect()
}

/// Returns the length in bytes of the password that a text begins with. None where it begins with none.
fn password(text: &str) -> Option<usize> {
    let ends = |c: char| c.is_whitespace() || "\"'<>[]`\\".contains(c);
    let word = &text[..text.find(ends).unwrap_or(text.len())];
    // `://` belongs to the next address of a list, which has a host of its own.
    let word = &word[..word.find("://").unwrap_or(word.len())];
    let authority = &word[..word.find(['/', '?', '#']).unwrap_or(word.len())];
    let length = match authority.rfind('@') {
        Some(at) => at,
        // Digits alone are a port. A path may follow it, and `@` may be in the path.
        None if authority.bytes().all(|byte| byte.is_ascii_digit()) => return None,
        None => word.find('@').filter(|at| is_host(&word[at + 1..]))?,
    };
    (length > 0 && !is_template(word) && !word.starts_with('{')).then_some(length)
}

/// Tells whether a text begins with a host: `db.internal:5432/app`, `localhost`, `10.0.0.5`.
fn is_host(text: &str) -> bool {
    let host = &text[..text.find([':', '/', '?', '#', ',', ';', ')']).unwrap_or(text.len())];
    !host.is_empty() && host.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_'))
}
