//! The frame of a batch in the journal of the store.

use reasoning_bank_actors::ports::{Batch, StoreError};
use serde::{Deserialize, Serialize};

use crate::frames::framed;
use crate::lance::errors::failed;

/// The largest body of a frame. No batch comes near it, because a batch of many records goes past the journal.
const MAX_BODY_BYTES: usize = 512 << 20;

#[derive(Serialize, Deserialize)]
pub(in crate::lance) struct Frame {
    /// The number of erasures that had been asked for when the frame was written: later ones apply to it, earlier ones
    /// do not.
    pub(in crate::lance) erasures: u64,
    pub(in crate::lance) batch: Batch,
}

impl Frame {
    pub(in crate::lance) fn encode(&self) -> Result<Vec<u8>, StoreError> {
        let body = serde_json::to_vec(self).map_err(failed)?;
        if body.len() > MAX_BODY_BYTES {
            return Err(StoreError::Failed(format!(
                "the batch is over {} MiB; store less of it at once",
                MAX_BODY_BYTES >> 20
            )));
        }
        Ok(framed(&body))
    }
}
