//! Sources for tests.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::failure::{EntrySink, SourceError};
use crate::item::{ItemKind, SourceEntry, SourceItem};

/// A file in a folder that is removed when dropped.
pub(crate) struct SourceFile {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl SourceFile {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/import").join(name)
}

pub(crate) fn file(name: &str, text: &str) -> SourceFile {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    SourceFile { _folder: folder, path }
}

/// Makes the database that a fixture is the dump of.
pub(crate) fn database_of(dump: &str) -> SourceFile {
    let made = file("source.db", "");
    let statements = std::fs::read_to_string(fixture(dump)).unwrap();
    Connection::open(&made.path).unwrap().execute_batch(&statements).unwrap();
    made
}

type Reader = fn(&Path, &mut EntrySink<'_>) -> Result<(), SourceError>;

pub(crate) fn entries(read: Reader, place: &Path) -> Vec<SourceEntry> {
    let mut entries = Vec::new();
    read(place, &mut |entry| {
        entries.push(entry);
        Ok(())
    })
    .unwrap();
    entries
}

pub(crate) fn items(read: Reader, place: &Path) -> Vec<SourceItem> {
    let items = entries(read, place).into_iter();
    items.filter_map(|entry| if let SourceEntry::Item(item) = entry { Some(item) } else { None }).collect()
}

/// Counts strategies, warnings and facts.
pub(crate) fn counts(items: &[SourceItem]) -> [usize; 3] {
    let count = |kind| items.iter().filter(|item| item.kind == kind).count();
    [count(ItemKind::Strategy), count(ItemKind::Warning), count(ItemKind::Fact)]
}
