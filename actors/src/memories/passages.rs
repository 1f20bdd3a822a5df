//! The passages of a memory: what is searched of it, and whether those that are stored are those of its text.

use std::collections::BTreeMap;

use reasoning_bank_domain::ids::MemoryId;
use reasoning_bank_domain::memory::Memory;

use super::MemoriesHandle;
use crate::error::Error;
use crate::ports::{Chunk, EmbedError, Filter, Page, Passage, PassageKind, Scanned};
use crate::runtime::Deadline;

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
        let kinds = [PassageKind::Task, PassageKind::Content];
        Ok((memory, kinds.into_iter().zip(chunks).flat_map(|(kind, chunks)| passages(kind, chunks)).collect()))
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

    /// The pieces of each text with their vectors; without, and without a fingerprint, where the embedder failed for
    /// good: memories are then found by their words alone.
    pub(super) async fn embed(
        &self,
        texts: Vec<String>,
        deadline: Deadline,
    ) -> Result<(Option<String>, Vec<Vec<Chunk>>), Error> {
        match self.embedder.embed_documents(texts.clone(), deadline).await {
            Ok(chunks) => Ok((Some(self.embedder.fingerprint().to_string()), chunks)),
            Err(EmbedError::Failed(_)) => Ok((None, texts.into_iter().map(whole).collect())),
            Err(error) => Err(error.into()),
        }
    }
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
