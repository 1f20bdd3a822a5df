//! The calls of the running daemon, as it says itself, and where in a call an id or a name can stand.

use std::fmt;

use reqwest::header::{HeaderMap, HeaderName};
use reqwest::{Method, StatusCode};
use serde_json::{Map, Value, json};

use super::tenants::{OWN_KEY, Tenants};

/// The header of a session of the protocol.
const SESSION: &str = "mcp-session-id";
/// The id that a call which erases is about where nothing else is said.
const UNUSED_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";
const UNUSED_KEY: &str = "own-unused";

pub(super) struct Surface {
    pub(super) calls: Vec<Call>,
}

/// A tool, or a method at a path.
pub(super) struct Call {
    /// The route for scripts. None for a tool.
    route: Option<(Method, String)>,
    name: String,
    parameters: Vec<Parameter>,
    /// The schema of the body, or of the arguments of a tool. None where there is no body.
    body: Option<Value>,
}

struct Parameter {
    place: ParameterPlace,
    name: String,
    schema: Value,
    is_required: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParameterPlace {
    Path,
    Query,
    Header,
}

/// A place in a call where a text stands.
pub(super) struct Slot {
    /// The place holds ids alone.
    pub(super) is_id: bool,
    at: SlotPlace,
}

enum SlotPlace {
    Parameter(ParameterPlace, String),
    /// The steps into the body: names of fields, and `[]` into an array.
    Body(Vec<String>),
}

impl Slot {
    /// Says whether the place holds an id or a name. Any other holds prose, of which other words have another answer.
    pub(super) fn is_of_a_name(&self) -> bool {
        self.is_id || matches!(self.at, SlotPlace::Parameter(..)) || self.names_workspace()
    }

    /// Says whether the place names a workspace, which the header then must not.
    fn names_workspace(&self) -> bool {
        let name = match &self.at {
            SlotPlace::Parameter(ParameterPlace::Header, _) => return false,
            SlotPlace::Parameter(_, name) => Some(name),
            SlotPlace::Body(steps) => steps.last(),
        };
        name.is_some_and(|name| name == "workspace" || name == "path")
    }
}

pub(super) struct Request {
    pub(super) method: Method,
    /// The path with its query.
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Value>,
}

#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) text: String,
}

impl Answer {
    /// The answer with a value that was sent taken out of it, in all forms in which it comes back.
    pub(super) fn without(mut self, value: &str) -> Self {
        for form in [percent_encoded(value), value.to_owned()] {
            self.text = self.text.replace(&form, "<sent>");
        }
        self
    }
}

impl Surface {
    /// Asks the daemon for its tools and for its routes.
    pub(super) async fn of(tenants: &Tenants) -> Self {
        let tools = list_of_tools(tenants).await;
        let tools = tools.iter().map(|tool| Call {
            route: None,
            name: tool["name"].as_str().unwrap().to_owned(),
            parameters: Vec::new(),
            body: Some(tool["inputSchema"].clone()),
        });
        let path = "/api/v1/openapi.json".to_owned();
        let description = Request { method: Method::GET, path, headers: HeaderMap::new(), body: None };
        let description: Value = serde_json::from_str(&tenants.send(&description).await.text).unwrap();
        let paths = description["paths"].as_object().unwrap();
        let routes = paths.iter().flat_map(|(path, operations)| {
            let operations = operations.as_object().unwrap().iter();
            operations.map(|(method, operation)| Call::of_route(&description, method, path, operation))
        });
        let calls: Vec<Call> = tools.chain(routes).collect();
        let of = |is_tool: bool| calls.iter().filter(|call| call.route.is_none() == is_tool).count();
        assert!(of(true) > 10 && of(false) > 15, "{} tools and {} routes", of(true), of(false));
        Self { calls }
    }
}

/// The tools that this team may call, with all toolsets on.
async fn list_of_tools(tenants: &Tenants) -> Vec<Value> {
    let list = rpc(tenants, "tools/list", json!({}));
    let answer: Value = serde_json::from_str(&tenants.send(&list).await.text).unwrap();
    answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}

fn rpc(tenants: &Tenants, method: &str, params: Value) -> Request {
    let mut headers = HeaderMap::new();
    let mut set = |name: &'static str, value: &str| headers.insert(name, value.parse().unwrap());
    set("accept", "application/json, text/event-stream");
    set(SESSION, tenants.session());
    set("mcp-protocol-version", "2025-11-25");
    set("x-workspace", OWN_KEY);
    let body = json!({"jsonrpc": "2.0", "id": tenants.next_number(), "method": method, "params": params});
    Request { method: Method::POST, path: "/mcp".into(), headers, body: Some(body) }
}

impl Call {
    fn of_route(description: &Value, method: &str, path: &str, operation: &Value) -> Self {
        let resolved = |parameter: &Value| match parameter["$ref"].as_str() {
            Some(reference) => description.pointer(reference.trim_start_matches('#')).unwrap().clone(),
            None => parameter.clone(),
        };
        let parameter = |parameter: &Value| {
            let parameter = resolved(parameter);
            let place = match parameter["in"].as_str().unwrap() {
                "path" => ParameterPlace::Path,
                "query" => ParameterPlace::Query,
                "header" => ParameterPlace::Header,
                other => panic!("a parameter in {other}"),
            };
            Parameter {
                place,
                name: parameter["name"].as_str().unwrap().to_owned(),
                schema: parameter["schema"].clone(),
                is_required: parameter["required"] == true,
            }
        };
        let body = operation.pointer("/requestBody/content/application~1json/schema").cloned();
        Self {
            name: format!("{} {path}", method.to_uppercase()),
            route: Some((method.to_uppercase().parse().unwrap(), path.to_owned())),
            parameters: operation["parameters"].as_array().into_iter().flatten().map(parameter).collect(),
            body,
        }
    }

    /// The call with what it needs and nothing else.
    pub(super) fn request(&self, tenants: &Tenants) -> Request {
        self.made(tenants, None)
    }

    /// The call with a value in one place.
    pub(super) fn with(&self, tenants: &Tenants, slot: &Slot, value: &str) -> Request {
        self.made(tenants, Some((slot, value)))
    }

    /// Says whether the call reads what an id in its path names.
    pub(super) fn reads_in_its_path(&self) -> bool {
        let is_get = self.route.as_ref().is_some_and(|(method, _)| *method == Method::GET);
        is_get && self.parameters.iter().any(|of| of.place == ParameterPlace::Path && of.schema["format"] == "uuid")
    }

    /// The body that the call needs, and its schema.
    pub(super) fn body(&self, tenants: &Tenants) -> Option<(Value, &Value)> {
        self.body.as_ref().map(|schema| (example(tenants, schema), schema))
    }

    fn made(&self, tenants: &Tenants, sent: Option<(&Slot, &str)>) -> Request {
        let body = self.body(tenants).map(|(mut body, schema)| {
            if let Some((Slot { at: SlotPlace::Body(steps), .. }, value)) = sent {
                put(tenants, &mut body, schema, steps, value);
            }
            body
        });
        let in_slot = |place: ParameterPlace, name: &str| match sent {
            Some((Slot { at: SlotPlace::Parameter(at, of), .. }, value)) if *at == place && of == name => {
                Some(value.to_owned())
            }
            _ => None,
        };
        let (method, path, mut headers, body) = match &self.route {
            None => {
                let call = rpc(tenants, "tools/call", json!({"name": self.name, "arguments": body}));
                (call.method, call.path, call.headers, call.body)
            }
            Some((method, path)) => {
                let headers =
                    HeaderMap::from_iter([(HeaderName::from_static("x-workspace"), OWN_KEY.parse().unwrap())]);
                (method.clone(), path.clone(), headers, body)
            }
        };
        let (mut path, mut query) = (path, Vec::new());
        for Parameter { place, name, schema, is_required } in &self.parameters {
            let value = in_slot(*place, name);
            let Some(value) = value.or_else(|| is_required.then(|| text_of(&example(tenants, schema)))) else {
                continue;
            };
            match place {
                ParameterPlace::Path => path = path.replace(&format!("{{{name}}}"), &percent_encoded(&value)),
                ParameterPlace::Query => query.push(format!("{name}={}", percent_encoded(&value))),
                ParameterPlace::Header => {
                    let value = if name == "If-Match" { "\"1\"" } else { &value };
                    headers.insert(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
                }
            }
        }
        for name in ["x-workspace", SESSION] {
            if let Some(value) = in_slot(ParameterPlace::Header, name) {
                headers.insert(name, value.parse().unwrap());
            }
        }
        if method == Method::DELETE {
            // The things of this team are needed again.
            path = path.replace(&tenants.own_id, UNUSED_ID).replace(OWN_KEY, UNUSED_KEY);
        }
        if sent.is_some_and(|(slot, _)| slot.names_workspace()) {
            headers.remove("x-workspace");
        }
        if !query.is_empty() {
            path = format!("{path}?{}", query.join("&"));
        }
        Request { method, path, headers, body }
    }
}

/// Lists the places of a call where an id or a name can stand: its headers, its path, its query, and all of its body.
pub(super) fn slots(call: &Call) -> Vec<Slot> {
    let parameter = |parameter: &Parameter| {
        let kind = text_slot(&parameter.schema)?;
        let name = parameter.name.clone();
        (name != "If-Match").then_some(Slot { is_id: kind, at: SlotPlace::Parameter(parameter.place, name) })
    };
    let header = |name: &str, is_id| Slot { is_id, at: SlotPlace::Parameter(ParameterPlace::Header, name.to_owned()) };
    let mut slots: Vec<Slot> = call.parameters.iter().filter_map(parameter).collect();
    if call.route.is_none() {
        slots.extend([header("x-workspace", false), header(SESSION, true)]);
    }
    if let Some(schema) = &call.body {
        add_body_slots(schema, &mut Vec::new(), &mut slots);
    }
    slots
}

fn add_body_slots(schema: &Value, steps: &mut Vec<String>, slots: &mut Vec<Slot>) {
    if let Some(is_id) = text_slot(schema) {
        slots.push(Slot { is_id, at: SlotPlace::Body(steps.clone()) });
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        steps.push(name.clone());
        add_body_slots(field, steps, slots);
        steps.pop();
    }
    if schema["type"] == "array" {
        steps.push("[]".to_owned());
        add_body_slots(&schema["items"], steps, slots);
        steps.pop();
    }
}

/// Says whether a free text fits the schema, and if so, whether it has to be an id.
fn text_slot(schema: &Value) -> Option<bool> {
    (schema["type"] == "string" && schema.get("enum").is_none()).then(|| schema["format"] == "uuid")
}

/// Makes the smallest value that fits a schema.
fn example(tenants: &Tenants, schema: &Value) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|words| words.first()) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("string") if schema["format"] == "uuid" => json!(tenants.own_id),
        Some("string") => json!(OWN_KEY),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        Some("array") => json!([example(tenants, &schema["items"])]),
        _ => {
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let fields = required.map(|name| (name.to_owned(), example(tenants, &schema["properties"][name])));
            Value::Object(fields.collect::<Map<_, _>>())
        }
    }
}

/// Puts a text into a body, with what has to stand around it.
fn put(tenants: &Tenants, body: &mut Value, schema: &Value, steps: &[String], text: &str) {
    match steps.split_first() {
        None => *body = json!(text),
        Some((step, steps)) if step == "[]" => {
            let mut item = example(tenants, &schema["items"]);
            put(tenants, &mut item, &schema["items"], steps, text);
            *body = json!([item]);
        }
        Some((name, steps)) => {
            let schema = &schema["properties"][name];
            let mut field = body.get(name).cloned().unwrap_or_else(|| example(tenants, schema));
            put(tenants, &mut field, schema, steps, text);
            body[name] = field;
        }
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

pub(super) fn percent_encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            SlotPlace::Parameter(place, name) => write!(f, "{place:?} {name}"),
            SlotPlace::Body(steps) => f.write_str(&steps.join(".")),
        }
    }
}
