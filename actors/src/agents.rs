//! AgentsHandle admits tasks, and AgentsActor keeps one AgentActor for each. A task whose agent dies is reported and
//! recorded, and never run again by itself.

mod agent;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use agent::{AgentActor, AgentArgs, AgentMsg};
use dashmap::DashMap;
use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, RpcReplyPort, SupervisionEvent};
use reasoning_bank_domain::access::ClientSession;
use reasoning_bank_domain::memory::ids::{TaskId, TraceId};
use reasoning_bank_domain::memory::trace::{Outcome, TASK_MAX_CHARS};
use reasoning_bank_domain::memory::workspace::ProposedScopes;
use reasoning_bank_domain::memory::{check_range, check_text};
use reasoning_bank_domain::note::{Code, Note};
use reasoning_bank_domain::prompt::Prompts;
use reasoning_bank_domain::safety::secrets::scrub;
use reasoning_bank_domain::solve::agent_loop::{RunLimits, RunSpec};
use reasoning_bank_domain::solve::matts::K_RANGE;
use reasoning_bank_domain::solve::task::{Progress, SolveReport, SolveTask};
use reasoning_bank_domain::system::restart::Restart;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{Instrument, Span};
use uuid::Uuid;

use crate::error::Error;
use crate::memories::MemoriesHandle;
use crate::ports::{Clock, Verifier};
use crate::runtime::{CallError, ChildSpec, Deadline, Events, Gate, Permit, Slot, SystemEvent};
use crate::spans::TaskLog;
use crate::statistics::{Meters, Timer};
use crate::workspaces::{Resolved, WorkspaceRef, WorkspacesHandle};

pub(crate) use agent::AgentDependencies;

const RECORD_LIMIT: Duration = Duration::from_secs(10);
/// The time that a solve is taken to last while none has ended yet: a few calls of a model, one after another.
const FIRST_SOLVE: Duration = Duration::from_secs(10);
/// A cancelled task has answered within this.
const CANCEL_LIMIT: Duration = Duration::from_secs(5);

/// The options of one solve: its deadline, its cancellation, and what the caller gives along with the task.
#[derive(Debug, Clone)]
pub struct SolveOptions {
    pub deadline: Deadline,
    pub cancel: CancellationToken,
    pub progress: Option<watch::Sender<Progress>>,
    /// Checks the chosen solution; what it observes wins over the judge.
    pub verifier: Option<Arc<dyn Verifier>>,
    /// The team and the organisation that the checkout proposes. The report names those that nobody has agreed to.
    pub proposed: ProposedScopes,
    /// The session of the client that asks.
    pub session: Option<ClientSession>,
}

impl SolveOptions {
    pub fn until(deadline: Deadline) -> Self {
        Self {
            deadline,
            cancel: CancellationToken::new(),
            progress: None,
            verifier: None,
            proposed: ProposedScopes::default(),
            session: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct SolveSettings {
    pub limits: RunLimits,
    /// The most tokens that an answer of a model may have, reasoning included.
    pub max_output_tokens: u32,
    /// The time limit of a call, counted from when it begins.
    pub call_timeout: Duration,
    /// The effort is shown in traces, and sent to models that reason.
    pub reasoning_effort: String,
    /// The most solves that run at once. Further ones are refused as overload.
    pub concurrency: usize,
    /// The words of all model calls, those in the background included.
    pub prompts: Arc<Prompts>,
}

impl Default for SolveSettings {
    fn default() -> Self {
        Self {
            limits: RunLimits::default(),
            max_output_tokens: 8192,
            call_timeout: Duration::from_secs(120),
            reasoning_effort: "medium".into(),
            concurrency: 32,
            prompts: Arc::default(),
        }
    }
}

#[derive(Clone)]
pub struct AgentsHandle {
    slot: Slot<AgentsMsg>,
    gate: Gate,
    workspaces: WorkspacesHandle,
    memories: MemoriesHandle,
    clock: Clock,
    events: Events,
    model: String,
    reasoning_effort: String,
    prompts: Arc<Prompts>,
    meters: Meters,
    running: Arc<DashMap<TaskId, CancellationToken>>,
    tracker: TaskTracker,
}

impl AgentsHandle {
    pub(crate) fn new(
        dependencies: &AgentDependencies,
        workspaces: WorkspacesHandle,
        events: Events,
        meters: Meters,
    ) -> Self {
        Self {
            slot: Slot::new(),
            gate: Gate::expecting(dependencies.settings.concurrency, FIRST_SOLVE),
            workspaces,
            memories: dependencies.memories.clone(),
            clock: dependencies.clock.clone(),
            events,
            model: dependencies.model.name().to_owned(),
            reasoning_effort: dependencies.settings.reasoning_effort.clone(),
            prompts: Arc::clone(&dependencies.settings.prompts),
            meters,
            running: Arc::default(),
            tracker: TaskTracker::new(),
        }
    }

    pub(crate) fn child(&self, dependencies: AgentDependencies) -> ChildSpec {
        let events = self.events.clone();
        let arguments = move || AgentsArgs { dependencies: dependencies.clone(), events: events.clone() };
        ChildSpec::actor("agents", Restart::Permanent, &self.slot, move || (AgentsActor, arguments()))
            .behind(&self.gate)
    }

    /// Runs the whole loop for one task. It ends early, with its model calls, when `options.cancel` fires or the future
    /// is dropped.
    pub async fn solve(
        &self,
        task: SolveTask,
        workspace: WorkspaceRef,
        options: SolveOptions,
    ) -> Result<SolveReport, Error> {
        let begun = Instant::now();
        check(&task)?;
        let permit = self.gate.enter()?;
        let _tracked = self.tracker.token();
        let begun_in = self.workspaces.resolve_anyway(&workspace, options.deadline).await?;
        let clean = scrub(&task.task);
        let (redactions, dropped) = (clean.redactions, clean.dropped_characters);
        let task = SolveTask { task: clean.text.into_owned(), ..task };
        let task_id = TaskId::from(Uuid::now_v7());
        let log = TaskLog::begin(task_id, &begun_in.workspace.id, task.k);
        let workspace_id = begun_in.workspace.id.clone();
        let parent_trace_id = match &options.session {
            Some(session) => self.memories.sessions.latest(&workspace_id, session).await,
            None => None,
        };
        let spec = RunSpec {
            task,
            trace_id: TraceId::from(Uuid::now_v7()),
            parent_trace_id,
            session: options.session.clone(),
            workspace_id,
            model: self.model.clone(),
            reasoning_effort: self.reasoning_effort.clone(),
            verify: options.verifier.is_some(),
            prompts: Arc::clone(&self.prompts),
        };
        let cancel = options.cancel.child_token();
        let running = RunningTask::begin(&self.running, task_id, cancel.clone());
        let recorded = (spec.clone(), begun_in.clone());
        let SolveOptions { deadline, progress, verifier, proposed, .. } = options;
        let span = log.span().clone();
        let start = TaskStart {
            task_id,
            spec,
            begun_in,
            deadline,
            cancel,
            progress,
            verifier,
            proposed,
            span: span.clone(),
            permit,
        };
        let solved = self.slot.call(|reply| AgentsMsg::Solve { start: Box::new(start), reply }, deadline).await;
        drop(running);
        if solved == Err(CallError::Dropped) {
            let (spec, begun_in) = recorded;
            span.in_scope(|| self.record_lost(task_id, spec, begun_in));
        }
        let solved = solved.map_err(Error::from).flatten();
        log.end(&solved);
        let mut report = solved?;
        if redactions > 0 {
            let removed = format!("{redactions} secrets were removed from the task");
            report.warnings.push(Note::new(Code::Redacted, removed));
        }
        if dropped > 0 {
            let removed = format!("{dropped} invisible characters were removed from the task");
            report.warnings.push(Note::new(Code::Dropped, removed));
        }
        report.elapsed_ms = begun.elapsed().as_millis() as u64;
        self.meters.took(Timer::Solve, begun.elapsed());
        Ok(report)
    }

    /// Stores the trace of a task whose agent died, or the actor above it, as a failure, and tells of the end of the
    /// task. No trace is stored where the task's result is not to be stored.
    fn record_lost(&self, task_id: TaskId, spec: RunSpec, begun_in: Resolved) {
        let (memories, events) = (self.memories.clone(), self.events.clone());
        let (now, deadline) = (self.clock.now(), Deadline::after(RECORD_LIMIT));
        let record = async move {
            if spec.task.store_result
                && let Err(error) =
                    memories.store_run(spec.empty_record(Outcome::Failure, now, now), begun_in, deadline).await
            {
                tracing::error!(%error, "the trace of a task whose agent died was not stored");
            }
            events.emit(|| SystemEvent::TaskFinished { task: task_id });
        };
        self.tracker.spawn(record.in_current_span());
    }

    /// Counts the tasks that are running.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// Admits no more tasks and waits for those that run. At the deadline it cancels the rest. Returns how many it
    /// cancelled.
    pub(crate) async fn quiesce(&self, deadline: Deadline) -> usize {
        self.gate.close();
        self.tracker.close();
        if tokio::time::timeout_at(deadline.instant(), self.tracker.wait()).await.is_ok() {
            return 0;
        }
        let unfinished = self.running.len();
        for entry in self.running.iter() {
            entry.value().cancel();
        }
        let _ = tokio::time::timeout(CANCEL_LIMIT, self.tracker.wait()).await;
        unfinished
    }
}

fn check(task: &SolveTask) -> Result<(), Error> {
    check_text("task", &task.task, TASK_MAX_CHARS)?;
    Ok(check_range("matts_k", task.k, K_RANGE)?)
}

/// A place in the map of running tasks. Dropping it cancels what is left of the task.
struct RunningTask {
    map: Arc<DashMap<TaskId, CancellationToken>>,
    task_id: TaskId,
}

impl RunningTask {
    fn begin(map: &Arc<DashMap<TaskId, CancellationToken>>, task_id: TaskId, cancel: CancellationToken) -> Self {
        map.insert(task_id, cancel);
        Self { map: Arc::clone(map), task_id }
    }
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        if let Some((_, cancel)) = self.map.remove(&self.task_id) {
            cancel.cancel();
        }
    }
}

pub(crate) struct TaskStart {
    task_id: TaskId,
    spec: RunSpec,
    begun_in: Resolved,
    deadline: Deadline,
    cancel: CancellationToken,
    progress: Option<watch::Sender<Progress>>,
    verifier: Option<Arc<dyn Verifier>>,
    proposed: ProposedScopes,
    span: Span,
    permit: Permit,
}

type SolveReply = RpcReplyPort<Result<SolveReport, Error>>;

pub(crate) enum AgentsMsg {
    Solve { start: Box<TaskStart>, reply: SolveReply },
    Finished { task_id: TaskId, result: Box<Result<SolveReport, Error>> },
}

pub(crate) struct AgentsArgs {
    dependencies: AgentDependencies,
    events: Events,
}

/// A task that was handed to an agent and is not answered yet.
struct PendingTask {
    task_id: TaskId,
    agent: ActorRef<AgentMsg>,
    reply: SolveReply,
    _permit: Permit,
}

pub(crate) struct AgentsState {
    args: AgentsArgs,
    pending: HashMap<ActorId, PendingTask>,
}

pub(crate) struct AgentsActor;

impl Actor for AgentsActor {
    type Msg = AgentsMsg;
    type State = AgentsState;
    type Arguments = AgentsArgs;

    async fn pre_start(&self, _: ActorRef<AgentsMsg>, args: AgentsArgs) -> Result<AgentsState, ActorProcessingErr> {
        Ok(AgentsState { args, pending: HashMap::new() })
    }

    async fn handle(
        &self,
        myself: ActorRef<AgentsMsg>,
        message: AgentsMsg,
        state: &mut AgentsState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            AgentsMsg::Solve { start, reply } if reply.is_closed() || start.deadline.passed() => {}
            AgentsMsg::Solve { start, reply } => state.start(myself, *start, reply).await,
            AgentsMsg::Finished { task_id, result } => {
                let agent = state.pending.iter().find(|(_, pending)| pending.task_id == task_id).map(|(id, _)| *id);
                if let Some(pending) = agent.and_then(|id| state.pending.remove(&id)) {
                    state.args.events.emit(|| SystemEvent::TaskFinished { task: task_id });
                    let _ = pending.reply.send(*result);
                    pending.agent.stop(None);
                }
            }
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        _: ActorRef<AgentsMsg>,
        event: SupervisionEvent,
        state: &mut AgentsState,
    ) -> Result<(), ActorProcessingErr> {
        let (agent, reason) = match event {
            SupervisionEvent::ActorTerminated(agent, _, reason) => (agent, reason.unwrap_or_else(|| "ended".into())),
            SupervisionEvent::ActorFailed(agent, error) => (agent, error.to_string()),
            _ => return Ok(()),
        };
        if let Some(pending) = state.pending.remove(&agent.get_id()) {
            // The reply is dropped here, so the task's handle learns of the death and records it.
            tracing::error!(task_id = %pending.task_id, reason, "the agent of a task died");
        }
        Ok(())
    }
}

impl AgentsState {
    async fn start(&mut self, myself: ActorRef<AgentsMsg>, start: TaskStart, reply: SolveReply) {
        let TaskStart { task_id, spec, begun_in, deadline, cancel, progress, verifier, proposed, span, permit } = start;
        let args = AgentArgs {
            task_id,
            spec,
            begun: begun_in,
            deadline,
            cancel,
            progress,
            verifier,
            proposed,
            span,
            dependencies: self.args.dependencies.clone(),
            agents: myself.clone(),
        };
        match AgentActor::spawn_linked(None, AgentActor, args, myself.get_cell()).await {
            Ok((agent, _)) => {
                self.args.events.emit(|| SystemEvent::TaskStarted { task: task_id });
                let pending = PendingTask { task_id, agent: agent.clone(), reply, _permit: permit };
                self.pending.insert(agent.get_id(), pending);
            }
            Err(error) => {
                let _ = reply.send(Err(Error::internal(error)));
            }
        }
    }
}
