//! `lance/fingerprint.json`: the embedder whose vectors the directory holds.

use reasoning_bank_actors::ports::{Fingerprint, StoreError};
use serde::{Deserialize, Serialize};

use crate::files::write_synced;
use crate::lance::errors::{failed, unreadable, unusable};
use crate::lance::layout::{Layout, read_if_exists};

/// The embedder whose vectors a directory holds.
#[derive(Serialize, Deserialize)]
pub(in crate::lance) struct Stamp {
    name: String,
    dims: usize,
    hash: String,
}

/// The name does not count, as with [`Fingerprint`].
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
    pub(in crate::lance) fn read(layout: &Layout) -> Result<Option<Self>, StoreError> {
        let path = layout.fingerprint();
        let Some(text) = read_if_exists(&path)? else { return Ok(None) };
        let read = serde_json::from_str(&text);
        read.map(Some).map_err(|error| unreadable(&path, &error))
    }

    pub(in crate::lance) fn write(&self, layout: &Layout) -> Result<(), StoreError> {
        let (path, json) = (layout.fingerprint(), serde_json::to_vec(self).map_err(failed)?);
        write_synced(&path, &json).map_err(|error| unusable(&path, &error))
    }

    /// Refuses vectors of another embedder than the one that is expected.
    pub(in crate::lance) fn check(self, expected: &Fingerprint) -> Result<(), StoreError> {
        let found = Fingerprint::from(self);
        if found == *expected {
            return Ok(());
        }
        Err(StoreError::OtherEmbedder { found: found.to_string(), expected: expected.to_string() })
    }
}

/// Refuses to go on where the directory does not belong to this embedder any more. What was read before it said so is
/// of its vectors.
pub(in crate::lance) fn check_embedder(layout: &Layout, expected: &Fingerprint) -> Result<(), StoreError> {
    Stamp::read(layout)?.map_or(Ok(()), |found| found.check(expected))
}
