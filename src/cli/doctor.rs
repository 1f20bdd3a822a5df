//! The command `doctor` checks that everything the bank needs is there. Each check has a time of its own and says what
//! to do. None changes anything, but for what opening a bank repairs.

use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::{Embedder, JobFilter, MemoryStore, Page, StoreError, StoreReads, Summary};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::learning::job::{Job, JobState, Work};
use serde::Serialize;

use super::failure::CommandFailure;
use super::session;
use crate::embed::{self, EmbeddingModelError, LocalEmbedder};
use crate::remedies;
use crate::settings::{Loaded, SettingSources, SettingsError};
use reasoning_bank_store::data_dir::FORMAT_VERSION;
use reasoning_bank_store::{LanceStore, Options};

mod client_programs;
mod disk;
mod hook_failures;
mod key;
mod tokens;

const OPEN_LIMIT: Duration = Duration::from_secs(5);
const STORE_LIMIT: Duration = Duration::from_secs(20);
const EMBEDDER_LIMIT: Duration = Duration::from_secs(20);
/// The largest number of background jobs that are named.
const MAX_GIVEN_UP: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Grade {
    Ok,
    Warn,
    Fail,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) status: Grade,
    /// A description of what was found.
    pub(super) detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
}

impl Check {
    fn new(name: &'static str, status: Grade, detail: impl Into<String>) -> Self {
        Self { name, status, detail: detail.into(), hint: None }
    }

    fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Diagnosis {
    /// The grade of the worst check.
    pub(super) status: Grade,
    pub(super) checks: Vec<Check>,
}

/// Runs all checks that the settings allow.
pub(super) fn diagnose(
    loaded: &Result<Loaded, SettingsError>,
    sources: &SettingSources,
) -> Result<Diagnosis, CommandFailure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(CommandFailure::runtime)?;
    let mut checks = runtime.block_on(async {
        let unknown = |name, first| Check::new(name, Grade::Warn, format!("not checked: {first} comes first"));
        match loaded {
            Ok(loaded) => {
                let dir = &loaded.settings.data_dir;
                let (store, embeds, key) = match session::embedder(loaded, embed::Workload::Serving) {
                    Ok(embedder) => tokio::join!(store(dir, &embedder), embeds(&embedder), key::check(loaded, sources)),
                    Err(error) => {
                        let unknown = |name| unknown(name, "the embedding model");
                        ((unknown("store"), unknown("jobs")), no_model(&error), key::check(loaded, sources).await)
                    }
                };
                let (store, jobs) = store;
                vec![configuration(loaded), key, store, embeds, disk::check(dir), jobs]
            }
            Err(error) => {
                let unknown = |name| unknown(name, "the configuration");
                let [key, store, jobs, disk] = ["key", "store", "jobs", "disk"].map(unknown);
                vec![misconfigured(error), key, store, embeds(&LocalEmbedder::builtin()).await, disk, jobs]
            }
        }
    });
    runtime.shutdown_background();
    let of_clients = |loaded| [client_programs::servers(loaded, sources), client_programs::hooks(loaded, sources)];
    checks.extend(loaded.as_ref().ok().map(of_clients).into_iter().flatten().flatten());
    let data_dir = loaded.as_ref().ok().map(|loaded| &loaded.settings.data_dir);
    checks.extend(data_dir.and_then(|dir| hook_failures::check(dir, Timestamp::now())));
    checks.extend(data_dir.and_then(|dir| tokens::check(dir, Timestamp::now())));
    let status = checks.iter().map(|check| check.status).max().unwrap_or(Grade::Ok);
    Ok(Diagnosis { status, checks })
}

fn configuration(loaded: &Loaded) -> Check {
    match loaded.all_warnings().as_slice() {
        [] => {
            let is_own = |key: &str| key != "data_dir" && !loaded.is_default(key);
            let own = loaded.effective().iter().filter(|entry| is_own(&entry.key)).count();
            let erased = loaded.settings.traces.erases().map(|erases| format!("; {erases}")).unwrap_or_default();
            Check::new("configuration", Grade::Ok, format!("read, values that are not built in: {own}{erased}"))
        }
        warnings => Check::new("configuration", Grade::Warn, warnings.join("; "))
            .hint("`config show` prints what is in force and from where"),
    }
}

fn misconfigured(error: &SettingsError) -> Check {
    let problems: Vec<String> = error.problems.iter().map(ToString::to_string).collect();
    Check::new("configuration", Grade::Fail, problems.join("; ")).hint("correct or remove what is named")
}

/// Checks that the bank opens, can be written to, and holds what this version and its embedder can read, and whether
/// background jobs were given up.
async fn store(dir: &Path, embedder: &LocalEmbedder) -> (Check, Check) {
    let unknown = |store| (store, Check::new("jobs", Grade::Warn, "not checked: the store comes first"));
    let shown = dir.display();
    if !dir.join(FORMAT_VERSION).exists() {
        return match disk::may_write(dir) {
            true => (Check::new("store", Grade::Ok, format!("nothing is kept in {shown} yet")), given_up(&[])),
            false => unknown(failed_store(&StoreError::Unusable(format!("{shown} cannot be written to")))),
        };
    }
    let opened = async {
        let options = Options { open_timeout: OPEN_LIMIT, open_turns_timeout: OPEN_LIMIT, ..Options::default() };
        let store = LanceStore::open(dir, embedder.fingerprint(), options).await?;
        let limit = Deadline::after(STORE_LIMIT);
        let failed = JobFilter { state: Some(JobState::Failed), ..JobFilter::default() };
        let workspaces = store.workspaces(limit).await;
        let failed = store.jobs(failed, Page::first(MAX_GIVEN_UP), limit).await;
        let summary = store.summary(limit).await;
        if store.limitation().is_none()
            && let Err(error) = store.try_writing(Deadline::after(OPEN_LIMIT)).await
            && !matches!(error, StoreError::ReadOnly(_))
        {
            return Err(error);
        }
        store.close(Deadline::after(OPEN_LIMIT)).await?;
        Ok::<_, StoreError>((workspaces?, failed?, summary?, store.limitation()))
    };
    match tokio::time::timeout(STORE_LIMIT, opened).await {
        Ok(Ok((_, failed, _, Some(limitation)))) => {
            let found = format!("{shown}: {}", limitation.note());
            let store = Check::new("store", Grade::Warn, found).hint(remedies::of_cause(limitation.cause));
            (store, given_up(&failed))
        }
        Ok(Ok((workspaces, failed, summary, None))) => {
            let count = workspaces.len();
            let found = format!("{shown} opens and can be written to, workspaces: {count}, {}", holdings(&summary));
            let store = set_aside(dir).unwrap_or_else(|| Check::new("store", Grade::Ok, found));
            (store, given_up(&failed))
        }
        Ok(Err(StoreError::TimedOut)) | Err(_) => unknown(
            Check::new(
                "store",
                Grade::Fail,
                format!("{shown} was not opened: another process holds it or the disk is slow"),
            )
            .hint("see which process writes there, for example with `fuser`, and try again"),
        ),
        Ok(Err(error)) => unknown(failed_store(&error)),
    }
}

fn given_up(failed: &[Job]) -> Check {
    if failed.is_empty() {
        return Check::new("jobs", Grade::Ok, "no background job was given up");
    }
    let each = failed.iter().map(|job| {
        let what = match &job.work {
            Some(Work::Distill { session_id, .. }) => format!("session {session_id}"),
            Some(Work::Capture { .. }) => "exchange".to_owned(),
            None => "job".to_owned(),
        };
        format!("{} ({what}): {}", job.id, job.error.as_deref().unwrap_or("no reason was kept"))
    });
    let more = if failed.len() == MAX_GIVEN_UP { " or more" } else { "" };
    let detail = format!("{}{more} given up: {}", failed.len(), each.collect::<Vec<_>>().join("; "));
    Check::new("jobs", Grade::Warn, detail).hint("see to the reason, then hand the same in again: it begins anew")
}

/// Says how many episodes and patterns there are, and when consolidation last ran.
fn holdings(summary: &Summary) -> String {
    let episodes: u64 = summary.traces.values().sum();
    let patterns: u64 = summary.patterns.values().sum();
    let vectors = summary.episodes_with_vectors;
    let last = summary.last_consolidation.map(|at| format!(", last consolidation: {at}")).unwrap_or_default();
    format!("episodes: {episodes}, with vectors: {vectors}, patterns: {patterns}{last}")
}

fn failed_store(error: &StoreError) -> Check {
    let error = Error::from(error.clone());
    Check::new("store", Grade::Fail, error.to_string()).hint(remedies::of(&error))
}

/// Names the directory that keeps what recovery could not read.
fn set_aside(dir: &Path) -> Option<Check> {
    let aside = dir.join("set-aside");
    let count = std::fs::read_dir(&aside).ok()?.count();
    (count > 0).then(|| {
        let detail = format!("it opens, but {count} damaged parts were moved to {}", aside.display());
        Check::new("store", Grade::Warn, detail).hint("compare with a backup or an export, then remove that directory")
    })
}

fn no_model(error: &EmbeddingModelError) -> Check {
    Check::new("embedder", Grade::Fail, error.to_string()).hint(error.hint())
}

async fn embeds(embedder: &LocalEmbedder) -> Check {
    let begun = Instant::now();
    let text = vec!["a sentence to be embedded".to_owned()];
    let embedded = embedder.embed_documents(text, Deadline::after(EMBEDDER_LIMIT)).await;
    let fingerprint = embedder.fingerprint();
    let vector = match &embedded {
        Ok(chunks) => chunks.first().and_then(|chunks| chunks.first()).and_then(|chunk| chunk.vector.as_ref()),
        Err(error) => {
            return Check::new("embedder", Grade::Fail, error.to_string())
                .hint("memories are found by their words alone; free memory, or reinstall reasoning-bank");
        }
    };
    if vector.is_none_or(|vector| vector.len() != fingerprint.dims) {
        return Check::new("embedder", Grade::Fail, "it answered without a vector").hint("reinstall reasoning-bank");
    }
    let took = begun.elapsed().as_millis();
    let found =
        format!("{}, {} dimensions, on {}, in {took} ms", fingerprint.name, fingerprint.dims, embedder.runtime());
    match embedder.runtime_problem() {
        None => Check::new("embedder", Grade::Ok, found),
        Some(problem) => Check::new("embedder", Grade::Warn, format!("{found}; {problem}"))
            .hint("name the libonnxruntime of ONNX Runtime 1.24 or later, or unset the variable"),
    }
}

#[cfg(test)]
mod tests;
