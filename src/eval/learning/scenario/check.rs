//! The check that a scenario makes sense by itself: an expectation that its step can never meet, or never fail, proves
//! nothing.

use std::collections::BTreeSet;

use super::{PlantedLesson, Scenario, ScenarioStep, ScenarioText, StepAction};
use crate::eval::learning::expect::Expectations;

/// The longest text of a scenario, written out. A transcript has at most 500,000 characters.
const MOST_BYTES: u64 = 4_000_000;

pub(super) fn check(scenario: &Scenario) -> Result<(), String> {
    let (mut lessons, mut solves) = (BTreeSet::new(), BTreeSet::new());
    for (n, step) in scenario.steps.iter().enumerate() {
        let in_step = |problem: String| format!("step {}: {problem}", n + 1);
        for name in step.names() {
            if !lessons.insert(name) {
                return Err(in_step(format!("{name:?} is the name of an earlier lesson")));
            }
        }
        if let Some(StepAction::Solve(solve)) = &step.action
            && let Some(name) = &solve.name
            && !solves.insert(name)
        {
            return Err(in_step(format!("{name:?} is the name of an earlier solve")));
        }
        step.check().map_err(in_step)?;
        if let Some(name) = step.expect.names().chain(step.about()).find(|name| !lessons.contains(name)) {
            return Err(in_step(format!("no lesson is called {name:?} yet")));
        }
        if let Some(StepAction::Report(report)) = &step.action
            && let Some(name) = report.solve.as_ref().filter(|name| !solves.contains(name))
        {
            return Err(in_step(format!("no solve is called {name:?} yet")));
        }
    }
    if scenario.steps.iter().all(|step| step.expect == Expectations::default()) {
        return Err("nothing is expected in it".into());
    }
    Ok(())
}

impl ScenarioStep {
    /// Lists the names that the step gives to lessons.
    fn names(&self) -> Vec<&String> {
        let planted: Vec<&PlantedLesson> = match &self.action {
            Some(StepAction::Solve(solve)) => {
                solve.judged.iter().chain(&solve.compared).chain(&solve.extracted).collect()
            }
            Some(StepAction::Distill(distill)) => distill.lessons.iter().flatten().collect(),
            Some(StepAction::Report(report)) => report.lessons.iter().collect(),
            _ => Vec::new(),
        };
        let own = match &self.action {
            Some(StepAction::Record(record)) => record.name.as_ref(),
            Some(StepAction::Distill(distill)) => distill.name.as_ref(),
            Some(StepAction::Capture(capture)) => capture.name.as_ref(),
            _ => None,
        };
        own.into_iter().chain(planted.into_iter().filter_map(|lesson| lesson.name.as_ref())).collect()
    }

    /// Lists the lessons of earlier steps that the step is about.
    fn about(&self) -> Vec<&String> {
        match &self.action {
            Some(StepAction::Record(record)) => record.supersedes.iter().collect(),
            Some(StepAction::Report(report)) => report.about.iter().collect(),
            Some(StepAction::Supersede(supersede)) => std::iter::once(&supersede.older).chain(&supersede.by).collect(),
            _ => Vec::new(),
        }
    }

    fn texts(&self) -> Vec<&ScenarioText> {
        match &self.action {
            Some(StepAction::Record(record)) => record.task.iter().collect(),
            Some(StepAction::Solve(solve)) => {
                std::iter::once(&solve.task).chain(solve.attempts.iter().map(|attempt| &attempt.answer)).collect()
            }
            Some(StepAction::Distill(distill)) => vec![&distill.transcript],
            Some(StepAction::Learn(learn)) => vec![&learn.text],
            Some(StepAction::Capture(capture)) => vec![&capture.answer],
            Some(StepAction::Report(report)) => report.task.iter().collect(),
            Some(StepAction::Retrieve(retrieve)) => vec![&retrieve.query],
            Some(StepAction::Supersede(_)) | None => Vec::new(),
        }
    }

    fn check(&self) -> Result<(), String> {
        if self.texts().into_iter().any(|text| text.most_bytes() > MOST_BYTES) {
            return Err(format!("a text has more than {MOST_BYTES} bytes once it is written out"));
        }
        if let Some(StepAction::Solve(solve)) = &self.action {
            if solve.attempts.is_empty() {
                return Err("a solve needs at least one of attempts".into());
            }
            if solve.attempts.iter().any(|attempt| !(0.0..=1.0).contains(&attempt.score)) {
                return Err("the score of an attempt lies between 0 and 1".into());
            }
        }
        if let Some(StepAction::Supersede(supersede)) = &self.action
            && supersede.by.is_none()
            && !supersede.undo
        {
            return Err("supersede needs by, or undo".into());
        }
        let expect = &self.expect;
        let is = |wanted: fn(&StepAction) -> bool| self.action.as_ref().is_some_and(wanted);
        let record = expect.status.is_some() || expect.same_as.is_some();
        let solve = expect.outcome.is_some() || !expect.injected.is_empty() || !expect.not_injected.is_empty();
        let retrieve = expect.first.is_some()
            || [&expect.order, &expect.shown, &expect.not_shown, &expect.not_outdated]
                .into_iter()
                .any(|l| !l.is_empty())
            || !expect.outdated.is_empty()
            || !expect.contested.is_empty();
        let changes = expect.refused || expect.compared().next().is_some();
        for (expects, fits, what) in [
            (record, is(|action| matches!(action, StepAction::Record(_))), "status and same_as belong to a record"),
            (expect.kept.is_some(), is(|action| matches!(action, StepAction::Capture(_))), "kept belongs to a capture"),
            (
                solve,
                is(|action| matches!(action, StepAction::Solve(_))),
                "outcome, injected and not_injected belong to a solve",
            ),
            (
                retrieve,
                is(|action| matches!(action, StepAction::Retrieve(_))),
                "first, order, shown, not_shown, outdated, not_outdated and contested belong to a retrieve",
            ),
            (
                changes,
                self.action.is_some(),
                "refused, rises, falls, steady and counted belong to a step that does something",
            ),
        ] {
            if expects && !fits {
                return Err(what.into());
            }
        }
        Ok(())
    }
}
