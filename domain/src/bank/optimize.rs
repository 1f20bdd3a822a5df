//! Making a bank shorter by rules, for its files and for what `activate` shows. Old entries become one line each, then
//! the sections give way in the order discussion, implementation, architecture. Decisions, open items, and what is
//! tagged or marked current stay word for word; what was filed last within a day becomes a line at most; what is not
//! changed stays byte for byte.

use std::collections::BTreeMap;
use std::ops::Range;

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::filing::{heading_category, is_decision};
use super::imported::without_imported;
use super::known::{PieceForm, block_spans, date_of, piece_hash};
use super::{BankCategory, BankDocument, BankFiles, BankImportance, BankMetadata, BankPath, BankSection, section_hash};
use crate::learning::job::day_of;
use crate::text::shortened;
use crate::text::tokens::{estimate, token_ends, truncate};

/// A bank with more tokens is made shorter.
pub const OPTIMIZE_ABOVE_TOKENS: usize = 8_000;
/// A bank is made no shorter than this.
pub const OPTIMIZED_MIN_TOKENS: usize = 4_000;
/// Entries of progress and activeContext are old after this many days.
const OLD_AFTER_DAYS: i32 = 30;
/// The share of the bound that is aimed for, in percent, so that the next update does not pass it again.
const AIM_PERCENT: usize = 85;
/// What was written so recently becomes a line at most.
const FRESH: SignedDuration = SignedDuration::from_hours(24);
const LINE_MAX_CHARS: usize = 110;
const HISTORICAL: &str = " (historical)";

/// A bank that was made shorter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptimizedBank {
    pub files: BankFiles,
    pub tokens_before: usize,
    pub tokens: usize,
}

/// What `activate` shows of a bank.
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

/// Lists the files of a bank with their sections.
fn outline(files: &BankFiles, tokens: &dyn Fn(&str) -> usize) -> Vec<BankOutline> {
    let sections = |text: &str| {
        let document = BankDocument::parse(text).ok();
        document.map(|of| of.sections().iter().skip(1).map(BankSection::name).collect()).unwrap_or_default()
    };
    let of = |(path, text): (&BankPath, &String)| BankOutline {
        file: path.clone(),
        tokens: tokens(text),
        sections: sections(text),
    };
    files.iter().map(of).collect()
}

/// The facts about a bank that its texts do not tell.
#[derive(Clone, Copy)]
pub struct BankFacts<'a> {
    /// Returns what is known of a section by its hash.
    pub metadata: &'a dyn Fn(&str) -> Option<BankMetadata>,
    /// Says of a piece, by its hash, whether it may become shorter before it is old. None where each may.
    pub may_shorten: Option<&'a dyn Fn(&str) -> bool>,
    /// Counts the tokens of a file. Whoever counted it before need not do it again.
    pub tokens: &'a dyn Fn(&str) -> usize,
}

impl BankFacts<'_> {
    fn tokens_of(&self, files: &BankFiles) -> usize {
        files.values().map(|text| (self.tokens)(text)).sum()
    }

    /// Counts what was not imported.
    fn own_tokens_of(&self, files: &BankFiles) -> usize {
        files.iter().filter(|(path, _)| !path.is_imported()).map(|(_, text)| (self.tokens)(text)).sum()
    }
}

/// Makes a bank shorter where it has more than `above` tokens. What was imported is not counted and stays as it is.
pub fn optimize(files: &BankFiles, above: usize, facts: BankFacts<'_>, now: Timestamp) -> OptimizedBank {
    let tokens_before = facts.own_tokens_of(files);
    if tokens_before <= above {
        return OptimizedBank { files: files.clone(), tokens_before, tokens: tokens_before };
    }
    let (own, imported) = without_imported(files);
    let mut shortening = Shortening::of(&own, facts, now, tokens_before);
    let aim = (above * AIM_PERCENT / 100).max(OPTIMIZED_MIN_TOKENS.min(above));
    shortening.collapse_old(OPTIMIZED_MIN_TOKENS.min(aim));
    for rank in [Rank::Discussion, Rank::Implementation, Rank::Architecture] {
        shortening.collapse(rank, aim);
    }
    for rank in [Rank::Discussion, Rank::Implementation, Rank::Architecture] {
        shortening.remove(rank, aim);
    }
    let mut files = shortening.written(&own);
    let tokens = facts.tokens_of(&files);
    files.extend(imported);
    OptimizedBank { files, tokens_before, tokens }
}

/// Returns what of a bank is shown within a number of tokens.
pub fn view(files: &BankFiles, max_tokens: usize, facts: BankFacts<'_>, now: Timestamp) -> BankView {
    let shown = optimize(files, max_tokens, facts, now);
    let outline = outline(files, facts.tokens);
    let optimized = shown.files != *files;
    let tokens = facts.tokens_of(&shown.files);
    if tokens <= max_tokens {
        return BankView { content: shown.files, outline, tokens, optimized, truncated: false };
    }
    let mut paths: Vec<&BankPath> = shown.files.keys().collect();
    paths.sort_by_key(|path| (path.is_imported(), importance_of_file(path), (*path).clone()));
    let (mut content, mut tokens) = (BTreeMap::new(), 0);
    for path in paths {
        let text = &shown.files[path];
        let left = max_tokens - tokens;
        let size = (facts.tokens)(text);
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

/// Says whether a piece stays word for word. `has_decisions` is what [`decisions_in`] says of its section.
fn stays(has_decisions: Option<bool>, form: PieceForm, text: &str) -> bool {
    form == PieceForm::OpenItem
        || is_tagged(text)
        || text.lines().any(|line| line.trim_start().starts_with("- [ ] "))
        || has_decisions.unwrap_or_else(|| is_decision(form, text))
}

/// Says of a section by its headings whether its pieces are decisions that hold. None where they do not tell.
fn decisions_in(section: &BankSection) -> Option<bool> {
    let titles = section.path.iter().skip(usize::from(section.path.len() > 1));
    let headed = titles.rev().find_map(|title| heading_category(title));
    (headed == Some(BankCategory::Decision)).then(|| !is_historical(section))
}

/// Says whether a text has a tag (`#keep`), or is marked as what holds now.
fn is_tagged(text: &str) -> bool {
    let is_tag = |word: &str| word.strip_prefix('#').is_some_and(|name| name.starts_with(char::is_alphabetic));
    let lower = text.to_lowercase();
    text.split_whitespace().any(is_tag)
        || ["[keep]", "(keep)", "<!-- keep", "(current)", "[current]", "**current**", "keep:"]
            .iter()
            .any(|mark| lower.contains(mark))
}

fn is_historical(section: &BankSection) -> bool {
    const SIGNS: [&str; 8] =
        ["history", "historical", "previous", "legacy", "deprecated", "archive", "superseded", "obsolete"];
    section.path.iter().any(|title| {
        let title = title.to_lowercase();
        title.split(|c: char| !c.is_alphanumeric()).any(|word| SIGNS.contains(&word) || word == "archived")
    })
}

/// How early a section gives way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Discussion,
    Implementation,
    Architecture,
}

impl Rank {
    fn of(file: &BankPath, section: &BankSection) -> Self {
        use BankCategory::*;
        if is_historical(section) {
            return Self::Discussion;
        }
        let named = section.path.iter().skip(1).rev().find_map(|title| heading_category(title));
        match named {
            Some(
                Architecture | Decision | Goal | Requirement | Scope | Constraint | Convention | Preference | Profile,
            ) => Self::Architecture,
            Some(Focus | Next | Question | Note | Problem) => Self::Discussion,
            Some(_) => Self::Implementation,
            None => match importance_of_file(file) {
                1 | 2 => Self::Architecture,
                3..=5 => Self::Implementation,
                _ => Self::Discussion,
            },
        }
    }
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
    /// The section was written to within the last day, and the piece is at an end of it, where new ones go.
    is_fresh: bool,
    tokens: usize,
    /// What is written in its place. None where it stays as it is.
    written: Option<String>,
}

struct Shortening {
    pieces: Vec<ShorterPiece>,
    headings: Vec<(BankPath, Range<usize>, String)>,
    tokens: usize,
    today: Date,
}

impl Shortening {
    fn of(files: &BankFiles, facts: BankFacts<'_>, now: Timestamp, tokens: usize) -> Self {
        let (mut pieces, mut headings) = (Vec::new(), Vec::new());
        for (file, text) in files {
            let Ok(document) = BankDocument::parse(text.as_str()) else { continue };
            let ends = token_ends(text);
            let tokens_before = |at: usize| ends.partition_point(|end| *end <= at);
            let is_log =
                matches!(file.stem().to_lowercase().replace(['-', '_'], "").as_str(), "progress" | "activecontext");
            for (index, section) in document.sections().iter().enumerate().skip(1) {
                let known = (facts.metadata)(&section_hash(&section.path, document.body(section)));
                let written_at = known.as_ref().and_then(|of| of.timestamp);
                let is_fresh = written_at.is_some_and(|at| now.duration_since(at) < FRESH);
                let is_kept = known
                    .is_some_and(|of| of.importance == BankImportance::High || of.tags.iter().any(|tag| tag == "keep"));
                if is_kept || is_tagged(section.title()) {
                    continue;
                }
                if is_historical(section) && !section.title().to_lowercase().contains("historical") {
                    headings.extend(marked(file, &document, section));
                }
                let start = section.body_range().start;
                let (rank, has_decisions) = (Rank::of(file, section), decisions_in(section));
                let blocks = block_spans(document.body(section));
                let last = blocks.len().saturating_sub(1);
                for (at, block) in blocks.into_iter().enumerate() {
                    let is_intro = section.level == 1 && block.form == PieceForm::Paragraph;
                    if is_intro || stays(has_decisions, block.form, &block.text) {
                        continue;
                    }
                    let range = start + block.range.start..start + block.range.end;
                    let line = one_line(&text[range.clone()]);
                    let tokens_to = |end: usize| tokens_before(end) - tokens_before(range.start);
                    pieces.push(ShorterPiece {
                        file: file.clone(),
                        section: index,
                        // A line is the beginning of its piece, and has an end of its own.
                        line_tokens: tokens_to(range.end.min(range.start + line.len())) + 1,
                        line,
                        tokens: tokens_to(range.end),
                        rank,
                        date: date_of(&block.text),
                        is_log,
                        may_shorten: facts.may_shorten.is_none_or(|may| may(&piece_hash(block.form, &block.text))),
                        is_fresh: is_fresh && (at == 0 || at == last),
                        range,
                        written: None,
                    });
                }
            }
        }
        // The oldest gives way first; what has no date is as old as nothing else.
        pieces.sort_by_key(|piece| piece.date.unwrap_or(Date::MAX));
        Self { pieces, headings, tokens, today: day_of(now) }
    }

    fn collapse_old(&mut self, least: usize) {
        let today = self.today;
        let is_old = |date: Date| today.since(date).is_ok_and(|span| span.get_days() > OLD_AFTER_DAYS);
        self.shorten(least, |piece| piece.is_log && piece.date.is_some_and(is_old), |piece| piece.line.clone());
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
        for piece in self.pieces.iter_mut().filter(|piece| which(piece)) {
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
        for (file, range, text) in self.headings {
            edits.entry(file).or_default().push((range, text));
        }
        // One line says how many entries a section had.
        let mut removed: BTreeMap<(BankPath, usize), usize> = BTreeMap::new();
        for piece in self.pieces.iter().filter(|piece| piece.written.as_deref() == Some("")) {
            *removed.entry((piece.file.clone(), piece.section)).or_default() += 1;
        }
        let mut pieces = self.pieces;
        pieces.sort_by(|one, other| (&one.file, other.range.start).cmp(&(&other.file, one.range.start)));
        for piece in pieces {
            let Some(mut text) = piece.written else { continue };
            if text.is_empty() {
                // The last one of the section has the line.
                if let Some(count) = removed.remove(&(piece.file.clone(), piece.section)) {
                    let noun = if count == 1 { "entry is" } else { "entries are" };
                    text = format!("- {count} older {noun} in the history of the bank.\n");
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

/// Returns a heading that is marked as historical.
fn marked(file: &BankPath, document: &BankDocument, section: &BankSection) -> Option<(BankPath, Range<usize>, String)> {
    let heading = document.heading(section);
    let title = heading.trim_end();
    // Another form of heading has its line after the title.
    if !title.starts_with('#') || title.contains('\n') || title.ends_with('#') {
        return None;
    }
    let start = section.body_range().start - heading.len();
    let at = start + title.len();
    Some((file.clone(), at..at, HISTORICAL.to_owned()))
}

/// Returns a piece as one line: its marker, and its first sentence or the beginning of it.
fn one_line(raw: &str) -> String {
    let first = raw.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if first.trim_start().starts_with("```") || first.trim_start().starts_with("~~~") {
        return "- Code that is in the history of the bank.\n".to_owned();
    }
    let end = first.match_indices(". ").map(|(at, _)| at + 1).find(|at| *at > 40).unwrap_or(first.len());
    let indent = &first[..first.len() - first.trim_start().len()];
    format!("{indent}{}\n", shortened(first[..end].trim(), LINE_MAX_CHARS))
}

#[cfg(test)]
mod tests;
