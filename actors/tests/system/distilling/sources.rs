//! The sources of the evidence that the lessons of jobs are.

use reasoning_bank_domain::memory::ids::{MemoryId, SignalId};
use reasoning_bank_domain::memory::signal::SignalKind;

use super::*;

/// Returns the ids of the signals that confirm a memory.
async fn confirmations(bank: &Bank, of: MemoryId) -> Vec<SignalId> {
    let signals = bank.store.signals(None, Page::first(1_000), soon()).await.unwrap();
    let confirming = signals.iter().filter(|signal| signal.memory_id == of && signal.kind == SignalKind::Confirmed);
    confirming.map(|signal| signal.id).collect()
}

#[tokio::test(start_paused = true)]
async fn a_client_that_names_several_sessions_is_one_source_of_evidence() {
    let bank = Bank::default();
    let system = bank.open(distilling(|| Ok(LESSONS.into())), 100_000).await;
    let handle = system.handle();
    let first = queued(&handle, session("search")).await;
    let id = in_state(&handle, first, JobState::Done).await.result.unwrap().learned[0].id;
    for name in ["orders", "carts", "bills"] {
        let (source, work) = (Some("process 7".to_owned()), session(name));
        let queued = handle.distiller.queue_from(source, work, &project(), soon()).await.unwrap();
        in_state(&handle, queued.job_id, JobState::Done).await;
    }
    assert_eq!(confirmations(&bank, id).await.len(), 1);
    system.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn each_exchange_that_no_session_is_known_of_is_a_source_of_its_own() {
    let model = Scripted::new();
    model.answer(Purpose::Capture, |_| Ok(LESSONS.into()));
    let bank = Bank::default();
    let system = bank.open(model, 100_000).await;
    let handle = system.handle();
    let mut learned = Vec::new();
    for question in ["Where do I begin?", "What comes first?", "How do I find it?"] {
        let work = Work::Capture { question: question.into(), answer: "Pin it.".into(), session_id: None };
        let id = queued(&handle, work).await;
        learned.push(in_state(&handle, id, JobState::Done).await.result.unwrap().learned[0].id);
    }
    assert_eq!(learned, [learned[0]; 3]);
    let confirmed = confirmations(&bank, learned[0]).await;
    assert_eq!(confirmed.len(), 2);
    assert_ne!(confirmed[0], confirmed[1]);
    system.stop(Duration::from_secs(1)).await;
}
