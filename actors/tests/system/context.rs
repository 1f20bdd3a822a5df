//! Tests of what an agent is shown before a task and when something fails, and of what follows from what it tells at
//! the end.

use std::time::Duration;

use reasoning_bank_actors::context::{ContextRequest, GivenContext, LearnEpisode, RecoveryRequest};
use reasoning_bank_actors::episodes::{EpisodeListRequest, EpisodeQuery, RecordEpisode};
use reasoning_bank_actors::memories::{NewPattern, RetrievalSettings};
use reasoning_bank_actors::ports::Clock;
use reasoning_bank_actors::system::SystemSettings;
use reasoning_bank_actors::testkit::Scripted;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::context::{ContextForTask, LearnedEpisode, ShownContext};
use reasoning_bank_domain::episode::{EpisodeFound, EpisodeStatus, NewEpisode, Strategy};
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::pattern::{PatternCondition, PatternStage};
use reasoning_bank_domain::memory::signal::SignalKind;
use reasoning_bank_domain::memory::trace::{FailureAnalysis, Outcome};
use reasoning_bank_domain::memory::{MemoryOutcome, Trust};
use reasoning_bank_domain::note::Code;
use reasoning_bank_domain::pattern::input::PatternInput;
use serde_json::json;
use uuid::Uuid;

use crate::support::*;

const TASK: &str = "Fix the session loader that drops users";

fn pattern_of(category: &str, title: &str) -> PatternInput {
    let content =
        json!({"type": "heuristic", "condition": "A symbol is unknown", "action": {"text": "Use rg", "tools": ["rg"]}});
    serde_json::from_value(json!({
        "title": title, "description": "Debugging in a large repository", "explanation": "Look before any file is opened.",
        "category": category, "content": content, "applicability": {"problem_types": ["debugging"]},
    }))
    .unwrap()
}

impl World {
    /// Adds a pattern that a person accepts.
    async fn accepted(&self, input: PatternInput) -> MemoryId {
        let new = NewPattern { input, workspace: project(), trust: Trust::User, session: None };
        let id = self.handle.memories.add_pattern(new, soon()).await.unwrap().pattern_id;
        self.handle.memories.accept_pattern(id, "our way", &project(), soon()).await.unwrap();
        id
    }

    async fn happened(&self, episode: NewEpisode) {
        let request = RecordEpisode { episode, workspace: project(), session: Some("earlier".into()) };
        self.handle.episodes.record(request, soon()).await.unwrap();
    }

    async fn context(&self, task: &str) -> ContextForTask {
        self.handle.context.for_task(ContextRequest::new(task, project()), soon()).await.unwrap()
    }

    async fn learn(&self, told: LearnEpisode) -> LearnedEpisode {
        self.handle.context.learn(told, soon()).await.unwrap()
    }

    async fn number_of_episodes(&self) -> usize {
        self.handle.episodes.list(EpisodeListRequest::new(project(), 100), soon()).await.unwrap().episodes.len()
    }
}

fn told(context: Option<&ContextForTask>, status: EpisodeStatus) -> LearnEpisode {
    LearnEpisode {
        workspace: project(),
        context: context.map(|context| GivenContext::Id(context.context_id)),
        episode: None,
        status,
        insights: vec![],
        session: "session".into(),
        counts_in: vec![],
    }
}

fn failed(task: &str, error: &str, resolution: &str) -> NewEpisode {
    let mut episode = NewEpisode::new(task, EpisodeStatus::Success);
    let resolution = Some(resolution.to_owned());
    let failure = FailureAnalysis { error: error.into(), resolution, ..FailureAnalysis::default() };
    episode.reflection.failures_analyzed = vec![failure];
    episode
}

#[tokio::test(start_paused = true)]
async fn one_call_shows_patterns_memories_warnings_and_earlier_tasks_with_one_embedding() {
    let retrieval = RetrievalSettings { min_relevance: 0.15, ..RetrievalSettings::default() };
    let world = world_with(Scripted::new(), SystemSettings { retrieval, ..SystemSettings::default() }).await;
    let pattern = world.accepted(pattern_of("tool_selection", "Search first")).await;
    let memory = world
        .recorded(lesson("Fix the session loader", "it drops users: the session loader reads them by their id"))
        .await;
    let warned = warning("KeyError", None, lesson("Fix the session loader", "it drops users without an id"));
    let warned = world.recorded(warned).await;
    world.happened(NewEpisode::new("Fix the session loader that is slow", EpisodeStatus::Success)).await;
    world.happened(NewEpisode::new("Translate zebra quagga okapi", EpisodeStatus::Success)).await;
    let calls = world.embedder.calls();
    let found = world.context(TASK).await;
    assert_eq!(world.embedder.calls(), calls + 1);
    assert_eq!(found.applicable_patterns.iter().map(|one| one.pattern_id).collect::<Vec<_>>(), [pattern]);
    assert_eq!(found.domain_knowledge.iter().map(|one| one.id).collect::<Vec<_>>(), [memory]);
    assert_eq!(found.warnings.iter().map(|one| one.id).collect::<Vec<_>>(), [warned]);
    assert_eq!(found.similar_episodes.len(), 1, "the other one has nothing to do with it");
    for part in
        ["PATTERN: Search first", "accepted by a person", "reads them by their id", "drops users", "that is slow"]
    {
        assert!(found.rendered.contains(part), "{part}: {}", found.rendered);
    }
    assert!(found.tokens <= 2_000 && found.rendered.starts_with("<recalled-experience>"));

    let nothing = world.context("gnu kudu impala").await;
    assert!(nothing.is_empty() && nothing.rendered.is_empty(), "{nothing:?}");
    assert_eq!(nothing.notes.last().unwrap().code, Some(Code::NothingRelevant));
    let elsewhere = ContextRequest::new(TASK, elsewhere());
    assert!(world.handle.context.for_task(elsewhere, soon()).await.unwrap().is_empty(), "of another workspace");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_gets_no_vector_is_searched_by_words_without_waiting_again() {
    let world = world(Scripted::new()).await;
    let memory = world.recorded(lesson("Session loader", "the session loader reads users by their id")).await;
    world.embedder.set_delay(Duration::from_secs(60));
    let calls = world.embedder.calls();
    let timeout = Some(Duration::from_millis(150));
    let request = ContextRequest { embedding_timeout: timeout, ..ContextRequest::new(TASK, project()) };
    let found = world.handle.context.for_task(request, soon()).await.unwrap();
    assert_eq!(found.domain_knowledge.iter().map(|one| one.id).collect::<Vec<_>>(), [memory]);
    assert_eq!(found.took_ms, 150);
    assert!(world.embedder.calls() > calls);
    let codes: Vec<_> = found.notes.iter().map(|note| note.code).collect();
    assert_eq!(codes, [Some(Code::EmbeddingUnavailable)], "it is said once");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_came_of_a_task_counts_for_what_its_context_showed() {
    let world = world(Scripted::new()).await;
    let pattern = world.accepted(pattern_of("tool_selection", "Search first")).await;
    let memory = world.recorded(lesson("Session loader", "the session loader reads users by their id")).await;
    let context = world.context(TASK).await;
    let insights = vec!["Sessions without a user have to be skipped. The loader did not.".to_owned()];
    let learned = world.learn(LearnEpisode { insights, ..told(Some(&context), EpisodeStatus::Success) }).await;
    assert!(learned.episode.created);
    assert_eq!(learned.lessons[0].title, "Sessions without a user have to be skipped");
    assert_eq!(learned.updated.iter().map(|moved| moved.id).collect::<Vec<_>>(), [memory]);
    assert!(learned.updated[0].confidence_after > learned.updated[0].confidence_before);
    assert_eq!(learned.applications[0].pattern_id, pattern);
    assert_eq!(learned.applications[0].stage, PatternStage::Validated);
    let trace = world.trace(learned.episode.episode_id).await;
    assert_eq!((trace.task.as_str(), trace.outcome, &trace.memories_used[..]), (TASK, Outcome::Success, &[memory][..]));
    assert_eq!(trace.memory_items, [learned.lessons[0].id]);
    let shown = world.handle.memories.pattern(pattern, &project(), soon()).await.unwrap();
    assert_eq!(shown.evidence.supporting_episodes, [learned.episode.episode_id]);

    let signals = world.signals().await.len();
    let again = LearnEpisode {
        insights: vec!["Something else was learned".into()],
        ..told(Some(&context), EpisodeStatus::Success)
    };
    let again = world.learn(again).await;
    assert_eq!((again.episode.episode_id, again.episode.created), (learned.episode.episode_id, false));
    assert_eq!((again.lessons.len(), world.number_of_episodes().await), (0, 1));
    assert_eq!(world.signals().await.len(), signals, "the same said again says nothing new");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_failure_counts_against_and_a_part_of_a_success_counts_for_nothing() {
    let world = world(Scripted::new()).await;
    let memory = world.recorded(lesson("Session loader", "the session loader reads users by their id")).await;
    let context = world.context(TASK).await;
    let partial = world.learn(told(Some(&context), EpisodeStatus::Partial)).await;
    assert!(partial.updated.is_empty() && partial.episode.created);
    let context = world.context("Fix the session loader that loses users").await;
    let insights = vec!["KeyError comes where a session has no user".to_owned()];
    let failed = world.learn(LearnEpisode { insights, ..told(Some(&context), EpisodeStatus::Failure) }).await;
    assert_eq!(failed.updated.iter().map(|moved| moved.id).collect::<Vec<_>>(), [memory]);
    assert!(failed.updated[0].confidence_after < failed.updated[0].confidence_before);
    let lesson = world.handle.memories.get(failed.lessons[0].id, &project(), soon()).await.unwrap();
    assert_eq!(lesson.error_context.unwrap().error_type, "keyerror");
    assert_eq!(world.signal_kinds().await.iter().filter(|kind| **kind == SignalKind::TaskFailed).count(), 1);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_status_that_is_told_again_corrects_an_episode_to_which_no_memory_was_shown() {
    let world = world(Scripted::new()).await;
    let context = world.context(TASK).await;
    let insights = vec!["KeyError comes where a session has no user".to_owned()];
    let first = world.learn(LearnEpisode { insights, ..told(Some(&context), EpisodeStatus::Success) }).await;
    for (told_now, status, says) in [
        (EpisodeStatus::Failure, EpisodeStatus::Failure, "SUCCESS; FAILURE takes its place"),
        (EpisodeStatus::Partial, EpisodeStatus::Failure, "FAILURE and keeps it: PARTIAL says nothing against it"),
        (EpisodeStatus::Success, EpisodeStatus::Success, "FAILURE; SUCCESS takes its place"),
    ] {
        let again = world.learn(told(Some(&context), told_now)).await;
        assert_eq!(
            (again.episode.episode_id, again.episode.status),
            (first.episode.episode_id, status),
            "{told_now:?}"
        );
        assert!(again.notes.iter().any(|note| note.detail.contains(says)), "{:?}", again.notes);
        let lesson = world.handle.memories.get(first.lessons[0].id, &project(), soon()).await.unwrap();
        let succeeded = status == EpisodeStatus::Success;
        assert_eq!(lesson.outcome, if succeeded { MemoryOutcome::Success } else { MemoryOutcome::Failure });
    }
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_context_is_known_in_its_workspace_alone() {
    let world = world(Scripted::new()).await;
    let context = world.context(TASK).await;
    let stranger = LearnEpisode { workspace: elsewhere(), ..told(Some(&context), EpisodeStatus::Success) };
    let refused = world.handle.context.learn(stranger.clone(), soon()).await.unwrap_err();
    assert_eq!(refused.code(), Code::NotFound, "{refused}");
    let episode = Some(NewEpisode::new("Something else", EpisodeStatus::Success));
    let learned = world.learn(LearnEpisode { episode, ..stranger }).await;
    assert!(learned.episode.created);
    assert_eq!(learned.notes[0].code, Some(Code::NotFound), "{learned:?}");
    let nothing = world.handle.context.learn(told(None, EpisodeStatus::Success), soon()).await.unwrap_err();
    assert_eq!(nothing.code(), Code::InvalidArgument, "{nothing}");
    let unknown = Some(GivenContext::Id(Uuid::from_u128(7).into()));
    let unknown = LearnEpisode { context: unknown, ..told(None, EpisodeStatus::Success) };
    assert_eq!(world.handle.context.learn(unknown, soon()).await.unwrap_err().code(), Code::NotFound);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_context_goes_with_its_workspace() {
    let world = world(Scripted::new()).await;
    world.recorded(lesson("Session loader", "the session loader reads users by their id")).await;
    let context = world.context(TASK).await;
    world.handle.workspaces.delete(&project(), soon()).await.unwrap();
    let refused = world.handle.context.learn(told(Some(&context), EpisodeStatus::Success), soon()).await.unwrap_err();
    assert_eq!(refused.code(), Code::NotFound, "{refused}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_another_process_showed_is_learned_from_once_and_what_is_gone_is_told_of() {
    let world = world(Scripted::new()).await;
    let pattern = world.accepted(pattern_of("tool_selection", "Search first")).await;
    let memory = world.recorded(lesson("Session loader", "the session loader reads users by their id")).await;
    let answer = world.context(TASK).await;
    let mut shown = ShownContext::of(&answer, TASK, None, None);
    shown.memories.push(Uuid::from_u128(8).into());
    shown.patterns.push(Uuid::from_u128(9).into());
    let session = shown.context_id.to_string();
    let telling = LearnEpisode {
        context: Some(GivenContext::Shown(shown)),
        session: session.as_str().into(),
        ..told(None, EpisodeStatus::Success)
    };
    let learned = world.learn(telling.clone()).await;
    assert_eq!(learned.applications.iter().map(|one| one.pattern_id).collect::<Vec<_>>(), [pattern]);
    assert_eq!(learned.updated.iter().map(|moved| moved.id).collect::<Vec<_>>(), [memory]);
    assert_eq!(learned.notes[0].code, Some(Code::NotFound), "{learned:?}");
    let again = world.learn(telling).await;
    assert_eq!((again.episode.episode_id, again.episode.created), (learned.episode.episode_id, false));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn two_who_learn_from_one_context_at_once_make_one_episode() {
    let world = world(Scripted::new()).await;
    let context = world.context(TASK).await;
    let episode = |task: &str| Some(NewEpisode::new(task, EpisodeStatus::Success));
    let (first, second) = tokio::join!(
        world.learn(LearnEpisode { episode: episode("one"), ..told(Some(&context), EpisodeStatus::Success) }),
        world.learn(LearnEpisode { episode: episode("two"), ..told(Some(&context), EpisodeStatus::Success) }),
    );
    assert_eq!(first.episode.episode_id, second.episode.episode_id);
    assert_eq!(world.number_of_episodes().await, 1);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_error_is_told_what_recovered_it_before() {
    let world = world(Scripted::new()).await;
    let about = |mut input: PatternInput, error: &str| {
        input.applicability.problem_types.clear();
        input.applicability.context_conditions = vec![PatternCondition::is("error_signature", error)];
        input
    };
    let recovery = world.accepted(about(pattern_of("recovery", "Read with get"), "KeyError")).await;
    let cause = world.accepted(about(pattern_of("failure", "Sessions without users"), "KeyError")).await;
    world.accepted(about(pattern_of("recovery", "Quote the number"), "ValueError")).await;
    world.accepted(pattern_of("recovery", "Names no error")).await;
    let warned = world.recorded(warning("KeyError", None, lesson("Users may be missing", "check for them"))).await;
    world.happened(failed("Mend the login", "KeyError: 'user'", "use get with a default")).await;
    world.happened(failed("Mend the importer", "ValueError: bad literal", "strip it")).await;
    let request =
        RecoveryRequest::new("Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'id'", project());
    let advice = world.handle.context.recovery(request, soon()).await.unwrap();
    assert_eq!(advice.recovery_patterns.iter().map(|one| one.pattern_id).collect::<Vec<_>>(), [recovery]);
    assert_eq!(advice.failure_patterns.iter().map(|one| one.pattern_id).collect::<Vec<_>>(), [cause]);
    assert_eq!(advice.warnings.iter().map(|one| one.id).collect::<Vec<_>>(), [warned]);
    let failure = advice.similar_failures[0].failure.clone().unwrap();
    assert_eq!(failure.resolution.as_deref(), Some("use get with a default"));
    assert!(advice.rendered.contains("> Resolved by: use get with a default"), "{}", advice.rendered);
    let other = RecoveryRequest {
        workspace: WorkspaceRef::Root("/home/me/new".into()),
        ..RecoveryRequest::new("KeyError", project())
    };
    let advice = world.handle.context.recovery(other, soon()).await.unwrap();
    assert!(advice.is_empty(), "{advice:?}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_resolved_the_very_failure_is_known_without_a_vector() {
    let world = world(Scripted::new()).await;
    world.happened(failed("Keep the tax of the export", "KeyError: 'tax'", "keep tax in mapper.py")).await;
    world.happened(failed("Mend the login", "KeyError: 'user'", "use get with a default")).await;
    let calls = world.embedder.calls();
    let known = async |error: &str| {
        let printed = format!("Traceback (most recent call last):\n  File \"a.py\", line 3\n{error}");
        world.handle.context.known_resolutions(&printed, &project(), soon()).await.unwrap().notes()
    };
    let notes = known("KeyError: 'tax'").await;
    assert!(notes.contains("> Resolved by: keep tax in mapper.py\n"), "{notes}");
    assert!(!notes.contains("use get"), "another key: {notes}");
    assert_eq!(known("KeyError: 'day'").await, "");
    assert_eq!(world.embedder.calls(), calls);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn newer_tasks_about_something_else_leave_room_for_one_that_is_alike() {
    let world = world(Scripted::new()).await;
    let mut alike = failed("Fix the session loader that drops rows", "KeyError: 'row'", "read rows with get");
    (alike.outcome.status, alike.timestamp) = (EpisodeStatus::Failure, Some(Clock::system().now() - DAY * 60));
    alike.outcome.parts.primary_output = Some("The loader keeps most rows.".into());
    world.happened(alike).await;
    for n in 0..40 {
        let other = NewEpisode::new(format!("zebra{n} quagga{n} okapi{n} impala{n}"), EpisodeStatus::Success);
        world.happened(other).await;
    }
    let found = world.context(TASK).await;
    let tasks: Vec<&str> = found.similar_episodes.iter().map(|one| one.task.as_str()).collect();
    assert!(tasks.contains(&"Fix the session loader that drops rows"), "{tasks:?}");
    for part in ["KeyError: 'row'", "Resolved by: read rows with get", "Outcome: The loader keeps most rows."] {
        assert!(found.rendered.contains(part), "{part}: {}", found.rendered);
    }
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_context_was_told_of_its_task_is_known_of_the_episode() {
    let world = world(Scripted::new()).await;
    let told_of = [("language".to_owned(), "rust".into()), ("task_type".to_owned(), "testing".into())];
    let request = ContextRequest { context: told_of.into(), ..ContextRequest::new(TASK, project()) };
    let context = world.handle.context.for_task(request, soon()).await.unwrap();
    let learned = world.learn(told(Some(&context), EpisodeStatus::Success)).await;
    let episode = world.handle.episodes.get(learned.episode.episode_id, &project(), soon()).await.unwrap();
    assert_eq!(episode.metadata.task_type.as_deref(), Some("testing"));
    assert_eq!(episode.metadata.features, [("language".to_owned(), "rust".into())].into());
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_same_told_by_calls_at_the_same_time_is_one_episode() {
    let world = world(good_model()).await;
    let record = async || {
        let episode = failed("Mend the login", "PanicError: shaft", "reset the breaker");
        let request = RecordEpisode { episode, workspace: project(), session: Some("earlier".into()) };
        world.handle.episodes.record(request, soon()).await.unwrap().episode
    };
    let (first, second, third) = tokio::join!(record(), record(), record());
    assert_eq!([&first, &second, &third].map(|told| told.episode_id), [first.episode_id; 3]);
    assert_eq!([first, second, third].iter().filter(|told| told.created).count(), 1);
    assert_eq!(world.number_of_episodes().await, 1);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_episode_that_is_gone_is_not_named_as_what_resolved_a_failure() {
    let world = world(good_model()).await;
    let record = async |episode: NewEpisode| {
        let request = RecordEpisode { episode, workspace: project(), session: None };
        world.handle.episodes.record(request, soon()).await.unwrap().episode.episode_id
    };
    let resolving = record(failed("Mend the login", "PanicError: shaft", "reset the breaker")).await;
    let mut later = failed("Mend the login again", "KeyError: 'user'", "");
    let told = &mut later.reflection.failures_analyzed[0];
    (told.resolution, told.resolved_by) = (None, Some(resolving));
    let later = record(later).await;
    record(failed("Mend the importer", "KeyError: 'day'", "use get")).await;
    let recovered = async || {
        let advice = world.handle.context.recovery(RecoveryRequest::new("KeyError", project()), soon()).await.unwrap();
        let named = advice.similar_failures.iter().find(|one| one.episode_id == later).unwrap();
        (named.failure.clone().unwrap().resolved_by, advice.similar_failures.last().unwrap().episode_id == later)
    };
    assert_eq!(recovered().await.0, Some(resolving));
    world.handle.episodes.delete(resolving, &project(), soon()).await.unwrap();
    assert_eq!(recovered().await, (None, true), "those that were resolved come first");
    let query = EpisodeQuery::new(project(), Strategy::Structured, None, 5);
    let listed = EpisodeQuery { with_failures: true, ..query };
    let listed = world.handle.episodes.search(listed, soon()).await.unwrap().hits;
    let told = |hit: &EpisodeFound| hit.failure.clone().and_then(|failure| failure.resolution);
    assert_eq!(listed.iter().map(told).collect::<Vec<_>>(), [Some("use get".into()), None]);
    let shown = async || {
        let episode = world.handle.episodes.get(later, &project(), soon()).await.unwrap();
        episode.reflection.failures_analyzed[0].resolved_by
    };
    assert_eq!(shown().await, None);
    world.handle.episodes.restore(resolving, &project(), soon()).await.unwrap();
    assert_eq!((recovered().await.0, shown().await), (Some(resolving), Some(resolving)));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_named_is_one_wherever_it_is_told_from() {
    let world = world(good_model()).await;
    let record = async |session: Option<&str>, connection: &str| {
        let mut episode = NewEpisode::new("Mend the login", EpisodeStatus::Success);
        episode.session_id = session.map(str::to_owned);
        let request = RecordEpisode { episode, workspace: project(), session: Some(connection.into()) };
        world.handle.episodes.record(request, soon()).await.unwrap().episode.created
    };
    assert!(record(Some("monday"), "before").await);
    assert!(!record(Some("monday"), "after the restart").await);
    assert!(record(Some("tuesday"), "before").await);
    assert!(record(None, "before").await && record(None, "after the restart").await);
    assert!(record(None, "monday").await, "a connection of this name is no session that was named");
    world.stop().await;
}
