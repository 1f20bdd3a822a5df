//! `eval learning` plays scenarios with planted truths through the real system on a scripted model, and tells what was
//! learned right, learned wrong and missed. Each scenario has a bank of its own in a temporary directory.

mod expect;
mod fixed_timeout;
mod judge;
mod runner;
mod scenario;
mod script;

use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::{EmbedError, Embedder, EmbedderState};
use serde::Serialize;

use self::fixed_timeout::FixedTimeoutEmbedder;
use self::judge::{ExpectationKind, ExpectationResult, judge};
use self::runner::ScenarioRunner;
pub(crate) use self::scenario::{Scenario, read};
use self::script::ScriptedModel;
use super::EvalError;
use crate::bootstrap::Bank;
use crate::settings::{Provider, Settings};

/// The number of scenarios that are played at once. More of them would pass the deadlines within a solve on a small
/// machine.
const AT_ONCE: usize = 2;
const MODEL_TIMEOUT: Duration = Duration::from_secs(20);
const GRACE: Duration = Duration::from_secs(5);
/// The tokens a day for the background work of scenarios that script it.
const BACKGROUND_TOKENS: u64 = 10_000_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct LearningReport {
    pub(crate) scenarios: Vec<ScenarioReport>,
    pub(crate) total: ExpectationCount,
    pub(crate) embedder: String,
}

/// The outcome of one scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ScenarioReport {
    /// The name of the scenario's file, without the ending.
    pub(crate) topic: String,
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) count: ExpectationCount,
    pub(crate) findings: Vec<Finding>,
}

/// A count of expectations and of how they were met. What has to be there was learned right or missed; what must not be
/// there and is was learned wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct ExpectationCount {
    pub(crate) must_be: usize,
    pub(crate) right: usize,
    pub(crate) missed: usize,
    pub(crate) must_not_be: usize,
    pub(crate) wrong: usize,
}

/// An expectation that was not met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// The number of the step, from 1.
    pub(crate) step: usize,
    pub(crate) kind: FindingKind,
    pub(crate) expected: String,
    pub(crate) seen: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FindingKind {
    Missed,
    Wrong,
}

impl ExpectationCount {
    fn add(&mut self, other: Self) {
        self.must_be += other.must_be;
        self.right += other.right;
        self.missed += other.missed;
        self.must_not_be += other.must_not_be;
        self.wrong += other.wrong;
    }
}

impl ScenarioReport {
    fn add(&mut self, step: usize, judged: ExpectationResult) {
        let ExpectationResult { expects, holds, expected, seen } = judged;
        let (all, unmet, kind) = match expects {
            ExpectationKind::Presence => (&mut self.count.must_be, &mut self.count.missed, FindingKind::Missed),
            ExpectationKind::Absence => (&mut self.count.must_not_be, &mut self.count.wrong, FindingKind::Wrong),
        };
        *all += 1;
        if !holds {
            *unmet += 1;
            self.findings.push(Finding { step, kind, expected, seen });
        }
        self.count.right = self.count.must_be - self.count.missed;
    }
}

/// Plays all scenarios, several at once. `done` is told how many have been played.
///
/// # Errors
/// A bank failed. What a scenario expects and does not find is no error.
pub(crate) async fn measure(
    scenarios: Vec<(String, Scenario)>,
    settings: &Settings,
    embedder: Arc<dyn Embedder>,
    done: impl Fn(u64),
) -> Result<LearningReport, EvalError> {
    let name = embedder.fingerprint().to_string();
    let embedder: Arc<dyn Embedder> = Arc::new(FixedTimeoutEmbedder(embedder));
    let played: Vec<ScenarioReport> = stream::iter(scenarios)
        .map(|(topic, scenario)| {
            let embedder = Arc::clone(&embedder);
            async move {
                let failed = |error| EvalError::Scenario { name: scenario.name.clone(), error };
                play(&scenario, topic, settings, embedder).await.map_err(failed)
            }
        })
        .buffered(AT_ONCE)
        .enumerate()
        .map(|(n, played)| {
            done(n as u64 + 1);
            played
        })
        .try_collect()
        .await?;
    let mut total = ExpectationCount::default();
    played.iter().for_each(|one| total.add(one.count));
    Ok(LearningReport { scenarios: played, total, embedder: name })
}

async fn play(
    scenario: &Scenario,
    topic: String,
    settings: &Settings,
    embedder: Arc<dyn Embedder>,
) -> Result<ScenarioReport, Error> {
    let place = tempfile::tempdir().map_err(Error::internal)?;
    let mut settings = settings.clone();
    settings.data_dir = place.path().to_owned();
    // The model is a script: the same question has another answer in another step.
    settings.llm.provider = Provider::Simulated;
    settings.llm.cache.max_entries = 0;
    settings.background.daily_token_cap = if scenario.scripts_background_work() { BACKGROUND_TOKENS } else { 0 };
    settings.passive.llm = false;
    settings.traces.files = false;
    let model = Arc::new(ScriptedModel::default());
    let bank = Bank::start(&settings, None, Arc::clone(&model) as Arc<_>, Arc::clone(&embedder), true).await?;
    bank.embedder_ready(MODEL_TIMEOUT).await;
    let mut runner = ScenarioRunner::new(bank.handle(), model, &settings.matts);
    let played = match embedder.state() {
        EmbedderState::Failed(why) => Err(EmbedError::Failed(why).into()),
        EmbedderState::Loading | EmbedderState::Ready => play_on(&mut runner, scenario, topic).await,
    };
    bank.stop(GRACE).await;
    played
}

async fn play_on(runner: &mut ScenarioRunner<'_>, scenario: &Scenario, topic: String) -> Result<ScenarioReport, Error> {
    runner.prepare(scenario).await?;
    let name = scenario.name.clone();
    let mut played = ScenarioReport { topic, name, count: ExpectationCount::default(), findings: Vec::new() };
    for (n, step) in scenario.steps.iter().enumerate() {
        let seen = runner.play(step).await?;
        judge(&step.expect, &seen).into_iter().for_each(|judged| played.add(n + 1, judged));
    }
    Ok(played)
}
