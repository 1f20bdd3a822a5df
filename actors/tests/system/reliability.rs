//! Tests of five hundred tasks over a provider of which every fifth call fails, in four ways.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt};
use reasoning_bank_actors::agents::SolveOptions;
use reasoning_bank_actors::ports::{Completion, CompletionReply, FailedCall, LanguageModel, ModelError};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemSettings;
use reasoning_bank_actors::testkit::Scripted;
use reasoning_bank_domain::memory::trace::Outcome;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::support::*;

const TASKS: usize = 500;
const DEADLINE: Duration = Duration::from_secs(600);

/// A model whose calls fail one time in five. The choice depends on the question and on how often it was asked before,
/// not on time or order.
struct Unreliable {
    inner: Scripted,
    asked: Mutex<HashMap<u64, u32>>,
    failed: Arc<Mutex<HashMap<&'static str, usize>>>,
}

impl Unreliable {
    fn fate(&self, request: &Completion) -> u64 {
        let mut question = DefaultHasher::new();
        (request.purpose, request.attempt, &request.input).hash(&mut question);
        let question = question.finish();
        let mut asked = self.asked.lock().unwrap();
        let times = asked.entry(question).or_default();
        *times += 1;
        let mut fate = DefaultHasher::new();
        (question, *times).hash(&mut fate);
        fate.finish() % 20
    }

    fn failed(&self, how: &'static str) {
        *self.failed.lock().unwrap().entry(how).or_default() += 1;
    }
}

impl LanguageModel for Unreliable {
    fn name(&self) -> &str {
        "unreliable"
    }

    fn complete(
        &self,
        request: Completion,
        deadline: Deadline,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<CompletionReply, FailedCall>> {
        async move {
            match self.fate(&request) {
                0 => {
                    self.failed("transient");
                    Err(ModelError::Transient { message: "502".into(), retry_after: None }.into())
                }
                1 => {
                    self.failed("rate limited");
                    let retry_after = Some(Duration::from_secs(5));
                    Err(ModelError::RateLimited { message: "429".into(), retry_after }.into())
                }
                2 => {
                    self.failed("hangs");
                    std::future::pending().await
                }
                // A draft has no form that it could miss.
                3 if request.purpose.is_draft() => {
                    self.failed("transient");
                    Err(ModelError::Transient { message: "connection reset".into(), retry_after: None }.into())
                }
                3 => {
                    self.failed("malformed");
                    let reply = self.inner.complete(request, deadline, cancel).await?;
                    let text = reply.text[..reply.text.len() / 2].to_owned();
                    Ok(CompletionReply { text, ..reply })
                }
                _ => self.inner.complete(request, deadline, cancel).await,
            }
        }
        .boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn of_500_tasks_995_in_1000_succeed_while_every_fifth_call_fails_and_none_is_late() {
    let good = good_model();
    good.latency(Duration::from_secs(2));
    let failed = Arc::new(Mutex::new(HashMap::new()));
    let model = Unreliable { inner: good.clone(), asked: Mutex::default(), failed: Arc::clone(&failed) };
    let mut settings = SystemSettings::default();
    settings.solve.call_timeout = Duration::from_secs(60);
    let world = world_with(model, settings).await;
    let solve = |number: usize| {
        let agents = world.handle.agents.clone();
        async move {
            let begun = Instant::now();
            let call = SolveOptions::until(Deadline::after(DEADLINE));
            let solved = agents.solve(task(&format!("task number {number} of many"), 3), project(), call).await;
            (number, begun.elapsed(), solved)
        }
    };
    let solved: Vec<_> = stream::iter(0..TASKS).map(solve).buffer_unordered(10).collect().await;

    let late: Vec<_> = solved.iter().filter(|(_, elapsed, _)| *elapsed > DEADLINE).collect();
    assert!(late.is_empty(), "{late:?}");
    let unsuccessful: Vec<_> = solved
        .iter()
        .filter(|(_, _, solved)| !matches!(solved, Ok(report) if report.outcome == Outcome::Success))
        .collect();
    assert!(unsuccessful.len() * 1000 <= TASKS * 5, "{} of {TASKS}: {unsuccessful:?}", unsuccessful.len());

    let llm = world.handle.statistics(soon()).await.unwrap().llm.total;
    let failed = failed.lock().unwrap().clone();
    let share = failed.values().sum::<usize>() as f64 / llm.calls as f64;
    assert!((0.18..0.22).contains(&share), "{share} of {} calls: {failed:?}", llm.calls);
    assert_eq!(failed.len(), 4, "{failed:?}");
    assert!(failed.values().all(|count| *count > 100), "{failed:?}");
    assert!(llm.retries > 500, "{llm:?}");
    world.stop().await;
}
