//! The command `eval speed`: one process reports, and starts another for each part of the measurement.

mod episodes;

use std::sync::Arc;
use std::time::{Duration, Instant};

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::Embedder;
use serde::Serialize;
use tokio::runtime::Builder;

use crate::bootstrap::{Bank, ChosenModel};
use crate::cli::args::SpeedArgs;
use crate::cli::failure::{CommandExit, CommandFailure};
use crate::cli::output::Output;
use crate::cli::{render, session, signals};
use crate::embed::Workload;
use crate::eval::report::LatencyPercentiles;
use crate::eval::speed::report::{BankSpeed, Filled, FromTables, QueryTimes, Ratios, Served, SpeedReport, Texts};
use crate::eval::speed::serve::{COMPARED, FEWER, NEAREST, QUERIES, QueryRunner, WARMING};
use crate::eval::speed::synthetic::{DIMS, Synthetic, SyntheticQuery};
use crate::eval::speed::{Order, PrecomputedVectors, SpeedPart, exact, fill, ms, process, texts};
use crate::eval::{RESIDENT_TIMEOUT, TimedEmbedder};
use crate::process_memory;
use crate::settings::Loaded;

const GRACE: Duration = Duration::from_secs(5);
/// The embedding model loads in well under a second.
const MODEL_TIMEOUT: Duration = Duration::from_secs(60);

pub(super) fn command(args: &SpeedArgs, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    if args.part {
        return part(process::order()?, loaded, output);
    }
    check_dims(session::embedder(loaded, Workload::Serving)?.fingerprint().dims)?;
    let runtime = session::one_thread()?;
    if !args.episodes.is_empty() {
        let report = runtime.block_on(unless_asked_to_end(episodes::report(args, loaded)))?;
        return output.answer(&report, render::eval_episode_speed);
    }
    let report = runtime.block_on(unless_asked_to_end(report(args, output)));
    // Vectors may still be compared, which nobody waits for.
    runtime.shutdown_background();
    output.answer(&report?, render::eval_speed)
}

/// Checks the dimensions of the model, because queries that are embedded are asked of the same banks.
fn check_dims(dims: usize) -> Result<(), CommandFailure> {
    if dims == DIMS {
        return Ok(());
    }
    let message = format!("embedding.model_dir: `eval speed` needs a model of {DIMS} dimensions; this one has {dims}");
    Err(CommandFailure::usage(message).hint("leave embedding.model_dir empty for the built-in model, or name another"))
}

/// Returns the result of the work. When the process is asked to end, the work is dropped, with the directories that it
/// made.
pub(super) async fn unless_asked_to_end<T>(
    work: impl Future<Output = Result<T, CommandFailure>>,
) -> Result<T, CommandFailure> {
    let asked_to_end = signals::asked_to_end().map_err(CommandFailure::signals)?;
    tokio::select! {
        done = work => done,
        signal = asked_to_end => Err(CommandFailure::ended_by(signal)),
    }
}

async fn report(args: &SpeedArgs, output: Output) -> Result<SpeedReport, CommandFailure> {
    let mut sizes = args.rows.clone();
    sizes.sort_unstable();
    sizes.dedup();
    let texts = texts(args.seed).await?;
    let mut banks = Vec::new();
    for rows in sizes {
        banks.push(measure(rows, args.seed, output).await?);
    }
    Ok(SpeedReport::new(args.seed, texts, banks))
}

async fn texts(seed: u64) -> Result<Texts, CommandFailure> {
    let place = tempfile::tempdir().map_err(CommandFailure::temporary)?;
    let order = Order {
        part: SpeedPart::Texts,
        seed,
        dir: place.path().to_owned(),
        started: process::now(),
        ..Order::default()
    };
    Ok(process::run(&order).await?)
}

/// Measures one bank, part by part, with nothing else beside it.
async fn measure(rows: u32, seed: u64, output: Output) -> Result<BankSpeed, CommandFailure> {
    let place = tempfile::tempdir().map_err(CommandFailure::temporary)?;
    let order =
        |part| Order { part, rows, seed, dir: place.path().to_owned(), started: process::now(), ..Order::default() };
    let filled: Filled = process::run(&order(SpeedPart::Fill)).await?;
    let disk_bytes = process::disk_bytes(place.path()).map_err(CommandFailure::temporary)?;
    let comparing = tokio::task::spawn_blocking(move || compared(rows, seed, output));
    let exact = comparing.await.map_err(Error::internal)?;
    // Before new memories are stored, so that both ask the same bank.
    let mut from_tables: FromTables = process::run(&order(SpeedPart::Tables)).await?;
    let mut served: Served = process::run(&order(SpeedPart::Serve)).await?;
    let exact_scan_ms = ms(exact.a_query);
    Ok(BankSpeed {
        rows,
        filled,
        disk_bytes,
        recall_at_10: exact::recall(&exact.numbers, &std::mem::take(&mut served.nearest)),
        recall_at_10_from_tables: exact::recall(&exact.numbers, &std::mem::take(&mut from_tables.nearest)),
        exact_scan_ms,
        ratios: Ratios::of(&served, &from_tables, exact_scan_ms),
        served,
        from_tables,
    })
}

fn compared(rows: u32, seed: u64, output: Output) -> exact::Nearest {
    let bank = Synthetic::new(rows, seed);
    let queries: Vec<Vec<f32>> = (0..COMPARED as u32).map(|number| bank.query(number).vector).collect();
    let progress = output.progress("memories compared");
    progress.most(u64::from(rows));
    exact::nearest(&bank, &queries, NEAREST, |done| progress.done(done))
}

/// Does a part, in the process that was started for it.
fn part(order: Order, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    let mut loaded = loaded.clone();
    loaded.settings.data_dir.clone_from(&order.dir);
    let bank = Synthetic::new(order.rows, order.seed);
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(CommandFailure::runtime)?;
    let done = match order.part {
        SpeedPart::Fill => answer(&runtime.block_on(filled(bank, &loaded, output))?),
        SpeedPart::Serve => answer(&runtime.block_on(served(&order, &bank, &loaded, output))?),
        SpeedPart::Texts => answer(&runtime.block_on(texts_stored(order.seed, &loaded))?),
        SpeedPart::Tables => answer(&runtime.block_on(from_tables(&bank, &mut loaded, output))?),
        SpeedPart::WithoutEpisodes => answer(&runtime.block_on(episodes::without(&order, &loaded))?),
        SpeedPart::FillEpisodes => answer(&runtime.block_on(episodes::filled(&order, &loaded, output))?),
        SpeedPart::ServeEpisodes => answer(&runtime.block_on(episodes::served(&order, &loaded))?),
        SpeedPart::EpisodeTables => answer(&runtime.block_on(episodes::from_tables(&order, &mut loaded))?),
        SpeedPart::Consolidate => answer(&runtime.block_on(episodes::consolidated(&order, &loaded))?),
        SpeedPart::Working => answer(&runtime.block_on(episodes::working_memory(&order, &loaded))?),
    };
    runtime.shutdown_background();
    done
}

fn answer<T: Serialize>(measured: &T) -> Result<CommandExit, CommandFailure> {
    Output { json: true, quiet: true }.answer(measured, |_| String::new())
}

async fn start(loaded: &Loaded, embedder: Arc<dyn Embedder>) -> Result<Bank, CommandFailure> {
    Ok(Bank::start(&loaded.settings, None, ChosenModel::none().model, embedder, false).await?)
}

async fn filled(bank: Synthetic, loaded: &Loaded, output: Output) -> Result<Filled, CommandFailure> {
    let system = start(loaded, Arc::new(PrecomputedVectors::of(&[]))).await?;
    let progress = output.progress("memories stored");
    progress.most(u64::from(bank.rows()));
    let filled = fill::fill(bank, &system.handle(), |done| progress.done(done)).await;
    system.stop(GRACE).await;
    Ok(filled?)
}

async fn texts_stored(seed: u64, loaded: &Loaded) -> Result<Texts, CommandFailure> {
    let embedder = Arc::new(session::embedder(loaded, Workload::Bulk)?);
    let system = start(loaded, Arc::clone(&embedder) as Arc<dyn Embedder>).await?;
    let measured = texts::measure(seed, embedder.as_ref(), &system.handle()).await;
    system.stop(GRACE).await;
    Ok(measured?)
}

async fn served(order: &Order, bank: &Synthetic, loaded: &Loaded, output: Output) -> Result<Served, CommandFailure> {
    let all = queries(bank);
    let (queries, warming) = all.split_at(QUERIES as usize);
    let embedder = Arc::new(TimedEmbedder::new(PrecomputedVectors::of(&all)));
    let begun = Instant::now();
    let system = start(loaded, Arc::clone(&embedder) as Arc<dyn Embedder>).await?;
    let (handle, progress) = (system.handle(), output.progress("queries"));
    progress.most(u64::from(QUERIES));
    let runner = QueryRunner { system: &handle, queries, warming };
    runner.opened().await?;
    let open_ms = ms(begun.elapsed());
    runner.ask(&queries[0].text).await?;
    let first_answer_ms = process::now() - order.started;
    let resident = runner.until_resident(RESIDENT_TIMEOUT, async || system.resident().await.answered > 0).await?;
    runner.warm().await?;
    let whole = runner.at_rest(|done| progress.done(done)).await?;
    let parts_ms = runner.parts(&whole).await?;
    let nearest = runner.nearest().await?;
    embedder.inner().or_else(Arc::new(session::embedder(loaded, Workload::Serving)?));
    system.embedder_ready(MODEL_TIMEOUT).await;
    let (with_embedding, embedding) = runner.with_embedding(&embedder).await?;
    let memory = process_memory::read();
    let resident_bytes = system.resident().await.bytes as u64;
    let upkeep = runner.during_upkeep(bank).await?;
    system.stop(GRACE).await;
    Ok(Served {
        open_ms,
        first_answer_ms,
        resident_after_ms: resident.map(ms),
        resident_bytes,
        rss_bytes: memory.now,
        rss_peak_bytes: process_memory::read().peak,
        query_ms: QueryTimes { without_embedding: LatencyPercentiles::of(&whole), with_embedding, embedding },
        parts_ms,
        upkeep,
        nearest,
    })
}

async fn from_tables(bank: &Synthetic, loaded: &mut Loaded, output: Output) -> Result<FromTables, CommandFailure> {
    loaded.settings.retrieval.resident_mb = 0;
    let all = queries(bank);
    let (queries, warming) = all.split_at(QUERIES as usize);
    let system = start(loaded, Arc::new(PrecomputedVectors::of(&all))).await?;
    let (handle, progress) = (system.handle(), output.progress("queries of the tables"));
    progress.most(FEWER as u64);
    let runner = QueryRunner { system: &handle, queries: &queries[..FEWER], warming };
    runner.warm().await?;
    let whole = runner.at_rest(|done| progress.done(done)).await?;
    let parts_ms = runner.parts(&whole).await?;
    let nearest = runner.nearest().await?;
    let rss_bytes = process_memory::read().now;
    system.stop(GRACE).await;
    Ok(FromTables { query_ms: LatencyPercentiles::of(&whole), parts_ms, rss_bytes, nearest })
}

fn queries(bank: &Synthetic) -> Vec<SyntheticQuery> {
    (0..QUERIES + WARMING).map(|number| bank.query(number)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_of_other_dimensions_than_the_banks_is_refused() {
        assert!(check_dims(DIMS).is_ok());
        let refused = check_dims(768).unwrap_err();
        assert_eq!(refused.exit, CommandExit::Usage);
        assert!(refused.message.contains("embedding.model_dir") && refused.message.contains("384"), "{refused:?}");
    }
}
