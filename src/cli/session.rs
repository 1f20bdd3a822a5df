//! The session of one command: a running bank that is started, used and stopped in order.

use std::sync::Arc;
use std::time::Duration;

use reasoning_bank_actors::ports::Embedder;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use super::failure::CommandFailure;
use super::signals;
use crate::bootstrap::{Bank, ChosenModel};
use crate::embed::{EmbedderOptions, EmbeddingModelError, LocalEmbedder, Workload};
use crate::llm::{KeyCheck, KeyVerdict};
use crate::settings::Loaded;

/// Work that still runs when a command is done has this long to end.
const GRACE: Duration = Duration::from_secs(5);
/// Work that runs when the provider rejects the key has this long to end, because nothing of it can succeed.
const SHORT_GRACE: Duration = Duration::from_millis(500);
/// The embedding model loads in well under a second. Where it does not, search is by words and says so.
const MODEL_TIMEOUT: Duration = Duration::from_secs(20);

/// A command that needs no model may take this long.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Returns the deadline of one request that needs no model.
pub(super) fn request_deadline() -> Deadline {
    Deadline::after(REQUEST_TIMEOUT)
}

/// A rewrite may take this long: erasing rewrites what is left and rebuilds indexes, and is finished whoever waits; a
/// quarantine rewrites what it is of.
const REWRITE_TIMEOUT: Duration = Duration::from_secs(120);

/// Returns the deadline of one erasure, or of one change of many memories.
pub(super) fn rewrite_deadline() -> Deadline {
    Deadline::after(REWRITE_TIMEOUT)
}

/// Opens the embedding model of the settings.
pub(super) fn embedder(loaded: &Loaded, work: Workload) -> Result<LocalEmbedder, EmbeddingModelError> {
    let embedding = &loaded.settings.embedding;
    let dir = Some(embedding.model_dir.clone()).filter(|dir| !dir.as_os_str().is_empty());
    LocalEmbedder::open(&EmbedderOptions { dir, threads: embedding.threads }, work)
}

/// Starts the bank without a language model, does the work, and stops in order.
pub(super) fn with_bank<T>(
    loaded: &Loaded,
    work: impl AsyncFnOnce(SystemHandle) -> Result<T, CommandFailure>,
) -> Result<T, CommandFailure> {
    run(loaded, ChosenModel::none(), Workload::OnDemand, Duration::ZERO, work)
}

/// Does the same for work that answers searches for a time: the embedding model loads beside it.
pub(super) fn with_answering_bank<T>(
    loaded: &Loaded,
    work: impl AsyncFnOnce(SystemHandle) -> Result<T, CommandFailure>,
) -> Result<T, CommandFailure> {
    run(loaded, ChosenModel::none(), Workload::Serving, Duration::ZERO, work)
}

/// Does the same for work that searches once. A search by meaning needs the embedding model, and does not wait for it.
pub(super) fn with_searching_bank<T>(
    loaded: &Loaded,
    work: impl AsyncFnOnce(SystemHandle) -> Result<T, CommandFailure>,
) -> Result<T, CommandFailure> {
    run(loaded, ChosenModel::none(), Workload::Serving, MODEL_TIMEOUT, work)
}

/// Does the same for work that solves a task, with the language model that is configured.
pub(super) fn with_solving_bank<T>(
    loaded: &Loaded,
    work: impl AsyncFnOnce(SystemHandle) -> Result<T, CommandFailure>,
) -> Result<T, CommandFailure> {
    loaded.check_provider(false)?;
    run(loaded, ChosenModel::of(loaded)?, Workload::Serving, MODEL_TIMEOUT, work)
}

/// Does the same for work that may ask the language model without being asked to, within `background.daily_token_cap`.
/// The bank goes without a model where that allows none, or the provider cannot be used: the work needs none.
pub(super) fn with_background_model<T>(
    loaded: &Loaded,
    work: impl AsyncFnOnce(SystemHandle) -> Result<T, CommandFailure>,
) -> Result<T, CommandFailure> {
    let may_ask = loaded.settings.background.daily_token_cap > 0 && loaded.check_provider(true).is_ok();
    let chosen = if may_ask { ChosenModel::of(loaded)? } else { ChosenModel::none() };
    // A key that is rejected does not end the work.
    let chosen = ChosenModel { key_check: None, ..chosen };
    run(loaded, chosen, Workload::OnDemand, Duration::ZERO, work)
}

/// Does the same for a server. It starts at once, or when a model from a directory is loaded; it works without a
/// language model too, and works in the background.
pub(super) fn with_serving_bank<T>(
    loaded: &Loaded,
    work: impl AsyncFnOnce(SystemHandle) -> Result<T, CommandFailure>,
) -> Result<T, CommandFailure> {
    loaded.check_provider(true)?;
    if let Some(erases) = loaded.settings.traces.erases() {
        tracing::info!("{erases}");
    }
    let embedder = Arc::new(embedder(loaded, Workload::Serving)?);
    let work = async move |bank: &Bank| work(bank.handle()).await;
    run_with(loaded, ChosenModel::of(loaded)?, embedder, Duration::ZERO, true, work)
}

/// Does the same for work that embeds many texts.
pub(super) fn with_bulk_bank<T>(
    loaded: &Loaded,
    work: impl AsyncFnOnce(SystemHandle) -> Result<T, CommandFailure>,
) -> Result<T, CommandFailure> {
    let embedder = Arc::new(embedder(loaded, Workload::Bulk)?);
    let work = async move |bank: &Bank| work(bank.handle()).await;
    run_with(loaded, ChosenModel::none(), embedder, Duration::ZERO, false, work)
}

/// Does the same for work that searches with this embedder, and looks at how the bank does it.
pub(super) fn with_embedder<T>(
    loaded: &Loaded,
    embedder: Arc<dyn Embedder>,
    work: impl AsyncFnOnce(&Bank) -> Result<T, CommandFailure>,
) -> Result<T, CommandFailure> {
    run_with(loaded, ChosenModel::none(), embedder, MODEL_TIMEOUT, false, work)
}

fn run<T>(
    loaded: &Loaded,
    chosen: ChosenModel,
    embeds: Workload,
    model_timeout: Duration,
    work: impl AsyncFnOnce(SystemHandle) -> Result<T, CommandFailure>,
) -> Result<T, CommandFailure> {
    let embedder = Arc::new(embedder(loaded, embeds)?);
    run_with(loaded, chosen, embedder, model_timeout, false, async move |bank: &Bank| work(bank.handle()).await)
}

fn run_with<T>(
    loaded: &Loaded,
    chosen: ChosenModel,
    embedder: Arc<dyn Embedder>,
    model_timeout: Duration,
    in_background: bool,
    work: impl AsyncFnOnce(&Bank) -> Result<T, CommandFailure>,
) -> Result<T, CommandFailure> {
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(CommandFailure::runtime)?;
    let done = runtime.block_on(async {
        let bank = Bank::start(&loaded.settings, loaded.root_name(), chosen.model, embedder, in_background).await?;
        let work = async {
            bank.embedder_ready(model_timeout).await;
            work(&bank).await
        };
        let (done, grace) = tokio::select! {
            done = work => (done, GRACE),
            reason = rejection(chosen.key_check) => (Err(loaded.key_rejected(reason).into()), SHORT_GRACE),
        };
        bank.stop(grace).await;
        done
    });
    // A read of stdin that blocks would hold a runtime that is dropped.
    runtime.shutdown_background();
    done
}

/// Makes the runtime of a command that opens no bank.
pub(in crate::cli) fn one_thread() -> Result<Runtime, CommandFailure> {
    Builder::new_current_thread().enable_all().build().map_err(CommandFailure::runtime)
}

/// Cancels `end` when the process is asked to end. From the call on, the signals do not end it by themselves.
pub(super) fn end_of_process(end: CancellationToken) -> Result<(), CommandFailure> {
    let asked_to_end = signals::asked_to_end().map_err(CommandFailure::signals)?;
    tokio::spawn(async move {
        let signal = asked_to_end.await;
        tracing::info!(signal, "asked to end");
        end.cancel();
    });
    Ok(())
}

/// Returns when the provider has rejected the key, with its reason, and never otherwise.
async fn rejection(check: Option<KeyCheck>) -> String {
    match async { Some(check?.run().await) }.await {
        Some(KeyVerdict::Rejected(reason)) => return reason,
        Some(KeyVerdict::Unknown(reason)) => tracing::warn!("the key could not be checked: {reason}"),
        Some(KeyVerdict::Accepted) | None => {}
    }
    std::future::pending().await
}
