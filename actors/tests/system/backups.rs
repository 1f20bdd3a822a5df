//! Tests of backups that are due: the report of one that fails, and the end of one that a stop interrupts.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use reasoning_bank_actors::model::NoModel;
use reasoning_bank_actors::ports::{BackupLook, Backups};
use reasoning_bank_actors::system::{System, SystemParts};
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_actors::testkit::{parts, soon};
use reasoning_bank_domain::system::health::{CheckStatus, HealthCheck};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

type Answer = Result<BackupLook, String>;

/// Answers what the test sends, and tells of each look.
struct HeldBackups {
    answers: tokio::sync::Mutex<mpsc::Receiver<Answer>>,
    looks: mpsc::Sender<Timestamp>,
    cancelled: Arc<Mutex<bool>>,
}

impl Backups for HeldBackups {
    fn look_every(&self) -> Duration {
        Duration::from_millis(1)
    }

    fn make_if_due(&self, now: Timestamp, cancel: CancellationToken) -> BoxFuture<'_, Answer> {
        async move {
            let _ = self.looks.send(now).await;
            let mut answers = self.answers.lock().await;
            tokio::select! {
                answer = answers.recv() => answer.unwrap_or(Ok(BackupLook::default())),
                () = cancel.cancelled() => {
                    *self.cancelled.lock().unwrap() = true;
                    Err("cancelled".into())
                }
            }
        }
        .boxed()
    }
}

async fn check(system: &System) -> HealthCheck {
    let health = system.handle().health(|_| "".into(), soon()).await;
    health.checks.into_iter().find(|check| check.name == "backups").unwrap()
}

#[tokio::test]
async fn a_failure_is_told_until_a_backup_is_made_and_a_stop_cancels_the_one_under_way() {
    let (answer, answers) = mpsc::channel(1);
    let (looks, mut looked) = mpsc::channel(1);
    let cancelled = Arc::new(Mutex::new(false));
    let backups = HeldBackups { answers: tokio::sync::Mutex::new(answers), looks, cancelled: Arc::clone(&cancelled) };
    let parts = parts(Arc::new(MemStore::new()), NoModel);
    let system = System::start(SystemParts { backups: Some(Arc::new(backups)), ..parts }).await.unwrap();
    looked.recv().await.unwrap();
    assert_eq!(check(&system).await.status, CheckStatus::Ok);
    answer.send(Err("the disk is full".into())).await.unwrap();
    looked.recv().await.unwrap();
    let failed = check(&system).await;
    assert_eq!(failed.status, CheckStatus::Warn);
    assert!(failed.detail.contains("the disk is full"), "{failed:?}");
    let newest = Some(Timestamp::from_second(1_800_000_000).unwrap());
    answer.send(Ok(BackupLook { made: Some("/backups/1".into()), newest })).await.unwrap();
    looked.recv().await.unwrap();
    assert_eq!(check(&system).await.status, CheckStatus::Ok);
    let known = || system.handle().backups.unwrap().newest();
    assert_eq!(known(), newest);
    answer.send(Err("the disk is full".into())).await.unwrap();
    looked.recv().await.unwrap();
    assert_eq!(known(), newest, "a failure removes no backup");
    system.stop(Duration::from_secs(5)).await;
    assert!(*cancelled.lock().unwrap());
}
