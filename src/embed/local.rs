//! An embedding model in this process: the one inside the binary, or one from a directory.

use std::cmp::Reverse;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::available_parallelism;

use futures::FutureExt;
use futures::future::{BoxFuture, try_join_all};
use reasoning_bank_actors::ports::{Chunk, EmbedError, Embedder, EmbedderState, EmbeddingQueue, Fingerprint};
use reasoning_bank_actors::runtime::Deadline;
use tokio::sync::oneshot;

use super::encoder::Encoder;
use super::job::{DocumentsJob, QueryJob};
use super::lanes::Lanes;
use super::model::{EmbeddingModelError, Model, builtin};
use super::onnx_runtime::OrtEncoder;
use super::prompts::Prompted;
use super::runtime::{Runtime, runtime};
use super::tract::{TractEncoder, TractModel};
use super::{hub, worker};
use reasoning_bank_store::allocator;

/// The choice of the model, and how many threads run it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EmbedderOptions {
    /// The directory of the model's files, or the name of a model after `hub:`. The built-in model is used where there
    /// is none.
    pub dir: Option<PathBuf>,
    /// Zero is one thread for each core.
    pub threads: usize,
}

/// The kinds of work that a model is loaded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workload {
    /// A command may need no vector at all, so the built-in model is loaded when the first text comes.
    OnDemand,
    /// A server embeds some texts over a long time, so memory counts.
    Serving,
    /// A bulk job embeds many texts, so a second copy of the weights is worth the time it saves.
    Bulk,
}

/// An embedder that runs on threads of its own, which share the weights and end when it is dropped.
///
/// A document of more than 64 pieces has vectors for the first 64. The vector of a query of more than 64 tokens is that
/// of the words that say most of it.
pub struct LocalEmbedder {
    fingerprint: Fingerprint,
    lanes: Arc<Lanes>,
    threads: usize,
}

type Encoders = Vec<Box<dyn Encoder>>;

impl LocalEmbedder {
    /// Opens the built-in model. It returns at once; the model loads in the background, in about 0.3 s.
    pub fn builtin() -> Self {
        Self::builtin_with(cores(), Workload::Serving)
    }

    fn builtin_with(threads: usize, work: Workload) -> Self {
        let lanes = if work == Workload::OnDemand { Lanes::on_demand() } else { Lanes::new() };
        Self::start(lanes, builtin_fingerprint(), threads, move || {
            let encoders = encoders(&builtin::model(), threads, work);
            allocator::drop_pages(builtin::ONNX);
            encoders
        })
    }

    /// Opens the model of the options. A model from a directory is loaded here, in up to some seconds, because only its
    /// graph says for sure what its vectors are.
    ///
    /// # Errors
    /// The directory holds no model that can be used; the message names the file.
    pub fn open(settings: &EmbedderOptions, work: Workload) -> Result<Self, EmbeddingModelError> {
        let threads = if settings.threads == 0 { cores() } else { settings.threads };
        let Some(dir) = &settings.dir else { return Ok(Self::builtin_with(threads, work)) };
        let model = match dir.to_str().and_then(|dir| dir.strip_prefix(hub::PREFIX)) {
            Some(name) => Model { name: name.replace('/', "--"), ..Model::read(&hub::directory(name)?)? },
            None => Model::read(dir)?,
        };
        let unfit = |reason| EmbeddingModelError::Unfit { file: dir.clone(), reason };
        let mut encoders = encoders(&model, threads, work).map_err(unfit)?;
        let first = encoders.first_mut().map(|encoder| encoder.vectors(&["a"])).transpose().map_err(unfit)?;
        let dims = first.and_then(|vectors| Some(vectors.first()?.len())).unwrap_or_default();
        let fingerprint = Fingerprint { name: model.name, dims, hash: model.hash };
        let lanes = Lanes::new();
        lanes.ready();
        Ok(Self::start(lanes, fingerprint, threads, move || Ok(encoders)))
    }

    fn start<E: Encoder>(
        lanes: Lanes,
        fingerprint: Fingerprint,
        threads: usize,
        load: impl FnOnce() -> Result<Vec<E>, String> + Send + 'static,
    ) -> Self {
        let lanes = Arc::new(lanes);
        worker::start(&lanes, load);
        Self { fingerprint, lanes, threads }
    }

    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Names what runs the model, for people to read.
    pub fn runtime(&self) -> String {
        match runtime() {
            Runtime::Tract { .. } => "tract".into(),
            Runtime::OnnxRuntime { version } => format!("ONNX Runtime {version}"),
        }
    }

    /// Says why the model does not run on the runtime that the environment names.
    pub fn runtime_problem(&self) -> Option<&str> {
        match runtime() {
            Runtime::Tract { problem } => problem.as_deref(),
            Runtime::OnnxRuntime { .. } => None,
        }
    }
}

fn builtin_fingerprint() -> Fingerprint {
    Fingerprint { name: builtin::NAME.into(), dims: builtin::DIMS, hash: builtin::HASH.into() }
}

fn cores() -> usize {
    available_parallelism().map_or(1, NonZero::get)
}

/// Makes an encoder for each thread. ONNX Runtime gets a single one, because it uses the threads itself.
fn encoders(model: &Model, threads: usize, work: Workload) -> Result<Encoders, String> {
    let encoders = without_prompts(model, threads, work)?;
    if model.prompts.is_empty() {
        return Ok(encoders);
    }
    let prompted = |encoder| Box::new(Prompted { encoder, prompts: model.prompts.clone() }) as Box<dyn Encoder>;
    Ok(encoders.into_iter().map(prompted).collect())
}

fn without_prompts(model: &Model, threads: usize, work: Workload) -> Result<Encoders, String> {
    if let Runtime::OnnxRuntime { .. } = runtime() {
        return Ok(vec![Box::new(OrtEncoder::load(model, threads)?)]);
    }
    let model = Arc::new(TractModel::load(model, threads, work == Workload::Bulk)?);
    let encoder = |_| Ok(Box::new(TractEncoder::new(&model)?) as Box<dyn Encoder>);
    (0..threads).map(encoder).collect()
}

impl Drop for LocalEmbedder {
    fn drop(&mut self) {
        self.lanes.close();
    }
}

impl Embedder for LocalEmbedder {
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn state(&self) -> EmbedderState {
        self.lanes.state()
    }

    fn queue(&self) -> EmbeddingQueue {
        self.lanes.queue()
    }

    fn embed_query(&self, text: String, deadline: Deadline) -> BoxFuture<'_, Result<Vec<f32>, EmbedError>> {
        answer(deadline, |reply| self.lanes.push_query(QueryJob::new(text, reply))).boxed()
    }

    fn embed_documents(
        &self,
        texts: Vec<String>,
        deadline: Deadline,
    ) -> BoxFuture<'_, Result<Vec<Vec<Chunk>>, EmbedError>> {
        async move {
            let mut embedded = vec![Vec::new(); texts.len()];
            let work = shares(texts, self.threads).into_iter().map(async |share| {
                let (places, texts): (Vec<usize>, Vec<String>) = share.into_iter().unzip();
                let chunks =
                    answer(deadline, |reply| self.lanes.push_documents(DocumentsJob::new(texts, reply))).await?;
                Ok::<_, EmbedError>(places.into_iter().zip(chunks))
            });
            for (place, chunks) in try_join_all(work).await?.into_iter().flatten() {
                embedded[place] = chunks;
            }
            Ok(embedded)
        }
        .boxed()
    }
}

/// Deals the texts with their places into at most `n` shares of about the same length, and at least one.
fn shares(texts: Vec<String>, n: usize) -> Vec<Vec<(usize, String)>> {
    let n = n.min(texts.len()).max(1);
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

/// Waits for the answer until the deadline. A caller that stops waiting closes the reply, and the job is dropped where
/// it stands.
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
