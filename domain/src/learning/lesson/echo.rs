//! Echoes: whether a text repeats what the model was shown instead of saying what it learned. What counts is how much
//! of the text itself is repeated, as it is legitimate to quote a line of the task, of a solution or of an error. Only
//! letters and digits are compared, without regard to case, so other spacing, punctuation or markup hides no echo.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use crate::prompt::{Prompts, Template};

/// The shortest run of characters that two texts do not share by chance.
const SHARED: usize = 20;
/// The shortest run of characters that only the instructions have.
const OF_INSTRUCTIONS: usize = 40;
/// A text of fewer characters is an echo only as a whole, because there are few ways to name a thing.
const LEAST: usize = 60;
/// The least share of a text that must be repeated to make the text an echo.
const MOST: f64 = 0.8;

/// The texts that a model was shown when it was asked for lessons.
#[derive(Debug, Clone, PartialEq)]
pub struct LessonContext<'a> {
    pub task: &'a str,
    /// The drafts and solutions that were made of the task.
    pub solutions: Vec<&'a str>,
    pub prompts: &'a Prompts,
}

/// The texts that a model was shown, prepared for comparison.
pub(super) struct Echoes {
    task: Bare,
    solutions: Vec<Bare>,
    /// Every run of the instructions that a user wrote.
    own_instructions: HashSet<u64>,
}

impl Echoes {
    pub(super) fn of(shown: &LessonContext<'_>) -> Self {
        Self {
            task: Bare::of(shown.task),
            solutions: shown.solutions.iter().map(|text| Bare::of(text)).collect(),
            own_instructions: runs(shown.prompts.own_instructions()),
        }
    }

    /// Tells whether a text is little else than the task, a piece of it or a whole solution, or has a run of the
    /// instructions in it.
    pub(super) fn is_echo(&self, text: &str) -> bool {
        let text = Bare::of(text);
        self.repeats_all(&text)
            || (text.chars.len() >= LEAST && text.share_within(&self.task) >= MOST)
            || self.says_instructions(&text)
    }

    /// Tells whether a text that names a failure is an echo. In contrast to [`Echoes::is_echo`] it may be a piece of
    /// the task, because the task may well quote the error.
    pub(super) fn is_echo_of_all(&self, pattern: &str) -> bool {
        let pattern = Bare::of(pattern);
        self.repeats_all(&pattern) || self.says_instructions(&pattern)
    }

    /// Tells whether a title is an echo as in [`Echoes::is_echo`]. A short title is none, because it may well have the
    /// words of a short task.
    pub(super) fn is_long_echo(&self, title: &str) -> bool {
        Bare::of(title).chars.len() >= LEAST && self.is_echo(title)
    }

    /// Tells whether a text is the whole task, or a whole solution, and little else.
    fn repeats_all(&self, text: &Bare) -> bool {
        let sources = || std::iter::once(&self.task).chain(&self.solutions).filter(|source| !source.chars.is_empty());
        let is_most = |source: &Bare| {
            text.chars.len() >= LEAST && text.share_within(source) >= MOST && source.share_within(text) >= MOST
        };
        sources().any(|source| text.chars == source.chars || is_most(source))
    }

    fn says_instructions(&self, text: &Bare) -> bool {
        let said = |run: u64| instructions().contains(&run) || self.own_instructions.contains(&run);
        text.chars.windows(OF_INSTRUCTIONS).any(|run| said(hash(run)))
    }
}

/// The runs of instructions, to find texts that repeat them.
pub(crate) struct InstructionRuns(HashSet<u64>);

impl InstructionRuns {
    pub(crate) fn of(instructions: impl Iterator<Item = String>) -> Self {
        Self(runs(instructions))
    }

    /// Tells whether a text has a run of the instructions in it.
    pub(crate) fn has_run_of(&self, text: &str) -> bool {
        bare(text).windows(OF_INSTRUCTIONS).any(|run| self.0.contains(&hash(run)))
    }
}

/// The letters and digits of a text, in lowercase.
struct Bare {
    chars: Vec<char>,
    /// The hashes of all its runs of [`SHARED`] characters.
    runs: HashSet<u64>,
}

impl Bare {
    fn of(text: &str) -> Self {
        let chars = bare(text);
        let runs = chars.windows(SHARED).map(hash).collect();
        Self { chars, runs }
    }

    /// Returns the share of its characters that stand in a run which the other text has as well, in 0..=1.
    fn share_within(&self, other: &Self) -> f64 {
        let (mut shared, mut counted_to) = (0, 0);
        for (at, run) in self.chars.windows(SHARED).enumerate() {
            if other.runs.contains(&hash(run)) {
                let end = at + SHARED;
                shared += end - counted_to.max(at);
                counted_to = end;
            }
        }
        shared as f64 / self.chars.len().max(1) as f64
    }
}

fn bare(text: &str) -> Vec<char> {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn hash(run: &[char]) -> u64 {
    let mut hasher = DefaultHasher::new();
    run.hash(&mut hasher);
    hasher.finish()
}

/// Returns every run of the built-in instructions of the calls that ask for lessons.
fn instructions() -> &'static HashSet<u64> {
    static RUNS: LazyLock<HashSet<u64>> = LazyLock::new(|| {
        let asking = Template::ALL.into_iter().filter(|template| template.asks_for_items());
        runs(asking.map(Template::instructions))
    });
    &RUNS
}

fn runs(texts: impl Iterator<Item = String>) -> HashSet<u64> {
    texts.flat_map(|text| bare(&text).windows(OF_INSTRUCTIONS).map(hash).collect::<Vec<_>>()).collect()
}
