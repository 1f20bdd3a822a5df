//! The note of what is being written right now: a file beside the write lock, `lance/.write.owner`. It names the
//! journal whose last frame is being applied, so that whoever gets the lock next finishes what was begun. Once tables
//! change, it also names the versions that they had before. The tables of a commit change one after the other; readers,
//! who take no lock, keep to those versions until all have changed, however long that takes and whatever becomes of the
//! writer.
//!
//! ```text
//! journal 01928c7e-....log
//! memories 12
//! passages 30
//! ```
//!
//! None of this is in the lock file itself: where a lock keeps others from reading, nobody could read it. The file is
//! not synced: after a loss of power every journal is replayed anyway.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::SystemTime;

use super::journal;
use crate::files::{open_private, unless_gone};
use crate::lance::layout::Layout;
use crate::lance::tables::{TableName, Versions};

/// The largest number of bytes that are read of a file. A file that names a journal and all tables is far smaller.
const MAX_BYTES: u64 = 1_024;

/// The content of the file. Lines of any other form are skipped, and a file that is not UTF-8 is read as empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::lance) struct Applying {
    pub(in crate::lance) journal: Option<String>,
    /// The versions that readers keep to, for the tables that are being changed.
    pub(in crate::lance) before: Versions,
    /// The time at which the file was last changed, which tells one commit from the next; `None` where it is not known.
    changed: Option<SystemTime>,
}

impl Applying {
    /// Tells whether nothing is being written.
    pub(in crate::lance) fn is_over(&self) -> bool {
        self.journal.is_none() && self.before.is_empty()
    }

    /// Reads what is being written. A commit of many records notes its versions in a file of its own, by which it can
    /// be taken back.
    pub(in crate::lance) fn read(layout: &Layout) -> io::Result<Self> {
        let (text, changed) = read_bounded(&layout.write_owner())?;
        let (journal, before) = parse(&text);
        let before = if before.is_empty() { of_bulk(&layout.bulk())? } else { before };
        Ok(Self { journal, before, changed })
    }
}

/// Reads the content of a file and the time at which it was last changed; both are empty where there is no file.
fn read_bounded(path: &Path) -> io::Result<(Vec<u8>, Option<SystemTime>)> {
    let Some(file) = unless_gone(File::open(path))? else { return Ok((Vec::new(), None)) };
    let mut text = Vec::new();
    (&file).take(MAX_BYTES).read_to_end(&mut text)?;
    Ok((text, file.metadata()?.modified().ok()))
}

fn parse(text: &[u8]) -> (Option<String>, Versions) {
    let (mut journal, mut before) = (None, Versions::new());
    let Ok(text) = std::str::from_utf8(text) else { return (journal, before) };
    for line in text.lines() {
        match line.split_once(' ') {
            Some(("journal", name)) if journal::is_name(name) => journal = Some(name.to_owned()),
            Some((table, version)) => {
                let table = TableName::ALL.into_iter().find(|name| name.as_str() == table);
                before.extend(table.zip(version.parse().ok()));
            }
            None => {}
        }
    }
    (journal, before)
}

/// Reads the versions to which a commit of many records can be taken back.
fn of_bulk(path: &Path) -> io::Result<Versions> {
    let (json, _) = read_bounded(path)?;
    let noted: BTreeMap<String, u64> = serde_json::from_slice(&json).unwrap_or_default();
    let known = |name: TableName| Some((name, *noted.get(name.as_str())?));
    Ok(TableName::ALL.into_iter().filter_map(known).collect())
}

/// Notes that the last frame of this journal is applied from now on. The write lock must be held, for this and what
/// follows.
pub(super) fn begin(layout: &Layout, journal: &str) -> io::Result<()> {
    replace(layout, &format!("journal {journal}\n"))
}

/// Notes that these tables change from now on; they are still at these versions.
pub(super) fn note_versions(layout: &Layout, before: &Versions) -> io::Result<()> {
    let mut lines = String::new();
    for (table, version) in before {
        // a String takes all that is written to it
        let _ = writeln!(lines, "{} {version}", table.as_str());
    }
    OpenOptions::new().append(true).open(layout.write_owner())?.write_all(lines.as_bytes())
}

/// Notes that all tables have changed.
pub(super) fn finish(layout: &Layout) -> io::Result<()> {
    replace(layout, "")
}

fn replace(layout: &Layout, text: &str) -> io::Result<()> {
    open_private(&layout.write_owner(), File::options().write(true).truncate(true))?.write_all(text.as_bytes())
}

/// Reads the name of a journal that an earlier version wrote into the lock file itself; `None` where there is none.
pub(super) fn named_in(mut lock: &File) -> io::Result<Option<String>> {
    use std::io::Seek;

    lock.rewind()?;
    let mut text = Vec::new();
    lock.take(MAX_BYTES).read_to_end(&mut text)?;
    let name = String::from_utf8(text).ok();
    Ok(name.filter(|name| journal::is_name(name)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const JOURNAL: &str = "0192d3b0-7d6e-7f3a-9c55-0d6f0a9b1c2d.log";

    #[tokio::test]
    async fn what_is_being_written_is_read_back_and_forgotten_when_it_is_done() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::prepare(dir.path()).await.unwrap();
        let nothing = Applying::read(&layout).unwrap();
        assert_eq!(nothing, Applying::default());
        begin(&layout, JOURNAL).unwrap();
        let begun = Applying::read(&layout).unwrap();
        assert_eq!((begun.journal.as_deref(), begun.before.len()), (Some(JOURNAL), 0));
        let before = Versions::from([(TableName::Memories, 12), (TableName::Jobs, 3)]);
        note_versions(&layout, &before).unwrap();
        let publishing = Applying::read(&layout).unwrap();
        assert_eq!((publishing.journal.as_deref(), &publishing.before), (Some(JOURNAL), &before));
        finish(&layout).unwrap();
        let done = Applying::read(&layout).unwrap();
        assert_eq!((done.journal, done.before.len()), (None, 0));
    }

    #[tokio::test]
    async fn garbage_is_read_as_empty() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::prepare(dir.path()).await.unwrap();
        let long = "memories ".repeat(10_000);
        for garbage in
            ["x", "\0\0\0\0", "journal ../../../etc/passwd", "journal history.log", "memories -1", "m 3", &long]
        {
            fs::write(layout.write_owner(), garbage).unwrap();
            let read = Applying::read(&layout).unwrap();
            assert_eq!((read.journal, read.before.len()), (None, 0), "{garbage:?}");
            let lock = layout.write_lock();
            fs::write(&lock, garbage).unwrap();
            assert_eq!(named_in(&File::open(&lock).unwrap()).unwrap(), None, "{garbage:?}");
        }
        fs::write(layout.write_owner(), [0xff, 0xfe, b'\n']).unwrap();
        assert_eq!(Applying::read(&layout).unwrap().journal, None);
        fs::write(layout.bulk(), "not json").unwrap();
        assert_eq!(Applying::read(&layout).unwrap().before.len(), 0);
    }
}
