//! The answers to updates of memory banks: each says what its caller cannot see in the operations.

use std::time::Duration;

use reasoning_bank_actors::banks::{CONVERSATION_MAX_CHARS, UpdateBank};
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

#[tokio::test]
async fn the_id_of_a_conversation_has_the_length_that_its_limit_says() {
    let banks = MemBanks::default();
    let system = process(&banks).await;
    let handle = system.handle();
    let update = async |chars: usize| {
        let id = Some("\u{e4}".repeat(chars));
        let request = UpdateBank { conversation_id: id, update_count: Some(1), ..saying(&said(1)) };
        handle.banks.update(request, deadline()).await
    };
    for chars in [1, CONVERSATION_MAX_CHARS] {
        assert!(update(chars).await.is_ok(), "{chars}");
    }
    for chars in [0, CONVERSATION_MAX_CHARS + 1] {
        let refused = update(chars).await.unwrap_err().to_string();
        assert!(refused.contains("conversation_id: must have 1 to 200 characters"), "{refused}");
    }
    system.stop(Duration::from_secs(5)).await;
}
