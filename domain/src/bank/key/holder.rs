//! The keys of the banks of those who hold a token of a server. Each is a hash of exact names, whatever the names are:
//! names that differ by case, by blanks or by where one ends have banks of their own.

use sha2::{Digest, Sha256};

use super::{BankKey, BankKind, project_slug};
use crate::text::hex::hex;

/// The bytes of a hash that a key has. Nobody finds two names with the same 128 bits.
const KEY_BYTES: usize = 16;

/// The owner of tokens, in a team or in none. All banks of a holder follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BankHolder<'a> {
    pub team: Option<&'a str>,
    pub owner: &'a str,
}

impl BankHolder<'_> {
    /// Returns the key of the holder's own bank.
    pub fn own(&self) -> BankKey {
        let (group, names) = match self.team {
            Some(team) => ("member", vec![team, self.owner]),
            None => ("owner", vec![self.owner]),
        };
        hashed(BankKind::Global, group, &names)
    }

    /// Returns the key of a project's bank, by the id of the project. It is the team's; without a team it is the
    /// holder's own.
    pub fn project(&self, id: &str) -> BankKey {
        let (group, name) = self.team.map_or(("owner", self.owner), |team| ("team", team));
        hashed(BankKind::Project, group, &[name, id])
    }

    /// Returns the key that earlier versions gave to the holder's own bank. Others may have had the same one.
    pub fn former_own(&self) -> Option<BankKey> {
        let slug = project_slug(&format!("owner/{} of {}", self.owner, self.team.unwrap_or_default())).ok()?;
        Some(BankKey { kind: BankKind::Global, id: slug })
    }

    /// Returns the id of the project to whose bank earlier versions gave this key. It cannot be told where the key was
    /// too long to hold it.
    pub fn former_project<'k>(&self, key: &'k BankKey) -> Option<&'k str> {
        let team = self.team.unwrap_or_default();
        let is_former = |id: &&str| project_slug(&format!("team/{team}/{id}")).is_ok_and(|former| former == key.id);
        let (names, _hash) = key.id.rsplit_once('-').filter(|_| key.kind == BankKind::Project)?;
        names.match_indices('-').map(|(at, dash)| &names[at + dash.len()..]).find(is_former)
    }
}

fn hashed(kind: BankKind, group: &str, names: &[&str]) -> BankKey {
    let mut hash = Sha256::new();
    for part in [kind.as_str(), group].iter().chain(names) {
        // Behind its length, no part runs into the next one.
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let id = format!("{group}-{}", hex(&hash.finalize()[..KEY_BYTES]));
    BankKey { kind, id }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn holder<'a>(team: Option<&'a str>, owner: &'a str) -> BankHolder<'a> {
        BankHolder { team, owner }
    }

    #[test]
    fn holders_whose_names_look_alike_have_banks_of_their_own() {
        let long = "x".repeat(120);
        let longer = format!("{}y", &long[..119]);
        let holders = [
            holder(Some("Web"), "ana"),
            holder(Some("web"), "ana"),
            holder(Some("web"), "Ana"),
            holder(Some("we b"), "ana"),
            holder(Some("we  b"), "ana"),
            holder(Some("Bank of America"), "ana"),
            holder(Some("America"), "ana of Bank"),
            holder(None, "ana"),
            holder(None, "Ana"),
            holder(None, "ana of web"),
            holder(Some("ana"), "web"),
            holder(Some(&long), "ana"),
            holder(Some(&longer), "ana"),
        ];
        let own: BTreeSet<_> = holders.iter().map(BankHolder::own).collect();
        assert_eq!(own.len(), holders.len());
        let projects: BTreeSet<_> = holders.iter().map(|of| of.project("shop")).collect();
        assert_eq!(projects.len(), holders.len() - 1, "two of them are of one team");
        assert!(projects.is_disjoint(&own));
    }

    #[test]
    fn a_project_is_the_teams_and_without_a_team_the_owners() {
        assert_eq!(holder(Some("web"), "ana").project("shop"), holder(Some("web"), "ben").project("shop"));
        assert_ne!(holder(Some("web"), "ana").project("shop"), holder(Some("web"), "ana").project("shop-2"));
        assert_ne!(holder(None, "ana").project("shop"), holder(None, "ben").project("shop"));
        for key in [holder(None, "ana").own(), holder(Some("web"), "ana").project("shop")] {
            assert_eq!(key.to_string().parse(), Ok(key));
        }
    }

    #[test]
    fn the_keys_of_earlier_versions_are_known() {
        let former = |name: &str| BankKey::project(name).unwrap();
        let ana = holder(Some("Web Shop"), "ana");
        assert_eq!(ana.former_own().unwrap().id(), former("owner/ana of Web Shop").id());
        assert_eq!(holder(None, "ana").former_own().unwrap().id(), former("owner/ana of ").id());
        for id in ["shop", "my-shop", "c-1234abcd", "team-web"] {
            assert_eq!(ana.former_project(&former(&format!("team/Web Shop/{id}"))), Some(id));
            assert_eq!(holder(None, "ana").former_project(&former(&format!("team//{id}"))), Some(id));
            assert_eq!(ana.former_project(&former(&format!("team/other/{id}"))), None);
        }
        assert_eq!(ana.former_project(&ana.project("shop")), None);
        assert_eq!(ana.former_project(&former("shop")), None);
    }
}
