//! The supervised system of ReasoningBank. It knows no database and no protocol: what it needs from outside is in
//! `ports`, what outside needs from it are handles.

pub mod agents;
pub mod cache;
pub mod distiller;
mod embedding;
pub mod error;
mod judge;
pub mod learner;
mod matts;
pub mod memories;
pub mod model;
pub mod ports;
pub mod runtime;
mod sessions;
mod spans;
mod statistics;
pub mod store;
pub mod system;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod usage;
pub mod workspaces;
