//! The part of a bank that `activate` shows. It uses the tokens that it is given: pieces leave, the oldest first, only
//! until the rest fits, and where decisions and open items alone do not fit, they share the tokens with all else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use super::shortening::{LeavesTo, Shortening, ShorterPiece, newest_first};
use super::{BankFacts, OptimizedBank, by_ranks, importance_of_file, read, shortened};
use crate::bank::imported::without_imported;
use crate::bank::reading::StaysAs;
use crate::bank::{BankFileReading, BankFiles, BankPath, SECTION_SEPARATOR};
use crate::text::tokens::estimate;

/// The shares of the tokens that are aimed for one after the other, in percent: the lines about what leaves have
/// tokens, too, and how many is known afterwards.
const AIMS_PERCENT: [usize; 4] = [97, 94, 91, 87];
/// The tokens of a line about what a section does not show.
const NOTE_TOKENS: usize = 30;
/// The shares of open items, of decisions, and of all else where they do not fit together, in percent. What one of them
/// does not need goes to the others.
const SHARES: [usize; 3] = [45, 40, 15];

/// The part of a bank that `activate` shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankView {
    pub content: BTreeMap<BankPath, String>,
    /// All files with their sections, shown or not.
    pub outline: Vec<BankOutline>,
    pub tokens: usize,
    /// The content is shorter than the files, though nothing is missing from it as a whole.
    pub optimized: bool,
    /// A file is missing or cut, or a decision or an open item is not shown.
    pub truncated: bool,
}

/// A file of a bank by its sections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BankOutline {
    pub file: BankPath,
    pub tokens: usize,
    pub sections: Vec<String>,
}

/// Returns what of a bank is shown within a number of tokens.
pub fn view(files: &BankFiles, max_tokens: usize, facts: BankFacts<'_>, now: Timestamp) -> BankView {
    let readings = read(files, facts);
    let outline = |(path, reading): (&BankPath, &Arc<BankFileReading>)| {
        let sections = reading.sections().iter().map(|section| section.titles.join(SECTION_SEPARATOR)).collect();
        BankOutline { file: path.clone(), tokens: reading.tokens(), sections }
    };
    let outline = readings.iter().map(outline).collect();
    let (own, imported) = without_imported(files);
    let (shown, is_whole) = within(&own, max_tokens, facts, now);
    let optimized = shown != own;
    let all = shown.into_iter().chain(imported);
    let mut texts: Vec<(BankPath, String)> = all.collect();
    texts.sort_by_key(|(path, _)| (path.is_imported(), importance_of_file(path), path.clone()));
    let (mut content, mut tokens, mut truncated) = (BTreeMap::new(), 0, !is_whole);
    for (path, text) in texts {
        let left = max_tokens - tokens;
        let size = estimate(&text);
        if size <= left {
            tokens += size;
            content.insert(path, text);
            continue;
        }
        truncated = true;
        // The next file is cut where the tokens end, at a line.
        let part = BankFileReading::of(&text).part(0, left);
        let cut = text[part.range].to_owned();
        if part.tokens > 0 && part.tokens <= left {
            tokens = (tokens + estimate(&cut)).min(max_tokens);
            content.insert(path, cut);
        }
    }
    BankView { content, outline, tokens, optimized, truncated }
}

/// Returns the files of a bank, shorter where they have more than `max_tokens`, and whether they have all decisions and
/// open items. They may still have too many tokens.
fn within(own: &BankFiles, max_tokens: usize, facts: BankFacts<'_>, now: Timestamp) -> (BankFiles, bool) {
    // A budget may be any number, and the whole bank is asked for with the largest.
    let aim = |percent: &usize| max_tokens.saturating_mul(*percent) / 100;
    let of_percent = |percent: &usize| by_ranks(own, max_tokens, aim(percent), facts, now, LeavesTo::Files);
    let mut before = usize::MAX;
    for percent in &AIMS_PERCENT {
        let shown = of_percent(percent);
        if shown.tokens <= max_tokens {
            return (shown.files, true);
        }
        // A smaller aim does not help where nothing more may leave.
        if shown.tokens >= before {
            break;
        }
        before = shown.tokens;
    }
    let shared = shared(own, max_tokens, facts, now);
    (shared.map_or_else(|| own.clone(), |of| of.files), false)
}

/// Shares tokens among the open items, the decisions and all else of a bank, the newest of each first. None where the
/// headings alone have more.
fn shared(own: &BankFiles, max_tokens: usize, facts: BankFacts<'_>, now: Timestamp) -> Option<OptimizedBank> {
    let readings = read(own, facts);
    let all: usize = readings.values().map(|reading| reading.tokens()).sum();
    let pieces = Shortening::of(&readings, facts, now, LeavesTo::Files).pieces;
    let notes = pieces.iter().map(|piece| (&piece.file, piece.section)).collect::<BTreeSet<_>>().len() * NOTE_TOKENS;
    let class = |piece: &ShorterPiece| match piece.stays {
        Some(StaysAs::Open) => 0,
        Some(StaysAs::Decision) => 1,
        None => 2,
    };
    let mut needs = [0; 3];
    pieces.iter().for_each(|piece| needs[class(piece)] += piece.tokens);
    let fixed = all.saturating_sub(needs.iter().sum());
    let room = max_tokens.checked_sub(fixed + notes).filter(|room| *room > 0)?;
    let mut left = shares(needs, room);
    Some(shortened(own, max_tokens, facts, now, LeavesTo::Files, |shortening| {
        shortening.pieces.sort_by_key(newest_first);
        for at in 0..shortening.pieces.len() {
            let left = &mut left[class(&shortening.pieces[at])];
            let size = shortening.pieces[at].tokens;
            if size <= *left {
                *left -= size;
            } else if 2 * size > max_tokens && *left > 2 * NOTE_TOKENS && shortening.cut_piece(at, *left) {
                *left = 0;
            } else {
                shortening.pieces[at].written = Some(String::new());
            }
        }
    }))
}

/// Shares `room` by what each needs at most.
fn shares(needs: [usize; 3], room: usize) -> [usize; 3] {
    let mut given = [0; 3];
    for (at, need) in needs.into_iter().enumerate() {
        given[at] = need.min(room * SHARES[at] / 100);
    }
    for (at, need) in needs.into_iter().enumerate() {
        let rest = room - given.iter().sum::<usize>();
        given[at] += rest.min(need - given[at]);
    }
    given
}
