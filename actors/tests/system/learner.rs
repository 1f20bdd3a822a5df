//! Tests of learning from conversations: each thing is learned once, whatever happens meanwhile.

use std::time::Duration;

use reasoning_bank_actors::learner::{LearnerSettings, MAX_BATCH};
use reasoning_bank_actors::memories::{RecordRequest, SaidBy};
use reasoning_bank_actors::ports::{EmbedderState, StoreError};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemSettings;
use reasoning_bank_domain::learning::capture::{CaptureOutcome, CaptureRefusal, Captured, Novelty};
use reasoning_bank_domain::learning::correction::TakenBackExchange;
use reasoning_bank_domain::learning::transcript::Exchange;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signal::SignalKind;
use reasoning_bank_domain::memory::{SourceType, Status, Trust};
use reasoning_bank_domain::note::Code;
use rstest::rstest;

use crate::support::*;

const QUESTION: &str = "How do I see which process holds a port on Linux?";
const ANSWER: &str = "Run `ss -ltnp`, because it shows the process of every listening socket. Without root you only see \
                      your own processes, so use `sudo` where the column is empty.";

fn exchange(question: &str, answer: &str) -> Exchange {
    Exchange {
        question: question.into(),
        answer: answer.into(),
        session: Some("session-1".into()),
        asked_first: None,
        said_next: None,
        at: None,
    }
}

fn of_session(session: &str, answer: &str) -> Exchange {
    Exchange { session: Some(session.into()), ..exchange(QUESTION, answer) }
}

fn worthless() -> Exchange {
    exchange(
        "Thanks a lot for your help today!",
        &"You're very welcome! I'm glad that I could help you with it. ".repeat(3),
    )
}

impl World {
    async fn capture(&self, exchange: Exchange) -> Captured {
        self.handle.learner.capture(exchange, &project(), Trust::Model, soon()).await.unwrap()
    }

    /// Returns how many memories and signals there are.
    async fn held(&self) -> (usize, usize) {
        (self.memories().await.len(), self.signals().await.len())
    }
}

fn fate(captured: &Captured) -> (bool, Option<Novelty>, Option<MemoryId>) {
    let novelty = match captured.outcome {
        CaptureOutcome::Kept(_, novelty) => Some(novelty),
        CaptureOutcome::Queued(_) | CaptureOutcome::Refused(_) | CaptureOutcome::Off => None,
    };
    (captured.outcome.is_captured(), novelty, captured.id)
}

#[tokio::test(start_paused = true)]
async fn an_exchange_becomes_a_memory_once() {
    let world = world(good_model()).await;
    let first = world.capture(exchange(QUESTION, ANSWER)).await;
    let id = first.id.unwrap();
    assert_eq!(fate(&first), (true, Some(Novelty::New), Some(id)));
    let again = world.capture(exchange(&format!("  {}", QUESTION.to_uppercase()), ANSWER)).await;
    assert_eq!(fate(&again), (false, Some(Novelty::Known), Some(id)));
    assert_eq!(world.held().await, (1, 0), "the same again is no evidence");
    let memory = world.memories().await.remove(0);
    assert_eq!((memory.id, memory.source_type, memory.trust), (id, SourceType::PassiveLearning, Trust::Model));
    assert_eq!((memory.source_session.as_deref(), memory.prior), (Some("session-1"), 0.4));
    assert!(memory.embedder.is_some() && world.passages(id).await.iter().all(|passage| passage.vector.is_some()));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_another_memory_says_already_confirms_it_once() {
    let world = world(good_model()).await;
    let first = world.capture(exchange(QUESTION, ANSWER)).await.id;
    // The same lesson in a conversation of another day: nobody asked twice with the same noise around it.
    let other = of_session("2", &format!("Great question!\n\n{ANSWER}\n\nLet me know if you need more."));
    let again = world.capture(other.clone()).await;
    assert_eq!(fate(&again), (true, Some(Novelty::Confirms), first));
    let signals = world.signals().await;
    assert_eq!(
        signals.iter().map(|signal| (Some(signal.memory_id), signal.kind)).collect::<Vec<_>>(),
        [(first, SignalKind::Confirmed)]
    );
    assert_eq!(fate(&world.capture(other).await), (false, Some(Novelty::Known), first));
    assert_eq!(world.held().await, (1, 1));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_batch_says_of_each_what_became_of_it_and_learns_nothing_the_second_time() {
    let world = world(good_model()).await;
    let other = exchange(
        "Why is my docker build slow?",
        "Copy the manifest first and install before you copy the rest, because any changed file invalidates all layers behind it. Use `npm ci`.",
    );
    let batch = vec![exchange(QUESTION, ANSWER), worthless(), other, exchange(QUESTION, ANSWER)];
    let here = project();
    let learn = || world.handle.learner.learn(batch.clone(), &here, Trust::Tool, soon());
    let fates: Vec<CaptureOutcome> = learn().await.unwrap().into_iter().map(|captured| captured.outcome).collect();
    assert!(
        matches!(
            fates[..],
            [
                CaptureOutcome::Kept(_, Novelty::New),
                CaptureOutcome::Refused(CaptureRefusal::Chat),
                CaptureOutcome::Kept(_, Novelty::New),
                CaptureOutcome::Kept(_, Novelty::Known),
            ]
        ),
        "{fates:?}"
    );
    assert_eq!(world.held().await, (2, 0));
    assert!(learn().await.unwrap().iter().all(|captured| !captured.outcome.is_captured()));
    assert_eq!(world.held().await, (2, 0));
    let too_many = vec![worthless(); MAX_BATCH + 1];
    let error = world.handle.learner.learn(too_many, &project(), Trust::Tool, soon()).await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_a_user_states_is_kept_beside_what_the_answer_teaches() {
    let world = world(good_model()).await;
    let rule = "From now on dates are stored in Europe/Berlin, never in UTC.";
    let first = world.capture(exchange(rule, "Understood.")).await;
    assert_eq!(first.outcome.to_string(), "kept: the question states a rule");
    let memory = world.memories().await.remove(0);
    assert_eq!((Some(memory.id), memory.content.as_str()), (first.id, rule));
    assert_eq!((memory.is_warning(), memory.source_session.as_deref()), (false, Some("session-1")));
    assert_eq!((memory.prior, memory.source_type), (0.4, SourceType::PassiveLearning));
    let again = world.capture(exchange(rule, "I will.")).await;
    assert_eq!(fate(&again), (false, Some(Novelty::Known), first.id), "it is the same whatever was answered");
    let elsewhere = Exchange { session: Some("session-2".into()), ..exchange(rule, "Understood.") };
    assert_eq!(fate(&world.capture(elsewhere).await), (true, Some(Novelty::Confirms), first.id));
    assert_eq!(world.held().await, (1, 1));
    let both = world.capture(exchange(&format!("Always use `ss` on production hosts. {QUESTION}"), ANSWER)).await;
    let titles: Vec<String> = world.memories().await.into_iter().map(|memory| memory.title).collect();
    assert!(both.outcome.is_captured() && titles.contains(&QUESTION.to_owned()), "{titles:?}");
    assert!(titles.contains(&"Always use `ss` on production hosts".to_owned()), "{titles:?}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_same_lesson_told_twice_in_one_batch_is_one_memory() {
    let world = world(good_model()).await;
    let batch = vec![exchange(QUESTION, ANSWER), of_session("2", &format!("Sure!\n\n{ANSWER}"))];
    let captured = world.handle.learner.learn(batch, &project(), Trust::Model, soon()).await.unwrap();
    assert_eq!(fate(&captured[1]), (true, Some(Novelty::Confirms), captured[0].id));
    assert_eq!(world.held().await, (1, 1));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_lesson_leaves_search_once_its_answer_is_taken_back_and_comes_back_for_good() {
    let world = world(good_model()).await;
    let memories = &world.handle.memories;
    let wrong = world.capture(exchange(QUESTION, ANSWER)).await.id.unwrap();
    let other =
        "Use `lsof -i`, because it lists the process of each socket. First become root, then look for the port.";
    let right = world.capture(exchange("Nope, that shows nothing. And now?", other)).await.id;
    let taken_back = TakenBackExchange {
        exchange: exchange(QUESTION, ANSWER),
        put_right_by: Some(0),
        refusal: CaptureRefusal::TakenBack,
        takes_back_rule: false,
    };
    let withdraw = async |standing: &[Option<MemoryId>]| {
        memories.withdraw(std::slice::from_ref(&taken_back), standing, &project(), soon()).await.unwrap()
    };
    let state = async || {
        let memory = world.memories().await.into_iter().find(|memory| memory.id == wrong).unwrap();
        (memory.status, memory.superseded_by())
    };
    assert!(right.is_some());
    assert_eq!(withdraw(&[right]).await, [wrong]);
    assert_eq!(state().await, (Status::Superseded, right));
    assert_eq!(withdraw(&[right]).await, []);
    memories.reinstate(wrong, None, &project(), &SaidBy::Person, soon()).await.unwrap();
    assert_eq!(withdraw(&[right]).await, [], "somebody brought it back");
    assert_eq!(state().await, (Status::Active, None));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_lesson_leaves_search_where_nothing_puts_its_answer_right() {
    let world = world(good_model()).await;
    let wrong = world.capture(exchange(QUESTION, ANSWER)).await.id.unwrap();
    let taken_back = [TakenBackExchange {
        exchange: exchange(QUESTION, ANSWER),
        put_right_by: None,
        refusal: CaptureRefusal::TakenBack,
        takes_back_rule: false,
    }];
    let memories = &world.handle.memories;
    assert_eq!(memories.withdraw(&taken_back, &[], &elsewhere(), soon()).await.unwrap(), []);
    assert_eq!(memories.withdraw(&taken_back, &[], &project(), soon()).await.unwrap(), [wrong]);
    assert_eq!(world.memories().await[0].status, Status::Superseded);
    let back = memories.reinstate(wrong, None, &project(), &SaidBy::Person, soon()).await.unwrap();
    assert_eq!(back.memory.status, Status::Active);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn workspaces_learn_for_themselves() {
    let world = world(good_model()).await;
    let here = world.capture(exchange(QUESTION, ANSWER)).await;
    let learner = &world.handle.learner;
    let there = learner.capture(exchange(QUESTION, ANSWER), &elsewhere(), Trust::Model, soon()).await.unwrap();
    assert!(there.outcome.is_captured() && there.id != here.id);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn without_vectors_exact_repetitions_are_still_found() {
    let world = world(good_model()).await;
    world.embedder.set_state(EmbedderState::Failed("no model".into()));
    let first = world.capture(exchange(QUESTION, ANSWER)).await.id;
    let other = of_session("2", &format!("Great question!\n\n{ANSWER}"));
    assert_eq!(fate(&world.capture(other.clone()).await), (true, Some(Novelty::Confirms), first));
    assert!(!world.capture(other).await.outcome.is_captured());
    assert_eq!(world.held().await, (1, 1));
    world.stop().await;
}

#[rstest]
#[tokio::test(start_paused = true)]
async fn what_one_session_says_twice_is_no_evidence(#[values(false, true)] with_vectors: bool) {
    let world = world(good_model()).await;
    if !with_vectors {
        world.embedder.set_state(EmbedderState::Failed("no model".into()));
    }
    let first = world.capture(exchange(QUESTION, ANSWER)).await.id;
    let again = exchange(QUESTION, &format!("Great question!\n\n{ANSWER}"));
    for _ in 0..2 {
        assert_eq!(fate(&world.capture(again.clone()).await), (false, Some(Novelty::Known), first));
    }
    assert_eq!(world.held().await, (1, 0));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn secrets_are_gone_before_anything_is_kept() {
    let world = world(good_model()).await;
    let token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    let captured = world
        .capture(exchange(&format!("{QUESTION} My token is {token}"), &format!("{ANSWER} Don't use {token}.")))
        .await;
    assert_eq!((captured.outcome.is_captured(), captured.removed.redactions), (true, 2));
    assert!(!format!("{:?}", world.memories().await).contains(token));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn switched_off_nothing_is_captured_and_what_is_asked_for_is_learned() {
    let learner = LearnerSettings { enabled: false, ..LearnerSettings::default() };
    let world = world_with(good_model(), SystemSettings { learner, ..SystemSettings::default() }).await;
    assert_eq!(world.capture(exchange(QUESTION, ANSWER)).await.outcome, CaptureOutcome::Off);
    assert_eq!(world.held().await, (0, 0));
    let asked = vec![exchange(QUESTION, ANSWER)];
    assert!(
        world.handle.learner.learn(asked, &project(), Trust::Model, soon()).await.unwrap()[0].outcome.is_captured()
    );
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn texts_that_are_blank_or_too_long_are_refused_by_name() {
    let world = world(good_model()).await;
    for (question, answer, argument) in
        [(" ", ANSWER, "question"), (QUESTION, "\n", "answer"), (&"q".repeat(20_001), ANSWER, "question")]
    {
        let offered = world.handle.learner.capture(exchange(question, answer), &project(), Trust::Model, soon()).await;
        let error = offered.unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(error.to_string().starts_with(argument), "{error}");
    }
    world.stop().await;
}

#[rstest]
#[tokio::test(start_paused = true)]
async fn a_learner_that_dies_at_work_is_asked_again_and_learns_once(#[values(false, true)] by_panic: bool) {
    let world = world(good_model()).await;
    world.embedder.set_delay(Duration::from_secs(3));
    let mut events = world.handle.events.subscribe();
    let learner = world.handle.learner.clone();
    let capturing =
        tokio::spawn(
            async move { learner.capture(exchange(QUESTION, ANSWER), &project(), Trust::Model, soon()).await },
        );
    while world.embedder.calls() == 0 {
        tokio::task::yield_now().await;
    }
    let faults = world.handle.faults("learner");
    assert!(if by_panic { faults.panic().await } else { faults.kill().await });
    restarted(&mut events, "learner").await;
    assert!(capturing.await.unwrap().unwrap().outcome.is_captured());
    assert_eq!(world.held().await, (1, 0));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn too_many_at_once_are_told_to_come_back_and_the_others_are_answered() {
    let world = world(good_model()).await;
    world.embedder.set_delay(Duration::from_millis(50));
    let asked = (0..80).map(|n| {
        let asked = vec![exchange(&format!("{QUESTION} On host {n}?"), ANSWER)];
        let learner = world.handle.learner.clone();
        async move { learner.learn(asked, &project(), Trust::Model, soon()).await }
    });
    let answers = futures::future::join_all(asked).await;
    let refused =
        answers.iter().filter(|answer| answer.as_ref().is_err_and(|error| error.code() == Code::Overloaded)).count();
    assert_eq!((answers.iter().filter(|answer| answer.is_ok()).count(), refused), (64, 16));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_the_embedder_does_not_do_in_time_is_kept_without_vectors() {
    let world = world(good_model()).await;
    world.embedder.set_delay(Duration::from_secs(60));
    let short = Deadline::after(Duration::from_secs(2));
    let captured = world.handle.learner.capture(exchange(QUESTION, ANSWER), &project(), Trust::Model, short).await;
    assert!(captured.unwrap().outcome.is_captured());
    world.embedder.set_delay(Duration::ZERO);
    assert!(world.handle.memories.fill_vectors(soon()).await.unwrap() > 0);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_is_named_and_nothing_is_half_kept() {
    let world = world(good_model()).await;
    world.recorded(RecordRequest { ..lesson("Known", "before the disk was gone") }).await;
    world.store.fail_with(Some(StoreError::Failed("the disk is gone".into())));
    let learner = &world.handle.learner;
    let failed = learner.capture(exchange(QUESTION, ANSWER), &project(), Trust::Model, soon()).await.unwrap_err();
    assert_eq!(failed.code(), Code::StoreUnavailable);
    world.store.fail_with(None);
    assert_eq!(world.held().await, (1, 0));
    assert!(world.capture(exchange(QUESTION, ANSWER)).await.outcome.is_captured());
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_being_learned_is_stored_before_the_system_ends() {
    let World { system, handle, store, embedder } = world(good_model()).await;
    embedder.set_delay(Duration::from_secs(2));
    let learner = handle.learner.clone();
    let capturing =
        tokio::spawn(
            async move { learner.capture(exchange(QUESTION, ANSWER), &project(), Trust::Model, soon()).await },
        );
    while embedder.calls() == 0 {
        tokio::task::yield_now().await;
    }
    system.stop(Duration::from_secs(10)).await;
    assert!(capturing.await.unwrap().unwrap().outcome.is_captured());
    drop(store);
}
