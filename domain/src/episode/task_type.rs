//! The kind of a task and how much there was to do, by rules. The words of the task are looked up in a table; the verb
//! that a task begins with counts most.

use crate::memory::Complexity;
use crate::memory::signature::names_error;

/// A word that says what kind of work a task is. A word that almost always means that kind is strong.
struct TypeWords {
    task_type: &'static str,
    strong: &'static [&'static str],
    weak: &'static [&'static str],
}

/// The name of the kind of a task that no word tells.
pub const OTHER_TASK: &str = "other";

const STRONG: u32 = 3;
const WEAK: u32 = 1;
/// The first words of a task, among which a strong word counts twice: people begin with what they want.
const BEGINNING: usize = 3;
/// No more words than these are looked at.
const WORDS_MOST: usize = 400;

/// The kinds, in the order that decides between equals.
const TABLE: [TypeWords; 10] = [
    TypeWords {
        task_type: "debugging",
        strong: &[
            "bug",
            "crash",
            "crashes",
            "debug",
            "deadlock",
            "diagnose",
            "fix",
            "fixes",
            "hang",
            "hangs",
            "panic",
            "panics",
            "regression",
            "repair",
            "segfault",
            "stacktrace",
            "traceback",
        ],
        weak: &[
            "broken",
            "error",
            "exception",
            "fail",
            "failing",
            "fails",
            "failure",
            "flaky",
            "incorrect",
            "leak",
            "race",
            "reproduce",
            "stuck",
            "wrong",
        ],
    },
    TypeWords {
        task_type: "review",
        strong: &["audit", "critique", "proofread", "review"],
        weak: &["diff", "feedback", "pr", "vulnerabilities"],
    },
    TypeWords {
        task_type: "testing",
        strong: &["cover", "coverage", "test", "tests", "testing"],
        weak: &[
            "assert",
            "assertion",
            "fixture",
            "fixtures",
            "integration",
            "jest",
            "mock",
            "proptest",
            "pytest",
            "unit",
        ],
    },
    TypeWords {
        task_type: "documentation",
        strong: &["changelog", "docs", "document", "documentation", "docstring", "docstrings", "readme", "tutorial"],
        weak: &["comment", "comments", "guide", "manual", "wording"],
    },
    TypeWords {
        task_type: "refactoring",
        strong: &[
            "decouple",
            "deduplicate",
            "inline",
            "modernise",
            "modernize",
            "refactor",
            "refactoring",
            "rename",
            "restructure",
            "rewrite",
            "simplify",
            "tidy",
        ],
        weak: &["clean", "cleanup", "duplicate", "extract", "merge", "move", "replace", "reorganise", "split"],
    },
    TypeWords {
        task_type: "deployment",
        strong: &["deploy", "deployment", "publish", "release", "rollback", "rollout", "ship"],
        weak: &["container", "docker", "helm", "k8s", "kubernetes", "pipeline", "production", "staging", "terraform"],
    },
    TypeWords {
        task_type: "configuration",
        strong: &[
            "bump",
            "config",
            "configuration",
            "configure",
            "disable",
            "enable",
            "install",
            "settings",
            "setup",
            "upgrade",
        ],
        weak: &[
            "ci",
            "dependencies",
            "dependency",
            "env",
            "environment",
            "lint",
            "linter",
            "toml",
            "variable",
            "version",
            "workflow",
            "yaml",
        ],
    },
    TypeWords {
        task_type: "data",
        strong: &["backfill", "csv", "dataset", "dataframe", "etl", "migration", "query", "sql"],
        weak: &[
            "aggregate",
            "column",
            "columns",
            "database",
            "join",
            "migrate",
            "pandas",
            "records",
            "rows",
            "schema",
            "table",
        ],
    },
    TypeWords {
        task_type: "research",
        strong: &[
            "analyse",
            "analyze",
            "benchmark",
            "compare",
            "evaluate",
            "explain",
            "explore",
            "investigate",
            "research",
            "survey",
        ],
        weak: &["alternatives", "find", "how", "options", "understand", "whether", "which", "why"],
    },
    TypeWords {
        task_type: "feature",
        strong: &["add", "build", "create", "implement", "introduce", "support", "write"],
        weak: &["allow", "endpoint", "extend", "feature", "function", "let", "make", "new", "page", "parser", "show"],
    },
];

/// Tells the kind of a task from its words: debugging, feature, refactoring, testing, documentation, configuration,
/// deployment, data, research, review or other.
pub fn task_type(task: &str) -> &'static str {
    let words: Vec<String> = task
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(WORDS_MOST)
        .map(str::to_lowercase)
        .collect();
    let mut best = (0, OTHER_TASK);
    for of in &TABLE {
        let counted = |(place, word): (usize, &String)| {
            let word = word.as_str();
            if of.strong.contains(&word) {
                // said again it says nothing more
                let is_first = !words[..place].iter().any(|earlier| earlier == word);
                STRONG * u32::from(is_first) * if place < BEGINNING { 2 } else { 1 }
            } else {
                WEAK * u32::from(of.weak.contains(&word) && !words[..place].iter().any(|earlier| earlier == word))
            }
        };
        let mut score: u32 = words.iter().enumerate().map(counted).sum();
        if of.task_type == "debugging" && names_error(task) {
            score += STRONG;
        }
        if score > best.0 {
            best = (score, of.task_type);
        }
    }
    best.1
}

/// Tells how much there was to do from the goals, the length of the task in characters and the steps of the plan.
pub fn complexity(task: &str, goals: usize, steps: usize) -> Complexity {
    let chars = task.chars().count();
    if goals >= 4 || steps >= 8 || chars >= 2_000 {
        Complexity::High
    } else if goals >= 2 || steps >= 3 || chars >= 300 {
        Complexity::Medium
    } else {
        Complexity::Low
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Tasks as people give them, with the kind that a reader would name. They measure the table: change it and see.
    const LABELLED: [(&str, &str); 44] = [
        ("Fix the off-by-one in the pager", "debugging"),
        ("The login page crashes when the cookie is empty", "debugging"),
        ("KeyError: 'user' in load_session, please look", "debugging"),
        ("Why does the worker hang after the third job? Debug it", "debugging"),
        ("thread 'main' panicked at src/lib.rs:4: index out of bounds", "debugging"),
        ("Diagnose the memory leak in the cache", "debugging"),
        ("Add a flag --json to the list command", "feature"),
        ("Implement retries with exponential backoff in the HTTP client", "feature"),
        ("Write a function that parses ISO dates", "feature"),
        ("Create a page for the user's profile", "feature"),
        ("Support webhooks for new orders", "feature"),
        ("Build a small CLI that counts words", "feature"),
        ("Refactor the parser into smaller functions", "refactoring"),
        ("Rename Shelf to OwnerIndex everywhere", "refactoring"),
        ("Simplify the state machine of the uploader", "refactoring"),
        ("Split the large module and move the helpers out", "refactoring"),
        ("Rewrite the scheduler without global state", "refactoring"),
        ("Add tests for the tokenizer", "testing"),
        ("Write unit tests for the date parser with pytest", "testing"),
        ("Raise the coverage of the billing module", "testing"),
        ("Test that the lock is released after a timeout", "testing"),
        ("Document the configuration options in the README", "documentation"),
        ("Write docstrings for the public API", "documentation"),
        ("Update the changelog for 2.1", "documentation"),
        ("Write a tutorial on custom plugins", "documentation"),
        ("Configure eslint and prettier for the monorepo", "configuration"),
        ("Bump serde to the newest version", "configuration"),
        ("Enable strict mode in tsconfig", "configuration"),
        ("Install the dependencies and set the env variables", "configuration"),
        ("Upgrade the CI workflow to node 22", "configuration"),
        ("Deploy the service to staging", "deployment"),
        ("Publish version 1.4.0 to crates.io", "deployment"),
        ("Roll out the new image with helm: deploy and watch", "deployment"),
        ("Prepare the release of the mobile app", "deployment"),
        ("Write a SQL query for the monthly revenue per customer", "data"),
        ("Backfill the column created_at from the audit rows", "data"),
        ("Convert the csv into a dataframe and aggregate by week", "data"),
        ("Investigate which vector database fits us", "research"),
        ("Compare tokio and async-std for our use", "research"),
        ("Explain how the journal is replayed", "research"),
        ("Review the pull request about caching", "review"),
        ("Audit the authentication code for vulnerabilities", "review"),
        ("Please review this diff", "review"),
        ("Hello there", "other"),
    ];

    #[test]
    fn most_tasks_get_the_kind_that_a_reader_names() {
        let wrong: Vec<_> = LABELLED
            .iter()
            .filter(|(task, expected)| task_type(task) != *expected)
            .map(|(task, expected)| format!("{task:?}: {} and not {expected}", task_type(task)))
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[rstest]
    #[case("Fix it", 0, 0, Complexity::Low)]
    #[case("Fix it", 2, 0, Complexity::Medium)]
    #[case("Fix it", 0, 3, Complexity::Medium)]
    #[case(&"x".repeat(300), 1, 1, Complexity::Medium)]
    #[case("Fix it", 4, 0, Complexity::High)]
    #[case("Fix it", 0, 8, Complexity::High)]
    #[case(&"x".repeat(2_000), 0, 0, Complexity::High)]
    fn complexity_follows_from_goals_length_and_plan(
        #[case] task: &str,
        #[case] goals: usize,
        #[case] steps: usize,
        #[case] expected: Complexity,
    ) {
        assert_eq!(complexity(task, goals, steps), expected);
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_a_kind_of_the_table(task in ".{0,400}") {
            let kind = task_type(&task);
            proptest::prop_assert!(kind == OTHER_TASK || TABLE.iter().any(|of| of.task_type == kind));
        }
    }
}
