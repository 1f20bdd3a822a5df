//! Informative errors: they tell whether two failures of one signature have anything in common. What every program says
//! when it fails tells nothing about why it failed.

use super::Signature;

/// Errors that stand for any failure whatever.
const GENERIC: [&str; 26] = [
    "abort",
    "aborted",
    "assert",
    "assertion",
    "assertion error",
    "assertion failed",
    "assertionerror",
    "baseexception",
    "build failed",
    "command failed",
    "err",
    "error",
    "exception",
    "exit",
    "fail",
    "failed",
    "failure",
    "fatal",
    "fatal error",
    "internal error",
    "internal server error",
    "panic",
    "runtimeerror",
    "runtimeexception",
    "test failed",
    "unknown error",
];
/// The words before the status that a process ended with.
const STATUS: [&str; 5] = ["exit code", "exit status", "exited with", "status code", "non-zero exit"];
/// The share of the warnings above which an error says little about each of them. A small number of warnings may always
/// carry it.
const COMMON_SHARE: f64 = 0.05;
const ALWAYS_FEW: u64 = 3;

/// The numbers of warnings that carry an error, among the memories that may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SignatureFrequency {
    /// The number of warnings that carry any error.
    pub warnings: u64,
    /// The number of warnings that carry the error that was asked for.
    pub of_this: u64,
}

impl SignatureFrequency {
    /// Tells whether few warnings carry the error: at most three, or fewer than one in twenty.
    pub fn is_rare(self) -> bool {
        self.of_this <= ALWAYS_FEW || (self.of_this as f64) < COMMON_SHARE * self.warnings as f64
    }

    pub fn and(self, other: Self) -> Self {
        Self { warnings: self.warnings + other.warnings, of_this: self.of_this + other.of_this }
    }
}

impl Signature {
    /// Tells whether the error says of a failure only that it is one: `error`, `exit code 1`, `AssertionError`.
    pub fn is_generic(&self) -> bool {
        let words: Vec<&str> =
            self.error().split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| !word.is_empty()).collect();
        let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
        let said: Vec<&str> = words.into_iter().filter(|word| !is_number(word)).collect();
        let said = said.join(" ");
        said.is_empty() || GENERIC.contains(&&*said) || is_status(&said)
    }
}

/// Tells whether a message, in lowercase, says with which status a process ended.
pub(super) fn is_status(message: &str) -> bool {
    STATUS.iter().any(|status| message.contains(status))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Error", true)]
    #[case("AssertionError: 1 != 2", true)]
    #[case("exit code 1", true)]
    #[case("process exited with code 101", true)]
    #[case("error: command failed with exit status 2", true)]
    #[case("java.lang.RuntimeException", true)]
    #[case("", true)]
    #[case("IndexError", false)]
    #[case("error[E0382]: borrow of moved value", false)]
    #[case("thread 'main' panicked at src/a.rs:3:5:\nindex out of bounds: the len is 3", false)]
    #[case("AttributeError: 'NoneType' object has no attribute 'x'", false)]
    fn what_every_program_says_when_it_fails_is_generic(#[case] raw: &str, #[case] generic: bool) {
        assert_eq!(Signature::of(raw, None).is_generic(), generic);
    }

    #[rstest]
    #[case(1, 1, true)]
    #[case(3, 3, true)]
    #[case(4, 4, false)]
    #[case(4, 100, true)]
    #[case(5, 100, false)]
    fn few_are_three_or_under_a_twentieth(#[case] of_this: u64, #[case] warnings: u64, #[case] few: bool) {
        assert_eq!(SignatureFrequency { warnings, of_this }.is_rare(), few);
    }
}
