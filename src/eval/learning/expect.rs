//! The expectations of a step. An expectation is either of presence (something is there, or happened) or of absence
//! (something is not there). `judge` decides how each is met.

use std::collections::BTreeMap;

use reasoning_bank_domain::memory::trace::Outcome;
use reasoning_bank_domain::retrieval::responses::RecordStatus;
use serde::Deserialize;

/// The expectations of one step. They name lessons as earlier steps named them.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Expectations {
    // ---- of what the step answered ----
    pub(super) refused: bool,
    /// The status that a record answers with.
    pub(super) status: Option<RecordStatus>,
    /// The lesson that a record confirms.
    pub(super) same_as: Option<String>,
    /// A capture keeps its exchange, or refuses it.
    pub(super) kept: Option<bool>,
    /// The outcome of a solve.
    pub(super) outcome: Option<Outcome>,
    pub(super) injected: Vec<String>,
    pub(super) not_injected: Vec<String>,
    /// The lesson that a retrieve answers first.
    pub(super) first: Option<String>,
    pub(super) order: Vec<String>,
    pub(super) shown: Vec<String>,
    pub(super) not_shown: Vec<String>,
    pub(super) outdated: BTreeMap<String, String>,
    pub(super) not_outdated: Vec<String>,
    pub(super) contested: BTreeMap<String, String>,

    // ---- of what the step changed ----
    /// The confidence of these lessons is higher after the step than before it.
    pub(super) rises: Vec<String>,
    pub(super) falls: Vec<String>,
    pub(super) steady: Vec<String>,
    /// The usage of these lessons is higher after the step than before it.
    pub(super) counted: Vec<String>,

    // ---- of what newer memories make of older ones ----
    /// Newer memories took the place of these older ones, which are out of search.
    pub(super) superseded: BTreeMap<String, String>,
    pub(super) not_superseded: Vec<String>,
    /// Newer memories are found to update these older ones.
    pub(super) linked: BTreeMap<String, String>,
    pub(super) not_linked: Vec<String>,

    // ---- of what the project holds after it ----
    pub(super) memories: Option<usize>,
    pub(super) there: Vec<ExpectedLesson>,
    pub(super) not_there: Vec<ExpectedLesson>,
    pub(super) traces: Vec<ExpectedTrace>,
    pub(super) success_rate: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LessonKind {
    Strategy,
    Warning,
}

/// A lesson by its kind and by words. One memory must hold all of the words, in any case.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectedLesson {
    pub(super) kind: Option<LessonKind>,
    #[serde(default)]
    pub(super) holds: Vec<String>,
}

/// A trace by words of its task and by its outcome.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectedTrace {
    pub(super) task: String,
    pub(super) outcome: Outcome,
}

impl Expectations {
    /// Lists all lessons that the expectations name.
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        let lists = [
            &self.injected,
            &self.not_injected,
            &self.order,
            &self.shown,
            &self.not_shown,
            &self.not_outdated,
            &self.rises,
            &self.falls,
            &self.steady,
            &self.counted,
            &self.not_superseded,
            &self.not_linked,
        ];
        let pairs = [&self.outdated, &self.contested, &self.superseded, &self.linked].into_iter().flatten();
        let pairs = pairs.flat_map(|(older, newer)| [older, newer]);
        lists.into_iter().flatten().chain(self.same_as.iter().chain(&self.first)).chain(pairs)
    }

    /// Lists the lessons that may have a newer memory in their place, or be linked to one.
    pub(super) fn succeeded(&self) -> impl Iterator<Item = &String> {
        let older = self.superseded.keys().chain(self.linked.keys());
        older.chain(&self.not_superseded).chain(&self.not_linked)
    }

    /// Lists the lessons whose confidence or usage is compared.
    pub(super) fn compared(&self) -> impl Iterator<Item = &String> {
        [&self.rises, &self.falls, &self.steady, &self.counted].into_iter().flatten()
    }
}
