//! The edges of ReasoningBank and the adapters of its ports. The rules are in `reasoning-bank-domain`, the search
//! engine in `reasoning-bank-index`, the supervised system in `reasoning-bank-actors`; here they meet the world.
//!
//! In reading order: [`cli`] is where every command begins, and [`mcp`] where every call of an agent does. Both read
//! their [`settings`], which name a [`project`], and start a bank in [`bootstrap`]. A bank stands on three adapters:
//! [`store`] keeps it in LanceDB, [`embed`] makes vectors, and [`llm`] asks language models over HTTP.
//!
//! `eval` measures a bank. `jsonl` reads the files of imports and of measurements, `git` reads the commits of a
//! repository, [`telemetry`] writes the log, and `allocator` keeps the process small.

#![recursion_limit = "256"]

mod allocator;
pub mod bootstrap;
pub mod cli;
pub mod embed;
mod eval;
mod git;
mod jsonl;
pub mod llm;
pub mod mcp;
pub mod project;
pub mod settings;
pub mod store;
pub mod telemetry;
