//! Tests that the system says how it is, also when little of it works.

use std::borrow::Cow;

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::{EmbedderState, StoreError};
use reasoning_bank_domain::system::health::{CheckStatus, Health, HealthStatus};

use crate::support::*;

fn check(health: &Health, name: &str) -> CheckStatus {
    health.checks.iter().find(|check| check.name == name).unwrap().status
}

fn remedy(_: &Error) -> Cow<'static, str> {
    "call again".into()
}

#[tokio::test(start_paused = true)]
async fn it_is_as_well_as_its_worst_part() {
    let world = world(good_model()).await;
    world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let health = world.handle.health(remedy, soon()).await;
    assert_eq!((health.status, health.memory_count), (HealthStatus::Healthy, Some(1)), "{health:?}");
    world.embedder.set_state(EmbedderState::Failed("no such file".into()));
    let health = world.handle.health(remedy, soon()).await;
    assert_eq!((health.status, check(&health, "embedder")), (HealthStatus::Degraded, CheckStatus::Warn));
    world.store.fail_with(Some(StoreError::Failed("the disk is gone".into())));
    let health = world.handle.health(remedy, soon()).await;
    assert_eq!((health.status, check(&health, "store")), (HealthStatus::Unhealthy, CheckStatus::Fail));
    assert_eq!((health.memory_count, check(&health, "llm")), (None, CheckStatus::Ok));
    world.stop().await;
}
