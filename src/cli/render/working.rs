//! Working memory as text for people.

use std::fmt::Write as _;

use super::{clean, clean_line, counted};
use crate::cli::answers::{ClearedTask, OpenTasks, ShownTask};

pub(in crate::cli) fn open_tasks(listed: &OpenTasks) -> String {
    let mut out = String::new();
    for task in &listed.tasks {
        let touched = task.touched_at.strftime("%Y-%m-%d %H:%M");
        let description: String = clean_line(&task.description).chars().take(72).collect();
        let phase = if task.phase.is_empty() { String::new() } else { format!("{}: ", clean_line(&task.phase)) };
        let elsewhere = if task.open_elsewhere { " (open in another process)" } else { "" };
        let _ = writeln!(out, "{}  {touched}  {phase}{description}{elsewhere}", task.task_id);
    }
    let _ = writeln!(out, "{}", counted(listed.tasks.len(), "open task", "open tasks"));
    out
}

pub(in crate::cli) fn open_task(shown: &ShownTask) -> String {
    clean(&shown.rendered)
}

pub(in crate::cli) fn cleared_task(cleared: &ClearedTask) -> String {
    format!("the task is ended, and kept as the {} episode {}\n", cleared.status.as_str(), cleared.episode_id)
}
