//! The tokens of a data directory: one file beside the bank, replaced whole at every change, so that every process that
//! serves the directory sees a change at its next request.

mod admin;
mod first_token;
mod former_banks;
mod last_use;
mod teams;

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use jiff::Timestamp;
use reasoning_bank_domain::access::{AccessToken, BearerToken, Expiry, TokenId};
use reasoning_bank_store::data_dir;
use reasoning_bank_store::files::{create_dir, open_lock, try_lock, write_synced};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

pub(crate) use admin::{ListedToken, ListedTokens, MAX_DAYS, MadeToken, NewToken, Tokens};
pub use first_token::FirstTokenError;
pub use former_banks::take_over_banks;
pub use last_use::LastUse;
use last_use::UseNotes;
use teams::check_team;
pub(crate) use teams::teams_in_common;

/// The owner that everybody is where a server has no tokens.
pub(crate) const OPEN_OWNER: &str = "local";

const LOCK: &str = ".tokens.lock";
/// The file has at most this many tokens, because it is read whole. The ended ones go first.
const MAX_TOKENS: usize = 10_000;
/// Another process may change the tokens for this long before one that waits gives up.
const LOCK_LIMIT: Duration = Duration::from_secs(5);
const LOCK_PAUSE: Duration = Duration::from_millis(10);

#[derive(Debug, thiserror::Error)]
pub enum TokensError {
    #[error("the tokens in {0} cannot be read: {1}")]
    Unreadable(PathBuf, String),
    #[error("the tokens in {0} cannot be stored: {1}")]
    Unwritable(PathBuf, String),
    #[error("there are {MAX_TOKENS} valid tokens already; revoke some")]
    TooMany,
    #[error("there is no token {0}")]
    Unknown(String),
    /// There is none of this name or id that could be ended or replaced. One that has ended may still be listed.
    #[error("there is no valid token {0}")]
    NoneValid(String),
    #[error("several teams have a valid token {0:?}")]
    Ambiguous(String),
    /// A field of a new token is wrong.
    #[error("{0}")]
    Invalid(String),
    #[error("there is a valid token {0:?} already")]
    NameTaken(String),
    /// The team of a new token is of another organisation, with valid tokens or with ended ones alone.
    #[error("team: {team:?} is a team {}, and one name is one team of a server", of_org(org.as_deref()))]
    TeamTaken { team: String, org: Option<String>, in_use: bool },
    #[error("the system gives no random bytes: {0}")]
    NoRandomness(String),
}

fn of_org(org: Option<&str>) -> String {
    org.map_or_else(|| "without an organisation".to_owned(), |org| format!("of the organisation {org:?}"))
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct TokenList {
    tokens: Vec<AccessToken>,
}

/// The file of tokens, for whoever changes them.
#[derive(Debug, Clone)]
pub struct TokenFile {
    dir: PathBuf,
}

impl TokenFile {
    pub fn of(data_dir: &Path) -> Self {
        Self { dir: data_dir.to_owned() }
    }

    fn path(&self) -> PathBuf {
        self.dir.join(data_dir::TOKENS)
    }

    /// Returns all tokens, those that are revoked or expired included, in the order in which they were made.
    pub fn read(&self) -> Result<Vec<AccessToken>, TokensError> {
        let unreadable = |error: &dyn std::fmt::Display| TokensError::Unreadable(self.path(), error.to_string());
        match fs::read(self.path()) {
            Ok(text) => {
                serde_json::from_slice(&text).map(|list: TokenList| list.tokens).map_err(|error| unreadable(&error))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(unreadable(&error)),
        }
    }

    /// Adds a token. `moves_team` lets it take over a team of another organisation that has no valid token there.
    ///
    /// # Errors
    /// A valid token of its team has its name, its team is of another organisation, there are too many, or the file
    /// cannot be read or written.
    pub fn add(&self, token: AccessToken, moves_team: bool, now: Timestamp) -> Result<(), TokensError> {
        self.change(|tokens| {
            check_team(tokens, &token, moves_team, now)?;
            let is_other = |other: &AccessToken| {
                other.name == token.name && other.readers() == token.readers() && other.expiry(now) == Expiry::Valid
            };
            if tokens.iter().any(is_other) {
                return Err(TokensError::NameTaken(token.name.clone()));
            }
            self.push(tokens, token, now)
        })
    }

    /// Puts a token behind the others. Where there are too many, the ended ones go.
    fn push(&self, tokens: &mut Vec<AccessToken>, token: AccessToken, now: Timestamp) -> Result<(), TokensError> {
        if tokens.len() >= MAX_TOKENS {
            for ended in tokens.extract_if(.., |token| token.expiry(now) != Expiry::Valid) {
                // A rest of it that is left there is in nobody's way.
                let _ = LastUse::of(&self.dir).forget(&ended.id);
            }
        }
        if tokens.len() >= MAX_TOKENS {
            return Err(TokensError::TooMany);
        }
        tokens.push(token);
        Ok(())
    }

    /// Changes the tokens under a lock that all processes respect.
    pub fn change<T, E: From<TokensError>>(
        &self,
        change: impl FnOnce(&mut Vec<AccessToken>) -> Result<T, E>,
    ) -> Result<T, E> {
        let unwritable = |error: io::Error| TokensError::Unwritable(self.path(), error.to_string());
        create_dir(&self.dir).map_err(unwritable)?;
        let lock = open_lock(&self.dir.join(LOCK)).map_err(unwritable)?;
        lock_within(&lock, LOCK_LIMIT).map_err(unwritable)?;
        let mut list = TokenList { tokens: self.read()? };
        let changed = change(&mut list.tokens)?;
        let text = serde_json::to_vec_pretty(&list).map_err(|error| unwritable(error.into()))?;
        write_synced(&self.path(), &text).map_err(unwritable)?;
        Ok(changed)
    }
}

/// Takes a lock that others hold for a moment. A process that has stopped may hold it for ever.
fn lock_within(file: &File, limit: Duration) -> io::Result<()> {
    let begun = Instant::now();
    while !try_lock(file)? {
        if begun.elapsed() >= limit {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "another process is changing them and does not end"));
        }
        thread::sleep(LOCK_PAUSE);
    }
    Ok(())
}

/// Makes a token of random bytes of the system.
pub fn random_token() -> Result<BearerToken, TokensError> {
    let (mut id, mut secret) = ([0; 6], [0; 32]);
    for bytes in [id.as_mut_slice(), secret.as_mut_slice()] {
        getrandom::fill(bytes).map_err(|error| TokensError::NoRandomness(error.to_string()))?;
    }
    Ok(BearerToken::of_random(id, secret))
}

/// The tokens as a server looks them up. It notices at each request whether the file has changed.
pub struct TokenRegistry {
    file: TokenFile,
    read: ArcSwap<ReadTokens>,
    uses: UseNotes,
}

#[derive(Default)]
struct ReadTokens {
    stamp: Option<FileStamp>,
    by_id: HashMap<TokenId, Arc<AccessToken>>,
}

/// The properties that tell one version of a file that is replaced whole from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

impl From<Metadata> for FileStamp {
    fn from(file: Metadata) -> Self {
        Self { inode: file.ino(), bytes: file.len(), modified: (file.mtime(), file.mtime_nsec()) }
    }
}

impl TokenRegistry {
    /// Opens the tokens of a data directory.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub fn open(data_dir: &Path) -> Result<Self, TokensError> {
        let registry = Self {
            file: TokenFile::of(data_dir),
            read: ArcSwap::default(),
            uses: UseNotes::new(LastUse::of(data_dir)),
        };
        registry.current()?;
        Ok(registry)
    }

    /// Says whether there is any token, a revoked or expired one included.
    ///
    /// # Errors
    /// The file cannot be read. Neither can one that had tokens and has none any more: nothing ends that way, and no
    /// server becomes open by it.
    pub fn has_tokens(&self) -> Result<bool, TokensError> {
        Ok(!self.current()?.by_id.is_empty())
    }

    /// Returns the token that a client sent, if it is one and valid now, and notes its use. An unknown, a revoked, an
    /// expired and a wrong one are told apart by nothing.
    ///
    /// # Errors
    /// The file cannot be read. Then nobody is let in.
    pub fn find(&self, sent: &BearerToken, now: Timestamp) -> Result<Option<Arc<AccessToken>>, TokensError> {
        let current = self.current()?;
        let hash = sent.hash();
        let found = current.by_id.get(sent.id());
        // A hash is compared for an unknown id too, so that it takes as long.
        let stored = found.map_or(hash.as_str(), |token| token.sha256.as_str());
        let is_same = bool::from(stored.as_bytes().ct_eq(hash.as_bytes()));
        let found = found.filter(|token| is_same && token.expiry(now) == Expiry::Valid).cloned();
        if let Some(token) = &found {
            self.uses.used(&token.id);
        }
        Ok(found)
    }

    /// Says whether a token that was let in is still valid. It is not where the file cannot be read.
    pub fn is_valid(&self, id: &TokenId, now: Timestamp) -> bool {
        self.current().is_ok_and(|read| read.by_id.get(id).is_some_and(|token| token.expiry(now) == Expiry::Valid))
    }

    /// Returns the tokens as the file has them now. Every request asks, so that a revoked token is refused at once. The
    /// thread of the request looks itself: to hand so short a call of the system to another one would take longer.
    fn current(&self) -> Result<Arc<ReadTokens>, TokensError> {
        let stamp = match fs::metadata(self.file.path()) {
            Ok(file) => Some(FileStamp::from(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(TokensError::Unreadable(self.file.path(), error.to_string())),
        };
        let read = self.read.load_full();
        if read.stamp == stamp {
            return Ok(read);
        }
        // A file that is replaced between both looks is read again at the next request.
        let tokens = self.file.read()?;
        if tokens.is_empty() && !read.by_id.is_empty() {
            let problem = "they are gone; restore the file, or make new ones".to_owned();
            return Err(TokensError::Unreadable(self.file.path(), problem));
        }
        let by_id = tokens.into_iter().map(|token| (token.id.clone(), Arc::new(token))).collect();
        let read = Arc::new(ReadTokens { stamp, by_id });
        self.read.store(Arc::clone(&read));
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use reasoning_bank_domain::access::{AllowedWorkspaces, Permissions};

    use super::*;

    pub(super) fn token(name: &str, bearer: &BearerToken) -> AccessToken {
        AccessToken {
            id: bearer.id().clone(),
            sha256: bearer.hash(),
            name: name.into(),
            owner: name.into(),
            permissions: Permissions::all(),
            workspaces: AllowedWorkspaces::All,
            team: None,
            org: None,
            created_at: Timestamp::UNIX_EPOCH,
            expires_at: None,
            revoked_at: None,
        }
    }

    #[test]
    fn a_change_is_seen_at_the_next_look() {
        let dir = tempfile::tempdir().unwrap();
        let (file, now) = (TokenFile::of(dir.path()), Timestamp::now());
        let registry = TokenRegistry::open(dir.path()).unwrap();
        let bearer = random_token().unwrap();
        assert_eq!(registry.find(&bearer, now).unwrap(), None);
        file.add(token("ci", &bearer), false, now).unwrap();
        assert_eq!(registry.find(&bearer, now).unwrap().unwrap().name, "ci");
        let forged: BearerToken = format!("rb_{}_{}", bearer.id(), "0".repeat(64)).parse().unwrap();
        assert_eq!(registry.find(&forged, now).unwrap(), None, "the right id with another secret");
        file.change(|tokens| {
            tokens[0].revoked_at = Some(now);
            Ok::<_, TokensError>(())
        })
        .unwrap();
        assert_eq!(registry.find(&bearer, now).unwrap(), None);
        assert!(!registry.is_valid(bearer.id(), now));
    }

    #[test]
    fn a_file_that_cannot_be_read_lets_nobody_in() {
        let dir = tempfile::tempdir().unwrap();
        let (file, now) = (TokenFile::of(dir.path()), Timestamp::now());
        let bearer = random_token().unwrap();
        file.add(token("ci", &bearer), false, now).unwrap();
        let registry = TokenRegistry::open(dir.path()).unwrap();
        fs::write(dir.path().join(data_dir::TOKENS), "{").unwrap();
        assert!(registry.find(&bearer, now).is_err());
        assert!(!registry.is_valid(bearer.id(), now));
        fs::remove_file(dir.path().join(data_dir::TOKENS)).unwrap();
        assert!(registry.find(&bearer, now).is_err() && registry.has_tokens().is_err(), "they are gone");
        assert!(!registry.is_valid(bearer.id(), now));
        assert!(!TokenRegistry::open(dir.path()).unwrap().has_tokens().unwrap(), "here there were none");
        file.add(token("new", &bearer), false, now).unwrap();
        assert_eq!(registry.find(&bearer, now).unwrap().unwrap().name, "new");
    }

    #[test]
    fn two_valid_tokens_have_no_name_in_common_and_the_file_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (file, now) = (TokenFile::of(dir.path()), Timestamp::now());
        file.add(token("ci", &random_token().unwrap()), false, now).unwrap();
        let again = file.add(token("ci", &random_token().unwrap()), false, now);
        assert!(matches!(again, Err(TokensError::NameTaken(_))));
        let mode = fs::metadata(dir.path().join(data_dir::TOKENS)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = fs::read_to_string(dir.path().join(data_dir::TOKENS)).unwrap();
        assert!(!text.contains("rb_"), "no token can be used from what is stored");
    }
}
