//! The edges of ReasoningBank and the adapters of its ports. The rules are in `reasoning-bank-domain`, the search
//! engine in `reasoning-bank-index`, the supervised system in `reasoning-bank-actors`, the store in
//! `reasoning-bank-store`; here they meet the world.
//!
//! In reading order: [`cli`] is where every command begins, and [`mcp`] where every call of an agent does. Both read
//! their [`settings`], which name a [`project`], and start a bank in [`bootstrap`]. [`http`] is the edge of the team
//! daemon, which lets in whoever has a token of [`tokens`]; `limits` bounds what each token may ask of it, `audit` logs
//! who changed what, and `metrics` has the numbers for its operator. Two adapters are here, beside the store: [`embed`]
//! makes vectors, and [`llm`] asks language models over HTTP. `hooks` answers the hooks of clients, and `recall_log`
//! says what agents were shown.
//!
//! `remedies` says what can be done about a failure. `eval` measures a bank. `jsonl` reads the files of imports and of
//! measurements, `transcripts` learns from those of sessions, `banks` says how memory banks look from outside, `git`
//! reads the commits of a repository, `hosts` says how far away the host of a URL is, `process_memory` reads what a
//! process takes, and [`telemetry`] writes the log.

#![recursion_limit = "256"]

mod audit;
pub mod banks;
pub mod bootstrap;
pub mod cli;
pub mod embed;
mod eval;
mod export;
mod git;
mod hooks;
mod hosts;
pub mod http;
mod import;
mod jsonl;
mod limits;
pub mod llm;
pub mod mcp;
mod metrics;
mod process_memory;
pub mod project;
mod recall_log;
mod remedies;
pub mod settings;
pub mod telemetry;
pub mod tokens;
mod transcripts;
