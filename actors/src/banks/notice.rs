//! A notice tells a client what happened to a bank since its last call.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// One entry of `previous_errors` in an answer.
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
