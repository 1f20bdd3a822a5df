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
use tokio::sync::Semaphore;

use super::{BASE, Problem, status};
use crate::export::ExportOptions;
use crate::mcp::{CallEnd, Server};

pub(super) const JSON_LINES: &str = "application/x-ndjson";

/// The number of exports that are read at once. Each holds a page of memories and of traces, however slow its reader
/// is.
const AT_ONCE: usize = 4;
const RETRY_AFTER: Duration = Duration::from_secs(10);

#[derive(Clone)]
struct ExportRoute {
    server: Server,
    room: Arc<Semaphore>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExportQuery {
    workspace: Option<String>,
    #[serde(default)]
    vectors: bool,
}

pub(super) fn routes(server: Server) -> Router {
    let own = ExportRoute { server, room: Arc::new(Semaphore::new(AT_ONCE)) };
    Router::new().route(&format!("{BASE}/export"), get(export)).with_state(own)
}

async fn export(
    State(own): State<ExportRoute>,
    Extension(end): Extension<CallEnd>,
    request: Request,
) -> Result<Response, Problem> {
    let query = Query::<ExportQuery>::try_from_uri(request.uri());
    let Query(ExportQuery { workspace, vectors }) = query.map_err(super::bad_query)?;
    let Ok(place) = Arc::clone(&own.room).try_acquire_owned() else {
        return Ok(status::response(&Error::Overloaded { retry_after: RETRY_AFTER }, false));
    };
    let (parts, _) = request.into_parts();
    let export = match own.server.export(&parts, workspace.as_deref(), ExportOptions { vectors, jobs: false }).await {
        Ok(export) => export,
        Err(error) => return Ok(status::response(&error, false)),
    };
    // An export that breaks off ends without the end of a body, so nobody takes a part of it for a whole one.
    let lines = stream::unfold(Some((export, place)), move |running| {
        let end = end.clone();
        async move {
            let (mut export, place) = running?;
            let line = tokio::select! {
                biased;
                () = end.0.cancelled() => Err(Error::Cancelled),
                line = export.next_line() => line,
            };
            match line {
                Ok(line) => line.map(|line| (Ok(line + "\n"), Some((export, place)))),
                Err(error) => {
                    tracing::warn!(%error, "an export broke off");
                    Some((Err(error), None))
                }
            }
        }
    });
    Ok(([(header::CONTENT_TYPE, JSON_LINES)], Body::from_stream(lines)).into_response())
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
