//! The headings of a text that the places of its pieces do not tell: a piece under `Printer migration` that goes to
//! `Known issues` names the migration itself.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::has_words;
use super::places::{BankPlace, plain};
use crate::bank::pieces::date_of;
use crate::bank::signs::heading_of;
use crate::bank::{BankDocument, BankPath, BankTextPiece, SECTION_SEPARATOR};
use crate::memory::normalised;

/// Words of headings that tell nothing about what stands under them.
const SAY_NOTHING: [&str; 44] = [
    "a",
    "and",
    "bank",
    "context",
    "conversation",
    "daily",
    "date",
    "day",
    "details",
    "everything",
    "for",
    "from",
    "general",
    "info",
    "information",
    "insights",
    "learnings",
    "log",
    "meeting",
    "memory",
    "misc",
    "more",
    "new",
    "note",
    "notes",
    "of",
    "on",
    "other",
    "our",
    "overview",
    "project",
    "report",
    "session",
    "standup",
    "status",
    "summary",
    "the",
    "things",
    "to",
    "today",
    "update",
    "updates",
    "week",
    "weekly",
];

/// The headings of a text, while its pieces are filed in their order.
pub(super) struct TextHeadings {
    /// The names of the files of the bank, and their titles.
    files: HashSet<String>,
    /// The heading above all of the text, which the first piece in each section repeats.
    title: Option<String>,
    /// The sections that have a piece of the text.
    titled: HashSet<(BankPath, Option<String>)>,
}

impl TextHeadings {
    pub(super) fn of(pieces: &[BankTextPiece], documents: &[(&BankPath, BankDocument)]) -> Self {
        let first = pieces.first().and_then(|piece| piece.headings.first());
        let is_above_all = pieces.iter().all(|piece| piece.headings.first() == first);
        let has_others = pieces.iter().any(|piece| piece.headings.len() > 1);
        let title = first.filter(|first| is_above_all && has_others && !names_version(first)).cloned();
        let names = documents.iter().flat_map(|(path, document)| {
            let titles = document.sections().iter().filter(|section| section.level == 1);
            titles.map(|section| plain(section.title())).chain([plain(path.stem())])
        });
        Self { files: names.collect(), title, titled: HashSet::new() }
    }

    /// Returns the headings and the label above a piece that neither its place nor its own words tell, each with a
    /// colon and a space behind it.
    pub(super) fn untold(&mut self, piece: &BankTextPiece, place: &BankPlace) -> String {
        let text = normalised(&piece.text);
        let sections = place.section.iter().flat_map(|path| path.split(SECTION_SEPARATOR));
        let sections: Vec<String> = sections.map(normalised).collect();
        let tells = |heading: &&String| {
            let heading = normalised(heading.trim_end_matches(':'));
            !says_nothing(&heading)
                && !has_words(&text, &heading)
                && !sections.contains(&heading)
                && !self.files.contains(&plain(&heading))
        };
        let telling: Vec<&String> = piece.headings.iter().filter(tells).collect();
        let is_title = |heading: &String| self.title.as_ref() == Some(heading);
        let nearest = telling.iter().rev().find(|heading| !is_title(heading));
        let is_first = self.titled.insert((place.file.clone(), place.section.clone()));
        let title = telling.iter().find(|heading| is_title(heading)).filter(|_| is_first);
        let written = |heading: &&String| format!("{}: ", heading.trim().trim_end_matches(':').trim_end());
        let version = telling.iter().rev().find(|heading| names_version(heading));
        let version = version.filter(|heading| nearest.is_none_or(|nearest| nearest != *heading));
        title.into_iter().chain(version).chain(nearest).map(written).collect()
    }
}

/// Says whether a heading is a version, as changelogs have it: `[1.2.0] - 2026-02-01`.
fn names_version(heading: &str) -> bool {
    static VERSION: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let number = r"v?\d+(?:\.\d+)+(?:[-+.]?(?:rc|beta|alpha|dev|pre)[.\d-]*)?";
        Regex::new(&format!(r"(?i)^\W*(?:(?:version|release) )?{number}\W*(?:\d{{4}}-\d{{2}}-\d{{2}}\W*)?$")).ok()
    });
    VERSION.as_ref().is_some_and(|version| version.is_match(heading)) && date_of(heading).is_none()
}

/// Says whether a heading names a kind of notes, or has no word that tells anything.
fn says_nothing(heading: &str) -> bool {
    let words: Vec<&str> = heading.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_number = |word: &&str| word.chars().all(|c| c.is_ascii_digit());
    // Numbers alone are a version, unless they are a day.
    let is_version = !words.is_empty() && words.iter().all(is_number) && date_of(heading).is_none();
    let is_empty = |word: &&str| SAY_NOTHING.contains(word) || is_number(word);
    heading_of(heading).is_some() || (!is_version && words.iter().all(is_empty))
}
