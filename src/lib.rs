//! Edges and adapters of ReasoningBank: command line, MCP, settings, LanceDB, the embedding model, models over
//! HTTP. The rules are in
//! `reasoning-bank-domain`, the supervised system in `reasoning-bank-actors`.

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
