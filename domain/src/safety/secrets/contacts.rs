//! E-mail addresses and phone numbers. They are no secrets, so they are looked for only where the user wants that.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// The numbers of digits that a phone number may have, by the international numbering plan.
const DIGITS: std::ops::RangeInclusive<usize> = 7..=15;
/// The least digits of a number that begins with `+` and has no separator, as shorter ones are amounts and dates.
const LEAST_UNBROKEN: usize = 10;

#[allow(clippy::expect_used, reason = "a constant pattern that every test of this module compiles")]
static EMAIL: LazyLock<Regex> = LazyLock::new(|| {
    let local = r"[\p{L}\p{N}_][\p{L}\p{N}_.%+-]*";
    Regex::new(&format!(r"(?:^|[^\p{{L}}\p{{N}}_.%+/@-])({local}@(?:[\p{{L}}\p{{N}}-]+\.)+\p{{L}}{{2,}})\b"))
        .expect("a valid pattern")
});

#[allow(clippy::expect_used, reason = "constant patterns that every test of this module compiles")]
static PHONES: LazyLock<[Regex; 3]> = LazyLock::new(|| {
    let patterns = [
        // +49 30 901820, +1 (212) 555-0100
        r"(?:^|[^\w+.])(\+[1-9][0-9]{0,2}(?:[ .-]?\(?[0-9]{2,4}\)?){2,5})\b",
        // (212) 555-0100, 212-555-0100
        r"(?:^|[^\w.+-])((?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[.-])[2-9][0-9]{2}[.-][0-9]{4})\b",
        // Tel.: 030/901820
        r#"(?i)\b(?:(?:tele)?phone|tel|telefon|mobile|mobil|handy|fax|whatsapp)(?:[ _-]?(?:number|nummer|no))?["']?[ \t]*[.:=]{1,2}[ \t]*["']?(\(?\+?[0-9][0-9 ()./-]{5,20}[0-9])\b"#,
    ];
    patterns.map(|pattern| Regex::new(pattern).expect("a valid pattern"))
});

pub(super) fn emails(text: &str) -> Vec<Range<usize>> {
    // Most texts have no `@`, which is found out quickly.
    if !text.contains('@') {
        return Vec::new();
    }
    found(&EMAIL, text, is_email)
}

pub(super) fn phones(text: &str) -> Vec<Range<usize>> {
    PHONES.iter().flat_map(|pattern| found(pattern, text, is_phone)).collect()
}

fn found(pattern: &Regex, text: &str, check: fn(&str) -> bool) -> Vec<Range<usize>> {
    let groups = pattern.captures_iter(text).filter_map(|captures| captures.get(1));
    groups.filter(|group| check(group.as_str())).map(|group| group.range()).collect()
}

/// Tells an e-mail address from the address of a repository (`git@github.com:a/b`) and from the file of an icon
/// (`logo@2x.png`).
fn is_email(address: &str) -> bool {
    let (local, domain) = address.split_once('@').unwrap_or((address, ""));
    let is_factor = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_scale = domain.split_once("x.").is_some_and(|(factor, _)| is_factor(factor));
    local != "git" && !is_scale
}

fn is_phone(number: &str) -> bool {
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    let is_unbroken = number.trim_start_matches('+').bytes().all(|byte| byte.is_ascii_digit());
    DIGITS.contains(&digits) && (!number.starts_with('+') || !is_unbroken || digits >= LEAST_UNBROKEN)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use rstest::rstest;

    use crate::safety::secrets::{redacted, scrub};

    #[rstest]
    #[case("write to jane.doe+ci@example.co.uk.", "write to [REDACTED:email].")]
    #[case("<jürgen@münchen.example>, b_c@x.io,d@y.io", "<[REDACTED:email]>, [REDACTED:email],[REDACTED:email]")]
    #[case("mailto:jane@example.com?subject=x", "mailto:[REDACTED:email]?subject=x")]
    #[case(
        r#"{"to": "a@x.org", "text": "hi\njane@example.com"}"#,
        r#"{"to": "[REDACTED:email]", "text": "hi\n[REDACTED:email]"}"#
    )]
    #[case("call +49 30 901820 or +1 (212) 555-0100", "call [REDACTED:phone] or [REDACTED:phone]")]
    #[case("+442071838750, (212) 555-0100; 212-555-0100", "[REDACTED:phone], [REDACTED:phone]; [REDACTED:phone]")]
    #[case(
        "Tel.: 030/901820, phone_number=\"0171 2345678\"",
        "Tel.: [REDACTED:phone], phone_number=\"[REDACTED:phone]\""
    )]
    fn contacts_are_replaced_where_that_is_wanted(#[case] text: &str, #[case] clean: &str) {
        let replaced = redacted(Cow::Borrowed(text), true);
        assert_eq!(replaced.text, clean);
        assert_eq!(redacted(Cow::Borrowed(&replaced.text), true).redactions, 0, "a second time changes nothing");
        assert_eq!(scrub(text).text, text, "nothing is wanted by itself");
    }

    #[rstest]
    #[case("git clone git@github.com:org/repo.git")]
    #[case("npm i react@18.2.0 @types/node@20.1.0 left-pad@latest")]
    #[case("logo@2x.png and the decorator @app.route")]
    #[case("@@ -120,7 +120,9 @@ fn main() at 2026-11-23T05:52:42.123456+01:00")]
    #[case("+20240115\n+let total = 1 +12345678;")]
    #[case("10.0.0.255, 1.2.3-beta.4, 0123456789abcdef, 1700000000000, 40.7128 -74.0060")]
    #[case("phone: none, fax = null, mobile: true")]
    #[case("https://user@host.example/path and x@y")]
    fn what_only_looks_like_a_contact_stays(#[case] text: &str) {
        assert_eq!(redacted(Cow::Borrowed(text), true).text, text);
    }
}
