//! mem0: the history that its library keeps in SQLite, what `get_all` answers, as JSON, or the markdown that its plugin
//! exports.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::database::{self, text};
use crate::failure::{EntrySink, SourceError};
use crate::files;
use crate::item::{ItemKind, SkipReason, SourceEntry, SourceItem};
use crate::markdown::{MarkdownNote, time, time_of};
use crate::warning_cues::tells_failure;

#[derive(Deserialize)]
struct StoredMemory {
    id: String,
    memory: String,
    #[serde(default)]
    created_at: Value,
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

pub(crate) fn read(place: &Path, take: &mut EntrySink<'_>) -> Result<(), SourceError> {
    if place.extension().is_some_and(|ending| ending == "json") {
        return files::each_memory(place, all_memories(&files::text(place)?)?, take, of_answer);
    }
    if place.extension().is_some_and(|ending| ending == "md") {
        return exported(place, take);
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

/// Reads what `get_all` answers: a list of memories, or an object with the list `results`.
fn all_memories(answer: &str) -> Result<Vec<Value>, SourceError> {
    let wrong = |problem: String| SourceError::NotOfSource(format!("it is no answer of get_all: {problem}"));
    let answer = serde_json::from_str(answer).map_err(|error| wrong(error.to_string()))?;
    let results = match answer {
        Value::Object(mut answer) => answer.remove("results"),
        answer => Some(answer),
    };
    match results {
        Some(Value::Array(memories)) => Ok(memories),
        _ => Err(wrong("it is neither a list of memories nor an object with the list `results`".to_owned())),
    }
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

/// Reads the blocks of an export: the front matter of a memory between lines `---`, and its text.
fn exported(place: &Path, take: &mut EntrySink<'_>) -> Result<(), SourceError> {
    const BEGINNING: &str = "---\nid:";
    let text = files::text(place)?.replace("\r\n", "\n");
    // A line in a memory does not begin another one.
    let begins_line = |at: &usize| *at == 0 || text[..*at].ends_with('\n');
    let starts: Vec<usize> = text.match_indices(BEGINNING).map(|(at, _)| at).filter(begins_line).collect();
    if starts.is_empty() {
        return Err(SourceError::NotOfSource("it has no memory with an id between lines of three hyphens".to_owned()));
    }
    let name = place.file_stem().unwrap_or_default().to_string_lossy();
    let project = project_of_export(&name);
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).try_for_each(|(start, end)| {
        let note = MarkdownNote::parse(&text[*start..end]);
        let memory = note.body.trim().to_owned();
        if memory.is_empty() {
            return take(SourceEntry::Skipped(SkipReason::Empty));
        }
        let files = note.list("files");
        let when = if files.is_empty() { String::new() } else { format!("When working on {}", files.join(", ")) };
        let told = note.get("type");
        let kind = kind(told, &memory);
        take(SourceEntry::Item(SourceItem {
            project: project.clone(),
            title: memory.clone(),
            when,
            tags: note.list("categories").into_iter().chain([told.to_owned()]).collect(),
            created_at: time(note.get("created_at")),
            content: memory,
            ..SourceItem::new(note.get("id"), kind)
        }))
    })
}

/// Returns the project that the name of an export tells: `mem0-export-PROJECT-2025-03-01`.
fn project_of_export(name: &str) -> Option<String> {
    const DAY_BYTES: usize = "-2025-03-01".len();
    let rest = name.strip_prefix("mem0-export-")?;
    let project = rest.get(..rest.len().checked_sub(DAY_BYTES)?)?;
    let day = rest[project.len()..].strip_prefix('-')?;
    (time(day).is_some() && !project.is_empty()).then(|| project.to_owned())
}

/// Tells the kind of a memory by the type that mem0 gave it, or where it has none by its words.
fn kind(told: &str, memory: &str) -> ItemKind {
    match told {
        "anti_pattern" => ItemKind::Warning,
        "decision" | "convention" | "task_learning" | "task_learnings" | "bug_fix" => ItemKind::Strategy,
        "" if tells_failure(memory) => ItemKind::Warning,
        _ => ItemKind::Fact,
    }
}

fn of_answer(memory: StoredMemory) -> SourceItem {
    let metadata = memory.metadata.unwrap_or_default();
    let value = |key: &str| metadata.get(key).and_then(Value::as_str);
    let told = value("type").unwrap_or_default();
    let kind = kind(told, &memory.memory);
    SourceItem {
        project: value("cwd").or_else(|| value("project")).map(str::to_owned),
        title: memory.memory.clone(),
        content: memory.memory,
        tags: vec![told.to_owned()],
        created_at: time_of(&memory.created_at),
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

    #[test]
    fn what_get_all_answers_may_be_a_list() {
        let list = file("all.json", "\u{feff}[{\"id\": \"a\", \"memory\": \"Likes tea\"}]");
        assert_eq!(counts(&items(read, list.path())), [0, 0, 1]);
        let wrong = file("all.json", r#"{"memories": []}"#);
        let refused = read(wrong.path(), &mut |_| Ok(())).unwrap_err().to_string();
        assert!(refused.contains("neither a list of memories nor an object with the list `results`"), "{refused}");
    }

    #[test]
    fn the_export_of_the_plugin_is_read_block_by_block() {
        let text = "---\nid: a1\ncreated_at: 2025-03-01T10:00:00Z\ntype: anti_pattern\nconfidence: 0.9\nbranch: main\nfiles: src/a.py, src/b.py\ncategories: testing\n---\nNever share the database.\n\n---\n\nIt breaks the tests.\n\n---\nid: a2\ncreated_at: \ntype: \nfiles: \ncategories: \n---\nLikes tea.\n\n---\nid: a3\ntype: decision\n---\n\n";
        let place = file("mem0-export-my-shop-2025-03-02.md", &text.replace('\n', "\r\n"));
        let skipped = entries(read, place.path()).into_iter().filter(|entry| matches!(entry, SourceEntry::Skipped(_)));
        assert_eq!(skipped.count(), 1);
        let read_items = items(read, place.path());
        assert_eq!(counts(&read_items), [0, 1, 1]);
        let warning = &read_items[0];
        assert_eq!((warning.origin.as_str(), warning.project.as_deref()), ("a1", Some("my-shop")));
        assert_eq!(warning.when, "When working on src/a.py, src/b.py");
        assert!(warning.content.ends_with("---\n\nIt breaks the tests."), "{}", warning.content);
        assert_eq!(warning.tags, ["testing", "anti_pattern"]);
        assert_eq!((read_items[1].created_at, read_items[1].content.as_str()), (None, "Likes tea."));
        let error = read(file("notes.md", "# Notes\n").path(), &mut |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("no memory with an id"), "{error}");
    }
}
