//! The embedder port: texts in, vectors out.

use futures::future::BoxFuture;

use crate::runtime::Deadline;

/// Identifies the embedding space: vectors of different fingerprints are never compared.
#[derive(Debug, Clone)]
pub struct Fingerprint {
    /// For people to read.
    pub name: String,
    /// Numbers of a vector.
    pub dims: usize,
    /// Hex; another one for every model that makes other vectors.
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
    /// `dims` numbers, L2-normalised. None beyond the first chunks of a very long document: time is bounded, text is
    /// not cut off, so that piece is found by its words alone.
    pub vector: Option<Vec<f32>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbedderState {
    Loading,
    Ready,
    /// For good: what the model file or the runtime said.
    Failed(String),
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

    /// One vector for a query. Never waits for the model to load: search is by keyword until then
    /// ([`EmbedError::Loading`]). A query longer than the window is the normalised mean of its pieces.
    fn embed_query(&self, text: String, deadline: Deadline) -> BoxFuture<'_, Result<Vec<f32>, EmbedError>>;

    /// The chunks of every text, in order, none cut off; at least one for a text that is not blank, none for a blank
    /// one. Waits for the model to load, to the deadline.
    fn embed_documents(
        &self,
        texts: Vec<String>,
        deadline: Deadline,
    ) -> BoxFuture<'_, Result<Vec<Vec<Chunk>>, EmbedError>>;
}
