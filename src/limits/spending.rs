//! The model tokens that the solves of each access token have used today. Every solve that ends is a line in a file of
//! the day, so that a restart does not forget it and several daemons of one data directory count together. A solve that
//! ends with its process is not counted.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::Date;
use reasoning_bank_domain::access::TokenId;
use reasoning_bank_domain::learning::job::day_of;
use reasoning_bank_store::data_dir::SPENDING;
use reasoning_bank_store::files::{create_dir, open_private, remove_if_there};
use serde::{Deserialize, Serialize};

/// The tokens that one solve used.
#[derive(Debug, Serialize, Deserialize)]
struct Spent {
    token: TokenId,
    model_tokens: u64,
}

/// The tokens that were used on one day, as far as the file of the day was read.
#[derive(Debug)]
pub(super) struct Spending {
    dir: PathBuf,
    day: Date,
    read: u64,
    by_token: HashMap<TokenId, u64>,
    /// The files of other days than this were removed.
    tidied: Date,
}

impl Spending {
    pub(super) fn of(data_dir: &Path) -> Self {
        Self { dir: data_dir.join(SPENDING), day: Date::ZERO, read: 0, by_token: HashMap::new(), tidied: Date::ZERO }
    }

    /// Returns the model tokens that an access token has used on the day of `now`, in UTC.
    pub(super) fn of_token(&mut self, token: &TokenId, now: Timestamp) -> io::Result<u64> {
        self.read_on(day_of(now))?;
        Ok(self.by_token.get(token).copied().unwrap_or_default())
    }

    /// Adds what a solve used.
    pub(super) fn add(&mut self, token: &TokenId, model_tokens: u64, now: Timestamp) -> io::Result<()> {
        let day = day_of(now);
        if day != self.tidied {
            self.remove_other_days(day)?;
            self.tidied = day;
        }
        create_dir(&self.dir)?;
        let spent = serde_json::to_string(&Spent { token: token.clone(), model_tokens })?;
        // A line that a full disk has torn ends here.
        let line = format!("\n{spent}\n");
        open_private(&self.path(day), File::options().append(true))?.write_all(line.as_bytes())
    }

    fn path(&self, day: Date) -> PathBuf {
        self.dir.join(format!("{day}.jsonl"))
    }

    /// Reads what was added to the file of a day since it was read last.
    fn read_on(&mut self, day: Date) -> io::Result<()> {
        if day != self.day {
            (self.day, self.read) = (day, 0);
            self.by_token.clear();
        }
        let mut file = match File::open(self.path(day)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        file.seek(SeekFrom::Start(self.read))?;
        let mut added = Vec::new();
        file.read_to_end(&mut added)?;
        // Another process may be in the middle of a line.
        let whole = added.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        for line in added[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            // A line that a full disk has torn counts for nobody.
            let Ok(Spent { token, model_tokens }) = serde_json::from_slice(line) else { continue };
            let used = self.by_token.entry(token).or_default();
            *used = used.saturating_add(model_tokens);
        }
        self.read += whole as u64;
        Ok(())
    }

    fn remove_other_days(&self, day: Date) -> io::Result<()> {
        let kept = self.path(day);
        let files = match fs::read_dir(&self.dir) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        for file in files {
            let path = file?.path();
            if path != kept && path.extension().is_some_and(|extension| extension == "jsonl") {
                remove_if_there(&path)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn daemons_of_one_directory_count_together_and_every_day_anew() {
        let dir = tempfile::tempdir().unwrap();
        let [ana, ben] = ["0123456789ab", "ba9876543210"].map(|id| TokenId::try_from(id.to_owned()).unwrap());
        let (mut one, mut two) = (Spending::of(dir.path()), Spending::of(dir.path()));
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(one.of_token(&ana, now).unwrap(), 0);
        one.add(&ana, 300, now).unwrap();
        two.add(&ana, 40, now).unwrap();
        two.add(&ben, 5, now).unwrap();
        for daemon in [&mut one, &mut two, &mut Spending::of(dir.path())] {
            assert_eq!((daemon.of_token(&ana, now).unwrap(), daemon.of_token(&ben, now).unwrap()), (340, 5));
        }
        let file = one.path(day_of(now));
        let mut torn = File::options().append(true).open(&file).unwrap();
        torn.write_all(b"{\"token\":").unwrap();
        assert_eq!(one.of_token(&ana, now).unwrap(), 340);
        two.add(&ana, 2, now).unwrap();
        assert_eq!(one.of_token(&ana, now).unwrap(), 342, "a torn line takes no other with it");
        let tomorrow = now + SignedDuration::from_hours(24);
        assert_eq!(one.of_token(&ana, tomorrow).unwrap(), 0);
        one.add(&ana, 1, tomorrow).unwrap();
        assert_eq!(two.of_token(&ana, tomorrow).unwrap(), 1);
        assert!(!file.exists());
    }
}
