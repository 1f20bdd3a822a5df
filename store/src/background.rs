//! The lease of the background jobs of a data directory: a lock file, which the kernel frees when the process
//! that has it ends, however it does. Beside it is the day and what was spent on it: `2026-11-20 12345`. It is not in the
//! lock file, as it was in earlier versions: where a lock keeps others from reading, nobody else could see it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::civil::Date;
use reasoning_bank_actors::ports::{Lease, LeaseGuard};

use super::data_dir;
use super::files::{unless_gone, write_synced};

/// A day and a number take far less; what is behind them is not read.
const MAX_BYTES: u64 = 256;

pub struct BackgroundLock {
    lock: PathBuf,
    account: PathBuf,
}

impl BackgroundLock {
    pub fn of(dir: &Path) -> Self {
        Self { lock: dir.join(".background.lock"), account: dir.join(data_dir::BACKGROUND_SPENT) }
    }

    /// Makes the lease of consolidation, which goes on beside background jobs. It spends nothing.
    pub fn of_consolidation(dir: &Path) -> Self {
        Self { lock: dir.join(".consolidation.lock"), account: dir.join(".consolidation.spent") }
    }

    fn take(&self) -> io::Result<Option<HeldLock>> {
        let lock = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&self.lock)?;
        if lock.try_lock().is_err() {
            return Ok(None);
        }
        self.move_account(&lock)?;
        let spent = match unless_gone(File::open(&self.account))? {
            Some(file) => account(&bounded(file)?),
            None => None,
        };
        Ok(Some(HeldLock { spent, account: self.account.clone(), _lock: lock }))
    }

    /// An earlier version kept its account in the lock file, which is read here by the only process that may: the one that
    /// holds it. What it wrote last is the later one.
    fn move_account(&self, mut lock: &File) -> io::Result<()> {
        if lock.metadata()?.len() == 0 {
            return Ok(());
        }
        lock.rewind()?;
        if let Some((day, tokens)) = account(&bounded(lock)?) {
            write_synced(&self.account, line(day, tokens).as_bytes())?;
        }
        lock.set_len(0)
    }
}

fn bounded(file: impl Read) -> io::Result<String> {
    let mut text = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut text)?;
    Ok(String::from_utf8(text).unwrap_or_default())
}

fn line(day: Date, tokens: u64) -> String {
    format!("{day} {tokens}\n")
}

/// The first line; what is behind it was not cut off yet when an earlier version was killed. Anything else is no account.
fn account(text: &str) -> Option<(Date, u64)> {
    let (line, _) = text.split_once('\n')?;
    let (day, tokens) = line.split_once(' ')?;
    Some((day.parse().ok()?, tokens.parse().ok()?))
}

impl Lease for BackgroundLock {
    /// None, too, while there is no directory to lock.
    fn try_take(&self) -> Option<Box<dyn LeaseGuard>> {
        let taken = self.take().inspect_err(|error| tracing::debug!(%error, "the background lock cannot be taken"));
        taken.ok().flatten().map(|held| Box::new(held) as Box<dyn LeaseGuard>)
    }
}

struct HeldLock {
    spent: Option<(Date, u64)>,
    account: PathBuf,
    _lock: File,
}

impl LeaseGuard for HeldLock {
    fn spent_on(&self, day: Date) -> u64 {
        self.spent.filter(|(known, _)| *known == day).map_or(0, |(_, tokens)| tokens)
    }

    fn write_down(&mut self, day: Date, tokens: u64) -> BoxFuture<'_, Result<(), String>> {
        async move {
            let account = self.account.clone();
            let write = move || write_synced(&account, line(day, tokens).as_bytes());
            let written = tokio::task::spawn_blocking(write).await;
            written.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
            self.spent = Some((day, tokens));
            Ok(())
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_has_the_lease_at_a_time_and_the_next_one_knows_what_was_spent() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = (BackgroundLock::of(temp.path()), BackgroundLock::of(temp.path()));
        let (monday, tuesday) = (Date::constant(2026, 11, 16), Date::constant(2026, 11, 17));
        let mut guard = one.try_take().unwrap();
        assert!(other.try_take().is_none());
        assert_eq!(guard.spent_on(monday), 0);
        guard.write_down(monday, 123_456).await.unwrap();
        guard.write_down(monday, 99).await.unwrap();
        drop(guard);
        let mut guard = other.try_take().unwrap();
        assert_eq!((guard.spent_on(monday), guard.spent_on(tuesday)), (99, 0));
        guard.write_down(tuesday, 7).await.unwrap();
        assert_eq!((guard.spent_on(monday), guard.spent_on(tuesday)), (0, 7));
        assert!(BackgroundLock::of(&temp.path().join("gone")).try_take().is_none());
    }

    #[tokio::test]
    async fn the_account_of_an_earlier_version_is_taken_over_and_garbage_is_none() {
        let temp = tempfile::tempdir().unwrap();
        let [lock, spent] = [".background.lock", ".background.spent"].map(|name| temp.path().join(name));
        let day = Date::constant(2026, 11, 16);
        std::fs::write(&lock, "2026-11-16 77\n").unwrap();
        let mut guard = BackgroundLock::of(temp.path()).try_take().unwrap();
        assert_eq!(guard.spent_on(day), 77);
        assert_eq!(std::fs::read(&lock).unwrap(), b"", "it is in the lock file no more");
        guard.write_down(day, 5).await.unwrap();
        assert_eq!(std::fs::read(&lock).unwrap(), b"");
        drop(guard);
        let long = [b'9'; 100_000];
        for garbage in [&b"\xff\xfe\n"[..], b"\0\0\0", b"2026-11-16", b"2026-11-16 -3\n", &long] {
            std::fs::write(&lock, garbage).unwrap();
            assert_eq!(
                BackgroundLock::of(temp.path()).try_take().unwrap().spent_on(day),
                5,
                "what is beside it counts"
            );
            std::fs::write(&spent, garbage).unwrap();
            let mut guard = BackgroundLock::of(temp.path()).try_take().unwrap();
            assert_eq!(guard.spent_on(day), 0);
            guard.write_down(day, 5).await.unwrap();
        }
    }

    #[test]
    fn the_first_whole_line_is_the_account() {
        for text in ["", "2026-11-17", "2026-11-17 12", "2026-11-17 x\n", "monday 12\n"] {
            assert_eq!(account(text), None, "{text:?}");
        }
        for text in ["2026-11-17 12\n", "2026-11-17 12\n456\n"] {
            assert_eq!(account(text), Some((Date::constant(2026, 11, 17), 12)));
        }
    }
}
