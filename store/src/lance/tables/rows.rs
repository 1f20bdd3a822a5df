//! This file makes rows of the tables from records; `decoding` makes records of rows again.

mod decoding;

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, Float32Builder};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Int64Array, RecordBatch, StringArray, UInt32Array, cast::AsArray,
};
use arrow_schema::SchemaRef;
use jiff::Timestamp;
use rayon::prelude::*;
use reasoning_bank_actors::ports::{Passage, PassageKind, Record, StoreError};
use reasoning_bank_domain::episode::{EpisodeLabels, EpisodeState, EpisodeVectors, QuantizedVector};
use reasoning_bank_domain::learning::job::Job;
use reasoning_bank_domain::memory::label::label_key;
use reasoning_bank_domain::memory::{ErrorContext, Memory};
use reasoning_bank_domain::text::terms;
use serde::Serialize;

pub(in crate::lance) use self::decoding::{
    decode_bodies, decode_passages, first_of_their_text, float_column, id_column, revision_of, text_column, time_column,
};
use super::schema::TableName;
use crate::lance::errors::failed;

/// The character between the entries of a list that is kept in one text column. Entries are JSON, which escapes control
/// characters, so none contains it, and an entry is in the list where the text contains it between two of these.
const SEPARATOR: char = '\u{1f}';

/// Writes a list as one text: `␟"a"␟"b"␟`.
pub(in crate::lance) fn list_text<T: Serialize>(entries: impl IntoIterator<Item = T>) -> String {
    let mut text = String::from(SEPARATOR);
    for entry in entries {
        // strings and ids always serialise
        text.push_str(&serde_json::to_string(&entry).unwrap_or_default());
        text.push(SEPARATOR);
    }
    text
}

/// Returns what stands in the text of a list ([`list_text`]) where an entry begins with this text.
pub(in crate::lance) fn list_entry_start(start: &str) -> String {
    let entry = serde_json::to_string(start).unwrap_or_default();
    format!("{SEPARATOR}{}", entry.strip_suffix('"').unwrap_or(&entry))
}

/// Returns the entries in the text of a list.
pub(in crate::lance) fn listed(text: &str) -> impl Iterator<Item = String> {
    text.split(SEPARATOR).filter_map(|entry| serde_json::from_str(entry).ok())
}

/// Returns the ids in the text of a list.
pub(in crate::lance) fn listed_ids(text: &str) -> impl Iterator<Item = &str> {
    text.split(SEPARATOR).filter_map(|entry| entry.strip_prefix('"')?.strip_suffix('"'))
}

/// Returns the signature of an error as text, which is empty where there is no error.
pub(in crate::lance) fn signature_text(error: Option<&ErrorContext>) -> String {
    error.map(|error| error.signature().to_string()).unwrap_or_default()
}

/// Fewer items are not worth being handed to another thread.
const ITEMS_A_THREAD: usize = 256;

/// The rows of one table to be inserted.
pub(in crate::lance) struct TableRows {
    pub(in crate::lance) table: TableName,
    pub(in crate::lance) batch: RecordBatch,
}

/// Makes the rows of these records in one table; returns `None` when there are none.
///
/// # Errors
/// A vector has another length than `dims`, or a number that is not finite.
pub(in crate::lance) fn encode(
    table: TableName,
    records: &[&Record],
    dims: usize,
) -> Result<Option<TableRows>, StoreError> {
    let columns = match table {
        TableName::Workspaces => workspaces(records),
        TableName::Traces => traces(records),
        TableName::Memories => memories(records),
        TableName::Passages => passages(records, dims),
        TableName::Signals => signals(records),
        TableName::Jobs => jobs(records),
        TableName::Requests => requests(records),
        TableName::EpisodeState => episode_states(records),
        TableName::EpisodeVectors => episode_vectors(records),
        TableName::History => history(records),
    }?;
    if columns.first().is_none_or(|ids| ids.is_empty()) {
        return Ok(None);
    }
    Ok(Some(TableRows { table, batch: record_batch(table.schema(dims), columns)? }))
}

/// Returns the id of a passage. All passages of another revision of the memory have other ids.
pub(in crate::lance) fn passage_id(memory: &Memory, passage: &Passage) -> String {
    format!("{}/{}/{}/{}", memory.id, memory.revision, kind_text(passage.kind), passage.n)
}

/// Returns the memory that a record stores, new or changed, and its passages; `None` where the record stores no memory.
pub(in crate::lance) fn stored_memory(record: &Record) -> Option<(&Memory, &[Passage])> {
    match record {
        Record::Memory { memory, passages, .. } | Record::Revision { memory, passages } => Some((memory, passages)),
        Record::Workspace(_)
        | Record::Trace(_)
        | Record::Verdict(_)
        | Record::Signal(_)
        | Record::Job(_)
        | Record::Request(_)
        | Record::EpisodeState(_)
        | Record::EpisodeVectors(_)
        | Record::History(_) => None,
    }
}

/// Returns what `make` makes of each item, in their order. Many items are shared out among the cores.
pub(in crate::lance) fn on_all_cores<T: Sync, R: Send>(items: &[T], make: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    if items.len() <= ITEMS_A_THREAD {
        return items.iter().map(make).collect();
    }
    items.par_iter().with_min_len(ITEMS_A_THREAD).map(make).collect()
}

fn record_batch(schema: SchemaRef, columns: Vec<ArrayRef>) -> Result<RecordBatch, StoreError> {
    RecordBatch::try_new(schema, columns).map_err(failed)
}

fn text<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

fn optional<S: AsRef<str>>(values: impl IntoIterator<Item = Option<S>>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<StringArray>())
}

fn body_column<'a, T: Serialize + Sync + 'a>(values: impl IntoIterator<Item = &'a T>) -> Result<ArrayRef, StoreError> {
    let values: Vec<&T> = values.into_iter().collect();
    let bodies: Result<Vec<String>, _> = on_all_cores(&values, serde_json::to_string).into_iter().collect();
    Ok(text(bodies.map_err(failed)?))
}

fn workspaces(records: &[&Record]) -> Result<Vec<ArrayRef>, StoreError> {
    let all =
        || records.iter().filter_map(|r| if let Record::Workspace(workspace) = r { Some(workspace) } else { None });
    Ok(vec![text(all().map(|workspace| workspace.id.as_str())), body_column(all())?])
}

fn traces(records: &[&Record]) -> Result<Vec<ArrayRef>, StoreError> {
    let all = || {
        records.iter().filter_map(|r| match r {
            Record::Trace(trace) | Record::Verdict(trace) => Some(trace),
            _ => None,
        })
    };
    let labels: Vec<EpisodeLabels> = all().map(EpisodeLabels::of).collect();
    let mut columns = vec![
        text(all().map(|trace| trace.trace_id.to_string())),
        text(all().map(|trace| trace.metadata.workspace_id.as_str())),
        body_column(all())?,
        text(all().map(|trace| trace.outcome.as_str())),
        Arc::new(all().map(|trace| Some(trace.created_at.as_microsecond())).collect::<Int64Array>()),
    ];
    columns.extend(LABEL_COLUMNS.map(|name| label_column(name, &labels)));
    Ok(columns)
}

/// The columns of traces that hold the labels of their episodes, in the order of the schema.
const LABEL_COLUMNS: [&str; 6] = ["session", "domain", "task_type", "tools", "tags", "signatures"];

/// Makes one of [`LABEL_COLUMNS`].
pub(in crate::lance) fn label_column(name: &str, labels: &[EpisodeLabels]) -> ArrayRef {
    match name {
        "session" => optional(labels.iter().map(|labels| sessions_text(&labels.sessions))),
        "domain" => optional(labels.iter().map(|labels| labels.domain.as_deref())),
        "task_type" => optional(labels.iter().map(|labels| Some(&labels.task_type))),
        "tools" => optional(labels.iter().map(|labels| Some(list_text(&labels.tools)))),
        "tags" => optional(labels.iter().map(|labels| Some(list_text(&labels.tags)))),
        _ => optional(labels.iter().map(|labels| Some(list_text(&labels.signatures)))),
    }
}

/// Writes one session as it is, and several, which only an episode that stands for others has, as a list.
fn sessions_text(sessions: &BTreeSet<String>) -> Option<String> {
    if sessions.len() > 1 { Some(list_text(sessions)) } else { sessions.first().cloned() }
}

fn episode_states(records: &[&Record]) -> Result<Vec<ArrayRef>, StoreError> {
    let all = || records.iter().filter_map(|r| if let Record::EpisodeState(state) = r { Some(state) } else { None });
    let times = |time: fn(&EpisodeState) -> Option<Timestamp>| -> ArrayRef {
        Arc::new(all().map(|state| time(state).map(|time| time.as_microsecond())).collect::<Int64Array>())
    };
    Ok(vec![
        text(all().map(|state| state.episode_id.to_string())),
        text(all().map(|state| state.workspace_id.as_str())),
        times(|state| Some(state.created_at)),
        times(|state| state.last_accessed),
        times(|state| state.archived_at),
        times(|state| state.deleted_at),
        body_column(all())?,
    ])
}

fn episode_vectors(records: &[&Record]) -> Result<Vec<ArrayRef>, StoreError> {
    let all = || records.iter().filter_map(|r| if let Record::EpisodeVectors(of) = r { Some(of) } else { None });
    let vectors = |vector: fn(&EpisodeVectors) -> Option<&QuantizedVector>| -> ArrayRef {
        let bytes: Vec<Option<Vec<u8>>> = all().map(|of| vector(of).map(QuantizedVector::bytes)).collect();
        Arc::new(bytes.iter().map(Option::as_deref).collect::<BinaryArray>())
    };
    let heads: Vec<EpisodeVectors> =
        all().map(|of| EpisodeVectors { task: None, outcome: None, whole: None, ..of.clone() }).collect();
    Ok(vec![
        text(all().map(|of| of.episode_id.to_string())),
        text(all().map(|of| of.workspace_id.as_str())),
        Arc::new(all().map(|of| Some(of.created_at.as_microsecond())).collect::<Int64Array>()),
        text(all().map(|of| of.embedder.as_str())),
        vectors(|of| of.task.as_ref()),
        vectors(|of| of.outcome.as_ref()),
        vectors(|of| of.whole.as_ref()),
        body_column(&heads)?,
    ])
}

/// Returns the values of a column of vectors of every batch, one after another. None where a row has none.
pub(in crate::lance) fn vector_bytes<'a>(
    batches: &'a [RecordBatch],
    name: &'static str,
) -> impl Iterator<Item = Option<&'a [u8]>> + use<'a> {
    batches
        .iter()
        .filter_map(move |batch| batch.column_by_name(name)?.as_binary_opt::<i32>())
        .flat_map(|column| column.iter())
}

/// Returns the values of a column of times that may be unset, of every batch, one after another.
pub(in crate::lance) fn optional_times<'a>(
    batches: &'a [RecordBatch],
    name: &'static str,
) -> impl Iterator<Item = Option<Timestamp>> + use<'a> {
    batches
        .iter()
        .filter_map(move |batch| batch.column_by_name(name)?.as_any().downcast_ref::<Int64Array>())
        .flat_map(|column| column.iter().map(|time| Timestamp::from_microsecond(time?).ok()))
}

fn memories(records: &[&Record]) -> Result<Vec<ArrayRef>, StoreError> {
    let memories: Vec<&Memory> = records.iter().filter_map(|record| Some(stored_memory(record)?.0)).collect();
    let all = || memories.iter().copied();
    Ok(vec![
        text(all().map(|memory| memory.id.to_string())),
        text(all().map(|memory| memory.workspace_id.as_str())),
        text(all().map(|memory| memory.scope.as_str())),
        text(all().map(|memory| memory.status.as_str())),
        text(on_all_cores(&memories, |memory| memory.duplicate_key())),
        optional(all().map(|memory| memory.parent_memory_id.map(|id| id.to_string()))),
        text(all().map(|memory| list_text(&memory.derived_from))),
        body_column(all())?,
        text(all().map(|memory| memory.outcome.as_str())),
        text(all().map(|memory| signature_text(memory.error_context.as_ref()))),
        optional(all().map(|memory| memory.team.as_deref())),
        optional(all().map(|memory| memory.org.as_deref())),
        optional(all().map(|memory| memory.pattern.as_ref().map(|part| part.stage.as_str()))),
    ])
}

fn passages(records: &[&Record], dims: usize) -> Result<Vec<ArrayRef>, StoreError> {
    let all: Vec<(&Memory, &Passage)> = records
        .iter()
        .filter_map(|record| stored_memory(record))
        .flat_map(|(memory, passages)| passages.iter().map(move |passage| (memory, passage)))
        .collect();
    let of_memory = |value: fn(&Memory) -> &str| text(all.iter().map(|(memory, _)| value(memory)));
    Ok(vec![
        text(all.iter().map(|(memory, passage)| passage_id(memory, passage))),
        text(all.iter().map(|(memory, _)| memory.id.to_string())),
        of_memory(|memory| memory.workspace_id.as_str()),
        of_memory(|memory| memory.scope.as_str()),
        optional(all.iter().map(|(memory, _)| memory.team.as_deref())),
        optional(all.iter().map(|(memory, _)| memory.org.as_deref())),
        of_memory(|memory| memory.status.as_str()),
        Arc::new(all.iter().map(|(memory, _)| Some(memory.is_warning())).collect::<BooleanArray>()),
        optional(all.iter().map(|(memory, _)| memory.domain_category.as_deref().map(label_key))),
        text(all.iter().map(|(memory, _)| list_text(&memory.pattern_tags))),
        text(all.iter().map(|(_, passage)| kind_text(passage.kind))),
        Arc::new(all.iter().map(|(_, passage)| Some(passage.n)).collect::<UInt32Array>()),
        text(all.iter().map(|(_, passage)| &passage.text)),
        vectors(all.iter().map(|(_, passage)| passage.vector.as_deref()), dims)?,
        text(on_all_cores(&all, |(memory, passage)| terms::indexed(&memory.title, &passage.text))),
        Arc::new(all.iter().map(|(memory, _)| Some(memory.created_at.as_microsecond())).collect::<Int64Array>()),
        of_memory(|memory| memory.outcome.as_str()),
        of_memory(|memory| memory.source_type.as_str()),
        optional(all.iter().map(|(memory, _)| memory.difficulty_level.as_deref().map(label_key))),
    ])
}

/// Makes the column of the vectors of passages. The value of a passage without a vector is null.
pub(in crate::lance) fn vectors<'a>(
    vectors: impl Iterator<Item = Option<&'a [f32]>>,
    dims: usize,
) -> Result<ArrayRef, StoreError> {
    let zeros = vec![0.0; dims];
    let (at_least, _) = vectors.size_hint();
    let numbers = Float32Builder::with_capacity(at_least * dims);
    let mut rows = FixedSizeListBuilder::with_capacity(numbers, i32::try_from(dims).map_err(failed)?, at_least);
    for vector in vectors {
        if let Some(vector) = vector {
            check_vector(vector, dims)?;
        }
        rows.values().append_slice(vector.unwrap_or(&zeros));
        rows.append(vector.is_some());
    }
    Ok(Arc::new(rows.finish()))
}

/// Refuses what [`encode`] would refuse.
pub(in crate::lance) fn check(batch: &[Record], dims: usize) -> Result<(), StoreError> {
    let passages = batch.iter().filter_map(|record| Some(stored_memory(record)?.1));
    let mut vectors = passages.flatten().filter_map(|passage| passage.vector.as_deref());
    vectors.try_for_each(|vector| check_vector(vector, dims))
}

/// Refuses a vector that cannot be compared with those of the store.
fn check_vector(vector: &[f32], dims: usize) -> Result<(), StoreError> {
    if vector.len() != dims {
        return Err(StoreError::Failed(format!(
            "a vector has {} numbers; those of the store have {dims}",
            vector.len()
        )));
    }
    if vector.iter().any(|number| !number.is_finite()) {
        return Err(StoreError::Failed("a vector has a number that is not finite".into()));
    }
    Ok(())
}

fn signals(records: &[&Record]) -> Result<Vec<ArrayRef>, StoreError> {
    let all = || records.iter().filter_map(|r| if let Record::Signal(signal) = r { Some(signal) } else { None });
    Ok(vec![
        text(all().map(|signal| signal.id.to_string())),
        text(all().map(|signal| signal.memory_id.to_string())),
        text(all().map(|signal| signal.workspace_id.as_str())),
        text(all().map(|signal| signal.kind.as_str())),
        Arc::new(all().map(|signal| Some(signal.at.as_microsecond())).collect::<Int64Array>()),
        body_column(all())?,
    ])
}

fn jobs(records: &[&Record]) -> Result<Vec<ArrayRef>, StoreError> {
    let all = || records.iter().filter_map(|r| if let Record::Job(job) = r { Some(job) } else { None });
    let time = |time: fn(&Job) -> Timestamp| all().map(move |job| Some(time(job).as_microsecond()));
    Ok(vec![
        text(all().map(|job| job.id.to_string())),
        text(all().map(|job| job.workspace_id.as_str())),
        text(all().map(|job| job.state.as_str())),
        Arc::new(time(|job| job.due).collect::<Int64Array>()),
        Arc::new(time(|job| job.updated_at).collect::<Int64Array>()),
        body_column(all())?,
        Arc::new(time(|job| job.created_at).collect::<Int64Array>()),
    ])
}

fn requests(records: &[&Record]) -> Result<Vec<ArrayRef>, StoreError> {
    let all = || records.iter().filter_map(|r| if let Record::Request(request) = r { Some(request) } else { None });
    Ok(vec![
        text(all().map(|request| request.id.to_string())),
        text(all().map(|request| request.workspace_id.as_str())),
        Arc::new(all().map(|request| Some(request.at.as_microsecond())).collect::<Int64Array>()),
        body_column(all())?,
    ])
}

fn history(records: &[&Record]) -> Result<Vec<ArrayRef>, StoreError> {
    let all = || records.iter().filter_map(|r| if let Record::History(entry) = r { Some(entry) } else { None });
    Ok(vec![
        text(all().map(|entry| entry.id.to_string())),
        text(all().map(|entry| entry.workspace_id.as_str())),
        // what a person changed belongs to no run
        text(all().map(|entry| entry.run_id.map(|run| run.to_string()).unwrap_or_default())),
        text(all().map(|entry| entry.object.to_string())),
        Arc::new(all().map(|entry| Some(entry.at.as_microsecond())).collect::<Int64Array>()),
        body_column(all())?,
    ])
}

/// Returns the kind of a passage, as it stands in its column.
fn kind_text(kind: PassageKind) -> &'static str {
    match kind {
        PassageKind::Task => "task",
        PassageKind::Content => "content",
    }
}
