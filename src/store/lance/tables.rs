//! The tables: their columns, how they are created and opened.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use lancedb::{Connection, ObjectStoreRegistry, Session, Table};
use reasoning_bank_actors::ports::StoreError;

use super::applying::Versions;
use super::format::Layout;
use super::{failed, indexes};

/// LanceDB's own defaults are 6 GiB and 1 GiB a connection. What is searched often is searched in memory (`resident`).
const INDEX_CACHE_BYTES: usize = 24 << 20;
const METADATA_CACHE_BYTES: usize = 16 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum TableName {
    Workspaces,
    Traces,
    Memories,
    Passages,
    Signals,
    Jobs,
}

impl TableName {
    /// In the order in which a frame is applied: what refers comes after what it refers to.
    pub(super) const ALL: [Self; 6] =
        [Self::Workspaces, Self::Traces, Self::Memories, Self::Passages, Self::Signals, Self::Jobs];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Workspaces => "workspaces",
            Self::Traces => "traces",
            Self::Memories => "memories",
            Self::Passages => "passages",
            Self::Signals => "signals",
            Self::Jobs => "jobs",
        }
    }

    /// The columns that are searched and filtered on; `body` is the whole record as JSON. Every `id` is the
    /// unenforced primary key: two writers that insert the same one at once conflict instead of doubling it. Columns
    /// that a later format added come last, where an upgrade puts them, too.
    pub(super) fn schema(self, dims: usize) -> SchemaRef {
        let text = |name: &str| Field::new(name, DataType::Utf8, false);
        let optional = |name: &str| Field::new(name, DataType::Utf8, true);
        let key = HashMap::from([("lance-schema:unenforced-primary-key:position".to_owned(), "1".to_owned())]);
        let mut fields = vec![text("id").with_metadata(key)];
        fields.extend(match self {
            Self::Workspaces => vec![text("body")],
            Self::Traces => {
                vec![text("workspace"), text("body"), text("outcome"), Field::new("created", DataType::Int64, false)]
            }
            Self::Memories => vec![
                text("workspace"),
                text("scope"),
                text("status"),
                text("duplicate_key"),
                optional("parent"),
                text("derived_from"),
                text("body"),
                text("outcome"),
                // NULL only in rows of versions that do not know it; those without an error have an empty one
                optional("signature"),
                optional("team"),
                optional("org"),
            ],
            Self::Passages => vec![
                text("memory_id"),
                text("workspace"),
                text("scope"),
                optional("team"),
                optional("org"),
                text("status"),
                Field::new("warning", DataType::Boolean, false),
                optional("domain"),
                text("tags"),
                text("kind"),
                Field::new("n", DataType::UInt32, false),
                text("text"),
                Field::new("vector", vector_type(dims), true),
                // these are NULL only in rows of versions that do not know them; difficulty also where there is none
                optional("terms"),
                Field::new("created", DataType::Int64, true),
                optional("outcome"),
                optional("source"),
                optional("difficulty"),
            ],
            Self::Signals => vec![
                text("memory_id"),
                text("workspace"),
                text("kind"),
                Field::new("at", DataType::Int64, false),
                text("body"),
            ],
            Self::Jobs => vec![
                text("workspace"),
                text("state"),
                Field::new("due", DataType::Int64, false),
                Field::new("updated", DataType::Int64, false),
                text("body"),
                Field::new("created", DataType::Int64, false),
            ],
        });
        Arc::new(Schema::new(fields))
    }
}

pub(super) fn vector_item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Float32, true))
}

fn vector_type(dims: usize) -> DataType {
    DataType::FixedSizeList(vector_item(), i32::try_from(dims).unwrap_or(i32::MAX))
}

/// Handles of all tables. Every read through them looks for a newer version first, so that what another process
/// acknowledged is seen.
#[derive(Clone)]
pub(super) struct Tables {
    pub(super) workspaces: Table,
    pub(super) traces: Table,
    pub(super) memories: Table,
    pub(super) passages: Table,
    pub(super) signals: Table,
    pub(super) jobs: Table,
}

impl Tables {
    pub(super) fn get(&self, name: TableName) -> &Table {
        match name {
            TableName::Workspaces => &self.workspaces,
            TableName::Traces => &self.traces,
            TableName::Memories => &self.memories,
            TableName::Passages => &self.passages,
            TableName::Signals => &self.signals,
            TableName::Jobs => &self.jobs,
        }
    }

    fn get_mut(&mut self, name: TableName) -> &mut Table {
        match name {
            TableName::Workspaces => &mut self.workspaces,
            TableName::Traces => &mut self.traces,
            TableName::Memories => &mut self.memories,
            TableName::Passages => &mut self.passages,
            TableName::Signals => &mut self.signals,
            TableName::Jobs => &mut self.jobs,
        }
    }

    /// The same tables, those that are named at these versions. Nothing can be written through those.
    pub(super) async fn at(&self, versions: &Versions) -> Result<Self, StoreError> {
        let mut pinned = self.clone();
        for (name, version) in versions {
            let table = self.get(*name).query_snapshot().await.map_err(failed)?;
            if table.version().await.map_err(failed)? != *version {
                table.checkout(*version).await.map_err(failed)?;
            }
            *pinned.get_mut(*name) = table;
        }
        Ok(pinned)
    }

    pub(super) fn each(&self) -> impl Iterator<Item = (TableName, &Table)> {
        TableName::ALL.into_iter().map(|name| (name, self.get(name)))
    }
}

/// One connection, so one session and one bounded cache, for all tables.
pub(super) async fn connect(layout: &Layout) -> Result<Connection, StoreError> {
    let registry = Arc::new(ObjectStoreRegistry::default());
    let session = Arc::new(Session::new(INDEX_CACHE_BYTES, METADATA_CACHE_BYTES, registry));
    let path = layout.tables();
    let uri = path.to_str().ok_or_else(|| StoreError::Unusable(format!("the path {} is not UTF-8", path.display())))?;
    lancedb::connect(uri).session(session).read_consistency_interval(Duration::ZERO).execute().await.map_err(failed)
}

/// Tables that are nowhere on disk: for what a directory that cannot be written to does not have yet.
pub(super) async fn connect_in_memory() -> Result<Connection, StoreError> {
    lancedb::connect("memory://").execute().await.map_err(failed)
}

/// The directory is called `file_stem`, which is the table's own name unless it is a replacement.
pub(super) async fn create(
    connection: &Connection,
    name: TableName,
    file_stem: &str,
    dims: usize,
) -> Result<Table, StoreError> {
    let table = connection.create_empty_table(file_stem, name.schema(dims)).execute().await.map_err(failed)?;
    if name == TableName::Passages {
        indexes::build_text_index(&table).await?;
    }
    Ok(table)
}
