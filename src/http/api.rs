//! The bank for scripts: `/api/v1`. A route in [`ROUTES`] is answered by a tool of `mcp`, so that agents and scripts
//! have the same rules, bounds and answers. No agent has a tool for the tokens (`tokens`), a whole export (`export`) or
//! an import (`import`).
//!
//! The arguments of a tool come from the path, from the query or from the body, whichever the method has. `openapi`
//! describes the routes, `status` says what a failure is in HTTP, and `events` is the stream of a solve.

mod events;
mod export;
mod idempotency;
mod import;
mod openapi;
mod places;
mod revision;
mod status;
mod tokens;

use std::path::Path;
use std::sync::{Arc, LazyLock};

use axum::Json;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Query, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, get, on};
use reasoning_bank_actors::error::Error;
use reasoning_bank_domain::note::Code;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use self::tokens::TokenRoutes;
use super::problem::Problem;
use crate::audit::AuditLog;
use crate::mcp::{MAX_BODY_BYTES, RequestEnd, ScriptCall, Server};

/// The path that all routes are below.
const BASE: &str = "/api/v1";
/// The argument that a request may also have in its query, whatever its method is.
const WORKSPACE: &str = "workspace";
/// The hint for a request that no route understands.
const DESCRIBED: &str = "correct the request; /api/v1/openapi.json describes every route";

/// A method at a path, and the tool that answers it.
struct Route {
    method: Method,
    /// The path below [`BASE`]. What is in braces is an argument of the tool.
    path: &'static str,
    tool: &'static str,
    answer: RouteAnswer,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RouteAnswer {
    Document,
    /// A memory, with its revision as the entity tag.
    Memory,
    /// Server-sent events, the last of which has the document.
    Events,
}

const fn route(method: Method, path: &'static str, tool: &'static str, answer: RouteAnswer) -> Route {
    Route { method, path, tool, answer }
}

const ROUTES: &[Route] = &[
    route(Method::GET, "/memories", "list_memories", RouteAnswer::Document),
    route(Method::POST, "/memories", "record_memory", RouteAnswer::Document),
    route(Method::POST, "/memories/search", "retrieve_memories", RouteAnswer::Document),
    route(Method::GET, "/memories/{memory_id}", "get_memory", RouteAnswer::Memory),
    route(Method::PATCH, "/memories/{memory_id}", "update_memory", RouteAnswer::Memory),
    route(Method::DELETE, "/memories/{memory_id}", "delete_memory", RouteAnswer::Document),
    route(Method::GET, "/memories/{memory_id}/genealogy", "get_memory_genealogy", RouteAnswer::Document),
    route(Method::POST, "/outcomes", "report_outcome", RouteAnswer::Document),
    route(Method::POST, "/context", "get_context_for_task", RouteAnswer::Document),
    route(Method::POST, "/recovery", "get_recovery", RouteAnswer::Document),
    route(Method::POST, "/patterns", "record_pattern", RouteAnswer::Document),
    route(Method::POST, "/patterns/search", "find_patterns", RouteAnswer::Document),
    route(Method::GET, "/patterns/{pattern_id}", "get_pattern", RouteAnswer::Document),
    route(Method::POST, "/patterns/{pattern_id}/applications", "record_application", RouteAnswer::Document),
    route(Method::POST, "/exchanges", "capture_exchange", RouteAnswer::Document),
    route(Method::POST, "/sessions", "distill_session", RouteAnswer::Document),
    route(Method::GET, "/jobs/{job_id}", "get_job", RouteAnswer::Document),
    route(Method::GET, "/traces", "list_traces", RouteAnswer::Document),
    route(Method::GET, "/traces/{trace_id}", "get_trace", RouteAnswer::Document),
    route(Method::GET, "/episodes", "list_episodes", RouteAnswer::Document),
    route(Method::POST, "/episodes", "record_episode", RouteAnswer::Document),
    route(Method::POST, "/episodes/search", "search_episodes", RouteAnswer::Document),
    route(Method::POST, "/episodes/learn", "learn_from_episode", RouteAnswer::Document),
    route(Method::POST, "/episodes/purge", "purge_episodes", RouteAnswer::Document),
    route(Method::GET, "/episodes/{episode_id}", "get_episode", RouteAnswer::Document),
    route(Method::GET, "/episodes/{episode_id}/artefacts/{artefact}", "get_artefact", RouteAnswer::Document),
    route(Method::DELETE, "/episodes/{episode_id}", "delete_episode", RouteAnswer::Document),
    route(Method::POST, "/episodes/{episode_id}/archive", "archive_episode", RouteAnswer::Document),
    route(Method::POST, "/episodes/{episode_id}/restore", "restore_episode", RouteAnswer::Document),
    route(Method::POST, "/consolidations", "consolidate", RouteAnswer::Document),
    route(Method::GET, "/consolidations", "list_consolidations", RouteAnswer::Document),
    route(Method::GET, "/consolidations/{run_id}", "get_consolidation", RouteAnswer::Document),
    route(Method::POST, "/consolidations/{run_id}/undo", "undo_consolidation", RouteAnswer::Document),
    route(Method::POST, "/working", "working_open", RouteAnswer::Document),
    route(Method::PATCH, "/working/{task_id}", "working_update", RouteAnswer::Document),
    route(Method::POST, "/working/{task_id}/context", "working_context", RouteAnswer::Document),
    route(Method::POST, "/working/{task_id}/close", "working_close", RouteAnswer::Document),
    route(Method::POST, "/banks/activate", "activate", RouteAnswer::Document),
    route(Method::POST, "/banks/update", "update", RouteAnswer::Document),
    route(Method::GET, "/banks/{bank}/versions", "list_bank_versions", RouteAnswer::Document),
    route(Method::POST, "/banks/{bank}/restore", "restore_bank", RouteAnswer::Document),
    route(Method::GET, "/workspaces", "list_workspaces", RouteAnswer::Document),
    route(Method::GET, "/workspaces/{path}", "get_workspace", RouteAnswer::Document),
    route(Method::DELETE, "/workspaces/{path}", "delete_workspace", RouteAnswer::Document),
    route(Method::GET, "/stats", "get_statistics", RouteAnswer::Document),
    route(Method::DELETE, "/stats", "reset_statistics", RouteAnswer::Document),
    route(Method::GET, "/health", "health_check", RouteAnswer::Document),
    route(Method::POST, "/solve", "solve_coding_task", RouteAnswer::Events),
];

impl Route {
    /// Says whether the arguments come in the body. Else they come in the query.
    fn has_body(&self) -> bool {
        matches!(self.method, Method::POST | Method::PATCH | Method::PUT)
    }

    /// Says whether the request has to name the revision of the memory that it changes.
    fn wants_revision(&self) -> bool {
        self.answer == RouteAnswer::Memory && self.has_body()
    }

    /// Says whether an argument is set by the route itself: who sends a DELETE has understood that it erases.
    fn implies(&self, argument: &str) -> bool {
        self.method == Method::DELETE && argument == "confirm"
    }
}

/// The routes for scripts. Who asks was found out before a request comes to one.
#[derive(Default)]
pub(crate) struct ApiRoutes {
    /// The routes whose bodies are held in memory.
    pub(super) held: Router,
    /// The routes that read the body themselves, because it may be too large for that.
    pub(super) streamed: Router,
    /// The work that goes on though its client is gone. The end of the server waits for it.
    pub(super) work: TaskTracker,
}

impl ApiRoutes {
    pub(super) fn new(server: Server, data_dir: &Path, audit: &AuditLog) -> Self {
        let work = server.work();
        let tokens = TokenRoutes::new(data_dir.to_owned(), audit.clone(), work.clone());
        let of = server.clone();
        let description = Arc::new(LazyLock::new(move || openapi::document(&of)));
        let described = get(async move || Json(&**description).into_response());
        let mut held = Router::new().route(&format!("{BASE}/openapi.json"), described);
        for route in ROUTES {
            let (server, work) = (server.clone(), work.clone());
            let Ok(filter) = MethodFilter::try_from(route.method.clone()) else { continue };
            // A key may have slashes in it, written as they are.
            let path = format!("{BASE}{}", route.path.replace("{path}", "{*path}"));
            let handler = on(filter, move |request: Request| respond(server, work, route, request));
            held = held.route(&path, handler);
        }
        let held = held.merge(tokens::routes(tokens)).merge(export::routes(server.clone()));
        let streamed = import::routes(server, data_dir.into(), work.clone());
        Self {
            held: held.method_not_allowed_fallback(not_allowed),
            streamed: streamed.method_not_allowed_fallback(not_allowed),
            work,
        }
    }
}

async fn not_allowed() -> Problem {
    Problem::no_method(DESCRIBED)
}

async fn respond(server: Server, work: TaskTracker, route: &'static Route, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let (arguments, if_revisions) = match read(&server, route, &mut parts, body).await {
        Ok(read) => read,
        Err(problem) => return problem.into_response(),
    };
    let cancel = CancellationToken::new();
    let progress = watch::Sender::default();
    let news = progress.subscribe();
    let headers = parts.headers.clone();
    let key = match idempotency::key(&server, route, &headers) {
        Ok(key) => key,
        Err(problem) => return problem.into_response(),
    };
    let Some(until) = parts.extensions.get::<RequestEnd>().cloned() else {
        tracing::error!("a request came without its end");
        return Problem::internal().into_response();
    };
    // A script that goes away drops the answer, and with it the guard. A request with a key is carried out to its end,
    // so that its answer is there when the script comes again.
    let guard = if key.is_none() { Some(cancel.clone().drop_guard()) } else { None };
    // A call that was begun is noted in the audit log whether somebody waits for it or not.
    let call = ScriptCall { tool: route.tool, arguments, if_revisions, progress, key, cancel };
    let answer = async move { server.script(&parts, call).await };
    let answer = work.spawn(answer.instrument(tracing::Span::current()));
    if route.answer == RouteAnswer::Events {
        return events::respond(answer, news, guard, until).await;
    }
    let answer = answer.await.unwrap_or_else(|_panic| Err(Error::internal("a call of a script panicked")));
    drop(guard);
    match (answer, route.answer) {
        (Ok(document), RouteAnswer::Memory) if route.has_body() => revision::tagged(document),
        (Ok(document), RouteAnswer::Memory) => revision::unless_known(document, &headers),
        (Ok(document), _) => Json(document).into_response(),
        (Err(error), _) => status::response(&error, route.wants_revision()),
    }
}

/// The arguments of a tool, and the revisions of which the memory that it changes has to have one.
type ReadArguments = (Map<String, Value>, Option<Vec<u64>>);

/// Reads the arguments of the tool from the request. The tool itself holds them against its schema.
async fn read(server: &Server, route: &Route, parts: &mut Parts, body: Body) -> Result<ReadArguments, Problem> {
    let tool = server.described(route.tool);
    let known = tool.and_then(|tool| tool.arguments.get("properties")?.as_object());
    let in_query = query_of(parts, known).await?;
    let mut arguments = match route.has_body() {
        true => with_query(body_of(parts, body).await?, in_query, known)?,
        false => in_query,
    };
    let in_path = RawPathParams::from_request_parts(parts, &()).await;
    let in_path = in_path.map_err(|_| invalid("the path is not in UTF-8"))?;
    for (name, value) in &in_path {
        if arguments.insert(name.to_owned(), value.into()).is_some() {
            return Err(invalid(format!("{name} is in the path, and does not belong anywhere else")));
        }
    }
    for name in known.into_iter().flat_map(Map::keys).filter(|name| route.implies(name)) {
        arguments.insert(name.clone(), Value::Bool(true));
    }
    let if_revisions = match route.wants_revision() {
        true => revision::required(&parts.headers, &arguments)?,
        false if revision::is_conditional(&parts.headers) => {
            return Err(invalid("If-Match belongs to a PATCH of a memory, and means nothing here"));
        }
        false => None,
    };
    Ok((arguments, if_revisions))
}

/// Adds to the arguments of a body what stands in the query: the workspace, which the body may name as well.
fn with_query(
    mut arguments: Map<String, Value>,
    in_query: Map<String, Value>,
    known: Option<&Map<String, Value>>,
) -> Result<Map<String, Value>, Problem> {
    for (name, value) in in_query {
        if name != WORKSPACE || known.is_none_or(|known| !known.contains_key(WORKSPACE)) {
            return Err(unknown_in_query(&name, "the arguments of this route belong into the body"));
        }
        if arguments.get(WORKSPACE).is_some_and(|in_body| *in_body != value) {
            return Err(unprocessable("workspace: the query and the body name different ones"));
        }
        arguments.insert(name, value);
    }
    Ok(arguments)
}

/// Refuses a parameter of the query that a route does not have. `instead` says what the route has.
fn unknown_in_query(name: &str, instead: &str) -> Problem {
    unprocessable(format!("{name}: unknown in the query; {instead}"))
}

fn unprocessable(problem: impl Into<String>) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, Code::InvalidArgument.as_str(), problem.into(), DESCRIBED)
}

/// Refuses a query that a route does not understand.
fn bad_query(error: QueryRejection) -> Problem {
    unprocessable(query_problem(&error))
}

/// Says what is wrong with a query, and with which parameter.
fn query_problem(error: &QueryRejection) -> String {
    let text = error.body_text();
    format!("the query: {}", text.strip_prefix("Failed to deserialize query string: ").unwrap_or(&text))
}

fn invalid(problem: impl Into<String>) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "invalid_argument", problem.into(), DESCRIBED)
}

/// Returns the media type of a body, without its parameters.
fn media_type(headers: &HeaderMap) -> &str {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    content_type.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim()
}

/// Reads the body. One that is not there says as much as an empty object.
async fn body_of(parts: &Parts, body: Body) -> Result<Map<String, Value>, Problem> {
    let bytes = to_bytes(body, MAX_BODY_BYTES).await.map_err(|_| invalid("the body cannot be read"))?;
    if bytes.is_empty() {
        return Ok(Map::new());
    }
    if !media_type(&parts.headers).eq_ignore_ascii_case("application/json") {
        let problem = "the body must be JSON, and the header Content-Type must say application/json";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "invalid_argument", problem, DESCRIBED));
    }
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err(invalid("the body must be a JSON object")),
        Err(error) => Err(invalid(format!("the body is no JSON: {error}"))),
    }
}

/// Reads the query, each value as the type that the tool wants. A value that is none of that type stays a text, which
/// the tool refuses in words.
async fn query_of(parts: &mut Parts, known: Option<&Map<String, Value>>) -> Result<Map<String, Value>, Problem> {
    let query = Query::<Vec<(String, String)>>::from_request_parts(parts, &()).await;
    let Query(pairs) = query.map_err(|error| invalid(query_problem(&error)))?;
    let mut arguments = Map::new();
    for (name, text) in pairs {
        let schema = known.and_then(|known| known.get(&name));
        let kind = schema.and_then(|schema| schema.get("type")?.as_str());
        let value = match kind {
            Some("integer" | "number" | "boolean") => serde_json::from_str(&text).unwrap_or(Value::from(text)),
            _ => Value::from(text),
        };
        if arguments.insert(name.clone(), value).is_some() {
            return Err(invalid(format!("{name} is in the query twice")));
        }
    }
    Ok(arguments)
}
