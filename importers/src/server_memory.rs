//! The memory server of the Model Context Protocol: entities with observations, and relations, one JSON object a line.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;

use crate::failure::{EntrySink, SourceError};
use crate::files;
use crate::item::{ItemKind, SourceEntry, SourceItem, UnreadablePart};
use crate::warning_cues::tells_failure;

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum GraphLine {
    Entity {
        name: String,
        #[serde(rename = "entityType", default)]
        entity_type: String,
        #[serde(default)]
        observations: Vec<String>,
    },
    Relation {
        from: String,
        to: String,
        #[serde(rename = "relationType")]
        relation_type: String,
    },
}

pub(crate) fn read(place: &Path, take: &mut EntrySink<'_>) -> Result<(), SourceError> {
    // The format has no times.
    let changed_at = files::changed_at(place);
    let (mut is_any_right, mut first_wrong) = (false, None);
    for (number, line) in (1..).zip(BufReader::new(File::open(place)?).split(b'\n')) {
        let line = line?;
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&line);
        if line.trim_ascii().is_empty() {
            continue;
        }
        let read: GraphLine = match serde_json::from_slice(line) {
            Ok(read) => read,
            Err(error) => {
                let problem = problem(&error);
                let part = UnreadablePart { file: place.to_owned(), line: Some(number), problem };
                first_wrong.get_or_insert_with(|| part.clone());
                take(SourceEntry::Unreadable(part))?;
                continue;
            }
        };
        is_any_right = true;
        for item in items_of(read) {
            take(SourceEntry::Item(SourceItem { created_at: changed_at, ..item }))?;
        }
    }
    match first_wrong {
        Some(UnreadablePart { line: Some(line), problem, .. }) if !is_any_right => Err(SourceError::NotOfSource(
            format!("none of its lines is an entity or a relation; line {line}: {problem}"),
        )),
        _ => Ok(()),
    }
}

/// Says what is wrong with a line. The error counts it as the first one.
fn problem(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let problem = text.split(" at line ").next().unwrap_or(&text);
    if error.column() == 0 { problem.to_owned() } else { format!("{problem} (column {})", error.column()) }
}

/// Returns a warning for each observation of an entity that tells what fails, and a fact for each other one, so that what
/// is observed later is new. An entity without any is a fact by itself.
fn items_of(line: GraphLine) -> Vec<SourceItem> {
    match line {
        GraphLine::Entity { name, entity_type, observations } => {
            let (warnings, told): (Vec<_>, Vec<_>) = observations.into_iter().partition(|told| tells_failure(told));
            let mut items: Vec<SourceItem> = warnings
                .into_iter()
                .map(|warning| SourceItem {
                    title: format!("{name}: {warning}"),
                    when: format!("When the work is about {name} ({entity_type})"),
                    content: warning.clone(),
                    tags: vec![name.clone(), entity_type.clone()],
                    ..SourceItem::new(format!("{name}\0{warning}"), ItemKind::Warning)
                })
                .collect();
            let title = if entity_type.is_empty() { name.clone() } else { format!("{name} ({entity_type})") };
            let fact = |origin, content| SourceItem {
                title: title.clone(),
                content,
                ..SourceItem::new(origin, ItemKind::Fact)
            };
            if told.is_empty() {
                items.push(fact(name.clone(), String::new()));
            }
            items.extend(told.into_iter().map(|told| fact(format!("{name}\0{told}"), told)));
            items
        }
        GraphLine::Relation { from, to, relation_type } => vec![SourceItem {
            content: format!("{from} {relation_type} {to}"),
            ..SourceItem::new(format!("{from}\0{relation_type}\0{to}"), ItemKind::Fact)
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{counts, entries, file, fixture, items};

    #[test]
    fn an_entity_is_a_fact_and_what_fails_is_a_warning() {
        let read = items(read, &fixture("server-memory.jsonl"));
        assert_eq!(counts(&read), [0, 2, 6]);
        assert!(read.iter().any(|item| item.content == "Dana maintains billing-service"));
        let warning = read.iter().find(|item| item.kind == ItemKind::Warning).unwrap();
        assert!(warning.content.contains("LockTimeout") && warning.created_at.is_some());
    }

    #[test]
    fn what_is_observed_later_has_an_identity_of_its_own() {
        let entity = |observations: &str| {
            let line =
                format!(r#"{{"type":"entity","name":"db","entityType":"service","observations":[{observations}]}}"#);
            let read = items(read, file("memory.jsonl", &line).path());
            read.into_iter().map(|item| item.origin).collect::<Vec<_>>()
        };
        let grown = entity(r#""Runs on postgres 15","Listens on port 6543""#);
        assert_eq!(grown.len(), 2);
        assert_eq!(entity(r#""Runs on postgres 15""#), grown[..1]);
    }

    #[test]
    fn a_line_that_is_none_is_skipped_and_a_file_of_such_lines_is_refused() {
        let mixed =
            file("memory.jsonl", "{\"type\":\"entity\",\"name\":\"a\",\"entityType\":\"b\",\"observations\":[]}\n{");
        assert_eq!(items(read, mixed.path()).len(), 1);
        let marked = file("memory.jsonl", "\u{feff}{\"type\":\"entity\",\"name\":\"a\"}\n");
        assert_eq!(items(read, marked.path()).len(), 1);
        let wrong = file("memory.jsonl", "hello\n");
        assert!(read(wrong.path(), &mut |_| Ok(())).unwrap_err().to_string().contains("none of its lines"));
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named_with_its_problem() {
        let mixed =
            file("memory.jsonl", "{\"type\":\"relation\",\"from\":\"a\"}\n\n{\"type\":\"entity\",\"name\":\"a\"}\n");
        let [SourceEntry::Unreadable(part), SourceEntry::Item(_)] = &entries(read, mixed.path())[..] else {
            panic!("one line of two is read");
        };
        assert_eq!(part.line, Some(1));
        let named = format!("{}, line 1: missing field `to`", mixed.path().display());
        assert!(part.to_string().starts_with(&named), "{part}");
        let wrong = file("memory.jsonl", "\nhello\n");
        let refused = read(wrong.path(), &mut |_| Ok(())).unwrap_err().to_string();
        assert!(refused.contains("line 2: expected value (column 1)"), "{refused}");
    }
}
