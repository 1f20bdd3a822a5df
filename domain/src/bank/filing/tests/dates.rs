//! The dates of entries: each has one.

use super::*;
use crate::bank::merge;

#[rstest::rstest]
#[case("2026-11-20: Finished the login.", "- 2026-11-20: Finished the login.")]
#[case("- [2026-11-20 09:30:00] - Finished the login.", "- [2026-11-20 09:30:00] - Finished the login.")]
#[case("- **2026-11-20:** Finished the login.", "- **2026-11-20:** Finished the login.")]
#[case("- [ ] 2026-12-01: Write the docs", "- [ ] 2026-12-01: Write the docs")]
#[case("2026-11-20: Done: the login works", "- 2026-11-20: the login works")]
#[case("Done: 2026-11-20: the login works", "- 2026-11-20: the login works")]
#[case("## Printer\n\n- 2026-11-20: Finished the driver.", "- 2026-11-20: Printer: Finished the driver.")]
#[case("## 2026-11-20\n\n- Finished the login.", "- 2026-11-20: Finished the login.")]
#[case("## 2026-11-20: Printer\n\n- Finished the driver.", "- 2026-11-20: Printer: Finished the driver.")]
#[case("Finished the login on 2026-11-20.", "- 2026-11-25: Finished the login on 2026-11-20.")]
#[case("2026-13-99: Finished the login.", "- 2026-11-25: 2026-13-99: Finished the login.")]
fn an_entry_has_one_date_and_its_own_comes_first(#[case] text: &str, #[case] wanted: &str) {
    assert_eq!(filed(text, &template(BankKind::Code)), format!("{wanted}\n"));
}

#[test]
fn the_day_of_a_heading_is_written_as_the_dates_of_the_others_are() {
    let progress = "# Progress\n\n## Done\n\n- [2026-01-02 10:00:00] - Began\n";
    let bank = BankFiles::from([("progress.md".parse().unwrap(), progress.to_owned())]);
    assert_eq!(filed("## 2026-11-20\n\n- Finished the login.", &bank), "- [2026-11-20] - Finished the login.\n");
    assert_eq!(filed("Finished the login.", &bank), "- [2026-11-25 12:00:00] - Finished the login.\n");
}

#[test]
fn an_entry_has_one_date_after_a_person_edited_its_section() {
    let path: BankPath = "progress.md".parse().unwrap();
    let before = "# Progress\n\n## Done\n\n- 2026-11-18: Began\n";
    let mut bank = BankFiles::from([(path.clone(), before.to_owned())]);
    let operations = by_rules("- 2026-11-20: Finished the login.\n- Finished the search.", &bank).unwrap();
    bank.extend(apply(&bank, &operations, now()).unwrap().changed);
    let of_person = before.replace("Began", "Began with Ana");
    let merged = merge(before, &of_person, &bank[&path], "Added 2026-11-25").unwrap().text;
    let added = "### Added 2026-11-25\n\n- 2026-11-20: Finished the login.\n- 2026-11-25: Finished the search.\n";
    assert_eq!(merged, format!("{of_person}\n{added}"));
    let bank = BankFiles::from([(path.clone(), merged)]);
    let change = apply(&bank, &by_rules("- 2026-11-21: Finished the export.", &bank).unwrap(), now()).unwrap();
    assert!(change.changed[&path].contains("\n- 2026-11-21: Finished the export.\n- 2026-11-18: Began with Ana\n"));
}

#[test]
fn entries_go_under_the_heading_of_their_day_where_a_person_keeps_such_headings() {
    let path: BankPath = "progress.md".parse().unwrap();
    let log = "# Progress\n\n## Completed\n\n### 2026-11-24\n\n- Wrote the docs\n\n## Blocked\n";
    let bank = BankFiles::from([(path.clone(), log.to_owned())]);
    let after = |text: &str| apply(&bank, &by_rules(text, &bank).unwrap(), now()).unwrap().changed[&path].clone();
    let new = "### 2026-11-25\n\n- Finished the login.\n\n### 2026-11-24";
    assert_eq!(after("Finished the login."), log.replace("### 2026-11-24", new));
    let text = "## 2026-11-24\n\n- Finished the login.\n- Blocked by the missing key.";
    let wanted = log.replace("- Wrote", "- Finished the login.\n- Wrote");
    assert_eq!(after(text), format!("{wanted}\n- 2026-11-24: Blocked by the missing key.\n"));
}
