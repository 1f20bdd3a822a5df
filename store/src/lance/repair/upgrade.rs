//! Upgrading a directory of an earlier format. Columns that were added since are made of the bodies, once, at open. A
//! table gets all of its columns in one commit or none, and the new format is stamped when the tables are on disk, so
//! an upgrade that breaks off is done again. The table itself tells what it lacks: one that damage threw back to an old
//! version is upgraded again, whatever the stamp says. Processes of earlier versions may still run, and what they leave
//! out is made up for at the next open.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, new_null_array};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use jiff::Timestamp;
use lance::dataset::{BatchUDF, NewColumnTransform};
use lancedb::Table;
use lancedb::expr::col;
use reasoning_bank_actors::ports::{Record, StoreError};
use reasoning_bank_domain::episode::EpisodeLabels;
use reasoning_bank_domain::memory::label::label_key;
use reasoning_bank_domain::memory::pattern::PatternStage;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::{ErrorContext, Memory};
use reasoning_bank_domain::text::terms;
use serde::Deserialize;

use super::format::{self, FORMAT_VERSION};
use crate::lance::commit::{apply, checkpoint};
use crate::lance::errors::failed;
use crate::lance::layout::Layout;
use crate::lance::tables::rows::{self, TableRows};
use crate::lance::tables::{TableName, Tables, filter, indexes, read};
use crate::lance::threads::blocking;

/// Columns that earlier formats did not have.
const ADDED: [&str; 15] = [
    "outcome",
    "created",
    "signature",
    "team",
    "org",
    "terms",
    "source",
    "difficulty",
    "session",
    "domain",
    "task_type",
    "tools",
    "tags",
    "signatures",
    "stage",
];
/// The number of memories whose columns, or the columns of whose passages, are filled at once.
const FILLED_AT_ONCE: usize = 1_000;

/// Upgrades the tables from this format. `damaged` says that a table may have been thrown back to any version. The
/// write lock must be held.
pub(in crate::lance) async fn upgrade(
    layout: &Layout,
    tables: &Tables,
    format: u32,
    damaged: bool,
) -> Result<(), StoreError> {
    let mut may_lack_columns = format != FORMAT_VERSION || damaged;
    for (name, table) in tables.each() {
        may_lack_columns |= add_columns(name, table).await?;
    }
    let mut filled = fill_memories(tables).await?;
    // passages are many, so they are only looked at where some may lack columns: a process of an earlier version that
    // still writes leaves columns of its memories out as well
    if may_lack_columns || filled > 0 {
        filled += fill_passages(tables).await?;
    }
    indexes::replace_former_text_index(&tables.passages).await?;
    if format == FORMAT_VERSION && filled == 0 {
        return Ok(());
    }
    let dir = layout.tables();
    blocking(move || checkpoint::sync_all(&dir)).await?.map_err(failed)?;
    if format != FORMAT_VERSION {
        format::stamp(layout).await?;
        tracing::info!(from = format, to = FORMAT_VERSION, "the data directory was upgraded");
    }
    Ok(())
}

/// Fills columns of memories that a process of an earlier version left empty: one that was running during the upgrade
/// goes on writing rows without the columns that it does not know. Answers how many such memories there were. They are
/// known by a short column, so it costs next to nothing that there are none.
async fn fill_memories(tables: &Tables) -> Result<usize, StoreError> {
    let found = read::select(&tables.memories, Some(col("signature").is_null()), &["id"]).await?;
    let ids: Vec<String> = rows::text_column(&found, "id").map(str::to_owned).collect();
    for some in ids.chunks(FILLED_AT_ONCE) {
        let bodies = read::select_these(&tables.memories, "id", some.to_vec(), &["body"]).await?;
        let memories: Vec<Memory> = rows::decode_bodies(&bodies)?;
        let whole = memories.into_iter().map(|memory| Record::Revision { memory, passages: Vec::new() });
        let whole: Vec<Record> = whole.collect();
        if let Some(rows) = rows::encode(TableName::Memories, &whole.iter().collect::<Vec<_>>(), 0)? {
            apply::replace(tables, rows).await?;
        }
    }
    if !ids.is_empty() {
        tracing::info!(memories = ids.len(), "columns that an earlier version left empty were filled");
    }
    Ok(ids.len())
}

/// Fills the columns of passages that are made of a passage and its memory: they are empty when the column is added,
/// and where an earlier version wrote since. Answers how many such passages there were; they are known by a short
/// column.
async fn fill_passages(tables: &Tables) -> Result<usize, StoreError> {
    let without = || col("created").is_null();
    let found = read::select(&tables.passages, Some(without()), &["memory_id"]).await?;
    let ids: BTreeSet<&str> = rows::text_column(&found, "memory_id").collect();
    let ids: Vec<String> = ids.into_iter().map(str::to_owned).collect();
    let mut filled = 0;
    for some in ids.chunks(FILLED_AT_ONCE) {
        let of_these = without().and(filter::one_of("memory_id", some.iter().cloned()));
        let (bodies, passages) = tokio::try_join!(
            read::select_these(&tables.memories, "id", some.to_vec(), &["body"]),
            read::select_all(&tables.passages, of_these),
        )?;
        let memories: Vec<Memory> = rows::decode_bodies(&bodies)?;
        let memories: HashMap<String, Memory> = memories.into_iter().map(|m| (m.id.to_string(), m)).collect();
        for batch in passages {
            filled += batch.num_rows();
            let batch = with_memories(batch, &memories).map_err(failed)?;
            apply::replace(tables, TableRows { table: TableName::Passages, batch }).await?;
        }
    }
    if filled > 0 {
        tracing::info!(passages = filled, "the index terms of passages, and what they are searched by, were filled in");
    }
    Ok(filled)
}

/// The passages with what their memories say of them. A passage whose memory is gone has no terms and is as old as can
/// be.
fn with_memories(passages: RecordBatch, memories: &HashMap<String, Memory>) -> Result<RecordBatch, ArrowError> {
    let of = std::slice::from_ref(&passages);
    let owners: Vec<Option<&Memory>> = rows::text_column(of, "memory_id").map(|memory| memories.get(memory)).collect();
    let terms = owners.iter().zip(rows::text_column(of, "text"));
    let terms = terms.map(|(owner, text)| owner.map(|memory| terms::indexed(&memory.title, text)).unwrap_or_default());
    let text = |value: fn(&Memory) -> &str| {
        Arc::new(owners.iter().map(|owner| owner.map(value)).collect::<StringArray>()) as ArrayRef
    };
    let created = owners.iter().map(|owner| Some(owner.map_or(0, |memory| memory.created_at.as_microsecond())));
    let difficulty =
        owners.iter().map(|owner| owner.and_then(|memory| memory.difficulty_level.as_deref().map(label_key)));
    let made: [(&str, ArrayRef); 5] = [
        ("terms", Arc::new(StringArray::from_iter_values(terms))),
        ("created", Arc::new(created.collect::<Int64Array>())),
        ("outcome", text(|memory| memory.outcome.as_str())),
        ("source", text(|memory| memory.source_type.as_str())),
        ("difficulty", Arc::new(difficulty.collect::<StringArray>())),
    ];
    let mut columns = passages.columns().to_vec();
    for (name, column) in made {
        columns[passages.schema().index_of(name)?] = column;
    }
    RecordBatch::try_new(passages.schema(), columns)
}

/// Adds the columns that the table lacks, and says whether there were any.
async fn add_columns(name: TableName, table: &Table) -> Result<bool, StoreError> {
    let found = table.schema().await.map_err(failed)?;
    let Some(missing) = missing(name, &found) else { return Ok(false) };
    if name == TableName::Passages {
        let add = table.add_columns().transform(NewColumnTransform::AllNulls(missing));
        return add.execute().await.map(|_| true).map_err(failed);
    }
    let output = Arc::clone(&missing);
    let columns = move |batch: &RecordBatch| Ok(columns(name, batch, &missing)?);
    let made = BatchUDF { mapper: Box::new(columns), output_schema: output, result_checkpoint: None };
    let add = table.add_columns().transform(NewColumnTransform::BatchUDF(made)).read_columns(["body"]);
    add.execute().await.map(|_| true).map_err(failed)
}

/// The columns that rows of this table have by now and these rows do not.
fn missing(name: TableName, found: &Schema) -> Option<SchemaRef> {
    let wanted = name.schema(0);
    let is_missing = |field: &&Arc<arrow_schema::Field>| {
        ADDED.contains(&field.name().as_str()) && found.column_with_name(field.name()).is_none()
    };
    let fields: Vec<_> = wanted.fields().iter().filter(is_missing).cloned().collect();
    (!fields.is_empty()).then(|| Arc::new(Schema::new(fields)))
}

/// Completes rows of any format to rows of the present one.
pub(in crate::lance) fn complete(name: TableName, batch: RecordBatch) -> Result<RecordBatch, StoreError> {
    let Some(missing) = missing(name, &batch.schema()) else { return Ok(batch) };
    let made = columns(name, &batch, &missing).map_err(failed)?;
    let fields: Vec<_> = batch.schema().fields().iter().chain(missing.fields()).cloned().collect();
    let all = batch.columns().iter().chain(made.columns()).cloned().collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), all).map_err(failed)
}

/// The part of a memory, a trace or a job that the added columns are made of.
#[derive(Deserialize)]
struct Body {
    /// Jobs have no outcome and need none.
    #[serde(default)]
    outcome: String,
    created_at: Timestamp,
    error_context: Option<ErrorContext>,
    team: Option<String>,
    org: Option<String>,
    pattern: Option<PatternBody>,
}

#[derive(Deserialize)]
struct PatternBody {
    stage: PatternStage,
}

fn columns(name: TableName, batch: &RecordBatch, columns: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    if batch.column_by_name("body").is_none() {
        // passages: they are filled when their memories can be read
        let none = columns.fields().iter().map(|field| new_null_array(field.data_type(), batch.num_rows()));
        return RecordBatch::try_new(Arc::clone(columns), none.collect());
    }
    let bodies = rows::text_column(std::slice::from_ref(batch), "body").map(serde_json::from_str::<Body>);
    let bodies: Vec<Body> =
        bodies.collect::<Result<_, _>>().map_err(|error| ArrowError::from_external_error(error.into()))?;
    let labels: Vec<EpisodeLabels> = match name {
        TableName::Traces => rows::decode_bodies::<Trace>(std::slice::from_ref(batch))
            .map_err(|error| ArrowError::from_external_error(error.into()))?
            .iter()
            .map(EpisodeLabels::of)
            .collect(),
        _ => Vec::new(),
    };
    let made = columns.fields().iter().map(|field| -> ArrayRef {
        match field.name().as_str() {
            "created" => {
                Arc::new(bodies.iter().map(|body| Some(body.created_at.as_microsecond())).collect::<Int64Array>())
            }
            "signature" => {
                let signatures = bodies.iter().map(|body| rows::signature_text(body.error_context.as_ref()));
                Arc::new(StringArray::from_iter_values(signatures))
            }
            "team" => Arc::new(bodies.iter().map(|body| body.team.as_deref()).collect::<StringArray>()),
            "org" => Arc::new(bodies.iter().map(|body| body.org.as_deref()).collect::<StringArray>()),
            "stage" => {
                let stages = bodies.iter().map(|body| body.pattern.as_ref().map(|part| part.stage.as_str()));
                Arc::new(stages.collect::<StringArray>())
            }
            "outcome" => Arc::new(StringArray::from_iter_values(bodies.iter().map(|body| &body.outcome))),
            label => rows::label_column(label, &labels),
        }
    });
    RecordBatch::try_new(Arc::clone(columns), made.collect())
}
