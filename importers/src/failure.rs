//! The reasons why a source cannot be read, and the type of those that take its entries.

use crate::item::SourceEntry;

/// The reason why a source cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    #[error("it cannot be read as a database: {0}")]
    Database(#[from] rusqlite::Error),
    /// It is readable and not what the source writes.
    #[error("{0}")]
    NotOfSource(String),
    /// Whoever takes the entries takes no more.
    #[error("{0}")]
    NotTaken(std::io::Error),
}

/// Whoever takes the entries of a source, one by one.
pub(crate) type EntrySink<'a> = dyn FnMut(SourceEntry) -> Result<(), SourceError> + 'a;
