//! A file that a model may make shorter, and the check of what the model made of it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::shortening::{LeavesTo, Shortening, ShorterPiece};
use super::{BankFacts, OPTIMIZED_MIN_TOKENS, aim, read};
use crate::bank::imported::without_imported;
use crate::bank::{BankFileReading, BankFiles, BankInvalid, BankPath};
use crate::text::shortened;

const QUOTED_CHARS: usize = 80;

/// A file that a model may make shorter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongFile {
    pub path: BankPath,
    pub tokens: usize,
    /// The number of tokens that brings the bank to about its bound, where the other files become shorter by as much.
    pub aim_tokens: usize,
    /// The file may not become shorter than this, because the bank would be shorter than any is made.
    pub least_tokens: usize,
    /// The pieces that stay word for word, each with its hash.
    must_stay: Vec<(String, String)>,
}

/// Returns the longest file of a bank with more than `above` tokens that was not `asked` about and has something that
/// may become shorter. None where the bank is short enough.
pub fn next_long_file(
    files: &BankFiles,
    asked: &BTreeSet<BankPath>,
    above: usize,
    facts: BankFacts<'_>,
    now: Timestamp,
) -> Option<LongFile> {
    let (own, _) = without_imported(files);
    let mut readings = read(&own, facts);
    let all: usize = readings.values().map(|reading| reading.tokens()).sum();
    if all <= above {
        return None;
    }
    readings.retain(|path, _| !asked.contains(path));
    let mut longest: Vec<_> = readings.into_iter().collect();
    longest.sort_by_key(|(_, reading)| Reverse(reading.tokens()));
    let long = |(path, reading): (BankPath, Arc<BankFileReading>)| {
        let tokens = reading.tokens();
        let shortening =
            Shortening::of(&BTreeMap::from([(path.clone(), Arc::clone(&reading))]), facts, now, LeavesTo::History);
        let may_leave = |piece: &&ShorterPiece| {
            let is_free = piece.is_old_entry(shortening.today) || piece.may_shorten && !piece.is_fresh;
            piece.stays.is_none() && is_free
        };
        let free: BTreeSet<usize> = shortening.pieces.iter().filter(may_leave).map(|piece| piece.range.start).collect();
        let blocks = reading.sections().iter().flat_map(|section| &section.blocks);
        let kept = blocks.filter(|block| !free.contains(&block.range.start));
        let must_stay = kept.map(|block| (block.hash().to_owned(), block.text.clone())).collect();
        let least_tokens = tokens.saturating_sub(all - OPTIMIZED_MIN_TOKENS.min(all));
        let aim_tokens = (tokens * aim(above) / all).max(least_tokens);
        let file = LongFile { path, tokens, aim_tokens, least_tokens, must_stay };
        (!free.is_empty()).then_some(file)
    };
    longest.into_iter().find_map(long)
}

impl LongFile {
    /// Returns the beginnings of the pieces that stay word for word.
    pub fn must_stay(&self) -> impl Iterator<Item = String> {
        self.must_stay.iter().map(|(_, text)| shortened(text, QUOTED_CHARS))
    }

    /// Checks what a model made of the file.
    ///
    /// # Errors
    /// A piece that must stay is missing, or the file is not shorter, or too short.
    pub fn check_shorter(&self, text: &str) -> Result<(), BankInvalid> {
        let reading = BankFileReading::of(text);
        let blocks = reading.sections().iter().flat_map(|section| &section.blocks);
        let has: BTreeSet<&str> = blocks.map(|block| block.hash()).collect();
        let missing = self.must_stay.iter().find(|(hash, _)| !has.contains(hash.as_str()));
        let problem = match missing {
            Some((_, text)) => format!("lacks {:?}, which must stay", shortened(text, QUOTED_CHARS)),
            None if reading.tokens() >= self.tokens => "is not shorter".to_owned(),
            None if reading.tokens() < self.least_tokens => "is too short".to_owned(),
            None => return Ok(()),
        };
        Err(BankInvalid::new(self.path.as_str(), problem))
    }
}
