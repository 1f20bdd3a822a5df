//! Claude Code's own memory: a folder of markdown files for each project, one file a memory.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::failure::{EntrySink, SourceError};
use crate::files;
use crate::item::{ItemKind, SourceEntry, SourceItem};
use crate::markdown::{MarkdownNote, time};
use crate::warning_cues::forbids;

/// The file that lists the others.
const INDEX: &str = "MEMORY.md";
/// The number of bytes that are read of a session to find the directory that it ran in.
const SESSION_BYTES: u64 = 256 << 10;
const SESSIONS_READ: usize = 20;

pub(crate) fn read(place: &Path, take: &mut EntrySink<'_>) -> Result<(), SourceError> {
    files::check_folder(place)?;
    let folders = folders(place)?;
    if folders.is_empty() {
        return Err(SourceError::NotOfSource(
            "there is no folder `memory` in it, nor in any of the folders in it".to_owned(),
        ));
    }
    let mut looked_at = 0;
    for folder in &folders {
        let of = folder.parent().unwrap_or(folder);
        let name = of.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Claude Code deletes old sessions and keeps what it remembered. A folder that the user named is of the project
        // that the user means, and one of many is of its own.
        let is_named = folder == place || of == place;
        let project = directory_of(of).or_else(|| (!is_named).then(|| name.clone()));
        for path in files::markdown_below(folder)? {
            looked_at += 1;
            if path.file_name().is_some_and(|name| name == INDEX) {
                continue;
            }
            let below = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
            let entry = match files::text(&path) {
                Ok(text) => {
                    let item = item(format!("{name}/{below}"), &text, &path);
                    SourceEntry::Item(SourceItem { project: project.clone(), ..item })
                }
                Err(error) => files::unreadable(&path, &error),
            };
            take(entry)?;
        }
    }
    if looked_at == 0 {
        let folders = folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", nor in ");
        return Err(SourceError::NotOfSource(format!("no file that ends with .md is in {folders}")));
    }
    Ok(())
}

/// Finds the folders `memory` of a place: itself, the one in it, or those of the projects in it.
fn folders(place: &Path) -> io::Result<Vec<PathBuf>> {
    let entries: Vec<PathBuf> = fs::read_dir(place)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    if place.file_name().is_some_and(|name| name == "memory") {
        return Ok(vec![place.to_owned()]);
    }
    let within = |path: &Path| Some(path.join("memory")).filter(|memory| memory.is_dir());
    let mut found: Vec<PathBuf> = within(place).into_iter().collect();
    found.extend(entries.iter().filter_map(|project| within(project)));
    found.sort();
    Ok(found)
}

fn item(origin: String, text: &str, path: &Path) -> SourceItem {
    let note = MarkdownNote::parse(text);
    let body = note.body.trim().to_owned();
    let is_feedback = note.get("type").eq_ignore_ascii_case("feedback");
    let rule = body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let kind = match (is_feedback, forbids(rule)) {
        (true, true) => ItemKind::Warning,
        (true, false) => ItemKind::Strategy,
        (false, _) => ItemKind::Fact,
    };
    let modified = [note.get("modified"), note.get("updated"), note.get("created")].into_iter().find_map(time);
    let named = [note.get("title"), note.get("name")].into_iter().find(|name| !name.is_empty());
    SourceItem {
        // The name of a feedback is a slug; its first sentence says more.
        title: named.filter(|_| !is_feedback).unwrap_or(rule).to_owned(),
        when: note.get("description").to_owned(),
        content: body.clone(),
        tags: [note.get("type").to_owned()].into(),
        created_at: modified.or_else(|| files::changed_at(path)),
        ..SourceItem::new(origin, kind)
    }
}

/// Finds the directory of a project by what its sessions say, because the name of its folder is ambiguous.
fn directory_of(project: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct SessionLine {
        cwd: Option<String>,
    }
    let sessions = fs::read_dir(project).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let sessions = sessions.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    sessions.take(SESSIONS_READ).find_map(|path| {
        let lines = BufReader::new(File::open(path).ok()?.take(SESSION_BYTES)).lines();
        lines.map_while(Result::ok).find_map(|line| serde_json::from_str::<SessionLine>(&line).ok()?.cwd)
    })
}

/// Says whether a folder of Claude Code, by its name, is of the project in this directory. Each character but letters
/// and digits is a hyphen in it, so that two projects whose paths differ in others share one folder.
pub fn is_claude_folder_of(folder: &str, directory: &str) -> bool {
    let as_folder = |character: char| if character.is_ascii_alphanumeric() { character } else { '-' };
    directory.chars().map(as_folder).eq(folder.chars())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{counts, fixture, items};

    #[test]
    fn feedback_is_advice_and_all_else_is_a_fact() {
        let read = items(read, &fixture("claude-code/projects"));
        assert_eq!(counts(&read), [1, 1, 2]);
        let warning = read.iter().find(|item| item.kind == ItemKind::Warning).unwrap();
        assert_eq!(warning.title, "Don't mock the database in integration tests.");
        assert_eq!(warning.origin, "-home-dana-shop/feedback_no_mocks.md");
        assert_eq!(warning.project.as_deref(), Some("/home/dana/shop"));
        assert_eq!(warning.created_at, Some("2026-04-02T08:30:00Z".parse().unwrap()));
    }

    #[test]
    fn a_folder_whose_sessions_are_gone_is_of_its_own_project_unless_it_was_named() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("-home-u-acme-secret/memory");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("feedback_a.md"), "---\ntype: feedback\n---\nNever deploy on Fridays.\n").unwrap();
        let project = |place: &Path| items(read, place)[0].project.clone();
        assert_eq!(project(place.path()).as_deref(), Some("-home-u-acme-secret"));
        assert_eq!(project(&place.path().join("-home-u-acme-secret")), None);
        assert_eq!(project(&folder), None);
        assert!(is_claude_folder_of("-home-u-acme-secret", "/home/u/acme_secret"));
        assert!(!is_claude_folder_of("-home-u-acme-secret", "/home/u/acme"));
    }
}
