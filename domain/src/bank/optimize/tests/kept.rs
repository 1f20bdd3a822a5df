//! What stays word for word while all else of a bank gives way.

use super::*;

/// Returns what is left of a file where everything leaves that may.
fn left_of(path: &str, text: &str) -> String {
    let path: BankPath = path.parse().unwrap();
    let files = BankFiles::from([(path.clone(), text.to_owned())]);
    optimize(&files, 1, facts(&|_| None), now()).files.remove(&path).unwrap()
}

#[rstest::rstest]
#[case("decisionLog.md", "# Decision Log\n\n## 2025-01-11: Choice 3\n\nBlue ships have one mast.\n")]
#[case("decisions.md", "# What we said\n\n## Masts\n\nBlue ships have one mast.\n")]
#[case("adr/0001-masts.md", "# 1. Masts\n\n## Context\n\nBlue ships have one mast.\n")]
#[case("adr-007.md", "# Masts\n\n## Consequences\n\nBlue ships have one mast.\n")]
#[case("log.md", "# Decision Log\n\n## Masts\n\nBlue ships have one mast.\n")]
#[case("a.md", "# A\n\n## ADR-012: Masts\n\nBlue ships have one mast.\n")]
#[case("a.md", "# A\n\n## ADR-1\n\n### Context\n\nBlue ships have one mast.\n")]
#[case("a.md", "# A\n\n### ADR 2 - Masts\n\n- Blue ships have one mast.\n")]
#[case("a.md", "# A\n\n## Decision: Masts\n\nBlue ships have one mast.\n")]
#[case("a.md", "# A\n\n## Architecture Decision Records\n\n### Masts\n\nBlue ships have one mast.\n")]
#[case("a.md", "# A\n\n## Decisions made\n\n- Blue ships have one mast.\n")]
#[case("a.md", "# A\n\n## Technical decisions and rationale\n\n- Blue ships have one mast.\n")]
#[case("a.md", "# A\n\n## Design Decisions & Trade-offs\n\n- Blue ships have one mast.\n")]
#[case("a.md", "# A\n\n## Architectural Decisions (2025)\n\n### Notes\n\n- Blue ships have one mast.\n")]
fn decisions_stay_under_any_heading_and_in_any_file_that_names_them(#[case] path: &str, #[case] text: &str) {
    assert_eq!(left_of(path, text), text);
}

#[rstest::rstest]
#[case("a.md", "# A\n\n## Previous decisions\n\n- Blue ships have one mast.\n")]
#[case("decisionLog.md", "# Decision Log\n\n## Masts (superseded)\n\n- Blue ships have one mast.\n")]
#[case("a.md", "# Patterns and decisions\n\n## Masts\n\n- Blue ships have one mast.\n")]
#[case("address.md", "# Address\n\n## Masts\n\n- Blue ships have one mast.\n")]
fn what_was_decided_before_and_what_is_no_decision_may_leave(#[case] path: &str, #[case] text: &str) {
    assert!(!left_of(path, text).contains("one mast"));
}

#[rstest::rstest]
#[case("- Masts\n  * [ ] of blue ships")]
#[case("- Masts\n  1. [ ] of blue ships")]
#[case("- [~] blue masts")]
#[case("- TODO: paint the masts")]
#[case("TODO: paint the masts")]
#[case("- Masts are tall (#keep)")]
#[case("- Masts are tall [#keep]")]
#[case("- Masts are tall **#keep**")]
#[case("## Open questions\n\n- Who owns the masts")]
#[case("## Blocked\n\nThe paint of the masts is missing")]
#[case("## Known issues\n\n- Masts bend in wind")]
fn what_is_open_or_tagged_stays_in_any_form(#[case] text: &str) {
    let text = format!("# A\n\n## Components\n\n{text}\n");
    assert_eq!(left_of("a.md", &text), text);
}

#[test]
fn a_decision_in_a_cell_stays_with_its_table() {
    let table = |cell: &str| format!("# A\n\n## Components\n\n| Part | Notes |\n| --- | --- |\n| Mast | {cell} |\n");
    let decided = table("We decided to use one mast because it is cheap.");
    assert_eq!(left_of("a.md", &decided), decided);
    assert!(!left_of("a.md", &table("It is painted blue.")).contains("painted blue"));
}

#[test]
fn what_was_settled_may_leave() {
    for text in ["## Known issues\n\n- Masts bend (fixed in 2.1)\n", "## Next steps\n\n- [x] Paint the masts\n"] {
        assert!(!left_of("a.md", &format!("# A\n\n{text}")).contains("asts"), "{text}");
    }
}
