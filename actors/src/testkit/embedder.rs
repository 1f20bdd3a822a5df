//! An embedder without a model. The vector of a text is the sum of its words, each hashed to 64 numbers. Texts that
//! share words are near to each other, which is all that tests of recall need. It knows no meaning.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use sha2::{Digest, Sha256};
use tokio::sync::watch;
use tokio::time::{sleep, timeout_at};

use crate::ports::{Chunk, EmbedError, Embedder, EmbedderState, Fingerprint};
use crate::runtime::Deadline;

const DIMS: usize = 64;
/// The window of the pretended model, in words.
const WORDS_PER_CHUNK: usize = 128;

pub struct HashEmbedder {
    fingerprint: Fingerprint,
    state: watch::Sender<EmbedderState>,
    delay: watch::Sender<Duration>,
    calls: AtomicUsize,
}

impl Default for HashEmbedder {
    fn default() -> Self {
        Self {
            fingerprint: Fingerprint { name: "hash".into(), dims: DIMS, hash: "0".repeat(64) },
            state: watch::Sender::new(EmbedderState::Ready),
            delay: watch::Sender::new(Duration::ZERO),
            calls: AtomicUsize::new(0),
        }
    }
}

impl HashEmbedder {
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the state from now on. Calls that wait for the model to load then go on.
    pub fn set_state(&self, state: EmbedderState) {
        self.state.send_replace(state);
    }

    /// Sets how long each call takes from now on.
    pub fn set_delay(&self, delay: Duration) {
        self.delay.send_replace(delay);
    }

    /// Counts the calls so far, whatever became of them.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    async fn embed<T>(&self, deadline: Deadline, result: T) -> Result<T, EmbedError> {
        let delay = *self.delay.borrow();
        timeout_at(deadline.instant(), sleep(delay)).await.map_err(|_| EmbedError::TimedOut)?;
        Ok(result)
    }
}

impl Embedder for HashEmbedder {
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn state(&self) -> EmbedderState {
        self.state.borrow().clone()
    }

    fn embed_query(&self, text: String, deadline: Deadline) -> BoxFuture<'_, Result<Vec<f32>, EmbedError>> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        async move {
            match self.state() {
                EmbedderState::Loading => Err(EmbedError::Loading),
                EmbedderState::Failed(reason) => Err(EmbedError::Failed(reason)),
                EmbedderState::Ready => self.embed(deadline, query_vector(&text)).await,
            }
        }
        .boxed()
    }

    fn embed_documents(
        &self,
        texts: Vec<String>,
        deadline: Deadline,
    ) -> BoxFuture<'_, Result<Vec<Vec<Chunk>>, EmbedError>> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        async move {
            let mut state = self.state.subscribe();
            let loaded = state.wait_for(|state| *state != EmbedderState::Loading);
            match timeout_at(deadline.instant(), loaded).await {
                Ok(Ok(state)) => {
                    if let EmbedderState::Failed(reason) = &*state {
                        return Err(EmbedError::Failed(reason.clone()));
                    }
                }
                Ok(Err(_)) | Err(_) => return Err(EmbedError::TimedOut),
            }
            self.embed(deadline, texts.iter().map(|text| chunks(text)).collect()).await
        }
        .boxed()
    }
}

fn chunks(text: &str) -> Vec<Chunk> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let pieces = words.chunks(WORDS_PER_CHUNK).map(|piece| piece.join(" "));
    pieces.map(|text| Chunk { vector: Some(vector(&text)), text }).collect()
}

/// Makes the normalised mean of the pieces, as a real model does.
fn query_vector(text: &str) -> Vec<f32> {
    let mut mean = vec![0.0; DIMS];
    for piece in chunks(text).into_iter().filter_map(|chunk| chunk.vector) {
        mean.iter_mut().zip(&piece).for_each(|(sum, x)| *sum += x);
    }
    normalised(mean)
}

/// Sums up the words of a text. A word is the first 64 bits of its hash, each +1 or -1. So other words are nearly at
/// right angles to it, and none cancels another one out, as it would with one bucket per word.
fn vector(text: &str) -> Vec<f32> {
    let mut sum = vec![0.0; DIMS];
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let hash = Sha256::digest(word.to_lowercase());
        for (n, x) in sum.iter_mut().enumerate() {
            *x += if hash[n / 8] >> (n % 8) & 1 == 0 { 1.0 } else { -1.0 };
        }
    }
    normalised(sum)
}

/// Scales a vector to length 1. A text without words still gets a unit vector.
fn normalised(mut vector: Vec<f32>) -> Vec<f32> {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if norm > 0.0 {
        vector.iter_mut().for_each(|x| *x /= norm);
    } else {
        vector[0] = 1.0;
    }
    vector
}
