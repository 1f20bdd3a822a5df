//! The route that imports JSON Lines into a workspace. The body is put aside on the disk while it arrives, because it
//! may be larger than what is held in memory.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Extension, Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use reasoning_bank_actors::error::Error;
use serde::Deserialize;
use serde_json::{Value, json};

use super::export::JSON_LINES;
use super::places::Places;
use super::{BASE, Problem, status};
use crate::http::request_bodies;
use crate::import::ImportFailure;
use crate::limits::{IMPORTS, RequestLimits};
use crate::mcp::{CallEnd, Server};

const MAX_BYTES: u64 = 256 << 20;
/// The number of imports that arrive at once, each of another token. Each lies on the disk, and none in memory.
const ARRIVING: usize = 16;
/// An import that has arrived waits this long for a place.
const PLACE_LIMIT: Duration = Duration::from_secs(60);
const RETRY_AFTER: Duration = Duration::from_secs(30);

#[derive(Clone)]
struct ImportRoute {
    server: Server,
    /// The directory of the files that imports are put aside in.
    data_dir: Arc<Path>,
    arriving: Places,
    places: Places,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ImportQuery {
    workspace: Option<String>,
}

pub(super) fn routes(server: Server, data_dir: Arc<Path>) -> Router {
    let places = |count| Places::new(count, "imports", RETRY_AFTER);
    let own = ImportRoute { server, data_dir, arriving: places(ARRIVING), places: places(IMPORTS) };
    Router::new().route(&format!("{BASE}/import"), post(import)).with_state(own)
}

async fn import(
    State(own): State<ImportRoute>,
    Extension(end): Extension<CallEnd>,
    Extension(limits): Extension<RequestLimits>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let query = Query::<ImportQuery>::try_from_uri(&parts.uri);
    let Query(ImportQuery { workspace }) = query.map_err(super::bad_query)?;
    // Who sends slowly keeps nobody else from importing.
    let _own_place = own.places.take_own(limits.imports())?;
    let arriving = own.arriving.take(Duration::ZERO).await?;
    let target = match own.server.import_target(&parts, workspace.as_deref()).await {
        Ok(target) => target,
        Err(error) => return Ok(status::response(&error, false)),
    };
    let files = || Ok((tempfile::tempfile_in(&own.data_dir)?, tempfile::tempfile_in(&own.data_dir)?));
    let (arrived, aside) = files().map_err(|error| refused(&ImportFailure::Aside(error)))?;
    let work = async {
        let arrived = request_bodies::put_aside(body, arrived, MAX_BYTES).await?;
        let _place = own.places.take(PLACE_LIMIT).await?;
        drop(arriving);
        Ok::<_, Problem>(own.server.import(&parts, target, arrived, aside).await)
    };
    let imported = tokio::select! {
        biased;
        () = end.0.cancelled() => return Ok(status::response(&Error::Cancelled, false)),
        imported = work => imported?,
    };
    match imported {
        Ok(imported) => Ok(Json(imported).into_response()),
        Err(ImportFailure::BrokenOff { error, .. }) => Ok(status::response(&error, false)),
        Err(failure) => Err(refused(&failure)),
    }
}

fn refused(failure: &ImportFailure) -> Problem {
    let hint = match failure {
        ImportFailure::Bad(_) | ImportFailure::TooManyWorkspaces | ImportFailure::BanksTooLarge => {
            "correct or remove what each line names, and send the whole file again"
        }
        ImportFailure::Unreadable(_) | ImportFailure::Aside(_) | ImportFailure::BrokenOff { .. } => {
            "send it again later: what is there already is skipped"
        }
    };
    let code = failure.code();
    Problem::new(status::of(code, false), code.as_str(), failure.to_string(), hint)
}

/// Describes the route, as a path of OpenAPI.
pub(super) fn paths() -> Value {
    let number = json!({"type": "integer", "minimum": 0});
    let counts = json!({"type": "object", "properties": {"memories": number, "traces": number, "signals": number, "jobs": number, "bank_files": number}});
    let notes = json!({"type": "array", "items": {"type": "string"}});
    let answer = json!({"type": "object", "required": ["imported", "skipped", "redactions"], "properties": {
        "imported": counts, "skipped": number, "left_out": counts, "redactions": number, "dropped_characters": number, "notes": notes,
    }});
    json!({format!("{BASE}/import"): {"post": {
        "operationId": "import",
        "summary": "Import into a workspace",
        "description": "Lines as /export writes them. The words are taken and not the claims: memories begin anew with low \
                        confidence, and evidence is left out. What the workspace has already is skipped; all else is stored as \
                        a copy with an id of its own. Either every line is right, or nothing is imported.",
        "parameters": [
            {"$ref": "#/components/parameters/Workspace"},
            {"name": "workspace", "in": "query", "description": "Key of the project.", "schema": {"type": "string"}},
        ],
        "requestBody": {"required": true, "content": {JSON_LINES: {"schema": {"type": "string"}}}},
        "responses": status::responses(
            json!({"description": "What was imported.", "content": {"application/json": {"schema": answer}}}),
            &[StatusCode::PAYLOAD_TOO_LARGE],
        ),
    }}})
}
