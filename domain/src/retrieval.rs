//! Retrieval: from a question to the memories that are shown. `conditions` narrow a search, `candidates` are what a
//! store finds, `fusion` makes one similarity of two lists, `relevance` says whether a memory is about the question,
//! `score` weighs it, and `ranking` orders and cuts. The answer is read by clients (`responses`) and by the solver's
//! model (`prompt_memories`). `measures` tells how good a ranking is.

pub mod candidates;
pub mod conditions;
pub mod fusion;
pub mod measures;
pub mod prompt_memories;
pub mod ranking;
pub mod recalled;
pub mod relevance;
pub mod responses;
pub mod score;
pub mod standalone;
