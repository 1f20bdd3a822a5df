//! Signatures of errors: what makes two failures "the same kind". One function normalises an error type, a raw
//! message or a signature into it, so that all three find the same warnings.

mod mentioned;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use mentioned::mentioned;

/// Lowercase last path segment of the error type, `|`, lowercase domain or nothing: `valueerror|parsing`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Signature(String);

impl Signature {
    /// `raw` is an error type (`std::io::Error`, `requests.Timeout`), a raw message (`ValueError: bad literal`) or a
    /// signature (`valueerror|parsing`); a domain inside a signature counts only where `domain` gives none.
    pub fn of(raw: &str, domain: Option<&str>) -> Self {
        let (error, own_domain) = match raw.rsplit_once('|') {
            Some((error, own)) if is_signature(error, own) => (error, Some(own)),
            _ => (raw, None),
        };
        let domain = domain.map(str::trim).filter(|d| !d.is_empty()).or(own_domain).unwrap_or_default();
        Self(format!("{}|{}", error_name(error), domain.trim().to_lowercase()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The error without its domain.
    pub fn error(&self) -> &str {
        self.0.split_once('|').map_or(&*self.0, |(error, _)| error)
    }

    pub fn domain(&self) -> Option<&str> {
        self.0.split_once('|').map(|(_, domain)| domain).filter(|domain| !domain.is_empty())
    }

    /// Equal, or equal in the error where one of the two names no domain.
    pub fn matches(&self, other: &Self) -> bool {
        let domains_agree = match (self.domain(), other.domain()) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        !self.error().is_empty() && self.error() == other.error() && domains_agree
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A message may hold a bar of its own: `TypeError: unsupported operand type(s) for |: 'int' and 'str'`.
fn is_signature(error: &str, domain: &str) -> bool {
    let is_label = |c: char| c.is_alphanumeric() || "_-./ ".contains(c);
    !error.contains(": ") && domain.chars().all(is_label)
}

/// `std::num::ParseIntError` -> `parseinterror`; `ValueError: invalid literal` -> `valueerror`;
/// `thread 'main' panicked at src/a.rs` -> its first line, lowercase.
fn error_name(raw: &str) -> String {
    let line = raw.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    // The type ends where the message begins: at ": " (a "::" inside a path is followed by no space).
    let head = line.split(": ").next().unwrap_or(line).trim_end_matches(':').trim();
    let is_type = !head.is_empty() && !head.contains(char::is_whitespace);
    let mut segments = head.rsplit(['.', ':', '/', '\\']);
    let name = if is_type { segments.find(|segment| !segment.is_empty()).unwrap_or(head) } else { head };
    name.to_lowercase()
}

/// Whether a query speaks of something that went wrong.
pub fn mentions_error(query: &str) -> bool {
    const WORDS: [&str; 14] = [
        "error",
        "errors",
        "exception",
        "fail",
        "fails",
        "failed",
        "failing",
        "failure",
        "panic",
        "panicked",
        "crash",
        "traceback",
        "bug",
        "timeout",
    ];
    query.split(|c: char| !c.is_alphanumeric()).any(|word| {
        word.ends_with("Error") || word.ends_with("Exception") || WORDS.contains(&word.to_lowercase().as_str())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("ValueError", None, "valueerror|")]
    #[case("std::num::ParseIntError", Some("Parsing"), "parseinterror|parsing")]
    #[case("requests.exceptions.Timeout", None, "timeout|")]
    #[case("ValueError: invalid literal for int()", Some("cli"), "valueerror|cli")]
    #[case("valueerror|parsing", None, "valueerror|parsing")]
    #[case("valueerror|parsing", Some("cli"), "valueerror|cli")]
    #[case("off by one", None, "off by one|")]
    #[case("off by one|algorithms", None, "off by one|algorithms")]
    #[case("TypeError: unsupported operand type(s) for |: 'int' and 'str'", Some("python"), "typeerror|python")]
    #[case("errors.Timeout.", None, "timeout|")]
    #[case("", None, "|")]
    fn everything_that_names_an_error_becomes_one_signature(
        #[case] raw: &str,
        #[case] domain: Option<&str>,
        #[case] signature: &str,
    ) {
        assert_eq!(Signature::of(raw, domain).as_str(), signature);
    }

    #[test]
    fn a_signature_without_a_domain_matches_any_domain() {
        let bare = Signature::of("ValueError", None);
        let parsing = Signature::of("ValueError", Some("parsing"));
        let network = Signature::of("ValueError", Some("network"));
        assert!(bare.matches(&parsing) && parsing.matches(&bare));
        assert!(!parsing.matches(&network));
        assert!(!Signature::of("", None).matches(&Signature::of("", None)), "nothing is no kind of error");
    }

    #[test]
    fn queries_that_mention_an_error_are_recognised() {
        assert!(mentions_error("why does the test fail with TypeError?"));
        assert!(!mentions_error("use a terror-free retry strategy"));
    }

    fn raw() -> impl Strategy<Value = String> {
        prop_oneof![
            "\\PC{0,30}",
            "[A-Za-z]{1,8}(::|\\.|/)[A-Z][a-z]{1,6}Error(: [a-z |]{0,20})?",
            "[a-zA-Z ]{1,10}\\|[a-zA-Z ]{0,8}",
        ]
    }

    proptest! {
        #[test]
        fn a_signature_made_of_a_signature_is_the_same(raw in raw(), domain in prop::option::of("[A-Za-z ]{0,8}")) {
            let signature = Signature::of(&raw, domain.as_deref());
            prop_assert_eq!(Signature::of(signature.as_str(), None), signature);
        }

        #[test]
        fn to_match_is_mutual_and_everything_with_a_name_matches_itself(a in raw(), b in raw(), domain in "[a-z]{0,4}") {
            let (a, b) = (Signature::of(&a, Some(&domain)), Signature::of(&b, None));
            prop_assert_eq!(a.matches(&b), b.matches(&a));
            prop_assert_eq!(a.matches(&a), !a.error().is_empty());
        }

        #[test]
        fn case_and_path_never_make_another_signature(name in "[A-Za-z]{1,10}", path in "[a-z]{1,5}") {
            let plain = Signature::of(&name, None);
            for other in [name.to_uppercase(), format!("{path}::{name}"), format!("{path}.{name}: no luck")] {
                prop_assert_eq!(&Signature::of(&other, None), &plain);
            }
        }
    }
}
