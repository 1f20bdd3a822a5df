//! The check of a model's answer to an update. What the validator allows may still do harm: lose what a person wrote,
//! leave out a part of the text, tick a task that the text does not speak of, or file what nobody said.

use std::collections::{BTreeSet, HashMap};

use super::apply::item;
use super::filing::classify;
use super::open_item::{OpenItems, TaskReport, terms_of_task};
use super::pieces::{blocks, text_pieces, undated};
use super::signs::stated;
use super::{
    BankCategory, BankDocument, BankFacts, BankFileReading, BankFiles, BankImportance, BankInvalid, BankOperation,
    BankOperationType, BankPath, BankTextPiece, PieceForm,
};
use crate::memory::normalised;
use crate::text::shortened;

/// A piece of the text is in the answer where so much of its words is.
const SAID: f64 = 0.6;
/// The share of its words that content of the answer has from the text.
const OWN: f64 = 0.5;
const QUOTED_CHARS: usize = 80;

/// The part of a model's answer that may be applied, and what is left for the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedAnswer {
    pub operations: Vec<BankOperation>,
    /// The pieces of the text that the answer leaves out, as a text. It is empty where there are none.
    pub left_out: String,
    /// The parts of the answer that were not done as it said.
    pub problems: Vec<String>,
}

impl CheckedAnswer {
    /// Says whether a section is replaced.
    pub fn replaces(&self) -> bool {
        self.operations.iter().any(|of| of.operation_type == BankOperationType::ReplaceSection)
    }
}

/// Checks what a model answered to a text. A replacement that would lose what stays is added instead, and a task that
/// the text does not report is not ticked.
///
/// # Errors
/// The answer has what the text does not say, or nothing of it is left.
pub fn check_answer(
    text: &str,
    files: &BankFiles,
    operations: Vec<BankOperation>,
    facts: BankFacts<'_>,
) -> Result<CheckedAnswer, BankInvalid> {
    let pieces = text_pieces(text);
    let said = telling_words(text);
    let (mut kept, mut problems, mut answered) = (Vec::new(), Vec::new(), BTreeSet::new());
    let named: Vec<(BankPath, Option<String>)> = operations.iter().map(place_of).collect();
    for mut operation in operations {
        let is_replacement = operation.operation_type == BankOperationType::ReplaceSection;
        if operation.operation_type == BankOperationType::CompleteItem {
            match reported(&operation, files, &pieces) {
                Some(item) => {
                    answered.extend(telling_words(&item));
                    kept.push(operation);
                }
                None => {
                    let item = quoted(&operation.content);
                    problems.push(format!("{item:?} was not ticked, the text does not report it"));
                }
            }
            continue;
        }
        let section = is_replacement.then(|| replaced(&operation, files, facts)).flatten();
        let before = section.as_ref().map(|section| telling_words(&section.text)).unwrap_or_default();
        refuse_invented(&operation, &said, &before)?;
        let place = place_of(&operation);
        let is_shared = || is_replacement && named.iter().filter(|of| **of == place).count() > 1;
        let why = match section.and_then(|section| section.lost(&operation.content)) {
            Some(lost) => Some(format!("{:?} stays", quoted(&lost))),
            None => is_shared().then(|| "another operation is about it".to_owned()),
        };
        if let Some(why) = why {
            let section = operation.metadata.section.as_deref().unwrap_or_default();
            problems.push(format!("{section} was added to and not replaced, because {why}"));
            operation.operation_type = BankOperationType::Append;
        }
        answered.extend(telling_words(&operation.content));
        kept.push(operation);
    }
    if kept.is_empty() {
        return Err(BankInvalid::new("operations", problems.join("; ")));
    }
    let left_out = left_out(&pieces, &answered);
    Ok(CheckedAnswer { operations: kept, left_out, problems })
}

fn place_of(operation: &BankOperation) -> (BankPath, Option<String>) {
    (operation.target_file.clone(), operation.metadata.section.as_deref().map(normalised))
}

fn quoted(text: &str) -> String {
    shortened(text, QUOTED_CHARS)
}

/// Returns the terms of a text, and one for its negations: without it a statement is another one.
fn telling_words(text: &str) -> BTreeSet<String> {
    const NEGATIONS: [&str; 6] = ["not", "never", "no", "cannot", "without", "none"];
    let mut words = terms_of_task(text);
    let lower = text.to_lowercase().replace('’', "'");
    let mut plain = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    if plain.any(|word| NEGATIONS.contains(&word) || word.ends_with("n't")) {
        words.insert("not".to_owned());
    }
    words
}

fn share(words: &BTreeSet<String>, of: &BTreeSet<String>) -> f64 {
    words.intersection(of).count() as f64 / words.len().max(1) as f64
}

/// Says whether a word has a digit, such as a number or a version. Another one is another value.
fn is_value(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit())
}

/// Refuses content of which the text says less than half, and a value that it does not say.
fn refuse_invented(
    operation: &BankOperation,
    said: &BTreeSet<String>,
    before: &BTreeSet<String>,
) -> Result<(), BankInvalid> {
    let known: BTreeSet<String> = said.union(before).cloned().collect();
    let Ok(content) = BankDocument::parse(operation.content.as_str()) else { return Ok(()) };
    let pieces = content.sections().iter().flat_map(|section| blocks(content.body(section)));
    for (_, piece) in pieces {
        let words = telling_words(&piece);
        let turns = words.contains("not") && !known.contains("not");
        let is_other = telling_words(&undated(&piece)).iter().any(|word| is_value(word) && !known.contains(word));
        if is_other {
            return Err(BankInvalid::new("content", format!("has a value in {:?} that nobody said", quoted(&piece))));
        }
        if !words.is_empty() && (share(&words, &known) < OWN || turns) {
            return Err(BankInvalid::new("content", format!("has {:?}, which nobody said", quoted(&piece))));
        }
    }
    Ok(())
}

/// Returns the item that an operation ticks, where a piece of the text reports that it is done. It is empty where the
/// item is not there, which the validator refuses.
fn reported(operation: &BankOperation, files: &BankFiles, pieces: &[BankTextPiece]) -> Option<String> {
    use BankCategory::{Blocked, Next, Question};
    let document = files.get(&operation.target_file).and_then(|text| BankDocument::parse(text.as_str()).ok());
    let Some(document) = document else { return Some(String::new()) };
    let items = OpenItems::of(&document);
    let Some(found) = items.find(&TaskReport::of(&operation.content)) else { return Some(String::new()) };
    let mut reports = pieces
        .iter()
        .filter(|piece| piece.form != PieceForm::OpenItem && !matches!(classify(piece), Next | Question | Blocked));
    let is_reported = reports.any(|piece| {
        let text = stated(&piece.text);
        TaskReport::of(&text).finishes(&text, &found.item, &items)
    });
    is_reported.then(|| found.item.text.to_owned())
}

/// A section that an operation replaces, with the pieces in it that stay.
struct ReplacedSection {
    text: String,
    staying: Vec<(PieceForm, String)>,
}

impl ReplacedSection {
    /// Returns a piece that stays and that the new content does not have: as it is written, with its date and its tick.
    fn lost(self, content: &str) -> Option<String> {
        let has = blocks(content);
        let is_kept = |(form, text): &(PieceForm, String)| {
            has.iter().any(|(other, written)| other == form && text.split_whitespace().eq(written.split_whitespace()))
        };
        self.staying.into_iter().find(|piece| !is_kept(piece)).map(|(_, text)| text)
    }
}

/// Returns the section that an operation replaces: what a person wrote in it stays, and so do decisions, open items,
/// lines with a tag and what was filed as important.
fn replaced(operation: &BankOperation, files: &BankFiles, facts: BankFacts<'_>) -> Option<ReplacedSection> {
    let text = files.get(&operation.target_file)?;
    let document = BankDocument::parse(text.as_str()).ok()?;
    let at = document.find(operation.metadata.section.as_deref()?).ok()?;
    let reading = BankFileReading::of(text);
    let section = reading.sections().get(at.checked_sub(1)?)?;
    let all_stay = section.is_tagged || section.is_of_decisions_in(&operation.target_file, facts.renamed);
    let stays = |hash: &str| {
        let is_own = facts.may_shorten.is_some_and(|is_filed| !is_filed(hash));
        is_own || (facts.metadata)(hash).is_some_and(|of| of.importance == BankImportance::High)
    };
    let staying = section.blocks.iter().filter(|block| all_stay || block.stays.is_some() || stays(block.hash()));
    let staying = staying.map(|block| (block.form, block.text.clone())).collect();
    let text = document.sections().get(at).map(|section| document.body(section).to_owned())?;
    Some(ReplacedSection { text, staying })
}

/// Returns the pieces of the text of whose words the answer has too few, as a text of their own.
fn left_out(pieces: &[BankTextPiece], answered: &BTreeSet<String>) -> String {
    let words: Vec<BTreeSet<String>> = pieces.iter().map(|piece| telling_words(&piece.text)).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    words.iter().flatten().for_each(|word| *counts.entry(word).or_default() += 1);
    let is_of_others = |word: &String| counts.get(word.as_str()).is_some_and(|count| *count > 1);
    let mut text = String::new();
    let mut above: &[String] = &[];
    for (at, piece) in pieces.iter().enumerate() {
        // Words that other pieces have as well do not tell whether this one is there.
        let own: BTreeSet<String> = words[at].iter().filter(|word| !is_of_others(word)).cloned().collect();
        let own_is_there = own.is_empty() || share(&own, answered) >= SAID;
        let turns = words[at].contains("not") && !answered.contains("not");
        if !words[at].is_empty() && own_is_there && !turns && share(&words[at], answered) >= SAID {
            continue;
        }
        if above != piece.headings {
            above = &piece.headings;
            for (level, heading) in above.iter().enumerate() {
                let mark = if heading.ends_with(':') { String::new() } else { format!("{} ", "#".repeat(level + 1)) };
                text.push_str(&format!("\n{mark}{heading}\n\n"));
            }
        }
        let written = if piece.form.is_item() { item(piece.form, &piece.text) } else { format!("\n{}\n", piece.text) };
        text.push_str(&format!("{written}\n"));
    }
    text.trim().to_owned()
}

#[cfg(test)]
mod tests;
