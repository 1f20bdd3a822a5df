//! What others do to the folder of a memory bank: Git leaves a conflict in a file, a person adds one.

use std::time::Duration;

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::testkit::MemBanks;
use reasoning_bank_domain::bank::BankPath;

use super::banks::{activate, deadline, own, process, said, times, try_update};

const PREFERENCES: &str = "preferences.md";

#[tokio::test]
async fn a_file_with_a_conflict_of_git_is_left_alone_and_what_belongs_in_it_waits() {
    let banks = MemBanks::default();
    let system = process(&banks).await;
    let handle = system.handle();
    activate(&handle).await;
    let path: BankPath = PREFERENCES.parse().unwrap();
    let text = banks.files(&own())[&path].clone();
    let conflict = "<<<<<<< HEAD\n- mine\n=======\n- theirs\n>>>>>>> other\n";
    let conflicted = text.replace("## Communication\n", &format!("## Communication\n\n{conflict}"));
    banks.save(&own(), PREFERENCES, &conflicted);
    let updated = try_update(&handle, 1).await.unwrap();
    assert_eq!(updated.applied.len(), 1);
    let told: String = updated.notices.iter().map(|notice| notice.description.as_str()).collect();
    assert!(told.contains("preferences.md has a conflict of Git that is not resolved"), "{told}");
    let unwritten = handle.banks.sync(&own(), deadline()).await;
    assert!(matches!(unwritten, Err(Error::BankUnwritten(_))), "{unwritten:?}");
    assert_eq!(banks.files(&own())[&path], conflicted, "nothing is written between the marks");
    assert_eq!(times(&activate(&handle).await, &said(1)), 1);
    system.stop(Duration::from_secs(5)).await;

    let next = process(&banks).await;
    let resolved = conflicted.replace(conflict, "- mine\n- theirs\n");
    banks.save(&own(), PREFERENCES, &resolved);
    next.handle().banks.sync(&own(), deadline()).await.unwrap();
    let text = banks.files(&own())[&path].clone();
    assert!(text.contains("- mine\n- theirs\n") && text.contains(&said(1)), "{text}");
    next.stop(Duration::from_secs(5)).await;
}
