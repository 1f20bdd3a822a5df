//! The authentication of requests. The token of a request is looked up anew each time, and the principal that it stands
//! for goes with the request to the tool.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use reasoning_bank_domain::access::{AllowedWorkspaces, BearerToken, Permissions, Principal, TokenId};

use super::problem::Problem;
use crate::tokens::{OPEN_OWNER, TokenRegistry};

/// The token that a request was let in with. There is none where the server is open to this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UsedToken(pub(super) Option<TokenId>);

/// The headers that proxies add to a request, beside those that begin with [`FORWARDED_PREFIX`]. A request with one comes
/// from elsewhere, not from a user of this machine.
const FORWARDED: [&str; 6] = ["forwarded", "via", "x-real-ip", "x-client-ip", "cf-connecting-ip", "true-client-ip"];
const FORWARDED_PREFIX: &str = "x-forwarded-";

pub(super) fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.keys().map(HeaderName::as_str).any(|name| FORWARDED.contains(&name) || name.starts_with(FORWARDED_PREFIX))
}

/// Lets requests in, or not.
#[derive(Clone)]
pub(super) struct Authenticator {
    tokens: Arc<TokenRegistry>,
}

impl Authenticator {
    pub(super) fn new(tokens: Arc<TokenRegistry>) -> Self {
        Self { tokens }
    }

    /// Says whether every request needs a token.
    pub(super) fn needs_token(&self) -> bool {
        self.tokens.has_tokens().unwrap_or(true)
    }

    /// Finds out who sends a request, or why it is refused.
    pub(super) fn principal(&self, request: &Request) -> Result<(UsedToken, Principal), Problem> {
        let uri = request.uri();
        if [Some(uri.path()), uri.query()].into_iter().flatten().any(BearerToken::stands_in) {
            let problem = "a token does not belong into a URL, which logs keep";
            let hint =
                "send it in the header Authorization: Bearer rb_…, and replace the one that was sent: `token rotate`";
            return Err(Problem::new(StatusCode::BAD_REQUEST, "invalid_argument", problem, hint));
        }
        if !self.needs_token() {
            if is_forwarded(request.headers()) {
                return Err(Problem::unauthenticated());
            }
            return Ok((UsedToken(None), everybody_here()));
        }
        let bearer = bearer(request.headers()).ok_or_else(Problem::unauthenticated)?;
        match self.tokens.find(&bearer, Timestamp::now()) {
            Ok(Some(token)) => Ok((UsedToken(Some(token.id.clone())), token.principal())),
            Ok(None) => Err(Problem::unauthenticated()),
            Err(error) => {
                tracing::error!(%error, "nobody is let in");
                Err(Problem::tokens_unusable())
            }
        }
    }
}

/// Returns the principal of a server that is open to every user of this machine.
fn everybody_here() -> Principal {
    let (owner, permissions) = (OPEN_OWNER.to_owned(), Permissions::all());
    Principal { token: None, owner, permissions, workspaces: AllowedWorkspaces::All, team: None, org: None }
}

pub(super) fn bearer(headers: &HeaderMap) -> Option<BearerToken> {
    let mut sent = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(sent), None) = (sent.next(), sent.next()) else { return None };
    let (scheme, token) = sent.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().parse().ok()).flatten()
}

pub(super) async fn authenticate(State(own): State<Authenticator>, mut request: Request, next: Next) -> Response {
    match own.principal(&request) {
        Ok((used, principal)) => {
            request.extensions_mut().insert(used);
            request.extensions_mut().insert(Arc::new(principal));
            // Nothing below needs the secret.
            request.headers_mut().remove(header::AUTHORIZATION);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_bearer_token_is_one() {
        let token = format!("rb_0123456789ab_{}", "0".repeat(64));
        let found = |values: &[String]| {
            let mut headers = HeaderMap::new();
            values.iter().for_each(|value| {
                headers.append(header::AUTHORIZATION, value.parse().unwrap());
            });
            bearer(&headers).is_some()
        };
        assert!(found(&[format!("Bearer {token}")]));
        assert!(found(&[format!("bearer  {token}")]));
        assert!(!found(&[]));
        assert!(!found(&[format!("Basic {token}")]));
        assert!(!found(std::slice::from_ref(&token)));
        assert!(!found(&[format!("Bearer {token}"), format!("Bearer {token}")]));
    }
}
