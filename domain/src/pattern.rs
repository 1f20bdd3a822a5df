//! Patterns: memories that say when they apply and are judged by their applications. What a pattern consists of is in
//! `memory::pattern`. Everything here is computed from episodes, applications and a time that are given.
//!
//! `facts` is what is read of an episode and `features` what is known of a task. `observation` tells whether an episode
//! followed a pattern, `document` is how a pattern is shown, and `input` what callers say of patterns and tasks.
//! `evidence` adds applications up, `stages` decides what follows, and `refinement` finds the condition that a pattern
//! lacks. `finding` suggests patterns for a task. `merging` and `pruning` keep them few, and `mining` finds new ones.
//! `significance` has the tests that all of this rests on, and `wording` compares titles.

pub mod document;
pub mod evidence;
pub mod facts;
pub mod features;
pub mod finding;
pub mod input;
pub mod merging;
pub mod mining;
pub mod observation;
pub mod pruning;
pub mod refinement;
#[cfg(test)]
pub(crate) mod samples;
pub mod significance;
pub mod stages;
mod wording;
