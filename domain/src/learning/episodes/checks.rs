//! The outcome of an episode by its checks: tests, builds and linters. A check that failed counts until it passes, or
//! one that includes it does.

use super::calls::NamedCall;

/// The calls that check the work.
const CHECKS: [&str; 33] = [
    "bun test",
    "cargo build",
    "cargo check",
    "cargo clippy",
    "cargo nextest",
    "cargo test",
    "ctest",
    "deno test",
    "dotnet build",
    "dotnet test",
    "eslint",
    "go build",
    "go test",
    "go vet",
    "gradle test",
    "jest",
    "make",
    "mix test",
    "mvn test",
    "mypy",
    "npm build",
    "npm test",
    "phpunit",
    "pnpm test",
    "pytest",
    "rspec",
    "ruff",
    "swift test",
    "tox",
    "tsc",
    "unittest",
    "vitest",
    "yarn test",
];

/// Checks with another one that they include: who runs tests builds first.
const INCLUDED: [(&str, &str); 10] = [
    ("cargo build", "cargo check"),
    ("cargo clippy", "cargo check"),
    ("cargo nextest", "cargo build"),
    ("cargo nextest", "cargo check"),
    ("cargo nextest", "cargo test"),
    ("cargo test", "cargo build"),
    ("cargo test", "cargo check"),
    ("cargo test", "cargo nextest"),
    ("dotnet test", "dotnet build"),
    ("go test", "go build"),
];

/// Parts of the names of targets of a makefile that check something.
const TARGETS: [&str; 10] = ["all", "build", "check", "ci", "compile", "lint", "test", "tests", "typecheck", "verify"];

/// Tells whether a call checks the work.
pub(super) fn is_check(call: &NamedCall<'_>) -> bool {
    CHECKS.contains(&call.name.as_str()) && (call.name != "make" || checks_targets(&call.chosen()))
}

/// Tells whether a makefile checks something for these words: it has no target, or one whose name says so.
fn checks_targets(words: &[&str]) -> bool {
    let of_option = |place: usize| place.checked_sub(1).is_some_and(|before| words[before] == "-C");
    let targets = words.iter().enumerate().filter(|(place, word)| !word.contains('=') && !of_option(*place));
    let mut targets = targets.map(|(_, word)| *word).filter(|word| !word.starts_with('-')).peekable();
    targets.peek().is_none()
        || targets.any(|target| target.split(['-', '_', '.', ':', '/']).any(|part| TARGETS.contains(&part)))
}

/// The fate of a check that failed.
#[derive(PartialEq)]
enum Later {
    /// It passed, or one that includes it did.
    Passed,
    /// It ran again in part, or nothing tells how it ended.
    Unknown,
    Nothing,
}

/// Returns the name of the check that decides, and whether it passed: the last one that failed and was not cleared, or
/// else the last one. None where there is none, or nothing tells how one ended.
pub(super) fn verdict<'a>(calls: &'a [NamedCall<'_>]) -> Option<(&'a str, bool)> {
    let checks: Vec<&NamedCall<'_>> = calls.iter().filter(|call| is_check(call)).collect();
    let mut is_unknown = false;
    for (place, check) in checks.iter().enumerate().rev().filter(|(_, check)| check.call.succeeded == Some(false)) {
        match later(check, &checks[place + 1..]) {
            Later::Passed => {}
            Later::Unknown => is_unknown = true,
            Later::Nothing => return Some((&check.name, false)),
        }
    }
    let last = checks.iter().rposition(|check| check.call.succeeded.is_some())?;
    let (check, later) = (checks[last], &checks[last + 1..]);
    let ran_again = later.iter().any(|later| later.name == check.name);
    (!is_unknown && !ran_again && check.call.succeeded == Some(true)).then_some((&*check.name, true))
}

fn later(failed: &NamedCall<'_>, later: &[&NamedCall<'_>]) -> Later {
    let includes = |of: &NamedCall<'_>| {
        let is_wider = INCLUDED.contains(&(of.name.as_str(), failed.name.as_str()));
        (is_wider || of.name == failed.name) && of.covers(failed)
    };
    if later.iter().any(|of| of.call.succeeded == Some(true) && includes(of)) {
        return Later::Passed;
    }
    let is_open = |of: &&NamedCall<'_>| match of.call.succeeded {
        None => of.name == failed.name,
        Some(passed) => passed && failed.repeats(of),
    };
    if later.iter().any(is_open) { Later::Unknown } else { Later::Nothing }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::learning::transcript::ToolCall;

    #[rstest]
    #[case(&[("cargo test", Some(false)), ("cargo test", Some(true))], Some(("cargo test", true)))]
    #[case(&[("cargo test", Some(false)), ("cargo check", Some(true))], Some(("cargo test", false)))]
    #[case(&[("cargo check", Some(false)), ("cargo test", Some(true))], Some(("cargo test", true)))]
    #[case(&[("cargo test", Some(false)), ("make clean", Some(true))], Some(("cargo test", false)))]
    #[case(&[("cargo test", Some(false)), ("make test", Some(true))], Some(("cargo test", false)))]
    #[case(&[("cargo test -p a", Some(false)), ("cargo test -p b", Some(true))], Some(("cargo test", false)))]
    #[case(&[("cargo test -p a", Some(false)), ("cargo test", Some(true))], Some(("cargo test", true)))]
    #[case(&[("pytest", Some(false)), ("pytest tests/test_a.py", Some(true))], None)]
    #[case(&[("pytest", Some(false)), ("pytest", None)], None)]
    #[case(&[("pytest", Some(false)), ("pytest", None), ("mypy", Some(true))], None)]
    #[case(&[("mypy", Some(true)), ("pytest", Some(false))], Some(("pytest", false)))]
    #[case(&[("pytest", Some(true)), ("mypy", Some(true))], Some(("mypy", true)))]
    #[case(&[("make clean", Some(true))], None)]
    #[case(&[("make -C sub", Some(true))], Some(("make", true)))]
    #[case(&[("make -j 4 unit-test V=1", Some(true))], Some(("make", true)))]
    fn a_failed_check_counts_until_one_passes_that_includes_it(
        #[case] ran: &[(&str, Option<bool>)],
        #[case] expected: Option<(&str, bool)>,
    ) {
        let call = |(line, succeeded): &(&str, Option<bool>)| {
            let (tool, input) = ("Bash".to_owned(), (*line).to_owned());
            ToolCall { tool, input, succeeded: *succeeded, ..ToolCall::default() }
        };
        let calls: Vec<ToolCall> = ran.iter().map(call).collect();
        let calls: Vec<NamedCall<'_>> = calls.iter().map(NamedCall::of).collect();
        assert_eq!(verdict(&calls), expected);
    }
}
