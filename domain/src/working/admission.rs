//! The check of operations that come together: all of them are possible, or none is carried out. A task that is new
//! also has to make sense: it has a description, and its plan can be worked off. A log is read without this check,
//! since it may hold what was let in before there was such a rule.

use std::borrow::Cow;

use jiff::Timestamp;

use super::WorkingMemory;
use super::operation::{Operation, WorkingInvalid};
use super::task::{ExecutionState, PlannedSubtask, TaskContext};

/// An error names this many steps of a plan, and this much of an id.
const NAMED_STEPS: usize = 10;
const SHOWN_CHARS: usize = 60;

impl WorkingMemory {
    /// Checks whether a task can be begun.
    pub fn check_new(task: &Operation, at: Timestamp) -> Result<(), WorkingInvalid> {
        Self::new("", at).check_all(std::slice::from_ref(task), at)
    }

    /// Checks whether operations are possible one after the other. The error names the one that is not by its place
    /// among those of its kind, such as `set[2]`.
    pub fn check_all(&self, operations: &[Operation], at: Timestamp) -> Result<(), WorkingInvalid> {
        let mut memory = Cow::Borrowed(self);
        for (index, operation) in operations.iter().enumerate() {
            let (earlier, rest) = operations.split_at(index);
            operation.check(&memory).map_err(|invalid| invalid.of(operation, earlier))?;
            match operation {
                Operation::LoadTask(task) => task.check()?,
                Operation::PushState { state: Some(state), .. } => state.check(&memory.task().plan)?,
                _ => {}
            }
            if rest.len() > 1 {
                memory.to_mut().apply(operation, at)?;
            }
        }
        Ok(())
    }
}

impl TaskContext {
    /// Checks that the task has a description, and that its steps have different ids and wait for steps that are there
    /// and do not wait for them.
    fn check(&self) -> Result<(), WorkingInvalid> {
        if self.description.trim().is_empty() {
            let problem = "is missing or blank; say what the task is";
            return Err(WorkingInvalid::field("task.description", problem.into()));
        }
        let of_id = |id: &str| self.plan.iter().position(|step| step.id == id);
        let mut needs = Vec::new();
        for (n, step) in self.plan.iter().enumerate() {
            if let Some(first) = of_id(&step.id).filter(|first| *first < n) {
                let problem = format!("{} is the id of plan[{first}] too; give each step its own id", shown(&step.id));
                return Err(WorkingInvalid::field(&format!("task.plan[{n}].id"), problem));
            }
            let mut needed = Vec::new();
            for (at, id) in step.depends_on.iter().enumerate() {
                let problem = match of_id(id) {
                    Some(other) if other != n => {
                        needed.push(other);
                        continue;
                    }
                    Some(_) => format!("{} is the step itself; leave it out", shown(id)),
                    None => unknown(&self.plan, id),
                };
                return Err(WorkingInvalid::field(&format!("task.plan[{n}].depends_on[{at}]"), problem));
            }
            needs.push(needed);
        }
        let Some(circle) = circle(&needs) else { return Ok(()) };
        let ids = circle.iter().chain(circle.first()).filter_map(|n| self.plan.get(*n));
        let named = ids.take(NAMED_STEPS).map(|step| shown(&step.id)).collect::<Vec<_>>().join(" needs ");
        let field = format!("task.plan[{}].depends_on", circle.first().copied().unwrap_or_default());
        let problem = format!("makes a circle, in which no step can begin: {named}; take one of these ids out");
        Err(WorkingInvalid::field(&field, problem))
    }
}

impl ExecutionState {
    /// Checks that the steps are steps of the plan, where there is one.
    fn check(&self, plan: &[PlannedSubtask]) -> Result<(), WorkingInvalid> {
        let current = self.current.iter().map(|id| ("state.current".to_owned(), id));
        let completed = self.completed.iter().enumerate().map(|(n, id)| (format!("state.completed[{n}]"), id));
        let failed = self.failed.iter().enumerate().map(|(n, failed)| (format!("state.failed[{n}].id"), &failed.id));
        let mut named = current.chain(completed).chain(failed);
        match named.find(|(_, id)| !plan.is_empty() && plan.iter().all(|step| step.id != **id)) {
            Some((field, id)) => Err(WorkingInvalid::field(&field, unknown(plan, id))),
            None => Ok(()),
        }
    }
}

/// Returns the problem of an id that no step of a plan has, with ids that steps have.
fn unknown(plan: &[PlannedSubtask], id: &str) -> String {
    let more = if plan.len() > NAMED_STEPS { ", …" } else { "" };
    let steps = plan.iter().take(NAMED_STEPS).map(|step| shown(&step.id)).collect::<Vec<_>>().join(", ");
    format!("{} is no step of the plan; name one of {steps}{more}, or add the step to task.plan", shown(id))
}

fn shown(id: &str) -> String {
    match id.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{:?}…", &id[..end]),
        None => format!("{id:?}"),
    }
}

/// Finds steps each of which needs the next, and the last the first. `needs` has the steps that each step needs.
fn circle(needs: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut is_left = vec![true; needs.len()];
    let can_begin =
        |is_left: &[bool]| (0..needs.len()).find(|n| is_left[*n] && !needs[*n].iter().any(|of| is_left[*of]));
    while let Some(next) = can_begin(&is_left) {
        is_left[next] = false;
    }
    let mut path = vec![is_left.iter().position(|left| *left)?];
    loop {
        let next = needs[*path.last()?].iter().copied().find(|of| is_left[*of])?;
        if let Some(start) = path.iter().position(|of| *of == next) {
            return Some(path.split_off(start));
        }
        path.push(next);
    }
}

impl WorkingInvalid {
    /// Names the place of an operation that comes after others.
    fn of(self, operation: &Operation, earlier: &[Operation]) -> Self {
        let count = |is_such: fn(&Operation) -> bool| earlier.iter().filter(|earlier| is_such(earlier)).count();
        let place = match operation {
            Operation::Set(_) => format!("set[{}]", count(|of| matches!(of, Operation::Set(_)))),
            Operation::AddIntermediate { .. } => {
                format!("results[{}]", count(|of| matches!(of, Operation::AddIntermediate { .. })))
            }
            _ => return self,
        };
        match self {
            Self::Field { field, problem } => Self::Field { field: format!("{place}.{field}"), problem },
            Self::Full => Self::Field { field: place, problem: self.to_string() },
            other => other,
        }
    }
}

#[cfg(test)]
mod tests;
