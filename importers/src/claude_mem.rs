//! claude-mem: a SQLite database with observations and with summaries of sessions.

use std::path::Path;

use jiff::Timestamp;
use rusqlite::Row;

use crate::database::{self, number, text};
use crate::failure::{SourceError, Take};
use crate::item::{ItemKind, SkipReason, SourceEntry, SourceItem};

/// The names of so many files are said.
const FILES_NAMED: usize = 5;

pub(crate) fn read(place: &Path, take: &mut Take<'_>) -> Result<(), SourceError> {
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
    database::rows(&database, "observations", &observation, "id", |row| take(observed(row)?))?;
    let summary =
        ["id", "memory_session_id", "project", "merged_into_project", "request", "learned", "created_at_epoch"];
    if database.table_exists(None, "session_summaries")? {
        database::rows(&database, "session_summaries", &summary, "id", |row| match summarised(row)? {
            Some(item) => take(SourceEntry::Item(item)),
            None => Ok(()),
        })?;
    }
    Ok(())
}

fn observed(row: &Row<'_>) -> Result<SourceEntry, SourceError> {
    let (kind, concepts) = (text(row, "type")?, list(&text(row, "concepts")?));
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
    let (narrative, facts) = (text(row, "narrative")?, list(&text(row, "facts")?));
    let mut parts: Vec<String> = [narrative].into_iter().filter(|text| !text.trim().is_empty()).collect();
    if !facts.is_empty() {
        parts.push(facts.iter().map(|fact| format!("- {fact}")).collect::<Vec<_>>().join("\n"));
    }
    let (subtitle, old) = (text(row, "subtitle")?, text(row, "text")?);
    if parts.is_empty() {
        parts.extend([old, subtitle.clone()].into_iter().find(|text| !text.trim().is_empty()));
    }
    let files: Vec<String> = list(&text(row, "files_modified")?)
        .into_iter()
        .chain(list(&text(row, "files_read")?))
        .take(FILES_NAMED)
        .collect();
    let when = match (subtitle.trim(), files.is_empty()) {
        ("", true) => String::new(),
        ("", false) => format!("When working on {}", files.join(", ")),
        (subtitle, _) => subtitle.to_owned(),
    };
    let hash = text(row, "content_hash")?;
    // Old rows got a hash in place of none, which says nothing of what they hold.
    let has_hash = !hash.is_empty() && !hash.starts_with("__null_migration_");
    let origin = if has_hash { hash } else { format!("{}:{}", text(row, "memory_session_id")?, text(row, "id")?) };
    Ok(SourceEntry::Item(SourceItem {
        project: project(row)?,
        title: text(row, "title")?,
        when,
        content: parts.join("\n\n"),
        tags: concepts.into_iter().chain([kind]).collect(),
        created_at: time(row)?,
        ..SourceItem::new(origin, kind_of_item)
    }))
}

/// Returns what a session learned; None where it says nothing.
fn summarised(row: &Row<'_>) -> Result<Option<SourceItem>, SourceError> {
    let (request, learned) = (text(row, "request")?, text(row, "learned")?);
    if learned.trim().is_empty() {
        return Ok(None);
    }
    let when =
        if request.trim().is_empty() { String::new() } else { format!("When a task is like this one: {request}") };
    Ok(Some(SourceItem {
        project: project(row)?,
        title: learned.clone(),
        when,
        content: learned,
        tags: vec!["session-summary".to_owned()],
        created_at: time(row)?,
        ..SourceItem::new(
            format!("summary:{}:{}", text(row, "memory_session_id")?, text(row, "id")?),
            ItemKind::Strategy,
        )
    }))
}

fn project(row: &Row<'_>) -> Result<Option<String>, SourceError> {
    let merged = text(row, "merged_into_project")?;
    let project = if merged.is_empty() { text(row, "project")? } else { merged };
    Ok(Some(project).filter(|project| !project.trim().is_empty()))
}

fn time(row: &Row<'_>) -> Result<Option<Timestamp>, SourceError> {
    Ok(number(row, "created_at_epoch")?.and_then(|ms| Timestamp::from_millisecond(ms as i64).ok()))
}

/// Reads a list that a column holds as JSON.
fn list(text: &str) -> Vec<String> {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{counts, database_of, items};

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
    fn a_database_of_another_program_is_refused() {
        let place = database_of("mem0.sql");
        let error = read(place.path(), &mut |_| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "it is a database without the table observations");
    }
}
