use proptest::prelude::*;

use super::*;
use crate::memory::samples::{id, strategy};
use crate::memory::{Scope, Trust};

#[test]
fn a_link_holds_while_both_name_each_other_and_are_active() {
    let older = strategy(1).linked(id(2), 0.8).unwrap();
    let newer = strategy(2).replacing(id(1));
    assert!(older.is_updated_by(&newer) && older.status == Status::Active);
    assert!(!older.is_updated_by(&strategy(2)), "the newer one says nothing of it any more");
    assert!(!older.is_updated_by(&Memory { status: Status::Archived, ..newer.clone() }));
    assert!(!Memory { status: Status::Quarantined, ..older.clone() }.is_updated_by(&newer));
    assert_eq!(older.linked(id(3), 0.9), None, "one link is enough");
    assert_eq!(older.superseded_by(), None);
}

#[test]
fn what_is_said_again_is_newer_than_what_was_said_in_between() {
    let said = |n, days| Memory { created_at: crate::memory::samples::days_ago(days), ..strategy(n) };
    let (stored, again) = (said(1, 9.0), said(9, 1.0));
    let moved = stored.said_again(&again, &[said(2, 5.0)]).unwrap();
    assert_eq!(moved, Memory { valid_from: Some(again.created_at), ..stored.clone() });
    for neighbours in [vec![], vec![stored.clone()], vec![said(2, 10.0)], vec![said(2, 0.5)]] {
        assert_eq!(stored.said_again(&again, &neighbours), None, "{neighbours:?}");
    }
    let of_model = Memory { trust: Trust::Model, ..again };
    assert_eq!(stored.said_again(&of_model, &[said(2, 5.0)]), None);
}

#[test]
fn what_was_undone_is_not_linked_again_and_may_be_said_again() {
    let older = strategy(1).linked(id(2), 0.8).unwrap().reinstated(None).unwrap();
    assert_eq!((older.linked_to(), older.linked(id(2), 0.8)), (None, None));
    assert!(older.linked(id(3), 0.8).is_some());
    let said = older.superseded(id(2)).unwrap();
    assert_eq!((said.status, said.superseded_by()), (Status::Superseded, Some(id(2))));
    assert!(said.succession.stands_beside.is_empty());
    assert_eq!(said.superseded(id(2)), None);
}

#[test]
fn a_pair_may_be_undone_before_anything_links_it() {
    let older = strategy(1).reinstated(Some(id(2))).unwrap();
    assert_eq!(older.linked(id(2), 1.0), None);
    assert_eq!(older.reinstated(Some(id(2))), None);
    assert_eq!(strategy(1).reinstated(None), None);
    let by_another = strategy(1).superseded(id(3)).unwrap().reinstated(Some(id(2))).unwrap();
    assert_eq!(by_another.superseded_by(), Some(id(3)));
}

#[test]
fn what_was_superseded_by_nobody_named_comes_back_too() {
    let by_hand = Memory { status: Status::Superseded, ..strategy(1) };
    assert_eq!(by_hand.reinstated(None), Some(strategy(1)));
}

#[test]
fn what_is_out_of_search_for_other_reasons_is_not_replaced() {
    for status in [Status::Archived, Status::Quarantined] {
        let memory = Memory { status, ..strategy(1) };
        assert_eq!((memory.superseded(id(2)), memory.linked(id(2), 1.0)), (None, None));
    }
}

#[test]
fn of_two_that_replace_each_other_the_word_that_was_said_last_counts() {
    let (a, b) = (strategy(1).linked(id(2), 0.9).unwrap(), strategy(2).replacing(id(1)));
    let (a, b) = (a.replacing(id(2)), b.superseded(id(1)).unwrap());
    assert_eq!((a.linked_to(), b.superseded_by()), (None, Some(id(1))));
    assert!(b.succession.replaces.is_empty());
}

#[test]
fn what_a_superseded_memory_updated_is_updated_by_what_superseded_it() {
    let oldest = strategy(1).linked(id(2), 0.8).unwrap().relinked(id(3));
    assert_eq!(oldest.linked_to(), Some(Successor { id: id(3), confidence: Some(0.8) }));
    assert!(oldest.is_updated_by(&strategy(3).replacing(id(2)).replacing(id(1))));
}

#[test]
fn a_report_about_one_of_a_pair_decides_and_one_about_both_does_not() {
    let older = strategy(1).linked(id(2), 0.8).unwrap();
    let newer = Memory { source_session: Some("author".into()), ..strategy(2).replacing(id(1)) };
    let decided =
        |reported: &[&Memory], session| links_decided_by_report(reported, std::slice::from_ref(&older), session);
    assert_eq!(decided(&[&newer], Some("another")), [older.superseded(id(2)).unwrap()]);
    assert_eq!(decided(&[&newer], None), [older.superseded(id(2)).unwrap()]);
    assert_eq!(decided(&[&newer], Some("author")), []);
    assert_eq!(decided(&[&older], Some("another")), [older.reinstated(None).unwrap()]);
    assert_eq!(decided(&[&older, &newer], Some("another")), []);
    assert_eq!(decided(&[&strategy(3)], Some("another")), []);
}

#[test]
fn what_may_take_the_place_of_what() {
    let (older, newer) = (strategy(1), strategy(2));
    assert_eq!(replacement_problem(&older, &newer, false), None);
    assert!(replacement_problem(&older, &older, true).is_some());
    let team = Memory { scope: Scope::Team, team: Some("red".into()), ..strategy(1) };
    assert_eq!(replacement_problem(&team, &newer, true), None);
    let problem = replacement_problem(&team, &newer, false).unwrap();
    assert!(problem.contains("team") && problem.contains("memory supersede"), "{problem}");
    for status in [Status::Archived, Status::Quarantined] {
        assert!(replacement_problem(&Memory { status, ..strategy(1) }, &newer, true).is_some());
        assert!(replacement_problem(&older, &Memory { status, ..strategy(2) }, true).is_some());
    }
    let chained = older.superseded(id(3)).unwrap();
    assert_eq!(replacement_problem(&chained, &newer, false), None);
    assert_eq!(chained.superseded(id(2)), None, "it stays with the one that superseded it");
    let trusted = Memory { trust: Trust::User, ..strategy(1) };
    let problem = replacement_problem(&trusted, &newer, false).unwrap();
    assert!(problem.contains("the word of an agent") && problem.contains("memory supersede"), "{problem}");
    assert_eq!(replacement_problem(&trusted, &newer, true), None);
}

fn with_status(memory: &Memory, status: Status) -> Memory {
    Memory { status, ..memory.clone() }
}

#[test]
fn what_is_out_of_search_outdates_nothing_and_outdates_it_again_when_it_is_back() {
    let said = strategy(1).superseded(id(9)).unwrap();
    let found = strategy(2).linked(id(9), 0.8).unwrap();
    let by_another = strategy(3).superseded(id(8)).unwrap();
    let others = [said.clone(), found, by_another];
    let mut without = strategy(1);
    without.succession.reinstated_without = Some(id(9));
    let newer = strategy(9).replacing(id(1)).replacing(id(2)).replacing(id(3));
    for status in [Status::Archived, Status::Quarantined] {
        let out = with_status(&newer, status);
        assert_eq!(left_behind(&newer, Some(&out), &others), [without.clone(), strategy(2)]);
        assert_eq!(left_behind(&out, Some(&with_status(&newer, Status::Superseded)), &others), []);
        assert_eq!(
            left_behind(&out, Some(&newer), std::slice::from_ref(&without)),
            std::slice::from_ref(&said),
            "as it was"
        );
        let back = left_behind(&out, Some(&newer), &[strategy(1), with_status(&strategy(2), Status::Archived)]);
        assert_eq!(back.len(), 1);
        assert!(back[0].is_updated_by(&newer) && back[0].status == Status::Active);
    }
    assert_eq!(left_behind(&newer, None, &others), [strategy(1), strategy(2)]);
    assert_eq!(left_behind(&newer, Some(&newer), &others), []);
}

#[test]
fn what_was_decided_while_the_newer_one_was_out_of_search_stands() {
    let newer = strategy(9).replacing(id(1));
    let out = with_status(&newer, Status::Quarantined);
    let said = strategy(1).superseded(id(9)).unwrap();
    let without = left_behind(&newer, Some(&out), &[said]).remove(0);
    let undone = without.reinstated(None).unwrap();
    assert_eq!((undone.succession.reinstated_without, &*undone.succession.stands_beside), (None, &[id(9)][..]));
    let by_another = without.superseded(id(8)).unwrap();
    assert_eq!(
        left_behind(&out, None, std::slice::from_ref(&without)),
        [strategy(1)],
        "what is erased never comes back"
    );
    let linked = without.linked(id(8), 0.8).unwrap();
    let back = left_behind(&out, Some(&newer), &[linked]);
    assert_eq!(back[0].superseded_by(), Some(id(9)), "what somebody said outlasts what a rule found");
    let reworded = crate::memory::Changes { content: Some("Something else.".into()), ..Default::default() };
    for memory in [undone, by_another, reworded.apply(&without, crate::memory::samples::now())] {
        assert_eq!(memory.succession.reinstated_without, None);
    }
}

#[test]
fn what_is_reinstated_has_the_links_back_that_went_on_from_it() {
    let oldest = strategy(1).linked(id(2), 0.8).unwrap();
    let superseded = strategy(2).replacing(id(1)).superseded(id(3)).unwrap();
    let newer = strategy(3).replacing(id(2)).replacing(id(1));
    let undone = superseded.reinstated(None).unwrap();
    let changed = left_behind(&superseded, Some(&undone), &[oldest.relinked(id(3)), newer.clone()]);
    assert_eq!(changed, [oldest.clone(), strategy(3)]);
    let of_another = strategy(1).linked(id(3), 0.8).unwrap();
    let never_linked = Memory { succession: Default::default(), ..undone.clone() };
    let superseded = never_linked.superseded(id(3)).unwrap();
    let changed = left_behind(&superseded, Some(&never_linked), &[of_another, newer]);
    assert_eq!(changed, [strategy(3).replacing(id(1))], "a link of its own stays");
}

#[test]
fn other_words_end_links_and_nothing_that_was_said() {
    let others = [strategy(1).superseded(id(9)).unwrap(), strategy(2).linked(id(9), 0.8).unwrap()];
    let newer = strategy(9).replacing(id(1)).replacing(id(2));
    let reworded = Memory { content: "Something else.".into(), ..newer.clone() };
    let changed = left_behind(&newer, Some(&reworded), &others);
    assert_eq!(changed, [strategy(2)]);
    assert_eq!(reworded.without_links_to(&newer, &changed).succession.replaces, [id(1)]);
}

#[test]
fn what_superseded_the_erased_one_takes_its_place() {
    let erased = strategy(2).replacing(id(1)).superseded(id(3)).unwrap();
    let others = [strategy(1).superseded(id(2)).unwrap(), strategy(3).replacing(id(2))];
    let changed = left_behind(&erased, None, &others);
    assert_eq!(changed[0].superseded_by(), Some(id(3)));
    assert_eq!(changed[1].succession.replaces, [id(1)]);
}

#[test]
fn what_is_erased_takes_no_room_among_what_was_replaced() {
    let newer = strategy(3).replacing(id(2)).replacing(id(4));
    for older in [strategy(2).superseded(id(3)).unwrap(), strategy(2).linked(id(3), 0.8).unwrap()] {
        let changed = left_behind(&older, None, std::slice::from_ref(&newer));
        assert_eq!(changed, [strategy(3).replacing(id(4))]);
        let archived = with_status(&older, Status::Archived);
        assert_eq!(left_behind(&older, Some(&archived), std::slice::from_ref(&newer)), [], "it may come back");
    }
}

#[test]
fn what_superseded_the_erased_one_takes_its_place_only_where_it_may() {
    let oldest = strategy(1).superseded(id(2)).unwrap();
    let archived = with_status(&strategy(3), Status::Archived);
    let full = (100..100 + REPLACED_MAX as u128).fold(strategy(3), |memory, n| memory.replacing(id(n)));
    let apart = strategy(1).reinstated(Some(id(3))).unwrap().superseded(id(2)).unwrap();
    for (oldest, newest) in [(&oldest, archived), (&oldest, full), (&apart, strategy(3))] {
        let erased = strategy(2).replacing(id(1)).superseded(id(3)).unwrap();
        let changed = left_behind(&erased, None, &[oldest.clone(), newest]);
        assert_eq!(changed.iter().map(|memory| memory.status).collect::<Vec<_>>(), [Status::Active]);
    }
}

#[test]
fn one_that_says_something_else_when_it_is_back_is_not_linked_again() {
    let out = Memory { status: Status::Archived, ..strategy(9).replacing(id(1)) };
    let now = crate::memory::samples::now() + jiff::SignedDuration::from_hours(1);
    let reword = |memory: &Memory, content: &str, status| {
        let changes = crate::memory::Changes { content: Some(content.into()), status, ..Default::default() };
        changes.apply(memory, now)
    };
    let back = reword(&out, "Something else.", Some(Status::Active));
    assert_eq!(left_behind(&out, Some(&back), &[strategy(1)]), []);
    let reworded = reword(&strategy(1), "Something newer.", None);
    let back = with_status(&out, Status::Active);
    assert_eq!(left_behind(&out, Some(&back), &[reworded]), [], "what was said later stands");
}

#[test]
fn a_memory_replaces_so_many_and_no_more() {
    let full = (100..100 + REPLACED_MAX as u128).fold(strategy(9), |memory, n| memory.replacing(id(n)));
    assert!(replacement_problem(&strategy(1), &full, true).unwrap().contains("50 memories already"));
    assert_eq!(replacement_problem(&strategy(100), &full, true), None);
}

proptest! {
    #[test]
    fn to_undo_is_the_reverse_but_for_the_memory_of_it(newer in 2u128..9, said: bool, confidence in 0.0..=1.0) {
        let before = strategy(1);
        let outdated = if said { before.superseded(id(newer)) } else { before.linked(id(newer), confidence) };
        let after = outdated.unwrap().reinstated(None).unwrap();
        prop_assert_eq!(&after.succession.stands_beside, &vec![id(newer)]);
        let forgotten = Memory { succession: Succession::default(), ..after };
        prop_assert_eq!(forgotten, before);
    }

    #[test]
    fn the_newer_one_out_of_search_and_back_leaves_the_pair_as_it_was(said: bool, archived: bool) {
        let newer = strategy(9).replacing(id(1));
        let pair = if said { strategy(1).superseded(id(9)) } else { strategy(1).linked(id(9), 1.0) }.unwrap();
        let out = with_status(&newer, if archived { Status::Archived } else { Status::Quarantined });
        let meanwhile = left_behind(&newer, Some(&out), std::slice::from_ref(&pair));
        prop_assert_eq!(meanwhile[0].status, Status::Active);
        prop_assert_eq!(left_behind(&out, Some(&newer), &meanwhile), vec![pair]);
    }

    #[test]
    fn lists_are_bounded(pairs in prop::collection::vec(2u128..200, 0..150)) {
        let older = pairs.iter().fold(strategy(1), |memory, n| memory.reinstated(Some(id(*n))).unwrap_or(memory));
        let newer = pairs.iter().fold(strategy(1), |memory, n| memory.replacing(id(*n)));
        prop_assert!(older.succession.stands_beside.len() <= REPLACED_MAX);
        prop_assert!(newer.succession.replaces.len() <= REPLACED_MAX);
    }
}
