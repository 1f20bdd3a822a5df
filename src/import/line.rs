//! A line of an import: this file decides which kind of thing it is, that it is whole and holds no secret, and how much
//! of what it claims is taken.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use jiff::Timestamp;
use reasoning_bank_actors::memories::Restorable;
use reasoning_bank_actors::ports::Passage;
use reasoning_bank_domain::bank::{BankFiles, BankKey, BankPath, check_bounds};
use reasoning_bank_domain::episode::EpisodeState;
use reasoning_bank_domain::evidence::confidence::prior;
use reasoning_bank_domain::learning::imported::{
    PASSAGES_MAX, Source, UntrustedReaders, problem_of_episode_state, problems_of_job, problems_of_memory,
    problems_of_trace, problems_of_workspace, untrusted, untrusted_episode_state, untrusted_trace, untrusted_workspace,
};
use reasoning_bank_domain::learning::job::Job;
use reasoning_bank_domain::memory::signal::Signal;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::{NAME_MAX_CHARS, Workspace, WorkspaceId};
use reasoning_bank_domain::memory::{FieldProblem, Memory, SourceType, Trust, check_count};
use reasoning_bank_domain::safety::secrets::{Removed, Scrub, scrub};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::{Map, Value, json};

use super::outcome::ImportCounts;
use crate::jsonl::{ItemProblem, Values, parsed};

/// The JSON values of a line without its passages: several times what the longest trace has.
const VALUES_MAX: usize = 100_000;
/// The field of a trace's line that says what happened to the episode since it was made.
const EPISODE_STATE: &str = "episode_state";

/// The trust that a file gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ImportMode {
    /// The user vouches for the file, which is then taken at its word.
    Backup,
    /// Nobody vouches for it. It may write to other workspaces, to which the user agrees.
    Stranger,
    /// Nobody vouches for it, and it came over the network. All of it goes to one workspace and to nobody beyond it,
    /// with the ids of copies.
    Copies,
}

impl ImportMode {
    pub(super) fn is_backup(self) -> bool {
        self == Self::Backup
    }
}

/// The bank that a file is imported into, as far as a line is held against it.
pub(crate) struct ImportTarget {
    /// The workspace in use, for memories that name none.
    pub(crate) here: Workspace,
    pub(crate) now: Timestamp,
    pub(crate) mode: ImportMode,
    /// The workspaces that are registered here, with the team and the organisation they are trusted with.
    pub(crate) known: HashMap<WorkspaceId, Workspace>,
}

const BANK_FILE: &str = "bank_file";

impl ImportTarget {
    /// A workspace as this bank knows it.
    pub(crate) fn workspace(&self, id: &WorkspaceId) -> Option<&Workspace> {
        if *id == self.here.id { Some(&self.here) } else { self.known.get(id) }
    }

    /// Returns the workspace in use as it is stored, without what only the configuration says.
    fn registration(&self) -> Workspace {
        self.here.clone().registered()
    }

    /// Makes what a line says of its workspace say the one in use. A file of a memory bank names no workspace.
    fn bring_here(&self, fields: &mut Fields) {
        if fields.get("kind").and_then(Value::as_str) == Some(BANK_FILE) {
            return;
        }
        let here = json!(self.here.id);
        if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("workspace_id".into(), here.clone());
        }
        fields.insert("workspace".into(), json!(self.registration()));
        fields.insert("workspace_id".into(), here);
    }

    fn source(&self) -> Source {
        if self.mode.is_backup() { Source::Backup } else { Source::Stranger { now: self.now } }
    }
}

#[derive(Debug)]
pub(super) struct ImportLine {
    pub(super) taken: Taken,
    /// The workspace of the thing, where it belongs to one.
    pub(super) of: Option<WorkspaceId>,
    /// The workspace that is written before it.
    pub(super) workspace: Option<Workspace>,
    pub(super) removed: Removed,
}

/// The part of a right line that is taken.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all are the large one")]
pub(super) enum Taken {
    Thing(Restorable),
    /// A memory for readers that its workspace is not trusted with.
    LeftOut(UntrustedReaders),
    BankFile(BankFile),
    /// The line is evidence, a job or a file of a memory bank, for which nobody vouches.
    Doubted(ImportCounts),
}

/// A file of a memory bank.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BankFile {
    pub(super) bank: BankKey,
    pub(super) path: BankPath,
    pub(super) text: String,
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
        struct RawVisitor;

        impl<'de> Visitor<'de> for RawVisitor {
            type Value = Raw;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
                let mut raw = Raw { fields: Fields::new(), passages: None };
                let mut values = Values::at_most(VALUES_MAX);
                while let Some(name) = map.next_key::<String>()? {
                    if name != "passages" {
                        let value = map.next_value_seed(&mut values)?;
                        Values::put(&mut raw.fields, name, value)?;
                    } else if raw.passages.replace(map.next_value()?).is_some() {
                        return Err(A::Error::custom("the field `passages` is given twice"));
                    }
                }
                Ok(raw)
            }
        }

        deserializer.deserialize_map(RawVisitor)
    }
}

/// Reads a line.
///
/// # Errors
/// The error names all fields that are wrong, as far as the first wrong one lets the others be read.
pub(super) fn parse(raw: Raw, bank: &ImportTarget) -> Result<ImportLine, Vec<ItemProblem>> {
    let Raw { mut fields, passages } = raw;
    if bank.mode == ImportMode::Copies {
        bank.bring_here(&mut fields);
    }
    let named = fields.remove("workspace").map(|named| workspace(named, bank)).transpose()?;
    // This bank knows better what a stranger says of the workspace in use.
    let named =
        named.map(|named| if bank.mode.is_backup() || named.id != bank.here.id { named } else { bank.registration() });
    let kind = fields.remove("kind");
    let mut line = match kind.as_ref().and_then(Value::as_str) {
        Some("memory") => memory(fields, passages.unwrap_or_default(), bank),
        Some("trace") => trace(fields, bank),
        Some("signal") => signal(fields, bank),
        Some("job") => job(fields, bank),
        Some(BANK_FILE) => bank_file(fields, bank),
        _ => {
            let problem = if kind.is_some() { "is not" } else { "is missing; it is" };
            Err(vec![ItemProblem::new("kind", format!("{problem} memory, trace, signal, job or bank_file"))])
        }
    }?;
    line.workspace = named.or(line.workspace);
    Ok(line)
}

/// Reads a workspace that is registered where it is unknown. Its name is printed, so it is made safe here. Only a
/// backup gives it a team and an organisation.
fn workspace(value: Value, bank: &ImportTarget) -> Result<Workspace, Vec<ItemProblem>> {
    let mut workspace: Workspace = part("workspace", value)?;
    refuse(problems_of_workspace(&workspace, bank.source()).into_iter().map(field_problem).collect())?;
    if !bank.mode.is_backup() {
        workspace = untrusted_workspace(workspace);
    }
    workspace.root.scrub();
    workspace.name.scrub();
    workspace.name = workspace.name.chars().filter(|c| !c.is_control()).take(NAME_MAX_CHARS).collect();
    Ok(workspace)
}

fn memory(mut fields: Fields, passages: Vec<Passage>, bank: &ImportTarget) -> Result<ImportLine, Vec<ItemProblem>> {
    require_id(&fields, "id")?;
    let is_here = !fields.contains_key("workspace_id");
    complete(&mut fields, bank);
    let mut memory: Memory = whole(fields)?;
    // Counts come first: to look through a million labels takes seconds.
    let mut problems: Vec<ItemProblem> = match memory.validate() {
        Ok(()) => Vec::new(),
        Err(invalid) => invalid.problems.into_iter().map(field_problem).collect(),
    };
    problems.extend(problems_of_memory(&memory, bank.source()).into_iter().map(field_problem));
    problems.extend(check_count("passages", passages.len(), "items", PASSAGES_MAX).err().map(field_problem));
    refuse(problems)?;
    let removed = memory.scrub();
    memory.validate().map_err(|invalid| invalid.problems.into_iter().map(field_problem).collect::<Vec<_>>())?;
    let of = Some(memory.workspace_id.clone());
    let workspace = is_here.then(|| bank.registration());
    if !bank.mode.is_backup() {
        // Vectors are made anew: those of a file could be made to be near to everything.
        let home = bank.workspace(&memory.workspace_id).filter(|_| bank.mode == ImportMode::Stranger);
        let taken = match untrusted(memory, home) {
            Ok(memory) => Taken::Thing(Restorable::Memory { memory, passages: Vec::new() }),
            Err(left_out) => Taken::LeftOut(left_out),
        };
        return Ok(ImportLine { taken, of, workspace, removed });
    }
    // A memory with a text that had to be changed gets its passages anew. A passage that is such a text whole was
    // looked through with it.
    let content = memory.content_text();
    let is_known = |text: &str| text == content || text == memory.task;
    let is_clean = |text: &str| is_known(text) || matches!(scrub(text).text, Cow::Borrowed(_));
    let clean = removed.is_nothing() && passages.iter().all(|passage| is_clean(&passage.text));
    let thing = Restorable::Memory { memory, passages: if clean { passages } else { Vec::new() } };
    Ok(ImportLine { taken: Taken::Thing(thing), of, workspace, removed })
}

fn refuse(problems: Vec<ItemProblem>) -> Result<(), Vec<ItemProblem>> {
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn field_problem(problem: FieldProblem) -> ItemProblem {
    ItemProblem::new(problem.field, problem.problem)
}

/// Adds what can be told without being written down. Texts that are missing are told with everything else that is
/// wrong.
fn complete(fields: &mut Fields, bank: &ImportTarget) {
    let outcome = if fields.get("error_context").is_some_and(|error| !error.is_null()) { "failure" } else { "success" };
    let created_at = fields.get("created_at").cloned().unwrap_or_else(|| json!(bank.now));
    let absent = [
        ("title", json!("")),
        ("description", json!("")),
        ("content", json!("")),
        ("revision", json!(1)),
        ("outcome", json!(outcome)),
        ("workspace_id", json!(bank.here.id)),
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

fn trace(mut fields: Fields, bank: &ImportTarget) -> Result<ImportLine, Vec<ItemProblem>> {
    require_id(&fields, "trace_id")?;
    let state = fields.remove(EPISODE_STATE);
    let mut trace: Trace = whole(fields)?;
    let mut state = state.map(|state| episode_state(state, &trace)).transpose()?;
    let problems = problems_of_trace(&trace, bank.source()).into_iter();
    let problems = problems.chain(state.as_ref().and_then(problem_of_episode_state));
    refuse(problems.map(field_problem).collect())?;
    let removed = trace.scrub();
    if !bank.mode.is_backup() {
        trace = untrusted_trace(trace);
        state = state.map(|state| untrusted_episode_state(state, bank.now));
    }
    let of = Some(trace.metadata.workspace_id.clone());
    Ok(ImportLine { taken: Taken::Thing(Restorable::Trace { trace, state }), of, workspace: None, removed })
}

/// Reads what a line says that happened to an episode. What its trace says as well is taken from there.
fn episode_state(mut told: Value, trace: &Trace) -> Result<EpisodeState, Vec<ItemProblem>> {
    if let Some(fields) = told.as_object_mut() {
        fields.insert("episode_id".into(), json!(trace.trace_id));
        fields.insert("workspace_id".into(), json!(trace.metadata.workspace_id));
        fields.insert("created_at".into(), json!(trace.created_at));
        fields.insert("revision".into(), json!(1));
    }
    part(EPISODE_STATE, told)
}

/// Reads a signal. Its own kind is called `signal` in a line.
fn signal(mut fields: Fields, bank: &ImportTarget) -> Result<ImportLine, Vec<ItemProblem>> {
    require_id(&fields, "id")?;
    let kind = fields.remove("signal").ok_or_else(|| vec![ItemProblem::new("signal", "is missing")])?;
    fields.insert("kind".into(), kind);
    let mut signal: Signal = whole(fields).map_err(|problems: Vec<ItemProblem>| {
        let name = |field: String| if field == "kind" { "signal".into() } else { field };
        problems.into_iter().map(|p| ItemProblem::new(name(p.field), p.problem)).collect::<Vec<_>>()
    })?;
    let removed = signal.scrub();
    if !bank.mode.is_backup() {
        return Ok(doubted(ImportCounts::of(&Restorable::Signal(signal))));
    }
    let of = Some(signal.workspace_id.clone());
    Ok(ImportLine { taken: Taken::Thing(Restorable::Signal(signal)), of, workspace: None, removed })
}

/// Reads a job. It spends tokens and writes memories when it is done, so it is taken of a backup alone.
fn job(fields: Fields, bank: &ImportTarget) -> Result<ImportLine, Vec<ItemProblem>> {
    require_id(&fields, "id")?;
    let mut job: Job = whole(fields)?;
    refuse(problems_of_job(&job).into_iter().map(field_problem).collect())?;
    let removed = job.scrub();
    if !bank.mode.is_backup() {
        return Ok(doubted(ImportCounts::of(&Restorable::Job(job))));
    }
    let of = Some(job.workspace_id.clone());
    Ok(ImportLine { taken: Taken::Thing(Restorable::Job(job)), of, workspace: None, removed })
}

/// Reads a file of a memory bank. Agents take what it says as the user's own word, so it is taken of a backup alone.
fn bank_file(fields: Fields, bank: &ImportTarget) -> Result<ImportLine, Vec<ItemProblem>> {
    let mut file: BankFile = whole(fields)?;
    let files = BankFiles::from([(file.path.clone(), file.text.clone())]);
    check_bounds(&files).map_err(|invalid| vec![ItemProblem::new("text", invalid.problem)])?;
    let removed = file.text.scrub();
    if !bank.mode.is_backup() {
        return Ok(doubted(ImportCounts { bank_files: 1, ..ImportCounts::default() }));
    }
    Ok(ImportLine { taken: Taken::BankFile(file), of: None, workspace: None, removed })
}

fn doubted(counts: ImportCounts) -> ImportLine {
    ImportLine { taken: Taken::Doubted(counts), of: None, workspace: None, removed: Removed::default() }
}

fn require_id(fields: &Fields, name: &str) -> Result<(), Vec<ItemProblem>> {
    if fields.contains_key(name) {
        return Ok(());
    }
    Err(vec![ItemProblem::new(name, "is missing; what is imported keeps its id")])
}

fn whole<T: DeserializeOwned>(fields: Fields) -> Result<T, Vec<ItemProblem>> {
    parsed(Value::Object(fields)).map_err(|problem| vec![problem])
}

fn part<T: DeserializeOwned>(name: &str, value: Value) -> Result<T, Vec<ItemProblem>> {
    parsed(value).map_err(|ItemProblem { field, problem }| {
        let join = if field.is_empty() || field.starts_with('[') { "" } else { "." };
        vec![ItemProblem::new(format!("{name}{join}{field}"), problem)]
    })
}
