//! The first token of a server that nobody has a shell on, such as a container: the operator makes it and hands it over
//! in a file.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use reasoning_bank_domain::access::{AllowedWorkspaces, BearerToken, Permissions};
use reasoning_bank_store::files::open_regular;

use super::{NewToken, TokenFile, TokensError};
use crate::settings::BOOTSTRAP_TOKEN_FILE;

const NAME: &str = "bootstrap";

/// No message has a word of what the file holds.
#[derive(Debug, thiserror::Error)]
pub enum FirstTokenError {
    #[error("{BOOTSTRAP_TOKEN_FILE}: {0} cannot be read: {1}")]
    Unreadable(PathBuf, io::Error),
    #[error("{BOOTSTRAP_TOKEN_FILE}: {0} holds no token of the form rb_ID_SECRET")]
    Malformed(PathBuf),
    #[error(transparent)]
    Tokens(#[from] TokensError),
}

impl TokenFile {
    /// Stores the token of a file, with all permissions on all workspaces, if there has never been another. Says
    /// whether it did. A revoked token counts as one, so that revoking the last one does not bring the first one back.
    ///
    /// # Errors
    /// The file has to be read and holds no token, or the tokens cannot be read or stored.
    pub fn add_first(&self, path: &Path, now: Timestamp) -> Result<bool, FirstTokenError> {
        if !self.read()?.is_empty() {
            return Ok(false);
        }
        let bearer = read_token(path)?;
        let first = NewToken {
            name: NAME.to_owned(),
            owner: None,
            permissions: Permissions::all(),
            workspaces: AllowedWorkspaces::All,
            team: None,
            org: None,
            expires_days: None,
            moves_team: false,
        };
        let token = first.token(&bearer, now);
        // Another process may have made one since: what counts is what the lock shows.
        let added = self.change(|tokens| {
            let is_first = tokens.is_empty();
            if is_first {
                tokens.push(token);
            }
            Ok::<_, TokensError>(is_first)
        })?;
        Ok(added)
    }
}

fn read_token(path: &Path) -> Result<BearerToken, FirstTokenError> {
    const MAX_BYTES: u64 = 4096;
    let unreadable = |error| FirstTokenError::Unreadable(path.to_owned(), error);
    let mut bytes = Vec::new();
    open_regular(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes)).map_err(unreadable)?;
    let token = str::from_utf8(&bytes).ok().and_then(|text| text.trim().parse().ok());
    token.ok_or_else(|| FirstTokenError::Malformed(path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::random_token;
    use super::*;

    #[test]
    fn of_many_servers_that_start_at_once_one_stores_the_first_token() {
        let dir = tempfile::tempdir().unwrap();
        let (file, now) = (TokenFile::of(&dir.path().join("data")), Timestamp::now());
        let path = dir.path().join("secret");
        std::fs::write(&path, format!("{}\n", random_token().unwrap().expose())).unwrap();
        let added = std::thread::scope(|scope| {
            let starts: Vec<_> = (0..8).map(|_| scope.spawn(|| file.add_first(&path, now).unwrap())).collect();
            starts.into_iter().filter_map(|start| start.join().unwrap().then_some(())).count()
        });
        assert_eq!(added, 1);
        assert_eq!(file.read().unwrap().len(), 1);
    }
}
