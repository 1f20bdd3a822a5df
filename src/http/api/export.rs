//! The route that exports a workspace, as a stream of JSON Lines.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, Query, Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures::stream;
use reasoning_bank_actors::error::Error;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{Mutex, OwnedSemaphorePermit};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::places::Places;
use super::{BASE, Problem, status};
use crate::export::{Export, ExportOptions};
use crate::limits::{EXPORTS, RequestLimits};
use crate::mcp::{RequestEnd, Server};

pub(super) const JSON_LINES: &str = "application/x-ndjson";

/// An export is read within this time. Each holds a page of memories and of traces, however slow its reader is.
const TIME_LIMIT: Duration = Duration::from_secs(1_800);
const RETRY_AFTER: Duration = Duration::from_secs(10);

#[derive(Clone)]
struct ExportRoute {
    server: Server,
    places: Places,
}

/// The places that an export has: one of its token, and one of all.
type ExportPlaces = (Option<OwnedSemaphorePermit>, OwnedSemaphorePermit);
/// A value that is there until its time is up.
type Timed<T> = Mutex<Option<T>>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExportQuery {
    workspace: Option<String>,
    #[serde(default)]
    vectors: bool,
}

pub(super) fn routes(server: Server) -> Router {
    let own = ExportRoute { server, places: Places::new(EXPORTS, "exports", RETRY_AFTER) };
    Router::new().route(&format!("{BASE}/export"), get(export)).with_state(own)
}

async fn export(
    State(own): State<ExportRoute>,
    Extension(end): Extension<RequestEnd>,
    Extension(limits): Extension<RequestLimits>,
    request: Request,
) -> Result<Response, Problem> {
    let query = Query::<ExportQuery>::try_from_uri(request.uri());
    let Query(ExportQuery { workspace, vectors }) = query.map_err(super::bad_query)?;
    let places = (own.places.take_own(limits.exports())?, own.places.take(Duration::ZERO).await?);
    let (parts, _) = request.into_parts();
    let export = match own.server.export(&parts, workspace.as_deref(), ExportOptions { vectors, jobs: false }).await {
        Ok(export) => export,
        Err(error) => return Ok(status::response(&error, false)),
    };
    // An export that breaks off ends without the end of a body, so nobody takes a part of it for a whole one.
    let lines = stream::unfold(Some(held((export, places), TIME_LIMIT)), move |state| {
        let end = end.clone();
        async move {
            let (export, guard) = state?;
            let line = tokio::select! {
                biased;
                _ = end.reached() => Err(Error::Cancelled),
                line = next_line(&export) => line,
            };
            match line {
                Ok(line) => line.map(|line| (Ok(line + "\n"), Some((export, guard)))),
                Err(error) => {
                    tracing::warn!(%error, "an export broke off");
                    Some((Err(error), None))
                }
            }
        }
    });
    Ok(([(header::CONTENT_TYPE, JSON_LINES)], Body::from_stream(lines)).into_response())
}

/// Holds something for some time, or until the guard is dropped. A reader who takes a little now and then keeps an
/// export and its places no longer than that.
fn held<T: Send + 'static>(value: T, limit: Duration) -> (Arc<Timed<T>>, DropGuard) {
    let (held, ended) = (Arc::new(Mutex::new(Some(value))), CancellationToken::new());
    let (watched, guard) = (Arc::downgrade(&held), ended.clone().drop_guard());
    tokio::spawn(async move {
        if timeout(limit, ended.cancelled()).await.is_err()
            && let Some(held) = watched.upgrade()
        {
            held.lock().await.take();
        }
    });
    (held, guard)
}

async fn next_line(held: &Timed<(Export, ExportPlaces)>) -> Result<Option<String>, Error> {
    match &mut *held.lock().await {
        Some((export, _places)) => export.next_line().await,
        None => Err(Error::DeadlineExceeded),
    }
}

/// Describes the route, as a path of OpenAPI.
pub(super) fn paths() -> Value {
    let query = |name: &str, kind: &str, description: &str| json!({"name": name, "in": "query", "description": description, "schema": {"type": kind}});
    json!({format!("{BASE}/export"): {"get": {
        "operationId": "export",
        "summary": "Export a workspace",
        "description": "One line for each memory, trace and signal of the workspace. `memory import` reads them.",
        "parameters": [
            {"$ref": "#/components/parameters/Workspace"},
            query("workspace", "string", "Key of the project."),
            query("vectors", "boolean", "Whether memories have the vectors of their passages."),
        ],
        "responses": status::responses(
            json!({"description": "The lines.", "content": {JSON_LINES: {"schema": {"type": "string"}}}}),
            &status::OF_WORKSPACES,
        ),
    }}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_export_leaves_its_places_when_its_time_is_up() {
        tokio::time::pause();
        let places = Places::new(1, "exports", RETRY_AFTER);
        let (export, guard) = held(places.take(Duration::ZERO).await.ok().unwrap(), TIME_LIMIT);
        tokio::time::sleep(TIME_LIMIT - Duration::from_secs(1)).await;
        assert!(places.take(Duration::ZERO).await.is_err());
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert!(export.lock().await.is_none() && places.take(Duration::ZERO).await.is_ok());
        drop(guard);
    }
}
