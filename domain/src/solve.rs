//! How a task is solved: what is asked and answered (`task`), the loop as a state machine (`agent_loop`), several attempts at once
//! (`matts`), and how the answers of models are read (`answer`).

pub mod agent_loop;
pub mod answer;
pub mod matts;
pub mod task;
