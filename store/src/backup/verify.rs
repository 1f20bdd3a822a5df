//! Verifying a backup: every byte is read, and nothing is written.

use std::fs::File;
use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use super::manifest::{BackupFile, BackupManifest};
use super::source::{self, BackupSource, Receiver};
use super::{BackupError, FlawedFile, blocking};

/// The manifest of a backup, and what is wrong with the backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    pub manifest: BackupManifest,
    /// It is empty where the backup is as it was made.
    pub findings: Vec<FlawedFile>,
}

/// Reads all of a backup and compares it with its manifest.
///
/// # Errors
/// [`BackupError::NoBackup`], [`BackupError::Cancelled`].
pub async fn verify(source: BackupSource, cancel: &CancellationToken) -> Result<Verified, BackupError> {
    let cancel = cancel.clone();
    blocking(move || {
        let (manifest, findings) = source::read(source, &mut Nowhere, &cancel)?;
        Ok(Verified { manifest, findings })
    })
    .await
}

struct Nowhere;

impl Receiver for Nowhere {
    fn begin(&mut self, _manifest: &BackupManifest) -> Result<(), BackupError> {
        Ok(())
    }

    fn file(&mut self, _file: &BackupFile) -> Result<Option<(PathBuf, File)>, BackupError> {
        Ok(None)
    }
}
