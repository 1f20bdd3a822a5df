//! The embedding model itself, built in and from a directory. How its queue behaves is tested beside it, on a scripted
//! model.

use reasoning_bank::embed::{EmbedderOptions, EmbeddingModelError, LocalEmbedder, Workload};
use reasoning_bank_actors::ports::{Chunk, Embedder, EmbedderState};

use crate::support::in_five_minutes;

#[derive(serde::Deserialize)]
struct Reference {
    text: String,
    vector: Vec<f32>,
}

fn references() -> Vec<Reference> {
    serde_json::from_str(include_str!("data/reference_vectors.json")).unwrap()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

fn without_white_space<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    texts.into_iter().flat_map(str::split_whitespace).collect()
}

async fn loaded() -> LocalEmbedder {
    let embedder = LocalEmbedder::builtin();
    assert_eq!(embedder.embed_documents(Vec::new(), in_five_minutes()).await, Ok(Vec::new()));
    assert_eq!(embedder.state(), EmbedderState::Ready);
    embedder
}

#[tokio::test]
async fn vectors_agree_with_those_of_another_runtime() {
    let (embedder, references) = (loaded().await, references());
    assert_eq!(references.len(), 20);
    let texts = references.iter().map(|reference| reference.text.clone()).collect();
    let documents = embedder.embed_documents(texts, in_five_minutes()).await.unwrap();
    for (reference, chunks) in references.iter().zip(documents) {
        let [Chunk { text, vector: Some(vector) }] = chunks.as_slice() else {
            panic!("{} chunks of {:?}", chunks.len(), reference.text);
        };
        assert_eq!(text, reference.text.trim());
        assert_eq!(vector.len(), embedder.fingerprint().dims);
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        assert!((norm - 1.0).abs() < 1e-4, "length {norm} for {text:?}");
        let query = embedder.embed_query(reference.text.clone(), in_five_minutes()).await.unwrap();
        // A long query is not embedded whole.
        let is_short = reference.text.split_whitespace().count() <= 40;
        for (way, vector) in [("document", vector), ("query", &query)].into_iter().take(1 + usize::from(is_short)) {
            let cosine = cosine(vector, &reference.vector);
            assert!(cosine >= 0.995, "cosine {cosine} as a {way}: {text:?}");
        }
    }
}

/// A directory with the files of the built-in model.
fn model_dir() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let assets = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/all-MiniLM-L6-v2-int8");
    for file in std::fs::read_dir(assets).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), dir.path().join(file.file_name())).unwrap();
    }
    dir
}

#[tokio::test]
async fn a_model_of_a_directory_makes_the_vectors_it_makes_built_in_one_by_one_and_in_batches() {
    let dir = model_dir();
    let settings = EmbedderOptions { dir: Some(dir.path().to_owned()), threads: 2 };
    let (builtin, opened) = (loaded().await, LocalEmbedder::open(&settings, Workload::Bulk).unwrap());
    assert_eq!(opened.state(), EmbedderState::Ready);
    assert_eq!(opened.fingerprint().dims, 384);
    assert_eq!(opened.fingerprint().name, dir.path().file_name().unwrap().to_str().unwrap());
    assert_ne!(opened.fingerprint(), builtin.fingerprint(), "its window is another");
    let texts: Vec<String> = references().into_iter().map(|reference| reference.text).collect();
    let [batched, single] = [
        opened.embed_documents(texts.clone(), in_five_minutes()).await.unwrap(),
        builtin.embed_documents(texts, in_five_minutes()).await.unwrap(),
    ];
    for (one, other) in batched.iter().flatten().zip(single.iter().flatten()) {
        let (Some(a), Some(b)) = (&one.vector, &other.vector) else { panic!("{} has no vector", one.text) };
        assert!(cosine(a, b) > 0.9999, "{}", one.text);
    }
}

#[test]
fn a_model_is_the_same_in_another_directory_and_another_with_another_pooling() {
    let (here, moved) = (model_dir(), model_dir());
    let open = |dir: &tempfile::TempDir| {
        let settings = EmbedderOptions { dir: Some(dir.path().to_owned()), threads: 1 };
        LocalEmbedder::open(&settings, Workload::Serving).unwrap().fingerprint().clone()
    };
    let before = open(&here);
    assert_ne!(open(&moved).name, before.name);
    assert_eq!(open(&moved), before);
    std::fs::create_dir(moved.path().join("1_Pooling")).unwrap();
    std::fs::write(moved.path().join("1_Pooling/config.json"), r#"{"pooling_mode_cls_token": true}"#).unwrap();
    assert_ne!(open(&moved), before);
}

#[cfg(not(feature = "hub"))]
#[test]
fn a_model_by_its_name_is_refused_by_a_build_that_downloads_nothing() {
    let settings = EmbedderOptions { dir: Some("hub:owner/mini".into()), threads: 1 };
    let error = LocalEmbedder::open(&settings, Workload::Serving).err().unwrap();
    assert!(error.to_string().contains("owner/mini") && error.to_string().contains("--features hub"), "{error}");
}

#[test]
fn a_directory_whose_model_cannot_be_run_is_named_with_the_reason() {
    let dir = model_dir();
    std::fs::write(dir.path().join("model.onnx"), "no graph").unwrap();
    let settings = EmbedderOptions { dir: Some(dir.path().to_owned()), threads: 1 };
    let error = LocalEmbedder::open(&settings, Workload::Serving).err().unwrap();
    assert!(matches!(&error, EmbeddingModelError::Unfit { file, .. } if file == dir.path()), "{error}");
}

#[tokio::test]
async fn long_documents_are_cut_and_blank_ones_have_no_chunks() {
    let embedder = loaded().await;
    let about_bread = "Knead the dough until it is smooth, then let it rise in a warm place. ".repeat(30);
    let about_locks = "A lock that is held across an await point blocks every other task of the thread. ".repeat(30);
    let long = format!("{about_bread}\n{about_locks}");
    let texts = vec![long.clone(), " \n".into(), String::new(), "short".into()];
    let documents = embedder.embed_documents(texts, in_five_minutes()).await.unwrap();
    assert_eq!(documents.iter().map(|chunks| chunks.is_empty()).collect::<Vec<_>>(), [false, true, true, false]);

    let chunks = &documents[0];
    assert!(chunks.len() >= 4);
    assert_eq!(without_white_space(chunks.iter().map(|chunk| chunk.text.as_str())), without_white_space([&*long]));
    let bread = embedder.embed_query("how to bake bread".into(), in_five_minutes()).await.unwrap();
    let closeness: Vec<f32> = chunks.iter().map(|chunk| cosine(&bread, chunk.vector.as_ref().unwrap())).collect();
    assert!(closeness[0] > closeness[chunks.len() - 1] + 0.2, "{closeness:?}");

    let both = embedder.embed_query(long, in_five_minutes()).await.unwrap();
    let ends = [&chunks[0], &chunks[chunks.len() - 1]].map(|chunk| cosine(&both, chunk.vector.as_ref().unwrap()));
    let unrelated =
        embedder.embed_query("The train to the coast leaves at noon.".into(), in_five_minutes()).await.unwrap();
    let least = cosine(&both, &unrelated) + 0.1;
    assert!(ends.iter().all(|cosine| *cosine > least), "a long query means all of its text: {ends:?}, {least}");
}

#[tokio::test]
async fn of_a_huge_document_all_text_is_kept_and_the_first_chunks_are_embedded() {
    let embedder = loaded().await;
    let huge = "x".repeat(1 << 20);
    let documents = embedder.embed_documents(vec![huge.clone()], in_five_minutes()).await.unwrap();
    let embedded = documents[0].iter().take_while(|chunk| chunk.vector.is_some()).count();
    assert_eq!(embedded, 64);
    assert!(documents[0][64..].iter().all(|chunk| chunk.vector.is_none()));
    assert_eq!(documents[0].iter().map(|chunk| chunk.text.as_str()).collect::<String>(), huge);
    assert_eq!(embedder.embed_query(huge, in_five_minutes()).await.unwrap().len(), 384);
}

#[tokio::test]
async fn a_query_is_answered_before_a_bulk_of_documents_is_done() {
    let embedder = loaded().await;
    let bulk = vec!["Write the version row last, in the same transaction. ".repeat(15); 40];
    let bulk = embedder.embed_documents(bulk, in_five_minutes());
    let query = embedder.embed_query("order of writes in a migration".into(), in_five_minutes());
    tokio::select! {
        biased;
        _ = bulk => panic!("the documents were done first"),
        vector = query => assert_eq!(vector.unwrap().len(), 384),
    }
}

#[tokio::test]
#[ignore = "measures the memory of its process: run it alone"]
async fn resident_memory_stays_far_below_300_mb() {
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
    };
    let before = resident();
    let embedder = loaded().await;
    let after_load = resident();
    for batch in 0..20 {
        let texts = (0..50).map(|n| format!("Lesson {batch}/{n}. {}", "Check the bound before use. ".repeat(n)));
        embedder.embed_documents(texts.collect(), in_five_minutes()).await.unwrap();
    }
    let after_use = resident();
    assert!(after_use < 200, "MB: {before} before, {after_load} with the model, {after_use} after 1,000 documents");
}
