//! The pool of MattsWorkers: each drafts one attempt at a time. The pool is a ractor factory, which replaces a worker
//! that dies; the draft it was making is lost and counts as a failed attempt.
//!
//! A worker's handler is its work, so unlike other actors it awaits the model; it ends early when its call is cancelled
//! or past its deadline.

use std::sync::Arc;

use futures::FutureExt;
use ractor::factory::{
    Factory, FactoryArguments, FactoryMessage, FactoryRef, Job, Worker, WorkerId, queues, routing, worker_builder,
};
use ractor::{Actor, ActorProcessingErr, RpcReplyPort};
use reasoning_bank_domain::system::restart::Restart;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use crate::model::{CallOutcome, ask};
use crate::ports::{Completion, LanguageModel};
use crate::runtime::{CallError, ChildSpec, Deadline, Gate, Permit, Slot};

#[derive(Clone)]
pub(crate) struct MattsHandle {
    slot: Slot<FactoryMessage<(), MattsMsg>>,
    gate: Gate,
    workers: usize,
}

impl MattsHandle {
    /// `workers`: drafts at once, at least 1; `limit`: of those that are made and those that wait.
    pub(crate) fn new(workers: usize, limit: usize) -> Self {
        Self { slot: Slot::new(), gate: Gate::new(limit), workers: workers.max(1) }
    }

    pub(crate) fn child(&self, model: Arc<dyn LanguageModel>) -> ChildSpec {
        let workers = self.workers;
        ChildSpec::factory("matts", Restart::Permanent, &self.slot, move |supervisor| {
            let model = Arc::clone(&model);
            async move {
                let factory = Factory::<
                    (),
                    MattsMsg,
                    Arc<dyn LanguageModel>,
                    MattsWorker,
                    routing::QueuerRouting<(), MattsMsg>,
                    queues::DefaultQueue<(), MattsMsg>,
                >::default();
                let arguments = FactoryArguments::builder()
                    .worker_builder(Box::new(worker_builder(move |_| (MattsWorker, Arc::clone(&model)))))
                    .queue(Default::default())
                    .router(Default::default())
                    .num_initial_workers(workers)
                    .build();
                Ok(Actor::spawn_linked(None, factory, arguments, supervisor).await?.0)
            }
            .boxed()
        })
        .behind(&self.gate)
    }

    pub(crate) async fn draft(
        &self,
        request: Completion,
        deadline: Deadline,
        cancel: CancellationToken,
    ) -> Result<CallOutcome, CallError> {
        let permit = self.gate.enter()?;
        let span = Span::current();
        let message = |reply| {
            let msg = MattsMsg { request: Box::new(request), deadline, cancel, span, reply, _permit: permit };
            FactoryMessage::Dispatch(Job::builder().key(()).msg(msg).build())
        };
        self.slot.call(message, deadline).await
    }
}

/// Asks for one draft.
pub(crate) struct MattsMsg {
    request: Box<Completion>,
    deadline: Deadline,
    cancel: CancellationToken,
    /// The span of the asker.
    span: Span,
    reply: RpcReplyPort<CallOutcome>,
    _permit: Permit,
}

struct MattsWorker;

impl Worker for MattsWorker {
    type Key = ();
    type Message = MattsMsg;
    type Arguments = Arc<dyn LanguageModel>;
    type State = Arc<dyn LanguageModel>;

    async fn pre_start(
        &self,
        _: WorkerId,
        _: &FactoryRef<(), MattsMsg>,
        model: Arc<dyn LanguageModel>,
    ) -> Result<Arc<dyn LanguageModel>, ActorProcessingErr> {
        Ok(model)
    }

    async fn handle(
        &self,
        _: WorkerId,
        _: &FactoryRef<(), MattsMsg>,
        job: Job<(), MattsMsg>,
        model: &mut Arc<dyn LanguageModel>,
    ) -> Result<(), ActorProcessingErr> {
        let MattsMsg { request, deadline, cancel, span, reply, _permit } = job.msg;
        if !reply.is_closed() && !deadline.passed() {
            let _ = reply.send(ask(&**model, *request, deadline, cancel).instrument(span).await);
        }
        Ok(())
    }
}
