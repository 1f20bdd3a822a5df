//! mem0: the history that its library keeps in SQLite, or what `get_all` answers, as JSON.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::cues::tells_failure;
use crate::database::{self, text};
use crate::failure::{SourceError, Take};
use crate::files;
use crate::item::{ItemKind, SkipReason, SourceEntry, SourceItem};
use crate::markdown::time;

#[derive(Deserialize)]
struct AllMemories {
    results: Vec<StoredMemory>,
}

#[derive(Deserialize)]
struct StoredMemory {
    id: String,
    memory: String,
    #[serde(default)]
    created_at: Option<String>,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
}

/// The last event of a memory in the history.
struct LastEvent {
    id: String,
    memory: String,
    is_deleted: bool,
    created_at: String,
}

pub(crate) fn read(place: &Path, take: &mut Take<'_>) -> Result<(), SourceError> {
    if place.extension().is_some_and(|ending| ending == "json") {
        let all: AllMemories = serde_json::from_str(&files::text(place)?)
            .map_err(|error| SourceError::NotOfSource(format!("it is no answer of get_all: {error}")))?;
        return all.results.into_iter().try_for_each(|memory| take(SourceEntry::Item(of_answer(memory))));
    }
    let database = database::open(place, "history")?;
    let wanted = ["memory_id", "new_memory", "event", "created_at", "is_deleted"];
    let mut last: Option<LastEvent> = None;
    database::rows(&database, "history", &wanted, "memory_id, rowid", |row| {
        let id = text(row, "memory_id")?;
        let is_deleted = text(row, "event")? == "DELETE" || text(row, "is_deleted")? == "1";
        let mut event =
            LastEvent { id, memory: text(row, "new_memory")?, is_deleted, created_at: text(row, "created_at")? };
        match last.take() {
            // The first event has the time at which the memory was made.
            Some(before) if before.id == event.id => event.created_at = before.created_at,
            Some(before) => take(before.entry())?,
            None => {}
        }
        last = Some(event);
        Ok(())
    })?;
    last.map_or(Ok(()), |event| take(event.entry()))
}

impl LastEvent {
    fn entry(self) -> SourceEntry {
        if self.is_deleted {
            return SourceEntry::Skipped(SkipReason::Deleted);
        }
        // The history says nothing of the kind of a memory.
        let kind = if tells_failure(&self.memory) { ItemKind::Warning } else { ItemKind::Fact };
        SourceEntry::Item(SourceItem {
            title: self.memory.clone(),
            content: self.memory,
            created_at: time(&self.created_at),
            ..SourceItem::new(self.id, kind)
        })
    }
}

fn of_answer(memory: StoredMemory) -> SourceItem {
    let metadata = memory.metadata.unwrap_or_default();
    let value = |key: &str| metadata.get(key).and_then(Value::as_str);
    let told = value("type").unwrap_or_default();
    let kind = match told {
        "anti_pattern" => ItemKind::Warning,
        "decision" | "convention" | "task_learning" | "task_learnings" | "bug_fix" => ItemKind::Strategy,
        "" if tells_failure(&memory.memory) => ItemKind::Warning,
        _ => ItemKind::Fact,
    };
    SourceItem {
        project: value("cwd").or_else(|| value("project")).map(str::to_owned),
        title: memory.memory.clone(),
        content: memory.memory,
        tags: vec![told.to_owned()],
        created_at: memory.created_at.as_deref().and_then(time),
        ..SourceItem::new(memory.id, kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{counts, database_of, entries, file, items};

    #[test]
    fn the_last_event_of_each_memory_counts() {
        let place = database_of("mem0.sql");
        let skipped = entries(read, place.path()).into_iter().filter(|entry| matches!(entry, SourceEntry::Skipped(_)));
        assert_eq!(skipped.count(), 1);
        let read = items(read, place.path());
        assert_eq!(counts(&read), [0, 1, 1]);
        let warning = read.iter().find(|item| item.kind == ItemKind::Warning).unwrap();
        assert!(warning.content.ends_with("queuectl drain"));
        assert_eq!(warning.created_at, Some("2025-03-02T10:00:00Z".parse().unwrap()));
    }

    #[test]
    fn what_get_all_answers_says_the_kind() {
        let place = file(
            "all.json",
            r#"{"results": [{"id": "a", "memory": "Squash commits", "metadata": {"type": "convention", "project": "shop"}},
                {"id": "b", "memory": "Likes tea", "metadata": null, "created_at": "2025-03-01T10:00:00-07:00"}]}"#,
        );
        let read = items(read, place.path());
        assert_eq!((counts(&read), read[0].project.as_deref()), ([1, 0, 1], Some("shop")));
    }
}
