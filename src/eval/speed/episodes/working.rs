//! Operations of working memory, one after another, which go round many open tasks.

use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_actors::working::WorkingTask;
use reasoning_bank_domain::working::{ExecutionState, Operation, SetValue, ValueScope, WorkingValueKind};

use super::pace::each;
use super::report::WorkingSpeed;
use crate::eval::EvalError;
use crate::eval::speed::fill::{batch_deadline, opened};
use crate::eval::speed::synthetic::Synthetic;

const TASKS: u32 = 200;
const OPERATIONS: u32 = 4_000;
const SYNCED: u32 = 500;
/// The number of values that a task has.
const VALUES: u32 = 10;
const RESULT_WORDS: usize = 340;
const VALUE_WORDS: usize = 40;

/// Measures operations on tasks that have some results each.
pub(crate) async fn measure(bank: &Synthetic, system: &SystemHandle) -> Result<WorkingSpeed, EvalError> {
    opened(system).await?;
    let mut tasks = Vec::new();
    for _ in 0..TASKS {
        let (workspace, owner) = (Synthetic::workspace_id(), "measured".to_owned());
        tasks.push(system.working.begin(workspace, owner, "It runs cargo and git.".into(), batch_deadline()).await?);
    }
    let results = |number| vec![result(bank, number)];
    for number in 0..TASKS * VALUES {
        apply(system, of(&tasks, number), results(number)).await?;
    }
    let operation_ms = each(OPERATIONS, async |number| {
        let operation = if number % 2 == 0 { value(bank, number) } else { result(bank, number) };
        apply(system, of(&tasks, number), vec![operation]).await
    })
    .await?;
    let synced_ms = each(SYNCED, async |number| apply(system, of(&tasks, number), vec![state(number)]).await).await?;
    Ok(WorkingSpeed { tasks: TASKS, operation_ms, synced_ms })
}

fn of(tasks: &[WorkingTask], number: u32) -> &WorkingTask {
    &tasks[number as usize % tasks.len()]
}

async fn apply(system: &SystemHandle, task: &WorkingTask, operations: Vec<Operation>) -> Result<(), EvalError> {
    Ok(system.working.apply(task, operations, batch_deadline(), |_, _| ()).await?)
}

fn value(bank: &Synthetic, number: u32) -> Operation {
    Operation::Set(SetValue {
        key: format!("k{}", number % VALUES),
        scope: ValueScope::Task,
        kind: WorkingValueKind::Accumulator,
        value: bank.text(number, VALUE_WORDS).into(),
    })
}

fn result(bank: &Synthetic, number: u32) -> Operation {
    Operation::AddIntermediate { subtask: format!("s{}", number % 10), output: bank.text(number, RESULT_WORDS).into() }
}

fn state(number: u32) -> Operation {
    let current = Some(format!("s{}", number % 10));
    Operation::PushState {
        state: Some(ExecutionState { phase: "execution".into(), current, ..ExecutionState::default() }),
        note: None,
    }
}
