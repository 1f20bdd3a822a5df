//! One run of consolidation, and searches beside it.

use std::time::{Duration, Instant};

use reasoning_bank_actors::consolidation::RunRequest;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::consolidation::{RunTrigger, StageName};
use tokio_util::task::AbortOnDropHandle;

use super::report::ConsolidationSpeed;
use super::serve::{EpisodeRunner, QUESTIONS, WARM_UP};
use crate::eval::EvalError;
use crate::eval::speed::synthetic::Synthetic;
use crate::process_memory;

const RUN_TIMEOUT: Duration = Duration::from_secs(3_600);
/// No more searches than these are made beside the run.
const MOST_BESIDE: u32 = 1_000_000;

/// Runs and measures. The run is one that a process begins by itself.
pub(crate) async fn measure(runner: &EpisodeRunner<'_>) -> Result<ConsolidationSpeed, EvalError> {
    runner.in_turn(WARM_UP, || false).await?;
    let (at_rest, _) = runner.in_turn(QUESTIONS / 3, || false).await?;
    let consolidation = runner.system.consolidation.clone();
    let begun = Instant::now();
    let running = AbortOnDropHandle::new(tokio::spawn(async move {
        let request = RunRequest { workspace: Synthetic::workspace(), trigger: RunTrigger::Schedule, apply: true };
        let run = consolidation.run(request, Deadline::after(RUN_TIMEOUT)).await;
        (run, begun.elapsed())
    }));
    let (beside, searches) = runner.in_turn(MOST_BESIDE, || running.is_finished()).await?;
    let (run, took) = running.await.map_err(Error::internal)?;
    let run = run?;
    let mined = run.stages.iter().find(|stage| stage.stage == StageName::Mining);
    Ok(ConsolidationSpeed {
        looked_at: mined.map_or(0, |stage| stage.looked_at),
        changes: run.changes().count(),
        seconds: took.as_secs_f64(),
        rss_peak_bytes: process_memory::read().peak,
        at_rest,
        beside,
        searches,
    })
}
