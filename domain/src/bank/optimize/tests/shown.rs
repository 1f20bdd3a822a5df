//! What `activate` shows of a bank that has more tokens than it may show.

use super::*;

const MAX: usize = 8_000;

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(|n| format!("- {}\n", line(n))).collect()
}

fn decisions(count: usize) -> String {
    let one =
        |n| format!("We decided to use store {n} for ships, because a second one would have to be locked as well.");
    format!("# System patterns\n\n## Decisions\n\n{}", lines(count, one))
}

fn tasks(count: usize) -> String {
    let one = |n| format!("[ ] Paint mast {n} of the blue ship, and measure how long the paint takes until it is dry.");
    format!("# Progress\n\n## Tasks\n\n{}", lines(count, one))
}

fn notes(count: usize) -> String {
    let one =
        |n| format!("Note {n} tells of the harbour, where ships of all kinds lie, and of what the crews said of it.");
    format!("# Active context\n\n## Notes\n\n{}", lines(count, one))
}

fn shown(files: &[(&str, String)]) -> (BankView, String) {
    let files: BankFiles = files.iter().map(|(path, text)| (path.parse().unwrap(), text.clone())).collect();
    let view = view(&files, MAX, facts(&|_| None), now());
    let tokens: usize = view.content.values().map(|text| estimate(text)).sum();
    assert!(bank_tokens(&files) > 12_000, "{}", bank_tokens(&files));
    assert!(tokens <= MAX && 100 * tokens >= 85 * MAX, "{tokens} of {} are shown", bank_tokens(&files));
    let all = view.content.values().cloned().collect();
    (view, all)
}

#[test]
fn a_view_uses_its_tokens_where_anything_may_leave() {
    let (view, all) = shown(&[("activeContext.md", notes(700))]);
    assert!(view.optimized && !view.truncated && all.contains("Note 0 "), "{view:?}");
    let (view, _) =
        shown(&[("activeContext.md", notes(500)), ("progress.md", tasks(60)), ("systemPatterns.md", decisions(60))]);
    assert!(!view.truncated, "decisions and tasks fit");
    let old =
        lines(300, |n| format!("2025-01-02: Looked at ship {n}. It has a mast, a deck, and a crew that likes it."));
    shown(&[("progress.md", format!("# Progress\n\n## Done\n\n{old}")), ("activeContext.md", notes(250))]);
}

#[test]
fn decisions_open_items_and_all_else_share_a_view_that_is_too_short_for_them() {
    let (view, all) = shown(&[("systemPatterns.md", decisions(600)), ("activeContext.md", notes(300))]);
    assert!(view.truncated && all.contains("store 599 ") && !all.contains("store 3 "), "the newest are shown");
    assert!(all.matches("We decided").count() > 200 && all.contains("Note 0 "), "{}", all.len());
    let (_, all) =
        shown(&[("systemPatterns.md", decisions(500)), ("progress.md", tasks(500)), ("activeContext.md", notes(200))]);
    let (tasks, decisions) = (all.matches("[ ] Paint").count(), all.matches("We decided").count());
    assert!(tasks > 120 && decisions > 100 && all.contains("Note 0 "), "{tasks} {decisions}");
    assert!(all.contains(" older entries are not shown; activate {\"files\": [\"systemPatterns.md\"]} shows them.\n"));
}

#[test]
fn one_long_piece_is_shown_as_far_as_the_tokens_go() {
    let long = "The ships of the harbour have a mast each. ".repeat(1_500);
    let (_, all) = shown(&[(
        "activeContext.md",
        format!("# Active context\n\n## Notes\n\n- {long}\n\n## Next steps\n\n- [ ] Paint\n"),
    )]);
    assert!(all.contains("- [ ] Paint\n") && all.contains("…\n"), "{}", &all[all.len() - 200..]);
    shown(&[("systemPatterns.md", format!("# System patterns\n\n## Decisions\n\n- {long}\n"))]);
}

#[test]
fn a_file_for_which_no_room_is_left_is_cut_at_a_line() {
    let headings: String = (0..3_000).map(|n| format!("## Ship {n} of the harbour\n\n")).collect();
    let (view, all) = shown(&[("activeContext.md", notes(20)), ("ships.md", format!("# Ships\n\n{headings}"))]);
    assert!(view.truncated && all.contains("Note 3 ") && all.contains("## Ship 9 of the harbour\n"));
}

#[test]
fn any_number_of_tokens_may_be_asked_for() {
    let files = BankFiles::from([
        ("progress.md".parse().unwrap(), tasks(40)),
        ("systemPatterns.md".parse().unwrap(), decisions(40)),
    ]);
    for max_tokens in [0, 1, 2, 29, 30, 99, 100, 500, 1_000, 5_000, usize::MAX / 2, usize::MAX] {
        let shown = view(&files, max_tokens, facts(&|_| None), now());
        let tokens: usize = shown.content.values().map(|text| estimate(text)).sum();
        assert!(tokens <= max_tokens, "{max_tokens}: {tokens}");
        assert_eq!(shown.content == files, max_tokens >= 5_000, "{max_tokens}");
    }
}

#[test]
fn the_newest_entries_of_a_day_and_the_focus_are_shown() {
    let ticket = |n| format!("2026-11-28: Finished ticket {n:03} of the import, which took a whole morning of work.");
    let done = (0..600).rev().map(|n| format!("- {}\n", ticket(n))).collect::<String>();
    let focus = "# Active context\n\n## Current focus\n\nBlack Friday readiness.\n";
    let (_, all) =
        shown(&[("progress.md", format!("# Progress\n\n## Done\n\n{done}")), ("activeContext.md", focus.into())]);
    assert!(all.contains("Black Friday readiness."), "{all}");
    assert!(all.contains("ticket 599 ") && all.contains("ticket 400 ") && !all.contains("ticket 000 "), "{all}");
}
