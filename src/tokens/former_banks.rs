//! The memory banks that holders of tokens had under the keys of earlier versions, which different names could have in
//! common. Each goes to the one that it belongs to.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use reasoning_bank_actors::ports::BankDirectories;
use reasoning_bank_domain::bank::{BankHolder, BankKey, BankKind};
use reasoning_bank_store::BankDirs;

use super::{OPEN_OWNER, TokenFile};

/// Gives the memory banks of holders the keys that they have now, before anybody uses one. What fails is tried again at
/// the next start.
pub fn take_over_banks(data_dir: &Path) {
    let tokens = match TokenFile::of(data_dir).read() {
        Ok(tokens) => tokens,
        Err(error) => return tracing::warn!(%error, "memory banks of earlier versions stay where they are"),
    };
    let holders = tokens.iter().map(|token| BankHolder { team: token.team.as_deref(), owner: &token.owner });
    // Where nobody has a token the daemon is open to the user of this machine.
    let open = tokens.is_empty().then_some(BankHolder { team: None, owner: OPEN_OWNER });
    let holders = holders.chain(open).collect();
    if let Err(error) = take_over(&BankDirs::of(data_dir), &holders) {
        tracing::warn!(%error, "memory banks of earlier versions stay where they are");
    }
}

/// Renames the memory banks that exactly one of these holders, or the team of some, can have filled.
fn take_over(banks: &BankDirs, holders: &BTreeSet<BankHolder<'_>>) -> io::Result<()> {
    let mut own = BTreeMap::<BankKey, BTreeSet<BankKey>>::new();
    for holder in holders {
        if let Some(former) = holder.former_own() {
            own.entry(former).or_default().insert(holder.own());
        }
    }
    // One member stands for a team.
    let (mut teams, mut with_projects) = (BTreeSet::new(), Vec::new());
    for holder in holders {
        if holder.team.is_none() || teams.insert(holder.team) {
            with_projects.push(holder);
        }
    }
    for key in banks.list()? {
        let claims: BTreeSet<BankKey> = match key.kind() {
            BankKind::Global => own.get(&key).cloned().unwrap_or_default(),
            BankKind::Project => {
                with_projects.iter().filter_map(|of| Some(of.project(of.former_project(&key)?))).collect()
            }
            BankKind::Code => continue,
        };
        let mut claims = claims.into_iter();
        match (claims.next(), claims.next()) {
            (Some(now), None) => match banks.rename(&key, &now) {
                Ok(true) => tracing::info!(from = %key, to = %now, "a memory bank has the key of this version"),
                Ok(false) => {
                    tracing::warn!(bank = %key, "a memory bank of an earlier version stays: there is a newer one")
                }
                Err(error) => tracing::warn!(bank = %key, %error, "a memory bank of an earlier version stays"),
            },
            (Some(_), Some(_)) => tracing::warn!(
                bank = %key,
                "several owners or teams of tokens had this memory bank in common; it is nobody's now, `bank show` shows it"
            ),
            (None, _) if is_former(&key) => tracing::warn!(
                bank = %key,
                "no owner or team of a token is known to have this memory bank of an earlier version; `bank show` shows it"
            ),
            (None, _) => {}
        }
    }
    Ok(())
}

/// Says whether a key has the form of earlier versions for holders of tokens, whose end is a short hash.
fn is_former(key: &BankKey) -> bool {
    const HASH_CHARS: usize = 8;
    let named = key.id().starts_with("owner-") || key.id().starts_with("team-");
    let end = key.id().rsplit('-').next().unwrap_or_default();
    named && end.len() == HASH_CHARS && end.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use reasoning_bank_actors::ports::BankLocation;

    use super::*;

    fn former(name: &str) -> BankKey {
        BankKey::project(name).unwrap()
    }

    fn global(name: &str) -> BankKey {
        format!("global:{}", former(name).id()).parse().unwrap()
    }

    /// Makes memory banks, takes over what these holders had, and returns the keys that there are then.
    fn after(keys: &[&BankKey], holders: &[BankHolder<'_>]) -> Vec<BankKey> {
        let data = tempfile::tempdir().unwrap();
        let banks = BankDirs::of(data.path());
        for key in keys {
            let bank = banks.open(&BankLocation { key: (*key).clone(), checkout: None }).unwrap();
            bank.append(b"{}").unwrap();
        }
        take_over(&banks, &holders.iter().copied().collect()).unwrap();
        banks.list().unwrap()
    }

    #[test]
    fn a_bank_goes_to_the_only_holder_who_can_have_filled_it() {
        let ana = BankHolder { team: Some("Web Shop"), owner: "ana" };
        let ben = BankHolder { team: Some("Web Shop"), owner: "ben" };
        let alone = BankHolder { team: None, owner: "cleo" };
        let keys = [global("owner/ana of Web Shop"), former("team/Web Shop/c-1234abcd"), former("team//shop")];
        let mut now = vec![ana.own(), ana.project("c-1234abcd"), alone.project("shop")];
        now.sort();
        assert_eq!(after(&keys.each_ref(), &[ana, ben, alone]), now);
        let others = [former("shop"), BankKey::global(), former("team-web-shop")];
        let mut same = others.to_vec();
        same.sort();
        assert_eq!(after(&others.each_ref(), &[ana, ben, alone]), same, "they are the user's own");
    }

    #[test]
    fn a_bank_that_several_had_in_common_is_nobodys() {
        let (web, big) =
            (BankHolder { team: Some("web"), owner: "ana" }, BankHolder { team: Some("Web"), owner: "ana" });
        let (ana, ben) = (BankHolder { team: None, owner: "ana" }, BankHolder { team: None, owner: "ben" });
        let own = global("owner/ana of web");
        for (key, holders) in [
            (&own, [web, big]),
            (&former("team/web/shop"), [web, big]),
            (&former("team//shop"), [ana, ben]),
            (
                &global("owner/ana of Bank of America"),
                [
                    BankHolder { team: Some("Bank of America"), owner: "ana" },
                    BankHolder { team: Some("America"), owner: "ana of Bank" },
                ],
            ),
        ] {
            assert_eq!(after(&[key], &holders).iter().collect::<Vec<_>>(), [key]);
        }
        assert_eq!(after(&[&own], &[web, ana]), [web.own()]);
    }
}
