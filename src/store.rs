//! Adapters of the store port. Its contract is in the `actors` package, the suite that checks it in
//! `tests/it/store_contract.rs`.

mod lance;

pub use lance::{LanceStore, Options};
