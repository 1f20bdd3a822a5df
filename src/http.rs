//! The team daemon's edge: one bank over HTTP, for agents of many people on many machines.
//!
//! A request passes, in this order: `connection` reads it within bounds, of which `connection_shares` and
//! `request_head` are some, `guard` checks the host it was sent to, `auth` finds out who asks, `limits` counts what the token asks for, `request_bodies`
//! reads its body, and `sessions` sees that a session of the protocol is used by the token that opened it. Then the
//! tools of `mcp` answer it, to agents at `/mcp` and to scripts through `api`; `cut_body` breaks a stream off whose token
//! or server ends. `probes` and `metrics` answer those who watch the server, and `problem` is the form of every refusal;
//! `refusals` notes those that may be an attack.

mod api;
mod auth;
mod connection;
mod connection_shares;
mod cut_body;
mod drain_body;
mod guard;
mod limits;
mod metrics;
mod probes;
mod problem;
mod refusals;
mod request_bodies;
mod request_head;
mod sessions;

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::middleware::{from_fn, from_fn_with_state, map_request, map_response};
use axum::response::IntoResponse;
use axum::routing::get;
use reasoning_bank_actors::system::SystemHandle;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::classify::ServerErrorsFailureClass;
use tower_http::request_id::{MakeRequestUuid, PropagateRequestIdLayer, RequestId, SetRequestIdLayer};
use tower_http::trace::{DefaultOnFailure, OnFailure, TraceLayer};
use tracing::{Level, Span};

use crate::audit::AuditLog;
use crate::limits::TokenLimits;
use crate::mcp::{self, HttpRoute, McpOptions};
use crate::metrics::{Scraper, ServerMetrics};
use crate::settings::{HttpSection, MetricsAccess};
use crate::tokens::{FirstTokenError, TokenRegistry, TokensError};
pub(crate) use api::ApiRoutes;
use auth::Authenticator;
use connection::{Bounds, ConnectionAnswers};
use cut_body::LAST_WORDS;
use guard::AllowedHosts;
use limits::LimitedRequests;
use metrics::{MetricsReaders, MetricsRoute};
use probes::Readiness;
use problem::Problem;
use refusals::RefusalNotes;
use request_bodies::BodyPlaces;
use sessions::SessionOwners;

/// Requests in work may take this long to end once the server was asked to. Then they are cancelled.
const DRAIN: Duration = Duration::from_secs(5);
/// A token that was revoked keeps what it has open at most about this long.
const REVOCATION_CHECK: Duration = Duration::from_millis(500);

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Tokens(#[from] TokensError),
    #[error(transparent)]
    FirstToken(#[from] FirstTokenError),
    #[error("{0} cannot be listened on: {1}")]
    Listen(SocketAddr, io::Error),
    #[error("the audit log cannot be written to: {0}")]
    Audit(io::Error),
    #[error("{0} is to be reached from elsewhere, and there is no token")]
    NoToken(SocketAddr),
    #[error("{0} is not this machine alone, and tokens would cross the network unencrypted")]
    Unencrypted(SocketAddr),
}

impl ServeError {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Tokens(_) | Self::FirstToken(FirstTokenError::Tokens(_)) => {
                "check the file, or restore it from a backup"
            }
            Self::FirstToken(_) => {
                "let it name a readable file with one line: rb_, 12 hex digits, _ and 64 hex digits, all in lower case; \
                 echo \"rb_$(openssl rand -hex 6)_$(openssl rand -hex 32)\" makes one"
            }
            Self::Audit(_) => "check that the data directory is writable and has space",
            Self::Listen(..) => "choose another address: --listen 127.0.0.1:8788",
            Self::NoToken(_) => {
                "make one first: reasoning-bank token create NAME --all-workspaces; in a container, let \
                 REASONING_BANK_BOOTSTRAP_TOKEN_FILE name a file with one"
            }
            Self::Unencrypted(_) => {
                "put a proxy with TLS before it and say so (http.behind_proxy = true), or accept it (http.insecure = true)"
            }
        }
    }
}

/// A daemon that has its address, and does not answer yet.
pub struct Daemon {
    data_dir: PathBuf,
    listener: TcpListener,
    address: SocketAddr,
    allowed: Arc<AllowedHosts>,
    tokens: Arc<TokenRegistry>,
    authenticator: Authenticator,
    audit: AuditLog,
    metrics_readers: MetricsReaders,
    limits: TokenLimits,
    behind_proxy: bool,
}

impl Daemon {
    /// Takes the address. Beyond this machine it does so only where tokens exist and do not cross a network
    /// unencrypted.
    ///
    /// # Errors
    /// The address is taken, the file of tokens cannot be read, or the server would be open to others.
    pub async fn bind(options: &HttpSection, data_dir: &Path) -> Result<Self, ServeError> {
        let tokens = Arc::new(TokenRegistry::open(data_dir)?);
        let has_tokens = tokens.has_tokens()?;
        let is_reached_from_elsewhere =
            !options.listen.ip().is_loopback() || options.behind_proxy || !options.allowed_hosts.is_empty();
        if is_reached_from_elsewhere && !has_tokens {
            return Err(ServeError::NoToken(options.listen));
        }
        if !options.listen.ip().is_loopback() && !options.behind_proxy && !options.insecure {
            return Err(ServeError::Unencrypted(options.listen));
        }
        let failed = |error| ServeError::Listen(options.listen, error);
        let listener = TcpListener::bind(options.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let allowed = Arc::new(AllowedHosts::new(address, &options.allowed_hosts));
        let authenticator = Authenticator::new(Arc::clone(&tokens));
        let audit = AuditLog::open(data_dir).map_err(ServeError::Audit)?;
        let metrics_readers = match options.metrics {
            MetricsAccess::Open => MetricsReaders::Everybody,
            MetricsAccess::Token if is_reached_from_elsewhere => MetricsReaders::TokenHolders,
            MetricsAccess::Token => MetricsReaders::ThisMachine,
        };
        let limits = TokenLimits::new(options, data_dir);
        let (data_dir, behind_proxy) = (data_dir.to_owned(), options.behind_proxy);
        Ok(Self {
            data_dir,
            listener,
            address,
            allowed,
            tokens,
            authenticator,
            audit,
            metrics_readers,
            limits,
            behind_proxy,
        })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Says whether every request needs a token. Without tokens every user of this machine has the bank.
    pub fn needs_token(&self) -> bool {
        self.authenticator.needs_token()
    }

    /// Returns the limits of tokens, which may change while the daemon serves.
    pub(crate) fn limits(&self) -> TokenLimits {
        self.limits.clone()
    }

    /// Serves until `end` is cancelled, and then until the requests in work have ended, within a bound.
    pub async fn serve(self, system: SystemHandle, options: McpOptions, end: CancellationToken) {
        let metrics = Arc::<ServerMetrics>::default();
        let server = mcp::Server::http(system.clone(), options, self.audit.clone(), Arc::clone(&metrics));
        let route = mcp::http_route(server.clone());
        let api = ApiRoutes::new(server, &self.data_dir, &self.audit);
        self.serve_route(system, route, api, metrics, end).await;
    }

    /// Serves the protocol at one route and the API at others, both behind the same checks, as `serve` does.
    pub(crate) async fn serve_route(
        self,
        system: SystemHandle,
        route: HttpRoute,
        api: ApiRoutes,
        metrics: Arc<ServerMetrics>,
        end: CancellationToken,
    ) {
        let draining = Arc::new(AtomicBool::new(false));
        let HttpRoute { router: protocol, sessions, end_of_sessions } = route;
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        // A call that is cancelled answers through its session, which ends after that.
        tokio::spawn(async move {
            stopped.cancelled().await;
            tokio::time::sleep(LAST_WORDS).await;
            end_of_sessions.cancel();
        });
        let ApiRoutes { held, streamed, work } = api;
        let owners = Arc::new(SessionOwners::new(sessions, end.clone(), stop.clone()));
        let limited = LimitedRequests { limits: self.limits, metrics: Arc::clone(&metrics) };
        let watched = MetricsRoute {
            scraper: Scraper::new(system.clone(), Arc::clone(&metrics)),
            authenticator: self.authenticator.clone(),
            owners: Arc::clone(&owners),
            readers: self.metrics_readers,
            limited: limited.clone(),
        };
        let watched = get(metrics::metrics)
            .fallback(read_only)
            .with_state(watched)
            .layer(from_fn_with_state(Arc::clone(&self.allowed), guard::check));
        let protected = protocol
            .layer(map_response(problem::documented))
            .merge(held)
            .layer(from_fn_with_state(BodyPlaces::new(), request_bodies::read_whole))
            .merge(streamed)
            .layer(from_fn_with_state(Arc::clone(&owners), sessions::bind))
            .layer(from_fn_with_state(limited, limits::limit))
            .layer(from_fn_with_state(self.authenticator.clone(), auth::authenticate))
            .layer(from_fn_with_state(Arc::clone(&self.allowed), guard::check));
        let readiness = Readiness::new(system, Arc::clone(&self.tokens), Arc::clone(&draining));
        let refusals = RefusalNotes::new(self.audit.clone());
        let probed: Router = Router::new()
            .route("/healthz", get(probes::alive))
            .route("/readyz", get(probes::ready).with_state(readiness))
            .method_not_allowed_fallback(read_only);
        let late = probed
            .clone()
            .fallback(ends)
            .layer(from_fn(problem::headers))
            .layer(PropagateRequestIdLayer::x_request_id())
            .layer(SetRequestIdLayer::x_request_id(MakeRequestUuid))
            .layer(map_request(request_head::without_bad_id))
            .layer(from_fn(drain_body::read_rest));
        let usual = probed
            .route("/metrics", watched)
            .merge(protected)
            .fallback(nothing_here)
            .layer(from_fn(request_head::bounded))
            .layer(from_fn(problem::headers))
            .layer(CatchPanicLayer::custom(|_panic| Problem::internal().into_response()))
            .layer(from_fn_with_state(refusals.clone(), refusals::note))
            .layer(from_fn_with_state(metrics, metrics::timed))
            .layer(TraceLayer::new_for_http().make_span_with(span).on_failure(log_failure))
            .layer(PropagateRequestIdLayer::x_request_id())
            .layer(SetRequestIdLayer::x_request_id(MakeRequestUuid))
            .layer(map_request(request_head::without_bad_id))
            .layer(from_fn(drain_body::read_rest));
        let watch = tokio::spawn(sessions::watch(owners, self.tokens, self.authenticator, REVOCATION_CHECK));
        let bounds = Bounds { behind_proxy: self.behind_proxy, drain: DRAIN };
        connection::serve(self.listener, ConnectionAnswers { usual, late }, work, end, draining, stop, bounds).await;
        watch.abort();
        refusals.end_minute().await;
        self.audit.sync().await;
    }
}

async fn nothing_here() -> Problem {
    let hint = "agents go to /mcp; /api/v1/openapi.json describes the routes for scripts";
    Problem::new(StatusCode::NOT_FOUND, "not_found", "there is nothing at this path", hint)
}

async fn read_only() -> Problem {
    Problem::no_method("send GET: this path is only read")
}

async fn ends() -> Problem {
    Problem::ending()
}

/// Opens the span of a request. It names the path and never the query or a header, which may hold secrets.
fn span(request: &Request<Body>) -> Span {
    let id = request.extensions().get::<RequestId>().and_then(|id| id.header_value().to_str().ok());
    let (method, path) = (request.method(), request.uri().path());
    tracing::info_span!("http", request_id = id.unwrap_or_default(), %method, path)
}

/// Logs an answer that tells of a fault of the server. A refusal to be tried again is none.
fn log_failure(class: ServerErrorsFailureClass, latency: Duration, span: &Span) {
    let level = match class {
        ServerErrorsFailureClass::StatusCode(StatusCode::SERVICE_UNAVAILABLE) => Level::DEBUG,
        _ => Level::ERROR,
    };
    DefaultOnFailure::new().level(level).on_failure(class, latency, span);
}
