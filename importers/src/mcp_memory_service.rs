//! mcp-memory-service: a SQLite database, or the JSON that it exports.

use std::path::Path;

use jiff::Timestamp;
use rusqlite::Row;
use serde::Deserialize;
use serde_json::Value;

use crate::database::{self, number, text};
use crate::failure::{EntrySink, SourceError};
use crate::files;
use crate::item::{ItemKind, SkipReason, SourceEntry, SourceItem};
use crate::markdown::time_of;

#[derive(Deserialize)]
struct McpExport {
    memories: Vec<Value>,
}

#[derive(Deserialize)]
struct ExportedMemory {
    content: String,
    content_hash: String,
    #[serde(default)]
    tags: Option<Vec<String>>,
    #[serde(default)]
    memory_type: Option<String>,
    #[serde(default)]
    created_at: Value,
}

pub(crate) fn read(place: &Path, take: &mut EntrySink<'_>) -> Result<(), SourceError> {
    if place.extension().is_some_and(|ending| ending == "json") {
        let export: McpExport = serde_json::from_str(&files::text(place)?)
            .map_err(|error| SourceError::NotOfSource(format!("it is no export of mcp-memory-service: {error}")))?;
        return files::each_memory(place, export.memories, take, |memory: ExportedMemory| {
            let (kind, tags) = (memory.memory_type.unwrap_or_default(), memory.tags.unwrap_or_default());
            item(memory.content_hash, &kind, memory.content, tags, time_of(&memory.created_at))
        });
    }
    let database = database::open(place, "memories")?;
    let wanted = ["content_hash", "content", "tags", "memory_type", "created_at", "deleted_at", "superseded_by"];
    database::rows(&database, "memories", &wanted, "rowid", |row| take(stored(row)?))
}

fn stored(row: &Row<'_>) -> Result<SourceEntry, SourceError> {
    if !text(row, "deleted_at")?.is_empty() {
        return Ok(SourceEntry::Skipped(SkipReason::Deleted));
    }
    let tags = text(row, "tags")?.split(',').map(|tag| tag.trim().to_owned()).collect();
    let (hash, kind) = (text(row, "content_hash")?, text(row, "memory_type")?);
    let created_at = number(row, "created_at")?.and_then(|seconds| time_of(&seconds.into()));
    let item = item(hash, &kind, text(row, "content")?, tags, created_at);
    Ok(SourceEntry::Item(SourceItem { is_outdated: !text(row, "superseded_by")?.is_empty(), ..item }))
}

fn item(hash: String, kind: &str, content: String, mut tags: Vec<String>, created_at: Option<Timestamp>) -> SourceItem {
    // It writes this tag where it was given none.
    tags.retain(|tag| tag != "untagged");
    tags.push(kind.to_owned());
    let title = content.clone();
    SourceItem { title, content, tags, created_at, ..SourceItem::new(hash, kind_of(kind)) }
}

/// Says what a type of its ontology is here, as a base type or as one below it.
fn kind_of(memory_type: &str) -> ItemKind {
    match memory_type.rsplit('/').next().unwrap_or_default() {
        "error" | "bug" | "failure" | "exception" | "timeout" | "mistake" | "anti_pattern" | "gotcha" => {
            ItemKind::Warning
        }
        "best_practice" | "insight" | "workflow" | "design_pattern" | "decision" | "architecture" | "tool_choice"
        | "approach" | "configuration" => ItemKind::Strategy,
        _ => ItemKind::Fact,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{counts, database_of, entries, file, items};

    #[test]
    fn memories_are_told_apart_by_type_and_deleted_ones_are_skipped() {
        let place = database_of("mcp-memory-service.sql");
        let read_entries = entries(read, place.path());
        assert!(read_entries.contains(&SourceEntry::Skipped(SkipReason::Deleted)));
        let read = items(read, place.path());
        assert_eq!(counts(&read), [5, 1, 1]);
        let gotcha = read.iter().find(|item| item.kind == ItemKind::Warning).unwrap();
        assert_eq!(gotcha.tags, ["sqlite", "python", "gotcha"]);
        assert_eq!(gotcha.created_at.unwrap().as_millisecond(), 1_741_000_000_250);
        assert_eq!(read.iter().filter(|item| item.is_outdated).count(), 1);
    }

    #[test]
    fn its_export_is_read_as_well() {
        let place = file(
            "export.json",
            r#"{"export_metadata": {}, "memories": [{"content": "Pin the toolchain", "content_hash": "ab",
                "tags": ["rust"], "memory_type": "best_practice", "created_at": 1741000000.25, "metadata": {}}]}"#,
        );
        let read = items(read, place.path());
        assert_eq!((counts(&read), &*read[0].origin), ([1, 0, 0], "ab"));
        let mixed = file(
            "export.json",
            r#"{"memories": [{"content": null, "content_hash": "a"}, {"content": "Pin it", "content_hash": "b",
                "tags": null, "memory_type": "insight", "created_at": "2025-03-01T10:00:00Z"}]}"#,
        );
        let read = entries(super::read, mixed.path());
        assert!(
            matches!(&read[0], SourceEntry::Unreadable(part) if part.problem.starts_with("memory 1: ")),
            "{read:?}"
        );
        let SourceEntry::Item(second) = &read[1] else { panic!("{read:?}") };
        assert_eq!(second.created_at, Some("2025-03-01T10:00:00Z".parse().unwrap()));
    }
}
