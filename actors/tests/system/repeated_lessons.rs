//! Tests of lessons that are learned again: which memory is confirmed, how often, by which sources, and under which id
//! it is told.

use std::sync::Arc;

use reasoning_bank_actors::memories::{RecordRequest, Restorable, RetrieveRequest};
use reasoning_bank_actors::ports::{Conditions, EmbedderState, StoreReads};
use reasoning_bank_actors::testkit::Scripted;
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signal::SignalKind;
use reasoning_bank_domain::prompt::Purpose;
use reasoning_bank_domain::retrieval::responses::RecordStatus;
use serde_json::json;

use crate::support::*;

const TITLE: &str = "Name the edge cases first";
const CONTENT: &str = "Attempts that listed edge cases before code scored higher.";

async fn confirmed(world: &World, id: MemoryId) -> usize {
    let signals = world.signals().await;
    signals.iter().filter(|signal| signal.memory_id == id && signal.kind == SignalKind::Confirmed).count()
}

fn described(description: &str, lesson: RecordRequest) -> RecordRequest {
    RecordRequest { description: description.into(), ..lesson }
}

fn item(content: &str) -> serde_json::Value {
    json!({"title": TITLE, "description": "when it fits", "content": content, "pattern_tags": [],
           "domain_category": null, "difficulty_level": null, "error_context": null})
}

/// A good model whose comparison of attempts yields these lessons.
fn that_learns(contents: &[&str]) -> Scripted {
    let items: Vec<_> = contents.iter().map(|content| item(content)).collect();
    let contrasted: Arc<str> = json!({"best_index": 1, "analysis": "a", "learnings": items}).to_string().into();
    let model = good_model();
    model.answer(Purpose::Contrast, move |_| Ok(contrasted.to_string()));
    model
}

#[tokio::test(start_paused = true)]
async fn lessons_of_one_solve_that_nearly_repeat_each_other_are_one_memory() {
    let timeout = |seconds: u32| format!("Set the timeout of the gateway to {seconds} seconds before a load test.");
    let contents = [
        CONTENT,
        "The attempts that listed edge cases before code scored higher",
        &timeout(30),
        "Set the timeout of the gateway to 30 seconds before the load test.",
        &timeout(90),
    ];
    let world = world(that_learns(&contents)).await;
    let report = world.handle.agents.solve(task("a task", 3), project(), call()).await.unwrap();
    let mut kept = Vec::new();
    for learned in &report.learnings {
        let memory = world.store.get(vec![learned.id], soon()).await.unwrap().remove(0).memory;
        kept.push((memory.content, memory.wordings.len()));
        assert_eq!(confirmed(&world, learned.id).await, 0, "a solve does not confirm itself");
    }
    let expected = [(CONTENT.to_owned(), 1), (timeout(30), 1), (timeout(90), 0)];
    assert_eq!(kept, expected, "another value is another lesson, other words are a wording");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_solve_confirms_a_memory_once_however_many_of_its_lessons_say_the_same() {
    let wordings = [
        CONTENT,
        "Attempts that listed edge cases before code scored higher",
        "The attempts that listed edge cases before code scored higher.",
        "Attempts that listed the edge cases before code scored higher.",
        "Attempts that listed edge cases before the code scored higher.",
    ];
    let world = world(that_learns(&wordings)).await;
    let known = world.recorded(lesson(TITLE, CONTENT)).await;
    for solves in 1..=2 {
        let begun = task(&format!("another task {solves}"), 3);
        let report = world.handle.agents.solve(begun, project(), call()).await.unwrap();
        assert_eq!(report.learnings.iter().map(|learned| learned.id).collect::<Vec<_>>(), [known; 5]);
        assert_eq!(confirmed(&world, known).await, solves);
    }
    let memory = world.store.get(vec![known], soon()).await.unwrap().remove(0).memory;
    assert_eq!(memory.wordings.len(), 4, "each wording is kept once: {:?}", memory.wordings);
    assert_eq!(memory.further_tasks, ["another task 1", "another task 2"]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_trace_names_the_memory_that_a_lesson_became_not_one_that_never_was() {
    let world = world(good_model()).await;
    // Without vectors nobody but the store sees that it is the same.
    world.embedder.set_state(EmbedderState::Failed("it is away".into()));
    let known = world.recorded(described("When drafting several attempts.", lesson(TITLE, CONTENT))).await;
    let report = world.handle.agents.solve(task("any task", 3), project(), call()).await.unwrap();
    assert_eq!(report.learnings.iter().map(|learned| learned.id).collect::<Vec<_>>(), [known]);
    let trace = world.trace(report.trace_id.unwrap()).await;
    assert_eq!((trace.memory_items, trace.revision), (vec![known], 1));
    let memory = world.store.get(vec![known], soon()).await.unwrap().remove(0).memory;
    assert_eq!(memory.further_tasks, ["any task"]);
    assert_eq!(confirmed(&world, known).await, 1);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_relative_of_a_lesson_is_no_source_of_the_memory_that_it_confirms() {
    let world = world(good_model()).await;
    world.recorded(lesson("Some", "other thing")).await;
    let template = world.memories().await.remove(0);
    let with = |title: &str, content: String| Memory {
        id: uuid::Uuid::now_v7().into(),
        title: title.into(),
        description: "a b c".into(),
        content,
        ..template.clone()
    };
    let same = with("T", "d e f g h i j k l m n o".into());
    let relative = with("T", "d e f g h i j k l m n p".into());
    let restored = [&same, &relative].map(|m| Restorable::Memory { memory: m.clone(), passages: vec![] });
    world.handle.memories.restore(restored.into(), soon()).await.unwrap();

    let again = described("a b c", lesson("T", "D e f g h i j k l m n o."));
    let recorded = world.handle.memories.record(again, soon()).await.unwrap();
    assert_eq!((recorded.id, recorded.status), (same.id, RecordStatus::Reinforced));
    let view = world.handle.memories.get(same.id, &project(), soon()).await.unwrap();
    assert_eq!((view.derived_from, view.evolution_stage), (vec![], 0));

    let exact = described("a b c", lesson("T", &same.content));
    let recorded = world.handle.memories.record(exact, soon()).await.unwrap();
    assert_eq!(recorded.id, same.id);
    let view = world.handle.memories.get(same.id, &project(), soon()).await.unwrap();
    assert_eq!((view.derived_from, view.evolution_stage), (vec![], 0));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_lesson_that_comes_again_with_an_error_is_a_warning_of_its_own() {
    let world = world(good_model()).await;
    let words = || lesson("Check the bounds", "compare with the length before every access");
    let plain = world.recorded(words()).await;
    let index = world.recorded(warning("IndexError", None, words())).await;
    let key = world.recorded(warning("KeyError", None, words())).await;
    let again = world.recorded(warning("builtins.KeyError: 'a'", None, words())).await;
    assert!(plain != index && index != key && plain != key && again == key);
    let found = world.handle.memories.retrieve(RetrieveRequest::new("bounds", project(), 5), soon()).await.unwrap();
    assert_eq!(found.memories.len(), 3, "none hides another");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_domain_ranks_warnings_of_an_error_and_keeps_none_of_them_out() {
    let world = world(good_model()).await;
    let of = |domain: &str| warning("ValueError", Some(domain), lesson(&format!("Of {domain}"), "zebra"));
    let (parsing, network) = (world.recorded(of("parsing")).await, world.recorded(of("network")).await);
    let asked = |signature: &str, domain: &str| RetrieveRequest {
        conditions: Conditions { warnings_only: true, ..Conditions::default() },
        error_signature: Some(signature.into()),
        domain: Some(domain.into()),
        ..RetrieveRequest::new("what to do", project(), 5)
    };
    let found = async |request| {
        let found = world.handle.memories.retrieve(request, soon()).await.unwrap().memories;
        found.into_iter().map(|found| (found.memory.id, found.error_score)).collect::<Vec<_>>()
    };
    for (domain, first, second) in [("parsing", parsing, network), ("Network", network, parsing)] {
        assert_eq!(found(asked("ValueError: x", domain)).await, [(first, 1.0), (second, 0.5)], "{domain}");
    }
    let both = found(asked("ValueError", "python")).await;
    assert_eq!(both.iter().map(|(_, score)| *score).collect::<Vec<_>>(), [0.5, 0.5]);
    let within = found(asked("valueerror|parsing", "network")).await;
    assert_eq!(within[0], (parsing, 1.0), "a domain within the signature stays");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stack_trace_is_kept_without_addresses_and_lines_however_long_it_is() {
    let world = world(good_model()).await;
    let mut request = warning("ValueError", None, lesson("Check", "the input"));
    let frames: String =
        (0..1_000).map(|n| format!("  File \"/app/a.py\", line {n}, in f{n} at 0x7f{n:x}\n")).collect();
    let stack = format!("Traceback (most recent call last):\n{frames}ValueError: bad");
    request.error_context.as_mut().unwrap().stack_trace = Some(stack);
    let id = world.recorded(request).await;
    let view = world.handle.memories.get(id, &project(), soon()).await.unwrap();
    let kept = view.error_context.unwrap().stack_trace.unwrap();
    assert!(kept.chars().count() <= 4_000 && kept.starts_with("Traceback") && kept.ends_with("ValueError: bad"));
    assert!(kept.contains("File \"/app/a.py\", in f0\n") && !kept.contains("0x") && !kept.contains("line "));
    world.stop().await;
}

/// The passage of the failure stays the only one of it, whatever wording comes.
#[tokio::test(start_paused = true)]
async fn a_warning_that_is_confirmed_in_other_words_gets_the_passage_of_these_words_alone() {
    let world = world(good_model()).await;
    let record = async |content| {
        let request = warning("LockError", None, lesson(TITLE, content));
        world.handle.memories.record(request, soon()).await.unwrap()
    };
    let first = record(CONTENT).await.id;
    let again = record("The attempts that listed edge cases before code scored higher.").await;
    assert_eq!((again.id, again.status), (first, RecordStatus::Reinforced));
    let memory = world.handle.memories.show(first, &project(), soon()).await.unwrap();
    assert_eq!(memory.wordings.len(), 1);
    let texts: Vec<String> = world.passages(first).await.into_iter().map(|passage| passage.text).collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert_eq!(texts[1], "LockError it went wrong");
    assert!(texts[0].contains(CONTENT) && texts[2].contains("The attempts"), "{texts:?}");
    world.stop().await;
}
