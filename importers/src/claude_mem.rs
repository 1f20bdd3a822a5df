//! claude-mem: a SQLite database with observations and with summaries of sessions, or the JSON that its export writes.

use std::path::Path;

use jiff::Timestamp;
use rusqlite::Row;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::database::{self, text};
use crate::failure::{EntrySink, SourceError};
use crate::files;
use crate::item::{ItemKind, SkipReason, SourceEntry, SourceItem};

/// The number of files whose names are said.
const FILES_NAMED: usize = 5;

/// An export of the program: the rows of its tables. Its sessions and prompts hold nothing that is taken.
#[derive(Deserialize)]
struct ClaudeMemExport {
    observations: Vec<Map<String, Value>>,
    #[serde(default)]
    summaries: Vec<Map<String, Value>>,
}

/// A row of the database or of an export, by the names of its columns. What is not there is empty.
type Columns<'a> = dyn Fn(&str) -> Result<String, SourceError> + 'a;

pub(crate) fn read(place: &Path, take: &mut EntrySink<'_>) -> Result<(), SourceError> {
    if place.extension().is_some_and(|ending| ending == "json") {
        let export: ClaudeMemExport = serde_json::from_str(&files::text(place)?)
            .map_err(|error| SourceError::NotOfSource(format!("it is no export of claude-mem: {error}")))?;
        let column = |row: &Map<String, Value>, name: &str| match row.get(name) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        export.observations.iter().try_for_each(|row| take(observed(&|name| Ok(column(row, name)))?))?;
        let summaries = export.summaries.iter().map(|row| summarised(&|name| Ok(column(row, name))));
        return summaries.filter_map(Result::transpose).try_for_each(|item| take(SourceEntry::Item(item?)));
    }
    let database = database::open(place, "observations")?;
    let observation = [
        "id",
        "memory_session_id",
        "project",
        "merged_into_project",
        "text",
        "type",
        "title",
        "subtitle",
        "narrative",
        "facts",
        "concepts",
        "files_read",
        "files_modified",
        "content_hash",
        "created_at_epoch",
    ];
    let of_row = |row: &Row<'_>| observed(&|name| text(row, name));
    database::rows(&database, "observations", &observation, "id", |row| take(of_row(row)?))?;
    let summary =
        ["id", "memory_session_id", "project", "merged_into_project", "request", "learned", "created_at_epoch"];
    if database.table_exists(None, "session_summaries")? {
        let of_row = |row: &Row<'_>| summarised(&|name| text(row, name));
        database::rows(&database, "session_summaries", &summary, "id", |row| match of_row(row)? {
            Some(item) => take(SourceEntry::Item(item)),
            None => Ok(()),
        })?;
    }
    Ok(())
}

fn observed(column: &Columns<'_>) -> Result<SourceEntry, SourceError> {
    let (kind, concepts) = (column("type")?, list(&column("concepts")?));
    if kind == "sensitive" {
        return Ok(SourceEntry::Skipped(SkipReason::Sensitive));
    }
    let is = |names: &[&str]| concepts.iter().any(|concept| names.contains(&concept.as_str()));
    let kind_of_item = if is(&["gotcha"]) || kind == "security_alert" {
        ItemKind::Warning
    } else if is(&["pattern", "problem-solution", "trade-off"]) || ["bugfix", "decision"].contains(&kind.as_str()) {
        ItemKind::Strategy
    } else {
        ItemKind::Fact
    };
    let (narrative, facts) = (column("narrative")?, list(&column("facts")?));
    let mut parts: Vec<String> = [narrative].into_iter().filter(|text| !text.trim().is_empty()).collect();
    if !facts.is_empty() {
        parts.push(facts.iter().map(|fact| format!("- {fact}")).collect::<Vec<_>>().join("\n"));
    }
    let (subtitle, old) = (column("subtitle")?, column("text")?);
    if parts.is_empty() {
        parts.extend([old, subtitle.clone()].into_iter().find(|text| !text.trim().is_empty()));
    }
    let files: Vec<String> =
        list(&column("files_modified")?).into_iter().chain(list(&column("files_read")?)).take(FILES_NAMED).collect();
    let when = match (subtitle.trim(), files.is_empty()) {
        ("", true) => String::new(),
        ("", false) => format!("When working on {}", files.join(", ")),
        (subtitle, _) => subtitle.to_owned(),
    };
    let hash = column("content_hash")?;
    // Old rows got a hash in place of none, which says nothing of what they hold.
    let has_hash = !hash.is_empty() && !hash.starts_with("__null_migration_");
    let origin = if has_hash { hash } else { format!("{}:{}", column("memory_session_id")?, column("id")?) };
    Ok(SourceEntry::Item(SourceItem {
        project: project(column)?,
        title: column("title")?,
        when,
        content: parts.join("\n\n"),
        tags: concepts.into_iter().chain([kind]).collect(),
        created_at: time(column)?,
        ..SourceItem::new(origin, kind_of_item)
    }))
}

/// Returns what a session learned; None where it says nothing.
fn summarised(column: &Columns<'_>) -> Result<Option<SourceItem>, SourceError> {
    let (request, learned) = (column("request")?, column("learned")?);
    if learned.trim().is_empty() {
        return Ok(None);
    }
    let when =
        if request.trim().is_empty() { String::new() } else { format!("When a task is like this one: {request}") };
    Ok(Some(SourceItem {
        project: project(column)?,
        title: learned.clone(),
        when,
        content: learned,
        tags: vec!["session-summary".to_owned()],
        created_at: time(column)?,
        ..SourceItem::new(format!("summary:{}:{}", column("memory_session_id")?, column("id")?), ItemKind::Strategy)
    }))
}

fn project(column: &Columns<'_>) -> Result<Option<String>, SourceError> {
    let merged = column("merged_into_project")?;
    let project = if merged.is_empty() { column("project")? } else { merged };
    Ok(Some(project).filter(|project| !project.trim().is_empty()))
}

fn time(column: &Columns<'_>) -> Result<Option<Timestamp>, SourceError> {
    let milliseconds = column("created_at_epoch")?.parse::<f64>().ok();
    Ok(milliseconds.and_then(|ms| Timestamp::from_millisecond(ms as i64).ok()))
}

/// Reads a list that a column holds as JSON.
fn list(text: &str) -> Vec<String> {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{counts, database_of, file, items};

    #[test]
    fn observations_are_told_apart_by_concept_and_type() {
        let place = database_of("claude-mem.sql");
        let read = items(read, place.path());
        assert_eq!(counts(&read), [3, 2, 2]);
        let gotcha = read.iter().find(|item| item.title.contains("FOREIGN KEY")).unwrap();
        assert_eq!((gotcha.kind, gotcha.project.as_deref()), (ItemKind::Warning, Some("shop")));
        assert_eq!(gotcha.created_at, Some("2025-11-03T09:15:00Z".parse().unwrap()));
        assert!(gotcha.content.contains("- PRAGMA foreign_keys"), "{}", gotcha.content);
        let learned = read.iter().find(|item| item.origin.starts_with("summary:")).unwrap();
        assert!(learned.when.starts_with("When a task is like this one:"));
    }

    #[test]
    fn an_export_is_read_like_the_database() {
        let place = file(
            "memories.json",
            r#"{"query": "", "totalObservations": 3, "sessions": [], "prompts": [{"prompt_text": "fix it"}],
                "observations": [
                    {"id": 7, "memory_session_id": "m1", "project": "shop", "type": "discovery", "title": "Keys are off",
                     "narrative": "SQLite ignores them.", "facts": "[\"PRAGMA foreign_keys\"]", "concepts": ["gotcha"],
                     "content_hash": null, "created_at_epoch": 1762161300000},
                    {"id": 8, "memory_session_id": "m1", "project": "shop", "type": "decision", "title": "One file", "narrative": "Tests share it."},
                    {"id": 9, "memory_session_id": "m1", "project": "shop", "type": "sensitive", "title": "A key"}],
                "summaries": [{"id": 1, "memory_session_id": "m1", "project": "shop", "request": "Fix totals", "learned": "Round once."},
                    {"id": 2, "memory_session_id": "m2", "project": "shop", "request": "Nothing", "learned": null}]}"#,
        );
        let read_items = items(read, place.path());
        assert_eq!(counts(&read_items), [2, 1, 0]);
        let gotcha = &read_items[0];
        assert_eq!((gotcha.origin.as_str(), gotcha.project.as_deref()), ("m1:7", Some("shop")));
        assert_eq!(gotcha.created_at, Some("2025-11-03T09:15:00Z".parse().unwrap()));
        assert!(gotcha.content.contains("- PRAGMA foreign_keys"), "{}", gotcha.content);
        let other = file("memories.json", "{\"memories\": []}");
        let error = read(other.path(), &mut |_| Ok(())).unwrap_err().to_string();
        assert!(error.starts_with("it is no export of claude-mem: missing field `observations`"), "{error}");
    }

    #[test]
    fn a_database_of_another_program_is_refused() {
        let place = database_of("mem0.sql");
        let error = read(place.path(), &mut |_| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "it is a database without the table observations");
    }
}
