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
