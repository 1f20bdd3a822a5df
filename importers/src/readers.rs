//! The readers of all sources.

use std::path::Path;

use crate::failure::SourceError;
use crate::item::SourceEntry;
use crate::source::ImportSource;
use crate::{basic_memory, claude_code, claude_mem, codex, mcp_memory_service, mem0, server_memory};

/// Reads the memories at a place, and gives them to `take` one by one.
///
/// # Errors
/// The place cannot be read, is not what the source writes, or `take` fails.
pub fn read(
    source: ImportSource,
    place: &Path,
    mut take: impl FnMut(SourceEntry) -> std::io::Result<()>,
) -> Result<(), SourceError> {
    let mut take = |entry| take(entry).map_err(SourceError::NotTaken);
    match source {
        ImportSource::ClaudeMem => claude_mem::read(place, &mut take),
        ImportSource::ClaudeCode => claude_code::read(place, &mut take),
        ImportSource::Codex => codex::read(place, &mut take),
        ImportSource::McpMemoryService => mcp_memory_service::read(place, &mut take),
        ImportSource::ServerMemory => server_memory::read(place, &mut take),
        ImportSource::Mem0 => mem0::read(place, &mut take),
        ImportSource::BasicMemory => basic_memory::read(place, &mut take),
        ImportSource::Jsonl => {
            Err(SourceError::NotOfSource("an export of this program is read line by line".to_owned()))
        }
    }
}
