//! Looks at what the system stands on: the store, the embedding model, the language model, its own actors.

use std::borrow::Cow;
use std::time::Duration;

use reasoning_bank_domain::system::health::{Health, HealthCheck, HealthStatus};
use reasoning_bank_domain::system::statistics::ActorStatus;

use super::SystemHandle;
use crate::error::Error;
use crate::ports::{EmbedderState, Limitation};
use crate::runtime::Deadline;

/// A store that does not answer within this is not well.
const STORE_TIMEOUT: Duration = Duration::from_secs(5);

impl SystemHandle {
    /// Checks how the system is. It answers also when nothing else does, and calls no model. `remedy` says what can be
    /// done about an error of the store.
    pub async fn health(&self, remedy: fn(&Error) -> Cow<'static, str>, deadline: Deadline) -> Health {
        let statistics = self.statistics(deadline.at_most(STORE_TIMEOUT)).await;
        let mut checks = vec![
            store(statistics.as_ref().err().map(|error| (error, remedy(error))), self.store.limitation()),
            self.embedding(),
            self.language_model(),
        ];
        checks.extend(self.backups.as_ref().map(|backups| match backups.failure() {
            None => HealthCheck::ok("backups", "none is overdue"),
            Some(why) => {
                HealthCheck::warn("backups", format!("the last one failed: {why}"), "correct that; it is tried again")
            }
        }));
        if let Ok(statistics) = &statistics {
            let down = statistics.actors.iter().filter(|actor| actor.status != ActorStatus::Running);
            let down: Vec<&str> = down.map(|actor| actor.name.as_str()).collect();
            checks.push(match down.as_slice() {
                [] => HealthCheck::ok("actors", "all are running"),
                down => HealthCheck::warn("actors", format!("not running: {}", down.join(", ")), "the log says why"),
            });
        }
        Health {
            status: HealthStatus::of(&checks),
            uptime_s: self.started.elapsed().as_secs(),
            memory_count: statistics.as_ref().ok().map(|statistics| statistics.memories.total),
            cache_hit_rate: self.cache.statistics().await.hit_rate,
            checks,
        }
    }

    fn embedding(&self) -> HealthCheck {
        const NAME: &str = "embedder";
        match self.embedder.state() {
            EmbedderState::Ready => HealthCheck::ok(NAME, self.embedder.fingerprint().name.clone()),
            EmbedderState::Loading => {
                HealthCheck::warn(NAME, "the model is loading", "search is by words until then; writes wait for it")
            }
            EmbedderState::Failed(reason) => {
                HealthCheck::warn(NAME, reason, "search is by words alone; restart the process once that is corrected")
            }
        }
    }

    fn language_model(&self) -> HealthCheck {
        const NAME: &str = "llm";
        match (self.provider.as_str(), self.breaker.pause()) {
            ("none", _) => HealthCheck::ok(NAME, "none: memory tools only"),
            (provider, None) => HealthCheck::ok(NAME, format!("{provider}: calls go through")),
            (provider, Some(pause)) => HealthCheck::warn(
                NAME,
                format!("{provider} keeps failing; the next try is in {} s", pause.as_secs() + 1),
                "check the provider, or wait",
            ),
        }
    }
}

/// The error comes with what can be done about it.
fn store(error: Option<(&Error, Cow<'static, str>)>, limitation: Option<Limitation>) -> HealthCheck {
    match (error, limitation) {
        (Some((error, remedy)), _) => HealthCheck::fail("store", error.to_string(), remedy),
        (None, Some(limitation)) => HealthCheck::warn("store", limitation.to_string(), limitation.cause.remedy()),
        (None, None) => HealthCheck::ok("store", "it answers"),
    }
}
