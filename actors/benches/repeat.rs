//! This bench measures what the cache saves when tasks come again.
//!
//! It runs 100 solves: 10 tasks, each 10 times, three attempts, memory and learning on, with the default cache of 100
//! answers and without a cache. It prints, for the nine passes after the first, the share of cacheable calls that were
//! answered from the cache, and what both runs cost.
//!
//! The bench assumes the following, so its numbers are no measurements of a provider: no real model is asked. Prices
//! are those of a large model ($1.25 and $10 a million tokens in and out), lengths of answers and of reasoning are made
//! up, and every task is solved in its first round. Drafts are never cached, but the calls about them are, so all
//! depends on how often a repeated task gets the same draft again. The first line assumes always, as at temperature 0
//! or from a provider that caches; the others that a part of the drafts is new every time.

#![allow(clippy::expect_used, clippy::print_stdout, reason = "a bench that prints what it measured, or fails")]

#[path = "repeat/workload.rs"]
mod workload;

use tokio::runtime::Runtime;
use workload::{ATTEMPTS, INPUT_PRICE, OUTPUT_PRICE, PASSES, TASKS, run};

fn main() {
    let runtime = Runtime::new().expect("a runtime");
    println!(
        "{} solves: {TASKS} tasks, each {PASSES} times, {ATTEMPTS} attempts; \
         ${INPUT_PRICE} and ${OUTPUT_PRICE} a million tokens in and out\n\
         after the first pass:\n\
         same drafts   hit rate   calls with / without    cost with / without    saved",
        TASKS * PASSES
    );
    for same_drafts in [1.0, 0.75, 0.5, 0.25, 0.0] {
        let cached = runtime.block_on(run(same_drafts, true)).expect("a run with the cache");
        let plain = runtime.block_on(run(same_drafts, false)).expect("a run without the cache");
        let (with, without) = (cached.repeats, plain.repeats);
        println!(
            "{:>10.0}%   {:>7.1}%   {:>10} / {:<9}   ${:>8.4} / ${:<8.4}   {:>5.1}%",
            100.0 * same_drafts,
            100.0 * with.hit_rate,
            with.llm_calls,
            without.llm_calls,
            with.cost_usd,
            without.cost_usd,
            100.0 * (1.0 - with.cost_usd / without.cost_usd),
        );
        assert!(cached.warm_up.cost_usd <= plain.warm_up.cost_usd, "the first pass costs more with a cache");
    }
}
