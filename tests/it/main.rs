//! One binary for everything that is tested from outside.

mod embedding;
mod store_contract;
mod store_fixtures;
mod store_lance;
