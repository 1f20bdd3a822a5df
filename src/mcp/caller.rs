//! Who makes a call, and from where. What a call may see and do follows from that alone, never from what it says itself.

use std::sync::Arc;

use axum::http::HeaderMap;
use axum::http::request::Parts;
use reasoning_bank_actors::error::Error;
use reasoning_bank_domain::access::{Permission, Principal};
use reasoning_bank_domain::memory::workspace::{InvalidWorkspaceKey, WorkspaceKey};
use rmcp::RoleServer;
use rmcp::service::RequestContext;

use super::binding::SessionBinding;

/// The header of a request that names the workspace that it is for, by its key.
pub(crate) const WORKSPACE_HEADER: &str = "x-workspace";

/// The end of a server at which its clients are.
#[derive(Debug)]
pub(super) enum ServerEnd {
    /// One client of the user, over stdio.
    Stdio {
        binding: SessionBinding,
        /// The session names this process in what it reports.
        session: String,
    },
    /// Clients over the network. Whoever each is was found out before its request came here.
    Http,
}

/// The caller of one call.
pub(super) enum Caller<'a> {
    /// The user of this machine. He reads and writes whatever his own configuration lets him.
    User { binding: &'a SessionBinding, session: &'a str },
    /// The holder of a token. Paths mean nothing to him, and his rights are those of the token.
    Holder { principal: Arc<Principal>, key: Option<WorkspaceKey> },
}

impl ServerEnd {
    /// Returns the caller of a request.
    ///
    /// # Errors
    /// Over the network: nobody found out who asks, which is a bug, or the header that names the workspace is no key.
    pub(super) fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller<'_>, Error> {
        match self {
            Self::Stdio { binding, session } => Ok(Caller::User { binding, session }),
            Self::Http => {
                let parts = context.extensions.get::<Parts>();
                let principal = parts.and_then(|parts| parts.extensions.get::<Arc<Principal>>());
                let (Some(parts), Some(principal)) = (parts, principal) else {
                    return Err(Error::internal("a request came without a principal"));
                };
                Ok(Caller::Holder { principal: Arc::clone(principal), key: key_of(&parts.headers)? })
            }
        }
    }
}

impl Caller<'_> {
    pub(super) fn may(&self, permission: Permission) -> bool {
        match self {
            Self::User { .. } => true,
            Self::Holder { principal, .. } => principal.may(permission),
        }
    }

    /// Returns the source of the evidence that this caller gives: what comes from one source counts once.
    pub(super) fn source(&self) -> &str {
        match self {
            Self::User { session, .. } => session,
            Self::Holder { principal, .. } => &principal.owner,
        }
    }
}

/// Reads the key of the workspace from the headers of a request.
fn key_of(headers: &HeaderMap) -> Result<Option<WorkspaceKey>, Error> {
    let invalid = |_| Error::invalid("X-Workspace", InvalidWorkspaceKey.to_string());
    let mut named = headers.get_all(WORKSPACE_HEADER).iter();
    let Some(header) = named.next() else { return Ok(None) };
    if named.next().is_some() {
        return Err(Error::invalid("X-Workspace", "must be there once at most"));
    }
    let text = std::str::from_utf8(header.as_bytes()).map_err(|_| invalid(InvalidWorkspaceKey))?;
    text.trim().parse().map(Some).map_err(invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_names_one_workspace_or_none() {
        let headers = |values: &[&'static [u8]]| {
            let mut headers = HeaderMap::new();
            values.iter().for_each(|value| {
                headers.append(WORKSPACE_HEADER, value.to_vec().try_into().unwrap());
            });
            headers
        };
        assert_eq!(key_of(&headers(&[])), Ok(None));
        let key = key_of(&headers(&["git:example.org/größe".as_bytes()])).unwrap().unwrap();
        assert_eq!(key.as_str(), "git:example.org/größe");
        for bad in [&[b"".as_slice()] as &[_], &[b"a", b"a"], &[b"\xff"]] {
            assert!(key_of(&headers(bad)).is_err(), "{bad:?}");
        }
    }
}
