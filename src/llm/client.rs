//! The connection to a provider: it sends one request and reads one bounded JSON answer. The two APIs decide what
//! stands in either.

use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url, redirect};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::failure::{FailureClass, ProviderFailure};
use super::redaction::Redaction;
use super::wire::{MAX_VALUES, has_too_many_values};
use crate::hosts::is_this_machine;

const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// The bound is far above the longest answer of a model. A larger body is no answer.
const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;
/// This much is read of the reason of a refusal, and for this long: the status says enough where the reason goes on.
const MAX_REASON_BYTES: usize = 256 * 1024;
const REASON_LIMIT: Duration = Duration::from_secs(5);

/// The address of a provider, and what it is told about the caller.
#[derive(Debug, Clone)]
pub struct Connection {
    /// The URL is `http` or `https`, without the path of an API.
    pub base_url: Url,
    pub key: Option<SecretString>,
    /// The provider is told which program is calling.
    pub attributed: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("no connection to a model can be made: {0}")]
    Setup(String),
    #[error("the key of the provider holds characters that no key has")]
    Key,
}

/// A client that is cheap to clone. Clones share their connections.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base_url: Url,
    key: Redaction,
}

/// Chooses the provider of cryptography. It must be called before anything makes a TLS connection: two providers are in
/// the tree, and rustls does not choose.
pub fn use_ring() {
    // Fails when it is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

impl Client {
    /// Makes a client for a connection.
    ///
    /// # Errors
    /// The system's certificates cannot be read, or the key does not fit into a header.
    pub fn new(connection: Connection) -> Result<Self, ClientError> {
        use_ring();
        let Connection { base_url, key, attributed } = connection;
        let mut headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
        if let Some(key) = &key {
            let bearer = format!("Bearer {}", key.expose_secret());
            let mut bearer = HeaderValue::from_str(&bearer).map_err(|_| ClientError::Key)?;
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        if attributed {
            headers.insert(HeaderName::from_static("x-openrouter-title"), HeaderValue::from_static("ReasoningBank"));
        }
        let mut builder = reqwest::Client::builder()
            .connect_timeout(CONNECT_LIMIT)
            .default_headers(headers)
            .redirect(redirect::Policy::none())
            .user_agent(concat!("reasoning-bank/", env!("CARGO_PKG_VERSION")));
        if base_url.scheme() == "http" {
            // No certificates are needed, so a machine without any will do.
            builder = builder.tls_certs_only([]);
        }
        // A proxy reads all of what goes through it by http. By https it sees the host alone.
        let is_readable_key = base_url.scheme() == "http" && key.is_some();
        if is_readable_key || is_this_machine(&base_url) {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|error| ClientError::Setup(root_cause(&error)))?;
        Ok(Self { http, base_url, key: Redaction::of(key) })
    }

    /// Returns what takes the key out of whatever is shown of an answer.
    pub(super) fn redaction(&self) -> &Redaction {
        &self.key
    }

    pub(super) async fn post(&self, path: &[&str], body: &impl Serialize) -> Result<Value, ProviderFailure> {
        self.send(self.http.request(Method::POST, self.url(path)).json(body)).await
    }

    pub(super) async fn get(&self, path: &[&str]) -> Result<Value, ProviderFailure> {
        self.send(self.http.request(Method::GET, self.url(path))).await
    }

    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.base_url.clone();
        // An http URL has a path that can be added to.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<Value, ProviderFailure> {
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        if !status.is_success() {
            return Err(ProviderFailure::of_response(status.as_u16(), &headers, &reason(response).await));
        }
        let body = answer(response).await?;
        if has_too_many_values(&body) {
            return Err(ProviderFailure::new(
                FailureClass::Unreadable,
                format!("the answer has more than {MAX_VALUES} JSON values"),
            ));
        }
        serde_json::from_slice(&body)
            .map_err(|error| ProviderFailure::new(FailureClass::Transient, format!("the answer is no JSON: {error}")))
    }

    fn unreachable(&self, error: &reqwest::Error) -> ProviderFailure {
        let host = self.base_url.host_str().unwrap_or_default();
        ProviderFailure::new(FailureClass::Transient, format!("{host} gave no answer: {}", root_cause(error)))
    }
}

async fn answer(mut response: reqwest::Response) -> Result<Vec<u8>, ProviderFailure> {
    let too_large = || {
        let mebibytes = MAX_BODY_BYTES >> 20;
        ProviderFailure::new(FailureClass::Unreadable, format!("the answer has more than {mebibytes} MiB"))
    };
    if response.content_length().is_some_and(|length| length > MAX_BODY_BYTES as u64) {
        return Err(too_large());
    }
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() > MAX_BODY_BYTES => return Err(too_large()),
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return Ok(body),
            Err(error) => return Err(broken_off(&error)),
        }
    }
}

/// Reads as much of a refusal as comes in time.
async fn reason(mut response: reqwest::Response) -> Vec<u8> {
    let until = Instant::now() + REASON_LIMIT;
    let mut body = Vec::new();
    while body.len() < MAX_REASON_BYTES {
        match timeout_at(until, response.chunk()).await {
            Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
            Ok(Err(error)) if body.is_empty() => return broken_off(&error).message.into_bytes(),
            Ok(Ok(None) | Err(_)) | Err(_) => break,
        }
    }
    body.truncate(MAX_REASON_BYTES);
    body
}

fn broken_off(error: &reqwest::Error) -> ProviderFailure {
    ProviderFailure::new(
        FailureClass::Transient,
        format!("the connection ended within the answer: {}", root_cause(error)),
    )
}

/// Returns the innermost cause without the URL, whose query may hold a secret.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    if cause.is::<reqwest::Error>() { "the request failed".to_owned() } else { cause.to_string() }
}
