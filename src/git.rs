//! The commits of a repository, as `git` tells them. A repository may be hostile: nothing that its configuration names
//! is run, nothing is fetched and nothing is written, and how much is read and how long it takes is bounded. What
//! follows from the commits is decided in the domain.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use jiff::Timestamp;
use reasoning_bank_domain::evidence::stability::{Commit, CommitHistory, reverts};
use reasoning_bank_domain::safety::secrets::Scrub;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::Command;

use crate::settings::SECRET_VARIABLES;

/// The largest number of commits that are read, the newest first.
const COMMITS_MAX: usize = 20_000;
/// The first bound holds for all of the log that git writes, the second for one entry of it.
const OUTPUT_MAX_BYTES: u64 = 64 * 1024 * 1024;
const MESSAGE_MAX_BYTES: usize = 64 * 1024;
const SUBJECT_MAX_CHARS: usize = 120;
/// The largest number of reverts that all commits together may name. Where there are more, no further commits are read.
const REVERTS_MAX: usize = 100_000;
const LIMIT: Duration = Duration::from_secs(60);

/// These settings turn off the programs that a repository's configuration could name.
const SAFE: [&str; 10] = [
    "--no-pager",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.alternateRefsCommand=",
    "-c",
    "log.showSignature=false",
];

/// The arguments that list the commits of every branch, local and remote, of the tags, and of the work trees, but not
/// those of stashes and notes. Each commit has its id, the dates of its author and of its committer, its parents, and
/// its message, with a NUL at its end.
const LOG: [&str; 12] = [
    "log",
    "-z",
    "--no-show-signature",
    "--no-ext-diff",
    "--no-textconv",
    "--no-patch",
    "--no-notes",
    "--encoding=UTF-8",
    "--format=%H %at %ct %P%n%B",
    "--exclude=refs/stash",
    "--exclude=refs/notes/*",
    "--all",
];

#[derive(Debug, thiserror::Error)]
pub(crate) enum GitError {
    #[error("git is not installed")]
    Missing,
    #[error("git took longer than {} s", LIMIT.as_secs())]
    TimedOut,
    /// The reason is in git's words.
    #[error("git cannot read it: {0}")]
    Refused(String),
    #[error("git cannot be run: {0}")]
    Io(#[from] std::io::Error),
}

/// Reads the commits of the repository that holds `directory`, or with `only_below` those that changed something below
/// it.
pub(crate) async fn history(directory: &Path, only_below: bool) -> Result<CommitHistory, GitError> {
    tokio::time::timeout(LIMIT, read(directory, only_below)).await.unwrap_or(Err(GitError::TimedOut))
}

async fn read(directory: &Path, only_below: bool) -> Result<CommitHistory, GitError> {
    let mut child = match command(directory, only_below).spawn() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && directory.is_dir() => {
            return Err(GitError::Missing);
        }
        child => child?,
    };
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let log = async {
        match stdout {
            Some(stdout) => commits(stdout).await,
            None => Ok(Log::default()),
        }
    };
    let (log, complaint, is_shallow) = tokio::join!(log, complaint(stderr), is_shallow(directory));
    let log = log?;
    if log.is_cut {
        // Otherwise git would go on writing.
        child.kill().await?;
    } else if !child.wait().await?.success() {
        return Err(GitError::Refused(complaint));
    }
    let reaches_back_to = log.reaches_back_to(is_shallow?);
    Ok(CommitHistory::new(log.commits, reaches_back_to))
}

/// Tells whether commits were left out when the repository was cloned. Where git cannot say, it cannot read the commits
/// either.
async fn is_shallow(directory: &Path) -> std::io::Result<bool> {
    let mut child = safe(directory).args(["rev-parse", "--is-shallow-repository"]).stderr(Stdio::null()).spawn()?;
    let mut answer = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(MESSAGE_MAX_BYTES as u64).read_to_end(&mut answer).await?;
    }
    child.wait().await?;
    Ok(answer.trim_ascii() == b"true")
}

fn command(directory: &Path, only_below: bool) -> Command {
    let mut command = safe(directory);
    command.args(LOG).arg(format!("--max-count={}", COMMITS_MAX + 1));
    if only_below {
        command.args(["--full-history", "--", "."]);
    }
    command
}

fn safe(directory: &Path) -> Command {
    let mut command = Command::new("git");
    command.args(SAFE);
    // These variables may name another repository, other objects or other programs.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"GIT_")) {
        command.env_remove(name);
    }
    for secret in SECRET_VARIABLES {
        command.env_remove(secret);
    }
    command
        .env("GIT_TERMINAL_PROMPT", "0")
        // Objects that are missing stay missing, and no protocol is allowed that could fetch them.
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("LC_ALL", "C")
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

#[derive(Debug, Default)]
struct Log {
    commits: Vec<Commit>,
    /// The date at which the last commit that was read was committed. Commits come from new to old, and the oldest date
    /// of all may be one that somebody's clock made up.
    last: Option<Timestamp>,
    /// The newest date of the commits without parents. In a shallow clone, the commits at which it ends have none.
    newest_root: Option<Timestamp>,
    /// True where there is more than was read.
    is_cut: bool,
}

impl Log {
    fn reaches_back_to(&self, is_shallow: bool) -> Option<Timestamp> {
        let end_of_clone = is_shallow.then_some(self.newest_root.or(self.last)).flatten();
        self.is_cut.then_some(self.last).flatten().max(end_of_clone)
    }
}

/// One commit, as git's log has it.
struct LogEntry {
    commit: Commit,
    committed: Timestamp,
    is_root: bool,
}

/// Reads the log commit by commit, so that no more than one message is in memory at a time.
async fn commits(stdout: impl AsyncRead + Unpin) -> std::io::Result<Log> {
    let mut log = Log::default();
    let mut reverts = 0;
    let mut stdout = BufReader::new(stdout.take(OUTPUT_MAX_BYTES));
    let mut entry = Vec::new();
    loop {
        entry.clear();
        let read = read_entry(&mut stdout, &mut entry).await?;
        if !read {
            log.is_cut |= stdout.get_ref().limit() == 0;
            return Ok(log);
        }
        if log.commits.len() == COMMITS_MAX {
            log.is_cut = true;
            return Ok(log);
        }
        let Some(LogEntry { commit, committed, is_root }) = parse(&String::from_utf8_lossy(&entry)) else { continue };
        reverts += commit.reverts.len();
        if reverts > REVERTS_MAX {
            log.is_cut = true;
            return Ok(log);
        }
        log.last = Some(committed);
        if is_root {
            log.newest_root = log.newest_root.max(Some(committed));
        }
        log.commits.push(commit);
    }
}

/// Reads the bytes before the next NUL, or before the end, and keeps as many as one commit may have. It returns false
/// where there are none.
async fn read_entry(stdout: &mut (impl AsyncBufRead + Unpin), entry: &mut Vec<u8>) -> std::io::Result<bool> {
    let mut any = false;
    loop {
        let buffer = stdout.fill_buf().await?;
        if buffer.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = buffer.iter().position(|byte| *byte == 0);
        let part = &buffer[..end.unwrap_or(buffer.len())];
        let room = MESSAGE_MAX_BYTES.saturating_sub(entry.len()).min(part.len());
        entry.extend_from_slice(&part[..room]);
        let used = part.len() + usize::from(end.is_some());
        stdout.consume(used);
        if end.is_some() {
            return Ok(true);
        }
    }
}

/// Parses an entry of the log. It returns `None` for what is no commit.
fn parse(entry: &str) -> Option<LogEntry> {
    let (head, message) = entry.split_once('\n').unwrap_or((entry, ""));
    let mut head = head.split(' ');
    let id = head.next().filter(|id| id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    let mut time = || Timestamp::from_second(head.next()?.parse().ok()?).ok();
    let (at, committed) = (time()?, time()?);
    let is_root = head.all(str::is_empty);
    let mut subject: String = message.lines().next().unwrap_or_default().trim().to_owned();
    subject.scrub();
    let subject = subject.chars().take(SUBJECT_MAX_CHARS).collect();
    let commit = Commit { id: id.to_ascii_lowercase(), at, subject, reverts: reverts(message) };
    Some(LogEntry { commit, committed, is_root })
}

/// Returns the first line of what git complains of. It reads all of it, so that git can go on.
async fn complaint(stderr: Option<impl AsyncRead + Unpin>) -> String {
    const MOST: usize = 4 * 1024;
    let Some(mut stderr) = stderr else { return String::new() };
    let (mut kept, mut chunk) = (Vec::new(), [0; 1024]);
    while let Ok(read @ 1..) = stderr.read(&mut chunk).await {
        let room = MOST.saturating_sub(kept.len()).min(read);
        kept.extend_from_slice(&chunk[..room]);
    }
    let text = String::from_utf8_lossy(&kept);
    let mut line = text.lines().next().unwrap_or_default().trim_start_matches("fatal: ").to_owned();
    line.scrub();
    line
}

#[cfg(test)]
mod tests;
