//! The glue between rules and ractor.

mod deadline;

pub use deadline::Deadline;
