//! The command `stats` shows the statistics document of this process over the bank.

use super::failure::{CommandExit, CommandFailure};
use super::output::Output;
use super::render;
use super::session::{request_deadline, with_searching_bank};
use crate::settings::Loaded;

/// Shows the statistics, once the embedding model is loaded, so that the answer does not call it missing. `reset` comes
/// first: the answer shows that nothing but counters was reset.
pub(super) fn command(reset: bool, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    let statistics = with_searching_bank(loaded, async |bank| {
        if reset {
            bank.reset_statistics();
        }
        Ok(bank.statistics(request_deadline()).await?)
    })?;
    output.answer(&statistics, render::statistics)
}
