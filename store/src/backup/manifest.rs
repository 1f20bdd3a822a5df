//! The manifest of a backup: what it is of, and each of its files. It has no text of a memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path};

use jiff::Timestamp;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::BackupError;
use super::copying::sha256;
use crate::data_dir;
use crate::files::write_synced;

pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const MANIFEST_SUM: &str = "manifest.json.sha256";
/// The directory of a backup with the files of the bank.
pub(super) const BANK: &str = "bank";

/// The number of the form of backups, which is raised by a change that older versions would misread.
const FORMAT: u32 = 1;
/// The largest manifest that is read: enough for a million files.
pub(super) const MAX_BYTES: u64 = 256 << 20;

/// The parts that a backup may have, by the first part of the path in the data directory.
const PARTS: [&str; 16] = [
    "lance",
    "journal",
    "format_version",
    "erasures.log",
    data_dir::TOKENS,
    data_dir::AUDIT,
    data_dir::SPENDING,
    data_dir::AGREED,
    data_dir::LINKS,
    data_dir::DEFAULT_WORKSPACE,
    data_dir::TRACES,
    data_dir::WORKING,
    data_dir::ARTEFACTS,
    data_dir::BANKS,
    data_dir::BANK_RECORDS,
    data_dir::BACKGROUND_SPENT,
];

/// A file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupFile {
    /// The path below `bank/`, with `/` between its parts.
    pub path: String,
    pub bytes: u64,
    pub sha256: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupManifest {
    pub backup_format: u32,
    pub id: Uuid,
    /// The bank, which is the same one after it was restored.
    pub bank: Uuid,
    /// The moment of the bank that the backup shows.
    pub created_at: Timestamp,
    /// The version of the program that made it.
    pub version: String,
    /// The format of the data directory.
    pub store_format: u32,
    /// The embedder whose vectors it has.
    pub embedder: String,
    /// The rows of each table.
    pub rows: BTreeMap<String, u64>,
    /// The workspaces that it has something of.
    pub workspaces: Vec<WorkspaceId>,
    pub files: Vec<BackupFile>,
}

impl BackupManifest {
    pub(super) fn format() -> u32 {
        FORMAT
    }

    pub fn memories(&self) -> u64 {
        self.rows.get("memories").copied().unwrap_or_default()
    }

    /// Returns the size of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).fold(0, u64::saturating_add)
    }

    /// Returns the texts of the two files that a manifest is: the document, and its checksum.
    pub(super) fn texts(&self) -> io::Result<(Vec<u8>, String)> {
        let text = serde_json::to_vec_pretty(self)?;
        let sum = format!("{}  {MANIFEST}\n", sha256(&text));
        Ok((text, sum))
    }

    /// Writes both files, the document last: a directory that has it is whole.
    pub(super) fn write(&self, dir: &Path) -> io::Result<()> {
        let (text, sum) = self.texts()?;
        write_synced(&dir.join(MANIFEST_SUM), sum.as_bytes())?;
        write_synced(&dir.join(MANIFEST), &text)
    }

    /// Reads the manifest of the backup in a directory.
    ///
    /// # Errors
    /// [`BackupError::NoBackup`].
    pub fn read(dir: &Path) -> Result<Self, BackupError> {
        let read = |name: &str| {
            let mut text = Vec::new();
            let file = File::open(dir.join(name)).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut text));
            file.map_err(|error| format!("{name}: {error}"))?;
            Ok::<_, String>(text)
        };
        let parsed = || {
            fs::metadata(dir).map_err(|error| error.to_string())?;
            Self::parse(&read(MANIFEST)?, &read(MANIFEST_SUM)?)
        };
        parsed().map_err(|problem| BackupError::no_backup(dir.display(), problem))
    }

    /// Parses the texts of both files. An error says what is wrong with them.
    pub(super) fn parse(text: &[u8], sum: &[u8]) -> Result<Self, String> {
        if sum.split(|byte| byte.is_ascii_whitespace()).next() != Some(sha256(text).as_bytes()) {
            return Err(format!("{MANIFEST} is not what it was when the backup was made"));
        }
        let manifest: Self = serde_json::from_slice(text).map_err(|error| format!("{MANIFEST}: {error}"))?;
        if manifest.backup_format > FORMAT {
            let form = manifest.backup_format;
            return Err(format!(
                "a newer version of the program made it (its form is {form}, this one knows {FORMAT})"
            ));
        }
        let mut paths = BTreeSet::new();
        for file in &manifest.files {
            if !is_safe(&file.path) || !paths.insert(file.path.as_str()) {
                return Err(format!("{MANIFEST} lists a path that no backup has: {:?}", file.path));
            }
        }
        Ok(manifest)
    }
}

/// Tells whether a path is one that a backup may have: it stays below the directory that it is put into.
fn is_safe(path: &str) -> bool {
    let parts: Vec<Component<'_>> = Path::new(path).components().collect();
    let is_plain = parts.iter().all(|part| matches!(part, Component::Normal(_)));
    let first = path.split('/').next().unwrap_or_default();
    is_plain && PARTS.contains(&first) && path.split('/').count() == parts.len() && !path.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(paths: &[&str]) -> BackupManifest {
        let file = |path: &&str| BackupFile { path: (*path).to_owned(), bytes: 1, sha256: String::new() };
        BackupManifest {
            backup_format: FORMAT,
            id: Uuid::nil(),
            bank: Uuid::nil(),
            created_at: Timestamp::UNIX_EPOCH,
            version: "1".into(),
            store_format: 4,
            embedder: "e".into(),
            rows: BTreeMap::from([("memories".into(), 3)]),
            workspaces: Vec::new(),
            files: paths.iter().map(file).collect(),
        }
    }

    fn parsed(manifest: &BackupManifest) -> Result<BackupManifest, String> {
        let (text, sum) = manifest.texts().unwrap();
        BackupManifest::parse(&text, sum.as_bytes())
    }

    #[test]
    fn a_manifest_is_read_as_it_was_written_and_every_changed_byte_is_found() {
        let written = manifest(&["lance/memories.lance/data/a.lance", "journal/history.log", "tokens.json"]);
        assert_eq!(parsed(&written).unwrap(), written);
        assert_eq!((written.memories(), written.bytes()), (3, 3));
        let (text, sum) = written.texts().unwrap();
        for n in 0..text.len() {
            let mut changed = text.clone();
            changed[n] ^= 1;
            assert!(BackupManifest::parse(&changed, sum.as_bytes()).is_err(), "byte {n}");
        }
        assert!(BackupManifest::parse(&text, b"").is_err());
        let newer = BackupManifest { backup_format: FORMAT + 1, ..written };
        assert!(parsed(&newer).unwrap_err().contains("newer version"));
    }

    #[test]
    fn a_path_that_leads_elsewhere_is_refused() {
        for path in [
            "",
            "/etc/passwd",
            "../x",
            "lance/../../x",
            "lance/./x",
            "./lance/x",
            "lance//x",
            "lance/",
            "unknown/x",
            ".restoring/x",
            "lance/\0",
        ] {
            assert!(parsed(&manifest(&[path])).is_err(), "{path:?}");
        }
        assert!(parsed(&manifest(&["lance/x", "lance/x"])).is_err(), "twice");
    }
}
