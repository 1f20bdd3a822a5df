//! A running bank for one command.

use std::time::Duration;

use reasoning_bank_actors::system::SystemHandle;
use tokio::runtime::Builder;

use super::failure::Failure;
use crate::bootstrap::Bank;
use crate::settings::Loaded;

/// For what still runs when a command is done.
const GRACE: Duration = Duration::from_secs(5);
/// The embedding model loads in well under a second. Where it does not, search is by words and says so.
const MODEL_PATIENCE: Duration = Duration::from_secs(20);

/// Starts the bank, does the work, and stops in order.
pub(super) fn with_bank<T>(
    loaded: &Loaded,
    work: impl AsyncFnOnce(SystemHandle) -> Result<T, Failure>,
) -> Result<T, Failure> {
    run(loaded, Duration::ZERO, work)
}

/// The same for work that searches once: a search by meaning needs the embedding model, and does not wait for it.
pub(super) fn with_searching_bank<T>(
    loaded: &Loaded,
    work: impl AsyncFnOnce(SystemHandle) -> Result<T, Failure>,
) -> Result<T, Failure> {
    run(loaded, MODEL_PATIENCE, work)
}

fn run<T>(
    loaded: &Loaded,
    model_patience: Duration,
    work: impl AsyncFnOnce(SystemHandle) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(Failure::runtime)?;
    let done = runtime.block_on(async {
        let bank = Bank::start(&loaded.settings, loaded.root_name()).await?;
        bank.embedder_ready(model_patience).await;
        let done = work(bank.handle()).await;
        bank.stop(GRACE).await;
        done
    });
    // A read of stdin that blocks would hold a runtime that is dropped.
    runtime.shutdown_background();
    done
}
