//! Copying files in bounded memory, with their checksums.

use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use reasoning_bank_domain::text::hex::hex;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::BackupError;

const BUFFER_BYTES: usize = 256 << 10;

/// The result of copying a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Copied {
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

/// The side on which a copy failed.
#[derive(Debug)]
pub(super) enum CopyError {
    Read(io::Error),
    Write(io::Error),
    Cancelled,
}

impl CopyError {
    /// Says which of the two files it is of.
    pub(super) fn of(self, from: &Path, to: &Path) -> BackupError {
        match self {
            Self::Read(error) => BackupError::Io { path: from.to_owned(), error },
            Self::Write(error) => BackupError::Io { path: to.to_owned(), error },
            Self::Cancelled => BackupError::Cancelled,
        }
    }
}

/// Copies everything to its end.
pub(super) fn copy(from: &mut dyn Read, to: &mut dyn Write, cancel: &CancellationToken) -> Result<Copied, CopyError> {
    let (mut buffer, mut hash, mut bytes) = (vec![0; BUFFER_BYTES], Sha256::new(), 0);
    loop {
        if cancel.is_cancelled() {
            return Err(CopyError::Cancelled);
        }
        let read = match from.read(&mut buffer) {
            Ok(0) => return Ok(Copied { bytes, sha256: hex(&hash.finalize()) }),
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(CopyError::Read(error)),
        };
        hash.update(&buffer[..read]);
        to.write_all(&buffer[..read]).map_err(CopyError::Write)?;
        bytes += read as u64;
    }
}

/// Returns the checksum of a text.
pub(super) fn sha256(text: &[u8]) -> String {
    hex(&Sha256::digest(text))
}
