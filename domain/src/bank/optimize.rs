//! Making a bank shorter by rules, for its files and for what `activate` shows. Old entries become one line each, then
//! the sections give way in the order discussion, implementation, architecture. Decisions, open items, and what is
//! tagged or marked current stay word for word; what was filed last within a day becomes a line at most; what is not
//! changed stays byte for byte.

mod cut;
mod long_file;
mod shortening;
mod view;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use self::shortening::{LeavesTo, Shortening};
use super::imported::without_imported;
use super::reading::{BankFileReading, Rank};
use super::{BankFiles, BankImportance, BankMetadata, BankPath, RenamedHeadings};
use crate::text::tokens::estimate;

pub use long_file::{LongFile, next_long_file};
pub use view::{BankOutline, BankView, view};

/// A bank with more tokens is made shorter.
pub const OPTIMIZE_ABOVE_TOKENS: usize = 8_000;
/// A bank is made no shorter than this.
pub const OPTIMIZED_MIN_TOKENS: usize = 4_000;
/// Entries of progress and activeContext are old after this many days.
const OLD_AFTER_DAYS: i32 = 30;
/// The share of the bound that is aimed for, in percent, so that the next update does not pass it again.
const AIM_PERCENT: usize = 85;
/// A piece leaves a view as a whole only where the view has this share of its aim afterwards, in percent.
const SHOWN_PERCENT: usize = 96;
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
    /// A long piece was filed just now and stays as it is this time.
    pub waits: bool,
    /// The rests of pieces that were cut, by their hashes.
    pub cut: Vec<(String, String)>,
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

/// Makes a bank shorter where it has more than `above` tokens. What was imported is not counted and stays as it is.
pub fn optimize(files: &BankFiles, above: usize, facts: BankFacts<'_>, now: Timestamp) -> OptimizedBank {
    by_ranks(files, above, aim(above), facts, now, LeavesTo::History)
}

/// Makes a bank of more than `above` tokens shorter, until it has no more than `aim`.
fn by_ranks(
    files: &BankFiles,
    above: usize,
    aim: usize,
    facts: BankFacts<'_>,
    now: Timestamp,
    leaves_to: LeavesTo,
) -> OptimizedBank {
    shortened(files, above, facts, now, leaves_to, |shortening| {
        let (of_old, least) = match leaves_to {
            LeavesTo::History => (OPTIMIZED_MIN_TOKENS.min(aim), OPTIMIZED_MIN_TOKENS.min(above * AIM_PERCENT / 100)),
            LeavesTo::Files => (aim, aim * SHOWN_PERCENT / 100),
        };
        shortening.least = least;
        shortening.collapse_old(of_old);
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
        let (files, waits, cut) = (files.clone(), false, Vec::new());
        return OptimizedBank { files, tokens_before, tokens: tokens_before, waits, cut };
    }
    let mut shortening = Shortening::of(&readings, facts, now, leaves_to);
    shortening.tokens = tokens_before;
    shorten(&mut shortening);
    let (waits, cut) = (shortening.waits(), shortening.cut());
    let mut files = shortening.written(&own);
    let tokens_of = |(path, text): (&BankPath, &String)| match &own[path] == text {
        true => readings[path].tokens(),
        false => estimate(text),
    };
    let tokens = files.iter().map(tokens_of).sum();
    files.extend(imported);
    OptimizedBank { files, tokens_before, tokens, waits, cut }
}

/// Returns how many tokens a bank is brought to that has more than `above`.
fn aim(above: usize) -> usize {
    (above * AIM_PERCENT / 100).max(OPTIMIZED_MIN_TOKENS.min(above))
}

fn read(files: &BankFiles, facts: BankFacts<'_>) -> BTreeMap<BankPath, Arc<BankFileReading>> {
    files.iter().map(|(path, text)| (path.clone(), (facts.reading)(text))).collect()
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

#[cfg(test)]
mod tests;
