//! DistillerActor: works off the bank's queue of background jobs, one at a time, where this process has the lease.
//! One run of it is in `worker`, and the rules of what may become of a job are in `domain::learning::job`.
//!
//! The queue is in the store, so a job survives every process. One process of a bank works at a time; when it ends, the
//! next one takes over what it had begun. A job's end and its lessons are one commit, which is refused if the job was
//! changed or erased meanwhile: however often it is tried, it has one result.

mod pace;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use pace::Pace;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use reasoning_bank_domain::learning::job::{
    Job, JobState, JobView, Queued, SESSION_MAX_CHARS, TRANSCRIPT_MAX_CHARS, Work,
};
use reasoning_bank_domain::learning::transcript;
use reasoning_bank_domain::memory::check_text;
use reasoning_bank_domain::memory::ids::JobId;
use reasoning_bank_domain::prompt::Prompts;
use reasoning_bank_domain::safety::secrets::Scrub;
use reasoning_bank_domain::system::restart::Restart;
use tokio_util::sync::CancellationToken;
use worker::{WorkerState, run_once};

use crate::episodes::EpisodesHandle;
use crate::error::Error;
use crate::memories::MemoriesHandle;
use crate::model::BudgetedModel;
use crate::ports::{Clock, Lease, Record};
use crate::runtime::{ChildSpec, Deadline, Events, MessageTimer, Panicked, Slot, Tasks};
use crate::store::StoreHandle;
use crate::workspaces::{WorkspaceRef, WorkspacesHandle};

/// The most jobs of all workspaces together that wait or run. Further ones are refused as overload.
const MAX_OPEN: u64 = 256;
/// The actor sees what other processes queued after this time.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// A job that is asked to stop has written that down within this time.
const FINISH_LIMIT: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DistillerSettings {
    /// The tokens of models that background work may use in a day (UTC), input and output, over all processes of the
    /// bank. With 0 no model is asked.
    pub daily_token_cap: u64,
}

#[derive(Clone)]
pub struct DistillerHandle {
    store: StoreHandle,
    workspaces: WorkspacesHandle,
    clock: Clock,
    slot: Slot<DistillerMsg>,
    pace: Arc<Pace>,
    /// A model reads sessions, and so any text; rules need exchanges.
    reads_prose: bool,
}

impl DistillerHandle {
    pub(crate) fn new(store: StoreHandle, workspaces: WorkspacesHandle, clock: Clock, reads_prose: bool) -> Self {
        Self { store, workspaces, clock, slot: Slot::new(), pace: Arc::default(), reads_prose }
    }

    /// Returns the pace of the work, which the handle reads.
    pub(crate) fn pace(&self) -> Arc<Pace> {
        Arc::clone(&self.pace)
    }

    pub(crate) fn child(&self, args: DistillerArgs) -> ChildSpec {
        ChildSpec::actor("distiller", Restart::Transient, &self.slot, move || (DistillerActor, args.clone()))
    }

    /// Queues work as a job, which is durable when this returns. The same work again is the same job. A job that failed
    /// for good begins anew. The session that the work tells of is the source of its evidence.
    pub async fn queue(&self, work: Work, workspace: &WorkspaceRef, deadline: Deadline) -> Result<Queued, Error> {
        self.queue_from(None, work, workspace, deadline).await
    }

    /// Queues work as [`Self::queue`] does, as the evidence of this source: a client may name any session.
    pub async fn queue_from(
        &self,
        source: Option<String>,
        mut work: Work,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<Queued, Error> {
        check(&work)?;
        if !self.reads_prose {
            check_exchanges(&work)?;
        }
        work.scrub();
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let new = Job { source, ..Job::queued(workspace.id.clone(), work, self.clock.now()) };
        let job_id = new.id;
        let job = match self.store.job(job_id, None, deadline).await? {
            Some(stored) if stored.state == JobState::Failed => stored.queued_again(self.clock.now()),
            Some(_) => return Ok(Queued { queued: false, job_id }),
            None => new,
        };
        if self.open_jobs(deadline).await? >= MAX_OPEN {
            return Err(Error::Overloaded { retry_after: self.pace.next_place(self.clock.now()) });
        }
        self.workspaces.commit_to(&workspace, &self.store, vec![Record::Job(job)], deadline).await?;
        // An actor that does not run, or does not hear of it, looks by itself.
        let _ = self.slot.cast(DistillerMsg::Look);
        Ok(Queued { queued: true, job_id })
    }

    /// Reads a job of the workspace. Any other is not found.
    pub async fn job(&self, id: JobId, workspace: &WorkspaceRef, deadline: Deadline) -> Result<JobView, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let own = self.store.job(id, Some(workspace.id), deadline).await?;
        own.map(JobView::from).ok_or_else(|| Error::NotFound(format!("job {id} here")))
    }

    async fn open_jobs(&self, deadline: Deadline) -> Result<u64, Error> {
        let jobs = self.store.backlog(deadline).await?;
        Ok([JobState::Queued, JobState::Running].iter().filter_map(|state| jobs.get(state)).sum())
    }
}

fn check(work: &Work) -> Result<(), Error> {
    let texts = match work {
        Work::Distill { session_id, transcript, .. } => {
            [("session_id", session_id, SESSION_MAX_CHARS), ("transcript", transcript, TRANSCRIPT_MAX_CHARS)]
        }
        Work::Capture { question, answer, .. } => {
            [("question", question, TRANSCRIPT_MAX_CHARS), ("answer", answer, TRANSCRIPT_MAX_CHARS)]
        }
    };
    Ok(texts.into_iter().try_for_each(|(argument, text, max)| check_text(argument, text, max))?)
}

/// A session in which rules find no exchange would end without a lesson, and nobody would hear why.
fn check_exchanges(work: &Work) -> Result<(), Error> {
    let Work::Distill { transcript, .. } = work else { return Ok(()) };
    let problem = match transcript::read(transcript.as_bytes()) {
        Ok(read) if !read.exchanges.is_empty() => return Ok(()),
        Ok(_) => "no question in it has an answer".to_owned(),
        Err(error) => error.to_string(),
    };
    let needed = "no language model may read it, as none is set up or background.daily_token_cap is too small for one \
                  answer; it must then be messages as JSON, or Markdown that names who speaks (`## User`, \
                  `## Assistant`)";
    Err(Error::invalid("transcript", format!("cannot be learned from: {problem}; {needed}")))
}

pub(crate) enum DistillerMsg {
    /// There may be something to do.
    Look,
    /// A run has ended. It says whether there was something to do.
    Ran(Result<(WorkerState, bool), Panicked>),
}

/// Background work is done with these.
#[derive(Clone)]
pub(crate) struct DistillerArgs {
    pub(crate) store: StoreHandle,
    pub(crate) memories: MemoriesHandle,
    pub(crate) episodes: EpisodesHandle,
    pub(crate) events: Events,
    /// It is None where there is no model, or background work must not use it.
    pub(crate) model: Option<BudgetedModel>,
    pub(crate) lease: Arc<dyn Lease>,
    pub(crate) clock: Clock,
    pub(crate) pace: Arc<Pace>,
    pub(crate) prompts: Arc<Prompts>,
    /// The most tokens that a prompt may have.
    pub(crate) prompt_token_budget: usize,
    pub(crate) max_output_tokens: u32,
}

pub(crate) struct DistillerState {
    args: DistillerArgs,
    /// It is None while a run is under way, because the run has it.
    worker: Option<WorkerState>,
    /// The actor was asked to look while a run was under way.
    look_again: bool,
    stop: CancellationToken,
    tasks: Tasks,
    /// The timer ends with the state.
    next_look: Option<MessageTimer<DistillerMsg>>,
}

pub(crate) struct DistillerActor;

impl Actor for DistillerActor {
    type Msg = DistillerMsg;
    type State = DistillerState;
    type Arguments = DistillerArgs;

    async fn pre_start(
        &self,
        myself: ActorRef<DistillerMsg>,
        args: DistillerArgs,
    ) -> Result<DistillerState, ActorProcessingErr> {
        myself.send_message(DistillerMsg::Look)?;
        Ok(DistillerState {
            args,
            worker: Some(WorkerState::default()),
            look_again: false,
            stop: CancellationToken::new(),
            tasks: Tasks::new("distiller"),
            next_look: None,
        })
    }

    async fn handle(
        &self,
        myself: ActorRef<DistillerMsg>,
        message: DistillerMsg,
        state: &mut DistillerState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            DistillerMsg::Look => match state.worker.take() {
                Some(worker) => {
                    (state.look_again, state.next_look) = (false, None);
                    let work = run_once(state.args.clone(), worker, state.stop.clone());
                    state.tasks.pipe(&myself, work, DistillerMsg::Ran);
                }
                None => state.look_again = true,
            },
            DistillerMsg::Ran(ran) => {
                // After a panic the lease is gone with the worker: whoever takes it next takes over what was begun.
                let (worker, worked) = ran.unwrap_or_default();
                state.worker = Some(worker);
                if worked || state.look_again {
                    myself.send_message(DistillerMsg::Look)?;
                } else {
                    state.next_look = Some(MessageTimer::after(LOOK_EVERY, &myself, || DistillerMsg::Look));
                }
            }
        }
        Ok(())
    }

    async fn post_stop(&self, _: ActorRef<DistillerMsg>, state: &mut DistillerState) -> Result<(), ActorProcessingErr> {
        state.stop.cancel();
        state.tasks.finish(Deadline::after(FINISH_LIMIT)).await;
        Ok(())
    }
}
