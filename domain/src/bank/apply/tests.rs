mod large;

use super::*;
use crate::bank::{BankKind, template};

fn now() -> Timestamp {
    "2026-11-25T12:00:00Z".parse().unwrap()
}

fn operation(file: &str, kind: BankOperationType, section: Option<&str>, content: &str) -> BankOperation {
    let metadata = BankMetadata { section: section.map(str::to_owned), ..BankMetadata::default() };
    BankOperation { target_file: file.parse().unwrap(), operation_type: kind, content: content.to_owned(), metadata }
}

fn applied(files: &BankFiles, operations: &[BankOperation]) -> Result<BankChange, BankInvalid> {
    apply(files, operations, now())
}

use BankOperationType::{Append, CompleteItem, CreateFile, CreateSection, PrependEntry, ReplaceSection};

#[test]
fn every_operation_does_what_it_says_and_the_next_sees_it() {
    let files = template(BankKind::Code);
    let operations = [
        operation("activeContext.md", Append, Some("Next steps"), "- [ ] Write the parser tests"),
        operation("activeContext.md", CompleteItem, None, "The parser tests are written (write done)"),
        operation("progress.md", PrependEntry, Some("Done"), "- first"),
        operation("progress.md", PrependEntry, Some("Done"), "- second"),
        operation("systemPatterns.md", CreateSection, Some("Architecture > Storage"), "One file."),
        operation("systemPatterns.md", ReplaceSection, Some("Storage"), "Two files."),
        operation("notes/api.md", CreateFile, None, "# API\n\nREST."),
        operation("notes/api.md", Append, None, "Paged."),
    ];
    let change = applied(&files, &operations).unwrap();
    let text = |file: &str| change.changed[&file.parse::<BankPath>().unwrap()].clone();
    assert!(text("activeContext.md").contains("- [x] Write the parser tests\n"));
    assert!(text("progress.md").contains("## Done\n\n- first\n- second\n\n## Blocked"));
    assert!(text("systemPatterns.md").contains("### Storage\n\nTwo files.\n\n## Decisions"));
    assert_eq!(text("notes/api.md"), "# API\n\nREST.\n\nPaged.\n");
    assert_eq!((change.changed.len(), change.applied.len(), change.known), (4, 8, 0));
    let of_first = &change.metadata[new_pieces("", "- first").first().unwrap()];
    assert_eq!((change.metadata.len(), of_first.timestamp), (7, Some(now())));
}

#[test]
fn what_the_bank_says_already_is_not_added_again() {
    let files = template(BankKind::Code);
    let first = operation("techContext.md", Append, Some("Dependencies"), "- Uses tokio 1.40.\n- Uses axum.");
    let change = applied(&files, &[first.clone(), first.clone()]).unwrap();
    assert_eq!((change.applied.len(), change.known), (1, 2));
    let files: BankFiles = files.into_iter().chain(change.changed).collect();
    let more = operation("techContext.md", Append, Some("Dependencies"), "- uses Tokio 1.40\n- Uses serde.");
    let change = applied(&files, &[more]).unwrap();
    assert_eq!((change.applied.len(), change.known), (1, 1), "an item that is left out of several counts");
    assert!(change.changed.values().next().unwrap().contains("- Uses axum.\n- Uses serde.\n\n## Commands"));
}

#[test]
fn one_impossible_operation_refuses_all() {
    let files = template(BankKind::Code);
    let fine = operation("progress.md", Append, Some("Done"), "- x");
    let mut of_model = operation("progress.md", CompleteItem, None, "nothing such");
    of_model.metadata.source = BankSource::Llm;
    let wrong = [
        (operation("other.md", Append, None, "y"), "target_file other.md is not in the bank"),
        (operation("progress.md", Append, Some("Nowhere"), "y"), "progress.md: section \"Nowhere\" is not in the file"),
        (operation("progress.md", Append, None, " \n"), "content is missing"),
        (operation("progress.md", ReplaceSection, None, "x"), "section is missing"),
        (operation("progress.md", Append, Some("Done"), "# Big\n"), "progress.md: content has the heading"),
        (operation("progress.md", Append, Some("Done"), "```\n"), "would change other sections"),
        (of_model, "says none of the open items"),
        (operation("Progress.md", CreateFile, None, "x"), "progress.md is in the bank already"),
        (operation("progress.md", Append, Some("Done"), &"x y ".repeat(70_000)), "KiB"),
        (operation("progress.md", Append, Some("Done"), &"x y ".repeat(65_530)), "256 KiB"),
    ];
    for (operation, problem) in wrong {
        let error = applied(&files, &[fine.clone(), operation]).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    let nested = applied(&files, &[operation("progress.md", Append, Some("Done"), "### Deeper\n\nx")]).unwrap();
    assert!(nested.changed.values().next().unwrap().contains("### Deeper\n\nx\n\n## Blocked"));
}

#[test]
fn each_piece_has_the_metadata_of_its_own_operation() {
    let mut critical = operation("progress.md", PrependEntry, Some("Done"), "- critical");
    critical.metadata.importance = crate::bank::BankImportance::High;
    let plain = operation("progress.md", PrependEntry, Some("Done"), "- plain");
    let metadata = applied(&template(BankKind::Code), &[critical.clone(), plain]).unwrap().metadata;
    let of = |text: &str| metadata[new_pieces("", text).first().unwrap()].importance;
    assert_eq!((of("critical"), of("plain")), (critical.metadata.importance, Default::default()));
}

#[test]
fn secrets_are_scrubbed() {
    let content = format!("- The token is ghp_{}", "a1B2".repeat(9));
    let change = applied(&template(BankKind::Code), &[operation("progress.md", Append, None, &content)]).unwrap();
    assert!(change.removed.redactions == 1 && change.changed.values().next().unwrap().contains("[REDACTED:"));
}

#[test]
fn what_repeats_the_instructions_is_left_out_and_a_models_answer_with_it_refused() {
    let files = template(BankKind::Code);
    let mut echo = operation("progress.md", Append, None, Prompts::default().of_banks());
    let change = applied(&files, &[echo.clone(), operation("progress.md", Append, None, "- real")]).unwrap();
    assert_eq!((change.refused.len(), change.applied.len()), (1, 1));
    echo.metadata.source = BankSource::Llm;
    assert!(applied(&files, &[echo]).unwrap_err().to_string().contains("repeats the instructions"));
}

#[test]
fn operations_are_written_in_the_words_of_the_schema() {
    let operation = operation("progress.md", PrependEntry, Some("Done"), "x");
    let json = serde_json::to_value(&operation).unwrap();
    assert_eq!((&json["operation_type"], &json["metadata"]["source"]), (&"prepend_entry".into(), &"rules".into()));
    assert_eq!(serde_json::from_value::<BankOperation>(json).unwrap(), operation);
    let wrong = serde_json::json!({"target_file": "../x.md", "operation_type": "append", "content": "x"});
    assert!(
        serde_json::from_value::<BankOperation>(wrong).unwrap_err().to_string().contains("must not leave the bank")
    );
}

#[test]
fn a_text_for_a_new_section_that_is_there_is_appended_once_and_told_so() {
    let files = template(BankKind::Code);
    let create = operation("progress.md", CreateSection, Some("Done"), "- The parser reads dates.");
    let change = applied(&files, &[create.clone(), create]).unwrap();
    assert_eq!((change.applied.len(), change.known), (1, 1));
    assert_eq!(change.applied[0].operation_type, Append);
    let text = change.changed.values().next().unwrap();
    assert!(text.contains("## Done\n\n- The parser reads dates.\n\n## Blocked"), "{text}");
}
