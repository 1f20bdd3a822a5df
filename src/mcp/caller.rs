//! The caller of each call, and where the call comes from. Its rights follow from that alone, never from what it says
//! itself.

use std::num::NonZero;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::request::Parts;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::StoreError;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::access::{ClientSession, Permission, Principal};
use reasoning_bank_domain::memory::workspace::{InvalidWorkspaceKey, WorkspaceKey};
use rmcp::transport::common::http_header::HEADER_SESSION_ID;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::binding::SessionBinding;
use crate::audit::AuditLog;
use crate::limits::{RequestLimits, SolvePlace};
use crate::metrics::{AdmissionRefusal, ServerMetrics, TimedCall};

/// The number of calls over the network that are in work at once for each core. A call waits for a disk or for the
/// embedding model most of its time.
const CALLS_PER_CORE: usize = 4;
/// A call waits this long at most for others to end.
const QUEUE_LIMIT: Duration = Duration::from_millis(100);
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// A query over the network waits this long for its vector. A busy model would keep all who ask waiting, where the
/// words of a query find something at once.
const EMBEDDING_TIMEOUT: Duration = Duration::from_millis(150);

/// The end of the time that a request has: when its token ends, or the server. Nothing that it began goes on longer.
#[derive(Debug, Clone)]
pub(crate) struct RequestEnd {
    /// Cancelled when the token ends, or the server.
    end: CancellationToken,
    /// Cancelled when the server ends.
    of_server: CancellationToken,
}

/// The reason why the time of a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndedBy {
    Token,
    Server,
}

impl RequestEnd {
    /// Makes the end of the requests of a token. The one of the token is a child of the one of the server.
    pub(crate) fn new(of_token: CancellationToken, of_server: CancellationToken) -> Self {
        Self { end: of_token, of_server }
    }

    /// Waits for the end, and says why it came.
    pub(crate) async fn reached(&self) -> EndedBy {
        self.end.cancelled().await;
        if self.of_server.is_cancelled() { EndedBy::Server } else { EndedBy::Token }
    }
}

/// The header of a request that names the workspace that it is for, by its key.
pub(crate) const WORKSPACE_HEADER: &str = "x-workspace";

/// The header of a request with the id of its session.
pub(crate) const SESSION_HEADER: &str = HEADER_SESSION_ID;

/// The end of a server at which its clients are.
pub(super) enum ServerEnd {
    /// One client of the user, over stdio.
    Stdio {
        binding: SessionBinding,
        /// The session names this process in what it reports.
        session: String,
    },
    /// Clients over the network. Whoever each is was found out before its request came here.
    Http {
        /// The calls that may be in work at once.
        room: Semaphore,
        audit: AuditLog,
        metrics: Arc<ServerMetrics>,
        /// The work that goes on though its client is gone. The end of the server waits for it.
        work: TaskTracker,
    },
}

/// The caller of one call.
pub(super) enum Caller<'a> {
    /// The user of this machine, who reads and writes whatever their own configuration lets them.
    User { binding: &'a SessionBinding, session: &'a str },
    /// The holder of a token. Paths mean nothing over the network, and the holder's rights are those of the token.
    Holder {
        principal: Arc<Principal>,
        key: Option<WorkspaceKey>,
        end: RequestEnd,
        limits: RequestLimits,
        /// The session of the protocol, in the revisions that have some.
        conversation: Option<String>,
    },
}

impl ServerEnd {
    /// Makes the end of a server for one client of the user, whose session is bound to a workspace or will be.
    pub(super) fn stdio(workspace: Option<WorkspaceRef>) -> Self {
        Self::Stdio { binding: SessionBinding::new(workspace), session: Uuid::now_v7().to_string() }
    }

    /// Makes the end of a server for clients over the network.
    pub(super) fn http(audit: AuditLog, metrics: Arc<ServerMetrics>) -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        Self::Http { room: Semaphore::new(CALLS_PER_CORE * cores), audit, metrics, work: TaskTracker::new() }
    }

    /// Returns the work that the end of the server waits for. Over stdio nobody does.
    pub(super) fn work(&self) -> Option<&TaskTracker> {
        match self {
            Self::Stdio { .. } => None,
            Self::Http { work, .. } => Some(work),
        }
    }

    /// Begins to time a call of a tool, where calls are counted.
    pub(super) fn timed(&self, tool: &'static str) -> Option<TimedCall<'_>> {
        match self {
            Self::Stdio { .. } => None,
            Self::Http { metrics, .. } => Some(metrics.call(tool)),
        }
    }

    /// Lets a call begin, at once or when another one has ended. A caller that would wait long is told to come again:
    /// where more is asked for than can be done, waiting helps nobody.
    ///
    /// # Errors
    /// `Overloaded`.
    pub(super) async fn admit(&self) -> Result<Option<SemaphorePermit<'_>>, Error> {
        let Self::Http { room, metrics, .. } = self else { return Ok(None) };
        match timeout(QUEUE_LIMIT, room.acquire()).await {
            Ok(Ok(permit)) => Ok(Some(permit)),
            _ => {
                metrics.refused(AdmissionRefusal::Busy);
                Err(Error::Overloaded { retry_after: RETRY_AFTER })
            }
        }
    }

    /// Holds a request against the requests that its token has in a second.
    ///
    /// # Errors
    /// `Overloaded`.
    pub(super) fn within_rate(&self, caller: &Caller<'_>) -> Result<(), Error> {
        let (Self::Http { metrics, .. }, Caller::Holder { limits, .. }) = (self, caller) else { return Ok(()) };
        match limits.wait() {
            Some(retry_after) => {
                metrics.refused(AdmissionRefusal::Rate);
                Err(Error::Overloaded { retry_after })
            }
            None => Ok(()),
        }
    }

    /// Holds a call against the limits of its token. A solve takes a place, which is given back at its end.
    ///
    /// # Errors
    /// `Overloaded`.
    pub(super) async fn within_limits(&self, caller: &Caller<'_>, solves: bool) -> Result<Option<SolvePlace>, Error> {
        let (Self::Http { metrics, .. }, Caller::Holder { limits, .. }) = (self, caller) else { return Ok(None) };
        self.within_rate(caller)?;
        if !solves {
            return Ok(None);
        }
        limits.begin_solve().await.inspect_err(|error| match error {
            Error::Overloaded { .. } => metrics.refused(AdmissionRefusal::Solves),
            Error::DailyLimit { .. } => metrics.refused(AdmissionRefusal::ModelTokens),
            _ => {}
        })
    }

    /// Returns the caller of a request. Over the network its head says who asks.
    ///
    /// # Errors
    /// Over the network: nobody found out who asks, which is a bug, or the header that names the workspace is no key.
    pub(super) fn caller(&self, parts: Option<&Parts>) -> Result<Caller<'_>, Error> {
        match self {
            Self::Stdio { binding, session } => Ok(Caller::User { binding, session }),
            Self::Http { .. } => {
                let principal = parts.and_then(|parts| parts.extensions.get::<Arc<Principal>>());
                let end = parts.and_then(|parts| parts.extensions.get::<RequestEnd>());
                let limits = parts.and_then(|parts| parts.extensions.get::<RequestLimits>());
                let (Some(parts), Some(principal), Some(end), Some(limits)) = (parts, principal, end, limits) else {
                    return Err(Error::internal("a request came without a principal"));
                };
                let (principal, end, limits) = (Arc::clone(principal), end.clone(), limits.clone());
                let (key, conversation) = (key_of(&parts.headers)?, conversation_of(&parts.headers));
                Ok(Caller::Holder { principal, key, end, limits, conversation })
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

    /// Returns how long a query waits for its vector before it is searched by its words alone. The one client of a user
    /// has the model to itself, and waits.
    pub(super) fn embedding_timeout(&self) -> Option<Duration> {
        match self {
            Self::User { .. } => None,
            Self::Holder { .. } => Some(EMBEDDING_TIMEOUT),
        }
    }

    /// Returns when the caller may go on no longer: never for the user of this machine.
    pub(super) async fn ended(&self) {
        match self {
            Self::User { .. } => std::future::pending().await,
            Self::Holder { end, .. } => {
                end.reached().await;
            }
        }
    }

    /// Returns an error as the caller may see it. The place where the server keeps its files is nobody's matter over
    /// the network.
    pub(super) fn told(&self, error: Error) -> Error {
        match (self, error) {
            (Self::Holder { .. }, Error::Store(StoreError::Unusable(details) | StoreError::Failed(details))) => {
                let event = Uuid::now_v7();
                tracing::error!(%event, %details, "the store failed");
                StoreError::Failed(format!("the log of the server has the details under {event}")).into()
            }
            (_, error) => error,
        }
    }

    /// Returns who it is, over all teams. Two callers are never the same one: no name of a team or an owner holds a
    /// NUL, and a caller without a team has a blank one.
    pub(super) fn identity(&self) -> String {
        match self {
            Self::User { .. } => String::new(),
            Self::Holder { principal, .. } => {
                format!("{}\0{}", principal.team.as_deref().unwrap_or_default(), principal.owner)
            }
        }
    }

    /// Returns the source of the evidence that this caller gives: what comes from one source counts once.
    pub(super) fn source(&self) -> &str {
        match self {
            Self::User { session, .. } => session,
            Self::Holder { principal, .. } => &principal.owner,
        }
    }

    /// Returns the source of what a session taught that the caller names. The user of this machine knows their
    /// sessions; over the network it is the owner, who could else speak for somebody else.
    pub(super) fn source_of(&self, session: String) -> String {
        match self {
            Self::User { .. } => session,
            Self::Holder { principal, .. } => principal.owner.clone(),
        }
    }

    /// Returns the session that the caller reports and solves in.
    pub(super) fn session(&self) -> ClientSession {
        match self {
            Self::User { session, .. } => ClientSession::from(*session),
            Self::Holder { principal, conversation, .. } => {
                ClientSession { source: principal.owner.clone(), conversation: conversation.clone() }
            }
        }
    }
}

/// Reads the session of the protocol from the headers of a request.
fn conversation_of(headers: &HeaderMap) -> Option<String> {
    headers.get(SESSION_HEADER)?.to_str().ok().map(str::to_owned)
}

/// Reads the key of the workspace from the headers of a request.
fn key_of(headers: &HeaderMap) -> Result<Option<WorkspaceKey>, Error> {
    let invalid = |error: InvalidWorkspaceKey| Error::invalid("X-Workspace", error.to_string());
    let mut named = headers.get_all(WORKSPACE_HEADER).iter();
    let Some(header) = named.next() else { return Ok(None) };
    if named.next().is_some() {
        return Err(Error::invalid("X-Workspace", "must be there once at most"));
    }
    let text = std::str::from_utf8(header.as_bytes()).map_err(|_| invalid(InvalidWorkspaceKey::Form))?;
    WorkspaceKey::chosen(text).map(Some).map_err(invalid)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn the_end_of_a_request_says_whether_its_token_ended_or_the_server() {
        let server = CancellationToken::new();
        let [revoked, other] = [(); 2].map(|()| server.child_token());
        let [of_revoked, of_other] = [&revoked, &other].map(|token| RequestEnd::new(token.clone(), server.clone()));
        assert_eq!(of_revoked.reached().now_or_never(), None);
        revoked.cancel();
        assert_eq!(of_revoked.reached().await, EndedBy::Token);
        assert_eq!(of_other.reached().now_or_never(), None);
        server.cancel();
        assert_eq!(of_other.reached().await, EndedBy::Server);
    }

    #[tokio::test]
    async fn a_call_waits_a_moment_and_is_then_told_to_come_again() {
        let dir = tempfile::tempdir().unwrap();
        let audit = AuditLog::open(dir.path()).unwrap();
        let work = TaskTracker::new();
        let end = ServerEnd::Http { room: Semaphore::new(1), audit, metrics: Arc::default(), work };
        tokio::time::pause();
        let first = end.admit().await.unwrap();
        assert_eq!(end.admit().await.unwrap_err(), Error::Overloaded { retry_after: RETRY_AFTER });
        let (second, ()) = tokio::join!(end.admit(), async {
            tokio::time::sleep(QUEUE_LIMIT / 2).await;
            drop(first);
        });
        assert!(second.is_ok());
        let stdio = ServerEnd::stdio(None);
        assert!(stdio.admit().await.unwrap().is_none(), "one client has all of it");
    }

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
        let bad: [&[&[u8]]; 3] = [&[b""], &[b"a", b"a"], &[b"\xff"]];
        for bad in bad {
            assert!(key_of(&headers(bad)).is_err(), "{bad:?}");
        }
    }
}
