//! The answers to updates of memory banks: each says what its caller cannot see in the operations.

use std::time::Duration;

use reasoning_bank_actors::testkit::MemBanks;

use super::banks::{activate, deadline, own, process, said, saying};

#[tokio::test]
async fn an_update_says_how_many_of_its_pieces_the_bank_has() {
    let banks = MemBanks::default();
    let system = process(&banks).await;
    let handle = system.handle();
    activate(&handle).await;
    let told = async |text: &str| -> (usize, Vec<String>) {
        let updated = handle.banks.update(saying(text), deadline()).await.unwrap();
        (updated.applied.len(), updated.notices.into_iter().map(|notice| notice.description).collect())
    };
    let known = |text: &str| {
        vec![format!("{text} in the bank already, and {} not added again", text.rsplit(' ').next().unwrap())]
    };
    let both = format!("- {}\n- {}", said(1), said(2));
    assert_eq!(told(&both).await, (2, Vec::new()));
    assert_eq!(told(&both).await, (0, known("2 pieces of this text were")));
    assert_eq!(told(&format!("{both}\n- {}", said(3))).await, (1, known("2 pieces of this text were")));
    // A task that a person ticked is known as one that is done.
    banks.save(&own(), "todo.md", "# To do\n\n## Next steps\n\n- [x] Write the docs\n");
    assert_eq!(told("- [x] Write the docs").await, (0, known("1 piece of this text was")));
    assert!(activate(&handle).await.notices.is_empty(), "only the caller has to know");
    system.stop(Duration::from_secs(5)).await;
}
