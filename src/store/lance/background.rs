//! A runtime of its own for work that no caller waits for: upkeep, and filling shelves. A piece of it computes for tens of
//! milliseconds without a pause; on the threads that serve, searches would wait behind it.

use std::num::NonZero;
use std::sync::LazyLock;
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

static RUNTIME: LazyLock<Option<Runtime>> = LazyLock::new(|| {
    let half_of_the_cores = (available_parallelism().map_or(1, NonZero::get) / 2).max(1);
    let runtime =
        Builder::new_multi_thread().worker_threads(half_of_the_cores).thread_name("upkeep").enable_all().build();
    runtime.inspect_err(|error| tracing::warn!(%error, "upkeep has no threads of its own")).ok()
});

pub(super) fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    match &*RUNTIME {
        Some(runtime) => runtime.spawn(work),
        None => tokio::spawn(work),
    }
}
