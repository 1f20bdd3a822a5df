//! The commands of `eval`, from their arguments to a measurement in a temporary directory.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::Embedder;

use super::args::{EmbeddingArgs, EvalCommand, LearningArgs, RetrievalArgs};
use super::failure::{CommandExit, CommandFailure};
use super::output::Output;
use super::render;
use super::session::{self, with_embedder};
use crate::embed::Workload;
use crate::eval::dataset::{self, Corpus};
use crate::eval::report::{BUILD, ByList, CorpusCount, Ingest, RetrievalReport};
use crate::eval::{EvalError, TimedEmbedder, capture, embedding, learning, retrieval};
use crate::settings::Loaded;

mod load;
mod relevance;
mod speed;

pub(super) fn command(command: EvalCommand, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    match command {
        EvalCommand::Capture(args) => {
            let report = capture::measure(&args.exchanges, &(&loaded.settings.passive).into())?;
            output.answer(&report, render::eval_capture)
        }
        EvalCommand::Embedding(args) => output.answer(&embedding_speed(&args, loaded, output)?, render::eval_embedding),
        EvalCommand::Learning(args) => output.answer(&learned(&args, loaded, output)?, render::eval_learning),
        EvalCommand::Kills(args) => load::kills(&args, output),
        EvalCommand::Load(args) => load::load(&args, loaded, output),
        EvalCommand::Relevance(args) => relevance::command(&args, loaded, output),
        EvalCommand::Speed(args) => speed::command(&args, loaded, output),
        EvalCommand::Retrieval(args) => output.answer(&measure(&args, loaded, output)?, render::eval_retrieval),
    }
}

fn embedding_speed(
    args: &EmbeddingArgs,
    loaded: &Loaded,
    output: Output,
) -> Result<embedding::EmbeddingReport, CommandFailure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(CommandFailure::runtime)?;
    let embedder = session::embedder(loaded, Workload::Bulk)?;
    let progress = output.progress("lengths");
    progress.most(embedding::LENGTHS);
    let time = Duration::from_secs(args.seconds);
    let measured = runtime.block_on(embedding::measure(&embedder, time, |done| progress.done(done)));
    Ok(measured.map_err(Error::from)?)
}

fn learned(args: &LearningArgs, loaded: &Loaded, output: Output) -> Result<learning::LearningReport, CommandFailure> {
    let scenarios = learning::read(&args.scenarios)?;
    // The answers of a model that is asked several times at once come in one order on one thread. The order decides
    // what a budget still covers.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(CommandFailure::runtime)?;
    let embedder = Arc::new(session::embedder(loaded, Workload::Serving)?);
    let progress = output.progress("scenarios");
    progress.most(scenarios.len() as u64);
    let measured = runtime.block_on(speed::unless_asked_to_end(async {
        Ok(learning::measure(scenarios, &loaded.settings, embedder, |done| progress.done(done)).await?)
    }));
    runtime.shutdown_background();
    measured
}

fn measure(args: &RetrievalArgs, loaded: &Loaded, output: Output) -> Result<RetrievalReport, CommandFailure> {
    let corpus = Arc::new(Corpus::open(&args.corpus)?);
    let queries = dataset::queries(&args.queries)?;
    if corpus.len() == 0 {
        return Err(CommandFailure::usage(format!("{} has no documents", args.corpus.display())));
    }
    let run = args.out.as_deref().map(create).transpose()?;
    let mut ks: Vec<usize> = args.k.iter().map(|k| *k as usize).collect();
    ks.sort_unstable();
    ks.dedup();
    let place = tempfile::tempdir().map_err(CommandFailure::temporary)?;
    let mut loaded = loaded.clone();
    loaded.settings.data_dir = place.path().to_owned();
    let embedder = Arc::new(TimedEmbedder::new(session::embedder(&loaded, Workload::Bulk)?));
    with_embedder(&loaded, Arc::clone(&embedder) as Arc<dyn Embedder>, async |bank| {
        speed::unless_asked_to_end(async {
            let system = bank.handle();
            let progress = output.progress("documents");
            progress.most(corpus.len() as u64);
            let stored = retrieval::ingest(Arc::clone(&corpus), &queries, &system, |done| progress.done(done)).await?;
            drop(progress);
            if loaded.settings.retrieval.resident_mb > 0 {
                let answered = async || bank.resident().await.answered;
                retrieval::until_resident(&stored, &queries, &system, answered).await?;
            }
            let progress = output.progress("queries");
            progress.most(queries.len() as u64);
            let done = |done| progress.done(done);
            let asked = retrieval::ask(&stored, &queries, &ks, &system, &embedder, run, done).await?;
            let seconds = |took: Duration| (took.as_secs_f64() * 1_000.0).round() / 1_000.0;
            Ok(RetrievalReport {
                corpus: CorpusCount { lines: corpus.len(), workspaces: corpus.workspaces() },
                queries: asked.counts,
                metrics: asked.measures.means(),
                by_list: ByList { keyword: asked.by_list.keyword.means(), vector: asked.by_list.vector.means() },
                latency_ms: asked.latency,
                ingest: Ingest {
                    seconds: seconds(stored.took),
                    per_second: corpus.len() as f64 / stored.took.as_secs_f64(),
                    upkeep_seconds: seconds(stored.upkeep_took),
                },
                profile: loaded.settings.retrieval.profile,
                embedder: embedder.fingerprint().to_string(),
                build: BUILD,
            })
        })
        .await
    })
}

fn create(path: &Path) -> Result<BufWriter<File>, CommandFailure> {
    let made = File::create(path).map(BufWriter::new);
    made.map_err(|error| CommandFailure::usage(format!("{} cannot be written", path.display())).caused_by(error))
}

impl From<EvalError> for CommandFailure {
    fn from(error: EvalError) -> Self {
        match error {
            EvalError::Dataset { .. } => Self::usage(error.to_string()).hint("correct or remove what each line names"),
            EvalError::Scenarios { .. } => Self::usage(error.to_string()).hint("correct what the file says there"),
            EvalError::Scenario { name, error } => {
                let mut failure = Self::from(error);
                failure.message = format!("scenario {name:?}: {}", failure.message);
                failure
            }
            EvalError::Query { id, error } => {
                let mut failure = Self::from(error);
                failure.message = format!("query {id}: {}", failure.message);
                failure
            }
            EvalError::System(error) => error.into(),
            EvalError::Run(error) => Self::output(error),
            EvalError::Part(_) => Self::part(error.to_string()),
        }
    }
}
