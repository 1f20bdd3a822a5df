//! The error that a check printed when it failed, as a warning keeps it: the message and the stack. This file also
//! decides which of the warnings about the same failure keep it.

use std::sync::LazyLock;

use regex::Regex;

use crate::memory::observation::Observed;
use crate::memory::signature::{Signature, error_message, names_error};
use crate::memory::{ErrorContext, STACK_TRACE_MAX_CHARS, normalised_stack};

/// The error that a check printed. It is empty where nothing was checked, the check passed, or it printed nothing that
/// names an error.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PrintedError {
    pub message: Option<String>,
    /// The stack, without addresses and line numbers.
    pub stack_trace: Option<String>,
}

impl PrintedError {
    /// Reads what a check printed. Its secrets are removed already, as a cut might leave half of one.
    pub fn of(observed: &Observed) -> Self {
        let Some(printed) = observed.detail.as_deref().filter(|_| !observed.passed) else { return Self::default() };
        let bounded = |text: String| text.chars().take(STACK_TRACE_MAX_CHARS).collect();
        Self { message: error_message(printed).map(bounded), stack_trace: stack_in(printed) }
    }

    /// Writes the error on those of the warnings of one failure that it is true of: the ones that warn of the error
    /// that it names. Where none does, the first one keeps it that names no other error, because nothing else says what
    /// was printed. A warning that came with a message or a stack of its own keeps that.
    pub fn write_on<'a>(&self, warnings: impl IntoIterator<Item = &'a mut ErrorContext>) {
        let mut warnings: Vec<&mut ErrorContext> = warnings.into_iter().collect();
        let named = self.message.as_deref().map(|message| Signature::of(message, None));
        let is_named = |warning: &ErrorContext| named.as_ref().is_some_and(|error| error.matches(&warning.signature()));
        if warnings.iter().any(|warning| is_named(warning)) {
            warnings.retain(|warning| is_named(warning));
        } else {
            let names_one = self.message.as_deref().is_some_and(names_error);
            warnings.retain(|warning| !(names_one && names_error(&warning.error_type)));
            warnings.truncate(1);
        }
        for warning in warnings {
            if warning.error_message.is_none() && warning.stack_trace.is_none() {
                warning.error_message.clone_from(&self.message);
                warning.stack_trace.clone_from(&self.stack_trace);
            }
        }
    }
}

/// A pattern for a line of a stack, as Python, the JVM, JavaScript, .NET, Rust and Go print them.
const FRAME: &str =
    r#"^\s*File "[^"]+", line \d+|^\s*at \S.*(?:\)|[:\s]\d+)$|^\s+\d+: .*::|^\t\S+\.go:\d+|^\s*\S+ in .* at \S+:\d+$"#;

static FRAMES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(FRAME).ok());

/// Returns the text from the first line of a stack to the last. None where there is no stack.
fn stack_in(printed: &str) -> Option<String> {
    let frames = FRAMES.as_ref()?;
    let lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
    let first = lines.iter().position(|line| frames.is_match(line))?;
    let last = lines.iter().rposition(|line| frames.is_match(line))?;
    Some(normalised_stack(&lines[first..=last].join("\n")))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::memory::observation::EvidenceKind;

    fn printed(passed: bool, detail: &str) -> PrintedError {
        PrintedError::of(&Observed { kind: EvidenceKind::ExitCode, passed, detail: Some(detail.into()) })
    }

    #[rstest]
    #[case(
        "exit code 1\nran 3 tests\nTraceback (most recent call last):\n  File \"/app/a.py\", line 3, in load\n    \
         return read(path)\n  File \"/app/b.py\", line 9, in read\nValueError: bad literal 'x'",
        Some("ValueError: bad literal 'x'"),
        Some("File \"/app/a.py\", in load\n    return read(path)\n  File \"/app/b.py\", in read")
    )]
    #[case(
        "exit code 101\nthread 'tests::sorts' panicked at src/lib.rs:4:9:\nassertion `left == right` failed\n  left: 1\n \
         right: 2\nnote: run with `RUST_BACKTRACE=1`",
        Some("thread 'tests::sorts' panicked at src/lib.rs:4:9:\nassertion `left == right` failed"),
        None
    )]
    #[case(
        "exit code 1\nTypeError: x is not a function\n    at run (/app/index.js:3:9)\n    at node:internal/main:23:47",
        Some("TypeError: x is not a function"),
        Some("at run (/app/index.js)\n    at node:internal/main")
    )]
    #[case(
        "exit code 1\nerror[E0382]: borrow of moved value: `a`",
        Some("error[E0382]: borrow of moved value: `a`"),
        None
    )]
    #[case("exit code 1\nat least one line is too long\n2 of 3 passed", None, None)]
    #[case("exit code 1", None, None)]
    fn the_message_and_the_stack_are_found(
        #[case] detail: &str,
        #[case] message: Option<&str>,
        #[case] stack: Option<&str>,
    ) {
        let found = printed(false, detail);
        assert_eq!((found.message.as_deref(), found.stack_trace.as_deref()), (message, stack));
        assert_eq!(printed(true, detail), PrintedError::default());
    }

    fn warning_of(error_type: &str) -> ErrorContext {
        ErrorContext {
            error_type: error_type.into(),
            failure_pattern: "the input was not checked".into(),
            corrective_guidance: "check it".into(),
            error_message: None,
            stack_trace: None,
            task_domain: Some("parsing".into()),
        }
    }

    #[rstest]
    #[case::named(&["OffByOne", "ValueError", "builtins.ValueError"], &[false, true, true])]
    #[case::none_is_named(&["OffByOne", "KeyError"], &[true, false])]
    #[case::alone(&["FailedSolution"], &[true])]
    #[case::of_another(&["KeyError"], &[false])]
    #[case::behind_another(&["KeyError", "OffByOne"], &[false, true])]
    fn an_error_is_written_on_the_warnings_that_it_is_true_of(#[case] types: &[&str], #[case] expected: &[bool]) {
        let error = printed(false, "exit code 1\nValueError: bad literal 'x'");
        let mut warnings: Vec<ErrorContext> = types.iter().map(|error_type| warning_of(error_type)).collect();
        error.write_on(&mut warnings);
        let written: Vec<bool> = warnings.iter().map(|warning| warning.error_message == error.message).collect();
        assert_eq!(written, expected);
    }

    #[test]
    fn a_warning_keeps_the_error_that_it_came_with() {
        let own = ErrorContext { error_message: Some("ValueError: empty".into()), ..warning_of("ValueError") };
        let mut warnings = [own.clone()];
        printed(false, "ValueError: bad literal 'x'").write_on(&mut warnings);
        assert_eq!(warnings, [own]);
    }

    #[test]
    fn both_have_their_bounds() {
        let frames = "  at com.acme.Bank.pay(Bank.java:42)\n".repeat(500);
        let found = printed(false, &format!("IOException: {}\n{frames}", "x".repeat(9_000)));
        let chars = |text: Option<String>| text.unwrap().chars().count();
        assert_eq!(chars(found.message), STACK_TRACE_MAX_CHARS);
        assert!(chars(found.stack_trace) <= STACK_TRACE_MAX_CHARS);
    }
}
