//! The commands of `working` show and end the tasks that agents have in working memory.

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_actors::working::{LOCAL_OWNER, ListedTask, WorkingTask};
use reasoning_bank_domain::episode::{EpisodeStatus, RecordedEpisode};
use reasoning_bank_domain::memory::ids::WorkingId;
use reasoning_bank_domain::working::{RenderedContext, TOTAL_TOKENS, TaskEnd};

use super::answers::{ClearedTask, OpenTask, OpenTasks, ShownTask};
use super::args::WorkingCommand;
use super::confirm::confirm;
use super::failure::{CommandExit, CommandFailure};
use super::output::Output;
use super::render;
use super::session::{request_deadline, with_bank, with_searching_bank};
use crate::settings::Loaded;

pub(super) fn command(command: WorkingCommand, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    match command {
        WorkingCommand::List => {
            let listed = with_bank(loaded, async |bank| {
                let tasks = open(&bank, loaded).await?;
                Ok(OpenTasks { tasks: tasks.iter().map(OpenTask::of).collect() })
            })?;
            output.answer(&listed, render::open_tasks)
        }
        WorkingCommand::Show { id } => {
            let shown = with_bank(loaded, async |bank| {
                let tasks = open(&bank, loaded).await?;
                let found = tasks.iter().find(|task| id.is_none_or(|id| id == task.id));
                let missing = || match id {
                    Some(id) => Error::NotFound(format!("open task {id}")),
                    None => Error::NotFound("open task in this workspace".into()),
                };
                Ok(ShownTask::of(found.ok_or_else(missing)?))
            })?;
            output.answer(&shown, render::open_task)
        }
        WorkingCommand::Clear { id, status, output: came, insights, sure } => {
            confirm(&format!("End the task {id}, and keep it as an episode"), sure)?;
            let status = status.map_or(EpisodeStatus::Partial, Into::into);
            let end = TaskEnd { status, output: came, insights, session: None };
            let cleared = with_searching_bank(loaded, async |bank| {
                let task = task(&bank, id, loaded).await?;
                let ended = bank.working.close(&task, end, request_deadline()).await?;
                let RecordedEpisode { episode_id, status, .. } = ended.recorded;
                Ok(ClearedTask { cleared: id, episode_id, status })
            })?;
            output.answer(&cleared, render::cleared_task)
        }
    }
}

async fn task(bank: &SystemHandle, id: WorkingId, loaded: &Loaded) -> Result<WorkingTask, Error> {
    let workspace = bank.workspaces.resolve(&loaded.workspace, request_deadline()).await?.workspace.id;
    Ok(WorkingTask { workspace, owner: LOCAL_OWNER.into(), id })
}

async fn open(bank: &SystemHandle, loaded: &Loaded) -> Result<Vec<ListedTask>, Error> {
    let workspace = bank.workspaces.resolve(&loaded.workspace, request_deadline()).await?.workspace.id;
    bank.working.list_all(&workspace, LOCAL_OWNER, request_deadline()).await
}

impl OpenTask {
    fn of(task: &ListedTask) -> Self {
        let memory = &task.memory;
        Self {
            task_id: task.id,
            description: memory.task().description.clone(),
            phase: memory.execution().phase.clone(),
            touched_at: memory.touched_at(),
            entries: memory.entries().len(),
            open_elsewhere: task.is_elsewhere,
        }
    }
}

impl ShownTask {
    fn of(task: &ListedTask) -> Self {
        let RenderedContext { text, tokens, not_shown, .. } = task.memory.context(TOTAL_TOKENS);
        Self { task_id: task.id, rendered: text, tokens, not_shown }
    }
}
