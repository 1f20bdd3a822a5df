//! Memory banks: directories of markdown files that people and agents write together.
//!
//! `key` says which bank is meant and `path` which of its files. `template` is what a new bank begins with. `document`
//! reads a file as sections and `edit` changes one of them without touching another byte. `operation` is a change as
//! models and rules describe it; `apply` validates and performs it, and `known` tells what a bank says already.
//! `pieces` are what a text is made of, `tasks` those that are to be done, `open_mark` says which are open, and `signs`
//! tell what a piece or a heading is about. `filing` makes operations of text by rules, `model` by a model, whose answer
//! `answer` checks. `imported` adds facts of other programs. `merge` joins what two writers did to one file, and
//! `conflict` finds what Git could not join. `optimize` makes a bank shorter by what `reading` found in its files, and
//! `window` reads long files part by part.

mod answer;
mod apply;
mod conflict;
mod document;
mod edit;
mod filing;
mod imported;
mod key;
mod known;
mod merge;
mod model;
mod open_item;
mod open_mark;
mod operation;
mod optimize;
mod past_forms;
mod path;
mod pieces;
mod reading;
mod signs;
mod tasks;
mod template;
mod window;

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::prompt::fenced;
use crate::safety::secrets::scrub;
use crate::text::tokens::estimate;

pub use answer::{CheckedAnswer, check_answer};
pub use apply::{AppliedOperation, BankChange, BankRefusal, MODEL_MAX_OPERATIONS, apply, apply_filed};
pub use conflict::has_conflict;
pub use document::{BankDocument, BankSection};
pub use filing::{classify, file_by_rules};
pub use imported::{AddedFacts, FACT_MAX_CHARS, IMPORTED_MAX_BYTES, ImportedFact, add_facts};
pub use key::{BankHolder, BankKey, BankKind, project_slug};
pub use merge::{BankMerge, RenamedHeadings, addition_heading, merge, without_empty_additions};
pub use model::{
    BankProposal, ProposedMetadata, ProposedOperation, optimize_prompt, proposed_operations, shorter_file,
    update_prompt,
};
pub use operation::{
    BankCategory, BankImportance, BankMetadata, BankOperation, BankOperationType, BankSource, SECTION_SEPARATOR,
};
pub use optimize::{
    BankFacts, BankOutline, BankView, LongFile, OPTIMIZE_ABOVE_TOKENS, OPTIMIZED_MIN_TOKENS, OptimizedBank,
    bank_tokens, collapse_old, next_long_file, optimize, view,
};
pub use path::BankPath;
pub use pieces::{BankTextPiece, PieceForm, entries_of, new_pieces, text_pieces};
pub use reading::BankFileReading;
pub use template::{described, template, template_text};
pub use window::{BankWindow, RestOfFiles, window};

/// A bank has at most this many files.
pub const BANK_MAX_FILES: usize = 200;
/// A file of a bank has at most this many bytes.
pub const BANK_FILE_MAX_BYTES: usize = 256 << 10;
/// The files of a bank have at most this many bytes together.
pub const BANK_MAX_BYTES: usize = 4 << 20;

/// The patterns of secrets are compiled when texts of so many bytes were read, or when one may have a secret.
const WARMING_BYTES: usize = 80 << 10;

/// The files of a bank and their texts.
pub type BankFiles = BTreeMap<BankPath, String>;

/// A value that a bank cannot take: the field, what is wrong with it, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} {problem}")]
pub struct BankInvalid {
    /// The name of the argument or of the field, such as `conversation_type`, or a file of the bank.
    pub field: String,
    pub problem: String,
}

impl BankInvalid {
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { field: field.into(), problem: problem.into() }
    }
}

/// Checks the bounds of a whole bank: the number of its files, the size of each and the size of all.
///
/// # Errors
/// A bound is passed; the error names the file where it is one file's.
pub fn check_bounds(files: &BankFiles) -> Result<(), BankInvalid> {
    if files.len() > BANK_MAX_FILES {
        let problem = format!("has {} files; at most {BANK_MAX_FILES} are allowed", files.len());
        return Err(BankInvalid::new("bank", problem));
    }
    if let Some((path, text)) = files.iter().find(|(_, text)| text.len() > BANK_FILE_MAX_BYTES) {
        let problem = format!(
            "would have {} bytes; at most {} KiB are allowed: shorten it, or run `bank optimize`",
            text.len(),
            BANK_FILE_MAX_BYTES >> 10
        );
        return Err(BankInvalid::new(path.as_str(), problem));
    }
    let bytes: usize = files.values().map(String::len).sum();
    if bytes > BANK_MAX_BYTES {
        let problem =
            format!("would have {bytes} bytes; at most {} MiB are allowed: run `bank optimize`", BANK_MAX_BYTES >> 20);
        return Err(BankInvalid::new("bank", problem));
    }
    Ok(())
}

/// Loads what the first bank of a process needs and what is there for all others then: the vocabulary of tokens, and
/// the patterns of secrets, fences and filing. It may take seconds in a build for every day.
pub fn warm_up() {
    let line = "A line as banks have it.\n";
    let (_, _) = (estimate(line), fenced(line));
    let _ = scrub(&line.repeat(WARMING_BYTES / line.len()));
    let _ = file_by_rules(line, &template(BankKind::Code), &RenamedHeadings::default(), Timestamp::UNIX_EPOCH);
}
