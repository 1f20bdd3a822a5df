//! The sessions of the protocol's revisions with a handshake, each with the token that opened it. Nobody else can use it,
//! a token has a bounded number, and those of a token that was revoked are closed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use jiff::Timestamp;
use reasoning_bank_domain::access::TokenId;
use tokio_util::sync::CancellationToken;

use super::auth::{Authenticator, UsedToken};
use super::problem::Problem;
use crate::mcp::HttpSessions;
use crate::tokens::TokenRegistry;

const SESSION_HEADER: &str = "mcp-session-id";
/// A token has at most this many sessions.
const MAX_SESSIONS: usize = 50;

/// Whose each session is, and what ends when a token is revoked.
pub(super) struct SessionOwners {
    sessions: HttpSessions,
    owned: Mutex<Owned>,
}

#[derive(Default)]
struct Owned {
    by_session: HashMap<String, UsedToken>,
    /// Cancelled when the token is revoked or has expired.
    ends: HashMap<Option<TokenId>, CancellationToken>,
}

impl SessionOwners {
    pub(super) fn new(sessions: HttpSessions) -> Self {
        Self { sessions, owned: Mutex::default() }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Owned) -> T) -> T {
        work(&mut self.owned.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns what is cancelled when the token ends.
    fn end_of(&self, used: &UsedToken) -> CancellationToken {
        self.with(|owned| owned.ends.entry(used.0.clone()).or_default().clone())
    }

    fn is_owner(&self, session: &str, used: &UsedToken) -> bool {
        self.with(|owned| owned.by_session.get(session) == Some(used))
    }

    /// Says whether the token may open one more session. Sessions that have ended are forgotten first.
    async fn has_room(&self, used: &UsedToken) -> bool {
        let count = |owned: &mut Owned| owned.by_session.values().filter(|owner| *owner == used).count();
        if self.with(count) < MAX_SESSIONS {
            return true;
        }
        self.forget_ended().await;
        self.with(count) < MAX_SESSIONS
    }

    async fn forget_ended(&self) {
        let living = self.sessions.living().await;
        self.with(|owned| owned.by_session.retain(|session, _| living.contains(session)));
    }

    /// Ends all that tokens have open that are not valid any more.
    async fn end_those(&self, is_over: impl Fn(&Option<TokenId>) -> bool) {
        let ended: Vec<String> = self.with(|owned| {
            let over: Vec<Option<TokenId>> = owned.ends.keys().filter(|id| is_over(id)).cloned().collect();
            for id in &over {
                if let Some(end) = owned.ends.remove(id) {
                    end.cancel();
                }
            }
            let mut ended = Vec::new();
            owned.by_session.retain(|session, owner| {
                let stays = !over.contains(&owner.0);
                if !stays {
                    ended.push(session.clone());
                }
                stays
            });
            ended
        });
        for session in ended {
            self.sessions.close(&session).await;
        }
    }
}

/// Lets a request to its session, if the session is its own, and notes whose a new session is.
pub(super) async fn bind(
    State(own): State<Arc<SessionOwners>>,
    Extension(used): Extension<UsedToken>,
    request: Request,
    next: Next,
) -> Response {
    let gone = || Problem::new(StatusCode::NOT_FOUND, "not_found", "there is no such session");
    match request.headers().get(SESSION_HEADER).map(|session| session.to_str().map(str::to_owned)) {
        Some(Ok(session)) if !own.is_owner(&session, &used) => return gone().into_response(),
        Some(Err(_)) => return gone().into_response(),
        Some(Ok(_)) => {}
        None if !own.has_room(&used).await => {
            let problem = format!("this token has {MAX_SESSIONS} sessions open already");
            let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "overloaded", problem);
            return problem.retry_after(60).into_response();
        }
        None => {}
    }
    let end = own.end_of(&used);
    let response = next.run(request).await;
    if let Some(session) = response.headers().get(SESSION_HEADER).and_then(|session| session.to_str().ok()) {
        own.with(|owned| owned.by_session.insert(session.to_owned(), used));
    }
    // Dropping the rest of a stream is what tells the server that its client is gone.
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(end.cancelled_owned())))
}

/// Ends what tokens have open, soon after they were revoked or have expired.
pub(super) async fn watch(
    own: Arc<SessionOwners>,
    tokens: Arc<TokenRegistry>,
    authenticator: Authenticator,
    every: Duration,
) {
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        ticks.tick().await;
        let (now, needs_token) = (Timestamp::now(), authenticator.needs_token());
        own.end_those(|id| match id {
            Some(id) => !tokens.is_valid(id, now),
            None => needs_token,
        })
        .await;
    }
}
