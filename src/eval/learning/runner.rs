//! Carries out the steps of one scenario on a running bank through the handles that all clients use, and looks at what
//! came of each.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use reasoning_bank_actors::agents::SolveOptions;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::learner::MAX_BATCH;
use reasoning_bank_actors::memories::{FeedbackRequest, Learning, RecordRequest, RetrieveRequest, SaidBy};
use reasoning_bank_actors::pages::MAX_LISTED;
use reasoning_bank_actors::ports::{MemoryFilter, Page};
use reasoning_bank_actors::runtime::{Deadline, SystemEvent};
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::learning::capture::trust_of;
use reasoning_bank_domain::learning::correction::left_standing;
use reasoning_bank_domain::learning::job::{JobState, JobView, Work};
use reasoning_bank_domain::learning::lesson::LessonError;
use reasoning_bank_domain::learning::transcript::{self, Exchange};
use reasoning_bank_domain::memory::ids::{JobId, MemoryId, TraceId};
use reasoning_bank_domain::memory::observation::{Feedback, Observed};
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::memory::{ErrorContext, Learned, Memory, SourceType, Trust};
use reasoning_bank_domain::note::{Code, Note};
use reasoning_bank_domain::solve::task::SolveTask;
use tokio::time::sleep;

use super::expect::Expectations;
use super::judge::{LessonText, RetrievedMemory, StepObservation, SuccessorIds};
use super::scenario::{
    CaptureStep, DistillStep, LearnStep, PlantedLesson, RecordStep, ReportStep, RetrieveStep, Scenario, ScenarioStep,
    SolveStep, StepAction, SupersedeStep,
};
use super::script::{ScriptedAnswers, ScriptedModel};
use crate::settings::MattsSection;

/// The time for one step, its model calls included.
const STEP_TIMEOUT: Duration = Duration::from_secs(120);
/// The store learns some seconds later what clients were shown.
const USAGE_TIMEOUT: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A bank on which a scenario is played.
pub(super) struct ScenarioRunner<'a> {
    system: SystemHandle,
    model: Arc<ScriptedModel>,
    matts: &'a MattsSection,
    /// The lessons by their names.
    lessons: BTreeMap<String, MemoryId>,
    /// The traces of solves by their names.
    solves: BTreeMap<String, TraceId>,
}

/// The reason for which a step came to no answer.
enum StepError {
    /// The product refused the step, which may be what is expected.
    Refused(String),
    Failed(Error),
}

impl From<Error> for StepError {
    fn from(error: Error) -> Self {
        match error {
            Error::DeadlineExceeded | Error::Overloaded { .. } | Error::Internal(_) | Error::Store(_) => {
                Self::Failed(error)
            }
            refused => Self::Refused(refused.to_string()),
        }
    }
}

impl<'a> ScenarioRunner<'a> {
    pub(super) fn new(system: SystemHandle, model: Arc<ScriptedModel>, matts: &'a MattsSection) -> Self {
        Self { system, model, matts, lessons: BTreeMap::new(), solves: BTreeMap::new() }
    }

    /// Gives the projects of a scenario their team.
    pub(super) async fn prepare(&self, scenario: &Scenario) -> Result<(), Error> {
        let Some(team) = &scenario.team else { return Ok(()) };
        for step in &scenario.steps {
            let workspace = workspace(&step.project);
            self.system.workspaces.trust(&workspace, Some(team.clone()), None, soon()).await?;
        }
        Ok(())
    }

    /// Carries out a step and observes what it answers and changes, as far as its expectations ask for it.
    ///
    /// # Errors
    /// The bank itself failed.
    pub(super) async fn play(&mut self, step: &ScenarioStep) -> Result<StepObservation, Error> {
        let expect = &step.expect;
        let before = self.states(step).await?;
        let mut seen = StepObservation::default();
        if let Some(action) = &step.action {
            match self.act(action, step, &mut seen).await {
                Ok(()) => {}
                Err(StepError::Refused(why)) => seen.refusal = Some(why),
                Err(StepError::Failed(error)) => return Err(error),
            }
        }
        if !expect.counted.is_empty() {
            self.until_counted(step, &before).await?;
        }
        let after = self.states(step).await?;
        for (name, after) in after {
            if let Some(before) = before.get(&name) {
                seen.confidence.insert(name.clone(), (before.confidence, after.confidence));
                seen.usage.insert(name, (before.usage, after.usage));
            }
        }
        self.look(step, &mut seen).await?;
        seen.ids.clone_from(&self.lessons);
        Ok(seen)
    }

    async fn act(
        &mut self,
        action: &StepAction,
        step: &ScenarioStep,
        seen: &mut StepObservation,
    ) -> Result<(), StepError> {
        match action {
            StepAction::Record(record) => self.record(record, step, seen).await,
            StepAction::Solve(solve) => self.solve(solve, step, seen).await,
            StepAction::Distill(distill) => self.distill(distill, step, seen).await,
            StepAction::Learn(learn) => self.learn(learn, step).await,
            StepAction::Capture(capture) => self.capture(capture, step, seen).await,
            StepAction::Report(report) => self.report(report, step).await,
            StepAction::Supersede(supersede) => self.supersede(supersede, step).await,
            StepAction::Retrieve(retrieve) => self.retrieve(retrieve, step, seen).await,
        }
    }

    async fn record(
        &mut self,
        record: &RecordStep,
        step: &ScenarioStep,
        seen: &mut StepObservation,
    ) -> Result<(), StepError> {
        let request = RecordRequest {
            title: record.title.clone(),
            description: record.description.clone().unwrap_or_else(|| record.title.clone()),
            content: record.content.clone(),
            outcome: None,
            error_context: record.error_context.clone().map(error_context),
            pattern_tags: Vec::new(),
            domain_category: None,
            difficulty_level: None,
            parent_memory_id: None,
            derived_from: Vec::new(),
            scope: record.scope,
            task: record.task.as_ref().map(|task| task.written_out()),
            workspace: workspace(&step.project),
            source_type: SourceType::Explicit,
            trust: record.by,
            // A person at the command line has no session.
            session: (record.by != Trust::User).then(|| step.session.clone()),
            supersedes: self.ids(&record.supersedes)?,
            valid_from: record.valid_from.clone(),
        };
        let recorded = self.system.memories.record(request, soon()).await?;
        seen.recorded = Some((recorded.status, recorded.id));
        self.name(record.name.as_ref(), Some(recorded.id));
        Ok(())
    }

    async fn solve(
        &mut self,
        solve: &SolveStep,
        step: &ScenarioStep,
        seen: &mut StepObservation,
    ) -> Result<(), StepError> {
        self.model.follow(ScriptedAnswers::from(solve));
        let k = if self.matts.enabled { self.matts.k } else { 1 };
        let task = SolveTask {
            task: solve.task.written_out(),
            use_memory: true,
            k: solve.k.unwrap_or(k),
            mode: self.matts.mode,
            store_result: true,
            domain: None,
        };
        let call = SolveOptions { session: Some(step.session.as_str().into()), ..SolveOptions::until(soon()) };
        let report = self.system.agents.solve(task, workspace(&step.project), call).await?;
        let is_late = |warning: &Note| matches!(warning.code, Some(Code::DeadlineExceeded | Code::StoreUnavailable));
        if report.warnings.iter().chain(&report.notes).any(is_late) {
            // A deadline that passed on a busy machine is no finding about what is learned.
            return Err(StepError::Failed(Error::DeadlineExceeded));
        }
        seen.outcome = Some(report.outcome);
        seen.injected = report.memories_used.iter().map(|used| used.id).collect();
        let planted = solve.judged.iter().chain(&solve.compared).chain(&solve.extracted);
        self.name_learned(planted, &report.learnings);
        seen.notes = [report.warnings, report.notes].concat();
        if let (Some(name), Some(trace_id)) = (&solve.name, report.trace_id) {
            self.solves.insert(name.clone(), trace_id);
        }
        Ok(())
    }

    async fn distill(
        &mut self,
        distill: &DistillStep,
        step: &ScenarioStep,
        seen: &mut StepObservation,
    ) -> Result<(), StepError> {
        self.model.follow(ScriptedAnswers::from(distill));
        let work = Work::Distill {
            session_id: step.session.clone(),
            outcome: distill.outcome,
            transcript: distill.transcript.written_out(),
        };
        let workspace = workspace(&step.project);
        let queued = self.system.distiller.queue(work, &workspace, soon()).await?;
        let job = self.until_over(queued.job_id, &workspace).await?;
        // It was taken, so it is not refused.
        let Some(result) = job.result else {
            seen.notes.extend(job.error.map(Note::plain));
            return Ok(());
        };
        self.name(distill.name.as_ref(), result.learned.first().map(|learned| learned.id));
        self.name_learned(distill.lessons.iter().flatten(), &result.learned);
        seen.notes = result.notes;
        Ok(())
    }

    /// Returns the job when it is done, or when its first attempt failed.
    async fn until_over(&self, id: JobId, workspace: &WorkspaceRef) -> Result<JobView, Error> {
        let mut events = self.system.events.subscribe();
        let deadline = soon();
        loop {
            let job = self.system.distiller.job(id, workspace, deadline).await?;
            if matches!(job.state, JobState::Done | JobState::Failed) || job.error.is_some() {
                return Ok(job);
            }
            let concerns = |event: &SystemEvent| match event {
                SystemEvent::JobStored { job, .. } => *job == id,
                SystemEvent::Missed { .. } => true,
                _ => false,
            };
            if events.wait_for(concerns, deadline).await.is_none() {
                return Err(Error::DeadlineExceeded);
            }
        }
    }

    async fn learn(&mut self, learn: &LearnStep, step: &ScenarioStep) -> Result<(), StepError> {
        let text = learn.text.written_out();
        let transcript = transcript::read(text.as_bytes()).map_err(|error| StepError::Refused(error.to_string()))?;
        let (workspace, trust) = (workspace(&step.project), trust_of(transcript.format));
        let (exchanges, _) = left_standing(transcript.format, transcript.exchanges, &transcript.requests);
        for batch in exchanges.chunks(MAX_BATCH) {
            self.system.learner.learn(batch.to_vec(), &workspace, trust, soon()).await?;
        }
        Ok(())
    }

    async fn capture(
        &mut self,
        capture: &CaptureStep,
        step: &ScenarioStep,
        seen: &mut StepObservation,
    ) -> Result<(), StepError> {
        let exchange = Exchange {
            question: capture.question.clone(),
            answer: capture.answer.written_out(),
            session: Some(step.session.clone()),
            asked_first: None,
            said_next: None,
            at: None,
        };
        let captured = self.system.learner.capture(exchange, &workspace(&step.project), Trust::Model, soon()).await?;
        seen.kept = Some((captured.outcome.is_captured(), captured.outcome.to_string()));
        self.name(capture.name.as_ref(), captured.id);
        Ok(())
    }

    async fn report(&mut self, report: &ReportStep, step: &ScenarioStep) -> Result<(), StepError> {
        let trace_id = report.solve.as_ref().map(|name| self.solves.get(name).copied().ok_or_else(|| unknown(name)));
        let learning = |planted: &PlantedLesson| Learning {
            title: planted.title.clone(),
            description: planted.description().to_owned(),
            content: planted.content.clone(),
            error_context: planted.error_context.clone().map(error_context),
        };
        let request = FeedbackRequest {
            workspace: workspace(&step.project),
            memory_ids: self.ids(&report.about)?,
            trace_id: trace_id.transpose()?,
            task: report.task.as_ref().map(|task| task.written_out()),
            commit: report.commit.clone(),
            verdict: Feedback {
                helpful: report.helpful,
                task_succeeded: report.succeeded,
                reverted: report.reverted,
                evidence: report.evidence.as_ref().map(|evidence| Observed {
                    kind: evidence.kind,
                    passed: evidence.passed,
                    detail: evidence.detail.clone(),
                }),
                comment: report.comment.clone(),
            },
            learnings: report.lessons.iter().map(learning).collect(),
            session: Some(step.session.as_str().into()),
            counts_in: Vec::new(),
            is_work: true,
        };
        let reported = self.system.memories.feedback(request, soon()).await?;
        self.name_learned(report.lessons.iter(), &reported.learned);
        Ok(())
    }

    async fn supersede(&self, supersede: &SupersedeStep, step: &ScenarioStep) -> Result<(), StepError> {
        let workspace = workspace(&step.project);
        let older = self.id(&supersede.older)?;
        let newer = supersede.by.as_ref().map(|name| self.id(name)).transpose()?;
        let memories = &self.system.memories;
        match newer {
            Some(newer) if !supersede.undo => {
                memories.supersede(older, newer, &workspace, &SaidBy::Person, soon()).await?;
            }
            newer => {
                memories.reinstate(older, newer, &workspace, &SaidBy::Person, soon()).await?;
            }
        }
        Ok(())
    }

    /// Retrieves as the MCP server does: the memories of the answer count as shown.
    async fn retrieve(
        &mut self,
        retrieve: &RetrieveStep,
        step: &ScenarioStep,
        seen: &mut StepObservation,
    ) -> Result<(), StepError> {
        let workspace = workspace(&step.project);
        let request = RetrieveRequest {
            include_superseded: retrieve.include_superseded,
            ..RetrieveRequest::new(retrieve.query.written_out(), workspace.clone(), retrieve.n)
        };
        let found = self.system.memories.retrieve(request, soon()).await?;
        self.system.usage.shown(found.memories.iter().map(|found| found.memory.id), &workspace, &step.session);
        let shown = found.memories.into_iter().map(|found| RetrievedMemory {
            id: found.memory.id,
            title: found.memory.title,
            outdated_by: found.outdated_by,
            contested_by: found.contested_by,
        });
        seen.shown = shown.collect();
        Ok(())
    }

    fn id(&self, name: &str) -> Result<MemoryId, StepError> {
        self.lessons.get(name).copied().ok_or_else(|| unknown(name))
    }

    fn ids(&self, names: &[String]) -> Result<Vec<MemoryId>, StepError> {
        names.iter().map(|name| self.id(name)).collect()
    }

    fn name(&mut self, name: Option<&String>, id: Option<MemoryId>) {
        if let (Some(name), Some(id)) = (name, id) {
            self.lessons.insert(name.clone(), id);
        }
    }

    /// A lesson that was learned is known by its title.
    fn name_learned<'p>(&mut self, planted: impl Iterator<Item = &'p PlantedLesson>, learned: &[Learned]) {
        for lesson in planted {
            let learned = learned.iter().find(|learned| learned.title == lesson.title.trim());
            self.name(lesson.name.as_ref(), learned.map(|learned| learned.id));
        }
    }

    /// Reads the state of the lessons whose confidence or usage is compared.
    async fn states(&self, step: &ScenarioStep) -> Result<BTreeMap<String, LessonState>, Error> {
        let mut states = BTreeMap::new();
        for name in step.expect.compared() {
            let Some(id) = self.lessons.get(name) else { continue };
            let view = self.system.memories.get(*id, &workspace(&step.project), soon()).await?;
            states.insert(name.clone(), LessonState { confidence: view.confidence, usage: view.usage_count });
        }
        Ok(states)
    }

    /// Returns when the use of all lessons that should be counted was, or when it should have been by now.
    async fn until_counted(&self, step: &ScenarioStep, before: &BTreeMap<String, LessonState>) -> Result<(), Error> {
        let deadline = Deadline::after(USAGE_TIMEOUT);
        while !deadline.passed() {
            let now = self.states(step).await?;
            let is_counted = |name: &String| {
                let usage = |states: &BTreeMap<String, LessonState>| states.get(name).map(|one| one.usage);
                usage(&now) > usage(before)
            };
            if step.expect.counted.iter().all(is_counted) {
                return Ok(());
            }
            sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Reads the memories of the project with their texts.
    async fn memories(&self, step: &ScenarioStep) -> Result<Vec<Memory>, Error> {
        let own = MemoryFilter { workspace: Some(workspace_id(&step.project)), ..MemoryFilter::default() };
        let rows = self.system.store.memories(own, Page::newest(MAX_LISTED), soon()).await?;
        Ok(rows.into_iter().map(|row| row.memory).collect())
    }

    /// Observes what the project holds, as far as an expectation asks for it.
    async fn look(&self, step: &ScenarioStep, seen: &mut StepObservation) -> Result<(), Error> {
        let Expectations { memories, there, not_there, traces, success_rate, .. } = &step.expect;
        let workspace = workspace(&step.project);
        for name in step.expect.succeeded() {
            let Some(id) = self.lessons.get(name) else { continue };
            let shown = self.system.memories.show(*id, &workspace, soon()).await?;
            let linked_to = shown.outdated_by.map(|newer| newer.id);
            let ids = SuccessorIds { superseded_by: shown.memory.superseded_by, linked_to };
            seen.successors.insert(name.clone(), ids);
        }
        if memories.is_some() || !there.is_empty() || !not_there.is_empty() {
            seen.lessons = self.memories(step).await?.into_iter().map(LessonText::from).collect();
            // Chance decides the order of lessons that were learned at one moment, so they are sorted.
            seen.lessons.sort_by(|a, b| (&a.title, &a.text).cmp(&(&b.title, &b.text)));
        }
        if !traces.is_empty() {
            let listed = self.system.memories.traces(&workspace, MAX_LISTED, None, soon()).await?;
            seen.traces = listed.traces.into_iter().map(|trace| (trace.task, trace.outcome)).collect();
            seen.traces.sort_by(|a, b| (&a.0, a.1.as_str()).cmp(&(&b.0, b.1.as_str())));
        }
        if success_rate.is_some() {
            seen.success_rate = self.system.statistics(soon()).await?.traces.success_rate;
        }
        Ok(())
    }
}

/// The confidence and the usage of a lesson at one moment.
struct LessonState {
    confidence: f64,
    usage: u64,
}

impl From<Memory> for LessonText {
    fn from(memory: Memory) -> Self {
        let warning = memory.is_warning();
        let mut text = vec![memory.title.clone(), memory.description, memory.content];
        if let Some(error) = memory.error_context {
            text.extend([error.error_type, error.failure_pattern, error.corrective_guidance]);
        }
        text.extend(memory.wordings);
        Self { title: memory.title, warning, text: text.join("\n") }
    }
}

fn error_context(error: LessonError) -> ErrorContext {
    ErrorContext {
        error_type: error.error_type,
        failure_pattern: error.failure_pattern,
        corrective_guidance: error.corrective_guidance,
        error_message: None,
        stack_trace: None,
        task_domain: None,
    }
}

fn unknown(name: &str) -> StepError {
    StepError::Refused(format!("{name} was not learned"))
}

fn root(project: &str) -> String {
    format!("/eval/learning/{project}")
}

fn workspace(project: &str) -> WorkspaceRef {
    WorkspaceRef::Root(root(project))
}

fn workspace_id(project: &str) -> WorkspaceId {
    WorkspaceId::of_root(&root(project))
}

fn soon() -> Deadline {
    Deadline::after(STEP_TIMEOUT)
}
