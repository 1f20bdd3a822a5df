//! The sessions of the protocol's revisions with a handshake, each with the token that opened it. Nobody else can use
//! it, a token has a bounded number, and those of a token that was revoked are closed.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::HttpBody;
use axum::extract::{Extension, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use reasoning_bank_domain::access::TokenId;
use tokio_util::sync::CancellationToken;

use super::auth::{Authenticator, UsedToken};
use super::cut_body::{self, LAST_WORDS};
use super::problem::Problem;
use crate::mcp::{self, HttpSessions, RequestEnd, SESSION_HEADER, is_stateless};
use crate::tokens::TokenRegistry;

/// A token has at most this many sessions. For one more, the one that was not used for longest is closed: many clients
/// never close theirs.
const MAX_SESSIONS: usize = 50;

/// Whose each session is, and what ends when a token is revoked.
pub(super) struct SessionOwners {
    sessions: HttpSessions,
    owned: Mutex<Owned>,
    /// Cancelled when the server is asked to end. A stream that waits for news of a session does not outlive it.
    end: CancellationToken,
    /// Cancelled when the server waits no longer for the calls in work.
    stop: CancellationToken,
}

#[derive(Default)]
struct Owned {
    by_session: HashMap<String, OwnedSession>,
    /// Cancelled when the token is revoked or has expired.
    ends: HashMap<Option<TokenId>, CancellationToken>,
}

struct OwnedSession {
    owner: UsedToken,
    used: Instant,
}

impl SessionOwners {
    pub(super) fn new(sessions: HttpSessions, end: CancellationToken, stop: CancellationToken) -> Self {
        Self { sessions, owned: Mutex::default(), end, stop }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Owned) -> T) -> T {
        work(&mut self.owned.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the end of the requests of a token.
    fn end_of(&self, used: &UsedToken) -> RequestEnd {
        let end =
            |owned: &mut Owned| owned.ends.entry(used.0.clone()).or_insert_with(|| self.stop.child_token()).clone();
        RequestEnd::new(self.with(end), self.stop.clone())
    }

    /// Counts the sessions that are open.
    pub(super) fn open(&self) -> usize {
        self.with(|owned| owned.by_session.len())
    }

    /// Notes that a session is used, and says whether it is the token's own.
    fn uses(&self, session: &str, used: &UsedToken) -> bool {
        self.with(|owned| match owned.by_session.get_mut(session) {
            Some(known) if known.owner == *used => {
                known.used = Instant::now();
                true
            }
            _ => false,
        })
    }

    /// Notes whose a new session is, and closes the one that was not used for longest where there are too many.
    async fn opened(&self, session: String, used: UsedToken) {
        let closed = self.with(|owned| {
            let own = owned.by_session.iter().filter(|(_, known)| known.owner == used);
            let own: Vec<(Instant, String)> = own.map(|(session, known)| (known.used, session.clone())).collect();
            let longest_unused = if own.len() < MAX_SESSIONS { None } else { own.into_iter().min() };
            let closed = longest_unused.map(|(_, session)| session);
            if let Some(closed) = &closed {
                owned.by_session.remove(closed);
            }
            owned.by_session.insert(session, OwnedSession { owner: used, used: Instant::now() });
            closed
        });
        if let Some(closed) = closed {
            self.sessions.close(&closed).await;
        }
    }

    /// Ends all that tokens have open that are not valid any more.
    async fn end_those(&self, is_over: impl Fn(&Option<TokenId>) -> bool) {
        let ended: Vec<String> = self.with(|owned| {
            let owners = owned.by_session.values().map(|known| &known.owner.0);
            let over: HashSet<Option<TokenId>> =
                owned.ends.keys().chain(owners).filter(|id| is_over(id)).cloned().collect();
            for id in &over {
                if let Some(end) = owned.ends.remove(id) {
                    end.cancel();
                }
            }
            let mut ended = Vec::new();
            owned.by_session.retain(|session, known| {
                let stays = !over.contains(&known.owner.0);
                if !stays {
                    ended.push(session.clone());
                }
                stays
            });
            ended
        });
        if !ended.is_empty() {
            // A call that is cancelled answers through its session.
            tokio::time::sleep(LAST_WORDS).await;
        }
        for session in ended {
            self.sessions.close(&session).await;
        }
    }
}

/// Lets a request to its session, if the session is its own, and notes whose a new session is.
pub(super) async fn bind(
    State(own): State<Arc<SessionOwners>>,
    Extension(used): Extension<UsedToken>,
    mut request: Request,
    next: Next,
) -> Response {
    if is_stateless(request.headers()) {
        request.headers_mut().remove(SESSION_HEADER);
    }
    let named = request.headers().get(SESSION_HEADER).map(|session| session.to_str().unwrap_or_default().to_owned());
    if named.as_ref().is_some_and(|session| !own.uses(session, &used)) {
        return Problem::no_session().into_response();
    }
    let (method, end) = (request.method().clone(), own.end_of(&used));
    // A client that listens for news has asked for nothing else. All other streams are answers.
    let is_news = request.uri().path() == mcp::PATH && mcp::listens(&method, request.headers());
    request.extensions_mut().insert(end.clone());
    let mut response = tokio::select! {
        by = end.reached() => return Problem::from(by).into_response(),
        response = next.run(request) => response,
    };
    if let Some(session) = response.headers().get(SESSION_HEADER).and_then(|session| session.to_str().ok())
        && named.is_none()
    {
        own.opened(session.to_owned(), used).await;
    }
    if let Some(session) = &named
        && method == Method::DELETE
        && response.status().is_success()
    {
        own.with(|owned| owned.by_session.remove(session));
        // There is no body that could be on its way, which the status 202 would say.
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    if response.body().size_hint().exact().is_some() {
        // The answer is whole, and keeps its Content-Length.
        return response;
    }
    let server_ends = own.end.clone();
    let over = async move {
        tokio::select! {
            _ = end.reached() => {}
            () = server_ends.cancelled(), if is_news => {}
        }
        if !is_news {
            tokio::time::sleep(LAST_WORDS).await;
        }
    };
    response.map(|body| cut_body::until(body, over, is_news))
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
