//! This room says how a task is solved. `task` is what is asked and answered, `agent_loop` is the loop as a state
//! machine, `matts` chooses among several attempts, `answer` reads what models answer, and `stage` says how far a solve
//! is.

pub mod agent_loop;
pub mod answer;
pub mod matts;
pub mod stage;
pub mod task;
