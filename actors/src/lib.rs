//! The supervised system of ReasoningBank. It knows no database and no protocol: what it needs from outside is in
//! `ports`, what outside needs from it are handles.

pub mod error;
pub mod memories;
pub mod ports;
pub mod runtime;
#[cfg(feature = "testkit")]
pub mod testkit;
