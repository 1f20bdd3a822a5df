//! The description of the routes as OpenAPI 3.1, made from the table of routes and from the schemas of the tools, so
//! that it cannot say anything else than what the routes do.

use axum::http::{Method, StatusCode};
use reasoning_bank_domain::access::KeyedRequest;
use serde_json::{Map, Value, json};

use super::{BASE, ROUTES, Route, RouteAnswer, WORKSPACE, export, idempotency, import, revision, status, tokens};
use crate::mcp::{DescribedTool, Server};

pub(super) fn document(server: &Server) -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        let Some(tool) = server.described(route.tool) else { continue };
        let path = paths.entry(format!("{BASE}{}", route.path)).or_insert_with(|| json!({}));
        let answer = answer(route, server.answer_schema(route.tool));
        path[route.method.as_str().to_ascii_lowercase()] = operation(route, &tool, answer);
    }
    for others in [tokens::paths(), export::paths(), import::paths(), own_path()] {
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
                "WWW-Authenticate": {"description": "Bearer.", "schema": {"type": "string"}},
                "X-Request-Id": {
                    "description": "The id of the request in the log of the server: the client's own, or a new one.",
                    "schema": {"type": "string"},
                },
            },
            "responses": {
                "Failure": failure("A failure. The code says which, and the hint what to do.", "Retry-After"),
                "Unauthenticated": failure("There is no token, or none that is valid.", "WWW-Authenticate"),
            },
            "schemas": {
                "Failure": {
                    "type": "object",
                    "required": ["error"],
                    "properties": {"error": {
                        "type": "object",
                        "required": ["code", "message", "hint", "retryable"],
                        "properties": {
                            "code": {"type": "string"},
                            "message": {"type": "string"},
                            "hint": {"type": "string"},
                            "retryable": {"type": "boolean"},
                            "retry_after_ms": {"type": "integer"},
                            "used": {"type": "integer", "description": "The tokens that a solve used up."},
                            "limit": {"type": "integer", "description": "The tokens that it had."},
                            "best": {"type": "object", "description": "The best solution so far."},
                        },
                    }},
                },
            },
        },
    })
}

/// Describes the answer of a failure, with the header that it may have.
fn failure(description: &str, header: &str) -> Value {
    json!({
        "description": description,
        "headers": {
            header: {"$ref": format!("#/components/headers/{header}")},
            "X-Request-Id": {"$ref": "#/components/headers/X-Request-Id"},
        },
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}},
    })
}

/// Describes the route of this description.
fn own_path() -> Value {
    json!({format!("{BASE}/openapi.json"): {"get": {
        "operationId": "openapi",
        "summary": "Describe the routes",
        "description": "This description, as OpenAPI 3.1.",
        "parameters": [],
        "responses": status::responses(
            json!({"description": "The description.", "content": {"application/json": {"schema": {"type": "object"}}}}),
            &[],
        ),
    }}})
}

fn operation(route: &Route, tool: &DescribedTool<'_>, answer: Value) -> Value {
    let mut arguments = tool.arguments.clone();
    let in_path = |name: &str| route.path.contains(&format!("{{{name}}}"));
    let is_in_header = |name: &str| name == revision::ARGUMENT && route.wants_revision();
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
    let mut needs_body = false;
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
        // A body may name it as well. It is all that the query has beside a body.
        if let Some(schema) = properties.get(WORKSPACE) {
            parameters.push(json!({"name": WORKSPACE, "in": "query", "required": false, "schema": schema}));
        }
        let left: Vec<&String> = required.iter().filter(|name| properties.contains_key(*name)).collect();
        // A body that is not there says as much as an empty object.
        needs_body = !left.is_empty();
        let left = json!(left);
        arguments.insert("required".into(), left);
    }
    let mut operation = json!({
        "operationId": tool.name,
        "summary": tool.title,
        "description": tool.description,
        "parameters": parameters,
        "responses": status::responses(answer, &own_statuses(route, tool, takes_key)),
    });
    if route.has_body() {
        operation["requestBody"] =
            json!({"required": needs_body, "content": {"application/json": {"schema": arguments}}});
    }
    operation
}

/// Lists the statuses of a route that follow from the headers and the body which it reads, and from what it asks.
fn own_statuses(route: &Route, tool: &DescribedTool<'_>, takes_key: bool) -> Vec<StatusCode> {
    let mut own = status::OF_WORKSPACES.to_vec();
    if tool.arguments.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty) {
        // Where nothing is named, nothing is missing.
        own.retain(|status| *status != StatusCode::NOT_FOUND);
    }
    if route.has_body() {
        own.extend(status::OF_BODIES);
    }
    if route.answer == RouteAnswer::Events {
        own.push(StatusCode::BAD_GATEWAY);
    }
    // What is written or erased may be changed by somebody else meanwhile.
    if takes_key || route.method == Method::DELETE {
        own.push(StatusCode::CONFLICT);
    }
    if route.wants_revision() {
        own.extend([StatusCode::PRECONDITION_FAILED, StatusCode::PRECONDITION_REQUIRED]);
    } else if route.answer == RouteAnswer::Memory {
        own.push(StatusCode::NOT_MODIFIED);
    }
    own
}

fn answer(route: &Route, schema: Option<Map<String, Value>>) -> Value {
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

#[cfg(test)]
mod tests {
    use super::super::route;
    use super::*;

    #[test]
    fn a_route_with_a_body_may_have_the_workspace_in_its_query() {
        let of = |method: Method, arguments: Value| {
            let arguments = arguments.as_object().cloned().unwrap();
            let (title, description) = (None, None);
            let tool = DescribedTool { name: "t", title, description, arguments: &arguments, changes_something: false };
            operation(&route(method, "/things", "t", RouteAnswer::Document), &tool, json!({}))
        };
        let in_query = |operation: &Value| {
            let parameters = operation["parameters"].as_array().unwrap().clone();
            let names =
                parameters.iter().filter(|it| it["in"] == "query").map(|it| it["name"].as_str().unwrap().to_owned());
            names.collect::<Vec<_>>()
        };
        let text = json!({"type": "string"});
        let both = json!({"type": "object", "properties": {"query": text, "workspace": text}, "required": ["query"]});
        let posted = of(Method::POST, both.clone());
        assert_eq!(in_query(&posted), ["workspace"]);
        let body = &posted["requestBody"]["content"]["application/json"]["schema"]["properties"];
        assert_eq!(body.as_object().unwrap().len(), 2, "the body may name it, too");
        assert_eq!(in_query(&of(Method::POST, json!({"properties": {"query": text}}))), Vec::<String>::new());
        assert_eq!(in_query(&of(Method::GET, both)), ["query", "workspace"]);
    }
}
