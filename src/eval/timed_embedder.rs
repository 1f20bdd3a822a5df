//! An embedder that takes the time of embedding a query, so that it can be told apart from that of searching. It serves
//! one query at a time.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use reasoning_bank_actors::ports::{Chunk, EmbedError, Embedder, EmbedderState, Fingerprint};
use reasoning_bank_actors::runtime::Deadline;

pub(crate) struct TimedEmbedder<E> {
    inner: E,
    last: Mutex<Duration>,
}

impl<E> TimedEmbedder<E> {
    pub(crate) fn new(inner: E) -> Self {
        Self { inner, last: Mutex::default() }
    }

    pub(crate) fn inner(&self) -> &E {
        &self.inner
    }

    /// Returns how long the last query took. It returns zero where none was embedded since the last call.
    pub(crate) fn take_last(&self) -> Duration {
        std::mem::take(&mut self.last.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<E: Embedder> Embedder for TimedEmbedder<E> {
    fn fingerprint(&self) -> &Fingerprint {
        self.inner.fingerprint()
    }

    fn state(&self) -> EmbedderState {
        self.inner.state()
    }

    fn embed_query(&self, text: String, deadline: Deadline) -> BoxFuture<'_, Result<Vec<f32>, EmbedError>> {
        async move {
            let begun = Instant::now();
            let embedded = self.inner.embed_query(text, deadline).await;
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = begun.elapsed();
            embedded
        }
        .boxed()
    }

    fn embed_documents(
        &self,
        texts: Vec<String>,
        deadline: Deadline,
    ) -> BoxFuture<'_, Result<Vec<Vec<Chunk>>, EmbedError>> {
        self.inner.embed_documents(texts, deadline)
    }
}
