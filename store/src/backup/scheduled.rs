//! Backups that are made from time to time: one when the last is old enough, and the newest of them are kept. All
//! processes of a data directory may try; one of them makes it. Only what has a name of this kind and the manifest of
//! this bank is ever removed.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use reasoning_bank_actors::ports::BackupLook;
use reasoning_bank_actors::runtime::Deadline;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::create::{Destination, create_at, refuse_within};
use super::manifest::{BackupManifest, MANIFEST};
use super::{BackupError, blocking, partial, registry};
use crate::files::create_dir;
use crate::lance::{ErasureLog, LanceStore, SnapshotPlace};

const PREFIX: &str = "reasoning-bank-";
const TIME: &str = "%Y%m%dT%H%M%SZ";

/// The schedule of backups: where and how often one is made, and how many are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    pub dir: PathBuf,
    pub every: SignedDuration,
    /// The number of backups that are kept, at least one.
    pub keep: usize,
}

impl Schedule {
    /// Checks that backups can be made in the directory, and makes it where it is not there.
    ///
    /// # Errors
    /// [`BackupError::Place`], [`BackupError::Io`].
    pub fn check(&self, data_dir: &Path) -> Result<(), BackupError> {
        let dir = std::path::absolute(&self.dir).map_err(BackupError::io(&self.dir))?;
        // What lies in a directory is known once that is there.
        create_dir(data_dir).map_err(BackupError::io(data_dir))?;
        refuse_within(&dir, data_dir)?;
        create_dir(&dir).map_err(BackupError::io(&dir))?;
        tempfile::tempfile_in(&dir).map(drop).map_err(BackupError::io(&dir))
    }
}

/// Makes a backup where it is time to, and removes those that are not kept any more. `deadline` is for the moment of
/// the backup alone. None is made where it is not time yet, or where another backup is being made.
///
/// # Errors
/// The errors are those of [`super::create`].
pub async fn make_if_due(
    store: &LanceStore,
    schedule: &Schedule,
    now: Timestamp,
    deadline: Deadline,
    cancel: &CancellationToken,
) -> Result<BackupLook, BackupError> {
    let (data_dir, plan) = (store.dir().to_owned(), schedule.clone());
    let taken = blocking(move || {
        create_dir(&plan.dir).map_err(BackupError::io(&plan.dir))?;
        let log = ErasureLog::read(&data_dir).map_err(BackupError::io(&data_dir))?;
        let series = BackupSeries { dir: plan.dir, bank: log.ok_or(BackupError::NoBank(data_dir.clone()))?.bank };
        let newest = newest_of(&series.made()?, now);
        if !is_due(newest, plan.every, now) {
            return Ok((newest, None));
        }
        let place = SnapshotPlace::take(&data_dir).map_err(BackupError::io(&data_dir))?;
        let Some(place) = place else { return Ok((newest, None)) };
        // another process may have made one while this one looked
        let newest = newest_of(&series.made()?, now);
        Ok((newest, is_due(newest, plan.every, now).then_some((place, series))))
    });
    let (newest, taken) = taken.await?;
    let Some((place, series)) = taken else { return Ok(BackupLook { made: None, newest }) };
    let to = series.path(now);
    create_at(store, place, Destination::Directory(to.clone()), deadline, cancel).await?;
    let (data_dir, keep) = (store.dir().to_owned(), schedule.keep.max(1));
    blocking(move || series.keep(keep, &data_dir)).await?;
    Ok(BackupLook { made: Some(to.display().to_string()), newest: Some(now) })
}

/// Returns the time of the newest backup. One from the future, which a wrong clock made, does not count.
fn newest_of(made: &[(Timestamp, PathBuf)], now: Timestamp) -> Option<Timestamp> {
    made.iter().map(|(at, _)| *at).filter(|at| *at <= now).max()
}

/// Tells whether the newest backup is at least as old as `every`.
fn is_due(newest: Option<Timestamp>, every: SignedDuration, now: Timestamp) -> bool {
    newest.is_none_or(|newest| now.duration_since(newest) >= every)
}

/// The scheduled backups of a bank in a directory. Their names have the bank and the time.
struct BackupSeries {
    dir: PathBuf,
    bank: Uuid,
}

impl BackupSeries {
    fn prefix(&self) -> String {
        // the end of the id is random, and its beginning a time
        let id = self.bank.simple().to_string();
        format!("{PREFIX}{}-", &id[id.len() - 12..])
    }

    fn path(&self, at: Timestamp) -> PathBuf {
        self.dir.join(format!("{}{}", self.prefix(), at.strftime(TIME)))
    }

    fn time_of(&self, name: &str) -> Option<Timestamp> {
        let time = DateTime::strptime(TIME, name.strip_prefix(&self.prefix())?).ok()?;
        TimeZone::UTC.to_timestamp(time).ok()
    }

    /// Lists the backups, the oldest first.
    fn made(&self) -> Result<Vec<(Timestamp, PathBuf)>, BackupError> {
        let mut made = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(BackupError::io(&self.dir))? {
            let entry = entry.map_err(BackupError::io(&self.dir))?;
            if let Some(at) = entry.file_name().to_str().and_then(|name| self.time_of(name))
                && entry.path().join(MANIFEST).exists()
            {
                made.push((at, entry.path()));
            }
        }
        made.sort();
        Ok(made)
    }

    /// Removes all but the newest, and what processes left that were killed. The right to make a backup must be held or
    /// have been: whoever makes one has another name.
    fn keep(&self, keep: usize, data_dir: &Path) -> Result<(), BackupError> {
        let made = self.made()?;
        for (_, path) in &made[..made.len().saturating_sub(keep)] {
            let manifest = BackupManifest::read(path)?;
            if manifest.bank == self.bank {
                remove(path).map_err(BackupError::io(path))?;
                registry::forget(data_dir, manifest.id).map_err(BackupError::io(data_dir))?;
            }
        }
        for entry in fs::read_dir(&self.dir).map_err(BackupError::io(&self.dir))?.flatten() {
            let name = entry.file_name();
            let name = name.to_str().and_then(partial::is_for);
            if name.is_some_and(|name| self.time_of(name).is_some()) {
                partial::remove_left_over(&entry.path()).map_err(BackupError::io(&entry.path()))?;
            }
        }
        Ok(())
    }
}

/// Removes a backup. It loses its name first, so that nobody takes for a whole one what is left when that breaks off.
fn remove(path: &Path) -> std::io::Result<()> {
    let Some(going) = partial::of(path) else { return Ok(()) };
    fs::rename(path, &going)?;
    fs::remove_dir_all(going)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_is_due_when_the_newest_is_old_enough() {
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        let made = |times: &[i64]| times.iter().map(|time| (at(*time), PathBuf::new())).collect::<Vec<_>>();
        let every = SignedDuration::from_secs(60);
        assert!(is_due(None, every, at(0)));
        assert!(!is_due(newest_of(&made(&[0, 41]), at(100)), every, at(100)));
        assert!(is_due(newest_of(&made(&[0, 40]), at(100)), every, at(100)));
        assert!(is_due(newest_of(&made(&[40, 9_000]), at(100)), every, at(100)), "one from the future");
    }

    #[test]
    fn a_directory_that_backups_cannot_be_made_in_is_refused() {
        let top = tempfile::tempdir().unwrap();
        let [data, made, file] = ["data", "new/backups", "file"].map(|name| top.path().join(name));
        fs::create_dir(&data).unwrap();
        fs::write(&file, "no directory").unwrap();
        let check =
            |dir: &Path| Schedule { dir: dir.to_owned(), every: SignedDuration::from_secs(60), keep: 1 }.check(&data);
        check(&made).unwrap();
        assert!(made.is_dir() && fs::read_dir(&made).unwrap().next().is_none());
        assert!(matches!(check(&file), Err(BackupError::Io { path, .. }) if path == file));
        assert!(matches!(check(&file.join("below")), Err(BackupError::Io { .. })));
        for within in [data.clone(), data.join("backups")] {
            assert!(matches!(check(&within), Err(BackupError::Place { place, .. }) if place == within));
        }
        assert!(fs::read_dir(&data).unwrap().next().is_none());
    }

    #[test]
    fn names_have_the_bank_and_the_time() {
        let series = |id: &str| BackupSeries { dir: "/b".into(), bank: id.parse().unwrap() };
        let one = series("0193c0de-0000-7000-8000-0123456789ab");
        let at: Timestamp = "2026-11-25T11:30:00Z".parse().unwrap();
        let path = one.path(at);
        assert_eq!(path, Path::new("/b/reasoning-bank-0123456789ab-20261125T113000Z"));
        let name = path.file_name().unwrap().to_str().unwrap();
        assert_eq!(one.time_of(name), Some(at));
        assert_eq!(series("0193c0de-0000-7000-8000-0123456789ac").time_of(name), None);
        for other in ["", "reasoning-bank-0123456789ab-", "reasoning-bank-0123456789ab-monday", "photos"] {
            assert_eq!(one.time_of(other), None, "{other}");
        }
    }
}
