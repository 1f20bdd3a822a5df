//! Codex's own memory: the handbook MEMORY.md, in groups of tasks, and skills.

use std::path::Path;

use crate::failure::{EntrySink, SourceError};
use crate::files;
use crate::item::{ItemKind, SourceEntry, SourceItem};
use crate::markdown::{MarkdownNote, items, sections, time};
use crate::source::ImportSource;

const GROUP: &str = "Task Group:";

pub(crate) fn read(place: &Path, take: &mut EntrySink<'_>) -> Result<(), SourceError> {
    let handbook = files::file_of(ImportSource::Codex, place)?;
    let text = files::text(&handbook)?;
    let changed_at = files::changed_at(&handbook);
    let mut groups = 0;
    for (title, body) in sections(&text, 1) {
        let Some(group) = title.strip_prefix(GROUP).map(str::trim) else { continue };
        groups += 1;
        for item in of_group(group, &body) {
            let created_at = item.created_at.or(changed_at);
            take(SourceEntry::Item(SourceItem { created_at, ..item }))?;
        }
    }
    if groups == 0 && !text.trim().is_empty() {
        return Err(SourceError::NotOfSource(format!("{} has no heading `# {GROUP}`", handbook.display())));
    }
    let skills = place.join("skills");
    for path in if skills.is_dir() { files::markdown_below(&skills)? } else { Vec::new() } {
        if path.file_name().is_some_and(|name| name == "SKILL.md") {
            take(match files::text(&path) {
                Ok(text) => {
                    let below = path.strip_prefix(place).unwrap_or(&path).display().to_string();
                    SourceEntry::Item(SourceItem { created_at: files::changed_at(&path), ..skill(below, &text) })
                }
                Err(error) => files::unreadable(&path, &error),
            })?;
        }
    }
    Ok(())
}

fn of_group(group: &str, body: &str) -> Vec<SourceItem> {
    let value = |key: &str| body.lines().find_map(|line| line.strip_prefix(key)).map(str::trim).unwrap_or_default();
    let (scope, applies) = (value("scope:"), value("applies_to:"));
    let directory = applies.split("cwd=").nth(1).and_then(|rest| rest.split([';', ',']).next()).map(str::trim);
    let reuse = applies.split("reuse_rule=").nth(1).map(str::trim).unwrap_or_default();
    let when = [scope, reuse].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(". Reuse: ");
    let updated = body.split("updated_at=").skip(1).filter_map(|rest| time(rest.split([',', ')']).next()?)).max();
    let mut found = Vec::new();
    for (title, text) in sections(body, 2) {
        let kind = match title.to_lowercase().as_str() {
            "failures and how to do differently" => ItemKind::Warning,
            "reusable knowledge" => ItemKind::Strategy,
            "user preferences" => ItemKind::Fact,
            _ => continue,
        };
        for told in items(&text) {
            let content = without_references(&told.text);
            found.push(SourceItem {
                project: directory.map(str::to_owned),
                title: content.clone(),
                content: content.clone(),
                when: when.clone(),
                tags: vec![group.to_owned()],
                created_at: updated,
                // Codex adds references to an item as it meets it again, so they are no part of its identity.
                ..SourceItem::new(format!("{group}\0{content}"), kind)
            });
        }
    }
    found
}

/// Drops the references to tasks at the end of an item: `[Task 1][Task 2]`.
fn without_references(told: &str) -> String {
    let mut text = told.trim();
    while let Some(start) = text.rfind("[Task ").filter(|start| text.ends_with(']') && !text[*start..].contains("] ")) {
        text = text[..start].trim_end();
    }
    text.to_owned()
}

fn skill(origin: String, text: &str) -> SourceItem {
    let note = MarkdownNote::parse(text);
    SourceItem {
        title: note.get("name").to_owned(),
        when: note.get("description").to_owned(),
        content: note.body.trim().to_owned(),
        tags: vec!["skill".to_owned()],
        ..SourceItem::new(origin, ItemKind::Strategy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{counts, file, fixture, items};

    #[test]
    fn failures_are_warnings_and_knowledge_is_a_strategy() {
        let read = items(read, &fixture("codex/memories"));
        assert_eq!(counts(&read), [3, 1, 1]);
        let warning = read.iter().find(|item| item.kind == ItemKind::Warning).unwrap();
        assert_eq!(warning.project.as_deref(), Some("/home/dana/shop"));
        assert!(warning.content.ends_with("run `make db-reset` first") && warning.when.contains("Reuse: "));
        assert_eq!(warning.created_at, Some("2026-05-04T12:00:00Z".parse().unwrap()));
    }

    #[test]
    fn an_item_that_gets_a_further_reference_is_the_same_one() {
        let of = |references: &str| {
            let text = format!("# Task Group: shop\n\n## Reusable knowledge\n- Run make db-reset first {references}\n");
            items(read, file("MEMORY.md", &text).path())
        };
        let (first, again) = (of("[Task 1][Task 2]"), of("[Task 1][Task 2][Task 3]"));
        assert_eq!((first.len(), &*first[0].content), (1, "Run make db-reset first"));
        assert_eq!(first[0].origin, again[0].origin);
    }
}
