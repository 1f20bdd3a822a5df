//! Making a bank shorter by rules, for its files and for what `activate` shows. Old entries become one line each, then
//! the sections give way in the order discussion, implementation, architecture. Decisions, open items, and what is
//! tagged or marked current stay word for word; what was filed last within a day becomes a line at most; what is not
//! changed stays byte for byte.

mod long_file;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::imported::without_imported;
use super::reading::{BankFileReading, BlockReading, Rank};
use super::{BankFiles, BankImportance, BankMetadata, BankPath, RenamedHeadings, SECTION_SEPARATOR};
use crate::learning::job::day_of;
use crate::text::tokens::{estimate, truncate};

pub use long_file::{LongFile, next_long_file};

/// A bank with more tokens is made shorter.
pub const OPTIMIZE_ABOVE_TOKENS: usize = 8_000;
/// A bank is made no shorter than this.
pub const OPTIMIZED_MIN_TOKENS: usize = 4_000;
/// Entries of progress and activeContext are old after this many days.
const OLD_AFTER_DAYS: i32 = 30;
/// The share of the bound that is aimed for, in percent, so that the next update does not pass it again.
const AIM_PERCENT: usize = 85;
/// A piece that was written within this time becomes a line at most.
const FRESH: SignedDuration = SignedDuration::from_hours(24);
/// The line of a section about its entries that left begins with their number and ends so.
const ONE_LEFT: &str = "older entry is in the history of the bank.";
const SEVERAL_LEFT: &str = "older entries are in the history of the bank.";
const HISTORICAL: &str = " (historical)";

/// A bank that was made shorter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptimizedBank {
    pub files: BankFiles,
    pub tokens_before: usize,
    pub tokens: usize,
}

/// The part of a bank that `activate` shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankView {
    pub content: BTreeMap<BankPath, String>,
    /// All files with their sections, shown or not.
    pub outline: Vec<BankOutline>,
    pub tokens: usize,
    /// The content is shorter than the files, though nothing is missing from it as a whole.
    pub optimized: bool,
    /// A file is missing or cut.
    pub truncated: bool,
}

/// A file of a bank by its sections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BankOutline {
    pub file: BankPath,
    pub tokens: usize,
    pub sections: Vec<String>,
}

/// Returns how many tokens the files of a bank have.
pub fn bank_tokens(files: &BankFiles) -> usize {
    files.values().map(|text| estimate(text)).sum()
}

/// The facts about a bank that its texts do not tell.
#[derive(Clone, Copy)]
pub struct BankFacts<'a> {
    /// Returns what is known of a piece by its hash.
    pub metadata: &'a dyn Fn(&str) -> Option<BankMetadata>,
    /// Says of a piece, by its hash, whether it may become shorter before it is old. None where each may.
    pub may_shorten: Option<&'a dyn Fn(&str) -> bool>,
    pub renamed: &'a RenamedHeadings,
    /// Reads a file. Whoever read its text before need not do it again.
    pub reading: &'a dyn Fn(&str) -> Arc<BankFileReading>,
}

/// The place where what leaves a bank is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeavesTo {
    /// The files become shorter, and the version before is kept.
    History,
    /// The bank is only shown shorter.
    Files,
}

/// Makes a bank shorter where it has more than `above` tokens. What was imported is not counted and stays as it is.
pub fn optimize(files: &BankFiles, above: usize, facts: BankFacts<'_>, now: Timestamp) -> OptimizedBank {
    by_ranks(files, above, facts, now, LeavesTo::History)
}

fn by_ranks(
    files: &BankFiles,
    above: usize,
    facts: BankFacts<'_>,
    now: Timestamp,
    leaves_to: LeavesTo,
) -> OptimizedBank {
    shortened(files, above, facts, now, leaves_to, |shortening| {
        let aim = match leaves_to {
            LeavesTo::History => aim(above),
            // The lines about what left have tokens, too.
            LeavesTo::Files => above * AIM_PERCENT / 100,
        };
        shortening.collapse_old(OPTIMIZED_MIN_TOKENS.min(aim));
        for rank in [Rank::Discussion, Rank::Implementation, Rank::Architecture] {
            shortening.collapse(rank, aim);
        }
        for rank in [Rank::Discussion, Rank::Implementation, Rank::Architecture] {
            shortening.remove(rank, aim);
        }
    })
}

/// Makes the old entries of a bank one line each that is short enough otherwise. Once more it changes nothing.
pub fn collapse_old(files: &BankFiles, facts: BankFacts<'_>, now: Timestamp) -> OptimizedBank {
    shortened(files, OPTIMIZED_MIN_TOKENS, facts, now, LeavesTo::History, |shortening| {
        shortening.collapse_old(OPTIMIZED_MIN_TOKENS);
    })
}

/// Makes the pieces of a bank shorter where it has more than `above` tokens.
fn shortened(
    files: &BankFiles,
    above: usize,
    facts: BankFacts<'_>,
    now: Timestamp,
    leaves_to: LeavesTo,
    shorten: impl FnOnce(&mut Shortening),
) -> OptimizedBank {
    let (own, imported) = without_imported(files);
    let readings = read(&own, facts);
    let tokens_before = readings.values().map(|reading| reading.tokens()).sum();
    if tokens_before <= above {
        return OptimizedBank { files: files.clone(), tokens_before, tokens: tokens_before };
    }
    let mut shortening = Shortening::of(&readings, facts, now, leaves_to);
    shortening.tokens = tokens_before;
    shorten(&mut shortening);
    let mut files = shortening.written(&own);
    let tokens_of = |(path, text): (&BankPath, &String)| match &own[path] == text {
        true => readings[path].tokens(),
        false => estimate(text),
    };
    let tokens = files.iter().map(tokens_of).sum();
    files.extend(imported);
    OptimizedBank { files, tokens_before, tokens }
}

/// Returns how many tokens a bank is brought to that has more than `above`.
fn aim(above: usize) -> usize {
    (above * AIM_PERCENT / 100).max(OPTIMIZED_MIN_TOKENS.min(above))
}

fn read(files: &BankFiles, facts: BankFacts<'_>) -> BTreeMap<BankPath, Arc<BankFileReading>> {
    files.iter().map(|(path, text)| (path.clone(), (facts.reading)(text))).collect()
}

/// Returns what of a bank is shown within a number of tokens.
pub fn view(files: &BankFiles, max_tokens: usize, facts: BankFacts<'_>, now: Timestamp) -> BankView {
    let shown = by_ranks(files, max_tokens, facts, now, LeavesTo::Files);
    let outline = |(path, reading): (&BankPath, &Arc<BankFileReading>)| {
        let sections = reading.sections().iter().map(|section| section.titles.join(SECTION_SEPARATOR)).collect();
        BankOutline { file: path.clone(), tokens: reading.tokens(), sections }
    };
    let readings = read(files, facts);
    let outline = readings.iter().map(outline).collect();
    let optimized = shown.files != *files;
    let imported = readings.iter().filter(|(path, _)| path.is_imported()).map(|(_, reading)| reading.tokens());
    let tokens = shown.tokens + imported.sum::<usize>();
    if tokens <= max_tokens {
        return BankView { content: shown.files, outline, tokens, optimized, truncated: false };
    }
    let mut paths: Vec<&BankPath> = shown.files.keys().collect();
    paths.sort_by_key(|path| (path.is_imported(), importance_of_file(path), (*path).clone()));
    let (mut content, mut tokens) = (BTreeMap::new(), 0);
    for path in paths {
        let text = &shown.files[path];
        let left = max_tokens - tokens;
        let size = estimate(text);
        if size <= left {
            content.insert(path.clone(), text.clone());
            tokens += size;
        } else if content.is_empty() && left > 0 {
            let cut = truncate(text, left).unwrap_or_else(|| text.clone());
            tokens = estimate(&cut).min(max_tokens);
            content.insert(path.clone(), cut);
        }
    }
    BankView { content, outline, tokens, optimized, truncated: true }
}

/// Returns the place of a file among the files that are shown first.
fn importance_of_file(path: &BankPath) -> usize {
    const FIRST: [&str; 9] = [
        "activecontext",
        "projectbrief",
        "systempatterns",
        "techcontext",
        "progress",
        "productcontext",
        "preferences",
        "context",
        "references",
    ];
    let name: String = path.stem().chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    FIRST.iter().position(|known| *known == name).unwrap_or(FIRST.len())
}

/// Says of what is known of a piece whether it stays word for word.
fn is_kept(known: &BankMetadata) -> bool {
    known.importance == BankImportance::High || known.tags.iter().any(|tag| tag == "keep")
}

/// Says whether a file tells of what happened when.
fn is_log(file: &BankPath) -> bool {
    matches!(file.stem().to_lowercase().replace(['-', '_'], "").as_str(), "progress" | "activecontext")
}

/// Returns the line of a section about its entries that left.
fn line_of_left(count: usize, file: &BankPath, leaves_to: LeavesTo) -> String {
    let (entries, those) = match count {
        1 => ("older entry is", "it"),
        _ => ("older entries are", "them"),
    };
    match leaves_to {
        LeavesTo::History if count == 1 => format!("- {count} {ONE_LEFT}\n"),
        LeavesTo::History => format!("- {count} {SEVERAL_LEFT}\n"),
        LeavesTo::Files => {
            format!("- {count} {entries} not shown; activate {{\"files\": [\"{file}\"]}} shows {those}.\n")
        }
    }
}

/// Returns how many entries left a section, where a piece is the line that tells of them.
fn count_in_history(text: &str) -> Option<usize> {
    let (count, noun) = text.trim().split_once(' ')?;
    count.parse().ok().filter(|_| matches!(noun, ONE_LEFT | SEVERAL_LEFT))
}

/// Tells how early a section gives way whose headings do not tell.
fn rank_of_file(file: &BankPath) -> Rank {
    match importance_of_file(file) {
        1 | 2 => Rank::Architecture,
        3..=5 => Rank::Implementation,
        _ => Rank::Discussion,
    }
}

/// A piece that may become shorter.
struct ShorterPiece {
    file: BankPath,
    section: usize,
    range: Range<usize>,
    line: String,
    line_tokens: usize,
    rank: Rank,
    date: Option<Date>,
    is_log: bool,
    /// It may become shorter before it is old.
    may_shorten: bool,
    /// The piece was filed within the last day, and is at an end of its section, where new ones go.
    is_fresh: bool,
    tokens: usize,
    /// The number of entries that left the section earlier, where the piece is the line that tells of them.
    left_before: Option<usize>,
    /// The shorter text in its place. None where it stays as it is.
    written: Option<String>,
}

impl ShorterPiece {
    fn is_old_entry(&self, today: Date) -> bool {
        let is_old = |date: Date| today.since(date).is_ok_and(|span| span.get_days() > OLD_AFTER_DAYS);
        self.is_log && self.date.is_some_and(is_old)
    }
}

struct Shortening {
    leaves_to: LeavesTo,
    pieces: Vec<ShorterPiece>,
    /// The places at which headings are marked as historical.
    historical: Vec<(BankPath, usize)>,
    tokens: usize,
    today: Date,
}

impl Shortening {
    fn of(
        readings: &BTreeMap<BankPath, Arc<BankFileReading>>,
        facts: BankFacts<'_>,
        now: Timestamp,
        leaves_to: LeavesTo,
    ) -> Self {
        let (mut pieces, mut historical) = (Vec::new(), Vec::new());
        let line_of = |block: &BlockReading| match (leaves_to, &block.shown_line) {
            (LeavesTo::Files, Some(line)) => line.clone(),
            _ => block.line.clone(),
        };
        for (file, reading) in readings {
            for (index, section) in reading.sections().iter().enumerate() {
                if section.is_tagged || section.is_of_decisions_in(file, facts.renamed) {
                    continue;
                }
                historical.extend(section.historical_at.map(|at| (file.clone(), at)));
                let last = section.blocks.len().saturating_sub(1);
                let may_leave =
                    section.blocks.iter().enumerate().filter(|(_, block)| block.stays.is_none() && !block.is_intro);
                let known = may_leave.map(|(at, block)| (at, block, (facts.metadata)(block.hash())));
                let may_leave = known.filter(|(_, _, known)| !known.as_ref().is_some_and(is_kept));
                let is_new = |known: Option<BankMetadata>| {
                    known.and_then(|of| of.timestamp).is_some_and(|at| now.duration_since(at) < FRESH)
                };
                pieces.extend(may_leave.map(|(at, block, known)| ShorterPiece {
                    file: file.clone(),
                    section: index,
                    range: block.range.clone(),
                    line: line_of(block),
                    line_tokens: block.line_tokens,
                    rank: section.rank.unwrap_or_else(|| rank_of_file(file)),
                    date: block.date,
                    is_log: is_log(file),
                    may_shorten: facts.may_shorten.is_none_or(|may| may(block.hash())),
                    is_fresh: (at == 0 || at == last) && is_new(known),
                    tokens: block.tokens,
                    left_before: count_in_history(&block.text),
                    written: None,
                }));
            }
        }
        // The oldest piece gives way first. A piece without a date counts as newer than all others.
        pieces.sort_by_key(|piece| piece.date.unwrap_or(Date::MAX));
        Self { leaves_to, pieces, historical, tokens: 0, today: day_of(now) }
    }

    fn collapse_old(&mut self, least: usize) {
        let today = self.today;
        self.shorten(least, |piece| piece.is_old_entry(today), |piece| piece.line.clone());
    }

    fn collapse(&mut self, rank: Rank, aim: usize) {
        self.shorten(
            aim,
            |piece| piece.rank == rank && piece.may_shorten && piece.written.is_none(),
            |piece| piece.line.clone(),
        );
    }

    fn remove(&mut self, rank: Rank, aim: usize) {
        self.shorten(aim, |piece| piece.rank == rank && piece.may_shorten && !piece.is_fresh, |_| String::new());
    }

    /// Writes pieces shorter, the oldest first, while there are more tokens than `aim`.
    fn shorten(
        &mut self,
        aim: usize,
        which: impl Fn(&ShorterPiece) -> bool,
        written: impl Fn(&ShorterPiece) -> String,
    ) {
        for piece in self.pieces.iter_mut().filter(|piece| piece.left_before.is_none() && which(piece)) {
            if self.tokens <= aim {
                return;
            }
            let text = written(piece);
            let now = if text.is_empty() { 0 } else { piece.line_tokens };
            if now < piece.tokens {
                self.tokens = (self.tokens + now).saturating_sub(piece.tokens);
                (piece.tokens, piece.written) = (now, Some(text));
            }
        }
    }

    fn written(self, files: &BankFiles) -> BankFiles {
        let mut edits: BTreeMap<BankPath, Vec<(Range<usize>, String)>> = BTreeMap::new();
        for (file, at) in self.historical {
            edits.entry(file).or_default().push((at..at, HISTORICAL.to_owned()));
        }
        // One line says how many entries a section had.
        let mut removed: BTreeMap<(BankPath, usize), usize> = BTreeMap::new();
        for piece in self.pieces.iter().filter(|piece| piece.written.as_deref() == Some("")) {
            *removed.entry((piece.file.clone(), piece.section)).or_default() += 1;
        }
        let mut pieces = self.pieces;
        // It counts those as well that the section had before, whose line it replaces where they are in the same place.
        for piece in pieces.iter_mut().filter(|_| self.leaves_to == LeavesTo::History) {
            let count = removed.get_mut(&(piece.file.clone(), piece.section));
            if let Some((count, before)) = count.zip(piece.left_before) {
                *count += before;
                piece.written = Some(String::new());
            }
        }
        pieces.sort_by(|one, other| (&one.file, other.range.start).cmp(&(&other.file, one.range.start)));
        for piece in pieces {
            let Some(mut text) = piece.written else { continue };
            if text.is_empty() {
                // The last one of the section has the line.
                if let Some(count) = removed.remove(&(piece.file.clone(), piece.section)) {
                    text = line_of_left(count, &piece.file, self.leaves_to);
                }
            }
            edits.entry(piece.file).or_default().push((piece.range, text));
        }
        let mut files = files.clone();
        for (file, mut edits) in edits {
            let Some(text) = files.get_mut(&file) else { continue };
            edits.sort_by_key(|(range, _)| range.start);
            for (range, new) in edits.into_iter().rev() {
                let windows = text[range.clone()].contains("\r\n");
                text.replace_range(range, &if windows { new.replace('\n', "\r\n") } else { new });
            }
        }
        files
    }
}

#[cfg(test)]
mod tests;
