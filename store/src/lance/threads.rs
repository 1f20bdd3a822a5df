//! The threads for each kind of work. Work that no caller waits for, upkeep and filling owner indexes, has a
//! runtime of its own: a piece of it computes for tens of milliseconds without a pause, and searches would wait behind
//! it on the threads that serve them. The parts of a search have a pool of their own: LanceDB trains indexes in
//! rayon's, and commits encode there.
//!
//! A table that is opened by one runtime and used by another lives as long as the first: both last as long as the
//! process.

use std::num::NonZero;
use std::sync::LazyLock;
use std::thread::available_parallelism;

use rayon::{ThreadPool, ThreadPoolBuilder};
use reasoning_bank_actors::ports::StoreError;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use super::errors::failed;

static RUNTIME: LazyLock<Option<Runtime>> = LazyLock::new(|| {
    let half_of_the_cores = (available_parallelism().map_or(1, NonZero::get) / 2).max(1);
    let runtime =
        Builder::new_multi_thread().worker_threads(half_of_the_cores).thread_name("upkeep").enable_all().build();
    runtime.inspect_err(|error| tracing::warn!(%error, "upkeep has no threads of its own")).ok()
});

static SEARCHES: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    let pool = ThreadPoolBuilder::new().thread_name(|_| "search".into()).build();
    pool.inspect_err(|error| tracing::warn!(%error, "searches have no threads of their own")).ok()
});

/// Computes a part of a search with all threads for searches. `part` must not wait for a lock: another one may be begun
/// while it waits for its parts.
pub(super) fn search<T: Send>(part: impl FnOnce() -> T + Send) -> T {
    match &*SEARCHES {
        Some(pool) => pool.install(part),
        None => part(),
    }
}

/// Does file work of milliseconds off the threads that serve requests.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work).await.map_err(failed)
}

/// Lets LanceDB use all cores. It leaves two idle when it encodes rows and builds indexes; where there are two, one
/// thread does all of it. A value that the environment has is not changed.
///
/// # Safety
/// No other thread may be there: this changes the environment.
pub unsafe fn use_all_cores() {
    const IDLE_CORES: &str = "LANCE_IO_CORE_RESERVATION";
    if std::env::var_os(IDLE_CORES).is_none() {
        // SAFETY: no other thread is there, as the caller says.
        unsafe { std::env::set_var(IDLE_CORES, "0") };
    }
}

/// Starts work that no caller waits for, on threads of its own.
pub(super) fn spawn_aside<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    match &*RUNTIME {
        Some(runtime) => runtime.spawn(work),
        None => tokio::spawn(work),
    }
}
