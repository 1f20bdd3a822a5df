use std::fs;

use rstest::rstest;
use serde_json::json;
use tempfile::TempDir;

use super::*;

/// A model directory with these files.
fn dir(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

/// The same with the tokenizer of the built-in model.
fn with_tokenizer(files: &[(&str, &str)]) -> TempDir {
    let dir = dir(files);
    fs::write(dir.path().join("tokenizer.json"), builtin::model().tokenizer).unwrap();
    dir
}

/// A graph that has an output of this name, and nothing else.
fn graph(output: &str) -> String {
    let field = |tag: char, value: &str| format!("{tag}{}{value}", char::from(value.len() as u8));
    let value_info = field('\x0a', output);
    let graph = field('\x62', &value_info);
    field('\x3a', &graph)
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
    assert_eq!(model.hash, "f10e01048c20d6818a664e093328cd04eb23ad789caa827a0bb1124a60fa01a6");
    assert_eq!(model.name, dir.path().file_name().unwrap().to_str().unwrap());
}

#[test]
fn where_the_files_say_nothing_it_is_the_mean_of_512_tokens_at_most() {
    let dir = with_tokenizer(&[("model.onnx", "graph"), ("onnx/model.onnx", "another")]);
    let model = Model::read(dir.path()).unwrap();
    assert_eq!((model.pooling, model.window, &*model.onnx), (Pooling::Mean, 512, &b"graph"[..]));
    assert_eq!(model.pad, Pad { id: 0, token: "[PAD]".into() });
}

#[test]
fn a_model_is_another_when_a_part_of_it_changes_and_not_when_it_is_moved() {
    let tokenizer = String::from_utf8(builtin::model().tokenizer.into_owned()).unwrap();
    let hash = |file: &str, text: &str| {
        let dir = dir(&[("model.onnx", "graph"), ("tokenizer.json", &tokenizer), (file, text)]);
        Model::read(dir.path()).unwrap().hash
    };
    let (same, other_tokenizer) = (hash("README.md", "moved"), format!("{tokenizer}\n"));
    assert_eq!(hash("README.md", "moved again"), same);
    for (file, text) in [
        ("model.onnx", "another graph"),
        ("tokenizer.json", other_tokenizer.as_str()),
        ("1_Pooling/config.json", r#"{"pooling_mode": "cls"}"#),
        ("sentence_bert_config.json", r#"{"max_seq_length": 128}"#),
        ("config.json", r#"{"pad_token_id": 7}"#),
        ("config_sentence_transformers.json", r#"{"prompts": {"query": "query: "}}"#),
    ] {
        assert_ne!(hash(file, text), same, "{file}");
    }
}

#[rstest]
#[case(r#"{"pooling_mode": "mean"}"#, Pooling::Mean)]
#[case(r#"{"pooling_mode": ["cls"]}"#, Pooling::First)]
#[case(r#"{"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": false}"#, Pooling::Mean)]
fn pooling_is_named_in_the_present_way_and_in_the_former_one(#[case] config: &str, #[case] expected: Pooling) {
    let dir = with_tokenizer(&[("model.onnx", "graph"), ("1_Pooling/config.json", config)]);
    assert_eq!(Model::read(dir.path()).unwrap().pooling, expected);
}

#[test]
fn a_module_that_would_be_left_out_is_refused_unless_the_graph_gives_vectors_of_texts() {
    const TRANSFORMER: &str = "sentence_transformers.base.modules.transformer.Transformer";
    const NORMALIZE: &str = "sentence_transformers.models.Normalize";
    const DENSE: &str = "sentence_transformers.base.modules.dense.Dense";
    let read = |output: &str, last: &str| {
        let pooling = "sentence_transformers.models.Pooling";
        let modules = json!([{"type": TRANSFORMER}, {"type": pooling}, {"type": last}]).to_string();
        let dir = with_tokenizer(&[("model.onnx", &graph(output)), ("modules.json", &modules)]);
        Model::read(dir.path()).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(read("last_hidden_state", NORMALIZE), Ok(()));
    assert_eq!(read("sentence_embedding", DENSE), Ok(()));
    for other in [DENSE, "custom_st.Transformer"] {
        let error = read("last_hidden_state", other).unwrap_err();
        assert!(error.contains("modules.json cannot be used: ") && error.contains(other), "{error}");
    }
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
#[case::pooling("1_Pooling/config.json", r#"{"pooling_mode_max_tokens": true}"#, "max_tokens")]
#[case::several_poolings("1_Pooling/config.json", r#"{"pooling_mode": ["cls", "mean"]}"#, "cls and mean")]
#[case::window("tokenizer_config.json", r#"{"model_max_length": 2}"#, "2 tokens")]
#[case::prompts("config_sentence_transformers.json", &long_prompt(), "510 of them of prompts")]
fn a_file_that_says_what_cannot_be_is_named(#[case] file: &str, #[case] text: &str, #[case] message: &str) {
    let dir = with_tokenizer(&[("model.onnx", "graph"), (file, text)]);
    let error = Model::read(dir.path()).err().unwrap().to_string();
    assert!(error.contains(message), "{error}");
}

fn long_prompt() -> String {
    json!({"prompts": {"query": "word ".repeat(510)}}).to_string()
}

#[test]
fn prompts_take_room_from_texts() {
    let config = r#"{"prompts": {"query": "query: ", "passage": "a passage: "}}"#;
    let dir = with_tokenizer(&[("model.onnx", "graph"), ("config_sentence_transformers.json", config)]);
    let model = Model::read(dir.path()).unwrap();
    assert_eq!((model.window, model.room, model.prompts.is_empty()), (512, 509, false));
}

#[test]
fn a_directory_that_is_not_there_has_no_model() {
    assert!(matches!(Model::read(Path::new("/nonexistent/model")), Err(EmbeddingModelError::Missing { .. })));
}
