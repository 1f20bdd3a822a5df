//! A model that files texts in a memory bank, within the tokens that background work may spend in a day.

use std::sync::Arc;
use std::time::Duration;

use reasoning_bank_actors::banks::{BankSettings, UpdatedBank};
use reasoning_bank_actors::distiller::DistillerSettings;
use reasoning_bank_actors::ports::ModelError;
use reasoning_bank_actors::system::{System, SystemParts, SystemSettings};
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_actors::testkit::{MemAccount, Scripted, parts};
use reasoning_bank_domain::prompt::Purpose;

use crate::banks::{activate, said, times, try_update};

/// Starts a process in which a model may file texts, and spend this much in a day. It may take a second for each.
async fn filing(model: &Scripted, account: &MemAccount, daily_token_cap: u64) -> System {
    let parts = parts(Arc::new(MemStore::new()), model.clone());
    let settings = SystemSettings {
        banks: BankSettings { llm: true, llm_timeout: Duration::from_secs(1), ..BankSettings::default() },
        distiller: DistillerSettings { daily_token_cap },
        ..SystemSettings::default()
    };
    System::start(SystemParts { settings, account: Arc::new(account.clone()), ..parts }).await.unwrap()
}

fn has_notice(updated: &UpdatedBank, of: &str) -> bool {
    updated.notices.iter().any(|notice| notice.description.contains(of))
}

#[tokio::test(start_paused = true)]
async fn a_model_that_files_never_costs_more_than_the_cap_of_a_day_and_then_rules_file() {
    const CAP: u64 = 60_000;
    let (model, account) = (Scripted::new(), MemAccount::default());
    model.answer(Purpose::Bank, |_| Err(ModelError::TimedOut));
    let system = filing(&model, &account, CAP).await;
    let handle = system.handle();
    let mut used_up = 0;
    for n in 1..=6 {
        let updated = try_update(&handle, n).await.unwrap();
        used_up += usize::from(has_notice(&updated, "are used up for today"));
        assert!(account.spent().unwrap().1 <= CAP);
    }
    let (asked, spent) = (model.calls(Purpose::Bank), account.spent().unwrap().1);
    assert!(asked >= 2 && used_up >= 1 && asked + used_up == 6, "{asked} {used_up}");
    assert!(spent > CAP / 2, "{spent}");
    let shown = activate(&handle).await;
    assert!((1..=6).all(|n| times(&shown, &said(n)) == 1), "rules filed them all");
    system.stop(Duration::from_secs(5)).await;
}

#[tokio::test(start_paused = true)]
async fn a_model_that_files_too_late_is_counted_and_one_that_no_cap_allows_is_not_asked() {
    let (model, account) = (Scripted::new(), MemAccount::default());
    let held = model.hold(Purpose::Bank);
    let system = filing(&model, &account, 60_000).await;
    let late = try_update(&system.handle(), 1).await.unwrap();
    assert!(has_notice(&late, "did not answer"), "{:?}", late.notices);
    assert!(account.spent().is_some_and(|(_, tokens)| tokens > 8_000), "{:?}", account.spent());
    system.stop(Duration::from_secs(5)).await;
    drop(held);

    let account = MemAccount::default();
    let system = filing(&model, &account, 100).await;
    let small = try_update(&system.handle(), 2).await.unwrap();
    assert!(has_notice(&small, "background.daily_token_cap is too small"), "{:?}", small.notices);
    assert_eq!((model.calls(Purpose::Bank), account.spent()), (1, None));
    system.stop(Duration::from_secs(5)).await;
}
