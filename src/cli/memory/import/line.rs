//! A line of an import: which kind of thing it is, that it is whole, and that it holds no secret.

use std::fmt;

use jiff::Timestamp;
use reasoning_bank_actors::memories::Restorable;
use reasoning_bank_actors::ports::Passage;
use reasoning_bank_domain::confidence::{Signal, prior};
use reasoning_bank_domain::memory::{Memory, Scope, SourceType, Trust};
use reasoning_bank_domain::secrets::{Scrub, scrub};
use reasoning_bank_domain::trace::Trace;
use reasoning_bank_domain::workspace::{NAME_MAX_CHARS, ROOT_MAX_BYTES, Workspace};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value, json};

use crate::jsonl::{FieldProblem, parsed};

/// What stands for what a memory of another program may lack.
pub(super) struct Defaults {
    pub(super) here: Workspace,
    pub(super) now: Timestamp,
}

#[derive(Debug)]
pub(super) struct Line {
    pub(super) thing: Restorable,
    /// To be written before it.
    pub(super) workspace: Option<Workspace>,
    /// The file says that this workspace has a team or an organisation, which a file cannot give.
    pub(super) untrusted: bool,
    pub(super) redactions: u32,
}

type Fields = Map<String, Value>;

/// A line as it was read. Vectors are most of it, so their numbers are read as such at once.
#[derive(Debug)]
pub(super) struct Raw {
    fields: Fields,
    passages: Option<Vec<Passage>>,
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;

        impl<'de> Visitor<'de> for Visit {
            type Value = Raw;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
                let mut raw = Raw { fields: Fields::new(), passages: None };
                while let Some(name) = map.next_key::<String>()? {
                    if name == "passages" {
                        raw.passages = Some(map.next_value()?);
                    } else {
                        raw.fields.insert(name, map.next_value()?);
                    }
                }
                Ok(raw)
            }
        }

        deserializer.deserialize_map(Visit)
    }
}

/// # Errors
/// All fields that are wrong, as far as the first wrong one lets the others be read.
pub(super) fn parse(raw: Raw, defaults: &Defaults) -> Result<Line, Vec<FieldProblem>> {
    let Raw { mut fields, passages } = raw;
    let named = fields.remove("workspace").map(workspace).transpose()?;
    let untrusted = named.as_ref().is_some_and(|named| named.team.is_some() || named.org.is_some());
    let kind = fields.remove("kind");
    let mut line = match kind.as_ref().and_then(Value::as_str) {
        Some("memory") => memory(fields, passages.unwrap_or_default(), defaults),
        Some("trace") => trace(fields),
        Some("signal") => signal(fields),
        _ => {
            let problem = if kind.is_some() { "is not" } else { "is missing; it is" };
            Err(vec![FieldProblem::new("kind", format!("{problem} memory, trace or signal"))])
        }
    }?;
    line.workspace = named.or(line.workspace);
    line.untrusted = untrusted;
    Ok(line)
}

/// What is left of it is registered where it is unknown; that its name is printed is made safe here.
fn workspace(value: Value) -> Result<Workspace, Vec<FieldProblem>> {
    let mut workspace: Workspace = part("workspace", value)?;
    if workspace.root.len() > ROOT_MAX_BYTES || workspace.root.chars().any(char::is_control) {
        let problem = format!("has more than {ROOT_MAX_BYTES} bytes or control characters");
        return Err(vec![FieldProblem::new("workspace.root", problem)]);
    }
    workspace.root.scrub();
    workspace.name.scrub();
    workspace.name = workspace.name.chars().filter(|c| !c.is_control()).take(NAME_MAX_CHARS).collect();
    Ok(workspace)
}

fn memory(mut fields: Fields, passages: Vec<Passage>, defaults: &Defaults) -> Result<Line, Vec<FieldProblem>> {
    require_id(&fields, "id")?;
    let is_here = !fields.contains_key("workspace_id");
    complete(&mut fields, defaults);
    let mut memory: Memory = whole(fields)?;
    let redactions = memory.scrub();
    let mut problems: Vec<FieldProblem> = match memory.validate() {
        Ok(()) => Vec::new(),
        Err(invalid) => invalid.problems.into_iter().map(|p| FieldProblem::new(p.field, p.problem)).collect(),
    };
    let readers = match memory.scope {
        Scope::Project => None,
        Scope::Team => memory.team.is_none().then_some("team"),
        Scope::Org => memory.org.is_none().then_some("org"),
    };
    problems.extend(readers.map(|field| FieldProblem::new(field, "is missing, as the scope asks for it")));
    if !problems.is_empty() {
        return Err(problems);
    }
    // Where a text had to be changed, its passages are made anew. One that is such a text whole was looked through with it.
    let content = memory.content_text();
    let is_known = |text: &str| text == content || text == memory.task;
    let is_clean = |text: &str| is_known(text) || scrub(text).redactions == 0;
    let clean = redactions == 0 && passages.iter().all(|passage| is_clean(&passage.text));
    let thing = Restorable::Memory { memory, passages: if clean { passages } else { Vec::new() } };
    Ok(Line { thing, workspace: is_here.then(|| defaults.here.clone()), untrusted: false, redactions })
}

/// Adds what can be told without being written down. Texts that are missing are told with everything else that is wrong.
fn complete(fields: &mut Fields, defaults: &Defaults) {
    let outcome = if fields.get("error_context").is_some_and(|error| !error.is_null()) { "failure" } else { "success" };
    let created_at = fields.get("created_at").cloned().unwrap_or_else(|| json!(defaults.now));
    let absent = [
        ("title", json!("")),
        ("description", json!("")),
        ("content", json!("")),
        ("revision", json!(1)),
        ("outcome", json!(outcome)),
        ("workspace_id", json!(defaults.here.id)),
        ("source_type", json!(SourceType::Imported)),
        ("trust", json!(Trust::Model)),
        ("prior", json!(prior(SourceType::Imported, None))),
        ("updated_at", created_at.clone()),
        ("created_at", created_at),
    ];
    for (name, value) in absent {
        fields.entry(name).or_insert(value);
    }
}

fn trace(fields: Fields) -> Result<Line, Vec<FieldProblem>> {
    require_id(&fields, "trace_id")?;
    let mut trace: Trace = whole(fields)?;
    let redactions = trace.scrub();
    Ok(Line { thing: Restorable::Trace(trace), workspace: None, untrusted: false, redactions })
}

/// Its own kind is called `signal` in a line.
fn signal(mut fields: Fields) -> Result<Line, Vec<FieldProblem>> {
    require_id(&fields, "id")?;
    let kind = fields.remove("signal").ok_or_else(|| vec![FieldProblem::new("signal", "is missing")])?;
    fields.insert("kind".into(), kind);
    let mut signal: Signal = whole(fields).map_err(|problems: Vec<FieldProblem>| {
        let name = |field: String| if field == "kind" { "signal".into() } else { field };
        problems.into_iter().map(|p| FieldProblem::new(name(p.field), p.problem)).collect::<Vec<_>>()
    })?;
    let redactions = signal.scrub();
    Ok(Line { thing: Restorable::Signal(signal), workspace: None, untrusted: false, redactions })
}

fn require_id(fields: &Fields, name: &str) -> Result<(), Vec<FieldProblem>> {
    if fields.contains_key(name) {
        return Ok(());
    }
    Err(vec![FieldProblem::new(name, "is missing; what is imported keeps its id")])
}

fn whole<T: DeserializeOwned>(fields: Fields) -> Result<T, Vec<FieldProblem>> {
    parsed(Value::Object(fields)).map_err(|problem| vec![problem])
}

fn part<T: DeserializeOwned>(name: &str, value: Value) -> Result<T, Vec<FieldProblem>> {
    parsed(value).map_err(|FieldProblem { field, problem }| {
        let join = if field.is_empty() || field.starts_with('[') { "" } else { "." };
        vec![FieldProblem::new(format!("{name}{join}{field}"), problem)]
    })
}
