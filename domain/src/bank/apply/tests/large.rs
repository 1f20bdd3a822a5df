//! The time that a large update takes, in the build for every day.

use std::time::{Duration, Instant};

use rstest::rstest;

use super::*;
use crate::bank::{RenamedHeadings, file_by_rules};

/// What an update of 256 KB may take here, where other tests run beside it.
const LIMIT: Duration = Duration::from_secs(5);
const BYTES: usize = 256 << 10;

fn lines(line: impl Fn(usize) -> String, bytes: usize) -> String {
    let mut text = String::new();
    for n in 0.. {
        let next = line(n);
        if text.len() + next.len() > bytes {
            break;
        }
        text.push_str(&next);
    }
    text
}

#[rstest]
#[case::notes(|n| format!("- The colour of thing {n} is red\n"))]
#[case::tasks(|n| format!("- [ ] task {n}\n"))]
#[case::reports(|n| format!("- Finished task {n} of the importer\n"))]
#[case::other_order(|n| format!("- One of many words {} comes {} first\n", n % 97, n % 89))]
fn a_large_update_is_filed_in_time(#[case] line: fn(usize) -> String) {
    // The dates of its entries have room in the file, too.
    let text = lines(line, BYTES / 2);
    let begun = Instant::now();
    let files = template(BankKind::Code);
    let change = filed(&text, &files);
    let filed_in = begun.elapsed();
    assert!(!change.changed.is_empty() && filed_in < LIMIT, "{filed_in:?}");
    let files: BankFiles = files.into_iter().chain(change.changed).collect();
    let begun = Instant::now();
    let again = filed(&text, &files);
    assert!(begun.elapsed() < LIMIT, "{:?}", begun.elapsed());
    assert!(again.changed.values().all(|text| text.contains("- [x]")), "nothing but boxes is new: {:?}", again.applied);
}

#[test]
fn many_reports_about_many_tasks_are_filed_in_time() {
    let tasks = lines(|n| format!("- [ ] Measure part {n} of the importer\n"), BYTES * 9 / 10);
    let text = format!("# Active context\n\n## Next steps\n\n{tasks}");
    let files: BankFiles =
        template(BankKind::Code).into_iter().chain([("activeContext.md".parse().unwrap(), text)]).collect();
    let reports = lines(|n| format!("- Measured part {} of the importer.\n", 2 * n), BYTES / 2);
    let begun = Instant::now();
    let change = filed(&reports, &files);
    let active = &change.changed[&"activeContext.md".parse::<BankPath>().unwrap()];
    assert_eq!(active.matches("- [x] ").count(), 100);
    assert!(begun.elapsed() < LIMIT, "{:?}", begun.elapsed());
}

fn filed(text: &str, files: &BankFiles) -> BankChange {
    let operations = file_by_rules(text, files, &RenamedHeadings::default(), now()).unwrap();
    apply(files, &operations, now()).unwrap()
}
