//! The rules of ReasoningBank, as pure computation: no runtime, no clock, no IO. Time comes in as an argument,
//! randomness not at all.

pub mod agent_loop;
pub mod answer;
pub mod breaker;
pub mod capture;
pub mod confidence;
pub mod distill;
pub mod eval;
pub mod feedback;
pub mod fusion;
pub mod genealogy;
pub mod health;
pub mod ids;
pub mod injection;
pub mod job;
pub mod lesson;
pub mod matts;
pub mod memory;
pub mod overruling;
pub mod promotion;
pub mod prompt;
pub mod restart;
pub mod retrieval;
pub mod score;
pub mod secrets;
pub mod signature;
pub mod solve;
pub mod stability;
pub mod statistics;
pub mod tokens;
pub mod trace;
pub mod transcript;
pub mod view;
pub mod workspace;
