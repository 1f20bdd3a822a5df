//! This package keeps a bank on the disk. [`LanceStore`] implements the store port over LanceDB, and [`TraceFiles`]
//! keeps each trace in a file of its own beside it. The port and its contract are in the package `actors`; the suite
//! that checks the contract is `tests/it/store_contract.rs` of the workspace.
//!
//! [`backup`] makes backups of a data directory, looks through them and restores them. [`data_dir`] names what lies in
//! a data directory beside the store. [`files`] and [`allocator`] are what this package asks of the operating system,
//! and others may use.

#![recursion_limit = "256"]

pub mod allocator;
mod artefact_files;
pub mod backup;
mod banks;
pub mod data_dir;
pub mod files;
mod frames;
mod lance;
mod lease;
pub mod ownership;
mod token_account;
mod trace_files;
mod working_logs;

pub use self::artefact_files::ArtefactFiles;
pub use self::banks::BankDirs;
pub use self::lance::{LanceReader, LanceStore, Options, ResidentUse, use_all_cores};
pub use self::lease::BackgroundLock;
pub use self::token_account::TokenAccountFile;
pub use self::trace_files::{TraceFileOptions, TraceFiles};
pub use self::working_logs::WorkingFiles;
