//! Fakes of the ports and helpers, for the tests of this package and of the root. Not for production.

mod embedder;
mod eventually;
mod faults;
mod hanging;
mod leak;
mod manual_clock;
mod mem_account;
mod mem_artefacts;
mod mem_banks;
mod mem_lease;
mod mem_logs;
pub mod memory_store;
mod parts;
mod scripted;
mod soon;

pub use embedder::HashEmbedder;
pub use eventually::eventually;
pub use faults::Faults;
pub use hanging::Hang;
pub use leak::LeakCheck;
pub use manual_clock::ManualClock;
pub use mem_account::MemAccount;
pub use mem_artefacts::MemArtefacts;
pub use mem_banks::MemBanks;
pub use mem_lease::MemLease;
pub use mem_logs::MemLogs;
pub use parts::{opener_of, parts};
pub use scripted::{HeldCalls, Scripted};
pub use soon::soon;
