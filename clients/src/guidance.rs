//! The lines that tell an agent when to use the memory, for the file of instructions that its client reads.

use crate::document::ConfigChange;

const LINES: &str = "\
## Memory (reasoning-bank)
- Before a task, call `retrieve_memories` with the task in one sentence, and follow what fits.
- When a command fails, call `retrieve_memories` with the error before you try again.
- When you learned something that holds next time, call `record_memory` with one lesson.
- At the end of a task, call `report_outcome`: it says which memories helped.";

/// Returns the change that puts the five lines into a file of instructions.
pub fn guidance() -> ConfigChange {
    ConfigChange::Lines(LINES.to_owned())
}
