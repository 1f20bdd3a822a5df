//! The numbers that clients give to their updates of a memory bank: each stands for one text of one of them.

use std::time::Duration;

use reasoning_bank_actors::banks::UpdateBank;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_actors::testkit::MemBanks;
use reasoning_bank_domain::memory::ids::KeyedRequestId;

use crate::banks::{activate, own, process, said, saying, times};

const LIMIT: Duration = Duration::from_secs(20);

#[tokio::test]
async fn the_number_of_an_update_is_its_writers_own_and_stands_for_one_text() {
    let banks = MemBanks::default();
    let system = process(&banks).await;
    let handle = system.handle();
    activate(&handle).await;
    let update = async |writer: Option<&str>, content: &str| {
        let (conversation_id, writer) = (Some("1".to_owned()), writer.map(Into::into));
        let request = UpdateBank { conversation_id, update_count: Some(1), writer, ..saying(content) };
        let updated = handle.banks.update(request, Deadline::after(LIMIT)).await.unwrap();
        let told: Vec<_> = updated.notices.into_iter().map(|notice| notice.description).collect();
        (updated.applied.len(), told)
    };
    assert_eq!(update(Some("ana"), &said(1)).await, (1, vec![]));
    assert_eq!(update(Some("ben"), &said(2)).await, (1, vec![]));
    assert_eq!(update(None, &said(3)).await, (1, vec![]));
    assert_eq!(update(Some("ana"), &said(1)).await, (0, vec![]));
    let (applied, told) = update(Some("ana"), &said(4)).await;
    assert_eq!((applied, told.len()), (0, 1));
    assert!(told[0].starts_with("this update was filed before, with another text"), "{told:?}");
    let bank = activate(&handle).await;
    assert_eq!([1, 2, 3, 4].map(|n| times(&bank, &said(n))), [1, 1, 1, 0]);
    system.stop(LIMIT).await;
    // Another process knows it, too.
    let other = process(&banks).await;
    let (conversation_id, writer) = (Some("1".to_owned()), Some("ben".to_owned()));
    let request = UpdateBank { conversation_id, update_count: Some(1), writer, ..saying(&said(5)) };
    let updated = other.handle().banks.update(request, Deadline::after(LIMIT)).await.unwrap();
    assert_eq!((updated.applied.len(), updated.notices.len()), (0, 1));
    other.stop(LIMIT).await;
}

#[tokio::test]
async fn an_update_with_a_key_is_filed_once_over_processes() {
    let banks = MemBanks::default();
    let [one, other] = [1, 2].map(|n| KeyedRequestId::from(uuid::Uuid::from_u128(n)));
    let mut applied = Vec::new();
    for _process in 0..2 {
        let system = process(&banks).await;
        let handle = system.handle();
        activate(&handle).await;
        for (request, n) in [(one, 1), (one, 1), (other, 2)] {
            let keyed = handle.banks.carrying_out(request);
            applied.push(keyed.update(saying(&said(n)), Deadline::after(LIMIT)).await.unwrap().applied.len());
        }
        let bank = activate(&handle).await;
        assert_eq!([1, 2].map(|n| times(&bank, &said(n))), [1, 1]);
        system.stop(LIMIT).await;
    }
    assert_eq!(applied, [1, 0, 1, 0, 0, 0]);
}

#[tokio::test]
async fn a_request_with_a_key_restores_a_version_once() {
    let banks = MemBanks::default();
    let first = process(&banks).await;
    let handle = first.handle();
    activate(&handle).await;
    handle.banks.update(saying(&said(1)), Deadline::after(LIMIT)).await.unwrap();
    handle.banks.sync(&own(), Deadline::after(LIMIT)).await.unwrap();
    let mut others = banks.files(&own());
    others.values_mut().for_each(|text| text.push_str("\nimported\n"));
    handle.banks.import(&own(), others, Deadline::after(LIMIT)).await.unwrap();
    let version = handle.banks.history(&own(), Deadline::after(LIMIT)).await.unwrap()[0].at;
    let request = KeyedRequestId::from(uuid::Uuid::from_u128(1));
    let restore = async |handle: &SystemHandle| {
        let keyed = handle.banks.carrying_out(request);
        keyed.restore(&own(), version, Deadline::after(LIMIT)).await.unwrap().kept
    };
    let kept = restore(&handle).await;
    handle.banks.update(saying(&said(2)), Deadline::after(LIMIT)).await.unwrap();
    first.stop(LIMIT).await;
    let other = process(&banks).await;
    assert_eq!(restore(&other.handle()).await, kept);
    let bank = activate(&other.handle()).await;
    assert_eq!((times(&bank, "imported"), times(&bank, &said(2))), (0, 1), "what came later stays");
    other.stop(LIMIT).await;
}
