//! Stores memories that are yet to be embedded, and compares the rate with that of embedding the same number of such
//! texts and nothing else.

use std::time::Instant;

use futures::{StreamExt, TryStreamExt, stream};
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::Restorable;
use reasoning_bank_actors::ports::Embedder;
use reasoning_bank_actors::system::SystemHandle;

use super::fill::batch_deadline;
use super::report::Texts;
use super::synthetic::Synthetic;
use crate::eval::EvalError;

const TEXTS: u32 = 256;
/// This many texts are embedded at once.
const BATCH: usize = 64;
const BATCHES_AT_ONCE: usize = 2;

/// Measures both rates. It waits for the model to load first.
pub(crate) async fn measure<E: Embedder>(seed: u64, embedder: &E, system: &SystemHandle) -> Result<Texts, EvalError> {
    let bank = Synthetic::new(TEXTS, seed);
    let texts = |memories: &[Restorable]| memories.iter().filter_map(text).collect::<Vec<String>>();
    let alone: Vec<Vec<String>> = memories(&bank, 0).chunks(BATCH).map(texts).collect();
    let embed = async |texts| embedder.embed_documents(texts, batch_deadline()).await.map(drop).map_err(Error::from);
    embed(vec!["warm".into()]).await?;
    super::fill::opened(system).await?;
    let begun = Instant::now();
    stream::iter(alone).map(embed).buffered(BATCHES_AT_ONCE).try_collect::<()>().await?;
    let embedding = begun.elapsed();
    // Others, as embeddings are kept.
    let others: Vec<Vec<Restorable>> = memories(&bank, TEXTS).chunks(BATCH).map(<[Restorable]>::to_vec).collect();
    let begun = Instant::now();
    let restore = async |batch| system.memories.restore(batch, batch_deadline()).await.map(drop);
    stream::iter(others).map(restore).buffered(BATCHES_AT_ONCE).try_collect::<()>().await?;
    let storing = begun.elapsed();
    Ok(Texts {
        texts: TEXTS,
        embedded_per_second: f64::from(TEXTS) / embedding.as_secs_f64(),
        stored_per_second: f64::from(TEXTS) / storing.as_secs_f64(),
        stored_to_embedded: embedding.as_secs_f64() / storing.as_secs_f64(),
    })
}

/// Makes memories without vectors.
fn memories(bank: &Synthetic, first: u32) -> Vec<Restorable> {
    let mut memories: Vec<Restorable> = (first..first + TEXTS).map(|number| bank.memory(number, "")).collect();
    for memory in &mut memories {
        if let Restorable::Memory { memory, passages } = memory {
            memory.embedder = None;
            passages.clear();
        }
    }
    memories
}

fn text(thing: &Restorable) -> Option<String> {
    match thing {
        Restorable::Memory { memory, .. } => Some(memory.content_text()),
        _ => None,
    }
}
