//! AgentActor runs one task, and lives as long as that runs. It is a shell around `domain::solve::agent_loop`: it
//! performs the effects and feeds the results back.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use reasoning_bank_domain::memory::ids::TaskId;
use reasoning_bank_domain::memory::workspace::ProposedScopes;
use reasoning_bank_domain::note::{Code, Note};
use reasoning_bank_domain::prompt::Purpose;
use reasoning_bank_domain::safety::secrets::Scrub;
use reasoning_bank_domain::solve::agent_loop::{
    AgentLoop, CallFailure, Conclusion, Effect, Input, ModelCall, RunFailure, RunSpec,
};
use reasoning_bank_domain::solve::answer::{Answer, FinishReason};
use reasoning_bank_domain::solve::task::{Progress, SolveReport, SolveUsage};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::Span;

use super::{AgentsMsg, SolveSettings};
use crate::error::Error;
use crate::judge::JudgeHandle;
use crate::matts::MattsHandle;
use crate::memories::{MemoriesHandle, StoredLessons};
use crate::model::{CallOutcome, ask};
use crate::ports::{Clock, Completion, LanguageModel, Verifier, VerifyError};
use crate::runtime::{CallError, Deadline, Panicked, Tasks};
use crate::spans;
use crate::workspaces::Resolved;

/// These parts of the time before the deadline are kept back: the first to store what there is, the second to answer.
const STORE_RESERVE: Duration = Duration::from_secs(2);
const ANSWER_RESERVE: Duration = Duration::from_millis(100);
/// The time limit for finding a solve's memories, and again for storing its result. The solution stands even where
/// either fails.
const RECALL_LIMIT: Duration = Duration::from_secs(10);
const STORE_LIMIT: Duration = Duration::from_secs(20);

pub(crate) enum AgentMsg {
    Begin,
    Input(Input),
    Stored(Result<SolveReport, Error>),
}

/// Every agent works with these.
#[derive(Clone)]
pub(crate) struct AgentDependencies {
    pub(crate) model: Arc<dyn LanguageModel>,
    pub(crate) matts: MattsHandle,
    pub(crate) judge: JudgeHandle,
    pub(crate) memories: MemoriesHandle,
    pub(crate) clock: Clock,
    pub(crate) settings: SolveSettings,
}

pub(crate) struct AgentArgs {
    pub(crate) task_id: TaskId,
    pub(crate) spec: RunSpec,
    /// The workspace as it was when the task began.
    pub(crate) begun: Resolved,
    pub(crate) deadline: Deadline,
    pub(crate) cancel: CancellationToken,
    pub(crate) progress: Option<watch::Sender<Progress>>,
    pub(crate) verifier: Option<Arc<dyn Verifier>>,
    /// The team and the organisation that the checkout proposes.
    pub(crate) proposed: ProposedScopes,
    /// The span of the task.
    pub(crate) span: Span,
    pub(crate) dependencies: AgentDependencies,
    pub(crate) agents: ActorRef<AgentsMsg>,
}

pub(crate) struct AgentState {
    args: AgentArgs,
    /// Everything before the conclusion ends by then.
    until: Deadline,
    run: Option<AgentLoop>,
    /// It cancels the model calls, and fires when the run is over, too.
    calls: CancellationToken,
    attempts: HashMap<u32, Span>,
    tasks: Tasks,
}

pub(crate) struct AgentActor;

impl Actor for AgentActor {
    type Msg = AgentMsg;
    type State = AgentState;
    type Arguments = AgentArgs;

    async fn pre_start(&self, myself: ActorRef<AgentMsg>, args: AgentArgs) -> Result<AgentState, ActorProcessingErr> {
        myself.send_message(AgentMsg::Begin)?;
        let (calls, until) = (args.cancel.child_token(), args.deadline.leaving(STORE_RESERVE));
        Ok(AgentState { args, until, run: None, calls, attempts: HashMap::new(), tasks: Tasks::new("agent") })
    }

    async fn handle(
        &self,
        myself: ActorRef<AgentMsg>,
        message: AgentMsg,
        state: &mut AgentState,
    ) -> Result<(), ActorProcessingErr> {
        let span = state.args.span.clone();
        let _entered = span.enter();
        match message {
            AgentMsg::Begin => state.begin(&myself),
            AgentMsg::Input(input) => {
                let now = state.args.dependencies.clock.now();
                let effects = state.run.as_mut().map(|run| run.on(input, now)).unwrap_or_default();
                state.report_progress();
                state.perform(&myself, effects);
            }
            AgentMsg::Stored(result) => {
                let task_id = state.args.task_id;
                // The actor that is told stops this one. Its own end would overtake the message.
                let _ = state.args.agents.send_message(AgentsMsg::Finished { task_id, result: Box::new(result) });
            }
        }
        Ok(())
    }
}

impl AgentState {
    fn begin(&mut self, myself: &ActorRef<AgentMsg>) {
        let (cancel, agent) = (self.args.cancel.clone(), myself.clone());
        let until = self.until;
        self.tasks.spawn(async move {
            let input = tokio::select! {
                () = cancel.cancelled() => Input::Cancelled,
                () = tokio::time::sleep_until(until.instant()) => Input::DeadlinePassed,
            };
            let _ = agent.send_message(AgentMsg::Input(input));
        });
        let dependencies = &self.args.dependencies;
        let limits = dependencies.settings.limits.clone();
        let (run, effects) = AgentLoop::start(self.args.spec.clone(), limits, dependencies.clock.now());
        self.run = Some(run);
        self.report_progress();
        self.perform(myself, effects);
    }

    fn report_progress(&self) {
        if let (Some(run), Some(progress)) = (&self.run, &self.args.progress) {
            let now = run.progress();
            progress.send_if_modified(|before| {
                let is_news = before != now;
                before.clone_from(now);
                is_news
            });
        }
    }

    fn perform(&mut self, myself: &ActorRef<AgentMsg>, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Recall => self.recall(myself),
                Effect::Call(call) => self.call(myself, call),
                Effect::Verify { solution } => self.verify(myself, solution),
                Effect::Conclude(conclusion) => self.conclude(myself, *conclusion),
            }
        }
    }

    fn recall(&mut self, myself: &ActorRef<AgentMsg>) {
        let memories = self.args.dependencies.memories.clone();
        let deadline = self.until.at_most(RECALL_LIMIT);
        let (task, domain) = (self.args.spec.task.task.clone(), self.args.spec.task.domain.clone());
        let (workspace, proposed) = (self.args.begun.workspace.clone(), self.args.proposed.clone());
        let recalled = async move { memories.recall_for_task(&task, domain, workspace, proposed, deadline).await };
        self.tasks.pipe(myself, recalled, |recalled| {
            let (prompt_memories, notes) = recalled.unwrap_or_else(|panicked| {
                (None, vec![Note::new(Code::Internal, format!("no memories were recalled: {panicked}"))])
            });
            AgentMsg::Input(Input::Recalled { prompt_memories, notes })
        });
    }

    fn call(&mut self, myself: &ActorRef<AgentMsg>, call: ModelCall) {
        let ModelCall { purpose, attempt, prompt } = call;
        let span = attempt.map(|number| self.attempts.entry(number).or_insert_with(|| spans::attempt(number)).clone());
        let _entered = span.as_ref().map(Span::enter);
        spans::prompt_cut(purpose, &prompt);
        let settings = &self.args.dependencies.settings;
        let request = Completion {
            purpose,
            workspace_id: self.args.begun.workspace.id.clone(),
            task_id: self.args.task_id,
            attempt,
            instructions: prompt.instructions,
            input: prompt.input,
            max_output_tokens: settings.max_output_tokens,
        };
        let deadline = self.until;
        let (dependencies, cancel) = (self.args.dependencies.clone(), self.calls.clone());
        let calls = cancel.clone();
        let asked = async move {
            match purpose {
                Purpose::Think => dependencies.matts.draft(request, deadline, cancel).await,
                Purpose::Evaluate | Purpose::Judge => dependencies.judge.ask(request, deadline, cancel).await,
                Purpose::Refine
                | Purpose::Extract
                | Purpose::Contrast
                | Purpose::Capture
                | Purpose::Distill
                | Purpose::Bank
                | Purpose::Patterns => Ok(ask(&*dependencies.model, request, deadline, cancel).await),
            }
        };
        self.tasks.pipe(myself, asked, move |asked| {
            let LoopAnswer { result, ended, spent } = answer_of(asked, calls.is_cancelled());
            AgentMsg::Input(Input::Answered { purpose, attempt, result, ended, spent })
        });
    }

    fn verify(&mut self, myself: &ActorRef<AgentMsg>, solution: String) {
        let (verifier, cancel) = (self.args.verifier.clone(), self.calls.clone());
        // A check that hangs leaves the judge time for a verdict.
        let deadline = self.until.halfway();
        let observed = async move {
            let verifier = verifier.ok_or_else(|| VerifyError::NotRun("there is none".into()))?;
            let checked =
                tokio::time::timeout_at(deadline.instant(), verifier.verify(solution, deadline, cancel)).await;
            let mut observed = checked.map_err(|_| VerifyError::TimedOut)??;
            observed.detail.scrub();
            Ok::<_, VerifyError>(observed)
        };
        self.tasks.pipe(myself, observed, |observed| {
            let observed = observed.unwrap_or_else(|panicked| Err(VerifyError::NotRun(panicked.to_string())));
            AgentMsg::Input(Input::Verified(observed.map_err(|error| error.to_string())))
        });
    }

    fn conclude(&mut self, myself: &ActorRef<AgentMsg>, conclusion: Conclusion) {
        self.calls.cancel();
        let memories = self.args.dependencies.memories.clone();
        let (begun, trace_id) = (self.args.begun.clone(), self.args.spec.trace_id);
        let deadline = self.args.deadline.leaving(ANSWER_RESERVE).at_most(STORE_LIMIT);
        let stored = async move {
            let kept = match conclusion.record {
                Some(run) => Some(memories.store_run(run, begun, deadline).await),
                None => None,
            };
            let mut report = conclusion.end.map_err(|failure| error_of(failure, conclusion.best))?;
            match kept {
                Some(Ok(StoredLessons { learned, notes })) => {
                    (report.trace_id, report.learnings) = (Some(trace_id), learned);
                    report.warnings.extend(notes);
                }
                Some(Err(error @ Error::WorkspaceUnknown(_))) => {
                    let deleted = "the result was not stored: the workspace was deleted meanwhile";
                    report.warnings.push(Note::new(error.code(), deleted));
                }
                Some(Err(error)) => {
                    let lost = format!("the result may not have been stored: {error}");
                    report.warnings.push(Note::new(Code::StoreUnavailable, lost));
                }
                None => {}
            }
            Ok(report)
        };
        self.tasks.pipe(myself, stored, |stored| {
            AgentMsg::Stored(stored.unwrap_or_else(|panicked| Err(Error::internal(panicked))))
        });
    }
}

/// The loop is told this of a call.
struct LoopAnswer {
    result: Result<Answer, CallFailure>,
    ended: FinishReason,
    spent: SolveUsage,
}

/// Turns the outcome of a call into what the loop is told. A cancelled call may be dropped by the actor that had it, so
/// a dropped call counts as cancelled then.
fn answer_of(asked: Result<Result<CallOutcome, CallError>, Panicked>, is_cancelled: bool) -> LoopAnswer {
    let lost = |error: Error| LoopAnswer {
        result: Err(failure_of(error)),
        ended: FinishReason::Whole,
        spent: SolveUsage::default(),
    };
    match asked {
        Ok(Ok(CallOutcome { result, ended, spent })) => {
            LoopAnswer { result: result.map_err(|error| failure_of(error.into())), ended, spent }
        }
        Ok(Err(CallError::Dropped)) if is_cancelled => lost(Error::Cancelled),
        Ok(Err(error)) => lost(error.into()),
        Err(panicked) => lost(Error::internal(panicked)),
    }
}

/// Makes a failed call of an error. Its message is the reason alone, because the code says what kind of error it is.
fn failure_of(error: Error) -> CallFailure {
    let (code, retry_after) = (error.code(), error.retry_after());
    let refused = matches!(error, Error::ModelRefused(_));
    let message = match error {
        Error::ModelUnavailable { message, .. }
        | Error::ModelFailed { message, .. }
        | Error::ModelRefused(message)
        | Error::ModelOutputInvalid(message)
        | Error::KeyRejected(message) => message,
        other => other.to_string(),
    };
    CallFailure { code, message, refused, retry_after }
}

fn error_of(failure: RunFailure, best: Option<reasoning_bank_domain::solve::task::BestSoFar>) -> Error {
    match failure {
        RunFailure::Budget { used, limit } => Error::TokenBudgetExceeded { used, limit, best: best.map(Box::new) },
        RunFailure::DeadlinePassed => Error::DeadlineExceeded,
        RunFailure::Cancelled => Error::Cancelled,
        RunFailure::AllDraftsFailed(CallFailure { code, message, refused, retry_after }) => match code {
            Code::LlmUnavailable => Error::ModelUnavailable { message, retry_after },
            Code::LlmRejectedKey => Error::KeyRejected(message),
            _ if refused => Error::ModelRefused(message),
            _ => Error::ModelFailed { message, retry_after },
        },
    }
}
