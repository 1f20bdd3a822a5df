use jiff::SignedDuration;

use super::*;
use crate::memory::samples::{id, now, strategy};
use crate::memory::{Trust, WORDINGS_MAX};

const AT_8080: &str = "The API listens on port 8080.";
const AT_9090: &str = "The port for the API is 9090.";
const RETRY: &str = "Retry the call when the server answers 429.";
const RETRY_SAID_OTHERWISE: &str = "When the server answers 429, retry the call";
const VECTOR: [f32; 2] = [1.0, 0.0];
const FAR: [f32; 2] = [0.0, 1.0];

/// Makes a memory that says this and nothing else. A greater number is a later time.
fn saying(n: u128, content: &str) -> Memory {
    let at = now() + SignedDuration::from_secs(n as i64);
    let (title, description) = (String::new(), String::new());
    Memory { title, description, content: content.into(), created_at: at, updated_at: at, ..strategy(n) }
}

fn place(batch: &mut LessonBatch, lesson: &Memory, stored: &[(f64, &Memory)]) -> LessonPlacement {
    let stored = stored.iter().map(|(cosine, memory)| (*cosine, (*memory).clone())).collect();
    batch.place(lesson, Some(&VECTOR), stored)
}

fn new_memory(placement: LessonPlacement) -> Memory {
    let LessonPlacement::New { memory, .. } = placement else { panic!("{placement:?}") };
    *memory
}

/// Returns which memory a lesson confirms, and how that grows.
fn confirmed(placement: LessonPlacement) -> (MemoryId, Option<MemoryChange>) {
    let LessonPlacement::Same { existing, growth } = placement else { panic!("{placement:?}") };
    (existing.id, growth.map(|growth| *growth))
}

#[test]
fn a_lesson_that_says_the_same_confirms_and_brings_its_wording() {
    let (stored, mut batch) = (saying(1, RETRY), LessonBatch::default());
    assert_eq!(confirmed(place(&mut batch, &saying(2, RETRY), &[(1.0, &stored)])), (id(1), None));
    let (of, growth) = confirmed(place(&mut batch, &saying(3, RETRY_SAID_OTHERWISE), &[(0.96, &stored)]));
    let growth = growth.unwrap();
    assert_eq!((of, growth.before.wordings.len(), growth.after.wordings.len()), (id(1), 0, 1));
    let again = place(&mut batch, &saying(4, RETRY_SAID_OTHERWISE), &[(0.96, &stored)]);
    assert_eq!(confirmed(again), (id(1), None), "the batch has brought the wording already");
    assert_eq!(batch.into_changes(), BTreeMap::from([(id(1), growth)]));
}

#[test]
fn a_lesson_that_is_only_near_is_a_memory_of_its_own() {
    let (near, far) = (saying(1, "A pause doubles with each failure."), saying(2, RETRY));
    let mut batch = LessonBatch::default();
    let lesson = new_memory(place(&mut batch, &saying(3, RETRY), &[(0.9, &near), (0.84, &far)]));
    assert_eq!((lesson.id, lesson.derived_from), (id(3), vec![]), "nobody took its words from what is near");
    let elsewhere = Memory { workspace_id: crate::memory::workspace::WorkspaceId::of_root("/other"), ..near };
    let alone = new_memory(place(&mut batch, &saying(4, RETRY), &[(1.0, &elsewhere)]));
    assert_eq!(alone.id, id(4), "what another project shared is not confirmed");
    assert!(batch.into_changes().is_empty());
}

#[test]
fn an_update_names_the_older_memory_which_is_linked_with_it() {
    let (older, mut batch) = (saying(1, AT_8080), LessonBatch::default());
    let newer = new_memory(place(&mut batch, &saying(2, AT_9090), &[(0.8, &older)]));
    assert_eq!(newer.succession.replaces, [id(1)]);
    let changes = batch.into_changes();
    assert_eq!(changes[&id(1)].before, older);
    assert!(changes[&id(1)].after.is_updated_by(&newer));
}

#[test]
fn a_lesson_that_was_said_before_a_stored_one_is_linked_with_that() {
    let (newer, mut batch) = (saying(2, AT_9090), LessonBatch::default());
    let older = new_memory(place(&mut batch, &saying(1, AT_8080), &[(0.8, &newer)]));
    let after = &batch.into_changes()[&id(2)].after;
    assert!(older.is_updated_by(after) && after.succession.replaces == [id(1)]);
}

#[test]
fn words_that_a_newer_memory_took_back_are_new_when_they_are_said_again() {
    let newer = saying(2, AT_9090).replacing(id(1));
    let older = saying(1, AT_8080).linked(id(2), 0.9).unwrap();
    let mut batch = LessonBatch::default();
    let again = new_memory(place(&mut batch, &saying(3, AT_8080), &[(1.0, &older), (0.8, &newer)]));
    assert_eq!((again.id, again.succession.replaces), (id(3), vec![id(2)]));
}

#[test]
fn a_memory_that_is_said_again_after_another_one_is_as_young_as_the_last_time() {
    let (older, between) = (saying(1, AT_8080), saying(2, AT_9090));
    let mut batch = LessonBatch::default();
    let stored = [(1.0, &older), (0.8, &between)];
    assert_eq!(confirmed(place(&mut batch, &saying(3, AT_8080), &stored)), (id(1), None));
    let changes = batch.into_changes();
    assert_eq!(changes[&id(1)].after.valid_from, Some(saying(3, "").created_at));
    assert!(changes[&id(2)].after.is_updated_by(&changes[&id(1)].after));
}

#[test]
fn the_lessons_of_one_solve_are_one_memory_and_those_of_strangers_confirm_each_other() {
    let (first, again) = (saying(1, RETRY), saying(2, RETRY_SAID_OTHERWISE));
    let mut of_one = LessonBatch::default();
    new_memory(place(&mut of_one, &first, &[]));
    assert_eq!(of_one.repeated(&again, Some(&VECTOR)), Some(id(1)));
    assert_eq!(of_one.repeated(&again, Some(&FAR)), None);
    assert_eq!(of_one.repeated(&again, None), None);

    let mut of_strangers = LessonBatch::of_strangers();
    new_memory(place(&mut of_strangers, &first, &[]));
    assert_eq!(of_strangers.repeated(&again, Some(&VECTOR)), None);
    assert_eq!(confirmed(place(&mut of_strangers, &saying(3, RETRY), &[])), (id(1), None));
    assert_eq!(new_memory(place(&mut of_strangers, &again, &[])).id, id(2), "what is not stored yet is not revised");
}

#[test]
fn a_memory_that_the_batch_may_not_change_is_confirmed_by_its_very_words_alone() {
    let (stored, older) = (saying(1, RETRY), saying(5, AT_8080));
    let batches = [LessonBatch::default().on_last_try(true), LessonBatch::beside_revisions_of([id(1), id(5)])];
    for mut batch in batches {
        assert_eq!(confirmed(place(&mut batch, &saying(2, RETRY), &[(1.0, &stored)])), (id(1), None));
        let other = new_memory(place(&mut batch, &saying(3, RETRY_SAID_OTHERWISE), &[(0.96, &stored)]));
        assert_eq!(other.id, id(3));
        let newer = new_memory(place(&mut batch, &saying(6, AT_9090), &[(0.8, &older)]));
        assert_eq!(newer.succession.replaces, []);
        assert!(batch.into_changes().is_empty());
    }
    let mut replacing = LessonBatch::default().replacing(&[id(1)]);
    let lesson = new_memory(place(&mut replacing, &saying(2, RETRY), &[(1.0, &stored)]));
    assert_eq!(lesson.id, id(2), "what is replaced is not confirmed");
}

#[test]
fn a_memory_without_room_or_with_less_trust_does_not_take_a_lesson_in() {
    let full = Memory { wordings: (0..WORDINGS_MAX).map(|n| format!("words {n}")).collect(), ..saying(1, RETRY) };
    let mut batch = LessonBatch::default();
    assert_eq!(new_memory(place(&mut batch, &saying(2, RETRY_SAID_OTHERWISE), &[(1.0, &full)])).id, id(2));
    let stored = saying(3, RETRY);
    let trusted = Memory { trust: Trust::User, ..saying(4, RETRY) }.replacing(id(9));
    assert_eq!(new_memory(place(&mut batch, &trusted, &[(1.0, &stored)])).id, id(4));
    let (of, growth) = confirmed(place(&mut batch, &saying(5, RETRY).replacing(id(9)), &[(1.0, &stored)]));
    assert_eq!((of, growth.unwrap().after.succession.replaces), (id(3), vec![id(9)]));
}

#[test]
fn a_lesson_without_a_vector_is_compared_with_nothing() {
    let mut batch = LessonBatch::of_strangers();
    new_memory(place(&mut batch, &saying(1, RETRY), &[]));
    assert_eq!(new_memory(batch.place(&saying(2, RETRY), None, Vec::new())).id, id(2));
}
