//! The form of a scenario: the steps that are taken, and what must be true after each. Scenarios are TOML files;
//! `tests/data/learning/README.md` describes the form to those who write them.

mod check;

use std::fs;
use std::path::{Path, PathBuf};

use reasoning_bank_domain::learning::lesson::{Lesson, LessonError};
use reasoning_bank_domain::memory::observation::EvidenceKind;
use reasoning_bank_domain::memory::{MemoryOutcome, Scope, Trust};
use serde::Deserialize;

use super::expect::Expectations;
use crate::eval::EvalError;

const PROJECT: &str = "main";
const SESSION: &str = "session";
const RESULTS: usize = 5;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScenarioFile {
    scenario: Vec<Scenario>,
}

/// A scenario is played in a bank of its own.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    pub(super) name: String,
    /// The team that all projects of the scenario belong to.
    pub(super) team: Option<String>,
    #[serde(rename = "step")]
    pub(super) steps: Vec<ScenarioStep>,
}

impl Scenario {
    /// Says whether the scenario scripts a model that draws the lessons of sessions in the background.
    pub(super) fn scripts_background_work(&self) -> bool {
        let scripted = |step: &ScenarioStep| matches!(&step.action, Some(StepAction::Distill(distill)) if distill.lessons.is_some());
        self.steps.iter().any(scripted)
    }
}

/// One action of a client or a person, and what must be true after it. A step without an action only looks.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "StepForm")]
pub(super) struct ScenarioStep {
    pub(super) project: String,
    pub(super) session: String,
    pub(super) action: Option<StepAction>,
    pub(super) expect: Expectations,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum StepAction {
    Record(Box<RecordStep>),
    Solve(Box<SolveStep>),
    Distill(Box<DistillStep>),
    Learn(LearnStep),
    Capture(CaptureStep),
    Report(Box<ReportStep>),
    Supersede(SupersedeStep),
    Retrieve(RetrieveStep),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepForm {
    project: Option<String>,
    session: Option<String>,
    record: Option<RecordStep>,
    solve: Option<SolveStep>,
    distill: Option<DistillStep>,
    learn: Option<LearnStep>,
    capture: Option<CaptureStep>,
    report: Option<ReportStep>,
    supersede: Option<SupersedeStep>,
    retrieve: Option<RetrieveStep>,
    #[serde(default)]
    expect: Expectations,
}

impl TryFrom<StepForm> for ScenarioStep {
    type Error = String;

    fn try_from(form: StepForm) -> Result<Self, String> {
        let actions = [
            form.record.map(|record| StepAction::Record(Box::new(record))),
            form.solve.map(|solve| StepAction::Solve(Box::new(solve))),
            form.distill.map(|distill| StepAction::Distill(Box::new(distill))),
            form.learn.map(StepAction::Learn),
            form.capture.map(StepAction::Capture),
            form.report.map(|report| StepAction::Report(Box::new(report))),
            form.supersede.map(StepAction::Supersede),
            form.retrieve.map(StepAction::Retrieve),
        ];
        let mut actions = actions.into_iter().flatten();
        let action = actions.next();
        if actions.next().is_some() {
            return Err("a step does one thing; write another step for the next".into());
        }
        Ok(Self {
            project: form.project.unwrap_or_else(|| PROJECT.into()),
            session: form.session.unwrap_or_else(|| SESSION.into()),
            action,
            expect: form.expect,
        })
    }
}

/// A lesson as the scripted model or a client words it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlantedLesson {
    /// Later steps call the lesson by this name.
    #[serde(rename = "as")]
    pub(super) name: Option<String>,
    pub(super) title: String,
    /// The text that says when the lesson applies. Where it is absent, the title says that.
    pub(super) description: Option<String>,
    pub(super) content: String,
    pub(super) error_context: Option<LessonError>,
}

impl PlantedLesson {
    pub(super) fn description(&self) -> &str {
        self.description.as_deref().unwrap_or(&self.title)
    }
}

impl From<&PlantedLesson> for Lesson {
    fn from(planted: &PlantedLesson) -> Self {
        Self {
            title: planted.title.clone(),
            description: planted.description().to_owned(),
            content: planted.content.clone(),
            pattern_tags: Vec::new(),
            domain_category: None,
            difficulty_level: None,
            error_context: planted.error_context.clone(),
        }
    }
}

/// The step calls `record_memory` as an agent does, or `memory record` as a user does.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordStep {
    #[serde(rename = "as")]
    pub(super) name: Option<String>,
    pub(super) title: String,
    pub(super) description: Option<String>,
    pub(super) content: String,
    pub(super) error_context: Option<LessonError>,
    pub(super) task: Option<ScenarioText>,
    #[serde(default)]
    pub(super) scope: Scope,
    /// The lesson takes the place of the memories with these names.
    #[serde(default)]
    pub(super) supersedes: Vec<String>,
    /// The time at which it was said: RFC 3339, a date or an age.
    pub(super) valid_from: Option<String>,
    /// The lesson is the word of this source.
    #[serde(default = "agent")]
    pub(super) by: Trust,
}

fn agent() -> Trust {
    Trust::Agent
}

/// The step calls `solve_coding_task`, and scripts all that the model answers during it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SolveStep {
    #[serde(rename = "as")]
    pub(super) name: Option<String>,
    pub(super) task: ScenarioText,
    /// The number of attempts, or `matts.k` where it is absent.
    pub(super) k: Option<u32>,
    /// The last attempt stands for all further ones.
    pub(super) attempts: Vec<ScriptedAttempt>,
    /// The verdict of the model: the judge calls the chosen solution a success or not.
    pub(super) passes: bool,
    #[serde(default)]
    pub(super) reason: String,
    /// The lessons that the judge offers, those of the comparison of attempts, and those that the model answers when it
    /// is asked for lessons once more.
    #[serde(default)]
    pub(super) judged: Vec<PlantedLesson>,
    #[serde(default)]
    pub(super) compared: Vec<PlantedLesson>,
    #[serde(default)]
    pub(super) extracted: Vec<PlantedLesson>,
    /// The tokens that the provider counts for each call. Where they are absent, four characters are a token.
    pub(super) tokens_per_call: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptedAttempt {
    pub(super) answer: ScenarioText,
    /// The score is in 0..=1.
    pub(super) score: f64,
    #[serde(default)]
    pub(super) feedback: String,
}

/// The step calls `distill_session` and waits for the result.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DistillStep {
    /// The first lesson that is drawn gets this name.
    #[serde(rename = "as")]
    pub(super) name: Option<String>,
    pub(super) outcome: MemoryOutcome,
    pub(super) transcript: ScenarioText,
    /// The scripted model answers with these lessons. Where they are absent, no model may be asked and rules draw the
    /// lessons.
    pub(super) lessons: Option<Vec<PlantedLesson>>,
}

/// The step runs the command `learn` on one file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LearnStep {
    pub(super) text: ScenarioText,
}

/// The step calls `capture_exchange`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaptureStep {
    #[serde(rename = "as")]
    pub(super) name: Option<String>,
    pub(super) question: String,
    pub(super) answer: ScenarioText,
}

/// The step calls `report_outcome`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReportStep {
    /// The memories with these names are reported on.
    #[serde(default)]
    pub(super) about: Vec<String>,
    /// The solve with this name is reported on.
    pub(super) solve: Option<String>,
    pub(super) task: Option<ScenarioText>,
    pub(super) commit: Option<String>,
    pub(super) helpful: Option<bool>,
    pub(super) succeeded: Option<bool>,
    pub(super) reverted: Option<bool>,
    pub(super) evidence: Option<ReportedEvidence>,
    pub(super) comment: Option<String>,
    #[serde(default)]
    pub(super) lessons: Vec<PlantedLesson>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReportedEvidence {
    pub(super) kind: EvidenceKind,
    pub(super) passed: bool,
    pub(super) detail: Option<String>,
}

/// The step runs `memory supersede OLDER --by NEWER`, or the same with `--undo`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SupersedeStep {
    pub(super) older: String,
    pub(super) by: Option<String>,
    #[serde(default)]
    pub(super) undo: bool,
}

/// The step calls `retrieve_memories`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RetrieveStep {
    pub(super) query: ScenarioText,
    #[serde(default = "results")]
    pub(super) n: usize,
    #[serde(default)]
    pub(super) include_superseded: bool,
}

fn results() -> usize {
    RESULTS
}

/// A text as it stands, or one that is too long to be written down.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, expecting = "a text, or a table with line and times, and perhaps before and after")]
pub(super) enum ScenarioText {
    Plain(String),
    Repeated(RepeatedText),
}

/// A text that repeats `line` as often as `times` says, between `before` and `after`. `{n}` in the line is its number,
/// from 1.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RepeatedText {
    #[serde(default)]
    before: String,
    line: String,
    times: u32,
    #[serde(default)]
    after: String,
}

impl ScenarioText {
    /// Bounds the bytes of the text before it is written out. A number has at most ten digits.
    fn most_bytes(&self) -> u64 {
        match self {
            Self::Plain(text) => text.len() as u64,
            Self::Repeated(RepeatedText { before, line, times, after }) => {
                let line = line.len() as u64 + 10 * line.matches("{n}").count() as u64;
                (before.len() + after.len()) as u64 + u64::from(*times) * line
            }
        }
    }

    pub(super) fn written_out(&self) -> String {
        match self {
            Self::Plain(text) => text.clone(),
            Self::Repeated(RepeatedText { before, line, times, after }) => {
                let lines = (1..=*times).map(|n| line.replace("{n}", &n.to_string()));
                std::iter::once(before.clone()).chain(lines).chain([after.clone()]).collect()
            }
        }
    }
}

/// Reads the scenarios of a file, or of all files of a directory whose names end with `.toml`, in the order of their
/// names. Each comes with the name of its file, without the ending.
///
/// # Errors
/// The first file that cannot be read, is no TOML of this form, or has a scenario that contradicts itself.
pub(crate) fn read(path: &Path) -> Result<Vec<(String, Scenario)>, EvalError> {
    let unreadable = |path: &Path, problem: String| EvalError::Scenarios { name: path.display().to_string(), problem };
    let files = files(path).map_err(|error| unreadable(path, error.to_string()))?;
    if files.is_empty() {
        return Err(unreadable(path, "has no file whose name ends with .toml".into()));
    }
    let mut scenarios: Vec<(String, Scenario)> = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).map_err(|error| unreadable(&file, error.to_string()))?;
        let parsed: ScenarioFile = toml::from_str(&text).map_err(|error| unreadable(&file, error.to_string()))?;
        let topic = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for scenario in parsed.scenario {
            let checked = check::check(&scenario).and_then(|()| {
                let is_there = scenarios.iter().any(|(there, other)| *there == topic && other.name == scenario.name);
                if is_there { Err("another scenario of the file has the same name".into()) } else { Ok(()) }
            });
            checked.map_err(|problem| unreadable(&file, format!("{:?}: {problem}", scenario.name)))?;
            scenarios.push((topic.clone(), scenario));
        }
    }
    Ok(scenarios)
}

fn files(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>()?;
    let is_scenario = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "toml");
    let mut files: Vec<PathBuf> = entries.into_iter().filter(is_scenario).collect();
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests;
