//! The account of what the processes of a data directory spend on models together: a file with the day and the tokens,
//! `2026-11-20 12345`. Whoever changes it has the lock beside it, for as long as that takes.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use futures::future::BoxFuture;
use futures::{FutureExt, TryFutureExt};
use jiff::civil::Date;
use reasoning_bank_actors::ports::TokenAccount;

use super::data_dir;
use super::files::{open_lock, unless_gone, write_synced};

/// A day and a number take far less; what is behind them is not read.
const MAX_BYTES: u64 = 256;

#[derive(Clone)]
pub struct TokenAccountFile {
    account: PathBuf,
    lock: PathBuf,
}

impl TokenAccountFile {
    pub fn of(dir: &Path) -> Self {
        Self { account: dir.join(data_dir::BACKGROUND_SPENT), lock: dir.join(".background.spent.lock") }
    }

    fn change(
        &self,
        day: Date,
        change: impl FnOnce(u64) -> Option<u64> + Send + 'static,
    ) -> BoxFuture<'static, io::Result<bool>> {
        let file = self.clone();
        let changing = tokio::task::spawn_blocking(move || file.change_now(day, change));
        async move { changing.await.map_err(io::Error::other)? }.boxed()
    }

    /// Changes what was spent on a day. None leaves it as it is, and then this returns false.
    fn change_now(&self, day: Date, change: impl FnOnce(u64) -> Option<u64>) -> io::Result<bool> {
        let lock = open_lock(&self.lock)?;
        lock.lock()?;
        let written = match unless_gone(File::open(&self.account))? {
            Some(file) => read(&bounded(file)?),
            None => None,
        };
        let spent = written.filter(|(known, _)| *known == day).map_or(0, |(_, spent)| spent);
        match change(spent) {
            Some(spent) => write_synced(&self.account, format!("{day} {spent}\n").as_bytes()).map(|()| true),
            None => Ok(false),
        }
    }
}

impl TokenAccount for TokenAccountFile {
    fn set_aside(&self, day: Date, tokens: u64, cap: u64) -> BoxFuture<'_, io::Result<bool>> {
        self.change(day, move |spent| spent.checked_add(tokens).filter(|spent| *spent <= cap))
    }

    fn settle(&self, day: Date, set_aside: u64, spent: u64) -> BoxFuture<'_, io::Result<()>> {
        self.change(day, move |all| Some(all.saturating_add(spent).saturating_sub(set_aside))).map_ok(drop).boxed()
    }
}

fn bounded(file: impl Read) -> io::Result<String> {
    let mut text = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut text)?;
    Ok(String::from_utf8(text).unwrap_or_default())
}

/// Reads the first line. Anything that is not written whole is no account.
fn read(text: &str) -> Option<(Date, u64)> {
    let (line, _) = text.split_once('\n')?;
    let (day, tokens) = line.split_once(' ')?;
    Some((day.parse().ok()?, tokens.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MONDAY: Date = Date::constant(2026, 11, 16);
    const TUESDAY: Date = Date::constant(2026, 11, 17);

    #[tokio::test]
    async fn processes_spend_no_more_than_the_cap_of_a_day_together() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = (TokenAccountFile::of(temp.path()), TokenAccountFile::of(temp.path()));
        assert!(one.set_aside(MONDAY, 60, 100).await.unwrap());
        assert!(!other.set_aside(MONDAY, 41, 100).await.unwrap());
        one.settle(MONDAY, 60, 10).await.unwrap();
        assert!(other.set_aside(MONDAY, 90, 100).await.unwrap());
        other.settle(MONDAY, 90, 95).await.unwrap();
        assert!(!one.set_aside(MONDAY, 1, 100).await.unwrap(), "more than was set aside counts as well");
        assert!(one.set_aside(TUESDAY, 100, 100).await.unwrap());
        assert!(!one.set_aside(TUESDAY, u64::MAX, u64::MAX).await.unwrap());
        let gone = TokenAccountFile::of(&temp.path().join("gone"));
        assert!(gone.set_aside(MONDAY, 1, 100).await.is_err());
    }

    #[test]
    fn many_at_once_lose_nothing_of_each_other() {
        let temp = tempfile::tempdir().unwrap();
        let granted: usize = std::thread::scope(|scope| {
            let spend = || {
                let account = TokenAccountFile::of(temp.path());
                (0..20)
                    .filter(|_| account.change_now(MONDAY, |spent| (spent < 50).then_some(spent + 1)).unwrap())
                    .count()
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(spend)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(granted, 50);
    }

    #[tokio::test]
    async fn garbage_is_no_account() {
        let temp = tempfile::tempdir().unwrap();
        let account = TokenAccountFile::of(temp.path());
        let long = [b'9'; 100_000];
        for garbage in [&b"\xff\xfe\n"[..], b"\0\0\0", b"2026-11-16", b"2026-11-16 -3\n", b"2026-11-16 x\n", &long] {
            std::fs::write(&account.account, garbage).unwrap();
            assert!(account.set_aside(MONDAY, 5, 5).await.unwrap());
            assert!(!account.set_aside(MONDAY, 1, 5).await.unwrap());
        }
    }
}
