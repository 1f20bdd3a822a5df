//! Language models over HTTP: the Responses and the Chat Completions API, behind the port of the actors. `model`
//! implements the port, `chat` and `responses` are the two APIs, `wire` is what they share, `client` sends, `failure`
//! explains what went wrong, and `redaction` keeps the key out of it.
//!
//! One call here is one request, which is repeated only without a parameter that the endpoint does not know
//! (`parameters`). Retries, the cache and the limits are decorators in `actors`.

mod chat;
mod client;
mod failure;
mod key_check;
mod model;
mod parameters;
mod redaction;
mod responses;
mod wire;

pub use client::{Client, ClientError, Connection, use_ring};
pub use key_check::{KeyCheck, KeyVerdict};
pub use model::{Api, HttpModel, Models};
