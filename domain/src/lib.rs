//! The rules of ReasoningBank, as pure computation: no runtime, no clock, no IO, no threads. Time comes in as an argument,
//! randomness not at all.
//!
//! Each room uses only those before it: `text` and `safety` treat texts; `prompt` is what models are asked with; `memory` holds the
//! records; `evidence` says what a memory is worth; `retrieval` finds and ranks; `learning` makes lessons; `solve` is the loop
//! of a task; `system` keeps the whole running.

#![forbid(unsafe_code)]

pub mod evidence;
pub mod learning;
pub mod memory;
pub mod prompt;
pub mod retrieval;
pub mod safety;
pub mod solve;
pub mod system;
pub mod text;
