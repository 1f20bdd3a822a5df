//! The answers of commands by hand, as people read them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use reasoning_bank_actors::ports::Erased;
use reasoning_bank_domain::episode::Visibility;
use reasoning_bank_domain::evidence::feedback::{Moved, Reported};
use reasoning_bank_domain::evidence::promotion::{Promoted, PromotedCopy, Proposal, Proposals};
use reasoning_bank_domain::evidence::stability::{CommitName, JudgedMemory, JudgedWork, Stability, WorkStanding};
use reasoning_bank_domain::memory::pattern::PatternStage;
use reasoning_bank_domain::memory::trace::{
    Action, MattsMode, Outcome, Step, Trace, TraceMetadata, TraceSource, TraceSummary, Traces, VerdictSource,
};
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceDetail, WorkspaceId};
use reasoning_bank_domain::memory::{MemoryOutcome, Scope, Status};
use reasoning_bank_domain::note::{Code, Note};
use reasoning_bank_domain::retrieval::responses::{MemoryPage, MemoryView, OpenLink, Quarantined};
use reasoning_bank_domain::system::statistics::{
    ActorStatistics, ActorStatus, CacheStatistics, EmbedderStatistics, EpisodeStatistics, Latencies, LlmCounts,
    LlmStatistics, MemoryStatistics, Percentiles, ResidentStatistics, Statistics, StoreStatistics, TraceStatistics,
};
use uuid::Uuid;

use super::super::*;
use super::{id, plain, strategy, warning};
use crate::cli::answers::{
    Deleted, Maintenance, Trusted, UpkeepSummary, WorkspaceEntry, WorkspaceList, WorkspaceOverview, WorkspaceRemoval,
};
use crate::cli::doctor::{Check, Diagnosis, Grade};
use crate::settings::{CheckoutProposal, CheckoutRanking};

#[test]
fn memories_in_a_list_have_a_line_each_and_the_next_page_is_named() {
    let memories = vec![MemoryView { pinned: true, ..strategy() }, warning()];
    insta::assert_snapshot!(plain(&listed(&MemoryPage { memories, next: Some(id(2)) })));
}

#[test]
fn what_became_of_a_memory_is_said_in_a_line() {
    let moved = Moved { id: id(1), confidence_before: 0.5, confidence_after: 0.8 };
    let removed = Erased { memories: 1, passages: 2, traces: 0, signals: 1, jobs: 0 };
    let promoted_now = Promoted { id: id(3), promoted_from: id(1), scope: Scope::Team, created: true };
    let told = [
        reported(&Reported {
            updated: vec![moved],
            superseded: vec![id(2)],
            promoted: vec![promoted_now.clone()],
            ..Reported::default()
        }),
        deleted(&Deleted { id: id(1), title: "Off \u{1b}[31mby one".into(), removed, reinstated: vec![id(4)] }),
        quarantined(
            &Quarantined { changed: vec![id(1), id(2)], truncated: true, out_of_reach: true, reinstated: vec![id(4)] },
            false,
        ),
        promoted(&promoted_now),
        promoted(&Promoted { created: false, ..promoted_now }),
    ];
    insta::assert_snapshot!(plain(&told.join("---\n")));
}

#[test]
fn proposals_say_what_speaks_for_them_and_what_is_in_the_way() {
    let proposal = Proposal {
        id: id(1),
        title: "Halve the range".into(),
        scope: Scope::Project,
        to: Scope::Team,
        confidence: 0.97,
        positive_signals: 6,
        sources: 3,
    };
    let notes = vec![Note::new(Code::ScopeDenied, "this workspace has no org")];
    insta::assert_snapshot!(plain(&promotions(&Proposals { proposals: vec![proposal], notes })));
}

fn a_trace() -> Trace {
    let step = |action, attempt, content: &str, score| Step {
        iteration: 1,
        action,
        attempt,
        content: Some(content.into()),
        score,
        feedback: None,
        timestamp: Timestamp::UNIX_EPOCH,
    };
    Trace {
        trace_id: Uuid::from_u128(7).into(),
        revision: 0,
        episode: None,
        source: TraceSource::Solve,
        task: "Find a number\nin a sorted list".into(),
        trajectory: vec![
            step(Action::Think, Some(1), "fn find() {\n}", None),
            step(Action::Evaluate, Some(1), "", Some(0.9)),
            step(Action::Judge, None, "It is right.", Some(0.9)),
        ],
        outcome: Outcome::Failure,
        final_score: Some(0.9),
        verdict_source: VerdictSource::Evidence,
        evidence: Some("exit_code failed: exit code 1\none test failed".into()),
        turns: 0,
        evidence_reported: false,
        ended_by: None,
        memory_items: vec![id(3)],
        memories_used: vec![id(1)],
        metadata: TraceMetadata {
            model: "simulated".into(),
            reasoning_effort: "medium".into(),
            matts_enabled: false,
            matts_k: 1,
            matts_mode: MattsMode::Parallel,
            total_iterations: 1,
            total_tokens: 1234,
            workspace_id: WorkspaceId::of_root("/p"),
            source_session: None,
        },
        commit: None,
        parent_trace_id: None,
        created_at: Timestamp::UNIX_EPOCH,
    }
}

#[test]
fn a_trace_is_shown_step_by_step_and_listed_in_a_line() {
    insta::assert_snapshot!(plain(&trace(&a_trace())));
    let listed = Traces { traces: vec![TraceSummary::of(&a_trace())], next: None };
    insta::assert_snapshot!(plain(&traces(&listed)));
}

#[test]
fn a_workspace_is_shown_with_what_its_checkout_proposes() {
    let mut workspace = Workspace::of_root("/home/me/shop", Timestamp::UNIX_EPOCH);
    workspace.team = Some("web".into());
    let entry = |current| WorkspaceEntry { workspace: workspace.clone(), current };
    insta::assert_snapshot!(plain(&workspaces(&WorkspaceList { workspaces: vec![entry(true), entry(false)] })));
    let detail =
        WorkspaceDetail { workspace: workspace.clone(), registered: true, memories: 10_000, traces: 3, jobs: 1 };
    let file = "/home/me/shop/.reasoning-bank.toml".into();
    let ranking = CheckoutRanking::from([("retrieval.profile".into(), "paper".into())]);
    let proposal =
        Some(CheckoutProposal { team: Some("web".into()), org: Some("acme".into()), ranking: ranking.clone(), file });
    let shown = WorkspaceOverview {
        detail,
        origin: "current directory".into(),
        linked: None,
        key_of_remote: None,
        proposal,
        ranking: CheckoutRanking::new(),
    };
    insta::assert_snapshot!(plain(&workspace_shown(&shown)));
    let removed = Erased { memories: 2, passages: 5, traces: 1, signals: 0, jobs: 2 };
    let removed = WorkspaceRemoval {
        id: workspace.id.clone(),
        name: workspace.name.clone(),
        removed,
        bank_files: 6,
        promoted_removed: vec![PromotedCopy {
            id: id(5),
            title: "Retry with backoff".into(),
            scope: Scope::Team,
            owner: "web".into(),
        }],
        promoted_kept: Some(2),
        backups: Vec::new(),
        backups_unknown: None,
        reinstated: vec![id(4)],
    };
    let trusted = Trusted { workspace: workspace.clone(), ranking };
    let told = [workspace_moved(&workspace), workspace_trusted(&trusted), workspace_removed(&removed)];
    insta::assert_snapshot!(plain(&told.concat()));
}

#[test]
fn a_diagnosis_has_a_line_a_check_with_its_hint_below() {
    let check = |name, status, detail: &str, hint: Option<&str>| Check {
        name,
        status,
        detail: detail.into(),
        hint: hint.map(Into::into),
    };
    let checks = vec![
        check("configuration", Grade::Ok, "read", None),
        check("disk", Grade::Warn, "500 MiB free at /data", Some("free space there")),
        check("key", Grade::Fail, "OPENROUTER_API_KEY is not set", Some("set it")),
    ];
    insta::assert_snapshot!(plain(&diagnosis(&Diagnosis { status: Grade::Fail, checks })));
}

#[test]
fn statistics_have_a_line_a_subject() {
    let times = Percentiles { p50: 1.25, p95: 8.0, p99: 9.5, count: 12 };
    let counts =
        LlmCounts { calls: 9, retries: 1, failures: 1, input_tokens: 900, output_tokens: 90, ..Default::default() };
    let actor =
        |name: &str, restarts| ActorStatistics { name: name.into(), status: ActorStatus::Running, restarts, queue: 0 };
    let document = Statistics {
        traces: TraceStatistics { total: 4, success: 3, failure: 1, partial: 0, success_rate: 0.75 },
        episodes: EpisodeStatistics {
            by_visibility: BTreeMap::from([(Visibility::Active, 3), (Visibility::Deleted, 1)]),
            with_vectors: 3,
            without_vectors: 1,
        },
        patterns: BTreeMap::from([(PatternStage::Candidate, 1)]),
        applications: 4,
        working_memories: 1,
        consolidation_runs: 2,
        last_consolidation: Some(Timestamp::UNIX_EPOCH),
        memories: MemoryStatistics {
            total: 3,
            by_outcome: BTreeMap::from([(MemoryOutcome::Success, 2), (MemoryOutcome::Failure, 1)]),
            by_scope: BTreeMap::from([(Scope::Project, 3)]),
            by_status: BTreeMap::from([(Status::Active, 2), (Status::Archived, 1)]),
        },
        cache: CacheStatistics {
            hits: 2,
            misses: 3,
            bypassed: 4,
            hit_rate: 0.4,
            entries: 3,
            saved_tokens: 50,
            saved_cost_usd: None,
        },
        llm: LlmStatistics { total: counts, by_purpose: BTreeMap::new() },
        latency_ms: Latencies { retrieval: times, ..Latencies::default() },
        actors: vec![actor("store", 1), actor("cache", 0)],
        store: StoreStatistics { rows: 20, fragments: 1, bytes: 3 << 20, index_lag_rows: 20 },
        resident: ResidentStatistics { shelves: 1, bytes: 3 << 20, searches: 12 },
        embedder: EmbedderStatistics {
            name: "all-MiniLM-L6-v2-int8".into(),
            dims: 384,
            ready: true,
            cache_hits: 5,
            cache_misses: 7,
        },
        since: Timestamp::UNIX_EPOCH,
        uptime_s: 2,
    };
    insta::assert_snapshot!(plain(&statistics(&document)));
}

#[test]
fn maintain_says_what_became_of_the_work_that_used_memories() {
    let shown = Maintenance {
        applied: false,
        stability: Some(Stability { solves: judged_work(), new_signals: 2, truncated: true }),
        upkeep: None,
        open_promotions: 1,
        open_links: vec![OpenLink {
            older: id(1),
            older_title: "Jenkins deploys".into(),
            newer: id(2),
            newer_title: "Actions deploy \u{1b}[31mred".into(),
            confidence: 0.8,
        }],
        open_link_count: 21,
        notes: vec![Note::new(Code::ScopeDenied, "this workspace has no organisation")],
    };
    insta::assert_snapshot!(plain(&maintained(&shown)));
    let upkeep = UpkeepSummary {
        slices: 2,
        fragments_removed: 9,
        versions_removed: 1,
        vectors_made: 0,
        busy: false,
        more: true,
    };
    let done = Maintenance {
        applied: true,
        stability: None,
        upkeep: Some(upkeep),
        open_promotions: 0,
        open_links: vec![],
        open_link_count: 0,
        notes: vec![],
    };
    insta::assert_snapshot!(plain(&maintained(&done)));
}

/// Returns work of every standing, and some that was judged before.
fn judged_work() -> Vec<JudgedWork> {
    let commit = |id: &str, subject: &str| CommitName { id: id.repeat(20), subject: subject.into() };
    let judged = |n: u8, standing: WorkStanding, known: bool| JudgedWork {
        trace_id: Uuid::from_u128(n.into()).into(),
        task: "Parse a date\nwith a time zone".into(),
        solved_at: Timestamp::UNIX_EPOCH,
        memories: vec![JudgedMemory {
            id: Uuid::from_u128(0xf0 + u128::from(n)).into(),
            title: "Read the zone first".into(),
            signal: standing.signal(),
            known,
        }],
        standing,
    };
    let stable = WorkStanding::Stable { commits: 2, last: commit("1a", "Parse dates\u{1b}[31m") };
    let reverted =
        WorkStanding::Reverted { commit: commit("2b", "Cache zones"), by: commit("3c", "Revert \"Cache zones\"") };
    let waiting = WorkStanding::Waiting { until: Timestamp::UNIX_EPOCH };
    vec![
        judged(1, stable.clone(), false),
        judged(2, reverted, false),
        judged(3, stable, true),
        judged(4, waiting, false),
        judged(5, WorkStanding::Nothing, false),
        judged(6, WorkStanding::Unknown, false),
    ]
}
