//! The scripted model and the hash embedder do what tests rely on.

use reasoning_bank_actors::ports::{Completion, EmbedError, Embedder, EmbedderState, LanguageModel, ModelError};
use reasoning_bank_actors::testkit::{HashEmbedder, Scripted};
use reasoning_bank_domain::memory::ids::TaskId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::prompt::Purpose;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::echo::{MS, within};

fn ask(purpose: Purpose) -> Completion {
    Completion {
        purpose,
        workspace_id: WorkspaceId::of_root("/project"),
        task_id: TaskId::from(uuid::Uuid::nil()),
        attempt: None,
        instructions: "be brief".into(),
        input: "what is two and two".into(),
        max_output_tokens: 100,
    }
}

async fn said(model: &Scripted, purpose: Purpose) -> Result<String, ModelError> {
    let reply = model.complete(ask(purpose), within(1_000), CancellationToken::new()).await;
    reply.map(|reply| reply.text).map_err(|failed| failed.error)
}

#[tokio::test(start_paused = true)]
async fn a_script_gives_what_is_queued_for_the_purpose_then_its_general_answer() {
    let model = Scripted::new();
    let busy = ModelError::Transient { message: "busy".into(), retry_after: None };
    model.reply(Purpose::Judge, "first").fail(Purpose::Judge, busy.clone());
    model.answer(Purpose::Judge, |request| Ok(format!("{} words", request.input.split(' ').count())));

    assert_eq!(said(&model, Purpose::Judge).await, Ok("first".into()));
    assert_eq!(said(&model, Purpose::Judge).await, Err(busy));
    assert_eq!(said(&model, Purpose::Judge).await, Ok("5 words".into()));
    assert_eq!(said(&model, Purpose::Think).await, Err(ModelError::Refused("the script has nothing for think".into())));
    assert_eq!((model.calls(Purpose::Judge), model.requests().len()), (3, 4));
}

#[tokio::test(start_paused = true)]
async fn a_held_call_ends_by_release_deadline_or_cancel() {
    let model = Scripted::new();
    model.answer(Purpose::Think, |_| Ok("four".into())).latency(MS(5));
    let held = model.hold(Purpose::Think);
    let begun = Instant::now();
    let late = model.complete(ask(Purpose::Think), within(200), CancellationToken::new()).await;
    assert_eq!((late, begun.elapsed()), (Err(ModelError::TimedOut.into()), MS(200)));

    let cancel = CancellationToken::new();
    let cancelled = tokio::spawn({
        let (model, cancel) = (model.clone(), cancel.clone());
        async move { model.complete(ask(Purpose::Think), within(10_000), cancel).await }
    });
    let patient = tokio::spawn({
        let model = model.clone();
        async move { said(&model, Purpose::Think).await }
    });
    assert!(model.begun(3, within(100)).await);
    cancel.cancel();
    assert_eq!(cancelled.await.unwrap(), Err(ModelError::Cancelled.into()));
    held.release();
    assert_eq!(patient.await.unwrap(), Ok("four".into()));

    assert!(model.idle(within(100)).await);
    assert_eq!((model.abandoned(), model.most_at_once()), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_counted_as_abandoned() {
    let model = Scripted::new();
    model.answer(Purpose::Think, |_| Ok("four".into())).latency(MS(60_000));
    let call = model.complete(ask(Purpose::Think), within(120_000), CancellationToken::new());
    assert!(tokio::time::timeout(MS(10), call).await.is_err());
    assert_eq!(model.abandoned(), 1);
}

fn similarity(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[tokio::test(start_paused = true)]
async fn texts_that_share_words_are_nearer_and_vectors_are_normalised() {
    let embedder = HashEmbedder::new();
    let query = embedder.embed_query("Retry the upload with backoff".into(), within(100)).await.unwrap();
    let texts = ["retry with backoff, then give up", "binary search over sorted keys", "  "];
    let documents = embedder.embed_documents(texts.map(String::from).to_vec(), within(100)).await.unwrap();
    let vectors: Vec<_> = documents.iter().flatten().map(|chunk| chunk.vector.clone().unwrap()).collect();

    assert_eq!(documents.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 0]);
    assert!(similarity(&query, &vectors[0]) > similarity(&query, &vectors[1]) + 0.3);
    for vector in vectors.iter().chain([&query]) {
        assert_eq!(vector.len(), embedder.fingerprint().dims);
        assert!((similarity(vector, vector) - 1.0).abs() < 1e-5);
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_document_is_chunked_and_no_word_is_lost() {
    let embedder = HashEmbedder::new();
    let text = (0..300).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
    let chunks = embedder.embed_documents(vec![text.clone()], within(100)).await.unwrap().remove(0);
    assert_eq!(chunks.len(), 3);
    assert_eq!(chunks.iter().map(|chunk| chunk.text.as_str()).collect::<Vec<_>>().join(" "), text);
}

#[tokio::test(start_paused = true)]
async fn while_the_embedder_loads_queries_fail_and_documents_wait() {
    let embedder = std::sync::Arc::new(HashEmbedder::new());
    embedder.set_state(EmbedderState::Loading);
    assert_eq!(embedder.embed_query("now".into(), within(100)).await, Err(EmbedError::Loading));
    assert_eq!(embedder.embed_documents(vec!["late".into()], within(100)).await, Err(EmbedError::TimedOut));
    let waiting = tokio::spawn({
        let embedder = std::sync::Arc::clone(&embedder);
        async move { embedder.embed_documents(vec!["in time".into()], within(1_000)).await }
    });
    tokio::task::yield_now().await;
    embedder.set_state(EmbedderState::Ready);
    assert_eq!(waiting.await.unwrap().unwrap().len(), 1);
    embedder.set_state(EmbedderState::Failed("no file".into()));
    let failed = Err(EmbedError::Failed("no file".into()));
    assert_eq!(embedder.embed_query("never".into(), within(100)).await, failed);
    assert_eq!(embedder.calls(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_slow_embedder_keeps_to_the_deadline() {
    let embedder = HashEmbedder::new();
    embedder.set_delay(MS(500));
    assert_eq!(embedder.embed_query("slow".into(), within(100)).await, Err(EmbedError::TimedOut));
    assert!(embedder.embed_query("slow".into(), within(600)).await.is_ok());
}
