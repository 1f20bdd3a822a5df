//! `eval embedding` measures how fast the embedding model is, by the length of texts: one text at a time, as a query is
//! embedded, and many at once on all threads, as an import is. Neither the store nor the cache of embeddings takes
//! part.

use std::time::{Duration, Instant};

use reasoning_bank_actors::ports::{EmbedError, Embedder};
use reasoning_bank_actors::runtime::Deadline;
use serde::Serialize;

use super::report::{BUILD, LatencyPercentiles};
use crate::embed::{LocalEmbedder, QUERY_TOKENS};

/// The lengths do not count the special tokens.
const TOKENS: [usize; 5] = [4, 16, 64, 128, 254];
const LEAST_SINGLES: usize = 20;
const BULK_TEXTS: usize = 64;
const EMBEDDING_TIMEOUT: Duration = Duration::from_secs(300);
/// Each of these words is one token of the built-in model, and of most others.
pub(super) const WORDS: [&str; 16] = [
    "write", "the", "version", "row", "last", "and", "check", "every", "lock", "before", "you", "open", "a", "file",
    "for", "reading",
];

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct EmbeddingReport {
    pub(crate) embedder: String,
    /// The runtime that runs the model.
    pub(crate) runtime: String,
    pub(crate) threads: usize,
    pub(crate) lengths: Vec<Length>,
    /// `debug` or `release`. The times of a debug build say little.
    pub(crate) build: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Length {
    pub(crate) tokens: usize,
    /// The times of one text at a time, in milliseconds.
    pub(crate) single_ms: LatencyPercentiles,
    /// The rate of many texts at once, on all threads.
    pub(crate) texts_per_second: f64,
}

/// Measures each length for about `time` with one text at a time, and for as long again with many. `done` is told of
/// each length.
pub(crate) async fn measure(
    embedder: &LocalEmbedder,
    time: Duration,
    done: impl Fn(u64),
) -> Result<EmbeddingReport, EmbedError> {
    // Waits for the model to load, and warms it.
    embedder.embed_documents(vec![text(16); embedder.threads()], embedding_deadline()).await?;
    let mut lengths = Vec::new();
    for tokens in TOKENS {
        let (begun, mut singles) = (Instant::now(), Vec::new());
        while singles.len() < LEAST_SINGLES || begun.elapsed() < time {
            let asked = Instant::now();
            // A longer query is not embedded whole.
            if tokens <= QUERY_TOKENS {
                embedder.embed_query(text(tokens), embedding_deadline()).await?;
            } else {
                embedder.embed_documents(vec![text(tokens)], embedding_deadline()).await?;
            }
            singles.push(asked.elapsed().as_secs_f64() * 1_000.0);
        }
        let (begun, mut texts) = (Instant::now(), 0);
        while texts == 0 || begun.elapsed() < time {
            let bulk = BULK_TEXTS * embedder.threads();
            embedder.embed_documents(vec![text(tokens); bulk], embedding_deadline()).await?;
            texts += bulk;
        }
        let texts_per_second = texts as f64 / begun.elapsed().as_secs_f64();
        lengths.push(Length { tokens, single_ms: LatencyPercentiles::of(&singles), texts_per_second });
        done(lengths.len() as u64);
    }
    Ok(EmbeddingReport {
        embedder: embedder.fingerprint().to_string(),
        runtime: embedder.runtime(),
        threads: embedder.threads(),
        lengths,
        build: BUILD,
    })
}

pub(crate) const LENGTHS: u64 = TOKENS.len() as u64;

fn embedding_deadline() -> Deadline {
    Deadline::after(EMBEDDING_TIMEOUT)
}

fn text(tokens: usize) -> String {
    WORDS.iter().cycle().take(tokens).copied().collect::<Vec<_>>().join(" ")
}
