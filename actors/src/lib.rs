//! The supervised system of ReasoningBank. It knows no database and no protocol: what it needs from outside is in
//! [`ports`], and the world outside calls it through handles.
//!
//! In reading order: [`system`] is the tree of actors, its start and its stop. [`runtime`] is what every actor is built
//! from. [`agents`] solves tasks, with attempts in parallel by `matts`, and `judge` evaluates them. [`memories`] is
//! what clients do with memories, [`episodes`] with what happened in tasks, [`context`] shows both before a task and
//! learns after it, [`working`] has what running tasks need at hand, [`banks`] the markdown files that people and
//! agents share, and [`workspaces`] knows which workspace each of them belongs to. [`consolidation`] finds patterns in
//! episodes and merges what says the same. [`learner`] and [`distiller`] learn in the background, [`usage`] stores what
//! clients were shown, and [`backups`] has backups made. [`store`] keeps the store open, [`cache`] the answers of
//! models, [`activity`] knows whether somebody is served, [`model`] has the decorators around a model, and [`pages`] cuts
//! lists into pages. `testkit` is for tests.

pub mod activity;
pub mod agents;
pub mod backups;
pub mod banks;
pub mod cache;
mod conflict;
pub mod consolidation;
pub mod context;
pub mod distiller;
mod embedding_cache;
pub mod episodes;
pub mod error;
mod file_io;
mod judge;
pub mod learner;
mod matts;
pub mod memories;
pub mod model;
pub mod pages;
pub mod ports;
pub mod runtime;
mod sessions;
mod spans;
mod statistics;
pub mod store;
pub mod system;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod usage;
pub mod working;
pub mod workspaces;
