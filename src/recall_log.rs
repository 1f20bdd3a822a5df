//! The recall log: what agents were shown, when, for which query, and out of which candidates. Serving processes write
//! it, and hooks that nobody serves, as JSON Lines, below the data directory and the id of a workspace, a file for each
//! day.
//!
//! ```text
//! recalls/WORKSPACE/2026-01-31.jsonl
//! ```

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use reasoning_bank_actors::workspaces::Resolved;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::retrieval::responses::{CandidateView, Explained, SearchMode};
use reasoning_bank_domain::safety::secrets::redact;
use reasoning_bank_domain::text::shortened;
use reasoning_bank_store::data_dir::RECALLS;
use reasoning_bank_store::files::{create_dir, open_private, remove_if_there};
use serde::{Deserialize, Serialize};

/// The number of days for which entries are kept, beside the day that is under way.
const KEPT_DAYS: i64 = 30;
/// Entries that wait to be written. Further ones are lost.
const QUEUE: usize = 256;
/// A file has at most this many bytes.
const FILE_BYTES: u64 = 16 << 20;
const QUERY_CHARS: usize = 1_000;
const TITLE_CHARS: usize = 200;
const CANDIDATES: usize = 20;

/// The memories that an agent was shown at once. Where nothing was good enough, no candidate is marked as shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RecallEntry {
    pub(crate) at: Timestamp,
    pub(crate) workspace: WorkspaceId,
    /// The tool that was called, or the event of a client that a hook told of: `hook claude-code UserPromptSubmit`.
    pub(crate) source: String,
    pub(crate) session: String,
    /// The query, without secrets and at most 1,000 characters of it.
    pub(crate) query: String,
    /// The relevance that was needed, in 0..=1. None where something else decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) floor: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mode: Option<SearchMode>,
    /// The best candidates, at most 20.
    pub(crate) candidates: Vec<RecallCandidate>,
}

/// A memory that was considered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RecallCandidate {
    pub(crate) id: MemoryId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// The likelihood that it is about the query, in 0..=1. None where that was not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) relevance: Option<f64>,
    /// The score by which it was ranked, in 0..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) score: Option<f64>,
    pub(crate) shown: bool,
}

/// The way to the recall log of this process.
#[derive(Debug, Clone)]
pub(crate) struct RecallLog {
    entries: SyncSender<RecallEntry>,
    dir: PathBuf,
    floor: f64,
}

/// The entries of a process that ends soon, to be written before it ends.
pub(crate) struct UnwrittenRecalls {
    entries: Receiver<RecallEntry>,
    dir: PathBuf,
}

impl UnwrittenRecalls {
    /// Writes what was noted so far. The first entry of a day removes what was kept long enough.
    pub(crate) fn write(&self) {
        for entry in self.entries.try_iter() {
            let today = date(entry.at);
            if !file(&self.dir, &entry.workspace, today).exists() {
                prune_noted(&self.dir, today);
            }
            append_noted(&self.dir, &entry);
        }
    }
}

impl RecallLog {
    /// Opens the log of a data directory. `floor` is the relevance that an answer needs where the caller names none.
    /// The writer ends when the last handle is dropped.
    pub(crate) fn open(data_dir: &Path, floor: f64) -> Self {
        let (log, UnwrittenRecalls { entries, dir }) = Self::unwritten(data_dir, floor);
        thread::spawn(move || write_entries(&dir, &entries));
        log
    }

    /// Opens the log for a process that ends soon, which writes by itself what it has noted.
    pub(crate) fn unwritten(data_dir: &Path, floor: f64) -> (Self, UnwrittenRecalls) {
        let (entries, received) = sync_channel(QUEUE);
        let dir = data_dir.join(RECALLS);
        (Self { entries, dir: dir.clone(), floor }, UnwrittenRecalls { entries: received, dir })
    }

    /// Lists the memories that a session was shown in this workspace today and yesterday.
    pub(crate) fn shown_to(&self, session: &str, workspace: &WorkspaceId) -> Vec<MemoryId> {
        let mut days = days(&self.dir.join(workspace.as_str()));
        days.retain(|path| day(path) >= date(Timestamp::now()).yesterday().ok());
        let texts = days.into_iter().filter_map(|path| fs::read_to_string(path).ok());
        let of_session = |text: String| -> Vec<RecallEntry> {
            let named = text.lines().filter(|line| line.contains(session));
            named.filter_map(|line| serde_json::from_str(line).ok()).collect()
        };
        let entries = texts.flat_map(of_session).filter(|entry| entry.session == session);
        entries.flat_map(|entry| entry.candidates).filter(|memory| memory.shown).map(|memory| memory.id).collect()
    }

    /// Notes what was shown. Returns at once.
    pub(crate) fn note(&self, entry: RecallEntry) {
        if self.entries.try_send(entry).is_err() {
            tracing::debug!("the recall log is behind, and an entry of it is lost");
        }
    }

    /// Notes what was shown of a workspace. Nothing is noted for one that nobody has written to.
    pub(crate) fn note_of(&self, workspace: Resolved, entry: impl FnOnce(WorkspaceId) -> RecallEntry) {
        if workspace.registered {
            self.note(entry(workspace.workspace.id));
        }
    }

    /// Makes the entry of a search. The memories that were shown come first, all of them; `is_shown` tells which they
    /// are.
    pub(crate) fn of_search(
        &self,
        workspace: WorkspaceId,
        query: &str,
        floor: Option<f64>,
        explained: &Explained,
        is_shown: impl Fn(&CandidateView) -> bool,
    ) -> RecallEntry {
        let (shown, others): (Vec<_>, Vec<_>) = explained.candidates.iter().partition(|candidate| is_shown(candidate));
        let noted = CANDIDATES.max(shown.len());
        let candidates = shown.into_iter().chain(others).take(noted).map(|candidate| RecallCandidate {
            id: candidate.id,
            title: candidate.title.as_deref().map(|title| shortened(title, TITLE_CHARS)),
            relevance: Some(rounded(candidate.relevance)),
            score: Some(rounded(candidate.composite_score)),
            shown: is_shown(candidate),
        });
        RecallEntry {
            floor: Some(floor.unwrap_or(self.floor)),
            mode: Some(explained.retrieved.mode),
            candidates: candidates.collect(),
            ..Self::entry(workspace, query)
        }
    }

    /// Makes the entry of an answer of which only the memories are known.
    pub(crate) fn of_shown(&self, workspace: WorkspaceId, query: &str, shown: Vec<MemoryId>) -> RecallEntry {
        let shown = shown.into_iter().take(CANDIDATES);
        let candidates = shown.map(|id| RecallCandidate { id, title: None, relevance: None, score: None, shown: true });
        RecallEntry { candidates: candidates.collect(), ..Self::entry(workspace, query) }
    }

    fn entry(workspace: WorkspaceId, query: &str) -> RecallEntry {
        RecallEntry {
            at: Timestamp::now(),
            workspace,
            source: String::new(),
            session: String::new(),
            query: shortened(&redact(query).text, QUERY_CHARS),
            floor: None,
            mode: None,
            candidates: Vec::new(),
        }
    }
}

/// Scores are noise beyond the fourth digit.
fn rounded(score: f64) -> f64 {
    (score * 1e4).round() / 1e4
}

fn write_entries(dir: &Path, entries: &Receiver<RecallEntry>) {
    let mut pruned = None;
    for entry in entries {
        let day = date(entry.at);
        if pruned != Some(day) {
            pruned = Some(day);
            prune_noted(dir, day);
        }
        append_noted(dir, &entry);
    }
}

fn prune_noted(dir: &Path, today: Date) {
    if let Err(error) = prune(dir, today) {
        tracing::warn!(%error, "old entries of the recall log could not be removed");
    }
}

fn append_noted(dir: &Path, entry: &RecallEntry) {
    if let Err(error) = append(&file(dir, &entry.workspace, date(entry.at)), entry) {
        tracing::debug!(%error, "the recall log could not be written");
    }
}

fn append(path: &Path, entry: &RecallEntry) -> io::Result<()> {
    create_dir(path.parent().unwrap_or(path))?;
    let mut file = open_private(path, File::options().append(true))?;
    if file.metadata()?.len() > FILE_BYTES {
        return Ok(());
    }
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    file.write_all(&line)
}

/// Removes the files that were kept long enough.
fn prune(dir: &Path, today: Date) -> io::Result<()> {
    let Ok(oldest) = today.checked_sub(KEPT_DAYS.days()) else { return Ok(()) };
    for workspace in fs::read_dir(dir).into_iter().flatten() {
        for path in days(&workspace?.path()) {
            if day(&path).is_some_and(|day| day < oldest) {
                remove_if_there(&path)?;
            }
        }
    }
    Ok(())
}

/// Reads the newest entries of a workspace, the newest first. A line that is no entry is left out.
///
/// # Errors
/// A file is there and cannot be read.
pub(crate) fn newest(data_dir: &Path, workspace: &WorkspaceId, limit: usize) -> io::Result<Vec<RecallEntry>> {
    let mut files = days(&data_dir.join(RECALLS).join(workspace.as_str()));
    files.sort_unstable();
    let mut found = Vec::new();
    for path in files.iter().rev() {
        let text = fs::read_to_string(path)?;
        found.extend(text.lines().rev().filter_map(|line| serde_json::from_str(line).ok()).take(limit - found.len()));
        if found.len() >= limit {
            break;
        }
    }
    Ok(found)
}

fn file(dir: &Path, workspace: &WorkspaceId, day: Date) -> PathBuf {
    dir.join(workspace.as_str()).join(format!("{day}.jsonl"))
}

/// Lists the files of a workspace.
fn days(of: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(of).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| day(path).is_some()).collect()
}

fn day(path: &Path) -> Option<Date> {
    path.file_name()?.to_str()?.strip_suffix(".jsonl")?.parse().ok()
}

fn date(at: Timestamp) -> Date {
    at.to_zoned(TimeZone::UTC).date()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(query: &str, at: &str) -> RecallEntry {
        let entry = RecallLog::entry(WorkspaceId::of_root("/w"), query);
        RecallEntry { at: at.parse().unwrap(), ..entry }
    }

    fn write(dir: &Path, entries: Vec<RecallEntry>) {
        let (sender, received) = sync_channel(entries.len());
        entries.into_iter().for_each(|entry| sender.send(entry).unwrap());
        drop(sender);
        write_entries(&dir.join(RECALLS), &received);
    }

    #[test]
    fn the_newest_come_first_and_old_days_go() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), vec![entry("old", "2026-01-01T23:59:59Z"), entry("first", "2026-02-10T01:00:00Z")]);
        write(dir.path(), vec![entry("second", "2026-02-10T02:00:00Z")]);
        let queries = |limit| -> Vec<String> {
            let found = newest(dir.path(), &WorkspaceId::of_root("/w"), limit).unwrap();
            found.into_iter().map(|entry| entry.query).collect()
        };
        assert_eq!(queries(10), ["second", "first"]);
        assert_eq!(queries(1), ["second"]);
        assert!(newest(dir.path(), &WorkspaceId::of_root("/other"), 10).unwrap().is_empty());
    }

    #[test]
    fn a_query_is_scrubbed_and_cut() {
        let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
        let noted = entry(&format!("push with {token} {}", "x ".repeat(5_000)), "2026-02-10T01:00:00Z");
        assert!(!noted.query.contains(&token) && noted.query.chars().count() <= QUERY_CHARS + 50, "{}", noted.query);
    }
}
