//! The right to work off the background jobs of a data directory: a lock file, which the kernel frees when the process
//! that has it ends, however it does. It holds the day and what was spent on it: `2026-11-20 12345`.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::civil::Date;
use reasoning_bank_actors::ports::{Exclusive, Right};

pub struct BackgroundLock {
    path: PathBuf,
}

impl BackgroundLock {
    pub fn of(data_dir: &Path) -> Self {
        Self { path: data_dir.join(".background.lock") }
    }

    fn take(&self) -> io::Result<Option<Held>> {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&self.path)?;
        if file.try_lock().is_err() {
            return Ok(None);
        }
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        Ok(Some(Held { spent: account(&text), file: Arc::new(file) }))
    }
}

/// The first line; what is behind it was not cut off yet when its process was killed.
fn account(text: &str) -> Option<(Date, u64)> {
    let (line, _) = text.split_once('\n')?;
    let (day, tokens) = line.split_once(' ')?;
    Some((day.parse().ok()?, tokens.parse().ok()?))
}

impl Exclusive for BackgroundLock {
    /// None, too, while there is no directory to lock.
    fn try_take(&self) -> Option<Box<dyn Right>> {
        let taken = self.take().inspect_err(|error| tracing::debug!(%error, "the background lock cannot be opened"));
        taken.ok().flatten().map(|held| Box::new(held) as Box<dyn Right>)
    }
}

struct Held {
    file: Arc<File>,
    spent: Option<(Date, u64)>,
}

impl Right for Held {
    fn spent_on(&self, day: Date) -> u64 {
        self.spent.filter(|(known, _)| *known == day).map_or(0, |(_, tokens)| tokens)
    }

    fn write_down(&mut self, day: Date, tokens: u64) -> BoxFuture<'_, Result<(), String>> {
        async move {
            let file = Arc::clone(&self.file);
            let text = format!("{day} {tokens}\n");
            let written = tokio::task::spawn_blocking(move || write(&file, &text)).await;
            written.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
            self.spent = Some((day, tokens));
            Ok(())
        }
        .boxed()
    }
}

/// One write of a few bytes: a kill does not tear it.
fn write(mut file: &File, text: &str) -> io::Result<()> {
    file.rewind()?;
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_has_the_right_at_a_time_and_the_next_one_knows_what_was_spent() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = (BackgroundLock::of(temp.path()), BackgroundLock::of(temp.path()));
        let (monday, tuesday) = (Date::constant(2026, 11, 16), Date::constant(2026, 11, 17));
        let mut right = one.try_take().unwrap();
        assert!(other.try_take().is_none());
        assert_eq!(right.spent_on(monday), 0);
        right.write_down(monday, 123_456).await.unwrap();
        right.write_down(monday, 99).await.unwrap();
        drop(right);
        let mut right = other.try_take().unwrap();
        assert_eq!((right.spent_on(monday), right.spent_on(tuesday)), (99, 0));
        right.write_down(tuesday, 7).await.unwrap();
        assert_eq!((right.spent_on(monday), right.spent_on(tuesday)), (0, 7));
        assert!(BackgroundLock::of(&temp.path().join("gone")).try_take().is_none());
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
