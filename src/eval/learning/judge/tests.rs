//! A check that cannot fail proves nothing: every expectation is judged here both ways.

use proptest::prelude::*;
use uuid::Uuid;

use super::*;

fn id(n: u128) -> MemoryId {
    Uuid::from_u128(n).into()
}

/// Reads expectations as a scenario writes them.
fn expect(toml: &str) -> Expectations {
    toml::from_str(toml).unwrap()
}

fn shown(n: u128) -> RetrievedMemory {
    RetrievedMemory { id: id(n), title: format!("lesson {n}"), outdated_by: None, contested_by: None }
}

fn lesson(warning: bool, text: &str) -> LessonText {
    LessonText { title: text.split(' ').next().unwrap_or_default().into(), warning, text: text.into() }
}

/// Returns an observation in which `a` is lesson 1 and `b` is lesson 2.
fn seen() -> StepObservation {
    StepObservation {
        ids: BTreeMap::from([("a".to_owned(), id(1)), ("b".to_owned(), id(2))]),
        ..StepObservation::default()
    }
}

/// Returns the numbers of right, missed and wrong results.
fn count(judged: &[ExpectationResult]) -> (usize, usize, usize) {
    let of = |expects, holds| judged.iter().filter(|one| one.expects == expects && one.holds == holds).count();
    (of(ExpectationKind::Presence, true), of(ExpectationKind::Presence, false), of(ExpectationKind::Absence, false))
}

/// The expectation holds of the first, and not of the second.
#[track_caller]
fn tells_apart(expectation: &str, holds: &StepObservation, fails: &StepObservation) -> ExpectationResult {
    let expectation = expect(expectation);
    let judged = judge(&expectation, holds);
    assert!(judged.len() == 1 && judged[0].holds, "{judged:?}");
    let mut judged = judge(&expectation, fails);
    assert!(judged.len() == 1 && !judged[0].holds, "{judged:?}");
    judged.remove(0)
}

#[test]
fn a_planted_lesson_that_is_wrong_is_told_as_wrong() {
    let failed = StepObservation {
        lessons: vec![lesson(false, "Search as these attempts did"), lesson(true, "Bounds skip the last element")],
        ..seen()
    };
    let expectation =
        expect("there = [{ kind = 'warning', holds = ['LAST  element'] }]\nnot_there = [{ kind = 'strategy' }]");
    let judged = judge(&expectation, &failed);
    assert_eq!(count(&judged), (1, 0, 1));
    let wrong = judged.iter().find(|one| !one.holds).unwrap();
    assert_eq!((wrong.expected.as_str(), wrong.seen.as_str()), ("a strategy is not there", "\"Search\""));
    let right = StepObservation { lessons: failed.lessons[1..].to_vec(), ..failed };
    assert_eq!(count(&judge(&expectation, &right)), (1, 0, 0));
    assert_eq!(count(&judge(&expectation, &seen())), (0, 1, 0));
}

#[test]
fn one_memory_has_to_hold_all_words() {
    let both = StepObservation { lessons: vec![lesson(false, "cold water")], ..seen() };
    let apart = StepObservation { lessons: vec![lesson(false, "cold"), lesson(false, "water")], ..seen() };
    tells_apart("there = [{ holds = ['cold', 'water'] }]", &both, &apart);
    tells_apart("not_there = [{ holds = ['cold', 'water'] }]", &apart, &both);
}

#[test]
fn a_record_is_created_or_confirms() {
    let with = |status, n| StepObservation { recorded: Some((status, id(n))), ..seen() };
    let (new, again) = (with(RecordStatus::Created, 2), with(RecordStatus::Reinforced, 1));
    let missed = tells_apart("status = 'created'", &new, &again);
    assert_eq!((missed.expects, missed.seen.as_str()), (ExpectationKind::Presence, "reinforced a"));
    tells_apart("status = 'reinforced'", &again, &new);
    tells_apart("same_as = 'a'", &again, &new);
}

#[test]
fn what_is_refused_is_told_even_where_nothing_is_expected() {
    let refused = StepObservation { refusal: Some("too long".into()), ..seen() };
    tells_apart("refused = true", &refused, &seen());
    assert_eq!(count(&judge(&expect(""), &refused)), (0, 1, 0));
    assert_eq!(judge(&expect(""), &seen()), []);
}

#[test]
fn an_exchange_is_kept_or_not() {
    let [kept, refused] = [true, false].map(|kept| StepObservation { kept: Some((kept, "chat".into())), ..seen() });
    let missed = tells_apart("kept = true", &kept, &refused);
    assert_eq!((missed.expects, missed.seen.as_str()), (ExpectationKind::Presence, "chat"));
    assert_eq!(tells_apart("kept = false", &refused, &kept).expects, ExpectationKind::Absence);
}

#[test]
fn a_solve_ends_and_tells_its_model() {
    let solve = |outcome, injected: &[u128]| StepObservation {
        outcome: Some(outcome),
        injected: injected.iter().map(|n| id(*n)).collect(),
        ..seen()
    };
    let (well, badly) = (solve(Outcome::Success, &[1]), solve(Outcome::Failure, &[]));
    tells_apart("outcome = 'success'", &well, &badly);
    tells_apart("injected = ['a']", &well, &badly);
    tells_apart("not_injected = ['a']", &badly, &well);
}

#[test]
fn answers_are_judged_by_place_and_mark() {
    let [ab, ba, none] = [vec![1, 2], vec![2, 1], vec![]]
        .map(|numbers| StepObservation { shown: numbers.into_iter().map(shown).collect(), ..seen() });
    tells_apart("first = 'a'", &ab, &ba);
    tells_apart("order = ['b', 'a']", &ba, &ab);
    tells_apart("order = ['b', 'a']", &ba, &none);
    tells_apart("shown = ['b']", &ab, &none);
    tells_apart("not_shown = ['b']", &none, &ab);
    let mut marked = ba.clone();
    marked.shown[1].outdated_by = Some(id(2));
    tells_apart("outdated.a = 'b'", &marked, &ba);
    assert_eq!(tells_apart("not_outdated = ['a']", &ba, &marked).seen, "outdated by b");
    let mut contested = ba.clone();
    contested.shown[1].contested_by = Some(id(2));
    tells_apart("contested.a = 'b'", &contested, &ba);
}

#[test]
fn a_lesson_that_was_not_learned_is_missed_and_never_wrong() {
    let unknown = StepObservation { shown: vec![shown(3)], ..StepObservation::default() };
    assert_eq!(
        count(&judge(&expect("shown = ['a']\nfirst = 'a'\nnot_shown = ['a']\nsteady = ['a']"), &unknown)),
        (0, 2, 0)
    );
}

#[test]
fn confidence_and_use_are_compared_with_before() {
    let moved = |by: f64| StepObservation { confidence: BTreeMap::from([("a".to_owned(), (0.5, 0.5 + by))]), ..seen() };
    tells_apart("rises = ['a']", &moved(0.1), &moved(0.0));
    tells_apart("falls = ['a']", &moved(-0.1), &moved(0.1));
    let wrong = tells_apart("steady = ['a']", &moved(1e-6), &moved(0.1));
    assert_eq!((wrong.expects, wrong.seen.as_str()), (ExpectationKind::Absence, "from 0.500 to 0.600"));
    let used = |after| StepObservation { usage: BTreeMap::from([("a".to_owned(), (1, after))]), ..seen() };
    tells_apart("counted = ['a']", &used(2), &used(1));
}

#[test]
fn a_newer_lesson_takes_the_place_of_an_older_one_or_is_linked_to_it() {
    let with = |ids: SuccessorIds| StepObservation { successors: BTreeMap::from([("a".to_owned(), ids)]), ..seen() };
    let none = with(SuccessorIds::default());
    let by = |n| with(SuccessorIds { superseded_by: Some(id(n)), linked_to: None });
    let linked = |n| with(SuccessorIds { superseded_by: None, linked_to: Some(id(n)) });
    tells_apart("superseded.a = 'b'", &by(2), &by(3));
    tells_apart("superseded.a = 'b'", &by(2), &linked(2));
    tells_apart("linked.a = 'b'", &linked(2), &by(2));
    let wrong = tells_apart("not_superseded = ['a']", &linked(2), &by(2));
    assert_eq!((wrong.expects, wrong.seen.as_str()), (ExpectationKind::Absence, "b"));
    tells_apart("not_linked = ['a']", &none, &linked(2));
}

#[test]
fn too_few_memories_are_missed_and_too_many_are_wrong() {
    let with = |n| StepObservation { lessons: vec![lesson(false, "text"); n], ..seen() };
    let two = expect("memories = 2");
    let counts = [1, 2, 3].map(|n| count(&judge(&two, &with(n))));
    assert_eq!(counts, [(0, 1, 0), (1, 0, 0), (1, 0, 1)]);
    tells_apart("memories = 0", &with(0), &with(1));
}

#[test]
fn traces_and_success_rates_are_looked_at() {
    let traced = |outcome| StepObservation { traces: vec![("Write a parser of dates.".into(), outcome)], ..seen() };
    let truth = "traces = [{ task = 'parser of dates', outcome = 'failure' }]";
    tells_apart(truth, &traced(Outcome::Failure), &traced(Outcome::Success));
    let rate = |success_rate| StepObservation { success_rate, ..seen() };
    tells_apart("success_rate = 0.5", &rate(0.5), &rate(1.0));
}

proptest! {
    #[test]
    fn an_order_holds_of_the_answer_that_has_it_and_of_no_other(numbers in prop::sample::subsequence(vec![1u128, 2], 0..=2), turned: bool) {
        let mut numbers = numbers;
        if turned {
            numbers.reverse();
        }
        let answer = StepObservation { shown: numbers.iter().copied().map(shown).collect(), ..seen() };
        let judged = judge(&expect("order = ['a', 'b']"), &answer);
        prop_assert_eq!(judged[0].holds, numbers == [1, 2]);
    }
}
