//! Asks a bank that is made up, one query after another, by the call that every client's question takes, and measures
//! each part of a query by itself.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::RetrieveRequest;
use reasoning_bank_actors::ports::{Embedder, Recall};
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::retrieval::candidates::{Candidates, over_fetch};
use tokio_util::task::AbortOnDropHandle;

use super::fill::{self, batch_deadline};
use super::ms;
use super::report::{DuringUpkeep, QueryParts};
use super::synthetic::{Synthetic, SyntheticQuery};
use crate::eval::embedding::WORDS;
use crate::eval::report::LatencyPercentiles;
use crate::eval::{EvalError, TimedEmbedder, retrieval};

/// This many queries are measured.
pub(crate) const QUERIES: u32 = 500;
/// The first of them are asked of the tables as well.
pub(crate) const FEWER: usize = 100;
/// The first of them are taken apart.
const TAKEN_APART: usize = 200;
/// The nearest memories of the first of them are held against exact search.
pub(crate) const COMPARED: usize = 50;
/// This many further queries warm the bank up before anything is measured.
pub(crate) const WARMING: u32 = 50;
pub(crate) const NEAREST: usize = 10;
const RESULTS: usize = 10;
const EMBEDDED: usize = 100;
const FRESH: u32 = 5_000;
const FRESH_AT_ONCE: usize = 10;
/// No more queries than these are asked while upkeep runs.
const MOST_DURING_UPKEEP: usize = 20_000;
const LOOK_EVERY: Duration = Duration::from_millis(100);

pub(crate) struct QueryRunner<'a> {
    pub(crate) system: &'a SystemHandle,
    pub(crate) queries: &'a [SyntheticQuery],
    /// Queries that warm the bank up.
    pub(crate) warming: &'a [SyntheticQuery],
}

impl QueryRunner<'_> {
    /// Returns when the store answers.
    pub(crate) async fn opened(&self) -> Result<(), EvalError> {
        Ok(fill::opened(self.system).await?)
    }

    pub(crate) async fn ask(&self, text: &str) -> Result<Duration, EvalError> {
        let request =
            RetrieveRequest { min_relevance: Some(0.0), ..RetrieveRequest::new(text, Synthetic::workspace(), RESULTS) };
        let begun = Instant::now();
        let found = self.system.memories.retrieve(request, batch_deadline()).await?;
        let took = begun.elapsed();
        if found.memories.is_empty() {
            return Err(EvalError::Part(format!("nothing was found for {text:?}: {:?}", found.notes)));
        }
        Ok(took)
    }

    pub(crate) async fn warm(&self) -> Result<(), EvalError> {
        for query in self.warming {
            self.ask(&query.text).await?;
        }
        Ok(())
    }

    /// Asks from time to time until `is_resident`, for at most `limit`. It returns how long that took, or none where it
    /// did not come to that.
    pub(crate) async fn until_resident(
        &self,
        limit: Duration,
        is_resident: impl AsyncFn() -> bool,
    ) -> Result<Option<Duration>, EvalError> {
        let begun = Instant::now();
        for query in self.warming.iter().cycle() {
            if is_resident().await {
                return Ok(Some(begun.elapsed()));
            }
            if begun.elapsed() > limit {
                break;
            }
            tokio::time::sleep(LOOK_EVERY).await;
            self.ask(&query.text).await?;
        }
        Ok(None)
    }

    /// Asks all queries without embedding, and returns their times in milliseconds.
    pub(crate) async fn at_rest(&self, done: impl Fn(u64)) -> Result<Vec<f64>, EvalError> {
        let mut times = Vec::new();
        for query in self.queries {
            times.push(ms(self.ask(&query.text).await?));
            done(times.len() as u64);
        }
        Ok(times)
    }

    /// Takes the same queries apart. `whole` holds what they took as a whole.
    pub(crate) async fn parts(&self, whole: &[f64]) -> Result<QueryParts, EvalError> {
        let store = &self.system.store;
        let (mut candidates, mut vector_list, mut text_list, mut bodies, mut rest) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (query, whole) in self.queries.iter().zip(whole).take(TAKEN_APART) {
            let both = query.recall(over_fetch(RESULTS));
            let (vector, text) = (Recall { text: None, ..both.clone() }, Recall { vector: None, ..both.clone() });
            let (found, both_took) = timed(store.candidates(both, batch_deadline())).await?;
            let (_, vector_took) = timed(store.candidates(vector, batch_deadline())).await?;
            let (_, text_took) = timed(store.candidates(text, batch_deadline())).await?;
            let (_, bodies_took) = timed(store.get(heads(&found), batch_deadline())).await?;
            candidates.push(both_took);
            vector_list.push(vector_took);
            text_list.push(text_took);
            bodies.push(bodies_took);
            rest.push((whole - both_took - bodies_took).max(0.0));
        }
        Ok(QueryParts {
            candidates: LatencyPercentiles::of(&candidates),
            vector_list: LatencyPercentiles::of(&vector_list),
            text_list: LatencyPercentiles::of(&text_list),
            bodies: LatencyPercentiles::of(&bodies),
            fusion_and_scores: LatencyPercentiles::of(&rest),
        })
    }

    /// Returns the numbers of the nearest memories of the first queries, by the vector list alone.
    pub(crate) async fn nearest(&self) -> Result<Vec<Vec<u32>>, EvalError> {
        let mut nearest = Vec::new();
        for query in self.queries.iter().take(COMPARED) {
            let recall = Recall { text: None, ..query.recall(over_fetch(NEAREST)) };
            let list = self.system.store.candidates(recall, batch_deadline()).await?.vector.unwrap_or_default();
            nearest.push(list.hits.into_iter().take(NEAREST).map(|(id, _)| Synthetic::number(id)).collect());
        }
        Ok(nearest)
    }

    /// Asks queries that are embedded first. It returns the times of the whole, and those of the embedding alone.
    pub(crate) async fn with_embedding<E: Embedder>(
        &self,
        embedder: &TimedEmbedder<E>,
    ) -> Result<(LatencyPercentiles, LatencyPercentiles), EvalError> {
        // The first one warms the model.
        self.ask(&text(EMBEDDED)).await?;
        let (mut whole, mut alone) = (Vec::new(), Vec::new());
        for number in 0..EMBEDDED {
            embedder.take_last();
            whole.push(ms(self.ask(&text(number)).await?));
            alone.push(ms(embedder.take_last()));
        }
        Ok((LatencyPercentiles::of(&whole), LatencyPercentiles::of(&alone)))
    }

    /// Stores memories, a few at a time, then asks while upkeep runs.
    pub(crate) async fn during_upkeep(&self, bank: &Synthetic) -> Result<DuringUpkeep, EvalError> {
        let embedder = Synthetic::fingerprint().to_string();
        let fresh: Vec<u32> = (bank.rows()..bank.rows() + FRESH.min(bank.rows())).collect();
        let mut commits = Vec::new();
        for few in fresh.chunks(FRESH_AT_ONCE) {
            let few = few.iter().map(|number| bank.memory(*number, &embedder)).collect();
            let (_, took) = timed(self.system.memories.restore(few, batch_deadline())).await?;
            commits.push(took);
        }
        let begun = Instant::now();
        let system = self.system.clone();
        let upkeep = AbortOnDropHandle::new(tokio::spawn(async move { retrieval::finish_upkeep(&system).await }));
        let mut times = Vec::new();
        for query in self.queries.iter().cycle().take(MOST_DURING_UPKEEP) {
            if upkeep.is_finished() {
                break;
            }
            times.push(ms(self.ask(&query.text).await?));
        }
        upkeep.await.map_err(Error::internal)??;
        Ok(DuringUpkeep {
            fresh_rows: fresh.len() as u32,
            commit_ms: LatencyPercentiles::of(&commits),
            upkeep_ms: ms(begun.elapsed()),
            queries: times.len(),
            query_ms: LatencyPercentiles::of(&times),
        })
    }
}

/// Picks as many memories as an answer has, from the heads of both lists.
fn heads(found: &Candidates) -> Vec<MemoryId> {
    let heads = [&found.vector, &found.text].into_iter().flatten().flat_map(|list| list.hits.iter().take(RESULTS));
    let distinct: BTreeSet<MemoryId> = heads.map(|(id, _)| *id).collect();
    let every = distinct.len().div_ceil(RESULTS).max(1);
    distinct.into_iter().step_by(every).collect()
}

/// Makes a text of 16 tokens. Each number below 256 has another text, so that nothing is embedded twice.
fn text(number: usize) -> String {
    let count = WORDS.len();
    let first = [number / count % count, number % count];
    first.into_iter().chain(2..count).map(|n| WORDS[n]).collect::<Vec<_>>().join(" ")
}

async fn timed<T>(work: impl Future<Output = Result<T, Error>>) -> Result<(T, f64), EvalError> {
    let begun = Instant::now();
    let done = work.await?;
    Ok((done, ms(begun.elapsed())))
}
