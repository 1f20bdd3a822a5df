//! The commands `trace list` and `trace show` tell what was tried for tasks, and how it went.

use reasoning_bank_domain::memory::ids::TraceId;

use super::args::TraceCommand;
use super::failure::{CommandExit, CommandFailure};
use super::output::Output;
use super::render;
use super::session::{request_deadline, with_bank};
use crate::settings::Loaded;

pub(super) fn command(command: TraceCommand, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    let workspace = &loaded.workspace;
    match command {
        TraceCommand::List(page) => {
            let after = page.after.map(TraceId::from);
            let listed = with_bank(loaded, async |bank| {
                Ok(bank.memories.traces(workspace, page.limit.into(), after, request_deadline()).await?)
            })?;
            output.answer(&listed, render::traces)
        }
        TraceCommand::Show { id } => {
            let trace =
                with_bank(loaded, async |bank| Ok(bank.memories.trace(id, workspace, request_deadline()).await?))?;
            output.answer(&trace, render::trace)
        }
    }
}
