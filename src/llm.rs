//! Language models over HTTP: the Responses and the Chat Completions API, behind the port of the actors. Retries, the
//! cache and the limits are decorators of the actors; one call here is one request, repeated only without a parameter
//! that the endpoint does not know.

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
