//! The glue over ractor against real actors. Time is paused throughout: delays are exact and cost nothing.

mod echo;
mod supervise;
