//! The description of the routes as OpenAPI 3.1, made from the table of routes and from the schemas of the tools, so
//! that it cannot say anything else than what the routes do.

use axum::http::StatusCode;
use reasoning_bank_domain::access::KeyedRequest;
use serde_json::{Map, Value, json};

use super::{BASE, ROUTES, Route, RouteAnswer, export, idempotency, import, status, tokens};
use crate::mcp::{DescribedTool, Server};

pub(super) fn document(server: &Server) -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        let Some(tool) = server.described(route.tool) else { continue };
        let path = paths.entry(format!("{BASE}{}", route.path)).or_insert_with(|| json!({}));
        path[route.method.as_str().to_ascii_lowercase()] = operation(route, &tool);
    }
    for others in [tokens::paths(), export::paths(), import::paths()] {
        paths.extend(others.as_object().cloned().into_iter().flatten());
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "ReasoningBank",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The memory that makes LLM agents better with use. The arguments and answers are those of the tools \
                            that agents call.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "parameters": {
                "Workspace": {
                    "name": "X-Workspace",
                    "in": "header",
                    "description": "Key of the project. Needed where the token is good for several, and no argument names one.",
                    "schema": {"type": "string"},
                },
                "Key": {
                    "name": "Idempotency-Key",
                    "in": "header",
                    "description": "Names the request. Sent again under the same key within a day, it is not carried out again, and has the same answer.",
                    "schema": {"type": "string", "minLength": 1, "maxLength": KeyedRequest::KEY_MAX_BYTES},
                },
                "Revision": {
                    "name": "If-Match",
                    "in": "header",
                    "required": true,
                    "description": "The ETag of the memory that was read.",
                    "schema": {"type": "string"},
                },
                "Known": {
                    "name": "If-None-Match",
                    "in": "header",
                    "description": "The ETag of the memory that the caller has.",
                    "schema": {"type": "string"},
                },
            },
            "headers": {
                "ETag": {"description": "The revision of the memory.", "schema": {"type": "string"}},
                "Retry-After": {"description": "Seconds to wait before the next try.", "schema": {"type": "integer"}},
            },
            "responses": {
                "Failure": {
                    "description": "A failure. The code says which, and the hint what to do.",
                    "headers": {"Retry-After": {"$ref": "#/components/headers/Retry-After"}},
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}},
                },
            },
            "schemas": {
                "Failure": {
                    "type": "object",
                    "required": ["error"],
                    "properties": {"error": {
                        "type": "object",
                        "required": ["code", "message", "hint"],
                        "properties": {
                            "code": {"type": "string"},
                            "message": {"type": "string"},
                            "hint": {"type": "string"},
                            "retryable": {"type": "boolean"},
                            "retry_after_ms": {"type": "integer"},
                        },
                    }},
                },
            },
        },
    })
}

fn operation(route: &Route, tool: &DescribedTool<'_>) -> Value {
    let mut arguments = tool.arguments.clone();
    let in_path = |name: &str| route.path.contains(&format!("{{{name}}}"));
    let is_in_header = |name: &str| name == "if_revision" && route.wants_revision();
    let mut parameters = vec![json!({"$ref": "#/components/parameters/Workspace"})];
    let takes_key = idempotency::takes_key(route, tool.changes_something);
    if takes_key {
        parameters.push(json!({"$ref": "#/components/parameters/Key"}));
    }
    if route.wants_revision() {
        parameters.push(json!({"$ref": "#/components/parameters/Revision"}));
    } else if route.answer == RouteAnswer::Memory {
        parameters.push(json!({"$ref": "#/components/parameters/Known"}));
    }
    let required: Vec<String> =
        arguments.get("required").and_then(|names| serde_json::from_value(names.clone()).ok()).unwrap_or_default();
    if let Some(Value::Object(properties)) = arguments.get_mut("properties") {
        properties.retain(|name, _| !route.implies(name) && !is_in_header(name));
        let elsewhere: Vec<String> =
            properties.keys().filter(|name| in_path(name) || !route.has_body()).cloned().collect();
        for name in elsewhere {
            let Some(schema) = properties.remove(&name) else { continue };
            let place = if in_path(&name) { "path" } else { "query" };
            let is_required = place == "path" || required.contains(&name);
            parameters.push(json!({"name": name, "in": place, "required": is_required, "schema": schema}));
        }
        let left: Vec<&String> = required.iter().filter(|name| properties.contains_key(*name)).collect();
        let left = json!(left);
        arguments.insert("required".into(), left);
    }
    let mut operation = json!({
        "operationId": tool.name,
        "summary": tool.title,
        "description": tool.description,
        "parameters": parameters,
        "responses": status::responses(answer(route, tool), &own_statuses(route, takes_key)),
    });
    if route.has_body() {
        operation["requestBody"] = json!({"required": true, "content": {"application/json": {"schema": arguments}}});
    }
    operation
}

/// Lists the statuses of a route that follow from the headers which it reads.
fn own_statuses(route: &Route, takes_key: bool) -> Vec<StatusCode> {
    let mut own = Vec::new();
    if takes_key {
        own.push(StatusCode::CONFLICT);
    }
    if route.wants_revision() {
        own.extend([StatusCode::PRECONDITION_FAILED, StatusCode::PRECONDITION_REQUIRED]);
    } else if route.answer == RouteAnswer::Memory {
        own.push(StatusCode::NOT_MODIFIED);
    }
    own
}

fn answer(route: &Route, tool: &DescribedTool<'_>) -> Value {
    let schema = tool.answer;
    match route.answer {
        RouteAnswer::Document => {
            json!({"description": "The answer.", "content": {"application/json": {"schema": schema}}})
        }
        RouteAnswer::Memory => json!({
            "description": "The memory.",
            "headers": {"ETag": {"$ref": "#/components/headers/ETag"}},
            "content": {"application/json": {"schema": schema}},
        }),
        RouteAnswer::Events => json!({
            "description": "Events: `recalled`, `attempt_started`, `attempt_done`, `refined`, `judged` and `learned` when \
                            a stage is reached, `progress` with completed and total calls of models, then `done` with \
                            the report or `error` with the failure.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }),
    }
}
