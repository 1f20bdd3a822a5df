//! The model inside the binary: all-MiniLM-L6-v2 with int8 weights. Nothing is read from disk or downloaded.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use reasoning_bank_actors::ports::{Chunk, EmbedError, Embedder, EmbedderState, Fingerprint};
use reasoning_bank_actors::runtime::Deadline;
use tokio::sync::oneshot;

use super::encoder::Encoder;
use super::job::{Documents, Query};
use super::lanes::Lanes;
use super::onnx::{ModelFiles, OnnxEncoder};
use super::worker;

const NAME: &str = "all-MiniLM-L6-v2-int8";
const DIMS: usize = 384;
/// SHA-256 of `model.onnx`; a test compares it with the file, so that start-up need not hash 23 MB.
const HASH: &str = "4e9da7c1c53618a4b6ec92ea6fae126f645bd12b3ad2a782598a5374243c0811";

static FILES: ModelFiles = ModelFiles {
    model: include_bytes!("../../assets/all-MiniLM-L6-v2-int8/model.onnx"),
    tokenizer: include_bytes!("../../assets/all-MiniLM-L6-v2-int8/tokenizer.json"),
    config: include_bytes!("../../assets/all-MiniLM-L6-v2-int8/config.json"),
    special_tokens_map: include_bytes!("../../assets/all-MiniLM-L6-v2-int8/special_tokens_map.json"),
    tokenizer_config: include_bytes!("../../assets/all-MiniLM-L6-v2-int8/tokenizer_config.json"),
};

/// Loads in the background, in about 0.3 s, on a thread that ends when this is dropped.
///
/// A document of more than 64 pieces has vectors for the first 64; the vector of a query of more than 8 is made of 8
/// that are spread over it.
pub struct BuiltinEmbedder {
    fingerprint: Fingerprint,
    lanes: Arc<Lanes>,
}

impl BuiltinEmbedder {
    /// Returns at once.
    pub fn new() -> Self {
        Self::with_encoder(|| OnnxEncoder::load(&FILES))
    }

    fn with_encoder<E: Encoder>(load: impl FnOnce() -> Result<E, String> + Send + 'static) -> Self {
        let lanes = Arc::new(Lanes::new());
        let work = {
            let lanes = Arc::clone(&lanes);
            move || worker::run(&lanes, load)
        };
        if let Err(error) = std::thread::Builder::new().name("embedder".into()).spawn(work) {
            lanes.fail(&format!("no thread for the embedding model: {error}"));
        }
        Self { fingerprint: Fingerprint { name: NAME.into(), dims: DIMS, hash: HASH.into() }, lanes }
    }
}

impl Default for BuiltinEmbedder {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for BuiltinEmbedder {
    fn drop(&mut self) {
        self.lanes.close();
    }
}

impl Embedder for BuiltinEmbedder {
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn state(&self) -> EmbedderState {
        self.lanes.state()
    }

    fn embed_query(&self, text: String, deadline: Deadline) -> BoxFuture<'_, Result<Vec<f32>, EmbedError>> {
        answer(deadline, |reply| self.lanes.push_query(Query::new(text, reply))).boxed()
    }

    fn embed_documents(
        &self,
        texts: Vec<String>,
        deadline: Deadline,
    ) -> BoxFuture<'_, Result<Vec<Vec<Chunk>>, EmbedError>> {
        answer(deadline, |reply| self.lanes.push_documents(Documents::new(texts, reply))).boxed()
    }
}

/// Waits to the deadline. Whoever stops waiting closes the reply, and the job is dropped where it stands.
async fn answer<T>(
    deadline: Deadline,
    push: impl FnOnce(oneshot::Sender<Result<T, EmbedError>>) -> Result<(), EmbedError>,
) -> Result<T, EmbedError> {
    if deadline.passed() {
        return Err(EmbedError::TimedOut);
    }
    let (reply, answer) = oneshot::channel();
    push(reply)?;
    match tokio::time::timeout_at(deadline.instant(), answer).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_dropped)) => Err(EmbedError::Failed("the embedder was stopped".into())),
        Err(_elapsed) => Err(EmbedError::TimedOut),
    }
}

#[cfg(test)]
mod tests;
