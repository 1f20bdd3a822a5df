//! Lines between markers in a markdown file.

use crate::document::ConfigChange;

const BEGIN: &str = "<!-- reasoning-bank: begin -->";
const END: &str = "<!-- reasoning-bank: end -->";

pub(super) fn apply(text: &str, changes: &[ConfigChange]) -> String {
    let mut text = text.to_owned();
    for change in changes {
        let ConfigChange::Lines(lines) = change else { continue };
        let block = format!("{BEGIN}\n{lines}\n{END}\n");
        match section(&text) {
            Some((start, end)) => text.replace_range(start..end, &block),
            None => {
                let gap = match text.as_str() {
                    "" => "",
                    text if text.ends_with("\n\n") => "",
                    text if text.ends_with('\n') => "\n",
                    _ => "\n\n",
                };
                text = format!("{text}{gap}{block}");
            }
        }
    }
    text
}

pub(super) fn remove(text: &str) -> String {
    let Some((start, end)) = section(text) else { return text.to_owned() };
    let (before, after) = (&text[..start], &text[end..]);
    // The empty line before the markers came with them.
    let before = before.strip_suffix("\n\n").map_or(before, |_| &before[..before.len() - 1]);
    format!("{before}{after}")
}

/// Finds the first marker whose next marker is its end, up to the line after it. A begin without an end is text of the
/// user.
fn section(text: &str) -> Option<(usize, usize)> {
    let begins: Vec<usize> = text.match_indices(BEGIN).map(|(at, _)| at).collect();
    begins.iter().enumerate().find_map(|(n, &start)| {
        let next = begins.get(n + 1).copied().unwrap_or(text.len());
        let end = start + text[start..next].find(END)? + END.len();
        Some((start, end + usize::from(text[end..].starts_with('\n'))))
    })
}
