//! The command `eval speed --episodes`: each part of its measurement is a process of its own, too.

use std::sync::Arc;

use super::{GRACE, MODEL_TIMEOUT, queries, start};
use crate::cli::args::SpeedArgs;
use crate::cli::failure::CommandFailure;
use crate::cli::output::Output;
use crate::cli::session;
use crate::embed::Workload;
use crate::eval::report::BUILD;
use crate::eval::speed::episodes::report::{
    ConsolidationSpeed, EpisodeBankSpeed, EpisodeSpeedReport, EpisodesFromTables, FilledEpisodes, ServedEpisodes,
    WithoutEpisodes, WorkingSpeed,
};
use crate::eval::speed::episodes::serve::{EpisodeRunner, QUESTIONS, WARM_UP};
use crate::eval::speed::episodes::{consolidate, fill, working};
use crate::eval::speed::report::Filled;
use crate::eval::speed::serve::QueryRunner;
use crate::eval::speed::synthetic::{Synthetic, SyntheticQuery};
use crate::eval::speed::{Order, PrecomputedAtRealCost, PrecomputedVectors, SpeedPart, process};
use crate::eval::{EvalError, RESIDENT_TIMEOUT};
use crate::settings::Loaded;

/// A bank has as many memories as episodes, and no more than these.
const MEMORIES_MOST: u32 = 100_000;

pub(super) async fn report(args: &SpeedArgs, loaded: &Loaded) -> Result<EpisodeSpeedReport, CommandFailure> {
    let mut sizes = args.episodes.clone();
    sizes.sort_unstable();
    sizes.dedup();
    let place = tempfile::tempdir().map_err(CommandFailure::temporary)?;
    let order = Order { part: SpeedPart::Working, rows: 1_000, ..order(args, place.path(), 0) };
    let working: WorkingSpeed = process::run(&order).await?;
    let mut banks = Vec::new();
    for episodes in sizes {
        banks.push(measure(args, episodes).await?);
    }
    Ok(EpisodeSpeedReport {
        seed: args.seed,
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        build: BUILD,
        resident_mb: loaded.settings.retrieval.resident_mb,
        working,
        banks,
    })
}

fn order(args: &SpeedArgs, place: &std::path::Path, episodes: u32) -> Order {
    Order {
        part: SpeedPart::Fill,
        rows: episodes.min(MEMORIES_MOST),
        episodes,
        patterns: args.patterns,
        seed: args.seed,
        dir: place.to_owned(),
        started: process::now(),
    }
}

/// Measures one bank, part by part, with nothing else beside it.
async fn measure(args: &SpeedArgs, episodes: u32) -> Result<EpisodeBankSpeed, CommandFailure> {
    let place = tempfile::tempdir().map_err(CommandFailure::temporary)?;
    let order = |part| Order { part, ..order(args, place.path(), episodes) };
    let _: Filled = process::run(&order(SpeedPart::Fill)).await?;
    let without: WithoutEpisodes = process::run(&order(SpeedPart::WithoutEpisodes)).await?;
    let filled: FilledEpisodes = process::run(&order(SpeedPart::FillEpisodes)).await?;
    let from_tables: EpisodesFromTables = process::run(&order(SpeedPart::EpisodeTables)).await?;
    // New episodes are recorded at its end.
    let served: ServedEpisodes = process::run(&order(SpeedPart::ServeEpisodes)).await?;
    let consolidated: ConsolidationSpeed = process::run(&order(SpeedPart::Consolidate)).await?;
    let Order { rows: memories, patterns, .. } = order(SpeedPart::Fill);
    Ok(EpisodeBankSpeed { episodes, memories, patterns, without, filled, served, from_tables, consolidated })
}

/// The questions of a part. All that are asked have a vector.
struct Questions {
    of_episodes: Vec<SyntheticQuery>,
    of_tasks: Vec<SyntheticQuery>,
    of_memories: Vec<SyntheticQuery>,
}

impl Questions {
    fn of(bank: &Synthetic, memories: &Synthetic) -> Self {
        let most = QUESTIONS + WARM_UP;
        Self {
            of_episodes: (0..most).map(|number| bank.episode_query(number)).collect(),
            of_tasks: (most..2 * most).map(|number| bank.episode_query(number)).collect(),
            of_memories: queries(memories),
        }
    }

    fn given(&self) -> PrecomputedVectors {
        PrecomputedVectors::of([&self.of_episodes, &self.of_tasks, &self.of_memories].into_iter().flatten())
    }
}

pub(super) async fn filled(order: &Order, loaded: &Loaded, output: Output) -> Result<FilledEpisodes, CommandFailure> {
    let system = start(loaded, Arc::new(PrecomputedVectors::of(&[]))).await?;
    let progress = output.progress("episodes stored");
    progress.most(u64::from(order.episodes));
    let bank = Synthetic::new(order.episodes, order.seed);
    let filled = fill::fill(bank, &system.handle(), &order.dir, |done| progress.done(done)).await;
    system.stop(GRACE).await;
    Ok(filled?)
}

pub(super) async fn without(order: &Order, loaded: &Loaded) -> Result<WithoutEpisodes, CommandFailure> {
    let memories = Synthetic::new(order.rows, order.seed);
    let patterns = async |runner: &EpisodeRunner<'_>| {
        fill::patterns(&memories, order.patterns, runner.system).await?;
        Ok(WithoutEpisodes { memory_query_ms: runner.memory_queries().await? })
    };
    with_given(order, loaded, patterns).await
}

pub(super) async fn from_tables(order: &Order, loaded: &mut Loaded) -> Result<EpisodesFromTables, CommandFailure> {
    loaded.settings.retrieval.resident_mb = 0;
    with_given(order, loaded, async |runner| runner.served_from_tables().await).await
}

pub(super) async fn consolidated(order: &Order, loaded: &Loaded) -> Result<ConsolidationSpeed, CommandFailure> {
    with_given(order, loaded, async |runner| consolidate::measure(runner).await).await
}

/// Measures with the vectors of all questions at hand.
async fn with_given<T>(
    order: &Order,
    loaded: &Loaded,
    measure: impl AsyncFn(&EpisodeRunner<'_>) -> Result<T, EvalError>,
) -> Result<T, CommandFailure> {
    let (bank, memories) = (Synthetic::new(order.episodes, order.seed), Synthetic::new(order.rows, order.seed));
    let questions = Questions::of(&bank, &memories);
    let system = start(loaded, Arc::new(questions.given())).await?;
    let handle = system.handle();
    let runner = questions.runner(&handle, &bank);
    if loaded.settings.retrieval.resident_mb > 0 {
        until_resident(&runner, async || system.resident().await.answered > 0).await?;
    }
    let measured = measure(&runner).await;
    system.stop(GRACE).await;
    Ok(measured?)
}

impl Questions {
    fn runner<'a>(
        &'a self,
        system: &'a reasoning_bank_actors::system::SystemHandle,
        bank: &'a Synthetic,
    ) -> EpisodeRunner<'a> {
        EpisodeRunner { system, bank, questions: &self.of_episodes, tasks: &self.of_tasks, queries: &self.of_memories }
    }
}

async fn until_resident(runner: &EpisodeRunner<'_>, is_resident: impl AsyncFn() -> bool) -> Result<(), EvalError> {
    let of_memories = QueryRunner { system: runner.system, queries: runner.queries, warming: runner.queries };
    of_memories.opened().await?;
    of_memories.until_resident(RESIDENT_TIMEOUT, is_resident).await.map(drop)
}

pub(super) async fn served(order: &Order, loaded: &Loaded) -> Result<ServedEpisodes, CommandFailure> {
    let (bank, memories) = (Synthetic::new(order.episodes, order.seed), Synthetic::new(order.rows, order.seed));
    let questions = Questions::of(&bank, &memories);
    let model = session::embedder(loaded, Workload::Serving)?;
    let embedder = Arc::new(PrecomputedAtRealCost::new(questions.given(), model, &questions.of_tasks));
    let system = start(loaded, Arc::clone(&embedder) as _).await?;
    let handle = system.handle();
    let runner = questions.runner(&handle, &bank);
    system.embedder_ready(MODEL_TIMEOUT).await;
    until_resident(&runner, async || system.resident().await.answered > 0).await?;
    let served = runner.served(embedder.model(), async || system.resident().await.bytes as u64).await;
    system.stop(GRACE).await;
    Ok(served?)
}

pub(super) async fn working_memory(order: &Order, loaded: &Loaded) -> Result<WorkingSpeed, CommandFailure> {
    let system = start(loaded, Arc::new(PrecomputedVectors::of(&[]))).await?;
    let measured = working::measure(&Synthetic::new(order.rows, order.seed), &system.handle()).await;
    system.stop(GRACE).await;
    Ok(measured?)
}
