//! The file `erasures.log`: the erasures that somebody asked for, one a line, behind a line that names the bank. It has
//! ids and times, and nothing of what was erased. A backup that is restored learns from it what to erase again.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use jiff::Timestamp;
use reasoning_bank_actors::ports::EraseScope;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::files::{sync_data, unless_gone, write_synced};
use crate::lance::layout::Layout;

/// The largest log that is read. A line has some 130 bytes, and an erasure takes longer than a line is read.
const MAX_BYTES: u64 = 256 << 20;

/// An erasure that was carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LoggedErasure {
    pub(crate) id: Uuid,
    pub(crate) at: Timestamp,
    pub(crate) scope: EraseScope,
}

/// The first line of a log.
#[derive(Serialize, Deserialize)]
struct LogHead {
    bank: Uuid,
}

/// The erasures of a bank, in the order in which they were carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ErasureLog {
    /// The bank. A bank that was restored from a backup is the same one.
    pub(crate) bank: Uuid,
    pub(crate) erasures: Vec<LoggedErasure>,
}

impl ErasureLog {
    /// Reads the log of a data directory; `None` where there is none. A line that was not written to its end counts as
    /// not written.
    ///
    /// # Errors
    /// The log cannot be read, or is damaged.
    pub(crate) fn read(dir: &Path) -> io::Result<Option<Self>> {
        let path = Layout::of(dir).erasure_log();
        let Some(file) = unless_gone(File::open(&path))? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut bytes)?;
        let whole = &bytes[..whole_lines(&bytes)];
        let damaged = |error: serde_json::Error| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{} is damaged: {error}", path.display()))
        };
        let mut lines = whole.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let head: LogHead = serde_json::from_slice(lines.next().unwrap_or_default()).map_err(damaged)?;
        let erasures = lines.map(serde_json::from_slice).collect::<Result<_, _>>().map_err(damaged)?;
        Ok(Some(Self { bank: head.bank, erasures }))
    }

    /// Replaces the log of a data directory.
    pub(crate) fn write(&self, dir: &Path) -> io::Result<()> {
        let mut text = line(&LogHead { bank: self.bank })?;
        for erasure in &self.erasures {
            text.extend(line(erasure)?);
        }
        write_synced(&Layout::of(dir).erasure_log(), &text)
    }

    /// Returns the erasures of this log that another one does not have.
    pub(crate) fn without<'a>(&'a self, known: &Self) -> impl Iterator<Item = &'a LoggedErasure> {
        let known: HashSet<Uuid> = known.erasures.iter().map(|erasure| erasure.id).collect();
        self.erasures.iter().filter(move |erasure| !known.contains(&erasure.id))
    }
}

/// Begins the log of a directory that has none. The write lock must be held, for this and what follows.
pub(in crate::lance) fn prepare(layout: &Layout) -> io::Result<()> {
    let path = layout.erasure_log();
    if path.try_exists()? {
        return Ok(());
    }
    write_synced(&path, &line(&LogHead { bank: Uuid::now_v7() })?)
}

/// Appends an erasure, which is on the disk when this returns.
pub(in crate::lance) fn append(layout: &Layout, scope: &EraseScope) -> io::Result<()> {
    prepare(layout)?;
    let path = layout.erasure_log();
    let mut file = OpenOptions::new().read(true).append(true).open(&path)?;
    let (length, mut last) = (file.metadata()?.len(), [0]);
    if length > 0 && file.read_at(&mut last, length - 1)? == 1 && last != *b"\n" {
        // a process was killed while it wrote the last line
        file.set_len(whole_lines(&fs::read(&path)?) as u64)?;
    }
    let erasure = LoggedErasure { id: Uuid::now_v7(), at: Timestamp::now(), scope: scope.clone() };
    file.write_all(&line(&erasure)?)?;
    sync_data(&path, &file)
}

/// Returns the bank of a directory whose log was begun.
pub(in crate::lance) fn bank(layout: &Layout) -> io::Result<Uuid> {
    let text = fs::read_to_string(layout.erasure_log())?;
    let head: LogHead = serde_json::from_str(text.lines().next().unwrap_or_default())?;
    Ok(head.bank)
}

fn whole_lines(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

fn line(entry: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope() -> EraseScope {
        EraseScope::Memory(Uuid::now_v7().into())
    }

    #[test]
    fn what_is_appended_is_read_in_order_and_a_torn_line_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::of(dir.path());
        assert_eq!(ErasureLog::read(dir.path()).unwrap(), None);
        prepare(&layout).unwrap();
        let begun = ErasureLog::read(dir.path()).unwrap().unwrap();
        prepare(&layout).unwrap();
        assert_eq!(
            (ErasureLog::read(dir.path()).unwrap().unwrap(), bank(&layout).unwrap()),
            (begun.clone(), begun.bank)
        );
        let (first, second) = (scope(), scope());
        append(&layout, &first).unwrap();
        let mut file = OpenOptions::new().append(true).open(layout.erasure_log()).unwrap();
        file.write_all(b"{\"id\":\"0193").unwrap();
        let scopes = |log: &ErasureLog| log.erasures.iter().map(|erasure| erasure.scope.clone()).collect::<Vec<_>>();
        assert_eq!(scopes(&ErasureLog::read(dir.path()).unwrap().unwrap()), std::slice::from_ref(&first));
        append(&layout, &second).unwrap();
        let log = ErasureLog::read(dir.path()).unwrap().unwrap();
        assert_eq!(scopes(&log), [first, second.clone()]);

        let earlier = ErasureLog { erasures: log.erasures[..1].to_vec(), ..log.clone() };
        let later: Vec<EraseScope> = log.without(&earlier).map(|erasure| erasure.scope.clone()).collect();
        assert_eq!(later, [second]);
        earlier.write(dir.path()).unwrap();
        assert_eq!(ErasureLog::read(dir.path()).unwrap().unwrap(), earlier);
    }

    #[test]
    fn a_damaged_log_is_an_error_and_not_an_empty_one() {
        let dir = tempfile::tempdir().unwrap();
        for damaged in ["", "\n", "{}\n", "{\"bank\":\"0193c0de-0000-7000-8000-000000000000\"}\n{\"id\":1}\n"] {
            fs::write(Layout::of(dir.path()).erasure_log(), damaged).unwrap();
            let error = ErasureLog::read(dir.path()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{damaged:?}");
        }
    }
}
