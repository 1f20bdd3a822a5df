//! The commands of `token`: who may use the team daemon, and what each may do there.

use std::fmt::Write;

use reasoning_bank_domain::access::{AccessToken, AllowedWorkspaces, Expiry, TokenId};

use super::args::{TokenArgs, TokenCommand};
use super::failure::{CommandExit, CommandFailure};
use super::output::Output;
use super::render::clean_line;
use super::render::style::{bold, dim};
use crate::audit::CommandAudit;
use crate::http::ServeError;
use crate::settings::Loaded;
use crate::tokens::{ListedToken, ListedTokens, MadeToken, NewToken, Tokens, TokensError};

pub(super) fn command(command: TokenCommand, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    let data_dir = &loaded.settings.data_dir;
    let tokens = Tokens::of(data_dir);
    let all = |_: &AccessToken| true;
    let unchecked = |_: &AccessToken| Ok::<_, TokensError>(());
    // A change that cannot be noted is not made.
    let audit = || CommandAudit::open(data_dir).map_err(|error| CommandFailure::from(ServeError::Audit(error)));
    match command {
        TokenCommand::Create(args) => {
            let mut audit = audit()?;
            let new = tokens.create(args.into(), unchecked)?;
            noted(&mut audit, "token create", [&new.listed.id], output);
            output.secret(&new, made)
        }
        TokenCommand::List => output.answer(&tokens.list(all)?, listed),
        TokenCommand::Show { token } => output.answer(&tokens.show(&token, all)?, described),
        TokenCommand::Revoke { token } => {
            let mut audit = audit()?;
            let revoked = tokens.revoke(&token, all, unchecked)?;
            noted(&mut audit, "token revoke", [&revoked.id], output);
            output.answer(&revoked, |token| format!("{} is revoked", name_of(token)))
        }
        TokenCommand::Rotate { token } => {
            let mut audit = audit()?;
            let (old, new) = tokens.rotate(&token, all, unchecked)?;
            noted(&mut audit, "token rotate", [&old, &new.listed.id], output);
            output.secret(&new, made)
        }
    }
}

impl From<TokenArgs> for NewToken {
    fn from(args: TokenArgs) -> Self {
        let TokenArgs { name, owner, permissions, key, all_workspaces, team, org, move_team, expires_days } = args;
        let workspaces =
            if all_workspaces { AllowedWorkspaces::All } else { AllowedWorkspaces::Only(key.into_iter().collect()) };
        let permissions = permissions.into_iter().collect();
        Self { name, owner, permissions, workspaces, team, org, expires_days, moves_team: move_team }
    }
}

/// Notes in the audit log what was done to which tokens.
fn noted<const N: usize>(audit: &mut CommandAudit, action: &str, ids: [&TokenId; N], output: Output) {
    output.noted(audit.append(action, ids.map(ToString::to_string).into()));
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
