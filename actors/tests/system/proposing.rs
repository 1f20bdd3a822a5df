//! A model proposes patterns in a run of consolidation, within the tokens that background work may spend in a day.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use reasoning_bank_actors::consolidation::RunRequest;
use reasoning_bank_actors::distiller::DistillerSettings;
use reasoning_bank_actors::episodes::RecordEpisode;
use reasoning_bank_actors::model::NoModel;
use reasoning_bank_actors::ports::{LanguageModel, MemoryFilter, ModelError, Page, StoreReads};
use reasoning_bank_actors::system::{System, SystemParts, SystemSettings};
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_actors::testkit::{ManualClock, MemAccount, Scripted, parts};
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::consolidation::{ConsolidationRun, ModelReading, RunTrigger, StageName, StageReport};
use reasoning_bank_domain::episode::{EpisodeStatus, NewEpisode};
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::pattern::{PatternCategory, PatternStage};
use reasoning_bank_domain::memory::trace::TraceEntry;
use reasoning_bank_domain::memory::{Memory, Trust};
use reasoning_bank_domain::prompt::Purpose;

use crate::support::*;

const CAP: u64 = 1_000_000;

/// A bank over whose episodes several processes may run, one after the other.
#[derive(Clone, Default)]
struct Bank {
    store: Arc<MemStore>,
    account: MemAccount,
    clock: ManualClock,
}

fn here() -> WorkspaceRef {
    WorkspaceRef::Root("/here".into())
}

/// Makes an answer with a pattern of each of these titles.
fn answer(titles: &[&str]) -> String {
    let pattern = |title: &&str| {
        serde_json::json!({
            "title": title,
            "description": "When a view is drawn again after a move.",
            "content": "A frame that is drawn from a stale offset is drawn twice.",
            "pattern_tags": [], "domain_category": null, "difficulty_level": null, "error_context": null,
            "category": "strategy",
            "steps": [format!("{title} in a test.")],
        })
    };
    serde_json::json!({"patterns": titles.iter().map(pattern).collect::<Vec<_>>()}).to_string()
}

fn proposing(titles: &'static [&'static str]) -> Scripted {
    let model = Scripted::new();
    model.answer(Purpose::Patterns, move |_| Ok(answer(titles)));
    model
}

impl Bank {
    async fn open(&self, model: impl LanguageModel, daily_token_cap: u64) -> System {
        let provider = model.name().to_owned();
        let parts = SystemParts {
            provider,
            settings: SystemSettings { distiller: DistillerSettings { daily_token_cap }, ..SystemSettings::default() },
            clock: self.clock.clock(),
            account: Arc::new(self.account.clone()),
            ..parts(Arc::clone(&self.store) as Arc<_>, model)
        };
        System::start(parts).await.unwrap()
    }

    /// Tells of so many tasks of this domain, each in a session of its own.
    async fn tell(&self, system: &System, domain: &str, count: usize, status: EpisodeStatus) -> Vec<TraceId> {
        let mut told = Vec::new();
        for n in 0..count {
            self.clock.advance(SignedDuration::from_mins(11));
            let mut episode = NewEpisode::new(format!("Fix the flicker of the {domain} pager"), status);
            episode.metadata.domain = Some(domain.to_owned());
            episode.reflection.insights = vec!["The offset was stale.".into()];
            let entry = TraceEntry { action: "call".into(), tool: Some("rg".into()), ..TraceEntry::default() };
            episode.execution.trace = vec![entry];
            let request = RecordEpisode { episode, workspace: here(), session: Some(format!("{domain} {n}")) };
            told.push(system.handle().episodes.record(request, soon()).await.unwrap().episode.episode_id);
        }
        told
    }

    async fn memories(&self) -> Vec<Memory> {
        let rows = self.store.memories(MemoryFilter::default(), Page::first(1_000), soon()).await.unwrap();
        rows.into_iter().map(|row| row.memory).collect()
    }
}

async fn run_as(system: &System, trigger: RunTrigger, apply: bool) -> ConsolidationRun {
    let request = RunRequest { workspace: here(), trigger, apply };
    system.handle().consolidation.run(request, soon()).await.unwrap()
}

async fn run(system: &System) -> ConsolidationRun {
    run_as(system, RunTrigger::Person, true).await
}

fn mining(run: &ConsolidationRun) -> &StageReport {
    run.stages.iter().find(|stage| stage.stage == StageName::Mining).unwrap()
}

fn reading(run: &ConsolidationRun) -> ModelReading {
    mining(run).model.clone().unwrap_or_default()
}

fn notes(run: &ConsolidationRun) -> String {
    mining(run).notes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[tokio::test(start_paused = true)]
async fn a_model_turns_successes_that_are_alike_into_candidates_which_undoing_takes_back() {
    let (bank, model) = (Bank::default(), proposing(&["Record the offset"]));
    let system = bank.open(model.clone(), CAP).await;
    let told = bank.tell(&system, "cli", 4, EpisodeStatus::Success).await;
    bank.tell(&system, "cli", 3, EpisodeStatus::Partial).await;
    bank.tell(&system, "web", 2, EpisodeStatus::Success).await;
    let planned = run_as(&system, RunTrigger::Person, false).await;
    assert!(notes(&planned).contains("one would read: 1"), "{}", notes(&planned));
    assert_eq!((model.calls(Purpose::Patterns), mining(&planned).model.clone()), (0, None), "a plan spends nothing");

    let first = run(&system).await;
    let ModelReading { clusters, candidates, refused, tokens, mut episodes } = reading(&first);
    assert_eq!((clusters, candidates, refused), (1, 1, BTreeMap::new()));
    assert_eq!(bank.account.spent().unwrap().1, tokens);
    episodes.sort();
    let mut expected = told.clone();
    expected.sort();
    assert_eq!(episodes, expected, "its evidence");
    let change = &mining(&first).changes[0];
    assert_eq!(change.why, "a model, of 4 episodes that succeeded");
    let memory = bank.memories().await.remove(0);
    let part = memory.pattern.as_deref().unwrap();
    assert_eq!(
        (memory.id.uuid(), part.category, part.stage),
        (change.id, PatternCategory::Strategy, PatternStage::Candidate)
    );
    assert_eq!((memory.trust, &part.applicability.domains[..]), (Trust::Model, &["cli".to_owned()][..]));
    let asked = &model.requests()[0];
    assert!(asked.input.contains("Fix the flicker of the cli pager") && asked.input.contains("Tools: rg"));

    let undone = system.handle().consolidation.undo(first.run_id, &here(), soon()).await.unwrap().undone.unwrap();
    assert_eq!((undone.taken_back, undone.skipped, bank.memories().await), (1, vec![], vec![]));
    let by_itself = run_as(&system, RunTrigger::Schedule, true).await;
    assert_eq!((reading(&by_itself).clusters, model.calls(Purpose::Patterns)), (0, 1), "somebody did not want it");
    assert_eq!(reading(&run(&system).await).candidates, 1, "whoever asks for it again gets it");
    system.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn no_episode_is_read_twice_and_what_was_rejected_does_not_come_back() {
    let (bank, model) = (Bank::default(), proposing(&["Record the offset", "Measure every frame twice"]));
    let system = bank.open(model.clone(), CAP).await;
    bank.tell(&system, "cli", 3, EpisodeStatus::Success).await;
    let first = run(&system).await;
    assert_eq!(reading(&first).candidates, 2);
    system.stop(Duration::ZERO).await;

    let system = bank.open(model.clone(), CAP).await;
    bank.tell(&system, "cli", 2, EpisodeStatus::Success).await;
    assert_eq!((reading(&run(&system).await), model.calls(Purpose::Patterns)), (ModelReading::default(), 1));
    let rejected = mining(&first).changes[0].id.into();
    let deprecated = system.handle().memories.deprecate_pattern(rejected, "not ours", None, &here(), soon()).await;
    deprecated.unwrap();
    bank.tell(&system, "cli", 1, EpisodeStatus::Success).await;
    let again = reading(&run(&system).await);
    assert_eq!((again.clusters, again.candidates, again.episodes.len()), (1, 0, 3));
    assert_eq!(again.refused, BTreeMap::from([("known".to_owned(), 2)]));
    assert_eq!(bank.memories().await.len(), 2);
    bank.clock.advance(DAY * 31);
    assert_eq!((reading(&run(&system).await).clusters, model.calls(Purpose::Patterns)), (0, 2), "they are too old");
    system.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn a_run_reads_five_clusters_at_most_and_leaves_the_others_to_the_next() {
    let (bank, model) = (Bank::default(), proposing(&["Record the offset"]));
    let system = bank.open(model.clone(), CAP).await;
    for domain in ["cli", "web", "tui", "api", "gui", "lib", "sdk"] {
        bank.tell(&system, domain, 3, EpisodeStatus::Success).await;
    }
    let first = run(&system).await;
    assert_eq!((reading(&first).clusters, mining(&first).left), (5, 2));
    let refused = BTreeMap::from([("known".to_owned(), 4)]);
    assert_eq!((reading(&first).candidates, reading(&first).refused), (1, refused), "all say the same");
    let second = run(&system).await;
    assert_eq!((reading(&second).clusters, mining(&second).left), (2, 0));
    system.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn where_no_model_may_be_asked_the_run_says_so_and_rules_go_on() {
    let bank = Bank::default();
    let model = proposing(&["Record the offset"]);
    for (system, why) in [
        (bank.open(NoModel, CAP).await, "none is set up"),
        (bank.open(model.clone(), 0).await, "background.daily_token_cap does not allow it"),
        (bank.open(model.clone(), 5_000).await, "background.daily_token_cap is too small"),
    ] {
        bank.tell(&system, "cli", 3, EpisodeStatus::Success).await;
        let run = run(&system).await;
        assert!(notes(&run).contains(why), "{}", notes(&run));
        assert!(run.is_complete() && mining(&run).notes.len() == 1);
        assert_eq!((reading(&run), bank.account.spent()), (ModelReading::default(), None));
        system.stop(Duration::ZERO).await;
    }
    assert_eq!(model.calls(Purpose::Patterns), 0);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_fails_no_run_and_is_asked_again_only_where_it_gave_no_answer() {
    let (bank, model) = (Bank::default(), Scripted::new());
    let system = bank.open(model.clone(), CAP).await;
    for domain in ["cli", "web"] {
        bank.tell(&system, domain, 3, EpisodeStatus::Success).await;
    }
    model.fail(Purpose::Patterns, ModelError::TimedOut);
    let late = run(&system).await;
    assert!(notes(&late).contains("llm_failed: a model proposed no patterns"), "{}", notes(&late));
    assert_eq!((reading(&late).clusters, model.calls(Purpose::Patterns)), (0, 1), "the next one would be late as well");
    assert_eq!(reading(&late).tokens, bank.account.spent().unwrap().1, "it may have cost that");

    model.fail(Purpose::Patterns, ModelError::Refused("no".into()));
    model.reply(Purpose::Patterns, "I see none.").reply(Purpose::Patterns, "None at all.");
    let invalid = run(&system).await;
    assert!(notes(&invalid).contains("llm_output_invalid: a model proposed no patterns"), "{}", notes(&invalid));
    assert_eq!((reading(&invalid).clusters, reading(&invalid).candidates), (2, 0));
    assert_eq!((reading(&run(&system).await).clusters, model.calls(Purpose::Patterns)), (0, 4), "it had its say");
    assert_eq!(bank.memories().await, []);
    system.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn a_model_that_reads_never_costs_more_than_the_cap_of_a_day() {
    const CAP: u64 = 60_000;
    let (bank, model) = (Bank::default(), Scripted::new());
    model.answer(Purpose::Patterns, |_| Err(ModelError::TimedOut));
    let system = bank.open(model.clone(), CAP).await;
    let mut used_up = 0;
    for n in 0..6 {
        bank.tell(&system, &format!("part {n}"), 3, EpisodeStatus::Success).await;
        let run = run(&system).await;
        used_up += usize::from(notes(&run).contains("token_budget_exceeded"));
        assert!(run.is_complete() && bank.account.spent().unwrap().1 <= CAP);
    }
    assert!(used_up >= 1 && model.calls(Purpose::Patterns) >= 2, "{used_up} {}", model.calls(Purpose::Patterns));
    model.answer(Purpose::Patterns, |_| Ok(answer(&["Record the offset"])));
    bank.clock.advance(DAY);
    assert!(reading(&run(&system).await).clusters >= 1, "another day");
    system.stop(Duration::ZERO).await;
}
