//! The rule that a team is of one organisation, or of none: the name of a team says which workspaces, memories and
//! memory banks are its own, so that two organisations with a team of one name would have them in common.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::Timestamp;
use reasoning_bank_domain::access::{AccessToken, Expiry};

use super::TokensError;

/// Checks that the team of a new token is of no other organisation. A team whose tokens have all ended stays where it
/// was, unless `moves` says that it moves with all that it has.
pub(super) fn check_team(
    tokens: &[AccessToken],
    new: &AccessToken,
    moves: bool,
    now: Timestamp,
) -> Result<(), TokensError> {
    let Some(team) = &new.team else {
        return match &new.org {
            Some(_) => Err(TokensError::Invalid("org: is the organisation of a team; give the team, too".to_owned())),
            None => Ok(()),
        };
    };
    let of_team = || tokens.iter().filter(|token| token.team.as_ref() == Some(team));
    let is_valid = |token: &&AccessToken| token.expiry(now) == Expiry::Valid;
    // What earlier versions allowed stays as it is: `teams_in_common` names it.
    if of_team().filter(is_valid).any(|token| token.org == new.org) {
        return Ok(());
    }
    let taken = |elsewhere: &AccessToken, in_use| {
        Err(TokensError::TeamTaken { team: team.clone(), org: elsewhere.org.clone(), in_use })
    };
    if let Some(elsewhere) = of_team().find(is_valid) {
        return taken(elsewhere, true);
    }
    match of_team().next_back() {
        Some(last) if last.org != new.org && !moves => taken(last, false),
        _ => Ok(()),
    }
}

/// Valid tokens of several organisations that are of one team, or of none, and so have in common what that has.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TeamInCommon {
    team: Option<String>,
    /// The organisations, each with the names of its tokens.
    orgs: BTreeMap<Option<String>, BTreeSet<String>>,
}

impl fmt::Display for TeamInCommon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMED: usize = 5;
        match &self.team {
            Some(team) => write!(f, "several organisations have a team {team:?}")?,
            None => f.write_str("several organisations have tokens without a team")?,
        }
        for (n, (org, names)) in self.orgs.iter().enumerate() {
            f.write_str(if n == 0 { " (" } else { "; " })?;
            match org {
                Some(org) => write!(f, "{org:?}: ")?,
                None => f.write_str("none: ")?,
            }
            let named: Vec<_> = names.iter().take(NAMED).map(|name| format!("{name:?}")).collect();
            f.write_str(&named.join(", "))?;
            if names.len() > NAMED {
                write!(f, " and {} more", names.len() - NAMED)?;
            }
        }
        f.write_str("), which share its workspaces, its memories and its memory banks")
    }
}

/// Finds the teams that valid tokens of several organisations have in common, which earlier versions allowed.
pub(crate) fn teams_in_common(tokens: &[AccessToken], now: Timestamp) -> Vec<TeamInCommon> {
    let mut teams = BTreeMap::<Option<String>, BTreeMap<Option<String>, BTreeSet<String>>>::new();
    for token in tokens.iter().filter(|token| token.expiry(now) == Expiry::Valid) {
        let orgs = teams.entry(token.team.clone()).or_default();
        orgs.entry(token.org.clone()).or_default().insert(token.name.clone());
    }
    let shared = teams.into_iter().filter(|(_, orgs)| orgs.len() > 1);
    shared.map(|(team, orgs)| TeamInCommon { team, orgs }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::random_token;
    use super::*;

    fn token(name: &str, team: Option<&str>, org: Option<&str>, is_over: bool) -> AccessToken {
        AccessToken {
            team: team.map(Into::into),
            org: org.map(Into::into),
            revoked_at: is_over.then_some(Timestamp::UNIX_EPOCH),
            ..super::super::tests::token(name, &random_token().unwrap())
        }
    }

    #[test]
    fn a_team_is_of_one_organisation_until_it_moves() {
        let now = Timestamp::now();
        let check = |tokens: &[AccessToken], org, moves| {
            check_team(tokens, &token("new", Some("web"), org, false), moves, now).map_err(|error| match error {
                TokensError::TeamTaken { org, in_use, .. } => (org, in_use),
                other => panic!("{other}"),
            })
        };
        let of = |org, is_over| token("ana", Some("web"), org, is_over);
        let (acme, in_use, over) =
            (Some("acme"), Err((Some("acme".to_owned()), true)), Err((Some("acme".to_owned()), false)));
        assert_eq!(check(&[], acme, false), Ok(()));
        assert_eq!(check(&[token("ana", Some("ops"), Some("o2"), false)], acme, false), Ok(()));
        assert_eq!(check(&[of(acme, false)], acme, false), Ok(()));
        assert_eq!(
            (check(&[of(acme, false)], None, false), check(&[of(acme, false)], None, true)),
            (in_use.clone(), in_use)
        );
        assert_eq!(check(&[of(None, false)], acme, true), Err((None, true)));
        assert_eq!(check(&[of(acme, true)], Some("o2"), false), over);
        assert_eq!(check(&[of(acme, true)], Some("o2"), true), Ok(()));
        let moved = [of(acme, true), of(Some("o2"), false)];
        assert_eq!((check(&moved, Some("o2"), false).is_ok(), check(&moved, acme, false).is_ok()), (true, false));
        let former = [of(acme, false), of(Some("o2"), false)];
        assert_eq!(check(&former, acme, false), Ok(()), "an earlier version allowed it");
        let alone = check_team(&[], &token("new", None, acme, false), false, now).unwrap_err();
        assert!(alone.to_string().contains("give the team"), "{alone}");
    }

    #[test]
    fn teams_that_organisations_have_in_common_are_named() {
        let tokens = [
            token("a", Some("web"), Some("o1"), false),
            token("b", Some("web"), Some("o2"), false),
            token("c", Some("web"), None, true),
            token("d", Some("ops"), Some("o1"), false),
            token("e", None, None, false),
        ];
        let shared = teams_in_common(&tokens, Timestamp::now());
        let said: Vec<_> = shared.iter().map(ToString::to_string).collect();
        let expected = "several organisations have a team \"web\" (\"o1\": \"a\"; \"o2\": \"b\"), \
                        which share its workspaces, its memories and its memory banks";
        assert_eq!(said, [expected]);
    }
}
