//! Looking after tokens: listing, making, ending and replacing them, for the commands of `token` and for scripts.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use reasoning_bank_domain::access::{
    AccessToken, AllowedWorkspaces, BearerToken, Expiry, Permission, Permissions, TokenId,
};
use reasoning_bank_domain::memory::workspace::check_name;
use reasoning_bank_domain::safety::secrets::has_secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LastUse, TokenFile, TokensError, random_token};

/// The most days that a token may live.
pub(crate) const MAX_DAYS: u32 = 3_650;

/// The most workspaces that a token names.
const MAX_KEYS: usize = 1_000;

/// The tokens of a data directory, at one moment.
pub(crate) struct Tokens {
    file: TokenFile,
    last_use: LastUse,
    now: Timestamp,
}

/// A token as lists show it: without its hash.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ListedToken {
    pub(crate) id: TokenId,
    pub(crate) name: String,
    /// Whose evidence it gives.
    pub(crate) owner: String,
    pub(crate) permissions: Permissions,
    pub(crate) workspaces: AllowedWorkspaces,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) team: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) org: Option<String>,
    #[schemars(with = "String")]
    pub(crate) created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) expires_at: Option<Timestamp>,
    /// The hour in which it was used last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) last_used: Option<Timestamp>,
    pub(crate) status: Expiry,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ListedTokens {
    pub(crate) tokens: Vec<ListedToken>,
}

/// A token that was just made. Nobody can print it again.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MadeToken {
    /// The text that clients send as `Authorization: Bearer`.
    pub(crate) token: String,
    #[serde(flatten)]
    pub(crate) listed: ListedToken,
}

/// A token that is to be made.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewToken {
    /// The name in lists and logs. No two valid tokens of a team have the same name.
    pub(crate) name: String,
    /// Whose evidence it gives: one person or service is one source. Default: the name.
    pub(crate) owner: Option<String>,
    #[serde(default = "read_and_write")]
    pub(crate) permissions: Permissions,
    pub(crate) workspaces: AllowedWorkspaces,
    /// Default: that of the caller.
    pub(crate) team: Option<String>,
    /// Default: that of the caller.
    pub(crate) org: Option<String>,
    /// It ends after so many days. Default: never.
    #[schemars(range(min = 1, max = MAX_DAYS))]
    pub(crate) expires_days: Option<u32>,
    /// It may take a team over from another organisation, which is for who has the data directory to decide.
    #[serde(skip)]
    pub(crate) moves_team: bool,
}

impl NewToken {
    /// Makes the record of this token with its secret. It never ends.
    pub(crate) fn token(self, bearer: &BearerToken, now: Timestamp) -> AccessToken {
        AccessToken {
            id: bearer.id().clone(),
            sha256: bearer.hash(),
            owner: self.owner.unwrap_or_else(|| self.name.clone()),
            name: self.name,
            permissions: self.permissions,
            workspaces: self.workspaces,
            team: self.team,
            org: self.org,
            created_at: now,
            expires_at: None,
            revoked_at: None,
        }
    }
}

fn read_and_write() -> Permissions {
    [Permission::Read, Permission::Write].into_iter().collect()
}

impl Tokens {
    pub(crate) fn of(data_dir: &Path) -> Self {
        Self { file: TokenFile::of(data_dir), last_use: LastUse::of(data_dir), now: Timestamp::now() }
    }

    /// Lists the tokens that `is_shown` lets through, in the order in which they were made.
    pub(crate) fn list(&self, is_shown: impl Fn(&AccessToken) -> bool) -> Result<ListedTokens, TokensError> {
        let shown = self.file.read()?.into_iter().filter(is_shown);
        Ok(ListedTokens { tokens: shown.map(|token| self.listed(token)).collect() })
    }

    /// Finds the token of this name or id: the valid one, else the one that was made last.
    pub(crate) fn show(
        &self,
        named: &str,
        is_shown: impl Fn(&AccessToken) -> bool,
    ) -> Result<ListedToken, TokensError> {
        let mut shown: Vec<AccessToken> = self.file.read()?.into_iter().filter(is_shown).collect();
        let meant = TokenNaming::among(&shown, named);
        shown.retain(|token| meant.is(token, named));
        let found = shown.into_iter().max_by_key(|token| (token.expiry(self.now) == Expiry::Valid, token.created_at));
        found.map(|token| self.listed(token)).ok_or_else(|| TokensError::Unknown(named.to_owned()))
    }

    /// Makes a token, where `check` agrees to it.
    pub(crate) fn create<E: From<TokensError>>(
        &self,
        new: NewToken,
        check: impl FnOnce(&AccessToken) -> Result<(), E>,
    ) -> Result<MadeToken, E> {
        let named = [("name", Some(&new.name)), ("owner", new.owner.as_ref()), ("team", new.team.as_ref())];
        for (field, name) in named.into_iter().chain([("org", new.org.as_ref())]) {
            if let Some(name) = name {
                check_name(field, name)
                    .map_err(|problem| TokensError::Invalid(format!("{}: {}", problem.field, problem.problem)))?;
                if has_secret(name) {
                    return Err(TokensError::Invalid(format!("{field}: must hold no secret")).into());
                }
            }
        }
        if TokenId::is_form_of(&new.name) {
            return Err(TokensError::Invalid("name: must not have the form of the id of a token".to_owned()).into());
        }
        if let AllowedWorkspaces::Only(keys) = &new.workspaces {
            for key in keys {
                key.check().map_err(|error| TokensError::Invalid(format!("workspaces: {error}")))?;
            }
        }
        if new.permissions.is_empty() {
            return Err(TokensError::Invalid("permissions: there must be one".to_owned()).into());
        }
        if matches!(&new.workspaces, AllowedWorkspaces::Only(keys) if !(1..=MAX_KEYS).contains(&keys.len())) {
            return Err(TokensError::Invalid(format!("workspaces: 1 to {MAX_KEYS}, or all")).into());
        }
        let expires_at = new.expires_days.map(|days| self.after(days)).transpose()?;
        let (bearer, moves_team) = (random_token()?, new.moves_team);
        let token = AccessToken { expires_at, ..new.token(&bearer, self.now) };
        check(&token)?;
        self.file.add(token.clone(), moves_team, self.now)?;
        Ok(MadeToken { token: bearer.expose().to_owned(), listed: self.listed(token) })
    }

    fn after(&self, days: u32) -> Result<Timestamp, TokensError> {
        let invalid = || TokensError::Invalid(format!("expires_days: 1 to {MAX_DAYS}"));
        let lifetime = SignedDuration::from_hours(24 * i64::from(days));
        let ends = self.now.checked_add(lifetime).ok();
        ends.filter(|_| (1..=MAX_DAYS).contains(&days)).ok_or_else(invalid)
    }

    /// Ends the valid token of this name or id, where `check` agrees to that.
    pub(crate) fn revoke<E: From<TokensError>>(
        &self,
        named: &str,
        is_shown: impl Fn(&AccessToken) -> bool,
        check: impl FnOnce(&AccessToken) -> Result<(), E>,
    ) -> Result<ListedToken, E> {
        let revoked = self.file.change(|tokens| {
            let token = self.valid(tokens, named, is_shown)?;
            check(token)?;
            token.revoked_at = Some(self.now);
            Ok::<_, E>(token.clone())
        })?;
        Ok(self.listed(revoked))
    }

    /// Puts a new token in the place of the valid one of this name or id, where `check` agrees to that. The owner
    /// stays, and so does what counts as one source. Returns the id of the old one as well.
    pub(crate) fn rotate<E: From<TokensError>>(
        &self,
        named: &str,
        is_shown: impl Fn(&AccessToken) -> bool,
        check: impl FnOnce(&AccessToken) -> Result<(), E>,
    ) -> Result<(TokenId, MadeToken), E> {
        let bearer = random_token()?;
        let (old, token) = self.file.change(|tokens| {
            let old = self.valid(tokens, named, is_shown)?;
            check(old)?;
            let (id, sha256) = (bearer.id().clone(), bearer.hash());
            let new = AccessToken { id, sha256, created_at: self.now, ..old.clone() };
            old.revoked_at = Some(self.now);
            let old = old.id.clone();
            self.file.push(tokens, new.clone(), self.now)?;
            Ok::<_, E>((old, new))
        })?;
        Ok((old, MadeToken { token: bearer.expose().to_owned(), listed: self.listed(token) }))
    }

    fn valid<'a>(
        &self,
        tokens: &'a mut [AccessToken],
        named: &str,
        is_shown: impl Fn(&AccessToken) -> bool,
    ) -> Result<&'a mut AccessToken, TokensError> {
        let meant = TokenNaming::among(tokens.iter().filter(|token| is_shown(token)), named);
        let is_meant =
            |token: &AccessToken| token.expiry(self.now) == Expiry::Valid && meant.is(token, named) && is_shown(token);
        let mut meant = tokens.iter_mut().filter(|token| is_meant(token));
        match (meant.next(), meant.next()) {
            (Some(token), None) => Ok(token),
            (None, _) => Err(TokensError::NoneValid(named.to_owned())),
            (Some(_), Some(_)) => Err(TokensError::Ambiguous(named.to_owned())),
        }
    }

    fn listed(&self, token: AccessToken) -> ListedToken {
        let (status, last_used) = (token.expiry(self.now), self.last_use.of_token(&token.id));
        let AccessToken { id, name, owner, permissions, workspaces, team, org, created_at, expires_at, .. } = token;
        ListedToken { id, name, owner, permissions, workspaces, team, org, created_at, expires_at, last_used, status }
    }
}

/// The property that a text names tokens by. A text that is the id of a token means that token, whatever others are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenNaming {
    Id,
    Name,
}

impl TokenNaming {
    fn among<'a>(tokens: impl IntoIterator<Item = &'a AccessToken>, named: &str) -> Self {
        let is_id = tokens.into_iter().any(|token| token.id.as_str() == named);
        if is_id { Self::Id } else { Self::Name }
    }

    fn is(self, token: &AccessToken, named: &str) -> bool {
        match self {
            Self::Id => token.id.as_str() == named,
            Self::Name => token.name == named,
        }
    }
}
