//! The log of hooks that went wrong: when, which event of which client, and what was wrong, never a word of the event.
//! It has two files at most. Where the newer one is full, it takes the place of the older one.
//!
//! ```text
//! hook-log.jsonl      hook-log.old.jsonl
//! ```

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use jiff::Timestamp;
use reasoning_bank_clients::AgentClient;
use reasoning_bank_store::data_dir::{FORMAT_VERSION, HOOK_LOG, HOOK_LOG_OLD};
use reasoning_bank_store::files::open_private;
use serde::{Deserialize, Serialize};

/// A file has at most this many bytes.
const FILE_BYTES: u64 = 64 << 10;

/// What was wrong with a hook. The words are fixed, so that no log has a word of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HookProblem {
    EventUnreadable,
    SettingsUnreadable,
    BankUnreadable,
    NotLeft,
    TranscriptTooLong,
    NotPrinted,
    Crashed,
    Late,
}

impl HookProblem {
    fn as_str(self) -> &'static str {
        match self {
            Self::EventUnreadable => "the event was not readable",
            Self::SettingsUnreadable => "the settings were not readable",
            Self::BankUnreadable => "the bank could not be looked into as it was",
            Self::NotLeft => "what the session left could not be written to the data directory",
            Self::TranscriptTooLong => "the transcript of the session was too long, and nothing was learned from it",
            Self::NotPrinted => "the answer could not be printed",
            Self::Crashed => "it crashed",
            Self::Late => "its time was up before it had an answer",
        }
    }
}

/// A hook that went wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct HookFailure {
    pub(crate) at: Timestamp,
    pub(crate) client: AgentClient,
    /// The name of the event at the client.
    pub(crate) event: String,
    pub(crate) problem: HookProblem,
    /// The kind of error that the system told of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cause: Option<String>,
}

impl fmt::Display for HookFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} at {:.0}: {}", self.event, self.client.title(), self.at, self.problem.as_str())?;
        self.cause.as_ref().map_or(Ok(()), |cause| write!(f, " ({cause})"))
    }
}

/// Notes that a hook went wrong. Nothing is noted where there is no bank.
///
/// # Errors
/// The data directory cannot be written to.
pub(crate) fn note_failure(data_dir: &Path, failure: &HookFailure) -> io::Result<()> {
    if !data_dir.join(FORMAT_VERSION).is_file() {
        return Ok(());
    }
    let path = data_dir.join(HOOK_LOG);
    let mut line = serde_json::to_vec(failure)?;
    line.push(b'\n');
    if fs::metadata(&path).is_ok_and(|file| file.len() + line.len() as u64 > FILE_BYTES) {
        fs::rename(&path, data_dir.join(HOOK_LOG_OLD))?;
    }
    open_private(&path, File::options().append(true))?.write_all(&line)
}

/// Returns the hook that went wrong last, other than that its time was up; else the last one whose time was up. None
/// where the log has none.
pub(crate) fn last_failure(data_dir: &Path) -> Option<HookFailure> {
    let noted: Vec<HookFailure> = [HOOK_LOG_OLD, HOOK_LOG].iter().flat_map(|name| read(&data_dir.join(name))).collect();
    let wrong = noted.iter().rfind(|failure| failure.problem != HookProblem::Late);
    wrong.or(noted.last()).cloned()
}

/// Reads a file of the log. A line that is none is left out.
fn read(path: &Path) -> Vec<HookFailure> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(FILE_BYTES).read_to_string(&mut text));
    let lines = text.lines().filter(|_| read.is_ok());
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(problem: HookProblem, second: i64) -> HookFailure {
        HookFailure {
            at: Timestamp::from_second(second).unwrap(),
            client: AgentClient::ClaudeCode,
            event: "SessionEnd".to_owned(),
            problem,
            cause: None,
        }
    }

    #[test]
    fn the_log_is_bounded_and_its_last_failure_is_known() {
        let dir = tempfile::tempdir().unwrap();
        note_failure(dir.path(), &failure(HookProblem::Crashed, 0)).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "there is no bank");
        fs::write(dir.path().join(FORMAT_VERSION), "1\n").unwrap();
        assert_eq!(last_failure(dir.path()), None);
        for second in 0..3_000 {
            note_failure(dir.path(), &failure(HookProblem::NotLeft, second)).unwrap();
        }
        let sizes = [HOOK_LOG, HOOK_LOG_OLD].map(|name| fs::metadata(dir.path().join(name)).unwrap().len());
        assert!(sizes.iter().all(|size| *size <= FILE_BYTES), "{sizes:?}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
        assert_eq!(last_failure(dir.path()), Some(failure(HookProblem::NotLeft, 2_999)));
        note_failure(dir.path(), &failure(HookProblem::Late, 4_000)).unwrap();
        assert_eq!(last_failure(dir.path()), Some(failure(HookProblem::NotLeft, 2_999)));
    }

    #[test]
    fn what_is_no_line_of_the_log_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(FORMAT_VERSION), "1\n").unwrap();
        fs::write(dir.path().join(HOOK_LOG), "hello\n").unwrap();
        assert_eq!(last_failure(dir.path()), None);
        note_failure(dir.path(), &failure(HookProblem::Late, 60)).unwrap();
        let told = last_failure(dir.path()).unwrap().to_string();
        assert_eq!(told, "SessionEnd of Claude Code at 1970-01-01T00:01:00Z: its time was up before it had an answer");
    }
}
