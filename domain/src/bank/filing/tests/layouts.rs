//! Banks of other layouts than that of the templates.

use super::*;

/// Files a text into a bank of these files, and returns the file of a name as it is then.
fn after(files: &[(&str, &str)], text: &str, name: &str) -> String {
    let mut bank: BankFiles = files.iter().map(|(name, text)| (name.parse().unwrap(), (*text).to_owned())).collect();
    let change = apply(&bank, &by_rules(text, &bank).unwrap(), now()).unwrap();
    bank.extend(change.changed);
    bank.remove(&name.parse().unwrap()).unwrap()
}

#[test]
fn a_convention_is_a_preference_where_a_bank_has_no_other_file_for_it() {
    let section = |kind: BankKind, text: &str| {
        let operations = by_rules(text, &template(kind)).unwrap();
        operations.last().unwrap().metadata.section.clone().unwrap()
    };
    for (text, wanted) in [
        ("Keep explanations short.", "Preferences > Communication"),
        ("Use uv instead of pip.", "Preferences > Tools"),
        ("Avoid exceptions in the domain layer.", "Preferences > Code"),
    ] {
        assert_eq!(section(BankKind::Global, text), wanted, "{text}");
        assert_eq!(section(BankKind::Code, text), "System patterns > Conventions", "{text}");
    }
}

#[test]
fn well_known_layouts_have_their_own_places() {
    let roo = [
        (
            "activeContext.md",
            "# Active Context\n\n## Current Focus\n\n* x\n\n## Recent Changes\n\n*   [2025-01-02 10:00:00] - begun\n\n## Open Questions/Issues\n\n*\n",
        ),
        (
            "progress.md",
            "# Progress\n\n## Completed Tasks\n\n*   [2025-01-02 10:00:00] - header\n\n## Current Tasks\n\n*   Write the importer\n\n## Next Steps\n\n*   Write the exporter\n",
        ),
        (
            "systemPatterns.md",
            "# System Patterns\n\n## Coding Patterns\n\n* Early returns\n\n## Architectural Patterns\n\n* Hexagonal\n",
        ),
    ];
    let progress = after(&roo, "- Finished: write the importer", "progress.md");
    assert!(progress.contains("## Completed Tasks\n\n* [2026-11-25 12:00:00] - write the importer\n"), "{progress}");
    assert!(progress.contains("Write the importer (done 2026-11-25)"), "{progress}");
    let progress = after(&roo, "- [ ] Add a progress bar", "progress.md");
    assert!(progress.contains("* Add a progress bar\n"), "{progress}");
    let active = after(&roo, "Should empty lines be skipped?", "activeContext.md");
    assert!(active.contains("## Open Questions/Issues\n\n* 2026-11-25: Should empty lines be skipped?\n"), "{active}");
    let patterns = after(
        &roo,
        "- The CLI hands each file to a worker pool, which writes to Postgres.\n- Never use default exports\n- `make dev` starts everything",
        "systemPatterns.md",
    );
    assert!(
        patterns.contains("* Hexagonal\n* The CLI hands") && patterns.contains("* Early returns\n* Never use"),
        "{patterns}"
    );
    assert!(patterns.contains("## Commands\n\n- `make dev`"), "not dated, and not in a file of the day: {patterns}");
    let decisions = [(
        "decisionLog.md",
        "# Decision Log\n\n## Decision\n\n* [2025-01-02 10:00:00] - Use Postgres\n\n## Rationale\n",
    )];
    let log = after(&decisions, "We decided to use Polars because it is fast.", "decisionLog.md");
    assert!(log.contains("Use Postgres\n* [2026-11-25 12:00:00] - We decided to use Polars"), "{log}");
    let cursor = [
        ("activeContext.md", "# Active Context\n\n## Current Mode\nPLAN\n"),
        ("style-guide.md", "# Style Guide\n\n## Naming\n- snake_case\n"),
        ("tasks.md", "# TASKS\n\n## Current Task\nBuild the importer\n\n## Status\n- [x] Init\n- [ ] Plan\n"),
    ];
    assert!(after(&cursor, "- [ ] Write the ADR", "tasks.md").contains("- [ ] Plan\n- [ ] Write the ADR\n"));
    assert!(
        after(&cursor, "Always use f-strings", "style-guide.md").contains("## Conventions\n\n- Always use f-strings\n")
    );
}

#[rstest::rstest]
#[case("Done", "## Frontend\n\n### Done\n\n- Built the footer", "Frontend > Done")]
#[case("Next steps", "## Backend\n\n### Next steps\n\n- [ ] Add the footer", "Backend > Next steps")]
#[case("Next steps", "# Frontend\n\n## Next steps\n\n- [ ] Add the footer", "Frontend > Next steps")]
fn of_sections_with_one_title_the_one_is_taken_whose_parents_a_text_names(
    #[case] title: &str,
    #[case] text: &str,
    #[case] wanted: &str,
) {
    let below = "### Next steps\n\n- [ ] one\n\n### Done\n\n- two\n";
    let file = format!("# Progress\n\n## Backend\n\n{below}\n## Frontend\n\n{below}");
    let bank = BankFiles::from([("progress.md".parse().unwrap(), file)]);
    let filed = by_rules(text, &bank).unwrap().pop().unwrap();
    assert_eq!(filed.metadata.section, Some(format!("Progress > {wanted}")), "{title}");
    assert!(!filed.content.contains("end:"), "{}", filed.content);
}

#[test]
fn an_entry_of_a_changelog_names_its_version() {
    let text = "# Changelog\n\n## [1.2.0] - 2026-02-01\n\n### Chore\n\n- Bump foo to 2\n\n### Fixed\n\n- Fixed the leak in the pool\n\n## v1.1\n\n### Chore\n\n- Bump bar to 3\n";
    let all = filed(text, &template(BankKind::Code));
    for wanted in ["[1.2.0] - 2026-02-01: Chore: Bump foo", "[1.2.0] - 2026-02-01: Fixed the leak", "v1.1: Chore: Bump"]
    {
        assert!(all.contains(wanted), "{wanted}: {all}");
    }
}

#[rstest::rstest]
#[case("```\nmake")]
#[case("~~~sh\nmake")]
#[case("<!-- later\nmore")]
#[case("<pre>\nmake")]
fn a_file_that_ends_within_code_or_a_comment_takes_new_sections_before_it(#[case] open: &str) {
    for head in ["# Progress\n\n", "# Progress\n\n## Done\n\n- one\n\n", "## Done\n\n### May\n\n", ""] {
        let file = format!("{head}{open}\n");
        let after = after(&[("progress.md", &file)], "Bug: the menu flickers.\n\n- [ ] Call Ana", "progress.md");
        let document = BankDocument::parse(after.as_str()).unwrap();
        for (title, entry) in [("Known issues", "the menu flickers"), ("What's left to build", "Call Ana")] {
            let at = document.find(title).unwrap_or_else(|error| panic!("{error}: {after}"));
            assert!(document.body(&document.sections()[at]).contains(entry), "{after}");
        }
        assert!(after.ends_with(&format!("{open}\n")), "{after}");
        if head.contains("- one") {
            assert!(after.ends_with(&format!("## Done\n\n- one\n\n{open}\n")), "its section keeps it: {after}");
        }
    }
}

#[test]
fn a_board_of_obsidian_keeps_its_settings_at_the_end() {
    let settings = "%% kanban:settings\n```\n{\"kanban-plugin\":\"board\"}\n```\n%%\n";
    let board =
        format!("---\n\nkanban-plugin: board\n\n---\n\n## Todo\n\n- [ ] one\n\n## Done\n\n- [x] two\n\n\n{settings}");
    for text in ["Finished the login.", "Bug: the menu flickers.", "- [ ] Call Ana"] {
        let after = after(&[("board.md", &board)], text, "board.md");
        assert!(after.ends_with(&format!("\n\n{settings}")) && after.len() > board.len(), "{after}");
    }
}

#[test]
fn a_file_with_line_ends_of_old_macs_keeps_them() {
    let file = "# Progress\r\r## Done\r\r- one\r";
    let after = after(&[("progress.md", file)], "Finished the login.\n\nBug: the menu flickers.", "progress.md");
    assert!(!after.contains('\n') && after.contains("\r- one\r"), "{after:?}");
}

#[test]
fn an_item_takes_the_whole_place_of_an_empty_one() {
    let file = "# Progress\n\n## Done\n\n*   \n\n## Blocked\n";
    let after = after(&[("progress.md", file)], "Finished the login page", "progress.md");
    assert!(after.contains("Finished the login page\n\n## Blocked"), "{after:?}");
}

#[rstest::rstest]
#[case("# Decisions\n\n### 2026-01-02: Rust\n\nFast.\n", "### 2026-11-25: We decided to use SQLite\n\nWe decided")]
#[case(
    "# Decisions\n\n## ADR-001: Rust\n\nFast.\n",
    "## ADR-002: We decided to use SQLite\n\nDate: 2026-11-25\n\nWe decided"
)]
#[case(
    "# Decisions\n\n### ADR-009 2026-01-02: Rust\n\nFast.\n",
    "### ADR-010 2026-11-25: We decided to use SQLite\n\nWe decided"
)]
#[case(
    "# Decisions\n\n### ADR 12 - Rust\n\nFast.\n",
    "### ADR 13 - We decided to use SQLite\n\nDate: 2026-11-25\n\nWe decided"
)]
fn a_decision_becomes_a_record_like_those_of_its_file(#[case] file: &str, #[case] wanted: &str) {
    let after =
        after(&[("decisions.md", file)], "We decided to use SQLite because it needs no server.", "decisions.md");
    assert!(after.starts_with(file) && after.contains(&format!("\n\n{wanted}")), "{after}");
}

#[test]
fn a_decision_is_a_row_of_a_table_with_text_behind_it() {
    let table = "| Date | Decision | Why |\n|---|---|---|\n| 2026-01-02 | Rust | Fast |\n";
    let file = format!("# Decisions\n\n{table}\nSee also adr/.\n");
    let row = "| 2026-11-25 | We decided to use SQLite | it needs no server |\n";
    let after =
        after(&[("decisions.md", &file)], "We decided to use SQLite because it needs no server.", "decisions.md");
    assert_eq!(after, file.replace("Fast |\n", &format!("Fast |\n{row}")));
}

#[test]
fn what_is_no_decision_does_not_go_to_a_file_of_decisions() {
    let decisions = "# Decisions\n\n### 2026-09-01: Use pnpm\n\nDisk.\n";
    let files = [("decisions.md", decisions), ("state.md", "# State\n\n- s\n")];
    let text = "The office is closed on Friday.";
    assert_eq!(after(&files, text, "decisions.md"), decisions);
    assert!(after(&files, text, "state.md").contains(text));
}
