//! The connection to a provider: one request, one bounded JSON answer. What stands in either is the codecs' matter.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url, redirect};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde_json::Value;

use super::failure::{Class, Failure};

const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// Far above the longest answer of a model; a larger one is no answer.
const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;
/// A shorter key is one that a local server wants for form's sake, and may be any word.
const SECRET_KEY_BYTES: usize = 16;

/// Where a provider is and what it wants to be told.
#[derive(Debug, Clone)]
pub struct Connection {
    /// `http` or `https`, without the path of an API.
    pub base_url: Url,
    pub key: Option<SecretString>,
    /// Tell the provider which program is calling.
    pub attributed: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("no connection to a model can be made: {0}")]
    Setup(String),
    #[error("the key of the provider holds characters that no key has")]
    Key,
}

/// Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base_url: Url,
    key: Option<SecretString>,
}

/// To be called before anything makes a TLS connection: two providers of cryptography are in the tree, and rustls does
/// not choose.
pub fn use_ring() {
    // Fails when it is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

impl Client {
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
        if is_loopback(&base_url) {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|error| ClientError::Setup(root_cause(&error)))?;
        Ok(Self { http, base_url, key })
    }

    pub(super) async fn post(&self, path: &[&str], body: &impl Serialize) -> Result<Value, Failure> {
        self.send(self.http.request(Method::POST, self.url(path)).json(body)).await
    }

    pub(super) async fn get(&self, path: &[&str]) -> Result<Value, Failure> {
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

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<Value, Failure> {
        let answer = async {
            let response = request.send().await.map_err(|error| self.unreachable(&error))?;
            let (status, headers) = (response.status(), response.headers().clone());
            let body = read(response).await.map(|body| self.without_secret_key(body));
            if status.is_success() {
                return serde_json::from_slice(&body?)
                    .map_err(|error| Failure::new(Class::Transient, format!("the answer is no JSON: {error}")));
            }
            // The status says enough where the reason did not arrive.
            let body = body.unwrap_or_else(|failure| failure.message.into_bytes());
            Err(Failure::of_response(status.as_u16(), &headers, &body))
        };
        answer.await.map_err(|failure| self.without_key(failure))
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failure {
        let host = self.base_url.host_str().unwrap_or_default();
        Failure::new(Class::Transient, format!("{host} gave no answer: {}", root_cause(error)))
    }

    /// Whatever a provider or a model behind it quotes: before it is cut short, or taken for an answer.
    fn without_secret_key(&self, body: Vec<u8>) -> Vec<u8> {
        let Some(key) = self.key.as_ref().map(ExposeSecret::expose_secret) else { return body };
        let is_there = |text: &str| key.len() >= SECRET_KEY_BYTES && text.contains(key);
        match std::str::from_utf8(&body) {
            Ok(text) if is_there(text) => text.replace(key, "[key]").into_bytes(),
            _ => body,
        }
    }

    /// Providers quote keys in what they refuse.
    fn without_key(&self, mut failure: Failure) -> Failure {
        if let Some(key) = &self.key {
            failure.message = failure.message.replace(key.expose_secret(), "[key]");
        }
        failure
    }
}

async fn read(mut response: reqwest::Response) -> Result<Vec<u8>, Failure> {
    let too_large = || {
        let mebibytes = MAX_BODY_BYTES >> 20;
        Failure::new(Class::Unreadable, format!("the answer has more than {mebibytes} MiB"))
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
            Err(error) => {
                let message = format!("the connection ended within the answer: {}", root_cause(&error));
                return Err(Failure::new(Class::Transient, message));
            }
        }
    }
}

/// Without the URL, whose query may hold a secret.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    if cause.is::<reqwest::Error>() { "the request failed".to_owned() } else { cause.to_string() }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
