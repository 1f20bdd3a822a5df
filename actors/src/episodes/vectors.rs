//! The vectors of episodes. They are made with an episode where the embedder is quick enough, and later otherwise: by a
//! search for the newest ones, and in the background for all.

use reasoning_bank_domain::episode::{EpisodeFilter, EpisodeTexts, EpisodeVectors, QuantizedVector, Visibility};
use reasoning_bank_domain::memory::trace::Trace;

use super::EpisodesHandle;
use crate::error::Error;
use crate::ports::{Chunk, EmbedError, Record};
use crate::runtime::Deadline;

/// The number of episodes that get their vectors at once.
const FILLED_AT_ONCE: usize = 32;

impl EpisodesHandle {
    /// Makes the vectors of an episode. None where the embedder fails or is too slow.
    pub(super) async fn vectors_of(&self, trace: &Trace, revision: u64, deadline: Deadline) -> Option<EpisodeVectors> {
        match self.embedded(trace, revision, deadline).await {
            Ok(vectors) => Some(vectors),
            Err(error) => {
                tracing::debug!(%error, "an episode is stored without vectors");
                None
            }
        }
    }

    async fn embedded(&self, trace: &Trace, revision: u64, deadline: Deadline) -> Result<EpisodeVectors, EmbedError> {
        let EpisodeTexts { task, outcome, whole } = EpisodeTexts::of(trace);
        let workspace_id = trace.metadata.workspace_id.clone();
        let embedder = self.embedder.of(&workspace_id);
        let chunks = embedder.embed_documents(vec![task, outcome, whole], deadline).await?;
        let mut vectors = chunks.iter().map(|chunks| direction(chunks));
        let mut next = || vectors.next().flatten();
        let (task, outcome, whole) = (next(), next(), next());
        Ok(EpisodeVectors {
            episode_id: trace.trace_id,
            created_at: trace.created_at,
            revision,
            embedder: self.embedder.fingerprint().to_string(),
            task,
            outcome,
            whole,
            workspace_id,
        })
    }

    /// Makes the vectors of the newest episodes that the filter lets through and that have none of this embedder.
    /// Returns how many got theirs.
    pub(super) async fn fill(&self, filter: EpisodeFilter, deadline: Deadline) -> Result<usize, Error> {
        let embedder = self.embedder.fingerprint().to_string();
        let lacking = self.store.episodes_without_vectors(filter, embedder, FILLED_AT_ONCE, deadline).await?;
        let mut made = Vec::new();
        for (trace, revision) in lacking {
            made.push(Record::EpisodeVectors(self.embedded(&trace, revision, deadline).await?));
        }
        let filled = made.len();
        if filled > 0 {
            self.store.commit(made, deadline).await?;
        }
        Ok(filled)
    }

    /// Makes the vectors of some episodes, of any workspace, that have none. Returns how many got theirs.
    ///
    /// # Errors
    /// The errors of the store and of the embedder.
    pub async fn fill_vectors(&self, deadline: Deadline) -> Result<usize, Error> {
        let filter = EpisodeFilter::of_all(self.rules, self.clock.now());
        let visible = vec![Visibility::Active, Visibility::Archived];
        self.fill(EpisodeFilter { visible, ..filter }, deadline).await
    }
}

/// Returns the direction of a text: the mean of its pieces. None where it has no vector.
fn direction(chunks: &[Chunk]) -> Option<QuantizedVector> {
    let mut vectors = chunks.iter().filter_map(|chunk| chunk.vector.as_deref());
    let mut sum = vectors.next()?.to_vec();
    for vector in vectors {
        sum.iter_mut().zip(vector).for_each(|(sum, number)| *sum += number);
    }
    QuantizedVector::of(&sum)
}
