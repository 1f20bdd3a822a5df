//! The rules of ReasoningBank, as pure computation without a runtime, a clock, IO or threads. Time comes in as an
//! argument.
//!
//! Each room uses only those before it: `text` and `safety` treat texts, `note` has the codes of failures and remarks,
//! `prompt` is what models are asked with, `memory` holds the records, `access` says who asks and what they may do,
//! `evidence` says what a memory is worth, `retrieval` finds and ranks, `episode` tells what happened in a task and
//! finds it again, `pattern` has what is done with patterns, `learning` makes lessons, `consolidation` keeps all of it
//! few and true, `bank` keeps files that people write, too, `context` is what an agent is shown before a task and tells
//! after it, `solve` is the loop of a task, `working` is what one running task has at hand, and `system` keeps the
//! whole running.

#![forbid(unsafe_code)]

pub mod access;
pub mod bank;
pub mod consolidation;
pub mod context;
pub mod episode;
pub mod evidence;
pub mod learning;
pub mod memory;
pub mod note;
pub mod pattern;
pub mod prompt;
pub mod retrieval;
pub mod safety;
pub mod solve;
pub mod system;
pub mod text;
pub mod working;
