//! An embedder whose answers are timed.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::time::Instant;

use super::{Meters, Timer};
use crate::ports::{Chunk, EmbedError, Embedder, EmbedderState, EmbeddingQueue, Fingerprint};
use crate::runtime::Deadline;

pub(crate) struct MeteredEmbedder {
    inner: Arc<dyn Embedder>,
    meters: Meters,
}

impl MeteredEmbedder {
    pub(crate) fn new(inner: Arc<dyn Embedder>, meters: Meters) -> Self {
        Self { inner, meters }
    }

    /// Notes the time of what was embedded. A refusal takes none.
    async fn timed<T>(&self, embedding: BoxFuture<'_, Result<T, EmbedError>>) -> Result<T, EmbedError> {
        let begun = Instant::now();
        let embedded = embedding.await?;
        self.meters.took(Timer::Embedding, begun.elapsed());
        Ok(embedded)
    }
}

impl Embedder for MeteredEmbedder {
    fn fingerprint(&self) -> &Fingerprint {
        self.inner.fingerprint()
    }

    fn state(&self) -> EmbedderState {
        self.inner.state()
    }

    fn queue(&self) -> EmbeddingQueue {
        self.inner.queue()
    }

    fn embed_query(&self, text: String, deadline: Deadline) -> BoxFuture<'_, Result<Vec<f32>, EmbedError>> {
        self.timed(self.inner.embed_query(text, deadline)).boxed()
    }

    fn embed_documents(
        &self,
        texts: Vec<String>,
        deadline: Deadline,
    ) -> BoxFuture<'_, Result<Vec<Vec<Chunk>>, EmbedError>> {
        self.timed(self.inner.embed_documents(texts, deadline)).boxed()
    }
}
