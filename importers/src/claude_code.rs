//! Claude Code's own memory: a folder of markdown files for each project, one file a memory.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

use crate::failure::{EntrySink, SourceError};
use crate::files;
use crate::item::{ItemKind, SourceEntry, SourceItem};
use crate::markdown::{MarkdownNote, time};
use crate::warning_cues::forbids;

/// The file that lists the others. In one from before there were others, the notes themselves stand.
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
            let below = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
            let origin = format!("{name}/{below}");
            let text = match files::text(&path) {
                Ok(text) => text,
                Err(error) => {
                    take(files::unreadable(&path, &error))?;
                    continue;
                }
            };
            let found = match path.file_name() {
                Some(name) if name == INDEX => notes_of_index(&origin, &text, &path),
                _ => vec![item(origin, &text, &path)],
            };
            for item in found {
                take(SourceEntry::Item(SourceItem { project: project.clone(), ..item }))?;
            }
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

/// Returns what an index says by itself: its items and paragraphs that do not begin with another file.
fn notes_of_index(origin: &str, text: &str, path: &Path) -> Vec<SourceItem> {
    let folder = path.parent().unwrap_or(path);
    let mut found = Vec::new();
    for (heading, note) in paragraphs(&MarkdownNote::parse(text).body) {
        if begins_with_file(&note, folder) {
            continue;
        }
        let rule = note.lines().next().unwrap_or_default().to_owned();
        let kind = if forbids(&rule) { ItemKind::Warning } else { ItemKind::Fact };
        let new = SourceItem::new(format!("{origin}\0{note}"), kind);
        found.push(SourceItem {
            title: if kind == ItemKind::Fact { heading.clone() } else { rule },
            when: heading,
            content: note,
            created_at: files::changed_at(path),
            ..new
        });
    }
    found
}

/// Splits a text into its items and paragraphs, each with the heading above it.
fn paragraphs(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let (mut heading, mut is_open, mut in_code) = (String::new(), false, false);
    for line in text.lines() {
        let own = line.trim();
        let is_code = in_code || own.starts_with("```");
        in_code ^= own.starts_with("```");
        let is_heading = !is_code && own.starts_with('#') && own.trim_start_matches('#').starts_with(' ');
        if is_heading {
            own.trim_start_matches('#').trim().clone_into(&mut heading);
        }
        if is_heading || (own.is_empty() && !is_code) {
            is_open = false;
            continue;
        }
        let item = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).filter(|_| !is_code);
        match found.last_mut().filter(|_| is_open && item.is_none()) {
            Some((_, note)) => {
                note.push('\n');
                note.push_str(line.trim_end());
            }
            None => found.push((heading.clone(), item.unwrap_or(line).trim().to_owned())),
        }
        is_open = true;
    }
    found
}

/// Says whether a note begins with a link to a markdown file of the folder, or with the name of one: such a file is read
/// by itself.
fn begins_with_file(note: &str, folder: &Path) -> bool {
    let note = note.trim_start_matches(['*', '`', ' ']);
    let link = note.strip_prefix('[').and_then(|note| note.split_once("](")).and_then(|(_, to)| to.split_once(')'));
    let name = match link {
        Some((to, _)) => to.split(['#', ' ']).next().unwrap_or(to),
        None => {
            let first = note.split_whitespace().next().unwrap_or_default();
            first.trim_matches(['[', ']', '*', '`', ':', ','])
        }
    };
    let is_within = Path::new(name).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    is_within && name.ends_with(".md") && folder.join(name).is_file()
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

    #[test]
    fn notes_that_stand_in_the_index_itself_are_taken_and_its_links_are_not() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("memory");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("debugging.md"), "---\ntype: reference\n---\nThe log is in /var/log/shop.\n").unwrap();
        let index = "# Shop\n\nThe shop is built with pnpm.\n\n## Tests\n- [Debugging](debugging.md): where the log is\n- debugging.md: \
                     the log\n- Never run them on Fridays:\n  the database is away\n- Run one with\n```\n# all\n\nmake test\n```\n";
        fs::write(folder.join(INDEX), index).unwrap();
        let read = items(read, &folder);
        assert_eq!(counts(&read), [0, 1, 3]);
        let told: Vec<(&str, &str)> = read.iter().map(|item| (&*item.title, &*item.content)).collect();
        assert_eq!(told[0], ("Shop", "The shop is built with pnpm."));
        assert_eq!(told[1], ("Never run them on Fridays:", "Never run them on Fridays:\n  the database is away"));
        assert_eq!(told[2], ("Tests", "Run one with\n```\n# all\n\nmake test\n```"));
        assert_eq!(read[1].when, "Tests");
    }

    #[test]
    fn a_note_that_begins_with_a_link_elsewhere_is_taken() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("memory");
        fs::create_dir_all(&folder).unwrap();
        fs::write(place.path().join("notes.md"), "Not of the folder.\n").unwrap();
        fs::write(folder.join("own.md"), "The log is in /var/log/shop.\n").unwrap();
        let elsewhere = [
            "[Docs](https://example.org/own.md) use these docs",
            "[Gone](gone.md) what it said",
            "[Notes](../notes.md) beside it",
        ];
        let own = "[Own](./own.md#log): where the log is";
        let index: String = elsewhere.iter().chain([&own]).map(|note| format!("- {note}\n")).collect();
        fs::write(folder.join(INDEX), index).unwrap();
        let read = items(read, &folder);
        let told: Vec<&str> = read.iter().map(|item| &*item.content).filter(|note| note.starts_with('[')).collect();
        assert_eq!(told, elsewhere);
    }
}
