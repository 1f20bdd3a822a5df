//! The glue over ractor against real actors. Time is paused except where threads matter: delays are exact and cost
//! nothing.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are outside the functions that clippy knows as tests"
)]

mod echo;
mod events;
mod fakes;
mod gate;
mod leaks;
mod pool;
mod slot;
mod soak;
mod source;
mod stop;
mod supervise;
mod tasks;
