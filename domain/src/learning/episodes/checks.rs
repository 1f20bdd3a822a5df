//! The outcome of an episode by its checks: tests, builds and linters. A check that failed counts until it passes, or
//! one that includes it does.

use super::calls::{CallStep, NamedCall};
use super::command_line::Fate;

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

/// Checks with another one that they include: who runs tests builds first, and the script of a package that tests it
/// runs the one or the other runner.
const INCLUDED: [(&str, &str); 22] = [
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
    ("jest", "npm test"),
    ("jest", "pnpm test"),
    ("jest", "yarn test"),
    ("npm test", "jest"),
    ("npm test", "vitest"),
    ("pnpm test", "jest"),
    ("pnpm test", "vitest"),
    ("vitest", "npm test"),
    ("vitest", "pnpm test"),
    ("vitest", "yarn test"),
    ("yarn test", "jest"),
    ("yarn test", "vitest"),
];

/// Parts of the names of targets of a makefile that check something.
const TARGETS: [&str; 10] = ["all", "build", "check", "ci", "compile", "lint", "test", "tests", "typecheck", "verify"];

/// Tells whether a step of a call checks the work.
pub(super) fn is_check(step: &CallStep<'_>) -> bool {
    CHECKS.contains(&step.name.as_str()) && (step.name != "make" || checks_targets(&step.chosen()))
}

impl<'a> NamedCall<'a> {
    /// Returns what may be to blame where this failed: its checks, or else what changes something, or else all of it.
    pub(super) fn blamed(&self) -> Vec<&CallStep<'a>> {
        let blamed = || self.steps.iter().filter(|step| step.fate.is_blamed());
        let only = |is_wanted: fn(&CallStep<'a>) -> bool| blamed().filter(|step| is_wanted(step)).collect::<Vec<_>>();
        let wanted: [fn(&CallStep<'a>) -> bool; 3] = [|step| is_check(step), |step| step.changes(), |_| true];
        wanted.into_iter().map(only).find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// Tells whether this may have changed something of the work, and did not only check it.
    pub(super) fn changes_the_work(&self) -> bool {
        self.steps.iter().any(|step| !is_check(step) && step.changes())
    }
}

/// Tells whether a makefile checks something for these words: it has no target, or one whose name says so.
fn checks_targets(words: &[&str]) -> bool {
    let of_option = |place: usize| place.checked_sub(1).is_some_and(|before| words[before] == "-C");
    let targets = words.iter().enumerate().filter(|(place, word)| !word.contains('=') && !of_option(*place));
    let mut targets = targets.map(|(_, word)| *word).filter(|word| !word.starts_with('-')).peekable();
    targets.peek().is_none()
        || targets.any(|target| target.split(['-', '_', '.', ':', '/']).any(|part| TARGETS.contains(&part)))
}

/// The end of a check that failed, as later checks tell it.
#[derive(Clone, Copy, PartialEq)]
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
    let checks_of = |call: &'a NamedCall<'_>| call.steps.iter().filter(|step| is_check(step));
    let mut is_unknown = false;
    for (place, call) in calls.iter().enumerate().rev() {
        let failed: Vec<&CallStep<'_>> = checks_of(call).filter(|check| check.fate.is_blamed()).collect();
        let Some(named) = failed.last() else { continue };
        let after: Vec<&CallStep<'_>> = calls[place + 1..].iter().flat_map(checks_of).collect();
        let fates: Vec<Later> = failed.iter().map(|check| later(check, &after)).collect();
        // One of several failed. Where only some of them passed since, nobody knows which.
        if fates.iter().all(|fate| *fate == Later::Nothing) {
            return Some((&named.name, false));
        }
        is_unknown |= fates.iter().any(|fate| *fate != Later::Passed);
    }
    let checks: Vec<&CallStep<'_>> = calls.iter().flat_map(checks_of).collect();
    let last = checks.iter().rposition(|check| check.fate != Fate::Unknown)?;
    let (check, later) = (checks[last], &checks[last + 1..]);
    let ran_again = later.iter().any(|later| later.name == check.name);
    (!is_unknown && !ran_again && check.fate == Fate::Passed).then_some((&*check.name, true))
}

fn later(failed: &CallStep<'_>, later: &[&CallStep<'_>]) -> Later {
    let includes = |of: &CallStep<'_>| {
        let is_wider = INCLUDED.contains(&(of.name.as_str(), failed.name.as_str()));
        (is_wider || of.name == failed.name) && of.covers(failed)
    };
    if later.iter().any(|of| of.fate == Fate::Passed && includes(of)) {
        return Later::Passed;
    }
    let is_open = |of: &&CallStep<'_>| match of.fate {
        Fate::Unknown => of.name == failed.name,
        Fate::Passed => failed.repeats(of),
        Fate::Failed | Fate::MayHaveFailed => false,
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
    #[case(&[("pytest t -q", Some(false)), ("sed -i s/a/b/ x && pytest t -q", Some(true))], Some(("pytest", true)))]
    #[case(&[("npm run build", Some(false)), ("npm run lint && npm run build", Some(true))], Some(("npm build", true)))]
    #[case(&[("pytest", Some(false)), ("pytest; echo done", Some(true))], None)]
    #[case(&[("pytest", Some(false)), ("pytest || true", Some(true))], None)]
    #[case(&[("pytest", Some(false)), ("true && mypy; echo", Some(true))], Some(("pytest", false)))]
    #[case(&[("mypy . && pytest", Some(false)), ("mypy .", Some(true))], None)]
    #[case(&[("mypy . && pytest", Some(false)), ("pytest", Some(true)), ("mypy", Some(true))], Some(("mypy", true)))]
    #[case(&[("sed -i s/a/b/ x && pytest", Some(false))], Some(("pytest", false)))]
    #[case(&[("mypy . && pytest", Some(false)), ("ruff check .", Some(true))], Some(("pytest", false)))]
    #[case(&[("npm test", Some(false)), ("npx vitest run", Some(true))], Some(("vitest", true)))]
    #[case(&[("npm test", Some(false)), ("npx vitest run src/a.test.ts", Some(true))], Some(("npm test", false)))]
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
