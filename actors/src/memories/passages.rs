//! The passages of a memory: what is searched of it, and whether those that are stored are those of its text.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use reasoning_bank_domain::memory::{Memory, SearchTexts};

use super::MemoriesHandle;
use crate::error::Error;
use crate::ports::{Chunk, EmbedderState, Passage, PassageKind, Record, StoreError};
use crate::runtime::Deadline;

/// So long a text is waited for before it is stored without vectors: most take a tenth of a second.
const PATIENCE_A_TEXT: Duration = Duration::from_secs(5);
/// Memories that get their vectors in one go: a long one takes seconds.
const FILLED_AT_ONCE: usize = 8;

impl MemoriesHandle {
    /// The passages for `memory`, which was made of `before`: those that are stored for `before`, with those of texts that
    /// have been added; new ones where a text was changed.
    pub(super) async fn with_passages(
        &self,
        memory: Memory,
        before: &Memory,
        deadline: Deadline,
    ) -> Result<(Memory, Vec<Passage>), Error> {
        let Some(added) = added(&before.search_texts(), &memory.search_texts()) else {
            return Ok(self.with_these_or_new(memory, Vec::new(), deadline).await);
        };
        let stored = self.store.passages(vec![before.id], deadline).await?.remove(&before.id).unwrap_or_default();
        let more = match added == SearchTexts::default() {
            true => Vec::new(),
            false => passages_of(&added, &self.chunks_of([&added], deadline).await.1),
        };
        Ok(self.with_these_or_new(memory, with_more(stored, more), deadline).await)
    }

    /// These passages where they are those of the memory, else new ones. A memory and its passages are not read as of
    /// one moment, so what is stored is believed only where it is this text.
    pub(super) async fn with_these_or_new(
        &self,
        memory: Memory,
        stored: Vec<Passage>,
        deadline: Deadline,
    ) -> (Memory, Vec<Passage>) {
        if are_passages_of(&memory, &stored) {
            return (memory, stored);
        }
        let searched = memory.search_texts();
        let (embedder, chunks) = self.chunks_of([&searched], deadline).await;
        (Memory { embedder, ..memory }, passages_of(&searched, &chunks))
    }

    /// The memories with new passages, in their order. A text that several of them have is embedded once.
    pub(super) async fn embedded(&self, memories: Vec<Memory>, deadline: Deadline) -> Vec<(Memory, Vec<Passage>)> {
        let searched: Vec<SearchTexts> = memories.iter().map(Memory::search_texts).collect();
        let (embedder, chunks) = self.chunks_of(&searched, deadline).await;
        let with_passages = |(memory, searched): (Memory, SearchTexts)| {
            (Memory { embedder: embedder.clone(), ..memory }, passages_of(&searched, &chunks))
        };
        memories.into_iter().zip(searched).map(with_passages).collect()
    }

    async fn chunks_of(
        &self,
        searched: impl IntoIterator<Item = &SearchTexts>,
        deadline: Deadline,
    ) -> (Option<String>, HashMap<String, Vec<Chunk>>) {
        let texts: Vec<String> = texts_of(searched).into_iter().map(str::to_owned).collect();
        let (embedder, chunks) = self.embed(texts.clone(), deadline).await;
        (embedder, texts.into_iter().zip(chunks).collect())
    }

    /// The pieces of each text with their vectors; without, and without a fingerprint, where the embedder failed or does
    /// not make them soon, at the latest within half the caller's time: what is to be stored is stored, found by its words
    /// alone until [`Self::fill_vectors`] comes to it.
    async fn embed(&self, texts: Vec<String>, deadline: Deadline) -> (Option<String>, Vec<Vec<Chunk>>) {
        // A model that loads is waited for; one that is there is slow because the text is dense or the machine busy.
        let is_ready = self.embedder.state() == EmbedderState::Ready;
        let full = texts.iter().filter(|text| !text.trim().is_empty()).count();
        let enough = PATIENCE_A_TEXT.saturating_mul(u32::try_from(full).unwrap_or(u32::MAX));
        let patience = if is_ready { deadline.halfway().at_most(enough) } else { deadline.halfway() };
        match self.embedder.embed_documents(texts.clone(), patience).await {
            Ok(chunks) => (Some(self.embedder.fingerprint().to_string()), chunks),
            Err(error) => {
                tracing::debug!(%error, texts = texts.len(), "stored without vectors");
                (None, texts.into_iter().map(whole).collect())
            }
        }
    }

    /// Gives some memories that were stored without vectors theirs, and says how many it gave them to. None of them is
    /// newer or older for it.
    ///
    /// # Errors
    /// Those of the store, and of the embedder.
    pub async fn fill_vectors(&self, deadline: Deadline) -> Result<usize, Error> {
        let ids = self.store.without_vectors(FILLED_AT_ONCE, deadline).await?;
        let mut filled = 0;
        for row in if ids.is_empty() { Vec::new() } else { self.store.get(ids, deadline).await? } {
            let updated_at = row.memory.updated_at;
            let mut memory = row.memory.revised(updated_at);
            let searched = memory.search_texts();
            let texts: Vec<String> = texts_of([&searched]).into_iter().map(str::to_owned).collect();
            let chunks = self.embedder.embed_documents(texts.clone(), deadline).await?;
            memory.embedder = Some(self.embedder.fingerprint().to_string());
            let passages = passages_of(&searched, &texts.into_iter().zip(chunks).collect());
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

/// The texts that memories are searched by, each once.
fn texts_of<'a>(searched: impl IntoIterator<Item = &'a SearchTexts>) -> BTreeSet<&'a str> {
    searched.into_iter().flat_map(|of| of.tasks.iter().chain(&of.contents)).map(String::as_str).collect()
}

/// The passages of these texts, whose pieces are known. Those of one kind are numbered from the first text on.
fn passages_of(searched: &SearchTexts, chunks: &HashMap<String, Vec<Chunk>>) -> Vec<Passage> {
    let of_kind = |(kind, texts): (PassageKind, &[String])| -> Vec<Passage> {
        let chunks = texts.iter().filter_map(|text| chunks.get(text)).flatten().cloned();
        let passage =
            |(n, chunk): (usize, Chunk)| Passage { kind, n: n as u32, text: chunk.text, vector: chunk.vector };
        chunks.enumerate().map(passage).collect()
    };
    by_kind(searched).into_iter().flat_map(of_kind).collect()
}

fn by_kind(searched: &SearchTexts) -> [(PassageKind, &[String]); 2] {
    [(PassageKind::Task, &searched.tasks), (PassageKind::Content, &searched.contents)]
}

/// A text for which there is no embedder.
fn whole(text: String) -> Vec<Chunk> {
    if text.trim().is_empty() { Vec::new() } else { vec![Chunk { text, vector: None }] }
}

/// What is searched beyond what was before; none where something else was changed.
fn added(before: &SearchTexts, after: &SearchTexts) -> Option<SearchTexts> {
    Some(SearchTexts {
        tasks: after.tasks.strip_prefix(before.tasks.as_slice())?.to_vec(),
        contents: after.contents.strip_prefix(before.contents.as_slice())?.to_vec(),
    })
}

/// Passages of a memory that has grown: those that are stored, then more, numbered on.
pub(super) fn with_more(stored: Vec<Passage>, more: impl IntoIterator<Item = Passage>) -> Vec<Passage> {
    let mut all = stored;
    for passage in more {
        let n = all.iter().filter(|other| other.kind == passage.kind).count() as u32;
        all.push(Passage { n, ..passage });
    }
    all
}

/// Whether the passages are the memory's texts, whole and nothing else.
pub(super) fn are_passages_of(memory: &Memory, passages: &[Passage]) -> bool {
    let searched = memory.search_texts();
    by_kind(&searched).into_iter().all(|(kind, texts)| are_pieces_of(texts, kind, passages))
}

/// Whether the passages of this kind are these texts, one after the other; white space may be lost where they were cut.
fn are_pieces_of(texts: &[String], kind: PassageKind, passages: &[Passage]) -> bool {
    let mut pieces: Vec<&Passage> = passages.iter().filter(|passage| passage.kind == kind).collect();
    pieces.sort_by_key(|passage| passage.n);
    let numbered = pieces.iter().enumerate().all(|(n, passage)| passage.n as usize == n);
    let signs = pieces.iter().flat_map(|passage| passage.text.chars()).filter(|c| !c.is_whitespace());
    numbered && signs.eq(texts.iter().flat_map(|text| text.chars()).filter(|c| !c.is_whitespace()))
}
