//! The jobs of the model's threads, cut into slices so short that a query need not wait long behind documents.

use reasoning_bank_actors::ports::{Chunk, EmbedError};
use tokio::sync::oneshot;

use super::encoder::{Encoder, TextPiece};

/// The largest number of texts that are embedded at once. With [`SHORT_TOKENS`] that is about 0.1 s of work on one
/// core.
pub(crate) const BATCH_TEXTS: usize = 16;
/// Pieces with more tokens are embedded one by one: batches of longer texts gain nothing.
pub(crate) const SHORT_TOKENS: usize = 32;
/// The largest number of pieces of one document that get a vector. 64 pieces are some 16,000 tokens, and seconds of
/// work.
pub(crate) const EMBEDDED_PIECES: usize = 64;
/// One slice of work cuts no further text once it has cut this many bytes.
const CUT_BYTES: usize = 256 * 1024;

type EmbedReply<T> = oneshot::Sender<Result<T, EmbedError>>;

pub(crate) enum EmbedJob {
    Query(QueryJob),
    Documents(DocumentsJob),
}

impl EmbedJob {
    /// Tells whether nobody waits for the job any more: the caller gave up, or its deadline passed.
    pub(crate) fn abandoned(&self) -> bool {
        match self {
            Self::Query(query) => query.abandoned(),
            Self::Documents(documents) => documents.abandoned(),
        }
    }

    pub(crate) fn fail(self, reason: &str) {
        let error = EmbedError::Failed(reason.to_owned());
        match self {
            Self::Query(query) => drop(query.reply.send(Err(error))),
            Self::Documents(documents) => drop(documents.reply.send(Err(error))),
        }
    }
}

pub(crate) struct QueryJob {
    text: String,
    reply: EmbedReply<Vec<f32>>,
}

impl QueryJob {
    pub(crate) fn new(text: String, reply: EmbedReply<Vec<f32>>) -> Self {
        Self { text, reply }
    }

    pub(crate) fn abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    pub(crate) fn compute(&self, encoder: &mut impl Encoder) -> Result<Vec<f32>, String> {
        encoder.vector_of_query(&encoder.condensed(&self.text)?)
    }

    pub(crate) fn finish(self, vector: Vec<f32>) {
        let _ = self.reply.send(Ok(vector));
    }
}

/// A job for documents: first all are cut, then their pieces are embedded, the shortest first.
pub(crate) struct DocumentsJob {
    texts: Vec<String>,
    reply: EmbedReply<Vec<Vec<Chunk>>>,
    /// The chunks of the texts that have been cut.
    chunks: Vec<Vec<Chunk>>,
    to_embed: Vec<ChunkPlace>,
    /// The batches that are still to be embedded, those of the longest pieces first, because they are taken from the
    /// end.
    batches: Vec<Vec<ChunkPlace>>,
}

/// The place of a chunk that gets a vector, and its length in tokens.
struct ChunkPlace {
    document: usize,
    chunk: usize,
    tokens: usize,
}

impl DocumentsJob {
    pub(crate) fn new(texts: Vec<String>, reply: EmbedReply<Vec<Vec<Chunk>>>) -> Self {
        Self { texts, reply, chunks: Vec::new(), to_embed: Vec::new(), batches: Vec::new() }
    }

    pub(crate) fn abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    /// Does one slice of work, and returns true when all is done.
    pub(crate) fn step(&mut self, encoder: &mut impl Encoder) -> Result<bool, String> {
        if self.chunks.len() < self.texts.len() {
            self.cut_some(encoder)?;
            if self.chunks.len() == self.texts.len() {
                self.batches = batches(std::mem::take(&mut self.to_embed), |place| place.tokens);
                self.batches.reverse();
            }
        } else if let Some(batch) = self.batches.pop() {
            let texts: Vec<&str> =
                batch.iter().map(|place| self.chunks[place.document][place.chunk].text.as_str()).collect();
            let vectors = one_each(&texts, encoder.vectors(&texts)?)?;
            for (place, vector) in batch.into_iter().zip(vectors) {
                self.chunks[place.document][place.chunk].vector = Some(vector);
            }
        }
        Ok(self.chunks.len() == self.texts.len() && self.batches.is_empty())
    }

    fn cut_some(&mut self, encoder: &impl Encoder) -> Result<(), String> {
        let mut bytes = 0;
        while bytes < CUT_BYTES && self.chunks.len() < self.texts.len() {
            let document = self.chunks.len();
            let text = &self.texts[document];
            bytes += text.len();
            let pieces = encoder.cut(text)?;
            let embedded = pieces.iter().take(EMBEDDED_PIECES).enumerate();
            self.to_embed.extend(embedded.map(|(chunk, piece)| ChunkPlace { document, chunk, tokens: piece.tokens }));
            let chunk = |piece: &TextPiece| Chunk { text: text[piece.range.clone()].to_owned(), vector: None };
            self.chunks.push(pieces.iter().map(chunk).collect());
        }
        Ok(())
    }

    pub(crate) fn finish(self) {
        let _ = self.reply.send(Ok(self.chunks));
    }
}

/// Returns the vectors if there are as many as texts, or else an error.
fn one_each(texts: &[&str], vectors: Vec<Vec<f32>>) -> Result<Vec<Vec<f32>>, String> {
    if vectors.len() != texts.len() {
        return Err(format!("the model made {} vectors of {} texts", vectors.len(), texts.len()));
    }
    Ok(vectors)
}

/// Sorts items by length, so that little is padded, and groups them within the bounds of a batch.
fn batches<T>(mut items: Vec<T>, tokens: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    items.sort_by_key(&tokens);
    let mut batches: Vec<Vec<T>> = Vec::new();
    for item in items {
        match batches.last_mut() {
            Some(batch) if batch.len() < BATCH_TEXTS && tokens(&item) <= SHORT_TOKENS => batch.push(item),
            _ => batches.push(vec![item]),
        }
    }
    batches
}

#[cfg(test)]
mod tests;
