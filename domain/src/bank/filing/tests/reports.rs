//! Reports of work: what is done, what only may be, and the tasks that a report ticks.

use super::*;

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
