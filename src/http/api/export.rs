//! The route that exports a workspace, as a stream of JSON Lines.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, Query, Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures::stream;
use reasoning_bank_actors::error::Error;
use reasoning_bank_domain::access::{Permission, Principal};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{BASE, Problem, invalid, openapi, status};
use crate::audit::{AuditEntry, AuditLog};
use crate::export::{Export, ExportOptions};
use crate::mcp::{CallEnd, Server};

const JSON_LINES: &str = "application/x-ndjson";

#[derive(Clone)]
struct ExportRoute {
    server: Server,
    audit: AuditLog,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExportQuery {
    workspace: Option<String>,
    #[serde(default)]
    vectors: bool,
}

pub(super) fn routes(server: Server, audit: AuditLog) -> Router {
    Router::new().route(&format!("{BASE}/export"), get(export)).with_state(ExportRoute { server, audit })
}

async fn export(
    State(own): State<ExportRoute>,
    Extension(caller): Extension<Arc<Principal>>,
    Extension(end): Extension<CallEnd>,
    request: Request,
) -> Result<Response, Problem> {
    let query = Query::<ExportQuery>::try_from_uri(request.uri());
    let Query(ExportQuery { workspace, vectors }) =
        query.map_err(|error| invalid(format!("the query: {}", error.body_text())))?;
    let (parts, _) = request.into_parts();
    let begun = async {
        let (system, workspace) = own.server.workspace_of(&parts, Permission::Read, workspace.as_deref()).await?;
        let key = workspace.key.map(String::from);
        let options = ExportOptions { vectors, jobs: false };
        Ok::<_, Error>((Export::begin(Some(workspace.id), options, system.store.clone()).await?, key))
    };
    let begun = begun.await;
    let entry = AuditEntry { owner: caller.owner.clone(), ..AuditEntry::about("export") };
    let export = match begun {
        Ok((export, workspace)) => {
            own.audit.append(AuditEntry { workspace, ..entry }).await;
            export
        }
        Err(error) => {
            own.audit.append(AuditEntry { outcome: error.code().as_str(), ..entry }).await;
            return Ok(status::response(&error, false));
        }
    };
    // What breaks off ends without the end of a body, so nobody takes a part of an export for a whole one.
    let lines = stream::unfold(Some(export), move |export| {
        let end = end.clone();
        async move {
            let mut export = export?;
            let line = tokio::select! {
                biased;
                () = end.0.cancelled() => Err(Error::Cancelled),
                line = export.next_line() => line,
            };
            match line {
                Ok(line) => line.map(|line| (Ok(line + "\n"), Some(export))),
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
        "responses": {
            "200": {"description": "The lines.", "content": {JSON_LINES: {"schema": {"type": "string"}}}},
            "default": openapi::failure(),
        },
    }}})
}
