//! An embedder that waits for its model for a fixed time, whatever deadline a call has: how busy the machine is shall
//! not decide what is learned. Where embedding takes long, the program otherwise stores a lesson without its vectors,
//! compares it with nothing, and searches by words alone.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use reasoning_bank_actors::ports::{Chunk, EmbedError, Embedder, EmbedderState, Fingerprint};
use reasoning_bank_actors::runtime::Deadline;

/// Each call may take this long.
const EMBEDDING_TIMEOUT: Duration = Duration::from_secs(60);

pub(super) struct FixedTimeoutEmbedder(pub(super) Arc<dyn Embedder>);

impl Embedder for FixedTimeoutEmbedder {
    fn fingerprint(&self) -> &Fingerprint {
        self.0.fingerprint()
    }

    fn state(&self) -> EmbedderState {
        self.0.state()
    }

    fn embed_query(&self, text: String, _: Deadline) -> BoxFuture<'_, Result<Vec<f32>, EmbedError>> {
        self.0.embed_query(text, Deadline::after(EMBEDDING_TIMEOUT))
    }

    fn embed_documents(&self, texts: Vec<String>, _: Deadline) -> BoxFuture<'_, Result<Vec<Vec<Chunk>>, EmbedError>> {
        self.0.embed_documents(texts, Deadline::after(EMBEDDING_TIMEOUT))
    }
}
