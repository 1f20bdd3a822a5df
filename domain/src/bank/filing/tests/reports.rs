//! Reports of work: what is done, what only may be, and the tasks that a report ticks.

use super::*;

/// Returns the tasks that a text ticks in a bank with these open ones, and the category of its last piece.
fn ticks(tasks: &[&str], text: &str) -> (Vec<String>, BankCategory) {
    let path: BankPath = "activeContext.md".parse().unwrap();
    let mut bank = template(BankKind::Code);
    let items: String = tasks.iter().map(|task| format!("- [ ] {task}\n")).collect();
    let with_items = bank[&path].replace("## Next steps\n", &format!("## Next steps\n\n{items}"));
    bank.insert(path.clone(), with_items);
    let operations = by_rules(text, &bank).unwrap();
    let category = operations.last().unwrap().metadata.category.unwrap();
    let change = apply(&bank, &operations, now()).unwrap();
    let after = change.changed.get(&path).unwrap_or(&bank[&path]);
    let is_ticked = |task: &&&str| after.contains(&format!("- [x] {task}\n"));
    (tasks.iter().filter(is_ticked).map(|task| (*task).to_owned()).collect(), category)
}

const TASKS: [&str; 3] = ["Deploy the importer", "Write the parser", "Release 2.0"];

#[rstest::rstest]
#[case("If the review passes, the parser is written.")]
#[case("If the review passes, Release 2.0 is done.")]
#[case("Once QA signs off, the importer is deployed.")]
#[case("Once approved, the importer is deployed.")]
#[case("The importer is deployed as soon as QA signs off.")]
#[case("The importer is deployed once Ana is back.")]
#[case("When the tests pass, the importer is deployed.")]
#[case("The importer is deployed if CI is green.")]
#[case("Unless CI fails, the importer is deployed.")]
#[case("Assuming the review passes, the parser is written.")]
#[case("Provided that Ana agrees, the parser is written.")]
#[case("In case the pipeline is green, the importer is deployed.")]
#[case("- If the review passes, the parser is written.")]
#[case("Status: if the review passes, the parser is written.")]
#[case("I think Release 2.0 is done.")]
#[case("We believe the importer is deployed.")]
#[case("I was told the importer is deployed, need to check.")]
#[case("The importer is probably deployed.")]
#[case("Apparently the importer is deployed.")]
#[case("The parser should be written by now.")]
#[case("The importer is deployed, I hope.")]
fn what_stands_in_a_condition_or_is_a_guess_is_no_report(#[case] text: &str) {
    let (ticked, category) = ticks(&TASKS, text);
    assert!(ticked.is_empty(), "{ticked:?}");
    assert_ne!(category, BankCategory::Done);
}

#[rstest::rstest]
#[case("When the tests had passed, the importer was deployed.", "Deploy the importer")]
#[case("Once QA signed off, the importer was deployed.", "Deploy the importer")]
#[case("The importer was deployed as soon as QA signed off.", "Deploy the importer")]
#[case("The importer is deployed now. If it fails, call Ana.", "Deploy the importer")]
#[case("The parser is written. I think it is fast.", "Write the parser")]
#[case("Wrote the parser, which stops when the file is empty.", "Write the parser")]
fn a_condition_that_was_met_or_that_is_about_something_else_leaves_the_report(#[case] text: &str, #[case] task: &str) {
    assert_eq!(ticks(&TASKS, text).0, [task]);
}

#[rstest::rstest]
#[case(&["Write the parser", "Deploy the importer"], "Wrote the parser. Deployed the importer.")]
#[case(&["Write the parser", "Deploy the importer"], "Wrote the parser and deployed the importer.")]
#[case(&["Write the parser", "Deploy the importer"], "Finished: Write the parser; Deploy the importer")]
#[case(&["Write the parser", "Deploy the importer"], "The parser is written, and the importer is deployed.")]
#[case(&["import docs", "export docs"], "Done: import docs, export docs")]
#[case(
    &["Write the parser", "Deploy the importer"],
    "- [x] Write the parser, deploy the importer"
)]
#[case(&["Write the parser", "Deploy the importer"], "Wrote the parser, then deployed the importer.")]
#[case(&["Write the parser", "Deploy the importer"], "## Done\n\n- write the parser; deploy the importer")]
#[case(
    &["Write the parser", "Deploy the importer", "Fix the login bug"],
    "Wrote the parser, deployed the importer and fixed the login bug."
)]
#[case(&["Send the invoices to Carla and Dan", "Call Ana"], "Sent the invoices to Carla and Dan & called Ana.")]
fn a_line_ticks_each_task_that_it_names_in_full(#[case] tasks: &[&str], #[case] text: &str) {
    let (ticked, category) = ticks(tasks, text);
    assert_eq!((ticked, category), (tasks.iter().map(|task| (*task).to_owned()).collect(), BankCategory::Done));
}

#[rstest::rstest]
#[case("Wrote the parser and will deploy the importer.", &["Write the parser"])]
#[case("Wrote the parser; deploying the importer is next.", &["Write the parser"])]
#[case("Wrote the parser. The importer is not deployed.", &["Write the parser"])]
#[case("Wrote the parser to deploy the importer later.", &["Write the parser"])]
#[case("Wrote the parser and the docs of the importer.", &["Write the parser"])]
#[case("Neither wrote the parser nor deployed the importer.", &[])]
#[case("Done: write the parser, and deploy the importer tomorrow", &["Write the parser"])]
#[case("Done: deploy the importer, and write the parser tomorrow", &["Deploy the importer"])]
#[case("Wrote the parser, postponed: deploy the importer", &["Write the parser"])]
fn a_line_ticks_no_task_that_it_names_as_open(#[case] text: &str, #[case] wanted: &[&str]) {
    assert_eq!(ticks(&TASKS, text).0, wanted);
}

#[rstest::rstest]
#[case("The parser for YAML is written.")]
#[case("Wrote the parser for dates.")]
#[case("Wrote the YAML parser.")]
#[case("The parser of the importer is written.")]
#[case("Released 2.0 to beta testers.")]
#[case("Released 2.0 to the canary group.")]
#[case("Deployed the importer to a test cluster.")]
#[case("Deployed the importer in the dev environment.")]
#[case("Deployed the importer for internal users.")]
#[case("Deployed the importer behind a feature flag.")]
#[case("Wrote the parser of YAML files.")]
#[case("Released 2.0 for iOS.")]
fn a_report_on_a_part_or_a_trial_ticks_nothing(#[case] text: &str) {
    assert!(ticks(&TASKS, text).0.is_empty());
}

#[rstest::rstest]
#[case("Deploy the importer", "Deployed the importer to production.")]
#[case("Deploy the importer", "Deployed the importer for all customers.")]
#[case("Deploy the importer", "Ana deployed the importer.")]
#[case("Write the parser", "Wrote the parser in Rust.")]
#[case("Write the docs", "Wrote the docs for it.")]
#[case("Release 2.0", "Released 2.0 to production for all users.")]
#[case("Release 2.0", "Released 2.0 after the beta.")]
#[case("Fix the login bug", "Fixed the login bug for good.")]
#[case("Write the parser", "Wrote the parser, with a test of each rule.")]
#[case("Write the parser for YAML", "The parser for YAML is written.")]
#[case("Deploy the importer to the test cluster", "Deployed the importer to the test cluster.")]
#[case("Load test with 500 rps", "Load tested with 500 rps: 0 errors.")]
#[case("Load test with 500 rps", "Load tested with 500 rps.")]
#[case("Smoke test 2.0", "Smoke tested 2.0.")]
fn a_report_on_all_of_a_task_ticks_it(#[case] task: &str, #[case] text: &str) {
    assert_eq!(ticks(&[task], text), (vec![task.to_owned()], BankCategory::Done));
}

#[rstest::rstest]
#[case("The tests pass locally but fail in CI.", BankCategory::Issue)]
#[case("The unit tests pass but the e2e tests fail.", BankCategory::Issue)]
#[case("The export works now, but the import crashes.", BankCategory::Issue)]
#[case("Migrated orders table to v2 - reverted afterwards", BankCategory::Note)]
#[case("Migrated the orders table to v2, then reverted it.", BankCategory::Note)]
#[case("Release 2.0 was done but had to be rolled back.", BankCategory::Note)]
#[case("Fixed the tests that pass locally but fail in CI.", BankCategory::Done)]
#[case("Reverted the migration of the orders table.", BankCategory::Done)]
#[case("The build was red but is green now.", BankCategory::Done)]
#[case("Fixed issue #42: crash when the file is empty", BankCategory::Done)]
#[case("Fixed bug #7: crash on empty input", BankCategory::Done)]
#[case("Resolved ticket OPS-12: timeouts of the queue", BankCategory::Done)]
#[case("Closed #8: wrong total in the basket", BankCategory::Done)]
#[case("Issue #42: crash when the file is empty", BankCategory::Issue)]
#[case("The menu flickers in Safari", BankCategory::Issue)]
#[case("There is a memory leak in the cache", BankCategory::Issue)]
#[case("No longer waiting for the DBA.", BankCategory::Done)]
#[case("We are no longer blocked by the DBA.", BankCategory::Done)]
#[case("We aren't blocked by the DBA any more.", BankCategory::Done)]
#[case("Unblocked: the DBA granted access.", BankCategory::Done)]
#[case("The rollout is unblocked.", BankCategory::Done)]
#[case("## Blockers\n\n- No longer waiting for the DBA.", BankCategory::Done)]
#[case("Still waiting for the DBA.", BankCategory::Blocked)]
#[case("Release 2.0 isn't done.", BankCategory::Note)]
#[case("Release 2.0 is nearly done.", BankCategory::Note)]
#[case("Release 2.0 should be done by Friday.", BankCategory::Note)]
#[case("Release 2.0 was cancelled.", BankCategory::Note)]
#[case("Sprint 12 is late.", BankCategory::Note)]
#[case("No longer needed: Release 2.0", BankCategory::Note)]
#[case("Node 22 is required.", BankCategory::Dependency)]
#[case("No globals in modules.", BankCategory::Convention)]
#[case("Answer: yes, we keep Redis for the cache.", BankCategory::Note)]
#[case("- [~] Release 2.0", BankCategory::Next)]
#[case("- [-] Write the parser", BankCategory::Next)]
#[case("| Task | State |\n|---|---|\n| parser | done |\n| importer | blocked by the DBA |", BankCategory::Note)]
#[case(
    "| Task | State |\n|---|---|\n| parser | blocked by QA |\n| importer | blocked by the DBA |",
    BankCategory::Blocked
)]
fn a_piece_has_the_state_that_it_tells(#[case] text: &str, #[case] wanted: BankCategory) {
    assert_eq!(ticks(&["Unrelated"], text).1, wanted);
}

#[rstest::rstest]
#[case("> Note: the demo is on Friday.")]
#[case("| a | b |\n|---|---|\n| the demo | Friday |")]
#[case("```text\nthe demo\n```")]
fn what_follows_a_list_below_a_bold_line_is_no_item_of_it(#[case] block: &str) {
    for heading in ["**Next up**", "Next up:"] {
        let text = format!("{heading}\n\n- write the docs\n- call Ana\n\n{block}\n");
        let operations = by_rules(&text, &template(BankKind::Code)).unwrap();
        let last = operations.last().unwrap();
        assert_eq!(last.metadata.category, Some(BankCategory::Note), "{}", last.content);
        assert!(!last.content.contains("[ ]"), "{}", last.content);
    }
}

#[test]
fn a_part_to_unfold_is_filed_without_its_tags() {
    let text = "<details><summary>Fix</summary>\n\nThe lock was stale, remove it with `rm db.lock`.\n\n</details>\n\n<details>\n<summary>Done</summary>\n\n- Login page\n\n</details>\n";
    let operations = by_rules(text, &template(BankKind::Code)).unwrap();
    let told: Vec<_> = operations.iter().map(|of| (of.metadata.category.unwrap(), of.content.as_str())).collect();
    let wanted = [
        (BankCategory::Fix, "- The lock was stale, remove it with `rm db.lock`."),
        (BankCategory::Done, "- 2026-11-25: Login page"),
    ];
    assert_eq!(told, wanted);
}
