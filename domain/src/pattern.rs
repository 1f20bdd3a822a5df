//! Patterns: memories that say when they apply and are judged by their applications. What a pattern consists of is in
//! `memory::pattern`.
//!
//! `significance` has the tests that everything else rests on.

pub mod significance;
