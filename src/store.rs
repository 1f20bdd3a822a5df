//! Adapters of the store port. Its contract is in the `actors` package, the suite that checks it in
//! `tests/it/store_contract.rs`.

mod background;
pub(crate) mod files;
mod lance;
mod trace_files;

pub use background::BackgroundLock;
pub use lance::{LanceStore, Options, ResidentUse, use_all_cores};
pub use trace_files::{TraceFileOptions, TraceFiles};
