//! The stream of a solve, as server-sent events: while it runs its stages and `progress`, and then `done` with the
//! report or `error` with the failure or the reason why it was cancelled.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, stream};
use reasoning_bank_actors::error::Error;
use reasoning_bank_domain::solve::task::Progress;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::DropGuard;

use super::{Problem, status};
use crate::mcp::RequestEnd;

/// Proxies close connections on which nothing is said. A comment is sent this often.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Streams the progress of a solve and its end, `until` its token or the server ends. What fails before it has begun is
/// answered with a status of its own. `guard` cancels the solve when the reader of the stream goes away.
pub(super) async fn respond(
    mut answer: JoinHandle<Result<Value, Error>>,
    mut news: watch::Receiver<Progress>,
    guard: Option<DropGuard>,
    until: RequestEnd,
) -> Response {
    tokio::select! {
        biased;
        Ok(()) = news.changed() => news.mark_changed(),
        ended = &mut answer => return match done(ended) {
            Ok(report) => unbuffered(Sse::new(stream::iter([Ok::<_, Infallible>(event("done", &report))]))),
            Err(error) => status::response(&error, false),
        },
    }
    let begun = Some((answer, news, guard, until, 0));
    let events = stream::unfold(begun, async |running| {
        let (mut answer, mut news, guard, until, told) = running?;
        tokio::select! {
            biased;
            Ok(()) = news.changed() => {
                let progress = news.borrow_and_update().clone();
                let events = new_events(&progress, told);
                Some((events, Some((answer, news, guard, until, progress.stages.len()))))
            }
            ended = &mut answer => {
                let last = match done(ended) {
                    Ok(report) => event("done", &report),
                    Err(error) => event("error", &status::document(&error)["error"]),
                };
                Some((vec![last], None))
            }
            by = until.reached() => Some((vec![event("error", &Problem::from(by).document()["error"])], None)),
        }
    });
    let events = events.flat_map(stream::iter);
    unbuffered(Sse::new(events.map(Ok::<_, Infallible>)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

/// Tells proxies to pass each event on at once.
fn unbuffered(events: impl IntoResponse) -> Response {
    ([("x-accel-buffering", "no")], events).into_response()
}

/// Makes the events of the stages that were reached since the first `told`, and of the calls that are complete.
fn new_events(progress: &Progress, told: usize) -> Vec<Event> {
    let Progress { completed, total, stages, .. } = progress;
    let new = stages.iter().skip(told).map(|stage| event(stage.name(), &json!(stage)));
    new.chain([event("progress", &json!({"completed": completed, "total": total}))]).collect()
}

fn done(ended: Result<Result<Value, Error>, JoinError>) -> Result<Value, Error> {
    ended.unwrap_or_else(|_panic| Err(Error::internal("a solve panicked")))
}

/// Makes an event. JSON has no line breaks outside of its texts, where they are escaped.
fn event(name: &str, document: &Value) -> Event {
    Event::default().event(name).data(document.to_string())
}
