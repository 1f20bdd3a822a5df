//! The tables of the store, and how they are read and written. In reading order: which tables and columns there are
//! (`schema`), how records become rows and rows records (`rows`), the handles of the tables (`handles`) and their
//! datasets (`dataset`), conditions on rows (`filter`), reads (`read`), the rows that were appended lately
//! (`recent_rows`), the indexes (`indexes`), compaction and pruning (`compaction`), the versions on disk and whether
//! their files are whole (`manifests`), and what is kept of that which could not be read (`set_aside`).

pub(super) mod compaction;
pub(super) mod dataset;
pub(super) mod filter;
mod handles;
pub(super) mod indexes;
pub(super) mod manifests;
pub(super) mod read;
pub(super) mod recent_rows;
pub(super) mod rows;
mod schema;
pub(super) mod set_aside;

pub(super) use self::handles::{Tables, Versions, connect, connect_in_memory, create};
pub(super) use self::schema::TableName;
