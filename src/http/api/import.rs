//! The route that imports JSON Lines into a workspace. The body is put aside on the disk while it arrives, because it
//! may be larger than what is held in memory.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::body::HttpBody;
use axum::extract::{Extension, Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use super::export::JSON_LINES;
use super::places::Places;
use super::{BASE, DESCRIBED, Problem, idempotency, invalid, media_type, status};
use crate::http::request_bodies;
use crate::import::ImportFailure;
use crate::limits::{IMPORTS, RequestLimits};
use crate::mcp::{ArrivedImport, RequestEnd, Server};

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
    /// The work that goes on though its client is gone.
    work: TaskTracker,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ImportQuery {
    workspace: Option<String>,
}

pub(super) fn routes(server: Server, data_dir: Arc<Path>, work: TaskTracker) -> Router {
    let places = |count| Places::new(count, "imports", RETRY_AFTER);
    let own = ImportRoute { server, data_dir, arriving: places(ARRIVING), places: places(IMPORTS), work };
    Router::new().route(&format!("{BASE}/import"), post(import)).with_state(own)
}

async fn import(
    State(own): State<ImportRoute>,
    Extension(end): Extension<RequestEnd>,
    Extension(limits): Extension<RequestLimits>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    check_headers(&parts.headers, body.is_end_stream())?;
    let query = Query::<ImportQuery>::try_from_uri(&parts.uri);
    let Query(ImportQuery { workspace }) = query.map_err(super::bad_query)?;
    // Who sends slowly keeps nobody else from importing.
    let own_place = own.places.take_own(limits.imports())?;
    let arriving = own.arriving.take(Duration::ZERO).await?;
    let target = match own.server.import_target(&parts, workspace.as_deref()).await {
        Ok(target) => target,
        Err(error) => return Ok(status::response(&error, false)),
    };
    let files = || Ok((tempfile::tempfile_in(&own.data_dir)?, tempfile::tempfile_in(&own.data_dir)?));
    let (arrived, aside) = files().map_err(|error| refused(&ImportFailure::Aside(error)))?;
    let arrived = request_bodies::put_aside(body, arrived, MAX_BYTES).await?;
    let place = own.places.take(PLACE_LIMIT).await?;
    drop(arriving);
    // This handler is dropped when its client goes away, and when its token or the server ends.
    let given_up = CancellationToken::new();
    let _guard = given_up.clone().drop_guard();
    let arrived = ArrivedImport { target, files: (arrived, aside), given_up, end };
    let server = own.server;
    let importing = async move {
        let _places = (own_place, place);
        server.import(&parts, arrived).await
    };
    let Ok(imported) = own.work.spawn(importing.instrument(tracing::Span::current())).await else {
        return Err(Problem::internal());
    };
    match imported {
        Ok(imported) => Ok(Json(imported).into_response()),
        Err(ImportFailure::BrokenOff { error, .. }) => Ok(status::response(&error, false)),
        Err(failure) => Err(refused(&failure)),
    }
}

/// Refuses a key, which is not needed: what is there already is skipped. Refuses as well what does not say that it is
/// lines of JSON. A body that is empty has none, and no type.
fn check_headers(headers: &HeaderMap, is_empty: bool) -> Result<(), Problem> {
    if headers.contains_key(idempotency::HEADER) {
        return Err(invalid("an import takes no Idempotency-Key: sent again, it skips what is there already"));
    }
    if !is_empty && !media_type(headers).eq_ignore_ascii_case(JSON_LINES) {
        let problem = format!("the body must be lines of JSON, and the header Content-Type must say {JSON_LINES}");
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "invalid_argument", problem, DESCRIBED));
    }
    Ok(())
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
            &[status::OF_WORKSPACES.as_slice(), &status::OF_BODIES].concat(),
        ),
    }}})
}
