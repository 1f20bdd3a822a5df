//! The data directory: its paths, the number of its layout and the embedder whose vectors it holds.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use reasoning_bank_actors::ports::{Fingerprint, StoreError};
use serde::{Deserialize, Serialize};

use super::{blocking, reembed};
use crate::store::files::{create_dir, write_synced};

/// Raised by a change that older versions would misread. 2: traces and memories have their outcome in a column, traces
/// their time, and passages the revision of their memory in their id. 3: memories have the signature of their error and
/// their readers in columns, traces have revisions, and there are jobs. 4: passages have their index terms in a column, over
/// which the text index is built, and time, outcome, source and difficulty of their memory in others.
pub(super) const FORMAT_VERSION: u32 = 4;

/// Of what should be a number and is not.
const SHOWN_CHARS: usize = 40;
/// A number, a fingerprint, the state of a change: each takes far less.
const MAX_BYTES: u64 = 64 << 10;

#[derive(Debug, Clone)]
pub(super) struct Layout {
    root: PathBuf,
}

impl Layout {
    pub(super) fn of(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Creates the directories.
    pub(super) async fn prepare(root: &Path) -> Result<Self, StoreError> {
        let layout = Self::of(root);
        let created = layout.clone();
        blocking(move || {
            for dir in [&created.root, &created.tables(), &created.journals()] {
                create_dir(dir).map_err(|error| unusable(dir, &error))?;
            }
            Ok(())
        })
        .await??;
        Ok(layout)
    }

    pub(super) fn tables(&self) -> PathBuf {
        self.root.join("lance")
    }

    pub(super) fn table(&self, name: &str) -> PathBuf {
        self.tables().join(format!("{name}.lance"))
    }

    pub(super) fn write_lock(&self) -> PathBuf {
        self.tables().join(".write.lock")
    }

    /// What whoever holds the write lock is doing.
    pub(super) fn write_owner(&self) -> PathBuf {
        self.tables().join(".write.owner")
    }

    pub(super) fn upkeep_lock(&self) -> PathBuf {
        self.tables().join(".upkeep.lock")
    }

    pub(super) fn journals(&self) -> PathBuf {
        self.root.join("journal")
    }

    pub(super) fn erasures(&self) -> PathBuf {
        self.journals().join("erasures.json")
    }

    /// There while a commit of many records is under way.
    pub(super) fn bulk(&self) -> PathBuf {
        self.journals().join("bulk.json")
    }

    /// Written and removed to see whether there is room.
    pub(super) fn probe(&self) -> PathBuf {
        self.journals().join(".probe")
    }

    pub(super) fn set_aside(&self) -> PathBuf {
        self.root.join("set-aside")
    }

    /// There while a repair of tables is under way.
    pub(super) fn repairing(&self) -> PathBuf {
        self.root.join("repairing")
    }

    fn format_version(&self) -> PathBuf {
        self.root.join("format_version")
    }

    /// Holds a file for each memory that was stored without vectors.
    pub(super) fn unembedded(&self) -> PathBuf {
        self.tables().join("unembedded")
    }

    pub(super) fn reembed(&self) -> PathBuf {
        self.tables().join("reembed.json")
    }

    pub(super) fn reembed_lock(&self) -> PathBuf {
        self.tables().join(".reembed.lock")
    }

    fn fingerprint(&self) -> PathBuf {
        self.tables().join("fingerprint.json")
    }
}

/// "no permission" and the like, with the path that it is about.
pub(super) fn unusable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Unusable(format!("{}: {error}", path.display()))
}

/// What a file of the store should say, and does not.
pub(super) fn unreadable(path: &Path, error: &serde_json::Error) -> StoreError {
    StoreError::Unusable(format!("{} cannot be read: {error}", path.display()))
}

/// The embedder whose vectors a directory holds.
#[derive(Serialize, Deserialize)]
pub(super) struct Stamp {
    name: String,
    dims: usize,
    hash: String,
}

/// As with [`Fingerprint`], the name does not count.
impl PartialEq for Stamp {
    fn eq(&self, other: &Self) -> bool {
        (self.dims, &self.hash) == (other.dims, &other.hash)
    }
}

impl From<&Fingerprint> for Stamp {
    fn from(Fingerprint { name, dims, hash }: &Fingerprint) -> Self {
        Self { name: name.clone(), dims: *dims, hash: hash.clone() }
    }
}

impl From<Stamp> for Fingerprint {
    fn from(Stamp { name, dims, hash }: Stamp) -> Self {
        Self { name, dims, hash }
    }
}

impl Stamp {
    pub(super) fn read(layout: &Layout) -> Result<Option<Self>, StoreError> {
        let path = layout.fingerprint();
        let Some(text) = read_if_exists(&path)? else { return Ok(None) };
        let read = serde_json::from_str(&text);
        read.map(Some).map_err(|error| unreadable(&path, &error))
    }

    pub(super) fn write(&self, layout: &Layout) -> Result<(), StoreError> {
        let (path, json) = (layout.fingerprint(), serde_json::to_vec(self).map_err(super::failed)?);
        write_synced(&path, &json).map_err(|error| unusable(&path, &error))
    }
}

/// Stamps a new directory; refuses one of a newer format or of another embedder. Returns the format, which may be an
/// earlier one. The write lock must be held.
pub(super) async fn check(layout: &Layout, fingerprint: &Fingerprint) -> Result<u32, StoreError> {
    let layout = layout.clone();
    let expected = fingerprint.clone();
    blocking(move || {
        let format = check_format(&layout.format_version())?;
        reembed::finish_switch(&layout)?;
        match Stamp::read(&layout)? {
            Some(found) => same(found, &expected)?,
            None => Stamp::from(&expected).write(&layout)?,
        }
        Ok(format)
    })
    .await?
}

/// The same for who can only read: what would have to be stamped or upgraded first cannot be read.
pub(super) async fn check_for_reading(layout: &Layout, fingerprint: &Fingerprint) -> Result<(), StoreError> {
    let (layout, fingerprint) = (layout.clone(), fingerprint.clone());
    let first = |what: &str| Err(StoreError::Unusable(format!("{what}, which needs writing")));
    blocking(move || {
        match stamped_format(&layout.format_version())? {
            Some(FORMAT_VERSION) => {}
            Some(earlier) => {
                return first(&format!("its format {earlier} must be upgraded to {FORMAT_VERSION} before it is read"));
            }
            // a bank that nobody could make yet has nothing in it
            None => return Ok(()),
        }
        if reembed::is_switching(&layout)? {
            return first("a change of the embedder must be finished before it is read");
        }
        match Stamp::read(&layout)? {
            Some(found) => same(found, &fingerprint),
            None => first("it does not say whose vectors it holds; that must be noted first"),
        }
    })
    .await?
}

/// Refuses to write when a newer version has upgraded the directory since it was opened: what it added would be left out
/// of what this version writes and erases; or when its vectors were made again by another embedder. The write lock must
/// be held.
pub(super) async fn check_again(layout: &Layout, fingerprint: &Fingerprint) -> Result<(), StoreError> {
    let (layout, fingerprint) = (layout.clone(), fingerprint.clone());
    blocking(move || {
        stamped_format(&layout.format_version())?;
        reembed::finish_switch(&layout)?;
        check_embedder(&layout, &fingerprint)
    })
    .await?
}

/// Whether the directory still belongs to this embedder. What was read before it said so is of its vectors.
pub(super) fn check_embedder(layout: &Layout, expected: &Fingerprint) -> Result<(), StoreError> {
    Stamp::read(layout)?.map_or(Ok(()), |found| same(found, expected))
}

fn same(found: Stamp, expected: &Fingerprint) -> Result<(), StoreError> {
    let found = Fingerprint::from(found);
    if found == *expected {
        return Ok(());
    }
    Err(StoreError::OtherEmbedder { found: found.to_string(), expected: expected.to_string() })
}

fn check_format(path: &Path) -> Result<u32, StoreError> {
    match stamped_format(path)? {
        Some(format) => Ok(format),
        None => stamp_format(path).map(|()| FORMAT_VERSION),
    }
}

fn stamped_format(path: &Path) -> Result<Option<u32>, StoreError> {
    let Some(text) = read_if_exists(path)? else { return Ok(None) };
    let found: u32 = text.trim().parse().map_err(|_| {
        StoreError::Unusable(format!("{} holds {:?}, which is no number", path.display(), excerpt(&text)))
    })?;
    if found > FORMAT_VERSION { Err(StoreError::NewerFormat { found, known: FORMAT_VERSION }) } else { Ok(Some(found)) }
}

fn excerpt(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).collect()
}

fn stamp_format(path: &Path) -> Result<(), StoreError> {
    write_synced(path, format!("{FORMAT_VERSION}\n").as_bytes()).map_err(|error| unusable(path, &error))
}

/// Says that the tables, which are synced, have the present format.
pub(super) async fn stamp(layout: &Layout) -> Result<(), StoreError> {
    let path = layout.format_version();
    blocking(move || stamp_format(&path)).await?
}

pub(super) fn read_if_exists(path: &Path) -> Result<Option<String>, StoreError> {
    let file = match fs::File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|error| unusable(path, &error))?,
    };
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text).map_err(|error| unusable(path, &error))?;
    Ok(Some(text))
}
