//! A language model that says what the test tells it to, when the test tells it to, and remembers what it was asked.
//! It is no simulation: nothing it says depends on anything but the script.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio::time::{sleep, timeout_at};
use tokio_util::sync::CancellationToken;

use reasoning_bank_domain::prompt::Purpose;
use reasoning_bank_domain::solve::answer::FinishReason;

use crate::ports::{Completion, CompletionReply, FailedCall, LanguageModel, ModelError, Usage};
use crate::runtime::Deadline;

type ScriptedAnswer = Box<dyn Fn(&Completion) -> Result<String, ModelError> + Send + Sync>;

/// Clones share the script.
#[derive(Clone, Default)]
pub struct Scripted {
    script: Arc<Mutex<Script>>,
    progress: Arc<watch::Sender<ScriptProgress>>,
}

#[derive(Default)]
struct Script {
    queued: HashMap<Purpose, VecDeque<Result<String, ModelError>>>,
    otherwise: HashMap<Purpose, Arc<ScriptedAnswer>>,
    held: HashMap<Purpose, watch::Receiver<bool>>,
    latency: Duration,
    ended: HashMap<Purpose, FinishReason>,
    cost_usd: Option<f64>,
    failures_cost: Usage,
    requests: Vec<Completion>,
}

#[derive(Debug, Clone, Copy, Default)]
struct ScriptProgress {
    begun: usize,
    ended: usize,
    abandoned: usize,
    most_at_once: usize,
}

/// Calls of one purpose wait until this is released or dropped.
pub struct HeldCalls {
    released: watch::Sender<bool>,
}

impl HeldCalls {
    pub fn release(self) {}
}

impl Drop for HeldCalls {
    fn drop(&mut self) {
        self.released.send_replace(true);
    }
}

impl Scripted {
    pub fn new() -> Self {
        Self::default()
    }

    /// Queues an answer for the next call of this purpose that nothing is queued for yet.
    pub fn reply(&self, purpose: Purpose, text: impl Into<String>) -> &Self {
        self.script().queued.entry(purpose).or_default().push_back(Ok(text.into()));
        self
    }

    /// Queues a failure as [`Scripted::reply`] queues an answer.
    pub fn fail(&self, purpose: Purpose, error: ModelError) -> &Self {
        self.script().queued.entry(purpose).or_default().push_back(Err(error));
        self
    }

    /// Answers every call of this purpose that nothing is queued for.
    pub fn answer(
        &self,
        purpose: Purpose,
        answer: impl Fn(&Completion) -> Result<String, ModelError> + Send + Sync + 'static,
    ) -> &Self {
        self.script().otherwise.insert(purpose, Arc::new(Box::new(answer)));
        self
    }

    /// Sets how long each call takes from now on.
    pub fn latency(&self, latency: Duration) -> &Self {
        self.script().latency = latency;
        self
    }

    /// Makes answers of this purpose end like this from now on.
    pub fn cut_off(&self, purpose: Purpose, ended: FinishReason) -> &Self {
        self.script().ended.insert(purpose, ended);
        self
    }

    /// Sets what each call with an answer costs from now on, in USD.
    pub fn cost(&self, usd: f64) -> &Self {
        self.script().cost_usd = Some(usd);
        self
    }

    /// Sets what each call that fails costs from now on.
    pub fn failures_cost(&self, usage: Usage) -> &Self {
        self.script().failures_cost = usage;
        self
    }

    /// Lets calls of this purpose begin, and makes them wait until what is returned is released or dropped.
    pub fn hold(&self, purpose: Purpose) -> HeldCalls {
        let released = watch::Sender::new(false);
        self.script().held.insert(purpose, released.subscribe());
        HeldCalls { released }
    }

    /// Returns every request so far, in the order of arrival.
    pub fn requests(&self) -> Vec<Completion> {
        self.script().requests.clone()
    }

    pub fn calls(&self, purpose: Purpose) -> usize {
        self.script().requests.iter().filter(|request| request.purpose == purpose).count()
    }

    /// Counts the calls that ended without an answer because they were cancelled, dropped, or late.
    pub fn abandoned(&self) -> usize {
        self.progress.borrow().abandoned
    }

    /// Returns the most calls that were running at the same time.
    pub fn most_at_once(&self) -> usize {
        self.progress.borrow().most_at_once
    }

    /// Waits until the given number of calls have begun, over all purposes. Returns false at the deadline.
    pub async fn begun(&self, calls: usize, deadline: Deadline) -> bool {
        self.progressed(deadline, |progress| progress.begun >= calls).await
    }

    /// Waits until no call is running. Returns false at the deadline.
    pub async fn idle(&self, deadline: Deadline) -> bool {
        self.progressed(deadline, |progress| progress.begun == progress.ended).await
    }

    async fn progressed(&self, deadline: Deadline, reached: impl FnMut(&ScriptProgress) -> bool) -> bool {
        let mut progress = self.progress.subscribe();
        let reached = progress.wait_for(reached);
        matches!(timeout_at(deadline.instant(), reached).await, Ok(Ok(_)))
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn answered(&self, request: &Completion) -> Result<CompletionReply, FailedCall> {
        let (held, latency) = {
            let script = self.script();
            (script.held.get(&request.purpose).cloned(), script.latency)
        };
        if let Some(mut held) = held {
            let _ = held.wait_for(|released| *released).await;
        }
        sleep(latency).await;
        let failed = |error| FailedCall { error, usage: self.script().failures_cost };
        let text = self.next_answer(request).map_err(failed)?;
        let usage = Usage {
            input_tokens: words(&request.instructions) + words(&request.input),
            output_tokens: words(&text),
            reasoning_tokens: 0,
            cost_usd: self.script().cost_usd,
        };
        let ended = self.script().ended.get(&request.purpose).copied().unwrap_or_default();
        Ok(CompletionReply { text, usage, cached: false, ended })
    }

    fn next_answer(&self, request: &Completion) -> Result<String, ModelError> {
        let mut script = self.script();
        if let Some(queued) = script.queued.get_mut(&request.purpose).and_then(VecDeque::pop_front) {
            return queued;
        }
        let otherwise = script.otherwise.get(&request.purpose).cloned();
        drop(script);
        match otherwise {
            Some(answer) => answer(request),
            None => Err(ModelError::Refused(format!("the script has nothing for {}", request.purpose.as_str()))),
        }
    }
}

impl LanguageModel for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn complete(
        &self,
        request: Completion,
        deadline: Deadline,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<CompletionReply, FailedCall>> {
        async move {
            self.script().requests.push(request.clone());
            let mut call = ScriptedCall::begin(&self.progress);
            let answered = cancel.run_until_cancelled(timeout_at(deadline.instant(), self.answered(&request))).await;
            match answered {
                None => Err(ModelError::Cancelled.into()),
                Some(Err(_)) => Err(ModelError::TimedOut.into()),
                Some(Ok(answer)) => {
                    call.answered = true;
                    answer
                }
            }
        }
        .boxed()
    }
}

/// One call that is running. A caller may drop it at any point.
struct ScriptedCall<'a> {
    progress: &'a watch::Sender<ScriptProgress>,
    answered: bool,
}

impl<'a> ScriptedCall<'a> {
    fn begin(progress: &'a watch::Sender<ScriptProgress>) -> Self {
        progress.send_modify(|progress| {
            progress.begun += 1;
            progress.most_at_once = progress.most_at_once.max(progress.begun - progress.ended);
        });
        Self { progress, answered: false }
    }
}

impl Drop for ScriptedCall<'_> {
    fn drop(&mut self) {
        self.progress.send_modify(|progress| {
            progress.ended += 1;
            progress.abandoned += usize::from(!self.answered);
        });
    }
}

fn words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}
