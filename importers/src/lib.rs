//! This package reads what other programs remembered, as this bank takes it: strategies, warnings, and facts that are
//! no advice.
//!
//! In reading order: `source` lists the programs and where each keeps its memories. `item` is one thing that was
//! remembered; `memory` makes a memory or a line of a memory bank of it, and `parts` takes one that is too long in
//! parts. `warning_cues` tells warnings from facts, `markdown` reads front matter and sections, and `database` opens
//! SQLite so that nothing is written. Each program has a file of its name, which reads its format piece by piece
//! (`readers` lists them), so that memory stays bounded however much there is. Nothing is ever written to a source.

mod basic_memory;
mod claude_code;
mod claude_mem;
mod codex;
mod database;
mod failure;
mod files;
mod item;
mod markdown;
mod mcp_memory_service;
mod mem0;
mod memory;
mod parts;
mod readers;
mod server_memory;
mod source;
#[cfg(test)]
mod testing;
mod warning_cues;

pub use claude_code::is_claude_folder_of;
pub use failure::SourceError;
pub use item::{ItemKind, SkipReason, SourceEntry, SourceItem, UnreadablePart};
pub use memory::{origin_id, origin_mark, to_fact, to_memory};
pub use parts::parts_of;
pub use readers::read;
pub use source::{ImportSource, SourcePlaces, UnknownSource};
