//! The command `reembed` gives a data directory the vectors of the embedding model of the settings.

use std::time::Instant;

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::Embedder;

use super::failure::{CommandExit, CommandFailure};
use super::output::Output;
use super::{render, session};
use crate::cli::answers::Reembedded;
use crate::embed::{LocalEmbedder, Workload};
use crate::settings::Loaded;
use reasoning_bank_store::{LanceStore, Options};

pub(super) fn command(loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(CommandFailure::runtime)?;
    let embedder = session::embedder(loaded, Workload::Bulk)?;
    let done = runtime.block_on(reembed(loaded, &embedder, output));
    // A read or write that hangs must not hold the process.
    runtime.shutdown_background();
    output.answer(&done?, render::reembedded)
}

async fn reembed(loaded: &Loaded, embedder: &LocalEmbedder, output: Output) -> Result<Reembedded, CommandFailure> {
    let (begun, dir) = (Instant::now(), &loaded.settings.data_dir);
    let from = LanceStore::embedder_of(dir).await.map_err(Error::from)?;
    let mut done = Reembedded {
        from: from.as_ref().map(ToString::to_string),
        to: embedder.fingerprint().to_string(),
        changed: false,
        passages: 0,
        seconds: 0.0,
    };
    if let Some(from) = from.filter(|from| from != embedder.fingerprint()) {
        let store = LanceStore::open(dir, &from, Options::default()).await.map_err(Error::from)?;
        let progress = output.progress("passages");
        let told = |passages, all| {
            progress.most(all);
            progress.done(passages);
        };
        done.passages = store.reembed(embedder, told).await?;
        done.changed = true;
        done.seconds = (begun.elapsed().as_secs_f64() * 1_000.0).round() / 1_000.0;
    }
    Ok(done)
}
