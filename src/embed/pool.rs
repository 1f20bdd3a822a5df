//! Several instances of the built-in model, for bulk work: each has its own thread and its own copy of the weights. A
//! server has one; not here: who needs how many.

use std::cmp::Reverse;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

use futures::FutureExt;
use futures::future::{BoxFuture, try_join_all};
use reasoning_bank_actors::ports::{Chunk, EmbedError, Embedder, EmbedderState, Fingerprint};
use reasoning_bank_actors::runtime::Deadline;

use super::BuiltinEmbedder;

/// Each has 127 MB.
const MOST_INSTANCES: usize = 4;

/// Texts of one call are shared out among the instances. There is at least one instance.
pub struct EmbedderPool<E = BuiltinEmbedder> {
    first: E,
    others: Vec<E>,
    next_query: AtomicUsize,
}

impl EmbedderPool {
    /// One for each core, at most four. Returns at once.
    pub fn new() -> Self {
        let cores = available_parallelism().map_or(1, NonZero::get);
        Self::of(BuiltinEmbedder::new(), (1..cores.min(MOST_INSTANCES)).map(|_| BuiltinEmbedder::new()).collect())
    }
}

impl Default for EmbedderPool {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: Embedder> EmbedderPool<E> {
    fn of(first: E, others: Vec<E>) -> Self {
        Self { first, others, next_query: AtomicUsize::new(0) }
    }

    fn each(&self) -> impl Iterator<Item = &E> {
        std::iter::once(&self.first).chain(&self.others)
    }

    async fn share_out(&self, texts: Vec<String>, deadline: Deadline) -> Result<Vec<Vec<Chunk>>, EmbedError> {
        let mut embedded = vec![Vec::new(); texts.len()];
        let shares = shares(texts, self.others.len() + 1);
        let work = self.each().zip(shares).map(async |(embedder, share)| {
            let (places, texts): (Vec<usize>, Vec<String>) = share.into_iter().unzip();
            let chunks = embedder.embed_documents(texts, deadline).await?;
            Ok::<_, EmbedError>(places.into_iter().zip(chunks))
        });
        for (place, chunks) in try_join_all(work).await?.into_iter().flatten() {
            embedded[place] = chunks;
        }
        Ok(embedded)
    }
}

/// The texts with their places, in `n` shares of about the same length; shares may be empty.
fn shares(texts: Vec<String>, n: usize) -> Vec<Vec<(usize, String)>> {
    let mut longest_first: Vec<(usize, String)> = texts.into_iter().enumerate().collect();
    longest_first.sort_by_key(|(_, text)| Reverse(text.len()));
    let mut shares: Vec<(usize, Vec<(usize, String)>)> = (0..n).map(|_| (0, Vec::new())).collect();
    for entry in longest_first {
        if let Some((bytes, share)) = shares.iter_mut().min_by_key(|(bytes, _)| *bytes) {
            *bytes += entry.1.len();
            share.push(entry);
        }
    }
    shares.into_iter().map(|(_, share)| share).collect()
}

impl<E: Embedder> Embedder for EmbedderPool<E> {
    fn fingerprint(&self) -> &Fingerprint {
        self.first.fingerprint()
    }

    /// Ready when all are.
    fn state(&self) -> EmbedderState {
        let states = self.each().map(Embedder::state);
        states.fold(EmbedderState::Ready, |all, one| match (&all, &one) {
            (EmbedderState::Failed(_), _) | (_, EmbedderState::Ready) => all,
            _ => one,
        })
    }

    fn embed_query(&self, text: String, deadline: Deadline) -> BoxFuture<'_, Result<Vec<f32>, EmbedError>> {
        let turn = self.next_query.fetch_add(1, Ordering::Relaxed) % (self.others.len() + 1);
        let embedder = if turn == 0 { &self.first } else { &self.others[turn - 1] };
        embedder.embed_query(text, deadline)
    }

    fn embed_documents(
        &self,
        texts: Vec<String>,
        deadline: Deadline,
    ) -> BoxFuture<'_, Result<Vec<Vec<Chunk>>, EmbedError>> {
        self.share_out(texts, deadline).boxed()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reasoning_bank_actors::testkit::HashEmbedder;

    use super::*;

    #[tokio::test]
    async fn every_text_gets_its_own_vectors_and_every_instance_its_share() {
        let pool = EmbedderPool::of(HashEmbedder::new(), vec![HashEmbedder::new(), HashEmbedder::new()]);
        let texts: Vec<String> = (0..20).map(|n| format!("text {n} {}", "word ".repeat(n % 7))).collect();
        let deadline = Deadline::after(Duration::from_secs(60));
        let alone = HashEmbedder::new().embed_documents(texts.clone(), deadline).await.unwrap();
        assert_eq!(pool.embed_documents(texts, deadline).await.unwrap(), alone);
        assert!(pool.each().all(|embedder| embedder.calls() == 1));
    }

    #[test]
    fn shares_are_of_about_the_same_length() {
        let texts: Vec<String> = (1..=40).map(|n| "x".repeat(n * n)).collect();
        let bytes = |share: Vec<(usize, String)>| share.iter().map(|(_, text)| text.len()).sum::<usize>();
        let lengths: Vec<usize> = shares(texts, 3).into_iter().map(bytes).collect();
        assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() < 400, "{lengths:?}");
    }

    #[test]
    fn the_pool_is_ready_when_all_instances_are() {
        let pool = EmbedderPool::of(HashEmbedder::new(), vec![HashEmbedder::new()]);
        assert_eq!(pool.state(), EmbedderState::Ready);
        pool.others[0].set_state(EmbedderState::Loading);
        assert_eq!(pool.state(), EmbedderState::Loading);
        pool.first.set_state(EmbedderState::Failed("no".into()));
        assert_eq!(pool.state(), EmbedderState::Failed("no".into()));
    }
}
