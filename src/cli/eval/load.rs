//! The commands `eval load` and `eval kills`: they make a data directory, and leave the measurement to `eval::load`.

use std::fs;

use crate::cli::args::{KillsArgs, LoadArgs};
use crate::cli::failure::{CommandExit, CommandFailure};
use crate::cli::output::Output;
use crate::cli::render;
use crate::cli::session::{one_thread, with_bulk_bank};
use crate::eval::load::measure::LoadPlan;
use crate::eval::load::report::BarsReport;
use crate::eval::load::{fill, kills, make_tokens, measure};
use crate::settings::Loaded;

use super::speed::unless_asked_to_end;

pub(super) fn load(args: &LoadArgs, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    let LoadArgs { clients, seconds, memories } = *args;
    let place = tempfile::tempdir().map_err(CommandFailure::temporary)?;
    let (data_dir, project) = (place.path().join("data"), place.path().join("project"));
    fs::create_dir(&project).map_err(CommandFailure::temporary)?;
    let mut loaded = loaded.clone();
    loaded.settings.data_dir.clone_from(&data_dir);
    with_bulk_bank(&loaded, async |system| {
        let progress = output.progress("memories stored");
        progress.most(u64::from(memories));
        unless_asked_to_end(async { Ok(fill(memories, &system, |done| progress.done(done)).await?) }).await
    })?;
    let tokens = make_tokens(&data_dir, clients)?;
    let progress = output.progress("seconds of the load");
    progress.most(u64::from(seconds));
    let plan = LoadPlan { clients, seconds, memories };
    let report = one_thread()?.block_on(unless_asked_to_end(async {
        Ok(measure::measure(plan, &data_dir, &project, &tokens, |done| progress.done(done)).await?)
    }));
    drop(progress);
    answer(&report?, output)
}

pub(super) fn kills(args: &KillsArgs, output: Output) -> Result<CommandExit, CommandFailure> {
    let place = tempfile::tempdir().map_err(CommandFailure::temporary)?;
    let data_dir = place.path().join("data");
    let tokens = make_tokens(&data_dir, args.clients)?;
    let progress = output.progress("kills");
    progress.most(u64::from(args.rounds));
    let report = one_thread()?.block_on(unless_asked_to_end(async {
        Ok(kills::measure(args.rounds, &data_dir, &tokens, |done| progress.done(done)).await?)
    }));
    drop(progress);
    answer(&report?, output)
}

/// Prints the figures. The command fails where one of them misses its bar.
fn answer(report: &BarsReport, output: Output) -> Result<CommandExit, CommandFailure> {
    output.answer(report, render::eval_bars)?;
    Ok(if report.is_met() { CommandExit::Ok } else { CommandExit::Failed })
}
