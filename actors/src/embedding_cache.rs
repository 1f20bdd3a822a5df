//! The cache of embeddings. It keeps them by the hash of their text and workspace, so that a text that comes again
//! there is not embedded again. It keeps vectors and the ranges of the text that they belong to. It never keeps text,
//! and writes nothing to disk. Embedding itself is the work of the port.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use futures::FutureExt;
use futures::future::BoxFuture;
use moka::future::Cache;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use sha2::{Digest, Sha256};

use crate::ports::{Chunk, EmbedError, Embedder, EmbedderState, EmbeddingQueue, Fingerprint};
use crate::runtime::Deadline;

/// The most bytes that the cache holds: some 10,000 texts of one chunk with 384 dimensions.
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// The time after which an entry is dropped, because this process does not hear of an erasure by another one.
const KEPT_FOR: Duration = Duration::from_secs(3600);
/// The bytes that an entry is taken to need besides its vectors.
const ENTRY_BYTES: usize = 128;

type EmbeddingKey = [u8; 32];

/// The cache and its counters. Clones share both.
#[derive(Clone)]
pub(crate) struct EmbeddingCache {
    /// The cache is emptied by putting another one in its place. What is still being embedded then goes into the old
    /// one, and is dropped with it.
    kept: Arc<ArcSwap<Cache<EmbeddingKey, CachedEmbedding>>>,
    counters: Arc<EmbeddingCounters>,
}

/// Empties the cache when it is dropped.
pub(crate) struct ClearedAfter(EmbeddingCache);

impl Drop for ClearedAfter {
    fn drop(&mut self) {
        self.0.kept.store(Arc::new(empty()));
    }
}

#[derive(Default)]
struct EmbeddingCounters {
    hits: AtomicU64,
    misses: AtomicU64,
}

#[derive(Clone)]
enum CachedEmbedding {
    Query(Arc<[f32]>),
    Document(Arc<[EmbeddedRange]>),
}

struct EmbeddedRange {
    /// The place of the piece in the text, in bytes.
    range: Range<usize>,
    vector: Option<Vec<f32>>,
}

impl EmbeddingCache {
    pub(crate) fn new() -> Self {
        Self { kept: Arc::new(ArcSwap::from_pointee(empty())), counters: Arc::default() }
    }

    /// Returns a guard that empties the cache when it is dropped. The vectors of a text that is erased before then are
    /// not kept after it, not even those that are being made at that moment.
    pub(crate) fn cleared_after(&self) -> ClearedAfter {
        ClearedAfter(self.clone())
    }

    /// Returns how many texts were found in the cache, and how many had to be embedded.
    pub(crate) fn hits_and_misses(&self) -> (u64, u64) {
        (self.counters.hits.load(Ordering::Relaxed), self.counters.misses.load(Ordering::Relaxed))
    }

    /// Sets the counters to zero. The entries stay.
    pub(crate) fn reset_statistics(&self) {
        self.counters.hits.store(0, Ordering::Relaxed);
        self.counters.misses.store(0, Ordering::Relaxed);
    }

    fn count(&self, hits: usize, misses: usize) {
        self.counters.hits.fetch_add(hits as u64, Ordering::Relaxed);
        self.counters.misses.fetch_add(misses as u64, Ordering::Relaxed);
    }
}

fn empty() -> Cache<EmbeddingKey, CachedEmbedding> {
    Cache::builder()
        .max_capacity(MOST_BYTES)
        .weigher(|_, kept: &CachedEmbedding| u32::try_from(ENTRY_BYTES + kept.bytes()).unwrap_or(u32::MAX))
        .time_to_live(KEPT_FOR)
        .build()
}

impl CachedEmbedding {
    fn bytes(&self) -> usize {
        match self {
            Self::Query(vector) => size_of_val(&**vector),
            Self::Document(pieces) => {
                let vectors = pieces.iter().flat_map(|piece| &piece.vector).map(|vector| size_of_val(&**vector));
                size_of_val(&**pieces) + vectors.sum::<usize>()
            }
        }
    }

    /// Makes an entry of the chunks of a text. None where a chunk is not a part of the text after the chunk before it.
    fn document(text: &str, chunks: &[Chunk]) -> Option<Self> {
        let mut from = 0;
        let piece = |chunk: &Chunk| {
            let start = from + text[from..].find(&chunk.text)?;
            from = start + chunk.text.len();
            Some(EmbeddedRange { range: start..from, vector: chunk.vector.clone() })
        };
        Some(Self::Document(chunks.iter().map(piece).collect::<Option<_>>()?))
    }

    fn chunks(&self, text: &str) -> Option<Vec<Chunk>> {
        let Self::Document(pieces) = self else { return None };
        let chunk = |piece: &EmbeddedRange| {
            Some(Chunk { text: text.get(piece.range.clone())?.to_owned(), vector: piece.vector.clone() })
        };
        pieces.iter().map(chunk).collect()
    }
}

/// An embedder behind the cache. Equal texts in one call are embedded once, too.
#[derive(Clone)]
pub(crate) struct CachedEmbedder {
    inner: Arc<dyn Embedder>,
    cache: EmbeddingCache,
}

/// The embedder as one workspace uses it. What another workspace had embedded is embedded again: a quick answer would
/// tell that somebody else has the same text.
pub(crate) struct WorkspaceEmbedder<'a> {
    inner: &'a dyn Embedder,
    cache: &'a EmbeddingCache,
    workspace: &'a WorkspaceId,
}

impl CachedEmbedder {
    pub(crate) fn new(inner: Arc<dyn Embedder>, cache: EmbeddingCache) -> Self {
        Self { inner, cache }
    }

    pub(crate) fn fingerprint(&self) -> &Fingerprint {
        self.inner.fingerprint()
    }

    pub(crate) fn state(&self) -> EmbedderState {
        self.inner.state()
    }

    pub(crate) fn queue(&self) -> EmbeddingQueue {
        self.inner.queue()
    }

    pub(crate) fn of<'a>(&'a self, workspace: &'a WorkspaceId) -> WorkspaceEmbedder<'a> {
        WorkspaceEmbedder { inner: &*self.inner, cache: &self.cache, workspace }
    }
}

impl WorkspaceEmbedder<'_> {
    /// Returns the key of a text. `what` is a part of it, because a query and a document of the same words may have
    /// different vectors.
    fn key(&self, what: &str, text: &str) -> EmbeddingKey {
        let Fingerprint { name, hash, .. } = self.inner.fingerprint();
        let mut hasher = Sha256::new();
        for part in [what, name, hash, self.workspace.as_str(), text] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().into()
    }

    /// Makes the vector of a query, as [`Embedder::embed_query`] does.
    pub(crate) fn embed_query(&self, text: String, deadline: Deadline) -> BoxFuture<'_, Result<Vec<f32>, EmbedError>> {
        self.query(text, deadline).boxed()
    }

    /// Makes the chunks of texts, as [`Embedder::embed_documents`] does.
    pub(crate) fn embed_documents(
        &self,
        texts: Vec<String>,
        deadline: Deadline,
    ) -> BoxFuture<'_, Result<Vec<Vec<Chunk>>, EmbedError>> {
        self.documents(texts, deadline).boxed()
    }

    async fn query(&self, text: String, deadline: Deadline) -> Result<Vec<f32>, EmbedError> {
        let (kept, key) = (self.cache.kept.load_full(), self.key("query", &text));
        if let Some(CachedEmbedding::Query(vector)) = kept.get(&key).await {
            self.cache.count(1, 0);
            return Ok(vector.to_vec());
        }
        let vector = self.inner.embed_query(text, deadline).await?;
        self.cache.count(0, 1);
        kept.insert(key, CachedEmbedding::Query(vector.as_slice().into())).await;
        Ok(vector)
    }

    async fn documents(&self, texts: Vec<String>, deadline: Deadline) -> Result<Vec<Vec<Chunk>>, EmbedError> {
        let kept = self.cache.kept.load_full();
        let keys: Vec<EmbeddingKey> = texts.iter().map(|text| self.key("document", text)).collect();
        // The chunks of each text that occurs. A text that the cache lacks has none yet.
        let mut known: HashMap<EmbeddingKey, Vec<Chunk>> = HashMap::new();
        let (mut missing, mut blank) = (Vec::new(), 0);
        for (key, text) in keys.iter().zip(&texts) {
            if text.trim().is_empty() {
                blank += 1;
            } else if let Entry::Vacant(entry) = known.entry(*key) {
                let chunks = kept.get(key).await.and_then(|kept| kept.chunks(text));
                if chunks.is_none() {
                    missing.push((*key, text.clone()));
                }
                entry.insert(chunks.unwrap_or_default());
            }
        }
        if !missing.is_empty() {
            let to_embed = missing.iter().map(|(_, text)| text.clone()).collect();
            let embedded = self.inner.embed_documents(to_embed, deadline).await?;
            self.cache.count(0, missing.len());
            for ((key, text), chunks) in missing.iter().zip(embedded) {
                if let Some(document) = CachedEmbedding::document(text, &chunks) {
                    kept.insert(*key, document).await;
                }
                known.insert(*key, chunks);
            }
        }
        self.cache.count(texts.len() - blank - missing.len(), 0);
        Ok(keys.iter().map(|key| known.get(key).cloned().unwrap_or_default()).collect())
    }
}

#[cfg(test)]
mod tests;
