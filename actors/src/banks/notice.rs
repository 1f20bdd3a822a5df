//! A notice tells a client what happened to a bank since its last call.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A notice, of which `previous_errors` is a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BankNotice {
    pub timestamp: Timestamp,
    pub description: String,
    pub severity: NoticeSeverity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoticeSeverity {
    Info,
    Warning,
    Error,
}
