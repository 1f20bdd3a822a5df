//! basic-memory: a tree of markdown notes. Observations are list items with a category: `- [tip] text #tag (context)`.

use std::path::Path;

use crate::failure::{EntrySink, SourceError};
use crate::files;
use crate::item::{ItemKind, SourceEntry, SourceItem};
use crate::markdown::{MarkdownNote, items, time};

pub(crate) fn read(place: &Path, take: &mut EntrySink<'_>) -> Result<(), SourceError> {
    files::check_folder(place)?;
    let paths = files::markdown_below(place)?;
    if paths.is_empty() {
        return Err(SourceError::NotOfSource("no file in it ends with .md".to_owned()));
    }
    for path in paths {
        let text = match files::text(&path) {
            Ok(text) => text,
            Err(error) => {
                take(files::unreadable(&path, &error))?;
                continue;
            }
        };
        let below = path.strip_prefix(place).unwrap_or(&path).with_extension("").display().to_string();
        for item in of_note(&below, &text) {
            let created_at = item.created_at.or_else(|| files::changed_at(&path));
            take(SourceEntry::Item(SourceItem { created_at, ..item }))?;
        }
    }
    Ok(())
}

/// Returns what a note says to do or to avoid, and all else of it as one fact.
fn of_note(below: &str, text: &str) -> Vec<SourceItem> {
    let note = MarkdownNote::parse(text);
    let permalink = Some(note.get("permalink")).filter(|link| !link.is_empty()).unwrap_or(below);
    let title = Some(note.get("title")).filter(|title| !title.is_empty()).unwrap_or(permalink);
    let created_at = [note.get("created"), note.get("modified")].into_iter().find_map(time);
    let tags = note.list("tags");
    let mut found = Vec::new();
    let (mut rest, mut rest_from) = (String::new(), 0);
    for item in items(&note.body) {
        let Some((category, told)) = observation(&item.text) else { continue };
        let kind = match category.to_lowercase().as_str() {
            "decision" | "technique" | "tip" | "pattern" => ItemKind::Strategy,
            "issue" | "gotcha" | "problem" | "warning" => ItemKind::Warning,
            _ => continue,
        };
        rest.push_str(&note.body[rest_from..item.place.start]);
        rest_from = item.place.end;
        let content = without_tags(told);
        found.push(SourceItem {
            title: content.clone(),
            when: format!("When the work is about: {title}"),
            content,
            tags: tags.iter().cloned().chain(tags_in(told)).chain([category.to_owned()]).collect(),
            created_at,
            ..SourceItem::new(format!("{permalink}\0{told}"), kind)
        });
    }
    rest.push_str(&note.body[rest_from..]);
    let lines = rest.lines().filter(|line| !line.trim_start().starts_with('#') && !line.trim().is_empty());
    let content = lines.map(|line| line.trim().trim_start_matches("- ")).collect::<Vec<_>>().join("; ");
    if !content.is_empty() {
        let title = title.to_owned();
        found.push(SourceItem { title, content, created_at, ..SourceItem::new(permalink, ItemKind::Fact) });
    }
    found
}

/// Splits an observation into its category and its text. A box to tick and a link are none.
fn observation(item: &str) -> Option<(&str, &str)> {
    let (category, told) = item.strip_prefix('[')?.split_once(']')?;
    let is_box = matches!(category, "" | " " | "x" | "X" | "-");
    (!is_box && !category.starts_with('[') && told.starts_with(' ')).then(|| (category.trim(), told.trim()))
}

fn tags_in(told: &str) -> impl Iterator<Item = String> + '_ {
    told.split_whitespace()
        .filter_map(|word| word.strip_prefix('#'))
        .map(|tag| tag.trim_end_matches(['.', ',']).to_owned())
}

fn without_tags(told: &str) -> String {
    told.split_whitespace().filter(|word| !word.starts_with('#')).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::testing::{counts, fixture, items};

    #[test]
    fn observations_are_told_apart_by_category_and_the_rest_is_a_fact() {
        let read = items(read, &fixture("basic-memory"));
        assert_eq!(counts(&read), [2, 1, 2]);
        let tip = read.iter().find(|item| item.content.starts_with("Grind")).unwrap();
        assert_eq!(tip.content, "Grind right before brewing (morning routine)");
        assert!(tip.tags.contains(&"freshness".to_owned()));
        let rest = read.iter().find(|item| item.kind == ItemKind::Fact).unwrap();
        assert!(!rest.content.contains("Grind") && rest.content.contains("[[Water]]"), "{}", rest.content);
        assert_eq!(observation("[ ] todo"), None);
    }

    /// Reads a note, and returns the strategies and the fact of it.
    fn read_note(text: &str) -> (Vec<String>, Option<String>) {
        let (facts, advice): (Vec<_>, Vec<_>) =
            of_note("note", text).into_iter().partition(|item| item.kind == ItemKind::Fact);
        assert!(facts.len() < 2, "{facts:?}");
        (advice.into_iter().map(|item| item.content).collect(), facts.into_iter().next().map(|fact| fact.content))
    }

    #[test]
    fn words_of_another_item_that_read_like_an_observation_stay() {
        let quoted = "- [fact] Carl says\n  - [tip] Pin versions in CI but never in libraries\n- [tip] Pin versions\n";
        let (advice, fact) = read_note(quoted);
        assert_eq!(advice, ["Pin versions"]);
        assert_eq!(fact.unwrap(), "[fact] Carl says; [tip] Pin versions in CI but never in libraries");
    }

    #[test]
    fn an_observation_is_no_fact_as_well() {
        for (text, told) in [
            ("-  [tip] Two spaces\n", "Two spaces"),
            ("- [tip] Wrapped\r\n  over two lines\r\n", "Wrapped over two lines"),
            ("- [tip] Hard break  \n  of a line\n", "Hard break of a line"),
            ("* [tip] Without an end", "Without an end"),
        ] {
            assert_eq!(read_note(text), (vec![told.to_owned()], None), "{text:?}");
        }
    }

    #[test]
    fn a_long_note_is_read_in_one_go() {
        let lines = (0..16_000).map(|at| format!("- [tip] Number {at} of them\n- [fact] {at}\n"));
        let began = Instant::now();
        let (advice, fact) = read_note(&lines.collect::<String>());
        assert_eq!((advice.len(), fact.unwrap().split("; ").count()), (16_000, 16_000));
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    }
}
