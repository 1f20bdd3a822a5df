//! The answers of `bank`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(in crate::cli) struct BankList {
    pub(in crate::cli) banks: Vec<ListedBankAnswer>,
}

#[derive(Debug, Serialize)]
pub(in crate::cli) struct ListedBankAnswer {
    pub(in crate::cli) bank: String,
    pub(in crate::cli) files: usize,
    pub(in crate::cli) tokens: usize,
    pub(in crate::cli) last_updated: Option<Timestamp>,
    /// The directory of the files. None where the memory bank cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) directory: Option<PathBuf>,
    pub(in crate::cli) in_checkout: bool,
    /// The reason why the memory bank cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) problem: Option<String>,
}

#[derive(Debug, Serialize)]
pub(in crate::cli) struct ShownBank {
    pub(in crate::cli) bank: String,
    pub(in crate::cli) directory: PathBuf,
    pub(in crate::cli) in_checkout: bool,
    /// The tokens of the whole bank.
    pub(in crate::cli) tokens: usize,
    /// The tokens of the files that are shown.
    pub(in crate::cli) shown_tokens: usize,
    pub(in crate::cli) pending: u64,
    pub(in crate::cli) files: BTreeMap<String, String>,
    pub(in crate::cli) notices: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(in crate::cli) struct BankDone {
    pub(in crate::cli) bank: String,
    pub(in crate::cli) done: String,
}
