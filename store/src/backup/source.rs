//! Reading a backup: from a directory, or from a stream of tar, whose first entries are the manifest and its checksum.
//! Every byte is read and compared with what the manifest says. A stream has what it has from anywhere: only plain
//! files that the manifest lists are taken from it, at the places that it gives them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::copying::{CopyError, copy};
use super::manifest::{self, BANK, BackupFile, BackupManifest, MANIFEST, MANIFEST_SUM};
use super::{BackupError, Flaw, FlawedFile};
use crate::files::unless_gone;

/// The source that a backup is read from.
pub enum BackupSource {
    Directory(PathBuf),
    Stream(Box<dyn Read + Send>),
}

/// The side that takes the files of a backup.
pub(super) trait Receiver {
    /// Looks at the manifest, before any file comes.
    fn begin(&mut self, manifest: &BackupManifest) -> Result<(), BackupError>;

    /// Makes the file that this one of the backup is written to, with its path; `None` where it is read and not kept.
    fn file(&mut self, file: &BackupFile) -> Result<Option<(PathBuf, File)>, BackupError>;
}

/// Reads all of a backup. Returns its manifest, and what is not as it was when the backup was made.
///
/// # Errors
/// [`BackupError::NoBackup`], [`BackupError::Cancelled`], and those of the receiver.
pub(super) fn read(
    source: BackupSource,
    to: &mut dyn Receiver,
    cancel: &CancellationToken,
) -> Result<(BackupManifest, Vec<FlawedFile>), BackupError> {
    let (manifest, mut findings) = match source {
        BackupSource::Directory(dir) => read_directory(&dir, to, cancel)?,
        BackupSource::Stream(stream) => read_stream(stream, to, cancel)?,
    };
    findings.sort();
    Ok((manifest, findings))
}

fn finding(flaw: Flaw, path: impl Into<String>) -> FlawedFile {
    FlawedFile { flaw, path: path.into() }
}

/// Takes one file. Returns what is wrong with it.
fn take(
    file: &BackupFile,
    content: &mut dyn Read,
    to: &mut dyn Receiver,
    cancel: &CancellationToken,
) -> Result<Option<Flaw>, BackupError> {
    // a file that has grown is not copied to its end
    let mut content = content.take(file.bytes.saturating_add(1));
    let (path, copied) = match to.file(file)? {
        Some((path, mut made)) => (path, copy(&mut content, &mut made, cancel)),
        None => (PathBuf::new(), copy(&mut content, &mut io::sink(), cancel)),
    };
    match copied {
        Ok(copied) if (copied.bytes, &copied.sha256) == (file.bytes, &file.sha256) => Ok(None),
        Ok(_) => Ok(Some(Flaw::Changed)),
        Err(CopyError::Read(_)) => Ok(Some(Flaw::Unreadable)),
        // what cannot be written is no flaw of the backup
        Err(error) => Err(error.of(Path::new(""), &path)),
    }
}

fn read_directory(
    dir: &Path,
    to: &mut dyn Receiver,
    cancel: &CancellationToken,
) -> Result<(BackupManifest, Vec<FlawedFile>), BackupError> {
    let manifest = BackupManifest::read(dir)?;
    to.begin(&manifest)?;
    let mut findings = Vec::new();
    for file in &manifest.files {
        let path = dir.join(BANK).join(&file.path);
        let flaw = match open(&path) {
            Ok(None) => Some(Flaw::Missing),
            Ok(Some(mut content)) => take(file, &mut content, to, cancel)?,
            Err(_) => Some(Flaw::Unreadable),
        };
        findings.extend(flaw.map(|flaw| finding(flaw, format!("{BANK}/{}", file.path))));
    }
    unexpected(dir, &manifest, &mut findings).map_err(BackupError::io(dir))?;
    Ok((manifest, findings))
}

/// Opens a plain file; `None` where there is none. A link is not followed, and a pipe does not hold the caller.
fn open(path: &Path) -> io::Result<Option<File>> {
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path);
    let Some(file) = unless_gone(opened)? else { return Ok(None) };
    match file.metadata()?.is_file() {
        true => Ok(Some(file)),
        false => Err(io::Error::other("it is no plain file")),
    }
}

/// Finds what the manifest does not list.
fn unexpected(dir: &Path, manifest: &BackupManifest, findings: &mut Vec<FlawedFile>) -> io::Result<()> {
    let listed: BTreeSet<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
    let mut waiting = vec![(dir.to_owned(), String::new())];
    while let Some((dir, prefix)) = waiting.pop() {
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                waiting.push((entry.path(), format!("{path}/")));
                continue;
            }
            let of_bank = path.strip_prefix(BANK).and_then(|path| path.strip_prefix('/'));
            if ![MANIFEST, MANIFEST_SUM].contains(&&*path) && !of_bank.is_some_and(|path| listed.contains(path)) {
                findings.push(finding(Flaw::Unexpected, path));
            }
        }
    }
    Ok(())
}

fn read_stream(
    stream: Box<dyn Read + Send>,
    to: &mut dyn Receiver,
    cancel: &CancellationToken,
) -> Result<(BackupManifest, Vec<FlawedFile>), BackupError> {
    let no_backup = |problem: String| BackupError::no_backup("the stream", problem);
    let mut archive = tar::Archive::new(BufReader::new(stream));
    let mut entries = archive.entries().map_err(|error| no_backup(error.to_string()))?;
    let mut heads = BTreeMap::new();
    while heads.len() < 2 {
        let next = entries.next().ok_or_else(|| no_backup(format!("it ends before its {MANIFEST}")))?;
        let mut entry = next.map_err(|error| no_backup(error.to_string()))?;
        let Some(path) = plain(&entry).map_err(no_backup)? else { continue };
        if ![MANIFEST, MANIFEST_SUM].contains(&&*path) || heads.contains_key(&path) {
            return Err(no_backup(format!("it begins with {path:?} and not with a {MANIFEST}")));
        }
        let mut text = Vec::new();
        let read = (&mut entry).take(manifest::MAX_BYTES).read_to_end(&mut text);
        read.map_err(|error| no_backup(error.to_string()))?;
        heads.insert(path, text);
    }
    let manifest = BackupManifest::parse(&heads[MANIFEST], &heads[MANIFEST_SUM]).map_err(no_backup)?;
    to.begin(&manifest)?;
    let mut expected: BTreeMap<&str, &BackupFile> =
        manifest.files.iter().map(|file| (file.path.as_str(), file)).collect();
    let mut findings = Vec::new();
    for next in entries {
        // what is behind a torn end is missing
        let Ok(mut entry) = next else { break };
        let Some(path) = plain(&entry).map_err(no_backup)? else { continue };
        let of_bank = path.strip_prefix(BANK).and_then(|path| path.strip_prefix('/'));
        match of_bank.and_then(|path| expected.remove(path)) {
            Some(file) => {
                let flaw = take(file, &mut entry, to, cancel)?;
                findings.extend(flaw.map(|flaw| finding(flaw, path)));
            }
            None => findings.push(finding(Flaw::Unexpected, path)),
        }
    }
    findings.extend(expected.into_keys().map(|path| finding(Flaw::Missing, format!("{BANK}/{path}"))));
    Ok((manifest, findings))
}

/// Returns the path of a plain file of a stream; `None` for a directory. Anything else is none of a backup.
fn plain<R: Read>(entry: &tar::Entry<'_, R>) -> Result<Option<String>, String> {
    let path = entry.path().map_err(|error| error.to_string())?.into_owned();
    match entry.header().entry_type() {
        tar::EntryType::Directory => Ok(None),
        tar::EntryType::Regular => {
            let path = path.to_str().ok_or("it has a path that is not UTF-8")?;
            Ok(Some(path.strip_prefix("./").unwrap_or(path).to_owned()))
        }
        _ => Err(format!("{path:?} is neither a file nor a directory")),
    }
}

#[cfg(test)]
mod tests;
