//! Tests of episodes of transcripts that went on since they were learned.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use reasoning_bank_actors::episodes::LearnedRequests;
use reasoning_bank_actors::ports::{EmbedderState, MemoryStore, Page, Record, StoreReads};
use reasoning_bank_domain::episode::EpisodeVectors;
use reasoning_bank_domain::learning::transcript;
use reasoning_bank_domain::memory::trace::TraceSource;

use crate::support::*;

/// A request with a call, more that is done for it, and another request.
const FIRST: [&str; 2] = [
    r#"{"role":"user","content":"Look around in the shop"}"#,
    r#"{"role":"assistant","content":"ok","tool_calls":[{"id":"1","type":"function","function":{"name":"list","arguments":"{}"}}]}"#,
];
const GROWN: [&str; 2] = [
    r#"{"role":"tool","tool_call_id":"1","content":"Error: the cellar is locked"}"#,
    r#"{"role":"assistant","content":"The cellar is locked","tool_calls":[{"id":"2","type":"function","function":{"name":"open","arguments":"{}"}}]}"#,
];
const NEXT: [&str; 2] = [
    r#"{"role":"user","content":"Now sweep the floor"}"#,
    r#"{"role":"assistant","content":"ok","tool_calls":[{"id":"3","type":"function","function":{"name":"sweep","arguments":"{}"}}]}"#,
];

impl World {
    /// Learns a transcript, and returns the number of new episodes.
    async fn learn_lines(&self, lines: &[&str]) -> u64 {
        let requests = transcript::read(lines.join("\n").as_bytes()).unwrap().requests;
        let told = LearnedRequests { requests, source: TraceSource::Transcript, owner: None, outcome: None };
        self.handle.episodes.learn(told, &project(), soon()).await.unwrap()
    }

    async fn only_vectors(&self) -> EpisodeVectors {
        let traces = self.store.traces(None, Page::first(10), soon()).await.unwrap();
        let ids = traces.iter().map(|trace| trace.trace_id).collect();
        let mut found = self.store.episode_vectors(ids, soon()).await.unwrap();
        assert_eq!(found.len(), 1);
        found.remove(0)
    }
}

#[tokio::test]
async fn a_grown_episode_gets_vectors_of_what_it_tells_now_however_often_they_were_made_again() {
    let world = world(good_model()).await;
    assert_eq!(world.learn_lines(&FIRST).await, 1);
    let half = EpisodeVectors { revision: 7, ..world.only_vectors().await };
    world.store.commit(vec![Record::EpisodeVectors(half.clone())], soon()).await.unwrap();
    assert_eq!(world.learn_lines(&[FIRST, GROWN].concat()).await, 0);
    let grown = world.only_vectors().await;
    assert_eq!((grown.revision, &grown.embedder, &grown.task), (8, &half.embedder, &half.task));
    assert_ne!(grown.whole, half.whole);
}

#[tokio::test]
async fn upkeep_makes_the_vectors_of_an_episode_that_grew_while_the_embedder_was_away() {
    let world = world(good_model()).await;
    world.learn_lines(&FIRST).await;
    let half = world.only_vectors().await;
    world.embedder.set_state(EmbedderState::Failed("no such file".into()));
    world.learn_lines(&[FIRST, GROWN].concat()).await;
    let none = world.only_vectors().await;
    assert_eq!((none.revision, &none.task, &none.outcome, &none.whole), (1, &None, &None, &None));
    world.embedder.set_state(EmbedderState::Ready);
    assert_eq!(world.handle.episodes.fill_vectors(soon()).await.unwrap(), 1);
    let filled = world.only_vectors().await;
    assert_eq!((filled.revision, &filled.embedder), (2, &half.embedder));
    assert_ne!(filled.whole, half.whole);
    assert_eq!(world.handle.episodes.fill_vectors(soon()).await.unwrap(), 0);
}

#[tokio::test]
async fn learning_again_reads_only_the_episode_that_may_have_grown() {
    let world = world(good_model()).await;
    let lines = [FIRST, GROWN, NEXT].concat();
    assert_eq!(world.learn_lines(&lines).await, 2);
    let reads = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&reads);
    world.store.before_each(move |name| {
        counted.fetch_add(usize::from(name == "episode"), Ordering::SeqCst);
        Ok(())
    });
    assert_eq!(world.learn_lines(&lines).await, 0);
    assert_eq!(reads.load(Ordering::SeqCst), 1);
}
