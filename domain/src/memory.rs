//! The records: memories, the traces they were learned from (`trace`), the signals about them (`signal`), and the
//! workspaces they belong to (`workspace`). `ids` has the identities of them all.
//!
//! `record` is the memory itself, `kinds` has what memories are told apart by, `changes` and `quarantine` say what may
//! become of one, `operational_warning` says which are no lessons, and `search_texts` are the texts that it is found
//! by. `succession` stores which memory replaced which; `update_detection` reads two texts and decides whether one
//! updates the other. `signature` tells kinds of errors apart, and `stack` makes traces of stacks comparable. `label`
//! compares the names of domains, `observation` is what is said about the use of memories, and `pattern` the part that
//! makes a memory a pattern. `confirmation` says when a lesson is evidence for a memory that says the same. `field`
//! checks texts and numbers that are given, `comparison` has the forms in which texts are compared, and `texts` names
//! the fields from which secrets are removed.

pub mod ids;
pub mod label;
pub mod observation;
pub mod pattern;
pub mod signal;
pub mod signature;
pub mod trace;
pub mod update_detection;
pub mod workspace;

mod changes;
mod comparison;
mod confirmation;
mod field;
mod kinds;
mod operational_warning;
mod quarantine;
mod record;
#[cfg(test)]
pub(crate) mod samples;
mod search_texts;
mod stack;
mod succession;
mod texts;

pub use changes::Changes;
pub(crate) use comparison::hash_of_parts;
pub use comparison::{indentation, normalised, spaced};
pub use field::{FieldProblem, LABEL_MAX_CHARS, check_count, check_length, check_range, check_text};
pub use kinds::{Complexity, MemoryOutcome, Scope, SourceType, Status, Trust};
pub use quarantine::Quarantine;
pub use record::*;
pub use search_texts::{FURTHER_TASKS_MAX, GIST_MAX_CHARS, SearchTexts, WORDINGS_MAX, gist};
pub use stack::normalised_stack;
pub use succession::{REPLACED_MAX, Succession, Successor, left_behind, links_decided_by_report, replacement_problem};
