//! The commands of `token`: who may use the team daemon, and what each may do there.

use std::fmt::Write;

use jiff::{SignedDuration, Timestamp};
use reasoning_bank_domain::access::{AccessToken, AllowedWorkspaces, Expiry, Permissions, TokenId};
use reasoning_bank_domain::memory::workspace::check_name;
use serde::Serialize;

use super::args::{TokenArgs, TokenCommand};
use super::failure::{CommandExit, CommandFailure};
use super::output::Output;
use super::render::clean_line;
use super::render::style::{bold, dim};
use crate::audit::CommandAudit;
use crate::http::ServeError;
use crate::settings::Loaded;
use crate::tokens::{LastUse, TokenFile, TokensError, random_token};

pub(super) fn command(command: TokenCommand, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    let data_dir = &loaded.settings.data_dir;
    let tokens = Tokens { file: TokenFile::of(data_dir), last_use: LastUse::of(data_dir), now: Timestamp::now() };
    let now = tokens.now;
    // What cannot be noted is not done.
    let audit = || CommandAudit::open(data_dir).map_err(|error| CommandFailure::from(ServeError::Audit(error)));
    match command {
        TokenCommand::Create(args) => {
            let mut audit = audit()?;
            let new = create(args, &tokens)?;
            noted(&mut audit, "token create", [&new.listed.id], output);
            output.secret(&new, made)
        }
        TokenCommand::List => {
            let all = tokens.file.read()?.into_iter().map(|token| tokens.listed(token)).collect();
            output.answer(&ListedTokens { tokens: all }, listed)
        }
        TokenCommand::Show { token } => output.answer(&tokens.show(&token)?, described),
        TokenCommand::Revoke { token } => {
            let mut audit = audit()?;
            let revoked = tokens.file.change(|tokens| {
                let token = found(tokens, &token, now)?;
                token.revoked_at = Some(now);
                Ok(token.clone())
            })?;
            noted(&mut audit, "token revoke", [&revoked.id], output);
            output.answer(&tokens.listed(revoked), |token| format!("{} is revoked", name_of(token)))
        }
        TokenCommand::Rotate { token } => {
            let mut audit = audit()?;
            let (old, new) = rotate(&token, &tokens)?;
            noted(&mut audit, "token rotate", [&old, &new.listed.id], output);
            output.secret(&new, made)
        }
    }
}

/// Notes in the audit log what was done to which tokens. It is done by then, so a note that fails is a warning.
fn noted<const N: usize>(audit: &mut CommandAudit, action: &str, ids: [&TokenId; N], output: Output) {
    if let Err(error) = audit.append(action, ids.map(ToString::to_string).into()) {
        output.warning(&format!("the audit log has no line about this: {error}"));
    }
}

/// The tokens of a data directory, at one moment.
struct Tokens {
    file: TokenFile,
    last_use: LastUse,
    now: Timestamp,
}

impl Tokens {
    fn listed(&self, token: AccessToken) -> ListedToken {
        let (status, last_used) = (token.expiry(self.now), self.last_use.of_token(&token.id));
        let AccessToken { id, name, owner, permissions, workspaces, team, org, created_at, expires_at, .. } = token;
        ListedToken { id, name, owner, permissions, workspaces, team, org, created_at, expires_at, last_used, status }
    }

    /// Finds the token of this name or id: the valid one, else the one that was made last.
    fn show(&self, named: &str) -> Result<ListedToken, TokensError> {
        let of_name = |token: &AccessToken| token.name == named || token.id.as_str() == named;
        let found = self.file.read()?.into_iter().filter(of_name);
        let found = found.max_by_key(|token| (token.expiry(self.now) == Expiry::Valid, token.created_at));
        found.map(|token| self.listed(token)).ok_or_else(|| TokensError::Unknown(named.to_owned()))
    }
}

/// A token as lists show it: without its hash.
#[derive(Debug, Serialize)]
struct ListedToken {
    id: TokenId,
    name: String,
    owner: String,
    permissions: Permissions,
    workspaces: AllowedWorkspaces,
    #[serde(skip_serializing_if = "Option::is_none")]
    team: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    org: Option<String>,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    /// The hour in which it was used last.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used: Option<Timestamp>,
    status: Expiry,
}

#[derive(Debug, Serialize)]
struct ListedTokens {
    tokens: Vec<ListedToken>,
}

/// A token that was just made. Nobody can print it again.
#[derive(Debug, Serialize)]
struct MadeToken {
    token: String,
    #[serde(flatten)]
    listed: ListedToken,
}

fn create(args: TokenArgs, tokens: &Tokens) -> Result<MadeToken, CommandFailure> {
    let now = tokens.now;
    let owner = args.owner.unwrap_or_else(|| args.name.clone());
    let named = [("NAME", Some(&args.name)), ("--owner", Some(&owner)), ("--team", args.team.as_ref())];
    for (argument, name) in named.into_iter().chain([("--org", args.org.as_ref())]) {
        if let Some(name) = name {
            check_name(argument, name)
                .map_err(|problem| CommandFailure::usage(format!("{} {}", problem.field, problem.problem)))?;
        }
    }
    let lifetime = args.expires_days.map(|days| SignedDuration::from_hours(24 * i64::from(days)));
    let expires_at = lifetime.map(|lifetime| now.checked_add(lifetime)).transpose();
    let expires_at = expires_at.map_err(|error| CommandFailure::usage(error.to_string()))?;
    let workspaces = if args.all_workspaces {
        AllowedWorkspaces::All
    } else {
        AllowedWorkspaces::Only(args.key.into_iter().collect())
    };
    let bearer = random_token()?;
    let token = AccessToken {
        id: bearer.id().clone(),
        sha256: bearer.hash(),
        name: args.name,
        owner,
        permissions: args.permissions.into_iter().collect(),
        workspaces,
        team: args.team,
        org: args.org,
        created_at: now,
        expires_at,
        revoked_at: None,
    };
    tokens.file.add(token.clone(), now)?;
    Ok(MadeToken { token: bearer.expose().to_owned(), listed: tokens.listed(token) })
}

/// Puts a new token in the place of an old one. The owner stays, and with him what counts as one source.
fn rotate(named: &str, tokens: &Tokens) -> Result<(TokenId, MadeToken), CommandFailure> {
    let (bearer, now) = (random_token()?, tokens.now);
    let (old, token) = tokens.file.change(|tokens| {
        let old = found(tokens, named, now)?;
        let (id, sha256) = (bearer.id().clone(), bearer.hash());
        let new = AccessToken { id, sha256, created_at: now, ..old.clone() };
        old.revoked_at = Some(now);
        let old = old.id.clone();
        tokens.push(new.clone());
        Ok((old, new))
    })?;
    Ok((old, MadeToken { token: bearer.expose().to_owned(), listed: tokens.listed(token) }))
}

/// Finds the valid token of this name or id.
fn found<'a>(tokens: &'a mut [AccessToken], named: &str, now: Timestamp) -> Result<&'a mut AccessToken, TokensError> {
    let is_meant =
        |token: &AccessToken| token.expiry(now) == Expiry::Valid && (token.name == named || token.id.as_str() == named);
    tokens.iter_mut().find(|token| is_meant(token)).ok_or_else(|| TokensError::Unknown(named.to_owned()))
}

fn name_of(token: &ListedToken) -> String {
    format!("{} {}", bold(clean_line(&token.name)), dim(&token.id))
}

fn made(made: &MadeToken) -> String {
    format!(
        "{}\nIt is shown this once. Clients send it as: Authorization: Bearer TOKEN\n{}\n",
        described(&made.listed),
        made.token
    )
}

fn listed(list: &ListedTokens) -> String {
    if list.tokens.is_empty() {
        return "there are no tokens: `token create` makes one".to_owned();
    }
    list.tokens.iter().map(described).collect::<Vec<_>>().join("\n")
}

fn described(token: &ListedToken) -> String {
    let workspaces = match &token.workspaces {
        AllowedWorkspaces::All => "all workspaces".to_owned(),
        AllowedWorkspaces::Only(keys) => {
            keys.iter().map(|key| clean_line(key.as_str())).collect::<Vec<_>>().join(" and ")
        }
    };
    let mut line = format!("{}  {} on {workspaces}", name_of(token), token.permissions);
    let named = [("owner", Some(&token.owner)), ("team", token.team.as_ref()), ("organisation", token.org.as_ref())];
    for (what, name) in named {
        if let Some(name) = name {
            let _ = write!(line, "  {what} {}", clean_line(name));
        }
    }
    let _ = match (token.status, token.expires_at) {
        (Expiry::Revoked, _) => write!(line, "  revoked"),
        (Expiry::Expired, _) => write!(line, "  expired"),
        (Expiry::Valid, Some(at)) => write!(line, "  until {at}"),
        (Expiry::Valid, None) => Ok(()),
    };
    if let Some(at) = token.last_used {
        let _ = write!(line, "  used {at}");
    }
    line
}
