use futures::poll;

use super::*;
use crate::testkit::HashEmbedder;

struct Setup {
    inner: Arc<HashEmbedder>,
    cache: EmbeddingCache,
    embedder: CachedEmbedder,
}

fn bench() -> Setup {
    let (inner, cache) = (Arc::new(HashEmbedder::new()), EmbeddingCache::new());
    let embedder = CachedEmbedder::new(Arc::clone(&inner) as Arc<_>, cache.clone());
    Setup { inner, cache, embedder }
}

fn here() -> WorkspaceId {
    WorkspaceId::of_root("/here")
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(5))
}

fn texts<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

#[tokio::test]
async fn a_text_is_embedded_once_as_a_query_and_once_as_a_document() {
    let (Setup { inner, cache, embedder }, here) = (bench(), here());
    let embedder = embedder.of(&here);
    let query = || embedder.embed_query("retry with backoff".into(), soon());
    let document = || embedder.embed_documents(texts(["retry with backoff"]), soon());
    assert_eq!(query().await, inner.embed_query("retry with backoff".into(), soon()).await);
    assert_eq!(document().await, inner.embed_documents(texts(["retry with backoff"]), soon()).await);
    assert_eq!((query().await, document().await), (query().await, document().await));
    assert_eq!(inner.calls(), 4, "two of them are those of this test");
    assert_eq!(cache.hits_and_misses(), (4, 2));
    cache.reset_statistics();
    query().await.unwrap();
    assert_eq!(cache.hits_and_misses(), (1, 0), "what is kept stays");
}

#[tokio::test]
async fn of_many_texts_only_those_that_are_new_are_embedded_and_each_once() {
    let (Setup { inner, cache, embedder }, here) = (bench(), here());
    let embedder = embedder.of(&here);
    embedder.embed_documents(texts(["known"]), soon()).await.unwrap();
    let long = (0..300).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ");
    let asked = texts(["new", "", "known", &long, "new", " \n"]);
    let embedded = embedder.embed_documents(asked.clone(), soon()).await.unwrap();
    assert_eq!(embedded, inner.embed_documents(asked.clone(), soon()).await.unwrap());
    assert_eq!(embedded.iter().map(Vec::len).collect::<Vec<_>>(), [1, 0, 1, 3, 1, 0]);
    assert_eq!(cache.hits_and_misses(), (2, 3));
    assert_eq!(embedder.embed_documents(asked, soon()).await.unwrap(), embedded);
    assert_eq!((inner.calls(), cache.hits_and_misses()), (3, (6, 3)));
}

#[tokio::test]
async fn what_one_workspace_had_embedded_is_embedded_again_for_another() {
    let Setup { inner, cache, embedder } = bench();
    for root in ["/here", "/there"] {
        let workspace = WorkspaceId::of_root(root);
        let embedder = embedder.of(&workspace);
        embedder.embed_query("retry".into(), soon()).await.unwrap();
        embedder.embed_documents(texts(["retry"]), soon()).await.unwrap();
    }
    assert_eq!((inner.calls(), cache.hits_and_misses()), (4, (0, 4)));
}

#[tokio::test]
async fn a_failure_is_not_kept() {
    let (Setup { inner, cache, embedder }, here) = (bench(), here());
    let embedder = embedder.of(&here);
    inner.set_state(EmbedderState::Loading);
    assert_eq!(embedder.embed_query("later".into(), soon()).await, Err(EmbedError::Loading));
    inner.set_state(EmbedderState::Ready);
    assert!(embedder.embed_query("later".into(), soon()).await.is_ok());
    assert_eq!(cache.hits_and_misses(), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn after_an_erasure_nothing_is_kept_also_of_what_was_being_embedded() {
    let (Setup { inner, cache, embedder }, here) = (bench(), here());
    let embedder = embedder.of(&here);
    let query = |text: &str| embedder.embed_query(text.into(), soon());
    query("before").await.unwrap();
    inner.set_delay(Duration::from_millis(10));
    let mut under_way = Box::pin(query("under way"));
    assert!(poll!(&mut under_way).is_pending());
    drop(cache.cleared_after());
    under_way.await.unwrap();
    for text in ["before", "under way"] {
        query(text).await.unwrap();
    }
    assert_eq!(cache.hits_and_misses(), (0, 4));
}

#[tokio::test]
async fn what_is_kept_is_bounded_by_the_bytes_of_its_vectors() {
    let cache = empty();
    let vector: Arc<[f32]> = vec![0.5; 64 * 1024].into();
    for n in 0..200_u8 {
        cache.insert([n; 32], CachedEmbedding::Query(Arc::clone(&vector))).await;
    }
    cache.run_pending_tasks().await;
    assert!(cache.weighted_size() <= MOST_BYTES && cache.entry_count() == 63, "{}", cache.entry_count());
}

#[test]
fn a_chunk_that_is_no_part_of_its_text_is_not_kept() {
    let chunk = |text: &str| Chunk { text: text.into(), vector: None };
    assert!(CachedEmbedding::document("one two", &[chunk("two"), chunk("one")]).is_none());
    let kept = CachedEmbedding::document("ein Käse, ein Käse", &[chunk("ein Käse"), chunk("Käse")]).unwrap();
    assert_eq!(kept.chunks("ein Käse, ein Käse").unwrap(), [chunk("ein Käse"), chunk("Käse")]);
}
