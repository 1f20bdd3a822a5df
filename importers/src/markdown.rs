//! Markdown with front matter, as far as memories need it.

use std::collections::BTreeMap;
use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;

/// A file with its front matter as keys and plain values.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct MarkdownNote {
    keys: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl MarkdownNote {
    pub(crate) fn parse(text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else {
            return Self { keys: BTreeMap::new(), body: text.to_owned() };
        };
        let mut keys: BTreeMap<String, String> = BTreeMap::new();
        let mut open_list: Option<String> = None;
        let mut at = 0;
        for line in rest.split_inclusive('\n') {
            at += line.len();
            let line = line.trim_end();
            if line == "---" || line == "..." {
                return Self { keys, body: rest[at..].to_owned() };
            }
            if let Some(item) = line.trim_start().strip_prefix("- ") {
                if let Some(items) = open_list.as_ref().and_then(|key| keys.get_mut(key)) {
                    items.push_str(item);
                    items.push(',');
                }
                continue;
            }
            // A key of another one counts as well: Claude Code keeps `type` below `metadata`.
            if let Some((key, value)) = line.split_once(':') {
                let (key, value) = (key.trim().to_owned(), value.trim().trim_matches(['"', '\'']));
                // The items of a list may follow, one a line.
                open_list = (value.is_empty() && !keys.contains_key(&key)).then(|| key.clone());
                keys.entry(key).or_insert_with(|| value.to_owned());
            }
        }
        Self { keys: BTreeMap::new(), body: text.to_owned() }
    }

    pub(crate) fn get(&self, key: &str) -> &str {
        self.keys.get(key).map_or("", String::as_str)
    }

    /// Returns the items of a list that stands on one line, `[a, b]`, or has a line for each item.
    pub(crate) fn list(&self, key: &str) -> Vec<String> {
        let items = self.get(key).trim_matches(['[', ']']).split(',');
        items
            .map(|item| item.trim().trim_matches(['"', '\'', '#']).to_owned())
            .filter(|item| !item.is_empty())
            .collect()
    }
}

/// Reads a time as programs write it: with a zone, without one (UTC), or a day alone.
pub(crate) fn time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    // A day alone is read as its midnight.
    let in_utc = || Some(text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp());
    text.parse::<Timestamp>().ok().or_else(in_utc)
}

/// Reads a time of a JSON document: a text, or the seconds since 1970.
pub(crate) fn time_of(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => time(text),
        value => Timestamp::from_millisecond((value.as_f64()? * 1e3).round() as i64).ok(),
    }
}

/// Splits a text at its headings of one level. Each part has its title and its body, with deeper headings in it. What
/// stands before the first heading has an empty title.
pub(crate) fn sections(text: &str, level: usize) -> Vec<(String, String)> {
    let mark = format!("{} ", "#".repeat(level));
    let mut parts = vec![(String::new(), String::new())];
    let mut in_code = false;
    for line in text.lines() {
        in_code ^= line.trim_start().starts_with("```");
        match line.strip_prefix(&mark).filter(|_| !in_code) {
            Some(title) => parts.push((title.trim().to_owned(), String::new())),
            None => {
                if let Some((_, body)) = parts.last_mut() {
                    body.push_str(line);
                    body.push('\n');
                }
            }
        }
    }
    parts.retain(|(title, body)| !title.is_empty() || !body.trim().is_empty());
    parts
}

/// An item of a list, and the bytes of the text that it takes: all of its lines, with its mark and their ends.
#[derive(Debug, PartialEq)]
pub(crate) struct ListItem {
    pub(crate) text: String,
    pub(crate) place: Range<usize>,
}

/// Returns the items of the outermost lists of a text, each with its further lines.
pub(crate) fn items(text: &str) -> Vec<ListItem> {
    let mut items: Vec<ListItem> = Vec::new();
    let mut is_open = false;
    let mut end = 0;
    for whole in text.split_inclusive('\n') {
        let start = end;
        end += whole.len();
        let line = whole.trim_end_matches(['\n', '\r']);
        if let Some(item) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
            items.push(ListItem { text: item.trim().to_owned(), place: start..end });
            is_open = true;
        } else if line.starts_with([' ', '\t']) && is_open {
            if let Some(item) = items.last_mut() {
                item.text.push('\n');
                item.text.push_str(line.trim_end());
                item.place.end = end;
            }
        } else {
            is_open = false;
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_sections_and_items_are_read() {
        let note =
            MarkdownNote::parse("---\ntitle: \"A: b\"\ntags: [x, '#y']\nmetadata:\n  type: feedback\n---\nBody\n");
        assert_eq!((note.get("title"), note.get("type"), &*note.body), ("A: b", "feedback", "Body\n"));
        assert_eq!(note.list("tags"), ["x", "y"]);
        let note = MarkdownNote::parse("---\ntags:\n- coffee\n- 'home brewing'\ntitle: Beans\n---\n");
        assert_eq!((note.list("tags"), note.get("title")), (vec!["coffee".into(), "home brewing".into()], "Beans"));
        assert_eq!(MarkdownNote::parse("--- no\n").body, "--- no\n");
        let parts = sections("a\n# B\n```\n# c\n```\n## d\n# E\n", 1);
        assert_eq!(parts.iter().map(|(title, _)| &**title).collect::<Vec<_>>(), ["", "B", "E"]);
    }

    #[test]
    fn items_have_their_further_lines_and_their_places() {
        let text = "- a\r\n  b\r\n\ntext\n*  c  \n\td\nend";
        let read = items(text);
        assert_eq!(read.iter().map(|item| &*item.text).collect::<Vec<_>>(), ["a\n  b", "c\n\td"]);
        let places: Vec<_> = read.into_iter().map(|item| &text[item.place]).collect();
        assert_eq!(places, ["- a\r\n  b\r\n", "*  c  \n\td\n"]);
    }

    #[test]
    fn times_are_read_as_programs_write_them() {
        let at: Timestamp = "2025-03-01T10:00:00Z".parse().unwrap();
        for text in ["2025-03-01T10:00:00Z", "2025-03-01T12:00:00+02:00", "2025-03-01 10:00:00", "2025-03-01T10:00:00"]
        {
            assert_eq!(time(text), Some(at), "{text}");
        }
        assert_eq!(time("2025-03-01 12:00:00+02:00"), Some(at));
        assert_eq!(time("2025-03-01"), Some("2025-03-01T00:00:00Z".parse().unwrap()));
        assert!(time("2025-03-01").is_some() && time("yesterday").is_none());
    }
}
