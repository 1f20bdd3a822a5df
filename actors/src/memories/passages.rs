//! The passages of a memory: which texts of it are searched, and whether the stored passages are those of its texts.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::memory::{Memory, SearchTexts};

use super::MemoriesHandle;
use crate::error::Error;
use crate::ports::{Chunk, EmbedderState, Passage, PassageKind, Record, StoreError};
use crate::runtime::Deadline;

/// The time limit for making the vectors of one text, which is stored without them after that. Most texts take a tenth
/// of a second.
const TIMEOUT_PER_TEXT: Duration = Duration::from_secs(5);
/// The number of memories that get their vectors in one go. It is small because a long memory takes seconds.
const FILLED_AT_ONCE: usize = 8;

impl MemoriesHandle {
    /// Returns `memory`, which was made of `before`, with its passages. These are the passages that are stored for
    /// `before`, with those of texts that have been added. Where a text was changed, all of them are new.
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
            false => passages_of(&added, &self.chunks_of(&memory.workspace_id, [&added], deadline).await.1),
        };
        Ok(self.with_these_or_new(memory, with_more(stored, more), deadline).await)
    }

    /// Returns the memory with these passages where they are those of its texts, or else with new ones. A memory and
    /// its passages are not read as of one moment, so stored passages are believed only where they hold these texts.
    pub(crate) async fn with_these_or_new(
        &self,
        memory: Memory,
        stored: Vec<Passage>,
        deadline: Deadline,
    ) -> (Memory, Vec<Passage>) {
        if are_passages_of(&memory, &stored) {
            return (memory, stored);
        }
        let searched = memory.search_texts();
        let (embedder, chunks) = self.chunks_of(&memory.workspace_id, [&searched], deadline).await;
        (Memory { embedder, ..memory }, passages_of(&searched, &chunks))
    }

    /// Returns the memories with new passages, in their order. A text that several memories of one workspace have is
    /// embedded once, where they stand next to each other.
    pub(super) async fn embedded(&self, memories: Vec<Memory>, deadline: Deadline) -> Vec<(Memory, Vec<Passage>)> {
        let mut embedded = Vec::with_capacity(memories.len());
        for of_one in memories.chunk_by(|one, next| one.workspace_id == next.workspace_id) {
            let Some(Memory { workspace_id, .. }) = of_one.first() else { continue };
            let searched: Vec<SearchTexts> = of_one.iter().map(Memory::search_texts).collect();
            let (embedder, chunks) = self.chunks_of(workspace_id, &searched, deadline).await;
            embedded.extend(of_one.iter().zip(searched).map(|(memory, searched)| {
                (Memory { embedder: embedder.clone(), ..memory.clone() }, passages_of(&searched, &chunks))
            }));
        }
        embedded
    }

    async fn chunks_of(
        &self,
        workspace: &WorkspaceId,
        searched: impl IntoIterator<Item = &SearchTexts>,
        deadline: Deadline,
    ) -> (Option<String>, HashMap<String, Vec<Chunk>>) {
        let texts: Vec<String> = texts_of(searched).into_iter().map(str::to_owned).collect();
        let (embedder, chunks) = self.embed(workspace, texts.clone(), deadline).await;
        (embedder, texts.into_iter().zip(chunks).collect())
    }

    /// Returns the pieces of each text with their vectors. Where the embedder fails or is too slow, there are no
    /// vectors and no fingerprint. Then the text is stored all the same, and found by its words alone until
    /// [`Self::fill_vectors`] comes to it. The embedder gets at most half the caller's time.
    async fn embed(
        &self,
        workspace: &WorkspaceId,
        texts: Vec<String>,
        deadline: Deadline,
    ) -> (Option<String>, Vec<Vec<Chunk>>) {
        // A model that loads is waited for. One that is ready is slow only because the text is dense or the machine is
        // busy.
        let is_ready = self.embedder.state() == EmbedderState::Ready;
        let full = texts.iter().filter(|text| !text.trim().is_empty()).count();
        let enough = TIMEOUT_PER_TEXT.saturating_mul(u32::try_from(full).unwrap_or(u32::MAX));
        let timeout = if is_ready { deadline.halfway().at_most(enough) } else { deadline.halfway() };
        match self.embedder.of(workspace).embed_documents(texts.clone(), timeout).await {
            Ok(chunks) => (Some(self.embedder.fingerprint().to_string()), chunks),
            Err(error) => {
                tracing::debug!(%error, texts = texts.len(), "stored without vectors");
                (None, texts.into_iter().map(whole).collect())
            }
        }
    }

    /// Makes vectors for some memories that were stored without them. Returns how many memories got theirs. The time of
    /// their last change stays.
    ///
    /// # Errors
    /// The errors of the store and of the embedder.
    pub async fn fill_vectors(&self, deadline: Deadline) -> Result<usize, Error> {
        let ids = self.store.without_vectors(FILLED_AT_ONCE, deadline).await?;
        let mut filled = 0;
        for row in if ids.is_empty() { Vec::new() } else { self.store.get(ids, deadline).await? } {
            let updated_at = row.memory.updated_at;
            let mut memory = row.memory.revised(updated_at);
            let searched = memory.search_texts();
            let texts: Vec<String> = texts_of([&searched]).into_iter().map(str::to_owned).collect();
            let embedder = self.embedder.of(&memory.workspace_id);
            let chunks = embedder.embed_documents(texts.clone(), deadline).await?;
            memory.embedder = Some(self.embedder.fingerprint().to_string());
            let passages = passages_of(&searched, &texts.into_iter().zip(chunks).collect());
            match self.store.commit(vec![Record::Revision { memory, passages }], deadline).await {
                Ok(_) => filled += 1,
                // Somebody changed the memory and made its vectors with that, or the next call finds it again.
                Err(Error::Store(StoreError::Conflict(_))) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

/// Returns a memory with passages that have no vectors. It is found by its words until [`MemoriesHandle::fill_vectors`]
/// comes to it.
pub(super) fn without_vectors(memory: Memory) -> (Memory, Vec<Passage>) {
    let searched = memory.search_texts();
    let chunks = texts_of([&searched]).into_iter().map(|text| (text.to_owned(), whole(text.to_owned()))).collect();
    (Memory { embedder: None, ..memory }, passages_of(&searched, &chunks))
}

/// Collects the texts that memories are searched by, each once.
fn texts_of<'a>(searched: impl IntoIterator<Item = &'a SearchTexts>) -> BTreeSet<&'a str> {
    searched.into_iter().flat_map(|of| of.tasks.iter().chain(&of.contents)).map(String::as_str).collect()
}

/// Makes the passages of these texts from their pieces, which are known. Passages of one kind are numbered from the
/// first text on.
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

/// Makes one piece of a text for which there is no embedder. A blank text has none.
fn whole(text: String) -> Vec<Chunk> {
    if text.trim().is_empty() { Vec::new() } else { vec![Chunk { text, vector: None }] }
}

/// Returns the texts that are searched beyond those before. None where a text was changed in another way.
pub(super) fn added(before: &SearchTexts, after: &SearchTexts) -> Option<SearchTexts> {
    Some(SearchTexts {
        tasks: after.tasks.strip_prefix(before.tasks.as_slice())?.to_vec(),
        contents: after.contents.strip_prefix(before.contents.as_slice())?.to_vec(),
    })
}

/// Picks the passages of these texts among those of a memory that has them. A text that it does not have is left out.
pub(super) fn passages_for(texts: &SearchTexts, passages: &[Passage]) -> Vec<Passage> {
    let of_kind = |(kind, texts): (PassageKind, &[String])| {
        let mut own: Vec<&Passage> = passages.iter().filter(|passage| passage.kind == kind).collect();
        own.sort_by_key(|passage| passage.n);
        texts.iter().flat_map(|text| pieces_of(text, &own).iter().copied().cloned()).collect::<Vec<_>>()
    };
    by_kind(texts).into_iter().flat_map(of_kind).collect()
}

/// Finds the passages, one behind the other, that are this text.
fn pieces_of<'p, 'a>(text: &str, passages: &'p [&'a Passage]) -> &'p [&'a Passage] {
    let mut starts = (0..passages.len()).map(|start| &passages[start..]);
    let ends = |rest: &&'p [&'a Passage]| (1..=rest.len()).find(|end| are_signs_of(&rest[..*end], [text]));
    starts.find_map(|rest| Some(&rest[..ends(&rest)?])).unwrap_or_default()
}

/// Adds more passages to the stored ones of a memory that has grown, and numbers them on.
pub(super) fn with_more(stored: Vec<Passage>, more: impl IntoIterator<Item = Passage>) -> Vec<Passage> {
    let mut all = stored;
    for passage in more {
        let n = all.iter().filter(|other| other.kind == passage.kind).count() as u32;
        all.push(Passage { n, ..passage });
    }
    all
}

/// Tells whether the passages are the memory's texts, whole and nothing else.
pub(super) fn are_passages_of(memory: &Memory, passages: &[Passage]) -> bool {
    let searched = memory.search_texts();
    by_kind(&searched).into_iter().all(|(kind, texts)| are_pieces_of(texts, kind, passages))
}

/// Tells whether the passages of this kind are these texts, one after the other, and numbered without a gap. White
/// space does not count, because it may be lost where texts were cut.
fn are_pieces_of(texts: &[String], kind: PassageKind, passages: &[Passage]) -> bool {
    let mut pieces: Vec<&Passage> = passages.iter().filter(|passage| passage.kind == kind).collect();
    pieces.sort_by_key(|passage| passage.n);
    let numbered = pieces.iter().enumerate().all(|(n, passage)| passage.n as usize == n);
    numbered && are_signs_of(&pieces, texts.iter().map(String::as_str))
}

/// Tells whether passages and texts have the same characters but for white space.
fn are_signs_of<'t>(pieces: &[&Passage], texts: impl IntoIterator<Item = &'t str>) -> bool {
    let signs = pieces.iter().flat_map(|passage| passage.text.chars()).filter(|c| !c.is_whitespace());
    signs.eq(texts.into_iter().flat_map(str::chars).filter(|c| !c.is_whitespace()))
}
