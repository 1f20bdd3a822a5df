//! Handles of the tables: how tables are created and opened, and how they are read at an earlier version.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lancedb::{Connection, ObjectStoreRegistry, Session, Table};
use reasoning_bank_actors::ports::StoreError;

use super::indexes;
use super::schema::TableName;
use crate::lance::errors::failed;
use crate::lance::layout::Layout;

/// The sizes of the caches. LanceDB's own defaults are 6 GiB and 1 GiB a connection. What is searched often is searched
/// in memory (`resident`).
const INDEX_CACHE_BYTES: usize = 24 << 20;
const METADATA_CACHE_BYTES: usize = 16 << 20;

/// Versions of tables.
pub(in crate::lance) type Versions = BTreeMap<TableName, u64>;

/// Handles of all tables. Every read through them looks for a newer version first, so that what another process
/// acknowledged is seen.
#[derive(Clone)]
pub(in crate::lance) struct Tables {
    pub(in crate::lance) workspaces: Table,
    pub(in crate::lance) traces: Table,
    pub(in crate::lance) memories: Table,
    pub(in crate::lance) passages: Table,
    pub(in crate::lance) signals: Table,
    pub(in crate::lance) jobs: Table,
    pub(in crate::lance) requests: Table,
    pub(in crate::lance) episode_state: Table,
    pub(in crate::lance) episode_vectors: Table,
    pub(in crate::lance) history: Table,
}

impl Tables {
    pub(in crate::lance) fn get(&self, name: TableName) -> &Table {
        match name {
            TableName::Workspaces => &self.workspaces,
            TableName::Traces => &self.traces,
            TableName::Memories => &self.memories,
            TableName::Passages => &self.passages,
            TableName::Signals => &self.signals,
            TableName::Jobs => &self.jobs,
            TableName::Requests => &self.requests,
            TableName::EpisodeState => &self.episode_state,
            TableName::EpisodeVectors => &self.episode_vectors,
            TableName::History => &self.history,
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
            TableName::Requests => &mut self.requests,
            TableName::EpisodeState => &mut self.episode_state,
            TableName::EpisodeVectors => &mut self.episode_vectors,
            TableName::History => &mut self.history,
        }
    }

    /// The same tables, of which those that are named are at these versions. Nothing can be written through them.
    pub(in crate::lance) async fn at(&self, versions: &Versions) -> Result<Self, StoreError> {
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

    pub(in crate::lance) fn each(&self) -> impl Iterator<Item = (TableName, &Table)> {
        TableName::ALL.into_iter().map(|name| (name, self.get(name)))
    }
}

/// Opens one connection, and with it one session and one bounded cache, for all tables.
pub(in crate::lance) async fn connect(layout: &Layout) -> Result<Connection, StoreError> {
    let registry = Arc::new(ObjectStoreRegistry::default());
    let session = Arc::new(Session::new(INDEX_CACHE_BYTES, METADATA_CACHE_BYTES, registry));
    let path = layout.tables();
    let uri = path.to_str().ok_or_else(|| StoreError::Unusable(format!("the path {} is not UTF-8", path.display())))?;
    lancedb::connect(uri).session(session).read_consistency_interval(Duration::ZERO).execute().await.map_err(failed)
}

/// Opens a connection to tables that are nowhere on disk. They stand for what a directory that cannot be written to
/// does not have yet.
pub(in crate::lance) async fn connect_in_memory() -> Result<Connection, StoreError> {
    lancedb::connect("memory://").execute().await.map_err(failed)
}

/// Creates a table without rows. Its directory is called `file_stem`, which is the name of the table unless it is a
/// replacement.
pub(in crate::lance) async fn create(
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
