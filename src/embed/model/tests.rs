use std::fs;

use rstest::rstest;
use serde_json::json;
use tempfile::TempDir;

use super::*;

/// A model directory with these files; `tokenizer.json` is that of the built-in model where none is given.
fn dir(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn with_tokenizer(files: &[(&str, &str)]) -> TempDir {
    let dir = dir(files);
    fs::write(dir.path().join("tokenizer.json"), builtin::model().tokenizer).unwrap();
    dir
}

#[test]
fn what_the_files_say_is_what_counts() {
    let cls =
        json!({"word_embedding_dimension": 384, "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false});
    let dir = with_tokenizer(&[
        ("onnx/model.onnx", "graph"),
        ("config.json", r#"{"max_position_embeddings": 512, "pad_token_id": 7}"#),
        (
            "tokenizer_config.json",
            r#"{"model_max_length": 1000000000000000019884624838656, "pad_token": {"content": "[MASK]"}}"#,
        ),
        ("sentence_bert_config.json", r#"{"max_seq_length": 128}"#),
        ("1_Pooling/config.json", &cls.to_string()),
    ]);
    let model = Model::read(dir.path()).unwrap();
    assert_eq!((model.pooling, model.window), (Pooling::First, 128));
    assert_eq!(model.pad, Pad { id: 7, token: "[MASK]".into() });
    assert_eq!(&*model.onnx, b"graph");
    assert_eq!(model.hash, "eef93e1d14482804277fca0172464032d1a4fdbcc338524059fa1e861454ad4d");
    assert_eq!(model.name, dir.path().file_name().unwrap().to_str().unwrap());
}

#[test]
fn where_the_files_say_nothing_it_is_the_mean_of_512_tokens_at_most() {
    let dir = with_tokenizer(&[("model.onnx", "graph"), ("onnx/model.onnx", "another")]);
    let model = Model::read(dir.path()).unwrap();
    assert_eq!((model.pooling, model.window, &*model.onnx), (Pooling::Mean, 512, &b"graph"[..]));
    assert_eq!(model.pad, Pad { id: 0, token: "[PAD]".into() });
}

#[rstest]
#[case::no_model(&[("tokenizer.json", "{}")], "no model.onnx or onnx/model.onnx")]
#[case::no_tokenizer(&[("model.onnx", "graph")], "no tokenizer.json")]
#[case::a_bad_tokenizer(&[("model.onnx", "graph"), ("tokenizer.json", "{}")], "tokenizer.json cannot be used: ")]
fn a_file_that_is_missing_or_bad_is_named(#[case] files: &[(&str, &str)], #[case] message: &str) {
    let dir = dir(files);
    let error = Model::read(dir.path()).err().unwrap();
    assert!(error.to_string().contains(message), "{error}");
    assert!(error.to_string().contains(&*dir.path().to_string_lossy()) && error.hint().contains("embedding.model_dir"));
}

#[rstest]
#[case::json("config.json", "not json", "config.json cannot be used: ")]
#[case::pooling("1_Pooling/config.json", r#"{"pooling_mode_max_tokens": true}"#, "pooling_mode_max_tokens")]
#[case::window("tokenizer_config.json", r#"{"model_max_length": 2}"#, "2 tokens")]
fn a_file_that_says_what_cannot_be_is_named(#[case] file: &str, #[case] text: &str, #[case] message: &str) {
    let dir = with_tokenizer(&[("model.onnx", "graph"), (file, text)]);
    let error = Model::read(dir.path()).err().unwrap().to_string();
    assert!(error.contains(message), "{error}");
}

#[test]
fn a_directory_that_is_not_there_has_no_model() {
    assert!(matches!(Model::read(Path::new("/nonexistent/model")), Err(ModelError::Missing { .. })));
}
