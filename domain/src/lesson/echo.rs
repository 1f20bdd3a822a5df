//! Whether a text repeats what the model was shown instead of saying what it learned. Letters and digits alone are
//! compared, without regard to case: other spacing, punctuation or markup hides no echo.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::validate::Shown;
use crate::prompt::Template;

/// Letters and digits that are the same by chance in no two texts.
const RUN: usize = 40;
/// Shorter ones are echoed only by a text that says nothing else.
const LEAST_WITHIN: usize = 60;

/// What was shown, prepared for comparison.
pub(super) struct Echoes {
    task: String,
    solutions: Vec<String>,
}

impl Echoes {
    pub(super) fn of(shown: &Shown<'_>) -> Self {
        Self { task: bare(shown.task), solutions: shown.solutions.iter().map(|solution| bare(solution)).collect() }
    }

    /// The task or a whole solution said again, a piece of the task, or a run of the instructions.
    pub(super) fn is_echo(&self, text: &str) -> bool {
        let text = bare(text);
        let sources = || std::iter::once(&self.task).chain(&self.solutions).filter(|source| !source.is_empty());
        sources().any(|source| text == *source || (source.len() >= LEAST_WITHIN && mostly_within(source, &text)))
            || (text.len() >= LEAST_WITHIN && mostly_within(&text, &self.task))
            || runs(&text, 1).any(|run| instructions().contains(run))
    }

    /// As [`Echoes::is_echo`], of a text that may well have the words of a short task.
    pub(super) fn is_long_echo(&self, title: &str) -> bool {
        bare(title).len() >= LEAST_WITHIN && self.is_echo(title)
    }
}

/// Most of the runs of `part` stand in `whole`.
fn mostly_within(part: &str, whole: &str) -> bool {
    const MOST: f64 = 0.8;
    let count = runs(part, RUN).count();
    if count == 0 || (whole.len() as f64) < MOST * 0.5 * part.len() as f64 {
        return count == 0 && whole.contains(part);
    }
    runs(part, RUN).filter(|run| whole.contains(run)).count() as f64 >= MOST * count as f64
}

/// Its pieces of [`RUN`] characters, one every `step` characters; a shorter rest is none.
fn runs(text: &str, step: usize) -> impl Iterator<Item = &str> {
    let starts = text.char_indices().map(|(at, _)| at);
    let ends = starts.clone().chain([text.len()]).skip(RUN);
    starts.zip(ends).step_by(step).map(|(from, to)| &text[from..to])
}

fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Every run of the instructions of the calls that ask for lessons.
fn instructions() -> &'static HashSet<String> {
    static RUNS: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let asking = Template::ALL.into_iter().filter(|template| template.asks_for_items());
        let texts: Vec<String> = asking.map(|template| bare(&template.instructions())).collect();
        texts.iter().flat_map(|text| runs(text, 1)).map(str::to_owned).collect()
    });
    &RUNS
}
