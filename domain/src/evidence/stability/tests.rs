use jiff::SignedDuration;
use proptest::prelude::*;

use super::*;

const DAY: i64 = 24 * 60 * 60;

/// Returns midnight of a day of the month.
fn on(day: i64) -> Timestamp {
    "2026-03-01T00:00:00Z".parse::<Timestamp>().unwrap() + SignedDuration::from_secs((day - 1) * DAY)
}

/// The id of the commit with this name, whole.
fn id(name: &str) -> String {
    format!("{:0<40}", name.bytes().map(|byte| format!("{byte:02x}")).collect::<String>())
}

fn commit(name: &str, at: Timestamp, reverts: &[&str]) -> Commit {
    let reverts = reverts.iter().map(|name| id(name)).collect();
    Commit { id: id(name), at, subject: name.into(), reverts }
}

fn standing(commits: &[Commit], now: Timestamp) -> WorkStanding {
    CommitHistory::new(commits.to_vec(), None).standing(on(1), now)
}

fn named(name: &str) -> CommitName {
    CommitName { id: id(name), subject: name.into() }
}

fn reverted(commit: &str, by: &str) -> WorkStanding {
    WorkStanding::Reverted { commit: named(commit), by: named(by) }
}

fn stable(commits: usize, last: &str) -> WorkStanding {
    WorkStanding::Stable { commits, last: named(last) }
}

#[test]
fn commits_that_nobody_reverts_are_stable_seven_days_after_the_last_of_them() {
    let commits = [commit("a", on(2), &[]), commit("b", on(5), &[])];
    assert_eq!(standing(&commits, on(5)), WorkStanding::Waiting { until: on(12) });
    assert_eq!(standing(&commits, on(12) - SignedDuration::from_secs(1)), WorkStanding::Waiting { until: on(12) });
    assert_eq!(standing(&commits, on(12)), stable(2, "b"));
    assert_eq!(standing(&commits, on(12)).signal(), Some(SignalKind::Stable));
    assert_eq!(
        standing(&commits, on(12)).reason().unwrap(),
        "2 commits, the last of them 620000000000, stood for 7 days"
    );
}

#[test]
fn of_a_commit_that_was_named_it_alone_counts() {
    let commits = [commit("a", on(2), &[]), commit("b", on(20), &[]), commit("r", on(21), &["b"])];
    let history = CommitHistory::new(commits.to_vec(), None);
    let of = |name: &str, named_on: i64, now| history.standing_of(&id(name)[..12], on(named_on), now);
    assert_eq!(of("a", 3, on(8)), WorkStanding::Waiting { until: on(9) });
    assert_eq!(of("a", 1, on(30)), stable(1, "a"));
    assert_eq!(of("b", 20, on(21)), reverted("b", "r"));
    assert_eq!(of("nowhere", 3, on(30)), WorkStanding::Unknown);
    assert_eq!(of("a", 12, on(30)), WorkStanding::Unknown, "it was made long before");
    assert_eq!(history.standing_of("", on(2), on(30)), WorkStanding::Unknown, "several begin like this");
}

#[test]
fn a_revert_counts_as_soon_as_it_is_seen_and_its_own_revert_takes_it_back() {
    let mut commits = vec![commit("a", on(2), &[]), commit("b", on(5), &[]), commit("r", on(6), &["a"])];
    assert_eq!(standing(&commits, on(6)), reverted("a", "r"));
    assert_eq!(standing(&commits, on(300)), reverted("a", "r"));
    assert_eq!(standing(&commits, on(6)).signal(), Some(SignalKind::Reverted));
    assert_eq!(standing(&commits, on(6)).reason().unwrap(), "commit 610000000000 was reverted by 720000000000");
    commits.push(commit("s", on(7), &["r"]));
    assert_eq!(standing(&commits, on(13)), WorkStanding::Waiting { until: on(14) });
    assert_eq!(standing(&commits, on(14)), stable(4, "s"));
    commits.push(commit("t", on(8), &["a"]));
    assert_eq!(standing(&commits, on(14)), reverted("a", "t"), "reverted once more");
}

#[test]
fn a_revert_counts_however_late_it_comes() {
    let commits = [commit("a", on(2), &[]), commit("r", on(25), &["a"])];
    assert_eq!(standing(&commits[..1], on(20)), stable(1, "a"));
    assert_eq!(standing(&commits, on(25)), reverted("a", "r"));
}

#[test]
fn only_commits_of_the_seven_days_count() {
    let around = [commit("a", on(0), &[]), commit("b", on(9), &[]), commit("r", on(10), &["a", "b"])];
    assert_eq!(standing(&around, on(8)), WorkStanding::Waiting { until: on(8) });
    assert_eq!(standing(&around, on(9)), WorkStanding::Nothing);
    assert_eq!(WorkStanding::Nothing.signal(), None);
    let edges = [commit("a", on(1), &[]), commit("b", on(8), &[])];
    assert_eq!(standing(&edges, on(15)), stable(2, "b"));
    // Git cuts off what is below a second.
    let at = on(1) + SignedDuration::from_millis(900);
    assert_eq!(CommitHistory::new(vec![commit("a", on(1), &[])], None).standing(at, on(9)), stable(1, "a"));
}

#[test]
fn undoing_earlier_work_is_work_that_can_be_undone_itself() {
    let mut commits = vec![commit("old", on(-50), &[]), commit("r", on(2), &["old"])];
    assert_eq!(standing(&commits, on(9)), stable(1, "r"));
    commits.push(commit("s", on(3), &["r"]));
    assert_eq!(standing(&commits, on(9)), reverted("r", "s"));
}

#[test]
fn a_solve_that_the_history_does_not_reach_is_not_judged() {
    let history = |limit| CommitHistory::new(vec![commit("a", on(2), &[])], Some(limit)).standing(on(1), on(9));
    assert_eq!(history(on(1)), stable(1, "a"));
    assert_eq!(history(on(2)), WorkStanding::Unknown);
}

#[test]
fn clocks_that_are_wrong_delay_an_answer_and_nothing_else() {
    let ahead = [commit("a", on(7), &[])];
    assert_eq!(standing(&ahead, on(2)), WorkStanding::Waiting { until: on(14) });
    let revert_from_the_past = [commit("a", on(2), &[]), commit("r", on(-400), &["a"])];
    assert_eq!(standing(&revert_from_the_past, on(3)), reverted("a", "r"));
    assert_eq!(standing(&[], on(-3)), WorkStanding::Waiting { until: on(8) }, "a solve in the future");
    let commits = vec![commit("a", Timestamp::MAX, &[]), commit("b", Timestamp::MIN, &[])];
    let history = CommitHistory::new(commits, None);
    assert_eq!(history.standing(Timestamp::MAX, Timestamp::MIN), WorkStanding::Waiting { until: Timestamp::MAX });
    assert_eq!(history.standing(Timestamp::MIN, Timestamp::MAX), stable(1, "b"));
}

#[test]
fn an_abbreviation_names_a_commit_where_it_names_one_alone() {
    let (a, b) = ("ab".repeat(20), format!("{}cd", "ab".repeat(19)));
    let revert = |start: &str| {
        let revert = Commit { reverts: vec![start.to_owned()], ..commit("r", on(3), &[]) };
        let work = [&a, &b].map(|id| Commit { id: id.clone(), ..commit("x", on(2), &[]) });
        let commits = [vec![revert], work.to_vec()].concat();
        standing(&commits, on(3)).signal()
    };
    assert_eq!(revert(&a), Some(SignalKind::Reverted));
    assert_eq!(revert(&a[..39]), Some(SignalKind::Reverted));
    assert_eq!(revert(&a[..38]), None, "both begin so");
    assert_eq!(revert("fedcba9"), None);
}

#[test]
fn forged_circles_of_reverts_revert_nothing() {
    let mut commits = vec![commit("a", on(2), &["b"]), commit("b", on(3), &["a"])];
    assert_eq!(standing(&commits, on(10)), stable(2, "b"));
    commits.push(commit("c", on(4), &["b"]));
    assert_eq!(standing(&commits, on(11)), stable(3, "c"), "b does not stand, so a does");
    assert_eq!(standing(&[commit("a", on(2), &["a"])], on(9)), stable(1, "a"));
}

#[test]
fn what_a_message_reverts_is_read_in_the_forms_that_git_and_people_write() {
    let sha = "1f3870be274f6c49b3e31a0c6728957f3c9cca21";
    for (message, expected) in [
        (format!("Revert \"Cache it\"\n\nThis reverts commit {sha}.\n"), vec![sha]),
        (
            format!("Reapply \"Cache it\"\n\nThis reverts commit {sha}, reversing\nchanges made to 0123456789."),
            vec![sha],
        ),
        ("This reverts commit 1f3870b (Cache it, 2026-03-01).".into(), vec!["1f3870b"]),
        (
            "It was wrong; this reverts commits 1F3870B, 2f3870b and 3f3870b, and more.".into(),
            vec!["1f3870b", "2f3870b", "3f3870b"],
        ),
        ("This reverts commit 1f3870b.\n\nThis reverts\ncommit `2f3870b`.".into(), vec!["1f3870b", "2f3870b"]),
        ("This reverts this reverts commit 1f3870b".into(), vec!["1f3870b"]),
        ("    This reverts commit 1f3870b\n    Signed-off-by: A".into(), vec!["1f3870b"]),
        ("This reverts commit messages to the old form".into(), vec![]),
        ("This reverts commit 1f3870".into(), vec![]),
        ("Fixes 1f3870b. Revert the range. This reverts 1f3870b".into(), vec![]),
        (format!("This reverts commit {}", "a".repeat(65)), vec![]),
        (String::new(), vec![]),
    ] {
        assert_eq!(reverts(&message), expected, "{message}");
    }
    assert_eq!(reverts(&"This reverts commit 1f3870b. ".repeat(5_000)).len(), REVERTS_MAX);
}

/// Makes commits around the solve, each reverting some of those before it.
fn history() -> impl Strategy<Value = Vec<Commit>> {
    let one = (-3..20_i64, 0..DAY, prop::collection::vec(any::<prop::sample::Index>(), 0..3));
    prop::collection::vec(one, 0..14).prop_map(|drawn| {
        let mut commits: Vec<Commit> = Vec::new();
        for (n, (day, second, reverted)) in drawn.into_iter().enumerate() {
            let reverts = reverted.iter().filter(|_| n > 0).map(|index| id(&format!("c{}", index.index(n)))).collect();
            let at = on(day) + SignedDuration::from_secs(second);
            commits.push(Commit { reverts, ..commit(&format!("c{n}"), at, &[]) });
        }
        commits
    })
}

proptest! {
    #[test]
    fn the_order_of_commits_and_saying_them_twice_change_nothing(
        (commits, shuffled) in history().prop_flat_map(|commits| {
            let twice = [commits.clone(), commits.clone()].concat();
            (Just(commits), Just(twice).prop_shuffle())
        }),
        day in -5..40_i64,
    ) {
        prop_assert_eq!(standing(&commits, on(day)), standing(&shuffled, on(day)));
    }

    #[test]
    fn time_alone_makes_stable_of_what_waits_and_changes_nothing_else(commits in history(), day in -5..40_i64, later in 0..40_i64) {
        let (before, after) = (standing(&commits, on(day)), standing(&commits, on(day + later)));
        if let WorkStanding::Waiting { until } = before {
            prop_assert!(until > on(day) || commits.is_empty() || until == on(day));
            prop_assert!(after.signal() != Some(SignalKind::Reverted));
        } else {
            prop_assert_eq!(before, after);
        }
    }

    #[test]
    fn all_is_decided_fourteen_days_later_and_nothing_is_stable_before_seven(commits in history()) {
        prop_assert!(!matches!(standing(&commits, on(15)), WorkStanding::Waiting { .. }), "{:?}", standing(&commits, on(15)));
        prop_assert!(standing(&commits, on(8) - SignedDuration::from_secs(1)).signal() != Some(SignalKind::Stable));
    }

    #[test]
    fn a_revert_of_work_that_stands_reverts_it_and_its_own_revert_gives_back_what_was(commits in history(), one: prop::sample::Index) {
        let before = standing(&commits, on(40));
        if let WorkStanding::Stable { .. } = before {
            let in_window: Vec<&Commit> = commits.iter().filter(|c| c.at >= on(1) && c.at <= on(8)).collect();
            let ids: Vec<&String> = in_window.iter().map(|c| &c.id).collect();
            let work: Vec<&&Commit> = in_window.iter().filter(|c| !c.reverts.iter().any(|id| ids.contains(&id))).collect();
            prop_assume!(!work.is_empty());
            let target = work[one.index(work.len())].id.clone();
            let mut more = commits.clone();
            more.push(Commit { reverts: vec![target], ..commit("revert", on(30), &[]) });
            prop_assert_eq!(standing(&more, on(40)).signal(), Some(SignalKind::Reverted));
            more.push(commit("again", on(31), &["revert"]));
            prop_assert_eq!(standing(&more, on(40)), before);
        }
    }

    #[test]
    fn any_commits_and_any_messages_get_an_answer(
        drawn in prop::collection::vec(("[a-c]{8}", any::<i32>(), "(This reverts commit [a-c]{7,8}[., ]){0,3}|\\PC{0,60}"), 0..30),
        at: i32,
        now: i32,
    ) {
        let second = |second: i32| Timestamp::from_second(i64::from(second)).unwrap();
        let commits = drawn.into_iter().map(|(id, at, message)| {
            Commit { id, at: second(at), subject: String::new(), reverts: reverts(&message) }
        });
        let history = CommitHistory::new(commits.collect(), None);
        let standing = history.standing(second(at), second(now));
        prop_assert_eq!(standing.signal().is_some(), standing.reason().is_some());
    }
}
