//! What others do to the folder of a memory bank: Git leaves a conflict in a file, a person adds one.

use std::time::Duration;

use reasoning_bank_actors::banks::{NoticeSeverity, UpdateBank};
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::testkit::MemBanks;
use reasoning_bank_domain::bank::BankPath;

use super::banks::{activate, activate_at, deadline, own, process, said, saying, times, try_update};

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

#[tokio::test]
async fn a_restored_version_names_the_files_that_came_later_and_stay() {
    let banks = MemBanks::default();
    let system = process(&banks).await;
    let handle = system.handle();
    activate(&handle).await;
    try_update(&handle, 1).await.unwrap();
    handle.banks.sync(&own(), deadline()).await.unwrap();
    let mut older = banks.files(&own());
    older.values_mut().for_each(|text| text.push_str("\nimported\n"));
    assert_eq!(handle.banks.import(&own(), older, deadline()).await.unwrap(), 3);
    let versions = handle.banks.history(&own(), deadline()).await.unwrap();
    banks.save(&own(), "new.md", "# New\n\nA person wrote this.\n");
    let restored = handle.banks.restore(&own(), versions[0].at, deadline()).await.unwrap();
    assert_eq!(restored.added_since, ["new.md".parse().unwrap()]);
    let bank = activate(&handle).await;
    assert_eq!((times(&bank, "imported"), times(&bank, "A person wrote this."), times(&bank, &said(1))), (0, 1, 1));
    let back = handle.banks.restore(&own(), restored.kept, deadline()).await.unwrap();
    assert_eq!((back.added_since.len(), times(&activate(&handle).await, "imported")), (0, 3));
    let versions = handle.banks.history(&own(), deadline()).await.unwrap();
    assert_eq!(versions.len(), 3, "none takes the place of another that is as old");
    system.stop(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn the_name_of_a_conversation_is_refused_with_its_own_bound() {
    let banks = MemBanks::default();
    let system = process(&banks).await;
    let handle = system.handle();
    activate_at(&handle, own()).await;
    for (id, is_refused) in
        [("", true), (" ", true), ("a\nb", true), (&*"x".repeat(201), true), (&*"x".repeat(200), false)]
    {
        let request = UpdateBank { conversation_id: Some(id.to_owned()), ..saying(&said(1)) };
        match handle.banks.update(request, deadline()).await {
            Err(error) => assert!(is_refused && error.to_string().contains("1 to 200 characters"), "{id:?}: {error}"),
            Ok(updated) => {
                assert!(!is_refused && updated.notices.iter().all(|notice| notice.severity == NoticeSeverity::Info));
            }
        }
    }
    system.stop(Duration::from_secs(5)).await;
}
