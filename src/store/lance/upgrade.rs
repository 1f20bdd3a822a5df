//! Directories of earlier formats: columns that were added since are made of the bodies, once, at open. A table gets all
//! of its columns in one commit or none, and the new format is stamped when the tables are on disk, so an upgrade that
//! breaks off is done again. What a table lacks is seen by the table itself: one that damage threw back to an old version
//! is upgraded again, whatever the stamp says. Processes of earlier versions that still run are reckoned with: what they
//! leave out is made up for at the next open.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use jiff::Timestamp;
use lance::dataset::{BatchUDF, NewColumnTransform};
use lancedb::Table;
use lancedb::expr::col;
use reasoning_bank_actors::ports::{Record, StoreError};
use reasoning_bank_domain::memory::{ErrorContext, Memory};
use serde::Deserialize;

use super::format::{self, FORMAT_VERSION, Layout};
use super::rows;
use super::tables::{TableName, Tables};
use super::{apply, blocking, checkpoint, failed, read};

/// Columns that earlier formats did not have.
const ADDED: [&str; 5] = ["outcome", "created", "signature", "team", "org"];
/// Memories whose columns are filled at once.
const FILLED_AT_ONCE: usize = 1_000;

/// The write lock must be held.
pub(super) async fn upgrade(layout: &Layout, tables: &Tables, format: u32) -> Result<(), StoreError> {
    for (name, table) in tables.each() {
        add_columns(name, table).await?;
    }
    let filled = fill_columns(tables).await?;
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

/// A process of an earlier version that was running during the upgrade goes on writing rows without the columns that it
/// does not know. How many memories there were of that kind; they are known by a short column, so that there being none
/// costs next to nothing.
async fn fill_columns(tables: &Tables) -> Result<usize, StoreError> {
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

async fn add_columns(name: TableName, table: &Table) -> Result<(), StoreError> {
    let found = table.schema().await.map_err(failed)?;
    let Some(missing) = missing(name, &found) else { return Ok(()) };
    let output = Arc::clone(&missing);
    let columns = move |batch: &RecordBatch| Ok(columns(batch, &missing)?);
    let made = BatchUDF { mapper: Box::new(columns), output_schema: output, result_checkpoint: None };
    let add = table.add_columns().transform(NewColumnTransform::BatchUDF(made)).read_columns(["body"]);
    add.execute().await.map(drop).map_err(failed)
}

/// The columns that rows of this table have and these do not.
fn missing(name: TableName, found: &Schema) -> Option<SchemaRef> {
    let wanted = name.schema(0);
    let is_missing = |field: &&Arc<arrow_schema::Field>| {
        ADDED.contains(&field.name().as_str()) && found.column_with_name(field.name()).is_none()
    };
    let fields: Vec<_> = wanted.fields().iter().filter(is_missing).cloned().collect();
    (!fields.is_empty()).then(|| Arc::new(Schema::new(fields)))
}

/// Rows as they are now, of rows as they were in any format.
pub(super) fn complete(name: TableName, batch: RecordBatch) -> Result<RecordBatch, StoreError> {
    let Some(missing) = missing(name, &batch.schema()) else { return Ok(batch) };
    let made = columns(&batch, &missing).map_err(failed)?;
    let fields: Vec<_> = batch.schema().fields().iter().chain(missing.fields()).cloned().collect();
    let all = batch.columns().iter().chain(made.columns()).cloned().collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), all).map_err(failed)
}

/// What the added columns are made of, of a memory, a trace or a job.
#[derive(Deserialize)]
struct Body {
    /// Jobs have none and need none.
    #[serde(default)]
    outcome: String,
    created_at: Timestamp,
    error_context: Option<ErrorContext>,
    team: Option<String>,
    org: Option<String>,
}

fn columns(batch: &RecordBatch, columns: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let bodies = rows::text_column(std::slice::from_ref(batch), "body").map(serde_json::from_str::<Body>);
    let bodies: Vec<Body> =
        bodies.collect::<Result<_, _>>().map_err(|error| ArrowError::from_external_error(error.into()))?;
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
            _ => Arc::new(StringArray::from_iter_values(bodies.iter().map(|body| &body.outcome))),
        }
    });
    RecordBatch::try_new(Arc::clone(columns), made.collect())
}
