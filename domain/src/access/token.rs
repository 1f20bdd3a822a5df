//! Bearer tokens. What is stored of one is enough to recognise it and not enough to use it.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::token_id::{ID_BYTES, InvalidBearerToken, NamedToken, TokenId, is_hex};
use super::{AllowedWorkspaces, Permissions, Principal};
use crate::text::hex::hex;

/// The random part of a token has this many bytes: 256 bits, which nobody guesses, so one pass of SHA-256 keeps it.
pub const SECRET_BYTES: usize = 32;

const PREFIX: &str = "rb";
/// The length of a whole token: the prefix, and two numbers in hex, each behind an underscore.
const TEXT_BYTES: usize = PREFIX.len() + 1 + 2 * ID_BYTES + 1 + 2 * SECRET_BYTES;

/// A token as a client sends it: `rb_ID_SECRET`. It is never printed but when it is made.
#[derive(Clone, PartialEq, Eq)]
pub struct BearerToken {
    id: TokenId,
    text: String,
}

impl BearerToken {
    /// Makes a token of random bytes.
    pub fn of_random(id: [u8; ID_BYTES], secret: [u8; SECRET_BYTES]) -> Self {
        let id = hex(&id);
        let text = format!("{PREFIX}_{id}_{}", hex(&secret));
        Self { id: TokenId(id), text }
    }

    pub fn id(&self) -> &TokenId {
        &self.id
    }

    /// Returns the whole token, for its owner alone.
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// Says whether a token stands in a text, whatever is before and behind it: a name that is percent-encoded, such as
    /// `token%3D`, ends with a letter.
    pub fn stands_in(text: &str) -> bool {
        let begins = text.match_indices(PREFIX).filter_map(|(at, _)| text.get(at..at + TEXT_BYTES));
        begins.map(str::parse::<Self>).any(|token| token.is_ok())
    }

    /// Returns the SHA-256 of the whole token, as 64 hex digits.
    pub fn hash(&self) -> String {
        hex(&Sha256::digest(self.text.as_bytes()))
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BearerToken({})", self.id)
    }
}

impl FromStr for BearerToken {
    type Err = InvalidBearerToken;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.split('_');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(PREFIX), Some(id), Some(secret), None) if is_hex(id, ID_BYTES) && is_hex(secret, SECRET_BYTES) => {
                Ok(Self { id: TokenId(id.to_owned()), text: text.to_owned() })
            }
            _ => Err(InvalidBearerToken),
        }
    }
}

/// The record of a token: enough to recognise it, and not enough to use it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccessToken {
    pub id: TokenId,
    /// The SHA-256 of the whole token, as 64 hex digits. 256 random bits need no slower hash.
    pub sha256: String,
    pub name: String,
    /// The source of the evidence that its holder gives. It stays when the token is rotated.
    pub owner: String,
    pub permissions: Permissions,
    pub workspaces: AllowedWorkspaces,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub org: Option<String>,
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
}

/// The state of a token: it may be used, or it has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Expiry {
    Valid,
    Expired,
    Revoked,
}

impl AccessToken {
    pub fn expiry(&self, now: Timestamp) -> Expiry {
        match (self.revoked_at, self.expires_at) {
            (Some(_), _) => Expiry::Revoked,
            (None, Some(at)) if at <= now => Expiry::Expired,
            _ => Expiry::Valid,
        }
    }

    /// Returns the team and the organisation whose memories its holder reads.
    pub fn readers(&self) -> (&Option<String>, &Option<String>) {
        (&self.team, &self.org)
    }

    /// Returns whom the token stands for.
    pub fn principal(&self) -> Principal {
        Principal {
            token: Some(NamedToken { id: self.id.clone(), name: self.name.clone() }),
            owner: self.owner.clone(),
            permissions: self.permissions.clone(),
            workspaces: self.workspaces.clone(),
            team: self.team.clone(),
            org: self.org.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bearer() -> BearerToken {
        BearerToken::of_random([0xab; ID_BYTES], [7; SECRET_BYTES])
    }

    #[test]
    fn a_token_reads_back_and_never_prints_its_secret() {
        let bearer = bearer();
        assert_eq!(bearer.expose(), format!("rb_abababababab_{}", "07".repeat(32)));
        assert_eq!(bearer.expose().parse(), Ok(bearer.clone()));
        assert_eq!(format!("{bearer:?}"), "BearerToken(abababababab)");
        assert_eq!(bearer.hash().len(), 64);
    }

    #[test]
    fn other_texts_are_no_tokens() {
        let good = bearer().expose().to_owned();
        for bad in ["", "rb__", "rb_abababababab_", &good[1..], &good[..good.len() - 1], &good.to_uppercase()] {
            assert_eq!(bad.parse::<BearerToken>(), Err(InvalidBearerToken), "{bad}");
        }
        assert!(format!("{good}_").parse::<BearerToken>().is_err());
    }

    #[test]
    fn a_token_is_found_in_a_text_and_a_name_that_begins_like_one_is_not() {
        let good = bearer().expose().to_owned();
        for text in
            [good.clone(), format!("token={good}&limit=2"), format!("q=token%3D{good}ü"), format!("rbrb_{good}")]
        {
            assert!(BearerToken::stands_in(&text), "{text}");
        }
        for text in ["", "workspace=orb_shop", "rb_", "rb_abababababab_07", &good[..good.len() - 1], "rb_größe"] {
            assert!(!BearerToken::stands_in(text), "{text}");
        }
    }

    #[test]
    fn a_token_ends_when_it_expires_or_is_revoked() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let token = AccessToken {
            id: bearer().id().clone(),
            sha256: bearer().hash(),
            name: "ci".into(),
            owner: "ci".into(),
            permissions: Permissions::all(),
            workspaces: AllowedWorkspaces::All,
            team: None,
            org: None,
            created_at: at(0),
            expires_at: Some(at(10)),
            revoked_at: None,
        };
        assert_eq!([at(9), at(10)].map(|now| token.expiry(now)), [Expiry::Valid, Expiry::Expired]);
        let revoked = AccessToken { revoked_at: Some(at(5)), ..token.clone() };
        assert_eq!(revoked.expiry(at(6)), Expiry::Revoked);
        let named = NamedToken { id: token.id.clone(), name: "ci".into() };
        assert_eq!(token.principal().token, Some(named), "what it does is noted with it");
        assert_eq!(AccessToken { expires_at: None, ..token }.expiry(at(i64::from(u32::MAX))), Expiry::Valid);
    }
}
