//! JudgeActor: evaluates solutions and judges the chosen one, with bounded concurrency. What it asks is
//! made in `domain::solve::agent_loop` of the templates below `config/prompts/`; the answer is read in
//! `domain::solve::answer`.

use std::sync::Arc;
use std::time::Duration;

use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use reasoning_bank_domain::system::restart::Restart;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use crate::model::{CallOutcome, ask};
use crate::ports::{Completion, LanguageModel};
use crate::runtime::{CallError, ChildSpec, Deadline, Gate, Permit, Slot, Tasks};

const FINISH_LIMIT: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub(crate) struct JudgeHandle {
    slot: Slot<JudgeMsg>,
    gate: Gate,
    concurrency: usize,
}

impl JudgeHandle {
    /// `concurrency`: model calls at once, at least 1; `limit`: of those and the questions that wait.
    pub(crate) fn new(concurrency: usize, limit: usize) -> Self {
        Self { slot: Slot::new(), gate: Gate::new(limit), concurrency }
    }

    pub(crate) fn child(&self, model: Arc<dyn LanguageModel>) -> ChildSpec {
        let concurrency = self.concurrency;
        let arguments = move || JudgeArgs { model: Arc::clone(&model), concurrency };
        ChildSpec::actor("judge", Restart::Permanent, &self.slot, move || (JudgeActor, arguments())).behind(&self.gate)
    }

    pub(crate) async fn ask(
        &self,
        request: Completion,
        deadline: Deadline,
        cancel: CancellationToken,
    ) -> Result<CallOutcome, CallError> {
        let permit = self.gate.enter()?;
        let (request, span) = (Box::new(request), Span::current());
        self.slot.call(|reply| JudgeMsg::Ask { request, deadline, cancel, span, reply, permit }, deadline).await
    }
}

pub(crate) enum JudgeMsg {
    Ask {
        request: Box<Completion>,
        deadline: Deadline,
        cancel: CancellationToken,
        /// The span of the asker.
        span: Span,
        reply: RpcReplyPort<CallOutcome>,
        permit: Permit,
    },
}

pub(crate) struct JudgeArgs {
    model: Arc<dyn LanguageModel>,
    concurrency: usize,
}

pub(crate) struct JudgeState {
    model: Arc<dyn LanguageModel>,
    places: Arc<Semaphore>,
    tasks: Tasks,
}

pub(crate) struct JudgeActor;

impl Actor for JudgeActor {
    type Msg = JudgeMsg;
    type State = JudgeState;
    type Arguments = JudgeArgs;

    async fn pre_start(&self, _: ActorRef<JudgeMsg>, args: JudgeArgs) -> Result<JudgeState, ActorProcessingErr> {
        let places = Arc::new(Semaphore::new(args.concurrency.max(1)));
        Ok(JudgeState { model: args.model, places, tasks: Tasks::new("judge") })
    }

    async fn handle(
        &self,
        _: ActorRef<JudgeMsg>,
        message: JudgeMsg,
        state: &mut JudgeState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            JudgeMsg::Ask { reply, deadline, .. } if reply.is_closed() || deadline.passed() => {}
            JudgeMsg::Ask { request, deadline, cancel, span, reply, permit } => {
                let (model, places) = (Arc::clone(&state.model), Arc::clone(&state.places));
                let until = cancel.clone();
                let work = async move {
                    let _permit = permit;
                    let Ok(_place) = places.acquire().await else { return };
                    if !reply.is_closed() {
                        let _ = reply.send(ask(&*model, *request, deadline, cancel).await);
                    }
                };
                state.tasks.spawn_until(until, work.instrument(span));
            }
        }
        Ok(())
    }

    async fn post_stop(&self, _: ActorRef<JudgeMsg>, state: &mut JudgeState) -> Result<(), ActorProcessingErr> {
        state.tasks.finish(Deadline::after(FINISH_LIMIT)).await;
        Ok(())
    }
}
