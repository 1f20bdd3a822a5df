use std::borrow::Cow;
use std::pin::pin;
use std::sync::mpsc;
use std::time::Duration;

use futures::poll;
use reasoning_bank_actors::testkit::soon;
use reasoning_bank_domain::retrieval::relevance::SHIPPED_EMBEDDER;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::super::encoder::TextPiece;
use super::super::lanes::{LANE_JOBS, OVERTAKING_QUERIES};
use super::*;

/// Says which texts it is about to embed, then waits to be told how that ends.
struct Scripted {
    calls: UnboundedSender<Vec<String>>,
    ends: mpsc::Receiver<End>,
}

enum End {
    Vectors,
    Error,
    Panic,
}

impl Encoder for Scripted {
    /// Makes one piece of a text, too long to share a batch.
    fn cut(&self, text: &str) -> Result<Vec<TextPiece>, String> {
        Ok(vec![TextPiece { range: 0..text.len(), tokens: 400 }])
    }

    fn condensed<'t>(&self, query: &'t str) -> Result<Cow<'t, str>, String> {
        Ok(query.into())
    }

    fn vectors(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        self.calls.send(texts.iter().map(|text| (*text).to_owned()).collect()).unwrap();
        match self.ends.recv().unwrap_or(End::Vectors) {
            End::Vectors => Ok(texts.iter().map(|text| vec![text.len() as f32]).collect()),
            End::Error => Err("out of memory".into()),
            End::Panic => panic!("index out of bounds"),
        }
    }
}

struct Script {
    load: mpsc::Sender<Result<(), String>>,
    calls: UnboundedReceiver<Vec<String>>,
    ends: mpsc::Sender<End>,
}

fn scripted() -> (LocalEmbedder, Script) {
    let (load, loaded) = mpsc::channel::<Result<(), String>>();
    let (calls, seen) = unbounded_channel();
    let (ends, ends_seen) = mpsc::channel();
    let embedder = LocalEmbedder::start(Lanes::new(), builtin_fingerprint(), 1, move || {
        loaded.recv().unwrap()?;
        Ok(vec![Scripted { calls, ends: ends_seen }])
    });
    (embedder, Script { load, calls: seen, ends })
}

/// Brings the embedder to work on a document "busy", which ends when the script says so.
async fn busy(embedder: &LocalEmbedder, script: &mut Script) -> Answer {
    script.load.send(Ok(())).unwrap();
    let busy = documents(embedder, &["busy"]);
    assert_eq!(script.calls.recv().await.unwrap(), ["busy"]);
    busy
}

type Answer = oneshot::Receiver<Result<Vec<Vec<Chunk>>, EmbedError>>;

/// Puts documents in the lane, without a future that has to be polled.
fn documents(embedder: &LocalEmbedder, texts: &[&str]) -> Answer {
    let (reply, answer) = oneshot::channel();
    let texts = texts.iter().map(|text| (*text).to_owned()).collect();
    embedder.lanes.push_documents(DocumentsJob::new(texts, reply)).unwrap();
    answer
}

#[test]
fn the_fingerprint_is_that_of_the_file() {
    let embedder = scripted().0;
    let hash: String = Sha256::digest(builtin::ONNX).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(embedder.fingerprint().hash, hash);
    assert_eq!(hash, SHIPPED_EMBEDDER, "relevance is calibrated for another model: `eval relevance --fit`");
    assert_eq!(embedder.fingerprint().to_string(), "all-MiniLM-L6-v2-int8/384/4e9da7c1c53618a4");
}

#[test]
fn shares_are_of_about_the_same_length_and_not_more_than_texts() {
    let texts: Vec<String> = (1..=40).map(|n| "x".repeat(n * n)).collect();
    let bytes = |share: Vec<(usize, String)>| share.iter().map(|(_, text)| text.len()).sum::<usize>();
    let lengths: Vec<usize> = shares(texts, 3).into_iter().map(bytes).collect();
    assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() < 400, "{lengths:?}");
    assert_eq!(shares(vec!["one".into()], 8), [[(0, "one".into())]]);
}

#[tokio::test]
async fn several_threads_share_the_texts_of_a_call_and_each_gets_its_own_vectors() {
    let (calls, mut seen) = unbounded_channel();
    let (ends, held): (Vec<_>, Vec<_>) = (0..2).map(|_| mpsc::channel()).unzip();
    let encoders = held.into_iter().map(|ends| Scripted { calls: calls.clone(), ends }).collect();
    let embedder = LocalEmbedder::start(Lanes::new(), builtin_fingerprint(), 2, move || Ok(encoders));
    let mut embedded = pin!(embedder.embed_documents(vec!["a".into(), "long".into()], soon()));
    assert!(poll!(&mut embedded).is_pending());
    // Neither has ended: both are at work.
    let mut at_work = [seen.recv().await.unwrap().concat(), seen.recv().await.unwrap().concat()];
    at_work.sort();
    assert_eq!(at_work, ["a", "long"]);
    drop(ends);
    let vector = |chunks: &Vec<Chunk>| chunks[0].vector.clone().unwrap();
    assert_eq!(embedded.await.unwrap().iter().map(vector).collect::<Vec<_>>(), [[1.0], [4.0]]);
}

#[tokio::test]
async fn a_model_on_demand_is_loaded_when_the_first_text_comes_or_not_at_all() {
    for asks in [true, false] {
        let (loads, mut loaded) = unbounded_channel();
        let embedder = LocalEmbedder::start(Lanes::on_demand(), builtin_fingerprint(), 1, move || {
            loads.send(()).unwrap();
            Err::<Vec<Scripted>, _>("no model".into())
        });
        if asks {
            assert_eq!(embedder.embed_query("q".into(), soon()).await, Err(EmbedError::Loading));
            loaded.recv().await.unwrap();
        } else {
            drop(embedder);
            assert_eq!(loaded.recv().await, None);
        }
    }
}

#[tokio::test]
async fn while_the_model_loads_queries_are_refused_and_documents_wait() {
    let (embedder, script) = scripted();
    assert_eq!(embedder.state(), EmbedderState::Loading);
    assert_eq!(embedder.embed_query("q".into(), soon()).await, Err(EmbedError::Loading));
    let mut waiting = pin!(embedder.embed_documents(vec!["document".into()], soon()));
    assert!(poll!(&mut waiting).is_pending());
    script.load.send(Ok(())).unwrap();
    script.ends.send(End::Vectors).unwrap();
    assert_eq!(waiting.await, Ok(vec![vec![Chunk { text: "document".into(), vector: Some(vec![8.0]) }]]));
    assert_eq!(embedder.state(), EmbedderState::Ready);
}

#[tokio::test(start_paused = true)]
async fn documents_wait_for_the_model_no_longer_than_their_deadline() {
    let (embedder, _script) = scripted();
    let late = embedder.embed_documents(vec!["document".into()], soon()).await;
    assert_eq!(late, Err(EmbedError::TimedOut));
}

#[tokio::test]
async fn a_deadline_that_has_passed_is_answered_without_work() {
    let (embedder, mut script) = scripted();
    let _busy = busy(&embedder, &mut script).await;
    let passed = Deadline::after(Duration::ZERO);
    assert_eq!(embedder.embed_query("q".into(), passed).await, Err(EmbedError::TimedOut));
    assert_eq!(embedder.embed_documents(vec!["d".into()], passed).await, Err(EmbedError::TimedOut));
}

#[tokio::test]
async fn a_model_that_does_not_load_fails_every_call_with_the_reason() {
    let (embedder, script) = scripted();
    let mut waiting = pin!(embedder.embed_documents(vec!["document".into()], soon()));
    assert!(poll!(&mut waiting).is_pending());
    script.load.send(Err("no such operator".into())).unwrap();
    let failed = EmbedError::Failed("no such operator".into());
    assert_eq!(waiting.await, Err(failed.clone()));
    assert_eq!(embedder.state(), EmbedderState::Failed("no such operator".into()));
    assert_eq!(embedder.embed_query("q".into(), soon()).await, Err(failed.clone()));
    assert_eq!(embedder.embed_documents(vec!["d".into()], soon()).await, Err(failed));
}

#[tokio::test]
async fn a_panic_of_the_model_fails_every_call_and_not_the_process() {
    let (embedder, mut script) = scripted();
    let busy = busy(&embedder, &mut script).await;
    let waiting = documents(&embedder, &["waiting"]);
    script.ends.send(End::Panic).unwrap();
    let failed = EmbedError::Failed("panicked: index out of bounds".into());
    assert_eq!(busy.await.unwrap(), Err(failed.clone()));
    assert_eq!(waiting.await.unwrap(), Err(failed.clone()));
    assert_eq!(embedder.embed_query("q".into(), soon()).await, Err(failed));
}

#[tokio::test]
async fn an_error_of_the_model_fails_one_call_alone() {
    let (embedder, mut script) = scripted();
    let busy = busy(&embedder, &mut script).await;
    script.ends.send(End::Error).unwrap();
    assert_eq!(busy.await.unwrap(), Err(EmbedError::Failed("out of memory".into())));
    script.ends.send(End::Vectors).unwrap();
    assert_eq!(embedder.embed_query("four".into(), soon()).await, Ok(vec![4.0]));
}

#[tokio::test]
async fn a_query_overtakes_documents_that_are_being_embedded() {
    let (embedder, mut script) = scripted();
    script.load.send(Ok(())).unwrap();
    let bulk = documents(&embedder, &["1st", "2nd", "3rd"]);
    assert_eq!(script.calls.recv().await.unwrap(), ["1st"]);
    let mut query = pin!(embedder.embed_query("urgent".into(), soon()));
    assert!(poll!(&mut query).is_pending());
    (0..4).for_each(|_| script.ends.send(End::Vectors).unwrap());
    assert_eq!(script.calls.recv().await.unwrap(), ["urgent"]);
    assert_eq!(query.await, Ok(vec![6.0]));
    assert_eq!(bulk.await.unwrap().unwrap().len(), 3);
}

#[tokio::test]
async fn documents_have_their_turn_while_queries_never_end() {
    let (embedder, mut script) = scripted();
    let _busy = busy(&embedder, &mut script).await;
    let waiting = documents(&embedder, &["document"]);
    let mut queries: Vec<_> =
        (0..3 * OVERTAKING_QUERIES).map(|_| embedder.embed_query("query".into(), soon())).collect();
    for query in &mut queries {
        assert!(poll!(query).is_pending());
    }
    // Its first turn cuts the document, and the second one embeds it.
    let overtaking = 2 * OVERTAKING_QUERIES;
    (0..overtaking + 3).for_each(|_| script.ends.send(End::Vectors).unwrap());
    for _ in 0..overtaking {
        assert_eq!(script.calls.recv().await.unwrap(), ["query"]);
    }
    assert_eq!(script.calls.recv().await.unwrap(), ["document"]);
    assert_eq!(waiting.await.unwrap().unwrap().len(), 1);
    assert_eq!(script.calls.recv().await.unwrap(), ["query"], "and then it is the turn of queries again");
}

#[tokio::test]
async fn a_full_lane_refuses_until_somebody_gives_up() {
    let (embedder, mut script) = scripted();
    let _busy = busy(&embedder, &mut script).await;
    let mut waiting: Vec<Answer> = (0..LANE_JOBS).map(|_| documents(&embedder, &["waiting"])).collect();
    let refused = embedder.embed_documents(vec!["one more".into()], soon()).await;
    assert_eq!(refused, Err(EmbedError::Overloaded));
    let mut query = pin!(embedder.embed_query("queries have a lane of their own".into(), soon()));
    assert!(poll!(&mut query).is_pending());
    waiting.pop();
    let mut admitted = pin!(embedder.embed_documents(vec!["one more".into()], soon()));
    assert!(poll!(&mut admitted).is_pending());
}

#[tokio::test]
async fn what_nobody_waits_for_is_never_computed() {
    let (embedder, mut script) = scripted();
    let busy = busy(&embedder, &mut script).await;
    drop(documents(&embedder, &["abandoned"]));
    let _wanted = documents(&embedder, &["wanted"]);
    script.ends.send(End::Vectors).unwrap();
    assert!(busy.await.unwrap().is_ok());
    assert_eq!(script.calls.recv().await.unwrap(), ["wanted"]);
}
