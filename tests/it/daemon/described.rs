//! The answers of the routes for scripts, held against the description that the daemon gives of itself: each is of the
//! schema of its route, and has no field that this schema does not name.

use reqwest::Method;
use serde_json::{Value, json};

use super::api::{Script, script};
use super::{Daemon, place_with_all_tools};

/// The description, and a script whose answers are held against it.
struct Described<'a> {
    description: Value,
    script: Script<'a>,
    /// What is wrong so far.
    problems: Vec<String>,
}

impl Described<'_> {
    /// Sends a request to a route, and holds the answer against the schema of its status. `ids` stand in the braces of
    /// the path.
    async fn send(&mut self, method: Method, route: &str, ids: &[&str], query: &str, body: Option<Value>) -> Value {
        let path = ids.iter().fold(route.to_owned(), |path, id| {
            let (begin, end) = (path.find('{').unwrap(), path.find('}').unwrap());
            format!("{}{id}{}", &path[..begin], &path[end + 1..])
        });
        let mut request = self.script.request(method.clone(), &format!("{path}{query}"));
        if route == "/memories/{memory_id}" && method == Method::PATCH {
            request = request.header("if-match", "*");
        }
        if let Some(body) = &body {
            request = request.json(body);
        }
        let answer = request.send().await.unwrap();
        let (status, has_id) = (answer.status(), answer.headers().contains_key("x-request-id"));
        let document: Value = answer.json().await.unwrap();
        let operation = &self.description["paths"][format!("/api/v1{route}")][method.as_str().to_ascii_lowercase()];
        let responses = &operation["responses"];
        let response = resolved(&self.description, &responses[status.as_str()]);
        let schema = &response["content"]["application/json"]["schema"];
        let case = format!("{method} {route}{query}: {status}");
        if schema.is_null() || !has_id || !response["headers"]["X-Request-Id"].is_object() {
            self.problems.push(format!("{case} is not described: {document}"));
            return document;
        }
        let mut problems = Vec::new();
        misfits(&self.description, schema, &document, "", &mut problems);
        unnamed(&self.description, &[schema], &document, "", &mut problems);
        self.problems.extend(problems.into_iter().map(|problem| format!("{case}: {problem}")));
        document
    }

    async fn get(&mut self, route: &str, ids: &[&str]) -> Value {
        self.send(Method::GET, route, ids, "", None).await
    }

    async fn post(&mut self, route: &str, ids: &[&str], body: Value) -> Value {
        self.send(Method::POST, route, ids, "", Some(body)).await
    }
}

fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(reference) => root.pointer(reference.trim_start_matches('#')).unwrap_or_else(|| panic!("{reference}")),
        None => schema,
    }
}

fn is_of_type(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{other} is no type"),
    }
}

fn fits(root: &Value, schema: &Value, value: &Value) -> bool {
    let mut problems = Vec::new();
    misfits(root, schema, value, "", &mut problems);
    problems.is_empty()
}

fn items(of: &Value) -> impl Iterator<Item = &Value> {
    of.as_array().into_iter().flatten()
}

/// Finds where a value is not of a schema. It knows as much of JSON Schema as the description uses.
fn misfits(root: &Value, schema: &Value, value: &Value, at: &str, problems: &mut Vec<String>) {
    let schema = resolved(root, schema);
    let mut wrong = |what: String| problems.push(format!("{at:?} {what}; it is {value}"));
    if schema == &json!(false) {
        wrong("is not allowed".to_owned());
    }
    let kinds: Vec<&str> =
        schema["type"].as_str().into_iter().chain(items(&schema["type"]).filter_map(Value::as_str)).collect();
    if !kinds.is_empty() && !kinds.iter().any(|kind| is_of_type(kind, value)) {
        wrong(format!("is none of {kinds:?}"));
    }
    if schema.get("const").is_some_and(|constant| constant != value) {
        wrong(format!("is not {}", schema["const"]));
    }
    if schema["enum"].is_array() && !items(&schema["enum"]).any(|word| word == value) {
        wrong(format!("is none of {}", schema["enum"]));
    }
    let number = value.as_f64();
    let is_beyond = |bound: &str, beyond: fn(f64, f64) -> bool| {
        schema[bound].as_f64().zip(number).is_some_and(|(bound, number)| beyond(number, bound))
    };
    if is_beyond("minimum", |number, least| number < least) || is_beyond("maximum", |number, most| number > most) {
        wrong(format!("is out of {} to {}", schema["minimum"], schema["maximum"]));
    }
    let fitting = |branches: &Value| items(branches).filter(|branch| fits(root, branch, value)).count();
    if schema["oneOf"].is_array() && fitting(&schema["oneOf"]) != 1 {
        wrong(format!("fits {} branches", fitting(&schema["oneOf"])));
    }
    if schema["anyOf"].is_array() && fitting(&schema["anyOf"]) == 0 {
        wrong("fits no branch".to_owned());
    }
    for name in items(&schema["required"]).filter_map(Value::as_str) {
        if value.as_object().is_some_and(|object| !object.contains_key(name)) {
            wrong(format!("has no {name}"));
        }
    }
    for part in items(&schema["allOf"]) {
        misfits(root, part, value, at, problems);
    }
    for (name, field) in value.as_object().into_iter().flatten() {
        let schema = schema["properties"].get(name).or(schema.get("additionalProperties"));
        if let Some(schema) = schema {
            misfits(root, schema, field, &format!("{at}/{name}"), problems);
        }
    }
    if let Some(schema) = schema.get("items") {
        items(value).enumerate().for_each(|(n, item)| misfits(root, schema, item, &format!("{at}/{n}"), problems));
    }
}

/// Adds the parts of a schema that hold for a value: itself, and the branches that the value fits.
fn add_parts<'a>(root: &'a Value, schema: &'a Value, value: &Value, parts: &mut Vec<&'a Value>) {
    let schema = resolved(root, schema);
    parts.push(schema);
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for branch in items(&schema[keyword]).filter(|branch| fits(root, branch, value)) {
            add_parts(root, branch, value, parts);
        }
    }
}

/// Finds the fields that no schema names. One without any names, or with a schema for all others, leaves them open.
fn unnamed(root: &Value, schemas: &[&Value], value: &Value, at: &str, problems: &mut Vec<String>) {
    let mut parts = Vec::new();
    schemas.iter().for_each(|schema| add_parts(root, schema, value, &mut parts));
    let is_open = parts.iter().all(|part| part["properties"].is_null())
        || parts.iter().any(|part| part.get("additionalProperties").is_some_and(|others| others != &json!(false)));
    for (name, field) in value.as_object().into_iter().flatten() {
        let named: Vec<&Value> = parts.iter().filter_map(|part| part["properties"].get(name)).collect();
        let others: Vec<&Value> = parts.iter().filter_map(|part| part.get("additionalProperties")).collect();
        let at = format!("{at}/{name}");
        match (named.is_empty(), is_open) {
            (false, _) => unnamed(root, &named, field, &at, problems),
            (true, true) => unnamed(root, &others, field, &at, problems),
            (true, false) => problems.push(format!("{at:?} is named by no schema; it is {field}")),
        }
    }
    let of_items: Vec<&Value> = parts.iter().filter_map(|part| part.get("items")).collect();
    for (n, item) in items(value).enumerate() {
        unnamed(root, &of_items, item, &format!("{at}/{n}"), problems);
    }
}

async fn described<'a>(daemon: &'a Daemon, place: &crate::support::Place) -> Described<'a> {
    let script = script(daemon, place, "read,write,admin,admin:all");
    let (_, description) = script.send(Method::GET, "/openapi.json", None).await;
    Described { description, script, problems: Vec::new() }
}

#[track_caller]
fn assert_all_fit(of: &Described<'_>) {
    assert!(of.problems.is_empty(), "{} answers are not as described:\n{}", of.problems.len(), of.problems.join("\n"));
}

fn id<'a>(document: &'a Value, field: &str) -> &'a str {
    document[field].as_str().unwrap_or_else(|| panic!("no {field} in {document}"))
}

#[tokio::test]
async fn answers_about_memories_and_patterns_are_as_described() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let mut of = described(&daemon, &place).await;
    let lesson = json!({"title": "Take locks in one order", "description": "When a lock waits.",
        "content": "Take them in the order of their names."});
    let recorded = of.post("/memories", &[], lesson.clone()).await;
    let memory = id(&recorded, "id");
    of.post("/memories", &[], lesson).await;
    let warning = json!({"title": "A lock was taken twice", "description": "When a thread hangs.", "content": "Look for it.",
        "error_context": {"error_type": "Deadlock", "failure_pattern": "two threads", "corrective_guidance": "one order"}});
    of.post("/memories", &[], warning).await;
    for detail in ["compact", "full"] {
        of.post("/memories/search", &[], json!({"query": "order of locks", "detail": detail, "min_relevance": 0}))
            .await;
    }
    of.post("/memories/search", &[], json!({"query": "baking bread"})).await;
    of.get("/memories", &[]).await;
    of.send(Method::GET, "/memories", &[], "?limit=1", None).await;
    of.get("/memories/{memory_id}", &[memory]).await;
    let change = Some(json!({"title": "Take locks in the order of their names"}));
    of.send(Method::PATCH, "/memories/{memory_id}", &[memory], "", change).await;
    of.get("/memories/{memory_id}/genealogy", &[memory]).await;
    of.post("/outcomes", &[], json!({"memory_ids": [memory], "helpful": true})).await;
    let pattern = json!({
        "title": "Search first", "description": "A name is unknown.", "explanation": "Search for the name.",
        "category": "strategy",
        "content": {"type": "heuristic", "condition": "A name is unknown.", "action": {"text": "Search for it."}},
    });
    let added = of.post("/patterns", &[], pattern).await;
    let pattern = id(&added, "pattern_id");
    of.post("/patterns/search", &[], json!({})).await;
    of.get("/patterns/{pattern_id}", &[pattern]).await;
    let task = json!({"task": {"original_input": "Find the ghost"}, "outcome": {"status": "SUCCESS"}});
    let episode = of.post("/episodes", &[], task).await["episode_id"].clone();
    of.post("/patterns/{pattern_id}/applications", &[pattern], json!({"trace_id": episode})).await;
    of.send(Method::DELETE, "/memories/{memory_id}", &[memory], "", None).await;
    assert_all_fit(&of);
}

#[tokio::test]
async fn answers_about_episodes_and_tasks_are_as_described() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let mut of = described(&daemon, &place).await;
    let failure = json!({"error": "KeyError: 'user'", "resolution": "use get"});
    let told = json!({"task": {"original_input": "Fix the session loader"}, "outcome": {"status": "FAILURE"},
        "reflection": {"failures_analyzed": [failure]}, "artefacts": [{"name": "loader.log", "text": "KeyError"}]});
    let recorded = of.post("/episodes", &[], told).await;
    let episode = id(&recorded, "episode_id");
    of.post("/episodes/search", &[], json!({"strategy": "failure", "query": "KeyError: 'id'"})).await;
    of.get("/episodes", &[]).await;
    of.get("/episodes/{episode_id}", &[episode]).await;
    of.get("/episodes/{episode_id}/artefacts/{artefact}", &[episode, "loader.log"]).await;
    let found = of.post("/context", &[], json!({"task": "Fix the session loader once more"})).await;
    of.post("/recovery", &[], json!({"error": "KeyError: 'id'"})).await;
    let end = json!({"context_id": found["context_id"], "status": "SUCCESS"});
    of.post("/episodes/learn", &[], end).await;
    of.get("/traces", &[]).await;
    of.get("/traces/{trace_id}", &[episode]).await;
    for change in ["archive", "restore"] {
        of.post(&format!("/episodes/{{episode_id}}/{change}"), &[episode], json!({})).await;
    }
    of.send(Method::DELETE, "/episodes/{episode_id}", &[episode], "", None).await;
    of.send(Method::POST, "/episodes/purge", &[], "", None).await;
    let plan =
        json!({"description": "Make the importer faster", "plan": [{"id": "profile", "title": "Find the slow part"}]});
    let opened = of.post("/working", &[], json!({"task": plan})).await;
    let task = id(&opened, "task_id");
    let update = json!({"results": [{"subtask": "profile", "output": "parse()"}], "state": {"completed": ["profile"]}});
    of.send(Method::PATCH, "/working/{task_id}", &[task], "", Some(update)).await;
    of.post("/working/{task_id}/context", &[task], json!({"get": ["result:1"]})).await;
    of.post("/working/{task_id}/close", &[task], json!({"status": "SUCCESS"})).await;
    assert_all_fit(&of);
}

#[tokio::test]
async fn answers_about_the_bank_and_its_tokens_are_as_described() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let mut of = described(&daemon, &place).await;
    let record =
        json!({"title": "Take locks in one order", "description": "When a lock waits.", "content": "By name."});
    of.post("/memories", &[], record).await;
    of.post("/banks/activate", &[], json!({"conversation_type": "coding"})).await;
    of.post("/banks/update", &[], json!({"bank": "code:shop", "content": "We decided to use SQLite."})).await;
    let run = of.send(Method::POST, "/consolidations", &[], "", None).await;
    of.get("/consolidations", &[]).await;
    let run = run["run_id"].as_str().unwrap_or_else(|| panic!("{run}"));
    of.get("/consolidations/{run_id}", &[run]).await;
    for workspaces in [json!("all"), json!({"only": ["shop"]})] {
        let name = if workspaces == "all" { "all" } else { "some" };
        let new = json!({"name": name, "permissions": ["read"], "workspaces": workspaces, "expires_days": 3});
        let made = of.post("/tokens", &[], new).await;
        let token = id(&made, "id");
        of.get("/tokens/{token}", &[token]).await;
        let rotated = of.post("/tokens/{token}/rotate", &[token], json!({})).await;
        of.get("/tokens", &[]).await;
        of.send(Method::DELETE, "/tokens/{token}", &[id(&rotated, "id")], "", None).await;
    }
    for route in ["/workspaces", "/stats", "/health", "/openapi.json"] {
        of.get(route, &[]).await;
    }
    of.get("/workspaces/{path}", &["shop"]).await;
    // Failures have a schema as well.
    of.send(Method::GET, "/memories", &[], "?limit=0", None).await;
    of.get("/memories/{memory_id}", &["01890a5d-ac96-774b-bcce-b302099a8057"]).await;
    of.get("/tokens/{token}", &["nobody"]).await;
    of.post("/memories", &[], json!([])).await;
    of.send(Method::DELETE, "/workspaces/{path}", &["shop"], "", None).await;
    of.send(Method::DELETE, "/stats", &[], "", None).await;
    assert_all_fit(&of);
}
