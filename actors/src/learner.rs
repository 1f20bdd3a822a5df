//! LearnerActor keeps what conversations teach. `domain::learning::capture` decides what is worth keeping and what
//! becomes of it. The actor works on one batch at a time, so that exchanges that say the same meet each other.

use std::sync::Arc;
use std::time::Duration;

use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use reasoning_bank_domain::learning::capture::{
    CaptureOrigin, CaptureOutcome, Captured, Draft, Novelty, Thresholds, Traits, assess, rule_of, scrubbed,
};
use reasoning_bank_domain::learning::job::{Queued, Work};
use reasoning_bank_domain::learning::transcript::{Exchange, MAX_ANSWER_CHARS, MAX_QUESTION_CHARS};
use reasoning_bank_domain::memory::{LESSON_CONTENT_MAX_CHARS, Memory, Trust, check_text};
use reasoning_bank_domain::safety::secrets::Removed;
use reasoning_bank_domain::system::restart::Restart;
use tokio::sync::Semaphore;
use tokio::time::timeout_at;
use tracing::{Instrument, Span};

use crate::distiller::DistillerHandle;
use crate::error::Error;
use crate::memories::MemoriesHandle;
use crate::ports::Clock;
use crate::runtime::{CallError, ChildSpec, Deadline, Gate, Permit, Slot, Tasks, ask_again_if_dropped};
use crate::workspaces::{Resolved, WorkspaceRef, WorkspacesHandle};

/// The most batches that the learner lets in: those that it works on and those that wait.
const GATE: usize = 64;
/// The most exchanges in a batch.
pub const MAX_BATCH: usize = 64;
const FINISH_LIMIT: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LearnerSettings {
    /// True where exchanges that clients offer are captured. What somebody asks to be learned is learned in any case.
    pub enabled: bool,
    pub thresholds: Thresholds,
    /// True where a model draws the lessons of captured exchanges, in the background and within its cap.
    pub llm: bool,
}

impl Default for LearnerSettings {
    fn default() -> Self {
        Self { enabled: true, thresholds: Thresholds::default(), llm: false }
    }
}

#[derive(Clone)]
pub struct LearnerHandle {
    slot: Slot<LearnerMsg>,
    gate: Gate,
    workspaces: WorkspacesHandle,
    settings: LearnerSettings,
    /// The distiller, where a model draws the lessons. None where rules do.
    distiller: Option<DistillerHandle>,
}

impl LearnerHandle {
    pub(crate) fn new(
        workspaces: WorkspacesHandle,
        settings: LearnerSettings,
        distiller: Option<DistillerHandle>,
    ) -> Self {
        Self { slot: Slot::new(), gate: Gate::new(GATE), workspaces, settings, distiller }
    }

    pub(crate) fn child(&self, memories: MemoriesHandle, clock: Clock) -> ChildSpec {
        let thresholds = self.settings.thresholds;
        let arguments = move || LearnerArgs { memories: memories.clone(), clock: clock.clone(), thresholds };
        let start = move || (LearnerActor, arguments());
        ChildSpec::actor("learner", Restart::Transient, &self.slot, start).behind(&self.gate)
    }

    /// Captures an exchange that a client offers. What is kept of it is durable when this returns. The same exchange
    /// again adds nothing.
    ///
    /// # Errors
    /// `invalid_argument` for a text that is blank or too long; `overloaded`, `deadline_exceeded` and those of the
    /// store.
    pub async fn capture(
        &self,
        exchange: Exchange,
        workspace: &WorkspaceRef,
        trust: Trust,
        deadline: Deadline,
    ) -> Result<Captured, Error> {
        check_text("question", &exchange.question, MAX_QUESTION_CHARS)?;
        check_text("answer", &exchange.answer, MAX_ANSWER_CHARS)?;
        if !self.settings.enabled {
            return Ok(Captured { outcome: CaptureOutcome::Off, id: None, removed: Removed::default() });
        }
        // A rule that the user states is kept by rules, where a model would be asked nothing.
        let is_only_rule = || {
            let judged = assess(&exchange.question, &exchange.answer, &self.settings.thresholds);
            judged.verdict.is_err() && rule_of(&exchange).is_some()
        };
        if let Some(distiller) = self.distiller.as_ref().filter(|_| !is_only_rule()) {
            return self.hand_on(exchange, workspace, distiller, deadline).await;
        }
        let captured = self.learn(vec![exchange], workspace, trust, deadline).await?.pop();
        captured.ok_or_else(|| Error::internal("an exchange was not answered"))
    }

    /// Queues a background job for an exchange that is worth keeping. The same exchange always gives the same job.
    async fn hand_on(
        &self,
        exchange: Exchange,
        workspace: &WorkspaceRef,
        distiller: &DistillerHandle,
        deadline: Deadline,
    ) -> Result<Captured, Error> {
        let (exchange, removed) = scrubbed(exchange);
        let outcome = match assess(&exchange.question, &exchange.answer, &self.settings.thresholds).verdict {
            Err(refused) => CaptureOutcome::Refused(refused),
            Ok(traits) => {
                let Exchange { question, answer, session, .. } = exchange;
                let work = Work::Capture { question, answer, session_id: session };
                let Queued { queued, .. } = distiller.queue(work, workspace, deadline).await?;
                if queued { CaptureOutcome::Queued(traits) } else { CaptureOutcome::Kept(traits, Novelty::Known) }
            }
        };
        Ok(Captured { outcome, id: None, removed })
    }

    /// Learns exchanges that somebody asks to be learned, and returns what became of each, in their order. There are at
    /// most [`MAX_BATCH`], and all have the same trust. Everything that is kept of them is stored, or nothing. Calling
    /// again is safe.
    pub async fn learn(
        &self,
        exchanges: Vec<Exchange>,
        workspace: &WorkspaceRef,
        trust: Trust,
        deadline: Deadline,
    ) -> Result<Vec<Captured>, Error> {
        if exchanges.len() > MAX_BATCH {
            let problem = format!("are {}; at most {MAX_BATCH} are taken at once", exchanges.len());
            return Err(Error::invalid("exchanges", problem));
        }
        let begun = self.workspaces.resolve(workspace, deadline).await?;
        let batch = Arc::new(ExchangeBatch { exchanges, begun, trust });
        // The ids tell what the actor stored before it ended.
        ask_again_if_dropped(|| self.ask(&batch, deadline)).await?
    }

    async fn ask(
        &self,
        batch: &Arc<ExchangeBatch>,
        deadline: Deadline,
    ) -> Result<Result<Vec<Captured>, Error>, CallError> {
        let permit = self.gate.enter()?;
        let (batch, span) = (Arc::clone(batch), Span::current());
        self.slot.call(|reply| LearnerMsg::Learn { batch, deadline, span, reply, permit }, deadline).await
    }
}

pub(crate) enum LearnerMsg {
    Learn {
        batch: Arc<ExchangeBatch>,
        deadline: Deadline,
        /// The span of the asker.
        span: Span,
        reply: RpcReplyPort<Result<Vec<Captured>, Error>>,
        permit: Permit,
    },
}

/// Exchanges that are learned together.
pub(crate) struct ExchangeBatch {
    exchanges: Vec<Exchange>,
    begun: Resolved,
    trust: Trust,
}

#[derive(Clone)]
pub(crate) struct LearnerArgs {
    memories: MemoriesHandle,
    clock: Clock,
    thresholds: Thresholds,
}

pub(crate) struct LearnerState {
    args: LearnerArgs,
    turn: Arc<Semaphore>,
    tasks: Tasks,
}

pub(crate) struct LearnerActor;

impl Actor for LearnerActor {
    type Msg = LearnerMsg;
    type State = LearnerState;
    type Arguments = LearnerArgs;

    async fn pre_start(&self, _: ActorRef<LearnerMsg>, args: LearnerArgs) -> Result<LearnerState, ActorProcessingErr> {
        Ok(LearnerState { args, turn: Arc::new(Semaphore::new(1)), tasks: Tasks::new("learner") })
    }

    async fn handle(
        &self,
        _: ActorRef<LearnerMsg>,
        message: LearnerMsg,
        state: &mut LearnerState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            LearnerMsg::Learn { reply, deadline, .. } if reply.is_closed() || deadline.passed() => {}
            LearnerMsg::Learn { batch, deadline, span, reply, permit } => {
                let (args, turn) = (state.args.clone(), Arc::clone(&state.turn));
                let work = async move {
                    let _permit = permit;
                    let Ok(Ok(_turn)) = timeout_at(deadline.instant(), turn.acquire()).await else { return };
                    if !reply.is_closed() {
                        let _ = reply.send(args.learn(&batch, deadline).await);
                    }
                };
                state.tasks.spawn(work.instrument(span));
            }
        }
        Ok(())
    }

    async fn post_stop(&self, _: ActorRef<LearnerMsg>, state: &mut LearnerState) -> Result<(), ActorProcessingErr> {
        state.tasks.finish(Deadline::after(FINISH_LIMIT)).await;
        Ok(())
    }
}

impl LearnerArgs {
    async fn learn(&self, batch: &ExchangeBatch, deadline: Deadline) -> Result<Vec<Captured>, Error> {
        let origin = CaptureOrigin { workspace_id: batch.begun.workspace.id.clone(), trust: batch.trust };
        let at = self.clock.now();
        let (mut captured, mut drafts) = (Vec::with_capacity(batch.exchanges.len()), Vec::new());
        for exchange in &batch.exchanges {
            let (exchange, removed) = scrubbed(exchange.clone());
            let rule = Draft::of_rule(&exchange, &origin, at);
            let outcome = match Draft::of(&exchange, &origin, &self.thresholds, at) {
                Ok((traits, draft)) => {
                    log_cuts(&exchange, &draft.memory);
                    drafts.push((captured.len(), draft));
                    CaptureOutcome::Kept(traits, Novelty::New)
                }
                Err(_) if rule.is_some() => {
                    CaptureOutcome::Kept(Traits { rule: true, ..Traits::default() }, Novelty::New)
                }
                Err(refused) => CaptureOutcome::Refused(refused),
            };
            // The answer to a rule may teach something as well, and then its lesson is told.
            drafts.extend(rule.map(|draft| (captured.len(), draft)));
            captured.push(Captured { outcome, id: None, removed });
            // Long texts take their time, so the others on this thread get a turn.
            tokio::task::yield_now().await;
        }
        if drafts.is_empty() {
            return Ok(captured);
        }
        let (positions, drafts): (Vec<usize>, Vec<Draft>) = drafts.into_iter().unzip();
        let kept = self.memories.capture(drafts, &batch.begun, deadline).await?;
        for (position, (novelty, id)) in positions.into_iter().zip(kept) {
            let one = &mut captured[position];
            if one.id.is_some() {
                continue;
            }
            one.id = id;
            if let CaptureOutcome::Kept(_, what) = &mut one.outcome {
                *what = novelty;
            }
        }
        Ok(captured)
    }
}

/// Logs what rules kept of an exchange that is longer than a memory may be.
fn log_cuts(exchange: &Exchange, memory: &Memory) {
    let chars = |text: &str| text.chars().count();
    let (question, answer) = (chars(&exchange.whole_question()), chars(&exchange.answer));
    let (task, content) = (chars(&memory.task), chars(&memory.content));
    if task < question || answer > LESSON_CONTENT_MAX_CHARS {
        tracing::info!(question, task, answer, content, "an exchange was cut to what a memory holds, in characters");
    }
}
