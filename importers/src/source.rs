//! The programs that memories are imported from, and where each keeps them.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::Serialize;

/// A program that memories are imported from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImportSource {
    ClaudeMem,
    ClaudeCode,
    Codex,
    McpMemoryService,
    ServerMemory,
    Mem0,
    BasicMemory,
    /// An export of this program.
    Jsonl,
}

/// The name of a source that is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be one of {}", ImportSource::ALL.map(ImportSource::as_str).join(", "))]
pub struct UnknownSource;

impl ImportSource {
    pub const ALL: [Self; 8] = [
        Self::ClaudeMem,
        Self::ClaudeCode,
        Self::Codex,
        Self::McpMemoryService,
        Self::ServerMemory,
        Self::Mem0,
        Self::BasicMemory,
        Self::Jsonl,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeMem => "claude-mem",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::McpMemoryService => "mcp-memory-service",
            Self::ServerMemory => "server-memory",
            Self::Mem0 => "mem0",
            Self::BasicMemory => "basic-memory",
            Self::Jsonl => "jsonl",
        }
    }

    /// Returns the places where the program keeps its memories unless it is told otherwise, the most likely first.
    pub fn default_places(self, places: &SourcePlaces) -> Vec<PathBuf> {
        let home = |below: &str| places.home.iter().map(|home| home.join(below)).collect::<Vec<_>>();
        let named = |name: &str, below: &str| {
            let directory = (places.variable)(name).map(PathBuf::from);
            directory.map(|directory| if below.is_empty() { directory } else { directory.join(below) })
        };
        let or = |named: Option<PathBuf>, others: Vec<PathBuf>| named.map_or(others, |named| vec![named]);
        match self {
            Self::ClaudeMem => or(named("CLAUDE_MEM_DATA_DIR", "claude-mem.db"), home(".claude-mem/claude-mem.db")),
            Self::ClaudeCode => or(named("CLAUDE_CONFIG_DIR", "projects"), home(".claude/projects")),
            Self::Codex => or(named("CODEX_HOME", "memories"), home(".codex/memories")),
            Self::McpMemoryService => {
                let file =
                    named("MCP_MEMORY_SQLITE_PATH", "").or_else(|| named("MCP_MEMORY_BASE_DIR", "sqlite_vec.db"));
                let mut places = home(".local/share/mcp-memory/sqlite_vec.db");
                places.extend(home("Library/Application Support/mcp-memory/sqlite_vec.db"));
                places.extend(named("LOCALAPPDATA", "mcp-memory/sqlite_vec.db"));
                or(file, places)
            }
            Self::ServerMemory => or(named("MEMORY_FILE_PATH", ""), Vec::new()),
            Self::Mem0 => or(named("MEM0_DIR", "history.db"), home(".mem0/history.db")),
            Self::BasicMemory => or(named("BASIC_MEMORY_HOME", ""), home("basic-memory")),
            Self::Jsonl => Vec::new(),
        }
    }

    /// Returns the names of the files that hold the memories in a folder of the program, the most likely first; none
    /// where the memories are a folder of notes.
    pub fn file_names(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeMem => &["claude-mem.db"],
            Self::Codex => &["MEMORY.md"],
            Self::McpMemoryService => &["sqlite_vec.db"],
            Self::ServerMemory => &["memory.jsonl", "memory.json"],
            Self::Mem0 => &["history.db"],
            Self::ClaudeCode | Self::BasicMemory | Self::Jsonl => &[],
        }
    }

    /// Says what of the program a path has to name.
    pub fn path_hint(self) -> &'static str {
        match self {
            Self::ClaudeMem => "its database claude-mem.db, or a .json file that its export script wrote",
            Self::ClaudeCode => "the folder `projects` of its configuration, or one `memory` folder",
            Self::Codex => "the folder `memories` of its home",
            Self::McpMemoryService => "its database sqlite_vec.db, or a JSON export of it",
            Self::ServerMemory => {
                "the file that MEMORY_FILE_PATH names in the server's configuration, such as memory.jsonl"
            }
            Self::Mem0 => "its history.db, a .json file with what get_all answers, or an .md export of its plugin",
            Self::BasicMemory => "the folder with its notes",
            Self::Jsonl => "a file that `memory export` wrote",
        }
    }
}

impl fmt::Display for ImportSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ImportSource {
    type Err = UnknownSource;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|source| source.as_str() == text).ok_or(UnknownSource)
    }
}

/// The facts that default places depend on.
pub struct SourcePlaces<'a> {
    pub home: Option<PathBuf>,
    /// Returns the value of an environment variable that is set and not empty.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_source_is_found_where_its_variable_says_or_else_below_the_home() {
        let none = |_: &str| None;
        let at = |source: ImportSource, variable: &dyn Fn(&str) -> Option<String>| {
            source.default_places(&SourcePlaces { home: Some("/home/me".into()), variable })
        };
        assert_eq!(at(ImportSource::ClaudeMem, &none), [Path::new("/home/me/.claude-mem/claude-mem.db")]);
        assert!(at(ImportSource::ServerMemory, &none).is_empty());
        let set = |name: &str| (name == "CLAUDE_MEM_DATA_DIR").then(|| "/data".to_owned());
        assert_eq!(at(ImportSource::ClaudeMem, &set), [Path::new("/data/claude-mem.db")]);
        for source in ImportSource::ALL {
            assert_eq!(source.as_str().parse(), Ok(source));
        }
    }
}
