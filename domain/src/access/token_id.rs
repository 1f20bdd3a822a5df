//! The public part of a token, by which people and logs name it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) const ID_BYTES: usize = 6;

/// The public part of a token: 12 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct TokenId(pub(super) String);

impl TokenId {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Says whether a text has the form of an id, which no name may have.
    pub fn is_form_of(text: &str) -> bool {
        is_hex(text, ID_BYTES)
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for TokenId {
    type Error = InvalidBearerToken;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if is_hex(&text, ID_BYTES) { Ok(Self(text)) } else { Err(InvalidBearerToken) }
    }
}

impl From<TokenId> for String {
    fn from(id: TokenId) -> Self {
        id.0
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no token of ReasoningBank: they look like rb_0123456789ab_ and 64 more hex digits")]
pub struct InvalidBearerToken;

/// A token as logs name it, which nobody can use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedToken {
    pub id: TokenId,
    pub name: String,
}

pub(super) fn is_hex(text: &str, bytes: usize) -> bool {
    text.len() == bytes * 2 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}
