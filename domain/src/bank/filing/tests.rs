use std::fs;

use serde::Deserialize;

use super::*;
use crate::bank::{BankKind, apply, template};

#[derive(Deserialize)]
struct FiledPiece {
    id: String,
    bank: BankKind,
    file: String,
    section: String,
    text: String,
}

fn now() -> Timestamp {
    "2026-11-25T12:00:00Z".parse().unwrap()
}

fn by_rules(text: &str, bank: &BankFiles) -> Result<Vec<BankOperation>, BankInvalid> {
    file_by_rules(text, bank, &RenamedHeadings::default(), now())
}

/// Files each piece of a table by itself. Returns the shares of those in the right file and in the right section, and
/// what went wrong.
fn measured(table: &str) -> (usize, usize, usize, Vec<String>) {
    let path = format!("{}/../tests/data/banks/{table}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).unwrap();
    let (mut files, mut sections, mut all, mut wrong) = (0, 0, 0, Vec::new());
    for line in text.lines() {
        let wanted: FiledPiece = serde_json::from_str(line).unwrap();
        let operations = by_rules(&wanted.text, &template(wanted.bank)).unwrap();
        let filed = operations.last().unwrap();
        let section = filed.metadata.section.clone().unwrap_or_default();
        let is_file = filed.target_file.as_str() == wanted.file;
        let is_section = is_file && section.ends_with(&wanted.section);
        all += 1;
        files += usize::from(is_file);
        sections += usize::from(is_section);
        if !is_section {
            let category = filed.metadata.category;
            wrong.push(format!("{} {section} ({category:?}) for {}: {}", wanted.id, wanted.section, wanted.text));
        }
    }
    (all, files, sections, wrong)
}

#[test]
#[expect(clippy::print_stdout, reason = "the numbers stand in docs/BANKS.md")]
fn pieces_are_put_where_a_developer_would_look_for_them() {
    // The percentages that have to be right. Nobody tuned for the last table, so that it may have fewer.
    let tables = [
        ("pieces", 90, 80),
        ("pieces_more", 90, 80),
        ("pieces_third", 90, 80),
        ("pieces_fourth", 90, 80),
        ("pieces_heldout", 90, 80),
        ("pieces_fourth_heldout", 80, 75),
    ];
    for (table, files_wanted, sections_wanted) in tables {
        let (all, files, sections, wrong) = measured(table);
        println!("{table}: {files} of {all} in the right file, {sections} in the right section");
        if !table.ends_with("heldout") || std::env::var_os("SHOW_HELD_OUT").is_some() {
            println!("{}", wrong.join("\n"));
        }
        assert!(100 * files >= files_wanted * all, "{table}: {files} of {all} files");
        assert!(100 * sections >= sections_wanted * all, "{table}: {sections} of {all} sections");
    }
}

#[test]
fn nothing_of_a_text_is_cut_off_and_entries_are_dated() {
    let text = "Finished the parser.\n\n## Next steps\n\n- Write docs\n- [ ] Add a benchmark\n  with ten files\n\nThese three things are slow at the moment:\n- a\n- b\n\n```sh\nmake bench\n";
    let files = template(BankKind::Code);
    let operations = by_rules(text, &files).unwrap();
    let change = apply(&files, &operations, now()).unwrap();
    let all: String = change.changed.values().cloned().collect();
    for part in [
        "- 2026-11-25: Finished the parser.\n",
        "- [ ] 2026-11-25: Write docs\n",
        "- [ ] 2026-11-25: Add a benchmark\n  with ten files\n",
        "These three things are slow at the moment:\n  - a\n  - b\n",
        "make bench\n",
    ] {
        assert!(all.contains(part), "{part:?} is not in {all}");
    }
}

#[test]
fn a_piece_knows_the_sections_and_files_that_it_names() {
    let text = "# Patterns\n\n## Outbox relay\n\n- It polls.\n\n## Next steps\n\n## Cache\n";
    let bank = BankFiles::from([("notes/patterns.md".parse().unwrap(), text.to_owned())]);
    let of = |text: &str| {
        let operations = by_rules(text, &bank).unwrap();
        operations.last().unwrap().metadata.relations.clone()
    };
    assert_eq!(of("The billing service uses the outbox relay, too."), ["notes/patterns.md#Outbox relay"]);
    assert_eq!(of("The diagram is in notes/patterns.md."), ["notes/patterns.md"]);
    assert_eq!(of("The next steps are about the cache and an outbox relayed by hand."), [""; 0]);
}

#[test]
fn a_report_ticks_its_task() {
    let files = template(BankKind::Code);
    let filed = |files: &BankFiles, text: &str| {
        let change = apply(files, &by_rules(text, files).unwrap(), now()).unwrap();
        files.clone().into_iter().chain(change.changed).collect::<BankFiles>()
    };
    let files = filed(&files, "- [ ] Write the parser tests\n- [ ] Measure the cold start");
    let files = filed(&files, "Done: the parser tests are written, 30 of them; write access is checked, too.");
    let active = &files[&"activeContext.md".parse().unwrap()];
    assert!(active.contains("- [x] 2026-11-25: Write the parser tests\n- [ ] 2026-11-25: Measure"), "{active}");
    assert!(files[&"progress.md".parse().unwrap()].contains("30 of them"));
}

#[test]
fn a_report_with_a_version_ticks_the_task_whose_words_it_has() {
    let (bank, path) = with_task("Bump Node to 22 in the Dockerfile");
    let of = |text: &str| apply(&bank, &by_rules(text, &bank).unwrap(), now()).unwrap().changed;
    let changed = of("Bumped Node to 22 in the Dockerfile.");
    assert!(changed[&path].contains("- [x] Bump Node"), "{changed:?}");
    assert!(changed[&"progress.md".parse().unwrap()].contains("Bumped Node to 22"), "{changed:?}");
    for other in
        ["Node is 22 in the Dockerfile.", "Bump Node to 22 in the Dockerfile", "Bumped Node to 20 in the Dockerfile."]
    {
        assert!(!of(other).get(&path).is_some_and(|text| text.contains("[x]")), "{other}");
    }
}

#[test]
fn a_task_without_a_box_is_known_and_marked_as_done() {
    let path: BankPath = "activeContext.md".parse().unwrap();
    let mut files = template(BankKind::Code);
    let list = "1. Write docs\n2. Show warnings in the grid\n3. Add retries\n";
    let text = files[&path].replace("## Next steps\n", &format!("## Next steps\n\n{list}"));
    files.insert(path.clone(), text);
    let of = |text: &str| apply(&files, &by_rules(text, &files).unwrap(), now()).unwrap();
    for known in ["## Next steps\n\n- Write docs", "- [ ] Show warnings in the grid", "Next: Show warnings in the grid"]
    {
        assert_eq!(of(known).changed.len(), 0, "{known}");
    }
    let active = |text: &str| of(text).changed[&path].clone();
    assert!(
        active("Finished: write docs.").contains("1. Write docs (done 2026-11-25)\n2. Show warnings in the grid\n")
    );
    let change = of("Add retries: done");
    assert!(change.changed[&path].contains("3. Add retries (done 2026-11-25)\n\n## Open questions"), "{change:?}");
    let progress = &change.changed[&"progress.md".parse().unwrap()];
    assert!(progress.contains("## Done\n\n- 2026-11-25: Add retries: done\n"), "{progress}");
    assert!(active("- [ ] Measure the start").contains("3. Add retries\n4. Measure the start\n"));
}

#[test]
fn what_a_section_tells_is_not_said_again_and_each_sentence_of_a_report_has_its_place() {
    let bank = template(BankKind::Code);
    let of = |text: &str| -> Vec<(String, String)> {
        let told = |operation: BankOperation| (operation.metadata.section.unwrap(), operation.content);
        by_rules(text, &bank).unwrap().into_iter().map(told).collect()
    };
    let filed = of(
        "Decision: SQLite, because it needs no server.\n\nThe login is done. Next: show a banner. Blocked by the missing key.",
    );
    let wanted = [
        ("System patterns > Decisions", "- SQLite, because it needs no server."),
        ("Progress > Done", "- 2026-11-25: The login is done."),
        ("Active context > Next steps", "- [ ] 2026-11-25: show a banner."),
        ("Progress > Blocked", "- 2026-11-25: Blocked by the missing key."),
    ];
    assert_eq!(filed, wanted.map(|(section, text)| (section.to_owned(), text.to_owned())));
    let headed =
        of("## Current focus\n\n- The grid\n- Blocked by the missing key\n\n## Next steps\n\n- Add retries: done");
    let sections: Vec<&str> = headed.iter().map(|(section, _)| section.as_str()).collect();
    assert_eq!(sections, ["Active context > Current focus", "Progress > Blocked", "Progress > Done"]);
}

#[test]
fn decisions_are_added_in_the_form_that_the_others_have_and_once() {
    let path: BankPath = "systemPatterns.md".parse().unwrap();
    let said = "We decided to use SQLite because it needs no server.";
    let filed = |decisions: &str, expected: &str| {
        let text = format!("# System patterns\n\n## Decisions\n\n{decisions}\n## Conventions\n");
        let mut bank = BankFiles::from([(path.clone(), text)]);
        let change = apply(&bank, &by_rules(said, &bank).unwrap(), now()).unwrap();
        bank.extend(change.changed);
        assert!(bank[&path].contains(expected), "{}", bank[&path]);
        let again = apply(&bank, &by_rules(said, &bank).unwrap(), now()).unwrap();
        assert!(again.changed.is_empty() && again.known == 1, "{again:?}");
    };
    let table = "| Date | Decision | Reason |\n|---|---|---|\n| 2026-01-02 | Rust | fast |\n";
    filed(table, "| Rust | fast |\n| 2026-11-25 | We decided to use SQLite | it needs no server |\n\n## Conventions");
    let section =
        "### 2026-11-25: We decided to use SQLite\n\nWe decided to use SQLite because it needs no server.\n\n## Conv";
    filed("### 2026-01-02: Rust\n\nIt is fast.\n", section);
    filed("- Rust, because it is fast.\n", "fast.\n- We decided to use SQLite because it needs no server.\n\n## Conv");
}

#[test]
fn banks_of_other_layouts_are_used_as_they_are() {
    let bank = |files: &[(&str, &str)]| -> BankFiles {
        files.iter().map(|(name, text)| (name.parse().unwrap(), (*text).to_owned())).collect()
    };
    let place = |files: &BankFiles, text: &str| {
        let operations = by_rules(text, files).unwrap();
        assert!(apply(files, &operations, now()).is_ok());
        let last = operations.last().unwrap();
        format!("{}#{}", last.target_file, last.metadata.section.clone().unwrap_or_default())
    };
    let users = bank(&[
        ("active-context.md", "# Active Context\n\n## Current Work Focus\n\n## Next Steps\n"),
        ("progress.md", "# Progress\n\n## What Works\n\n## Known Issues\n"),
        ("techContext.md", "# Tech\n\n## Technologies Used\n\n## Development Setup\n"),
    ]);
    assert_eq!(place(&users, "Implemented the login."), "progress.md#Progress > What Works");
    assert_eq!(place(&users, "- [ ] Write docs"), "active-context.md#Active Context > Next Steps");
    assert_eq!(place(&users, "`make dev` starts the server"), "techContext.md#Tech > Development Setup");
    let other = bank(&[("decisions.md", "# Decisions\n"), ("notes.md", "# Notes\n\nAnything.\n")]);
    assert_eq!(place(&other, "We decided to use SQLite because it needs no server."), "decisions.md#Decisions");
    assert_eq!(place(&other, "Something else"), "notes.md#");
    let decided = "We decided to use SQLite because it needs no server.";
    let record = ("adr/0001-queue.md", "# Queue\n\n## Decision\n\nRabbitMQ.\n");
    assert_eq!(place(&bank(&[record]), decided), "notes.md#");
    assert_eq!(place(&bank(&[record, ("decisions.md", "# Decisions\n")]), decided), "decisions.md#Decisions");
    let patterns = ("systemPatterns.md", "# Patterns\n\n## Key decisions\n");
    assert_eq!(
        place(&bank(&[patterns, ("decisionLog.md", "# Decision Log\n")]), decided),
        "decisionLog.md#Decision Log"
    );
    assert_eq!(place(&bank(&[patterns, record]), decided), "systemPatterns.md#Patterns > Key decisions");
    let headed = bank(&[("guide.md", "# Guide\n\n## Storage\n\n## Network\n")]);
    assert_eq!(place(&headed, "## Storage\n\nOne file for each team."), "guide.md#Guide > Storage");
    assert_eq!(place(&BankFiles::new(), "Something"), "notes.md#");
}

#[test]
fn a_heading_that_says_little_weighs_little() {
    let place = |text: &str| {
        let operations = by_rules(text, &template(BankKind::Code)).unwrap();
        let last = operations.last().unwrap();
        format!("{}#{}", last.target_file, last.metadata.section.clone().unwrap())
    };
    for (text, wanted) in [
        ("## Notes\n\nThe harbour office calls the boats 'units'.", "activeContext.md#Active context > Notes"),
        ("## Notes\n\n- Decision: SQLite.", "systemPatterns.md#System patterns > Decisions"),
        ("## Overview\n\nA planner for harbours.", "projectbrief.md#Project brief > Overview"),
        ("# Update\n\nRedis caches the sessions of the users.", "systemPatterns.md#System patterns > Architecture"),
        ("Update: the login is done.", "progress.md#Progress > Done"),
    ] {
        assert_eq!(place(text), wanted, "{text}");
    }
}

#[rstest::rstest]
#[case("## Completed\n\n- Checkout page in Vue 3", BankCategory::Done)]
#[case("## Tasks\n\n- `make lint` for the scripts", BankCategory::Next)]
#[case("## Blockers\n\n- Vue 3.5 breaks our date picker", BankCategory::Blocked)]
#[case("## Decision log\n\n- Postgres 16.2", BankCategory::Decision)]
#[case("Done:\n- voucher page in Vue 3", BankCategory::Done)]
#[case("## Bugs fixed\n\n- Redis 7.4 client leaked connections", BankCategory::Done)]
#[case("## Tasks\n\n- Finished the voucher page", BankCategory::Done)]
#[case("## Completed\n\n- Blocked: the DNS zone", BankCategory::Blocked)]
#[case("## Dependencies\n\n- Postgres 16.2", BankCategory::Dependency)]
#[case("# Progress\n\n- Node 22 and pnpm 9 are required", BankCategory::Dependency)]
fn a_heading_of_a_state_tells_it_of_whatever_stands_there(#[case] text: &str, #[case] wanted: BankCategory) {
    let operations = by_rules(text, &template(BankKind::Code)).unwrap();
    assert_eq!(operations.last().unwrap().metadata.category, Some(wanted));
}

#[test]
fn hostile_texts_are_filed_whole() {
    let files = template(BankKind::Code);
    for text in [
        "<!-- open",
        "```\nopen",
        "~~~\n```",
        "<script>",
        "- <!--\n- x",
        "a\n---\nb",
        "# \n#",
        "| a |\n|---|\n| b |",
        "1. x\n   ```\n   y",
    ] {
        let operations = by_rules(text, &files).unwrap();
        let change = apply(&files, &operations, now());
        assert!(change.is_ok(), "{text:?}: {change:?}");
    }
    let long = "word ".repeat(50_000);
    assert!(by_rules(&long, &files).unwrap()[0].content.len() > 249_990);
    assert!(by_rules(&"x".repeat(10 << 20), &files).unwrap_err().to_string().starts_with("content has"));
    let lines = "- one of very many items\n".repeat(10_000);
    assert_eq!(by_rules(&lines, &files).unwrap().len(), 10_000);
}

/// Returns all texts that are filed, one after the other.
fn filed(text: &str, bank: &BankFiles) -> String {
    by_rules(text, bank).unwrap().into_iter().map(|operation| operation.content + "\n").collect()
}

#[test]
fn nothing_of_a_text_is_cut_off() {
    let bank = template(BankKind::Code);
    for (text, parts) in [
        ("---\nFinished the alpha work.\n---\nFinished the beta work.", vec!["alpha work", "beta work"]),
        ("---\n\nWe use Rust because it is fast.\n\n---\n", vec!["it is fast"]),
        ("## Decision: use Postgres because of transactions", vec!["use Postgres because"]),
        ("Call the dentist tomorrow\n=====\n", vec!["dentist"]),
        ("# Dentist", vec!["Dentist"]),
        ("# Plan\n\n## Call the dentist\n\n## Done\n\n- It works.\n", vec!["Call the dentist", "It works."]),
    ] {
        let filed = filed(text, &bank);
        for part in parts {
            assert!(filed.contains(part), "{part} of {text:?}: {filed:?}");
        }
    }
    // A heading that names a section says nothing by itself.
    assert!(!filed("# Progress\n\n## Done\n\n- It works.\n\n## Blocked\n", &bank).contains("Blocked"));
}

/// Returns a new bank with an open task, and the file that has it.
fn with_task(task: &str) -> (BankFiles, BankPath) {
    let mut bank = template(BankKind::Code);
    let path: BankPath = "activeContext.md".parse().unwrap();
    let document = BankDocument::parse(bank[&path].as_str()).unwrap();
    let at = document.find("Next steps").unwrap();
    bank.insert(path.clone(), document.append(at, &format!("- [ ] {task}")).unwrap().into_text());
    (bank, path)
}

#[test]
fn only_a_report_that_all_of_it_is_done_ticks_a_task() {
    let (bank, _) = with_task("Write the docs of the importer");
    let ticks = |text: &str| {
        let operations = by_rules(text, &bank).unwrap();
        operations.iter().any(|operation| operation.operation_type == BankOperationType::CompleteItem)
    };
    assert!(ticks("Finished: write the docs of the importer."));
    for open in [
        "Not finished: write the docs of the importer",
        "Finished half of: write the docs of the importer",
        "Started to write the docs of the importer.",
        "Done with the docs of the exporter; write the docs of the importer is next.",
        "Didn't finish: write the docs of the importer",
    ] {
        assert!(!ticks(open), "{open}");
    }
}

#[test]
fn what_belongs_under_a_heading_that_was_renamed_goes_there() {
    let path: BankPath = "systemPatterns.md".parse().unwrap();
    let before =
        "# System patterns\n\n## Architecture\n\n## Decisions\n\n- We decided to use Rust.\n\n## Conventions\n";
    let after = before.replace("## Decisions", "## What we chose");
    let mut renamed = RenamedHeadings::default();
    renamed.follow(&path, before, &after);
    for text in ["We decided to use SQLite because it needs no server.", "## Decisions\n\n- SQLite needs no server."] {
        let section = |text_of_file: &str| {
            let bank = BankFiles::from([(path.clone(), text_of_file.to_owned())]);
            let operations = file_by_rules(text, &bank, &renamed, now()).unwrap();
            operations[0].metadata.section.clone().unwrap()
        };
        assert_eq!(section(&after), "System patterns > What we chose");
        assert_eq!(section(&format!("{after}\n## Key decisions\n")), "System patterns > What we chose");
        assert_eq!(section(before), "System patterns > Decisions");
    }
}

#[test]
fn what_a_place_does_not_tell_of_the_headings_is_written_with_the_pieces() {
    let bank = template(BankKind::Code);
    let text = "# Week 12\n\n## Printer migration\n\n- Works with the new driver now\n- Still slow on long lists\n\n## Next steps\n\n- Ask Ana\n";
    let all = filed(text, &bank);
    assert!(all.contains("Printer migration: Works with the new driver now\n"), "{all}");
    assert!(all.contains("Printer migration: Still slow on long lists\n"), "{all}");
    assert!(all.contains("2026-11-25: Ask Ana\n") && !all.contains("Week"), "{all}");
    let labelled = filed("Printer:\n- the driver is from 2019\n- reboot it with `lpadmin -r`", &bank);
    assert_eq!(labelled.matches("Printer: ").count(), 2, "{labelled}");
    let titled = filed("# Bakery Winter\n\n## Decisions\n\n- We chose SQLite.\n- We chose Rust.", &bank);
    assert_eq!(titled.matches("Bakery Winter: ").count(), 1, "the title stands once: {titled}");
    let release =
        filed("# Release 2\n\n## Done\n\n- Faster start\n- Smaller binary\n\n## Next steps\n\n- New logo\n", &bank);
    assert!(release.contains("Release 2: Faster start\n") && release.contains("Release 2: New logo\n"), "{release}");
    assert_eq!(release.matches("Release 2").count(), 2, "once in each section: {release}");
    let table = filed("## Ports\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", &bank);
    assert!(table.contains("Ports:\n\n| a | b |"), "{table}");
    let twice = by_rules(
        "## Storage\n\n- One file.",
        &BankFiles::from([("a.md".parse().unwrap(), "# A\n\n## Storage\n".into())]),
    );
    assert_eq!(twice.unwrap()[0].content, "- One file.", "its section tells it");
}

#[test]
fn a_nod_is_filed_where_it_is_an_item_of_a_list_or_answers_a_heading() {
    let bank = template(BankKind::Code);
    let said = "We use SQLite because it needs no server.";
    let filed = |text: &str| by_rules(text, &bank).unwrap().into_iter().map(|operation| operation.content).collect();
    let with_nod: Vec<String> = filed(&format!("ok, thanks\n\n{said}\n\nGreat, please go on!"));
    assert_eq!(with_nod.iter().filter(|content| !content.is_empty()).count(), 1, "{with_nod:?}");
    for text in ["ok", "ok, thanks", "Great!\n\nPlease go on.", "- ok", "-", "#", "---"] {
        assert!(filed(text).is_empty(), "{text}");
    }
    for text in ["## Do we keep Redis?\n\nYes, please.\n\n## Storage\n\nIt is SQLite.", "- ok\n- SQLite"] {
        let contents: Vec<String> = filed(text);
        let nod = ["ok", "Yes, please"].iter().any(|nod| contents.concat().contains(nod));
        assert!(nod, "{text}: {contents:?}");
    }
}

#[test]
fn each_line_with_a_label_of_its_own_is_a_piece() {
    let bank = template(BankKind::Code);
    let text = "TODO: write the docs\nTODO: measure the start\nDone: the parser reads dates";
    let operations = by_rules(text, &bank).unwrap();
    let categories: Vec<_> = operations.iter().map(|operation| operation.metadata.category.unwrap()).collect();
    assert_eq!(categories, [BankCategory::Next, BankCategory::Next, BankCategory::Done]);
    assert_eq!(by_rules("Run:\n```\nerror: a\nerror: b\n```", &bank).unwrap().len(), 1, "code stays whole");
}

proptest::proptest! {
    #[test]
    fn every_word_of_a_text_is_filed(
        text in "((## |# )[k-z]{4,6}( [k-z]{4,6}){0,3}\n\n)?((- |1\\. |Zu: |- \\[ \\] )?[k-z]{4,6}( [k-z]{4,6}){0,5}\n{1,2}){1,9}",
    ) {
        let filed = filed(&text, &BankFiles::new());
        let words = text.split(|c: char| !c.is_ascii_lowercase()).filter(|word| word.len() > 1);
        for word in words {
            proptest::prop_assert!(filed.contains(word), "{word} of {text:?} is not in {filed:?}");
        }
    }
}

#[test]
fn two_reports_of_one_task_tick_it_once_and_are_both_kept() {
    let (bank, path) = with_task("Add dark mode to the settings page");
    let text = "- Finished: add dark mode to the settings page\n- Added dark mode to the settings page, with tests\n";
    let change = apply(&bank, &by_rules(text, &bank).unwrap(), now()).unwrap();
    assert!(change.changed[&path].contains("- [x] Add dark mode"), "{change:?}");
    assert!(change.changed[&"progress.md".parse().unwrap()].contains("with tests"), "{change:?}");
}

#[rstest::rstest]
#[case("Release is on hold until the review is through.", BankCategory::Blocked)]
#[case("The rollout waits for PR #12 of the platform team, which isn't merged.", BankCategory::Blocked)]
#[case("The importer was not finished when the day ended.", BankCategory::Note)]
#[case("The crash at the start is fixed.", BankCategory::Done)]
#[case("The crash at the start is not fixed.", BankCategory::Issue)]
#[case("The menu no longer flickers in Safari", BankCategory::Done)]
#[case("Fixed the memory leak in the thumbnail service.", BankCategory::Done)]
#[case("Resolved the memory leak in the cache", BankCategory::Done)]
#[case("The menu doesn't flicker in Safari any more", BankCategory::Done)]
#[case("A second theme has been added.", BankCategory::Done)]
#[case("✅ Rate limits of the login", BankCategory::Done)]
#[case("✔\u{fe0f} Rate limits of the login", BankCategory::Done)]
#[case("Both importers read UTF-16 files now.", BankCategory::Done)]
#[case("The release is now blocked by the review.", BankCategory::Blocked)]
#[case("It is now unclear who signs.", BankCategory::Question)]
#[case("Deployed to production?", BankCategory::Question)]
#[case("We decided to drop Safari 15?", BankCategory::Question)]
#[case("✅ Who signs?", BankCategory::Done)]
#[case("There's a race between the two loaders.", BankCategory::Issue)]
#[case("Helpers live next to the code that needs them.", BankCategory::Convention)]
#[case("The lock error was caused by an old process. Now it is removed at the start.", BankCategory::Fix)]
#[case("We decided to use Typst because LaTeX is slow.", BankCategory::Decision)]
#[case("We decided to leave Heroku because its dynos crash at 512 MB.", BankCategory::Decision)]
#[case("Chose SQLite for the cache, since Postgres does not work with 256 MB of RAM.", BankCategory::Decision)]
fn what_is_done_and_what_is_not_are_told_apart(#[case] text: &str, #[case] wanted: BankCategory) {
    let piece = BankTextPiece { headings: Vec::new(), form: PieceForm::Paragraph, text: text.to_owned() };
    assert_eq!(classify(&piece), wanted);
}

#[test]
fn a_box_without_a_list_is_one_and_none_is_an_answer_that_is_not_kept() {
    let bank = template(BankKind::Code);
    let done = filed("[x] rate limits", &bank);
    assert_eq!(done, "- [x] 2026-11-25: rate limits\n");
    assert_eq!(
        filed("[ ] rate limits\n[x] sign in", &bank),
        "- [ ] 2026-11-25: rate limits\n- [x] 2026-11-25: sign in\n"
    );
    for none in [
        "Blockers: none",
        "Next: none yet.",
        "No blockers.",
        "## Blockers\n\nNone",
        "Open questions:\n- none",
        "There are no known issues at the moment.",
    ] {
        assert!(filed(none, &bank).is_empty(), "{none}: {}", filed(none, &bank));
    }
    for text in ["Nothing works", "No blockers were found in the audit of May.", "Storage: none of the disks is new"] {
        assert!(!filed(text, &bank).is_empty(), "{text}");
    }
}

mod dates;
mod layouts;
mod reports;
mod texts;
