//! The passages of a memory: what is searched of it, and whether those that are stored are those of its text.

use std::collections::BTreeMap;
use std::time::Duration;

use reasoning_bank_domain::ids::MemoryId;
use reasoning_bank_domain::memory::Memory;

use super::MemoriesHandle;
use crate::error::Error;
use crate::ports::{Chunk, EmbedderState, Filter, Page, Passage, PassageKind, Record, Scanned, StoreError};
use crate::runtime::Deadline;

/// So long a text is waited for before it is stored without vectors: most take a tenth of a second.
const PATIENCE_A_TEXT: Duration = Duration::from_secs(5);
/// Memories that get their vectors in one go: a long one takes seconds.
const FILLED_AT_ONCE: usize = 8;

impl MemoriesHandle {
    /// The passages for `memory`, which was made of `before`: those that are stored for `before` where the text is the
    /// same, else new ones.
    pub(super) async fn with_passages(
        &self,
        memory: Memory,
        before: &Memory,
        deadline: Deadline,
    ) -> Result<(Memory, Vec<Passage>), Error> {
        let is_same = memory.content_text() == before.content_text() && memory.task == before.task;
        let stored =
            if is_same { self.stored_passages(vec![before.id], deadline).await?.remove(&before.id) } else { None };
        self.with_these_or_new(memory, stored.unwrap_or_default(), deadline).await
    }

    /// These passages where they are those of the memory, else new ones. A memory and its passages are not read as of
    /// one moment, so what is stored is believed only where it is this text.
    pub(super) async fn with_these_or_new(
        &self,
        mut memory: Memory,
        stored: Vec<Passage>,
        deadline: Deadline,
    ) -> Result<(Memory, Vec<Passage>), Error> {
        if are_passages_of(&memory, &stored) {
            return Ok((memory, stored));
        }
        let texts = vec![memory.task.clone(), memory.content_text()];
        let (embedder, chunks) = self.embed(texts, deadline).await?;
        memory.embedder = embedder;
        Ok((memory, of_task_and_content(chunks)))
    }

    pub(super) async fn stored_passages(
        &self,
        of: Vec<MemoryId>,
        deadline: Deadline,
    ) -> Result<BTreeMap<MemoryId, Vec<Passage>>, Error> {
        match self.store.scan(Filter::Passages(of), Page::first(1), deadline).await? {
            Scanned::Passages(passages) => Ok(passages),
            _ => Err(Error::internal("a scan of passages gave something else")),
        }
    }

    /// The pieces of each text with their vectors; without, and without a fingerprint, where the embedder failed or does
    /// not make them soon, at the latest within half the caller's time: what is to be stored is stored, found by its words alone until
    /// [`Self::fill_vectors`] comes to it.
    pub(super) async fn embed(
        &self,
        texts: Vec<String>,
        deadline: Deadline,
    ) -> Result<(Option<String>, Vec<Vec<Chunk>>), Error> {
        if deadline.passed() {
            return Err(Error::DeadlineExceeded);
        }
        // A model that loads is waited for; one that is there is slow because the text is dense or the machine busy.
        let is_ready = self.embedder.state() == EmbedderState::Ready;
        let full = texts.iter().filter(|text| !text.trim().is_empty()).count();
        let enough = PATIENCE_A_TEXT.saturating_mul(u32::try_from(full).unwrap_or(u32::MAX));
        let patience = if is_ready { deadline.halfway().at_most(enough) } else { deadline.halfway() };
        match self.embedder.embed_documents(texts.clone(), patience).await {
            Ok(chunks) => Ok((Some(self.embedder.fingerprint().to_string()), chunks)),
            Err(error) => {
                tracing::debug!(%error, texts = texts.len(), "stored without vectors");
                Ok((None, texts.into_iter().map(whole).collect()))
            }
        }
    }

    /// Gives some memories that were stored without vectors theirs, and says how many it gave them to. None of them is
    /// newer or older for it.
    ///
    /// # Errors
    /// Those of the store, and of the embedder.
    pub async fn fill_vectors(&self, deadline: Deadline) -> Result<usize, Error> {
        let without = self.store.scan(Filter::WithoutVectors, Page::first(FILLED_AT_ONCE), deadline).await?;
        let Scanned::Stored(ids) = without else {
            return Err(Error::internal("a look-up of memories without vectors gave something else"));
        };
        let ids: Vec<MemoryId> = ids.into_iter().map(MemoryId::from).collect();
        let mut filled = 0;
        for row in if ids.is_empty() { Vec::new() } else { self.store.get(ids, deadline).await? } {
            let updated_at = row.memory.updated_at;
            let mut memory = row.memory.revised(updated_at);
            let texts = vec![memory.task.clone(), memory.content_text()];
            let chunks = self.embedder.embed_documents(texts, deadline).await?;
            memory.embedder = Some(self.embedder.fingerprint().to_string());
            let passages = of_task_and_content(chunks);
            match self.store.commit(vec![Record::Revision { memory, passages }], deadline).await {
                Ok(_) => filled += 1,
                // Somebody changed it, and made its vectors with that, or the next look finds it again.
                Err(Error::Store(StoreError::Conflict(_))) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

/// The passages of a task and of a content, in this order.
fn of_task_and_content(chunks: Vec<Vec<Chunk>>) -> Vec<Passage> {
    let kinds = [PassageKind::Task, PassageKind::Content];
    kinds.into_iter().zip(chunks).flat_map(|(kind, chunks)| passages(kind, chunks)).collect()
}

/// A text for which there is no embedder.
fn whole(text: String) -> Vec<Chunk> {
    if text.trim().is_empty() { Vec::new() } else { vec![Chunk { text, vector: None }] }
}

pub(super) fn passages(kind: PassageKind, chunks: Vec<Chunk>) -> Vec<Passage> {
    let passage = |(n, chunk): (usize, Chunk)| Passage { kind, n: n as u32, text: chunk.text, vector: chunk.vector };
    chunks.into_iter().enumerate().map(passage).collect()
}

/// Whether the passages are the memory's texts, whole and nothing else.
pub(super) fn are_passages_of(memory: &Memory, passages: &[Passage]) -> bool {
    are_pieces_of(&memory.task, PassageKind::Task, passages)
        && are_pieces_of(&memory.content_text(), PassageKind::Content, passages)
}

/// Whether the passages of this kind are the whole text; white space may be lost where it was cut.
fn are_pieces_of(text: &str, kind: PassageKind, passages: &[Passage]) -> bool {
    let mut pieces: Vec<&Passage> = passages.iter().filter(|passage| passage.kind == kind).collect();
    pieces.sort_by_key(|passage| passage.n);
    let numbered = pieces.iter().enumerate().all(|(n, passage)| passage.n as usize == n);
    let signs = pieces.iter().flat_map(|passage| passage.text.chars()).filter(|c| !c.is_whitespace());
    numbered && signs.eq(text.chars().filter(|c| !c.is_whitespace()))
}
