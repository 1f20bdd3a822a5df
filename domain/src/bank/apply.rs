//! The validator of operations, and what they do to the files of a bank. The same rules hold for the operations of a
//! model and for those of the rules: all are performed or none.

mod elsewhere;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use jiff::Timestamp;
use serde::Serialize;

pub use self::elsewhere::apply_filed;
use super::known::KnownPieces;
use super::open_item::{OpenItems, TaskReport};
use super::pieces::{PieceForm, blocks, open_box};
use super::{
    BANK_FILE_MAX_BYTES, BankCategory, BankDocument, BankFiles, BankInvalid, BankMetadata, BankOperation,
    BankOperationType, BankPath, BankSource, SECTION_SEPARATOR, check_bounds, has_conflict, new_pieces,
};
use crate::learning::job::day_of;
use crate::learning::lesson::InstructionRuns;
use crate::prompt::Prompts;
use crate::safety::secrets::{Removed, Scrub};

/// A model may give at most this many operations for one update.
pub const MODEL_MAX_OPERATIONS: usize = 100;
const MAX_TAGS: usize = 20;
const MAX_RELATIONS: usize = 20;
const TAG_MAX_CHARS: usize = 60;
pub(super) const NAME_MAX_CHARS: usize = 300;

/// An operation that was performed, as clients see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AppliedOperation {
    pub target_file: BankPath,
    pub operation_type: BankOperationType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
}

impl BankChange {
    /// Joins this change with one that was made after it.
    pub fn then(mut self, next: Self) -> Self {
        self.changed.extend(next.changed);
        self.applied.extend(next.applied);
        self.known += next.known;
        self.refused.extend(next.refused);
        self.displaced.extend(next.displaced);
        self.removed = self.removed + next.removed;
        self.metadata.extend(next.metadata);
        self
    }
}

/// A piece that was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankRefusal {
    pub target_file: BankPath,
    pub problem: String,
}

/// The changes that operations made to a bank.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BankChange {
    /// The files that are new or changed, with their whole texts.
    pub changed: BankFiles,
    pub applied: Vec<AppliedOperation>,
    /// The number of pieces that were left out because the bank says them already.
    pub known: usize,
    pub refused: Vec<BankRefusal>,
    /// The files whose entries went to another file, and why.
    pub displaced: Vec<BankRefusal>,
    pub removed: Removed,
    /// The metadata of the pieces that were added, by their hashes.
    pub metadata: BTreeMap<String, BankMetadata>,
}

/// Validates and performs operations. What the bank says already is left out. Secrets are scrubbed.
///
/// # Errors
/// An operation is not possible, and nothing has changed.
pub fn apply(files: &BankFiles, operations: &[BankOperation], now: Timestamp) -> Result<BankChange, BankInvalid> {
    let mut bank = BankInChange { files: files.clone(), known: KnownPieces::of(files), ticked: BTreeMap::new() };
    let mut change = BankChange::default();
    let mut waiting: Vec<BankOperation> = Vec::new();
    for (at, operation) in operations.iter().enumerate() {
        let mut operation = operation.clone();
        change.removed = change.removed + operation.scrub();
        operation.metadata.timestamp.get_or_insert(now);
        check(&operation)?;
        if is_echo(&operation.content) {
            let problem = "repeats the instructions for banks".to_owned();
            if operation.metadata.source == BankSource::Llm {
                return Err(BankInvalid::new("content", problem));
            }
            change.refused.push(BankRefusal { target_file: operation.target_file, problem });
            continue;
        }
        if bank.has_section(&operation) {
            operation.operation_type = BankOperationType::Append;
        }
        let (left, known) = bank.without_known(operation);
        change.known += known;
        let Some(operation) = left else { continue };
        if operation.operation_type != BankOperationType::CompleteItem {
            let pieces = new_pieces("", &operation.content).into_iter();
            change.metadata.extend(pieces.map(|piece| (piece, operation.metadata.clone())));
        }
        let section = operation.metadata.section.clone();
        let applied = AppliedOperation {
            target_file: operation.target_file.clone(),
            operation_type: operation.operation_type,
            section,
        };
        match operation.operation_type {
            kind if is_entry(kind) => {
                let same = |other: &&mut BankOperation| {
                    (&other.target_file, other.operation_type, &other.metadata.section)
                        == (&operation.target_file, kind, &operation.metadata.section)
                };
                match waiting.iter_mut().find(same) {
                    Some(other) => join(other, operation),
                    None => waiting.push(operation),
                }
            }
            BankOperationType::CompleteItem => {
                if !bank.is_ticked(at, operations, now) {
                    // The item may be one that waits, or one that another report ticked.
                    let is_of_rules = operation.metadata.source == BankSource::Rules;
                    if is_of_rules && !waiting.iter().any(|entry| is_open_in(entry, &operation.target_file)) {
                        continue;
                    }
                    bank.perform_all(&mut waiting)?;
                    match bank.perform(&operation) {
                        Err(_) if is_of_rules => continue,
                        performed => performed?,
                    }
                }
            }
            _ => {
                bank.perform_all(&mut waiting)?;
                bank.perform(&operation)?;
            }
        }
        change.applied.push(applied);
    }
    bank.perform_all(&mut waiting)?;
    check_bounds(&bank.files)?;
    change.changed = bank.files.into_iter().filter(|(path, text)| files.get(path) != Some(text)).collect();
    Ok(change)
}

/// Says whether an entry that waits has an open item for a file.
fn is_open_in(entry: &BankOperation, file: &BankPath) -> bool {
    entry.target_file == *file && entry.content.lines().any(|line| open_box(line).is_some())
}

fn is_entry(kind: BankOperationType) -> bool {
    matches!(kind, BankOperationType::Append | BankOperationType::PrependEntry)
}

/// Adds an operation to one of the same kind on the same section, so that the file is read once for both.
fn join(first: &mut BankOperation, second: BankOperation) {
    let are_items = first.content.starts_with("- ") && second.content.starts_with("- ");
    let first_content = first.content.trim_end().len();
    first.content.truncate(first_content);
    first.content.push_str(if are_items { "\n" } else { "\n\n" });
    first.content.push_str(second.content.trim_start_matches(['\n', '\r']));
    let (into, from) = (&mut first.metadata, second.metadata);
    let tags: BTreeSet<String> = into.tags.drain(..).chain(from.tags).collect();
    into.tags = tags.into_iter().take(MAX_TAGS).collect();
    let relations: BTreeSet<String> = into.relations.drain(..).chain(from.relations).collect();
    into.relations = relations.into_iter().take(MAX_RELATIONS).collect();
    into.importance = into.importance.max(from.importance);
}

/// Checks what does not depend on the bank.
fn check(operation: &BankOperation) -> Result<(), BankInvalid> {
    let BankOperation { content, metadata, operation_type, .. } = operation;
    let problem = |field: &str, problem: String| Err(BankInvalid::new(field, problem));
    if content.trim().is_empty() && *operation_type != BankOperationType::CreateSection {
        return problem("content", "is missing or blank".to_owned());
    }
    if content.len() > BANK_FILE_MAX_BYTES {
        return problem("content", format!("has more than {} KiB; shorten it", BANK_FILE_MAX_BYTES >> 10));
    }
    if has_conflict(content) {
        return problem("content", "has the marks of a Git conflict; resolve it first".to_owned());
    }
    let is_name = |name: &str, max: usize| {
        !name.trim().is_empty() && name.chars().count() <= max && !name.chars().any(char::is_control)
    };
    if metadata.section.as_deref().is_some_and(|section| !is_name(section, NAME_MAX_CHARS)) {
        return problem("section", format!("must be a heading of at most {NAME_MAX_CHARS} characters on one line"));
    }
    let needs_section = matches!(operation_type, BankOperationType::ReplaceSection | BankOperationType::CreateSection);
    if needs_section && metadata.section.is_none() {
        return problem("section", format!("is missing; {} needs it", operation_type.as_str()));
    }
    if metadata.tags.len() > MAX_TAGS || metadata.tags.iter().any(|tag| !is_name(tag, TAG_MAX_CHARS)) {
        return problem("tags", format!("must be at most {MAX_TAGS} words of at most {TAG_MAX_CHARS} characters"));
    }
    if metadata.relations.len() > MAX_RELATIONS
        || metadata.relations.iter().any(|relation| !is_name(relation, NAME_MAX_CHARS))
    {
        let text =
            format!("must be at most {MAX_RELATIONS}, each as file#section of at most {NAME_MAX_CHARS} characters");
        return problem("relations", text);
    }
    if metadata.conversation_id.as_deref().is_some_and(|id| !is_name(id, NAME_MAX_CHARS)) {
        return problem("conversation_id", format!("must have at most {NAME_MAX_CHARS} characters on one line"));
    }
    Ok(())
}

/// A bank while operations change it.
struct BankInChange<'a> {
    files: BankFiles,
    known: KnownPieces<'a>,
    /// The places of the operations that ticked items, by their files.
    ticked: BTreeMap<BankPath, BTreeSet<usize>>,
}

impl BankInChange<'_> {
    /// Says whether an operation would put a text into a new section that is there already.
    fn has_section(&self, operation: &BankOperation) -> bool {
        let BankOperation { target_file, operation_type, content, metadata } = operation;
        let creates = *operation_type == BankOperationType::CreateSection && !content.trim().is_empty();
        let document = || BankDocument::parse(self.files.get(target_file)?.as_str()).ok();
        let finds = |name: &str| document().is_some_and(|document| document.find(name).is_ok());
        creates && metadata.section.as_deref().is_some_and(finds)
    }

    /// Leaves out what the bank says already. Returns what remains, if anything does, and the number of pieces that were
    /// left out.
    fn without_known(&mut self, mut operation: BankOperation) -> (Option<BankOperation>, usize) {
        if !is_entry(operation.operation_type) {
            return (Some(operation), 0);
        }
        let pieces = blocks(&operation.content);
        let mut new: Vec<&(PieceForm, String)> = pieces.iter().collect();
        new.retain(|(form, text)| !self.known.has(*form, text));
        if new.is_empty() && !pieces.is_empty() {
            return (None, pieces.len());
        }
        // Paragraphs are read together, so that none of them leaves alone.
        let are_items = pieces.iter().all(|(form, _)| form.is_item());
        let known = if are_items { pieces.len() - new.len() } else { 0 };
        if known > 0 {
            let written: Vec<String> = new.iter().map(|(form, text)| item(*form, text)).collect();
            operation.content = written.join("\n");
        }
        let added: Vec<(PieceForm, String)> = new.into_iter().cloned().collect();
        added.iter().for_each(|(form, text)| self.known.add(*form, text));
        (Some(operation), known)
    }

    /// Says whether an operation ticked its item. The items of a file are read once for all operations that tick one in
    /// it. Entries before and after a box that is ticked stay together.
    fn is_ticked(&mut self, at: usize, operations: &[BankOperation], now: Timestamp) -> bool {
        let Some(BankOperation { target_file, .. }) = operations.get(at) else { return false };
        if !self.ticked.contains_key(target_file) {
            let ticked = self.tick_all(target_file, operations, now).unwrap_or_default();
            self.ticked.insert(target_file.clone(), ticked);
        }
        self.ticked.get(target_file).is_some_and(|ticked| ticked.contains(&at))
    }

    /// Ticks each item of a file that an operation names. Returns the places of those operations.
    fn tick_all(&mut self, file: &BankPath, operations: &[BankOperation], now: Timestamp) -> Option<BTreeSet<usize>> {
        let document = BankDocument::parse(self.files.get(file)?.as_str()).ok()?;
        let items = OpenItems::of(&document);
        let (mut ticked, mut found) = (BTreeSet::new(), BTreeMap::new());
        let is_tick = |operation: &BankOperation| {
            operation.operation_type == BankOperationType::CompleteItem && operation.target_file == *file
        };
        for (at, operation) in operations.iter().enumerate().filter(|(_, operation)| is_tick(operation)) {
            let Some(item) = items.find(&TaskReport::of(&operation.content)).map(|found| found.item) else { continue };
            if !item.has_open_below && !found.contains_key(&item.place) {
                found.insert(item.place, (item, day(operation.metadata.timestamp.unwrap_or(now))));
                ticked.insert(at);
            }
        }
        let finished: Vec<_> = found.into_values().collect();
        let text = document.all_finished(&finished).ok()?.into_text();
        self.files.insert(file.clone(), text);
        Some(ticked)
    }

    fn perform_all(&mut self, waiting: &mut Vec<BankOperation>) -> Result<(), BankInvalid> {
        waiting.drain(..).try_for_each(|operation| self.perform(&operation))
    }

    fn perform(&mut self, operation: &BankOperation) -> Result<(), BankInvalid> {
        let BankOperation { target_file, operation_type, content, .. } = operation;
        let in_file = |error: BankInvalid| match error.field.as_str() {
            "file" => {
                let problem =
                    format!("would be too long, it {}: send less at once, or run `bank optimize`", error.problem);
                BankInvalid::new(target_file.as_str(), problem)
            }
            field => BankInvalid::new(format!("{target_file}: {field}"), error.problem),
        };
        if *operation_type == BankOperationType::CreateFile {
            return self.create_file(target_file, content);
        }
        let text = self.files.get(target_file).ok_or_else(|| {
            let names: Vec<&str> = self.files.keys().map(BankPath::as_str).take(20).collect();
            BankInvalid::new(
                "target_file",
                format!("{target_file} is not in the bank; its files are {}", names.join(", ")),
            )
        })?;
        let document = BankDocument::parse(text.as_str()).map_err(in_file)?;
        let changed = self.changed(&document, operation).map_err(in_file)?;
        self.files.insert(target_file.clone(), changed.into_text());
        Ok(())
    }

    fn create_file(&mut self, path: &BankPath, content: &str) -> Result<(), BankInvalid> {
        let same = self.files.keys().find(|other| other.as_str().eq_ignore_ascii_case(path.as_str()));
        if let Some(other) = same {
            return Err(BankInvalid::new("target_file", format!("{other} is in the bank already; append to it")));
        }
        let document = BankDocument::parse(format!("{}\n", content.trim_matches(['\n', '\r'])))?;
        self.files.insert(path.clone(), document.into_text());
        Ok(())
    }

    /// Performs an operation on a document. Returns what it becomes.
    fn changed(&self, document: &BankDocument, operation: &BankOperation) -> Result<BankDocument, BankInvalid> {
        let BankOperation { operation_type, content, metadata, .. } = operation;
        let named = metadata.section.as_deref();
        let section = || match named {
            Some(name) => document.find(name),
            None => Ok(document.sections().len() - 1),
        };
        let day = metadata.timestamp.map(day).unwrap_or_default();
        if is_entry(*operation_type) {
            let (section, is_newest) = (section()?, *operation_type == BankOperationType::PrependEntry);
            let is_decision = metadata.category == Some(BankCategory::Decision);
            let as_decisions = is_decision.then(|| document.with_decisions(section, content, &day)).flatten();
            let changed = as_decisions.or_else(|| document.with_day_entries(section, content, &day, is_newest));
            if let Some(changed) = changed {
                return changed;
            }
        }
        match operation_type {
            BankOperationType::Append => {
                let section = section()?;
                self.deeper_only(document, section, content)?;
                document.append(section, content)
            }
            BankOperationType::PrependEntry => {
                let section = section()?;
                self.deeper_only(document, section, content)?;
                document.prepend(section, content)
            }
            BankOperationType::ReplaceSection => {
                let section = section()?;
                self.deeper_only(document, section, content)?;
                document.replace_body(section, content)
            }
            BankOperationType::CreateSection => {
                let name = named.unwrap_or_default();
                if document.find(name).is_ok() {
                    return Ok(document.clone());
                }
                let (parent, title) = match name.rsplit_once(SECTION_SEPARATOR) {
                    Some((parent, title)) => (Some(document.find(parent)?), title),
                    None => (None, name),
                };
                document.with_section(parent, title, content)
            }
            BankOperationType::CompleteItem => {
                let found = OpenItems::of(document).find(&TaskReport::of(content)).ok_or_else(|| {
                    BankInvalid::new("content", "says none of the open items; repeat the words of the item")
                })?;
                if found.item.has_open_below {
                    let problem = format!("means {:?}, and items below it are open; name those", found.item.text);
                    return Err(BankInvalid::new("content", problem));
                }
                document.finished(&found.item, &day)
            }
            BankOperationType::CreateFile => Ok(document.clone()),
        }
    }

    /// Refuses headings in a content that would end the section that the content is put into.
    fn deeper_only(&self, document: &BankDocument, section: usize, content: &str) -> Result<(), BankInvalid> {
        let level = document.sections().get(section).map_or(0, |section| section.level);
        let content = BankDocument::parse(content)?;
        match content.sections().iter().skip(1).find(|heading| heading.level <= level) {
            Some(heading) => {
                let problem =
                    format!("has the heading {:?}, which would end the section; use create_section", heading.title());
                Err(BankInvalid::new("content", problem))
            }
            None => Ok(()),
        }
    }
}

/// Returns a piece as a list item.
pub(super) fn item(form: PieceForm, text: &str) -> String {
    match form {
        PieceForm::OpenItem => format!("- [ ] {text}"),
        PieceForm::TickedItem => format!("- [x] {text}"),
        _ => format!("- {text}"),
    }
}

/// Returns the day of a time, as entries are dated: `2026-11-25`, in UTC.
pub(super) fn day(at: Timestamp) -> String {
    day_of(at).to_string()
}

/// Says whether a content repeats what agents and models are told about banks.
fn is_echo(content: &str) -> bool {
    static INSTRUCTIONS: LazyLock<InstructionRuns> =
        LazyLock::new(|| InstructionRuns::of(Prompts::default().bank_instructions()));
    INSTRUCTIONS.has_run_of(content)
}

#[cfg(test)]
mod tests;
