//! One binary for everything that is tested from outside.

#![recursion_limit = "256"]
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on has failed

mod attacks;
mod cli_backup;
mod cli_config;
mod cli_demo;
mod cli_doctor;
mod cli_edit;
mod cli_import;
mod cli_learn;
mod cli_maintain;
mod cli_memory;
mod cli_solve;
mod cli_workspace;
mod daemon;
mod distilling;
mod durability;
mod embedding;
mod eval_learning;
mod eval_load;
mod eval_relevance;
mod eval_retrieval;
mod eval_speed;
mod file_modes;
mod identity;
mod learning;
mod llm_faults;
mod llm_key;
mod llm_server;
mod llm_solving;
mod mcp_admin;
mod mcp_process;
mod mcp_protocol;
mod mcp_tools;
mod observability;
mod redacted;
mod relevance;
mod reporting;
mod secrets;
mod signals;
mod store_bulk;
mod store_contract;
mod store_erase;
mod store_fixtures;
mod store_formats;
mod store_jobs;
mod store_lance;
mod store_recovery;
mod store_reembed;
mod store_resident;
mod store_revisions;
mod superseding;
mod support;
mod terminal;
mod trace_files;
