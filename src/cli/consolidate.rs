//! The command `consolidate` runs consolidation, says what it would do, shows runs and takes them back.

use std::time::Duration;

use reasoning_bank_actors::consolidation::RunRequest;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::consolidation::RunTrigger;

use super::answers::ConsolidationRuns;
use super::args::ConsolidateArgs;
use super::failure::{CommandExit, CommandFailure};
use super::output::Output;
use super::render;
use super::session::{request_deadline, with_background_model, with_bank};
use crate::settings::Loaded;

/// A run, or taking one back, may take this long.
const RUN_LIMIT: Duration = Duration::from_secs(1_800);

pub(super) fn command(args: ConsolidateArgs, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    let ConsolidateArgs { apply, list, show, undo } = args;
    let workspace = &loaded.workspace;
    if list {
        let runs = with_bank(loaded, async |bank| Ok(bank.consolidation.runs(workspace, request_deadline()).await?))?;
        return output.answer(&ConsolidationRuns { runs }, render::consolidation_runs);
    }
    let run = match (show, undo) {
        (Some(id), _) => {
            with_bank(loaded, async |bank| Ok(bank.consolidation.show(id, workspace, request_deadline()).await?))?
        }
        (None, Some(id)) => with_bank(loaded, async |bank| {
            Ok(bank.consolidation.undo(id, workspace, Deadline::after(RUN_LIMIT)).await?)
        })?,
        (None, None) => {
            let request = RunRequest { workspace: workspace.clone(), trigger: RunTrigger::Person, apply };
            with_background_model(loaded, async |bank| {
                Ok(bank.consolidation.run(request, Deadline::after(RUN_LIMIT)).await?)
            })?
        }
    };
    output.answer(&run, render::consolidation_run)
}
