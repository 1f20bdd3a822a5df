//! The time when each token was used last, by the hour. An empty file for each token keeps it, as the time at which
//! that file was changed. These files lie beside the file of tokens, so that no request ever writes that one.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use jiff::{Timestamp, Unit};
use reasoning_bank_domain::access::TokenId;
use reasoning_bank_store::files::{create_dir, open_private, remove_if_there};

const DIR: &str = "token-use";
/// A token that is in use is noted anew after this time.
const NOTE_EVERY: Duration = Duration::from_secs(10 * 60);
/// From this number of noted tokens on, those that are due anyway are forgotten.
const FORGET_FROM: usize = 1_000;

/// The files that tell when each token was used last.
#[derive(Debug, Clone)]
pub struct LastUse {
    dir: PathBuf,
}

impl LastUse {
    pub fn of(data_dir: &Path) -> Self {
        Self { dir: data_dir.join(DIR) }
    }

    /// Returns the hour in which a token was used last. None where that is not known.
    pub fn of_token(&self, id: &TokenId) -> Option<Timestamp> {
        let at = fs::metadata(self.dir.join(id.as_str())).ok()?.modified().ok()?;
        Timestamp::try_from(at)
            .ok()?
            .round(jiff::TimestampRound::new().smallest(Unit::Hour).mode(jiff::RoundMode::Floor))
            .ok()
    }

    /// Forgets a token.
    pub(super) fn forget(&self, id: &TokenId) -> io::Result<()> {
        remove_if_there(&self.dir.join(id.as_str()))
    }

    fn note(&self, id: &TokenId) -> io::Result<()> {
        create_dir(&self.dir)?;
        let file = open_private(&self.dir.join(id.as_str()), File::options().write(true))?;
        file.set_modified(SystemTime::now())
    }
}

/// Notes that tokens are used, as a server does: at most once in ten minutes for each.
pub(super) struct UseNotes {
    last_use: LastUse,
    noted: Mutex<HashMap<TokenId, Instant>>,
}

impl UseNotes {
    pub(super) fn new(last_use: LastUse) -> Self {
        Self { last_use, noted: Mutex::default() }
    }

    /// Notes that a token is used now. It returns at once, and where the note cannot be written nothing else fails.
    pub(super) fn used(&self, id: &TokenId) {
        if !self.is_due(id) {
            return;
        }
        let (last_use, id) = (self.last_use.clone(), id.clone());
        let write = move || {
            if let Err(error) = last_use.note(&id) {
                tracing::warn!(%error, token = %id, "the last use of a token could not be noted");
            }
        };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(write)),
            Err(_) => write(),
        }
    }

    fn is_due(&self, id: &TokenId) -> bool {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.get(id).is_some_and(|at| at.elapsed() < NOTE_EVERY) {
            return false;
        }
        if noted.len() >= FORGET_FROM {
            noted.retain(|_, at| at.elapsed() < NOTE_EVERY);
        }
        noted.insert(id.clone(), Instant::now());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_is_noted_by_the_hour_and_not_again_soon() {
        let dir = tempfile::tempdir().unwrap();
        let (last_use, id) = (LastUse::of(dir.path()), TokenId::try_from("0123456789ab".to_owned()).unwrap());
        let notes = UseNotes::new(last_use.clone());
        assert_eq!(last_use.of_token(&id), None);
        notes.used(&id);
        let hour = last_use.of_token(&id).unwrap();
        let ago = Timestamp::now().duration_since(hour);
        assert!(hour.as_second() % 3_600 == 0 && ago.as_hours() <= 1, "{hour}");
        last_use.forget(&id).unwrap();
        notes.used(&id);
        assert_eq!(last_use.of_token(&id), None, "it was noted a moment ago");
    }

    #[test]
    fn a_place_that_cannot_be_written_to_fails_nothing() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(DIR), "").unwrap();
        let (last_use, id) = (LastUse::of(dir.path()), TokenId::try_from("0123456789ab".to_owned()).unwrap());
        UseNotes::new(last_use.clone()).used(&id);
        assert_eq!(last_use.of_token(&id), None);
    }
}
