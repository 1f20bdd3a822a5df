//! Learning: how lessons are made. `transcript` reads conversations, `capture` finds what is worth keeping in them by
//! rules alone, `correction` tells which answers are taken back, `distill` asks a model, and `job` is the work that
//! waits. `episodes` makes episodes of transcripts. `lesson` says which lessons are fit to keep and how they become
//! memories, `recording` does so for what a caller gives, and `imported` says what a file may bring in. `withdrawal`
//! takes a lesson out of search whose answer was taken back later. `phrases` holds the words by which objections are
//! known.

pub mod capture;
pub mod correction;
pub mod distill;
pub mod episodes;
pub mod imported;
pub mod job;
pub mod lesson;
mod phrases;
pub mod recording;
pub mod transcript;
pub mod withdrawal;
