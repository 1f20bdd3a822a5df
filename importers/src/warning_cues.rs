//! The words by which a warning is told from a fact, where the source does not tell them apart.

use std::sync::LazyLock;

use regex::Regex;

static FAILURE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:fail(?:s|ed|ure)?|error|exception|crash(?:es|ed)?|breaks|broken|corrupts?|deadlocks?|time[sd]? out|gotcha|pitfall|beware|never|don['’]t|do not|avoid|must not)\b",
    )
    .ok()
});
static PROHIBITION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:don['’]t|do not|stop|never|avoid|must not|should not|shouldn['’]t|no longer)\b").ok()
});

/// Says whether a text tells what fails, or what not to do.
pub(crate) fn tells_failure(text: &str) -> bool {
    FAILURE.as_ref().is_some_and(|cue| cue.is_match(text))
}

/// Says whether a text tells what not to do.
pub(crate) fn forbids(text: &str) -> bool {
    PROHIBITION.as_ref().is_some_and(|cue| cue.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_and_prohibitions_are_told_from_facts() {
        for text in ["Never commit .env", "The build fails without protoc", "don’t use npm here"] {
            assert!(tells_failure(text), "{text}");
        }
        for text in ["Works at Acme", "Prefers tabs", "The failsafe is on"] {
            assert!(!tells_failure(text), "{text}");
        }
        assert!(forbids("Stop adding comments") && !forbids("The build fails"));
    }
}
