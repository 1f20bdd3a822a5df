//! The file `journal/erasures.json`. It says how many erasures there were, and which one is under way.

use std::fs;

use reasoning_bank_actors::ports::{EraseScope, StoreError};
use serde::{Deserialize, Serialize};

use crate::files::{unless_gone, write_synced};
use crate::lance::errors::{failed, unreadable};
use crate::lance::layout::Layout;
use crate::lance::threads::blocking;

/// The number of erasures so far, and the one that is under way. Whoever writes next finishes that one.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(in crate::lance) struct Erasures {
    pub(in crate::lance) count: u64,
    pub(in crate::lance) pending: Option<EraseScope>,
}

impl Erasures {
    pub(in crate::lance) async fn read(layout: &Layout) -> Result<Self, StoreError> {
        let path = layout.erasures();
        blocking(move || match unless_gone(fs::read(&path)) {
            Ok(Some(json)) => serde_json::from_slice(&json).map_err(|error| unreadable(&path, &error)),
            Ok(None) => Ok(Self::default()),
            Err(error) => Err(failed(error)),
        })
        .await?
    }

    pub(in crate::lance) async fn write(&self, layout: &Layout) -> Result<(), StoreError> {
        let (path, json) = (layout.erasures(), serde_json::to_vec(self).map_err(failed)?);
        blocking(move || write_synced(&path, &json).map_err(failed)).await?
    }
}
