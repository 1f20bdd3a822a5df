//! The pieces of a bank that may become shorter, and how they do: a piece becomes a line, leaves, or is cut where that is
//! enough.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};

use super::cut::beginning;
use super::{BankFacts, HISTORICAL, OLD_AFTER_DAYS, count_in_history, is_kept, is_log, line_of_left, rank_of_file};
use crate::bank::reading::{BlockReading, Rank, StaysAs};
use crate::bank::{BankFileReading, BankFiles, BankPath};
use crate::learning::job::day_of;
use crate::text::tokens::estimate;

/// A piece that was written within this time becomes a line at most.
const FRESH: SignedDuration = SignedDuration::from_hours(24);
/// A piece of this many tokens is long.
const LONG_TOKENS: usize = 500;

/// The place where what leaves a bank is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeavesTo {
    /// The files become shorter, and the version before is kept.
    History,
    /// The bank is only shown shorter.
    Files,
}

/// A piece of a bank, and whether it may become shorter.
pub(super) struct ShorterPiece {
    pub(super) file: BankPath,
    pub(super) section: usize,
    pub(super) range: Range<usize>,
    pub(super) line: String,
    pub(super) line_tokens: usize,
    pub(super) rank: Rank,
    /// The reason for which it stays word for word. None where it may become shorter.
    pub(super) stays: Option<StaysAs>,
    pub(super) date: Option<Date>,
    pub(super) is_log: bool,
    /// It may become shorter before it is old.
    pub(super) may_shorten: bool,
    /// The piece was filed within the last day, and is at an end of its section, where new ones go.
    pub(super) is_fresh: bool,
    /// It is long and was filed by the update that makes the bank shorter.
    pub(super) is_held: bool,
    pub(super) tokens: usize,
    /// The number of entries that left the section earlier, where the piece is the line that tells of them.
    pub(super) left_before: Option<usize>,
    /// The shorter text in its place. None where it stays as it is.
    pub(super) written: Option<String>,
    /// The text in its place is its beginning.
    pub(super) is_cut: bool,
}

impl ShorterPiece {
    pub(super) fn is_old_entry(&self, today: Date) -> bool {
        let is_old = |date: Date| today.since(date).is_ok_and(|span| span.get_days() > OLD_AFTER_DAYS);
        self.is_log && !self.is_held && self.date.is_some_and(is_old)
    }
}

pub(super) struct Shortening {
    pub(super) leaves_to: LeavesTo,
    pub(super) pieces: Vec<ShorterPiece>,
    /// The places at which headings are marked as historical.
    pub(super) historical: Vec<(BankPath, usize)>,
    pub(super) tokens: usize,
    /// A piece leaves as a whole only where the bank does not have fewer tokens than this afterwards.
    pub(super) least: usize,
    readings: BTreeMap<BankPath, Arc<BankFileReading>>,
    pub(super) today: Date,
}

impl Shortening {
    pub(super) fn of(
        readings: &BTreeMap<BankPath, Arc<BankFileReading>>,
        facts: BankFacts<'_>,
        now: Timestamp,
        leaves_to: LeavesTo,
    ) -> Self {
        let (mut pieces, mut historical) = (Vec::<ShorterPiece>::new(), Vec::new());
        let line_of = |block: &BlockReading| match (leaves_to, &block.shown_line) {
            (LeavesTo::Files, Some(line)) => line.clone(),
            _ => block.line.clone(),
        };
        for (file, reading) in readings {
            for (index, section) in reading.sections().iter().enumerate() {
                let of_section = match section.is_tagged {
                    true => Some(StaysAs::Open),
                    false => section.is_of_decisions_in(file, facts.renamed).then_some(StaysAs::Decision),
                };
                if of_section.is_none() {
                    historical.extend(section.historical_at.map(|at| (file.clone(), at)));
                }
                let last = section.blocks.len().saturating_sub(1);
                for (at, block) in section.blocks.iter().enumerate().filter(|(_, block)| !block.is_intro) {
                    let by_text = block.stays.or(of_section);
                    let known = by_text.is_none().then(|| (facts.metadata)(block.hash())).flatten();
                    let age = known.as_ref().and_then(|of| of.timestamp).map(|at| now.duration_since(at));
                    let is_held = facts.may_shorten.is_some()
                        && block.tokens > LONG_TOKENS
                        && age.is_some_and(|age| age.is_zero());
                    pieces.push(ShorterPiece {
                        file: file.clone(),
                        section: index,
                        range: block.range.clone(),
                        line: line_of(block),
                        line_tokens: block.line_tokens,
                        rank: section.rank.unwrap_or_else(|| rank_of_file(file)),
                        stays: by_text.or_else(|| known.as_ref().is_some_and(is_kept).then_some(StaysAs::Open)),
                        date: block.date,
                        is_log: is_log(file),
                        may_shorten: !is_held
                            && by_text.is_none()
                            && facts.may_shorten.is_none_or(|may| may(block.hash())),
                        is_fresh: (at == 0 || at == last) && age.is_some_and(|age| age < FRESH),
                        is_held,
                        tokens: block.tokens,
                        left_before: count_in_history(&block.text),
                        written: None,
                        is_cut: false,
                    });
                }
            }
        }
        // The oldest piece gives way first.
        pieces.sort_by_key(|piece| Reverse(newest_first(piece)));
        keep_focus(&mut pieces, readings);
        let readings = readings.clone();
        Self { leaves_to, pieces, historical, tokens: 0, least: 0, readings, today: day_of(now) }
    }

    pub(super) fn collapse_old(&mut self, aim: usize) {
        let today = self.today;
        for at in 0..self.pieces.len() {
            let piece = &self.pieces[at];
            if self.may_give_way(at, aim)
                && piece.is_old_entry(today)
                && self.rest_without(at, piece.line_tokens) >= aim
            {
                let line = piece.line.clone();
                self.write(at, line);
            }
        }
    }

    pub(super) fn collapse(&mut self, rank: Rank, aim: usize) {
        self.shorten(
            aim,
            |piece| piece.rank == rank && piece.may_shorten && piece.written.is_none(),
            |piece| piece.line.clone(),
        );
    }

    pub(super) fn remove(&mut self, rank: Rank, aim: usize) {
        self.shorten(aim, |piece| piece.rank == rank && piece.may_shorten && !piece.is_fresh, |_| String::new());
    }

    /// Writes pieces shorter, the oldest first, while there are more tokens than `aim`. One whose leaving would take too
    /// many is cut.
    fn shorten(
        &mut self,
        aim: usize,
        which: impl Fn(&ShorterPiece) -> bool,
        written: impl Fn(&ShorterPiece) -> String,
    ) {
        for at in 0..self.pieces.len() {
            if !self.may_give_way(at, aim) || self.pieces[at].is_cut || !which(&self.pieces[at]) {
                continue;
            }
            let piece = &self.pieces[at];
            let text = written(piece);
            let now = if text.is_empty() { 0 } else { piece.line_tokens };
            if self.rest_without(at, now) >= self.least {
                self.write(at, text);
            } else {
                let room = piece.tokens.saturating_sub(self.tokens - aim);
                self.cut_piece(at, room);
            }
        }
    }

    /// Says whether a piece may become shorter at all, where the bank has more tokens than `aim`.
    fn may_give_way(&self, at: usize, aim: usize) -> bool {
        let piece = &self.pieces[at];
        self.tokens > aim && piece.left_before.is_none() && piece.stays.is_none()
    }

    /// Returns how many tokens the bank has with so many in the place of a piece.
    fn rest_without(&self, at: usize, tokens: usize) -> usize {
        (self.tokens + tokens).saturating_sub(self.pieces[at].tokens)
    }

    fn write(&mut self, at: usize, text: String) {
        let now = if text.is_empty() { 0 } else { self.pieces[at].line_tokens };
        if now < self.pieces[at].tokens {
            self.tokens = self.rest_without(at, now);
            let piece = &mut self.pieces[at];
            (piece.tokens, piece.written) = (now, Some(text));
        }
    }

    /// Leaves the beginning of a piece alone, within some tokens. Says whether that was possible.
    pub(super) fn cut_piece(&mut self, at: usize, tokens: usize) -> bool {
        let piece = &self.pieces[at];
        let raw = self.readings.get(&piece.file).map(|reading| &reading.text()[piece.range.clone()]);
        let Some(text) = raw.filter(|_| piece.written.is_none()).and_then(|raw| beginning(raw, tokens)) else {
            return false;
        };
        let now = estimate(&text);
        self.tokens = self.rest_without(at, now);
        let piece = &mut self.pieces[at];
        (piece.tokens, piece.written, piece.is_cut) = (now, Some(text), true);
        true
    }

    /// Says whether a long piece stays as it is because it was filed just now.
    pub(super) fn waits(&self) -> bool {
        self.pieces.iter().any(|piece| piece.is_held && piece.stays.is_none())
    }

    /// Returns what is left of the pieces that were cut, by their hashes.
    pub(super) fn cut(&self) -> Vec<(String, String)> {
        let cut = self.pieces.iter().filter(|piece| piece.is_cut);
        let of = |piece: &ShorterPiece| {
            let section = self.readings.get(&piece.file)?.sections().get(piece.section)?;
            let block = section.blocks.iter().find(|block| block.range == piece.range)?;
            Some((block.hash().to_owned(), piece.written.clone()?))
        };
        cut.filter_map(of).collect()
    }

    pub(super) fn written(self, files: &BankFiles) -> BankFiles {
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
                text.replace_range(range, &if windows { new.replace("\r\n", "\n").replace('\n', "\r\n") } else { new });
            }
        }
        files
    }
}

/// Returns the place of a piece among all, the newest first: of one day it stands first in a file with dated entries and
/// last in any other. A piece without a date counts as newer than all others.
pub(super) fn newest_first(piece: &ShorterPiece) -> (Reverse<Date>, isize) {
    let at = isize::try_from(piece.range.start).unwrap_or(isize::MAX);
    (Reverse(piece.date.unwrap_or(Date::MAX)), if piece.is_log { at } else { -at })
}

/// Says that the newest entry of what is being worked on stays. It tells where the work stands, whatever its date is.
fn keep_focus(pieces: &mut [ShorterPiece], readings: &BTreeMap<BankPath, Arc<BankFileReading>>) {
    let is_focus =
        |piece: &ShorterPiece| readings.get(&piece.file).is_some_and(|of| of.sections()[piece.section].is_focus);
    let mut kept = BTreeSet::new();
    for piece in pieces.iter_mut().rev().filter(|piece| piece.left_before.is_none()) {
        if is_focus(piece) && kept.insert((piece.file.clone(), piece.section)) {
            piece.stays.get_or_insert(StaysAs::Open);
        }
    }
}
