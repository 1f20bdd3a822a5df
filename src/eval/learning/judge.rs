//! The judgement of a step: its expectations are held against what was seen after it, and each was met or not. Nothing
//! here reads or writes.

use std::collections::BTreeMap;

use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::trace::Outcome;
use reasoning_bank_domain::note::Note;
use reasoning_bank_domain::retrieval::responses::RecordStatus;

use super::expect::{Expectations, ExpectedLesson, LessonKind};

/// A confidence that moves by less has not moved: time alone moves it a little.
const LEAST_MOVE: f64 = 1e-4;

/// The answer of a step, and what the project holds after it. What no expectation asks about may be left empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct StepObservation {
    /// The ids of lessons by the names that the scenario gives them. A lesson that was not learned has none.
    pub(super) ids: BTreeMap<String, MemoryId>,
    /// The reason for which the step was refused.
    pub(super) refusal: Option<String>,
    pub(super) recorded: Option<(RecordStatus, MemoryId)>,
    /// The decision of a capture to keep its exchange, and the reason.
    pub(super) kept: Option<(bool, String)>,
    pub(super) outcome: Option<Outcome>,
    pub(super) injected: Vec<MemoryId>,
    /// The memories of an answer, best first.
    pub(super) shown: Vec<RetrievedMemory>,
    /// The confidence before the step and after it, by the names of lessons.
    pub(super) confidence: BTreeMap<String, (f64, f64)>,
    pub(super) usage: BTreeMap<String, (u64, u64)>,
    /// The successors, by the names of lessons.
    pub(super) successors: BTreeMap<String, SuccessorIds>,
    pub(super) lessons: Vec<LessonText>,
    /// The notes of the product about its own work, such as lessons that it refused.
    pub(super) notes: Vec<Note>,
    /// The tasks of traces, and their outcomes.
    pub(super) traces: Vec<(String, Outcome)>,
    pub(super) success_rate: f64,
}

/// A memory of an answer to a query.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RetrievedMemory {
    pub(super) id: MemoryId,
    pub(super) title: String,
    pub(super) outdated_by: Option<MemoryId>,
    pub(super) contested_by: Option<MemoryId>,
}

/// The newer memory that supersedes a memory, and the one that it is linked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct SuccessorIds {
    pub(super) superseded_by: Option<MemoryId>,
    pub(super) linked_to: Option<MemoryId>,
}

/// A memory of the project.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LessonText {
    pub(super) title: String,
    pub(super) warning: bool,
    /// The text holds everything that the memory says.
    pub(super) text: String,
}

/// Says whether something has to be there, or must not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpectationKind {
    Presence,
    Absence,
}

/// One expectation, and whether it was met.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExpectationResult {
    pub(super) expects: ExpectationKind,
    pub(super) holds: bool,
    pub(super) expected: String,
    /// A description of what was there instead.
    pub(super) seen: String,
}

/// Judges every expectation. A refusal that no expectation allows adds one that is not met.
pub(super) fn judge(expect: &Expectations, seen: &StepObservation) -> Vec<ExpectationResult> {
    let mut judged = Judging { seen, judged: Vec::new() };
    judged.answer(expect);
    judged.retrieval(expect);
    judged.changes(expect);
    judged.succession(expect);
    judged.holdings(expect);
    judged.judged
}

struct Judging<'a> {
    seen: &'a StepObservation,
    judged: Vec<ExpectationResult>,
}

impl Judging<'_> {
    fn add(&mut self, expects: ExpectationKind, holds: bool, expected: String, seen: String) {
        self.judged.push(ExpectationResult { expects, holds, expected, seen });
    }

    fn present(&mut self, holds: bool, expected: impl Into<String>, seen: impl Into<String>) {
        self.add(ExpectationKind::Presence, holds, expected.into(), seen.into());
    }

    fn absent(&mut self, holds: bool, expected: impl Into<String>, seen: impl Into<String>) {
        self.add(ExpectationKind::Absence, holds, expected.into(), seen.into());
    }

    fn id(&self, name: &str) -> Option<MemoryId> {
        self.seen.ids.get(name).copied()
    }

    /// Returns what the scenario calls a memory, or else `otherwise`.
    fn name_of(&self, id: MemoryId, otherwise: &str) -> String {
        let named = self.seen.ids.iter().find(|(_, named)| **named == id);
        named.map_or_else(|| otherwise.to_owned(), |(name, _)| name.clone())
    }

    fn noted(&self, seen: String) -> String {
        let notes: Vec<String> = self.seen.notes.iter().map(Note::to_string).collect();
        if notes.is_empty() { seen } else { format!("{seen} ({})", notes.join("; ")) }
    }

    fn answer(&mut self, expect: &Expectations) {
        let seen = self.seen;
        let refusal = seen.refusal.clone().unwrap_or_else(|| "the step was done".into());
        match (expect.refused, &seen.refusal) {
            (true, refused) => self.present(refused.is_some(), "the step is refused", refusal),
            (false, Some(_)) => self.present(false, "the step is done", refusal),
            (false, None) => {}
        }
        if let Some(status) = expect.status {
            let word = |status: RecordStatus| match status {
                RecordStatus::Created => "created",
                RecordStatus::Reinforced => "reinforced",
            };
            let recorded = seen.recorded.map(|(status, id)| match status {
                RecordStatus::Created => "created".to_owned(),
                RecordStatus::Reinforced => format!("reinforced {}", self.name_of(id, "another lesson")),
            });
            let holds = seen.recorded.is_some_and(|(recorded, _)| recorded == status);
            self.present(holds, format!("the lesson is {}", word(status)), recorded.unwrap_or_else(nothing));
        }
        if let Some(name) = &expect.same_as {
            let holds = seen.recorded.is_some_and(|(_, id)| self.id(name) == Some(id));
            let other = seen.recorded.map(|(_, id)| self.name_of(id, "another lesson"));
            self.present(holds, format!("it is {name}"), other.unwrap_or_else(nothing));
        }
        if let Some(expected) = expect.kept {
            let (is_kept, why) = seen.kept.clone().unwrap_or_else(|| (false, nothing()));
            match expected {
                true => self.present(is_kept, "the exchange is kept", why),
                false => self.absent(!is_kept, "the exchange is not kept", why),
            }
        }
        if let Some(outcome) = expect.outcome {
            let ended = seen.outcome.map_or_else(nothing, |outcome| outcome.as_str().to_owned());
            self.present(seen.outcome == Some(outcome), format!("the outcome is {}", outcome.as_str()), ended);
        }
        let injected = self.noted(list(seen.injected.iter().map(|id| self.name_of(*id, "another lesson"))));
        for name in &expect.injected {
            let holds = self.id(name).is_some_and(|id| seen.injected.contains(&id));
            self.present(holds, format!("{name} is told to the model"), injected.clone());
        }
        for name in &expect.not_injected {
            let holds = self.id(name).is_none_or(|id| !seen.injected.contains(&id));
            self.absent(holds, format!("{name} is not told to the model"), injected.clone());
        }
    }

    fn retrieval(&mut self, expect: &Expectations) {
        let seen = self.seen;
        let all = list(seen.shown.iter().map(|shown| self.name_of(shown.id, &format!("{:?}", shown.title))));
        let place = |judging: &Self, name: &str| {
            let id = judging.id(name)?;
            seen.shown.iter().position(|shown| shown.id == id)
        };
        if let Some(name) = &expect.first {
            self.present(place(self, name) == Some(0), format!("{name} is shown first"), all.clone());
        }
        if !expect.order.is_empty() {
            let places: Vec<Option<usize>> = expect.order.iter().map(|name| place(self, name)).collect();
            let holds = places.iter().all(Option::is_some) && places.is_sorted();
            self.present(holds, format!("shown in the order {}", expect.order.join(", ")), all.clone());
        }
        for name in &expect.shown {
            self.present(place(self, name).is_some(), format!("{name} is shown"), all.clone());
        }
        for name in &expect.not_shown {
            self.absent(place(self, name).is_none(), format!("{name} is not shown"), all.clone());
        }
        let mark = |judging: &Self, name: &str, of: fn(&RetrievedMemory) -> Option<MemoryId>| {
            place(judging, name).and_then(|place| of(&seen.shown[place]))
        };
        let marked =
            |judging: &Self, by: Option<MemoryId>| by.map_or_else(nothing, |id| judging.name_of(id, "another lesson"));
        for (older, newer) in &expect.outdated {
            let by = mark(self, older, |shown| shown.outdated_by);
            let holds = by.is_some() && by == self.id(newer);
            self.present(holds, format!("{older} is outdated by {newer}"), marked(self, by));
        }
        for (one, other) in &expect.contested {
            let by = mark(self, one, |shown| shown.contested_by);
            let holds = by.is_some() && by == self.id(other);
            self.present(holds, format!("{one} is contested by {other}"), marked(self, by));
        }
        for name in &expect.not_outdated {
            let by = mark(self, name, |shown| shown.outdated_by);
            self.absent(by.is_none(), format!("{name} is not outdated"), format!("outdated by {}", marked(self, by)));
        }
    }

    fn changes(&mut self, expect: &Expectations) {
        let seen = self.seen;
        let moved = |name: &str| seen.confidence.get(name).copied();
        let words =
            |name: &str| moved(name).map_or_else(nothing, |(before, after)| format!("from {before:.3} to {after:.3}"));
        let by = |name: &str| moved(name).map(|(before, after)| after - before);
        for name in &expect.rises {
            let holds = by(name).is_some_and(|by| by > LEAST_MOVE);
            self.present(holds, format!("the confidence of {name} rises"), words(name));
        }
        for name in &expect.falls {
            let holds = by(name).is_some_and(|by| by < -LEAST_MOVE);
            self.present(holds, format!("the confidence of {name} falls"), words(name));
        }
        for name in &expect.steady {
            let holds = by(name).is_none_or(|by| by.abs() <= LEAST_MOVE);
            self.absent(holds, format!("the confidence of {name} does not move"), words(name));
        }
        for name in &expect.counted {
            let used = seen.usage.get(name);
            let words = used.map_or_else(nothing, |(before, after)| format!("from {before} to {after}"));
            let holds = used.is_some_and(|(before, after)| after > before);
            self.present(holds, format!("the use of {name} is counted"), words);
        }
    }

    fn succession(&mut self, expect: &Expectations) {
        let seen = self.seen;
        let of = |name: &str| seen.successors.get(name).copied().unwrap_or_default();
        let named =
            |judging: &Self, by: Option<MemoryId>| by.map_or_else(nothing, |id| judging.name_of(id, "another lesson"));
        type SuccessorOf = fn(SuccessorIds) -> Option<MemoryId>;
        let superseded: SuccessorOf = |ids| ids.superseded_by;
        let linked: SuccessorOf = |ids| ids.linked_to;
        for (pairs, successor, words) in
            [(&expect.superseded, superseded, "superseded by"), (&expect.linked, linked, "linked to")]
        {
            for (older, newer) in pairs {
                let by = successor(of(older));
                let holds = by.is_some() && by == self.id(newer);
                self.present(holds, format!("{older} is {words} {newer}"), named(self, by));
            }
        }
        for (names, successor, words) in
            [(&expect.not_superseded, superseded, "superseded"), (&expect.not_linked, linked, "linked")]
        {
            for name in names {
                let by = successor(of(name));
                self.absent(by.is_none(), format!("{name} is not {words}"), named(self, by));
            }
        }
    }

    fn holdings(&mut self, expect: &Expectations) {
        let seen = self.seen;
        let there = self.noted(list(seen.lessons.iter().map(|lesson| {
            let kind = if lesson.warning { "warning" } else { "strategy" };
            format!("{kind} {:?}", lesson.title)
        })));
        if let Some(count) = expect.memories {
            let found = seen.lessons.len();
            if count > 0 {
                self.present(found >= count, format!("at least {count} lessons are there"), there.clone());
            }
            self.absent(found <= count, format!("at most {count} lessons are there"), there.clone());
        }
        for truth in &expect.there {
            let holds = seen.lessons.iter().any(|lesson| truth.is(lesson));
            self.present(holds, format!("{} is there", truth.words()), there.clone());
        }
        for truth in &expect.not_there {
            let found = seen.lessons.iter().find(|lesson| truth.is(lesson));
            let words = found.map_or_else(nothing, |lesson| format!("{:?}", lesson.title));
            self.absent(found.is_none(), format!("{} is not there", truth.words()), words);
        }
        let traces = list(seen.traces.iter().map(|(task, outcome)| format!("{task:?}, {}", outcome.as_str())));
        for truth in &expect.traces {
            let is = |(task, outcome): &(String, Outcome)| contains(task, &truth.task) && *outcome == truth.outcome;
            let holds = seen.traces.iter().any(is);
            let expected = format!("a trace of {:?}, {}, is there", truth.task, truth.outcome.as_str());
            self.present(holds, expected, traces.clone());
        }
        if let Some(rate) = expect.success_rate {
            let holds = (seen.success_rate - rate).abs() < 1e-3;
            self.present(holds, format!("the success rate is {rate:.3}"), format!("{:.3}", seen.success_rate));
        }
    }
}

impl ExpectedLesson {
    fn is(&self, lesson: &LessonText) -> bool {
        let is_of_kind = match self.kind {
            None => true,
            Some(LessonKind::Strategy) => !lesson.warning,
            Some(LessonKind::Warning) => lesson.warning,
        };
        is_of_kind && self.holds.iter().all(|words| contains(&lesson.text, words))
    }

    fn words(&self) -> String {
        let kind = match self.kind {
            None => "a lesson",
            Some(LessonKind::Strategy) => "a strategy",
            Some(LessonKind::Warning) => "a warning",
        };
        if self.holds.is_empty() { kind.into() } else { format!("{kind} with {:?}", self.holds.join(", ")) }
    }
}

/// Compares in any case, and whatever the white space is.
fn contains(text: &str, words: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    plain(text).contains(&plain(words))
}

fn nothing() -> String {
    "nothing".into()
}

fn list(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    if names.is_empty() { nothing() } else { names.join(", ") }
}

#[cfg(test)]
mod tests;
