//! The embedder port: texts in, vectors out.

use futures::future::BoxFuture;

use crate::runtime::Deadline;

/// Identifies the embedding space: vectors of different fingerprints are never compared.
#[derive(Debug, Clone)]
pub struct Fingerprint {
    /// The name of the model, for people to read.
    pub name: String,
    /// The number of values in a vector.
    pub dims: usize,
    /// A hash in hex. Models that make other vectors have another one.
    pub hash: String,
}

/// The name does not count: a model that was moved or renamed makes the same vectors as before.
impl PartialEq for Fingerprint {
    fn eq(&self, other: &Self) -> bool {
        (self.dims, &self.hash) == (other.dims, &other.hash)
    }
}

impl Eq for Fingerprint {}

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.name, self.dims, &self.hash[..self.hash.len().min(16)])
    }
}

/// A piece of a document that fits the model's window.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    pub text: String,
    /// The `dims` numbers of the vector, L2-normalised. None beyond the first chunks of a very long document, because
    /// time is bounded and text is not cut off. Such a piece is found by its words alone.
    pub vector: Option<Vec<f32>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbedderState {
    Loading,
    Ready,
    /// The model failed for good. The text is what the model file or the runtime said.
    Failed(String),
}

/// The work that waits for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EmbeddingQueue {
    pub queries: usize,
    /// Shares of documents, each of one or more texts.
    pub documents: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    #[error("the embedding model is still loading")]
    Loading,
    #[error("the embedding model failed: {0}")]
    Failed(String),
    #[error("the embedding queue is full")]
    Overloaded,
    #[error("the text was not embedded before its deadline")]
    TimedOut,
}

pub trait Embedder: Send + Sync + 'static {
    fn fingerprint(&self) -> &Fingerprint;

    fn state(&self) -> EmbedderState;

    /// Tells what waits for the model. An embedder that answers at once has no queue.
    fn queue(&self) -> EmbeddingQueue {
        EmbeddingQueue::default()
    }

    /// Makes one vector for a query. It never waits for the model to load: until then it fails with
    /// [`EmbedError::Loading`], and search is by keyword. A query longer than the window gets the normalised mean of
    /// its pieces.
    fn embed_query(&self, text: String, deadline: Deadline) -> BoxFuture<'_, Result<Vec<f32>, EmbedError>>;

    /// Makes the chunks of every text, in order, with nothing cut off. A text that is not blank has at least one, a
    /// blank one has none. It waits for the model to load, until the deadline.
    fn embed_documents(
        &self,
        texts: Vec<String>,
        deadline: Deadline,
    ) -> BoxFuture<'_, Result<Vec<Vec<Chunk>>, EmbedError>>;
}
