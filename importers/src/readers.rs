//! The readers of all sources.

use std::path::Path;

use crate::failure::SourceError;
use crate::files::file_of;
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
    let file = || file_of(source, place);
    match source {
        ImportSource::ClaudeMem => claude_mem::read(&file()?, &mut take),
        ImportSource::ClaudeCode => claude_code::read(place, &mut take),
        ImportSource::Codex => codex::read(place, &mut take),
        ImportSource::McpMemoryService => mcp_memory_service::read(&file()?, &mut take),
        ImportSource::ServerMemory => server_memory::read(&file()?, &mut take),
        ImportSource::Mem0 => mem0::read(&file()?, &mut take),
        ImportSource::BasicMemory => basic_memory::read(place, &mut take),
        ImportSource::Jsonl => {
            Err(SourceError::NotOfSource("an export of this program is read line by line".to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::database_of;

    #[test]
    fn what_is_looked_for_in_an_empty_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |source| read(source, folder.path(), |_| Ok(())).unwrap_err().to_string();
        for source in ImportSource::ALL {
            for name in source.file_names() {
                let file = folder.path().join(name).display().to_string();
                assert!(refused(source).contains(&file), "{source}: {}", refused(source));
            }
        }
        assert!(refused(ImportSource::ClaudeCode).contains("no folder `memory`"));
        assert!(refused(ImportSource::BasicMemory).contains("ends with .md"));
        std::fs::create_dir(folder.path().join("memory")).unwrap();
        let memory = folder.path().join("memory").display().to_string();
        assert!(refused(ImportSource::ClaudeCode).contains(&memory));
    }

    #[test]
    fn the_file_in_a_folder_of_the_program_is_read() {
        let made = database_of("mem0.sql");
        let folder = tempfile::tempdir().unwrap();
        std::fs::copy(made.path(), folder.path().join("history.db")).unwrap();
        let mut count = 0;
        read(ImportSource::Mem0, folder.path(), |_| {
            count += 1;
            Ok(())
        })
        .unwrap();
        assert!(count > 0);
    }

    #[test]
    fn a_note_that_is_not_utf_8_is_named_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tea.md"), b"- [tip] Warm\n\xff\n").unwrap();
        let mut entries = Vec::new();
        read(ImportSource::BasicMemory, folder.path(), |entry| {
            entries.push(entry);
            Ok(())
        })
        .unwrap();
        let [SourceEntry::Unreadable(part)] = &entries[..] else { panic!("{entries:?}") };
        let named = format!("{}: line 2 is not UTF-8", folder.path().join("tea.md").display());
        assert_eq!(part.to_string(), named);
    }
}
