//! The name of an error in a text, as programs, compilers and systems print it.

use std::sync::LazyLock;

use regex::{Match, Regex};

use super::word_class::compiled;

/// The name of an error in a text: an exception, a code of a compiler or of a system, the end of a program.
const ERROR: &str = r"\b((?:[A-Za-z_]\w*(?:\.|::))*[A-Z]\w*(?:Error|Exception|Panic|Fault))\b|\b((?:\w+\.)+errors?\.[A-Z]\w+)|^((?:\w+\.){2,}[A-Z]\w+): |\berror\[(E\d{4})\]|\b(E[A-Z]{5,}|ERR_[A-Z_]+|SIG(?:SEGV|KILL|ABRT|BUS)|ORA-\d+|TS\d{4}|CrashLoopBackOff|ImagePullBackOff|OOMKilled)\b|\b(panicked at|[Ss]egmentation fault|stack overflow|deadlock detected|[Pp]ermission denied|[Cc]onnection refused|CORS)\b";

#[allow(clippy::expect_used, reason = "the pattern is constant, and the tests compile it")]
static ERRORS: LazyLock<Regex> = LazyLock::new(|| compiled(ERROR).expect("a valid pattern"));

/// Tells whether a text has the name of an error in it.
pub(crate) fn names_error(text: &str) -> bool {
    ERRORS.is_match(text)
}

/// Returns the first error that a text names, with its path, as a match.
pub(crate) fn first_match(text: &str) -> Option<Match<'_>> {
    ERRORS.captures(text)?.iter().skip(1).flatten().next()
}

/// Returns the first error that a text names, with its path: an exception, a code, the end of a program.
pub(crate) fn first_error(text: &str) -> Option<&str> {
    first_match(text).map(|name| name.as_str())
}
