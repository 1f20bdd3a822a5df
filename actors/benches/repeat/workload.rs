//! The repeat workload: 10 tasks, each solved 10 times with three attempts, over the whole system of actors, an
//! in-memory store, and a model that is made up, with a price. What it assumes is in its constants and in
//! `same_drafts`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use reasoning_bank_actors::agents::SolveOptions;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::{Completion, CompletionReply, FailedCall, LanguageModel, Usage};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::{System, SystemHandle, SystemParts, SystemSettings};
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_actors::testkit::parts;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::memory::trace::MattsMode;
use reasoning_bank_domain::prompt::Purpose;
use reasoning_bank_domain::solve::answer::FinishReason;
use reasoning_bank_domain::solve::task::SolveTask;
use reasoning_bank_domain::system::statistics::Statistics;
use tokio_util::sync::CancellationToken;

pub(crate) const TASKS: usize = 10;
pub(crate) const PASSES: usize = 10;
pub(crate) const ATTEMPTS: u32 = 3;

/// The price in dollars of a million tokens; reasoning is priced as output.
pub(crate) const INPUT_PRICE: f64 = 1.25;
pub(crate) const OUTPUT_PRICE: f64 = 10.0;

const DRAFT_CHARS: usize = 2_400;
const CHARS_PER_TOKEN: usize = 4;
const LIMIT: Duration = Duration::from_secs(60);

/// Returns the tokens of reasoning that a call of this purpose takes before it answers.
fn reasoning_tokens(purpose: Purpose) -> u64 {
    match purpose {
        Purpose::Think | Purpose::Refine => 1_200,
        Purpose::Evaluate => 400,
        Purpose::Judge
        | Purpose::Extract
        | Purpose::Contrast
        | Purpose::Capture
        | Purpose::Distill
        | Purpose::Bank
        | Purpose::Patterns => 600,
    }
}

/// The costs of one run: in the first pass over the tasks, and in the nine after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spent {
    pub(crate) warm_up: Phase,
    pub(crate) repeats: Phase,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Phase {
    pub(crate) llm_calls: u64,
    /// The share of cacheable calls that hit the cache, in 0..1.
    pub(crate) hit_rate: f64,
    pub(crate) cost_usd: f64,
}

impl Phase {
    fn of(statistics: &Statistics) -> Self {
        let total = &statistics.llm.total;
        Self {
            llm_calls: total.calls,
            hit_rate: statistics.cache.hit_rate,
            cost_usd: total.cost_usd.unwrap_or_default(),
        }
    }
}

/// Runs it. `same_drafts`, in 0..=1, is the share of drafts of a repeated task that come out as they did the first
/// time.
pub(crate) async fn run(same_drafts: f64, with_cache: bool) -> Result<Spent, Error> {
    let mut settings = SystemSettings::default();
    if !with_cache {
        settings.cache.max_entries = 0;
    }
    let parts = parts(Arc::new(MemStore::new()), Priced { same_drafts, drafts: AtomicU64::new(0) });
    let system = System::start(SystemParts { settings, ..parts }).await?;
    let handle = system.handle();
    pass(&handle).await?;
    let warm_up = Phase::of(&handle.statistics(Deadline::after(LIMIT)).await?);
    handle.reset_statistics();
    for _ in 1..PASSES {
        pass(&handle).await?;
    }
    let repeats = Phase::of(&handle.statistics(Deadline::after(LIMIT)).await?);
    system.stop(LIMIT).await;
    Ok(Spent { warm_up, repeats })
}

async fn pass(system: &SystemHandle) -> Result<(), Error> {
    for number in 0..TASKS {
        let task = SolveTask {
            task: format!("task {number}: {}", filler(number as u64, 400)),
            use_memory: true,
            k: ATTEMPTS,
            mode: MattsMode::Parallel,
            store_result: true,
            domain: None,
        };
        let call = SolveOptions::until(Deadline::after(LIMIT));
        system.agents.solve(task, WorkspaceRef::Root("/repeat".into()), call).await?;
    }
    Ok(())
}

/// A model whose answers follow from what it is asked, but for drafts: of those some differ each time.
struct Priced {
    same_drafts: f64,
    drafts: AtomicU64,
}

impl Priced {
    fn answer(&self, request: &Completion) -> String {
        match request.purpose {
            Purpose::Think | Purpose::Refine => self.draft(request),
            Purpose::Evaluate => {
                let score = 0.8 + 0.2 * share(&request.input);
                serde_json::json!({ "score": score, "feedback": filler(1, 300) }).to_string()
            }
            Purpose::Judge => serde_json::json!({
                "verdict": "success", "score": 0.9, "reasoning": filler(2, 400), "learnings": [lesson(&request.input)],
            })
            .to_string(),
            Purpose::Extract | Purpose::Capture | Purpose::Distill => {
                serde_json::json!({ "learnings": [lesson(&request.input)] }).to_string()
            }
            Purpose::Bank => serde_json::json!({ "operations": [] }).to_string(),
            Purpose::Patterns => serde_json::json!({ "patterns": [] }).to_string(),
            Purpose::Contrast => serde_json::json!({
                "best_index": 1, "analysis": filler(3, 400), "learnings": [lesson(&request.input)],
            })
            .to_string(),
        }
    }

    fn draft(&self, request: &Completion) -> String {
        let task = request.input.split("## ").find(|section| section.starts_with("Task")).unwrap_or_default();
        let number = self.drafts.fetch_add(1, Ordering::Relaxed);
        let variant = if share(&number) < self.same_drafts { 0 } else { number + 1 };
        filler(hash(&(task, request.attempt, variant)), DRAFT_CHARS)
    }
}

impl LanguageModel for Priced {
    fn name(&self) -> &str {
        "priced"
    }

    fn complete(
        &self,
        request: Completion,
        _: Deadline,
        _: CancellationToken,
    ) -> BoxFuture<'_, Result<CompletionReply, FailedCall>> {
        let text = self.answer(&request);
        let reasoning_tokens = reasoning_tokens(request.purpose);
        let input_tokens = tokens(&request.instructions) + tokens(&request.input);
        let output_tokens = tokens(&text) + reasoning_tokens;
        let cost = (input_tokens as f64 * INPUT_PRICE + output_tokens as f64 * OUTPUT_PRICE) / 1e6;
        let usage = Usage { input_tokens, output_tokens, reasoning_tokens, cost_usd: Some(cost) };
        ready(Ok(CompletionReply { text, usage, cached: false, ended: FinishReason::Whole })).boxed()
    }
}

fn lesson(about: &str) -> serde_json::Value {
    let number = hash(&about);
    serde_json::json!({
        "title": format!("Lesson {}", filler(number, 40)), "description": filler(number + 1, 100),
        "content": filler(number + 2, 300), "pattern_tags": [], "domain_category": null, "difficulty_level": null,
        "error_context": null,
    })
}

/// Returns words that follow from the seed.
fn filler(seed: u64, chars: usize) -> String {
    const WORDS: [&str; 16] = [
        "bound", "cache", "check", "close", "count", "empty", "entry", "field", "guard", "index", "limit", "merge",
        "parse", "queue", "retry", "split",
    ];
    let mut text = String::with_capacity(chars + 8);
    let mut number = 0_u64;
    while text.len() < chars {
        let word = hash(&(seed, number)) as usize % WORDS.len();
        text.push_str(WORDS[word]);
        text.push(' ');
        number += 1;
    }
    text
}

fn tokens(text: &str) -> u64 {
    text.chars().count().div_ceil(CHARS_PER_TOKEN) as u64
}

/// The same on every run.
fn hash(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// Returns a share in 0..1 that follows from the hash.
fn share(of: &impl Hash) -> f64 {
    (hash(of) >> 11) as f64 / (1_u64 << 53) as f64
}
