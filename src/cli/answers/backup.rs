//! The answers of `backup`.

use std::path::PathBuf;

use jiff::Timestamp;
use reasoning_bank_store::backup::{BackupManifest, FlawedFile};
use serde::Serialize;

/// A backup says which bank it is of, when it was made, and what it holds.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct BackupSummary {
    pub(in crate::cli) id: String,
    /// The bank, which is the same one after it was restored.
    pub(in crate::cli) bank: String,
    pub(in crate::cli) created_at: Timestamp,
    /// The version that made it.
    pub(in crate::cli) version: String,
    pub(in crate::cli) store_format: u32,
    pub(in crate::cli) memories: u64,
    pub(in crate::cli) workspaces: usize,
    pub(in crate::cli) files: usize,
    pub(in crate::cli) bytes: u64,
}

impl BackupSummary {
    pub(in crate::cli) fn of(manifest: &BackupManifest) -> Self {
        Self {
            id: manifest.id.to_string(),
            bank: manifest.bank.to_string(),
            created_at: manifest.created_at,
            version: manifest.version.clone(),
            store_format: manifest.store_format,
            memories: manifest.memories(),
            workspaces: manifest.workspaces.len(),
            files: manifest.files.len(),
            bytes: manifest.bytes(),
        }
    }
}

#[derive(Debug, Serialize)]
pub(in crate::cli) struct BackupMade {
    /// It has none where it went to stdout.
    pub(in crate::cli) directory: Option<PathBuf>,
    #[serde(flatten)]
    pub(in crate::cli) summary: BackupSummary,
}

#[derive(Debug, Serialize)]
pub(in crate::cli) struct BackupVerified {
    pub(in crate::cli) whole: bool,
    #[serde(flatten)]
    pub(in crate::cli) summary: BackupSummary,
    /// The files that are missing, changed, unreadable or not expected.
    pub(in crate::cli) findings: Vec<FlawedFile>,
}

#[derive(Debug, Serialize)]
pub(in crate::cli) struct BackupRestored {
    pub(in crate::cli) data_dir: PathBuf,
    #[serde(flatten)]
    pub(in crate::cli) summary: BackupSummary,
    /// The memories that are left after what was erased again.
    pub(in crate::cli) memories_now: u64,
    pub(in crate::cli) erased_again: usize,
    /// The newer backups and the directory that know what was erased after this backup was made.
    pub(in crate::cli) erasures_from: Vec<PathBuf>,
    pub(in crate::cli) with_tokens: bool,
    /// The files of the backup that were left out, because its manifest does not list them.
    pub(in crate::cli) left_out: Vec<FlawedFile>,
}
