//! What an embedding model is made of, from inside the binary or from a directory. Not here: what runs it.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};
use tokenizers::Tokenizer;

/// Tokens that a model of a directory reads at once, at most: attention takes time with their square.
const MOST_WINDOW_TOKENS: usize = 512;
/// With less there is no room for words beside the special tokens.
const LEAST_WINDOW_TOKENS: usize = 8;

/// Where the model is, in order of preference.
pub(crate) const WEIGHTS: [&str; 2] = ["model.onnx", "onnx/model.onnx"];
pub(crate) const TOKENIZER: &str = "tokenizer.json";
// What is read besides these, where it is there.
pub(crate) const CONFIG: &str = "config.json";
pub(crate) const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
pub(crate) const TRANSFORMER: &str = "sentence_bert_config.json";
pub(crate) const POOLING: &str = "1_Pooling/config.json";

/// A directory that is no embedding model that can be used; the message names the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    #[error("{dir} has no {file}")]
    Missing { dir: PathBuf, file: &'static str },
    #[error("{file} cannot be used: {reason}")]
    Unfit { file: PathBuf, reason: String },
    #[error("the model {name} cannot be had: {reason}")]
    Hub { name: String, reason: String },
}

impl ModelError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        "embedding.model_dir names the directory of a sentence-transformer in ONNX form: model.onnx or onnx/model.onnx, \
         tokenizer.json and what else its publisher put beside them; leave it empty for the built-in model"
    }

    fn unfit(file: &Path, reason: impl ToString) -> Self {
        Self::Unfit { file: file.to_owned(), reason: reason.to_string() }
    }
}

/// How the vectors of tokens become one of their text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    Mean,
    /// That of the first token.
    First,
}

pub(crate) struct Model {
    pub(crate) name: String,
    /// SHA-256 of `onnx`, hex.
    pub(crate) hash: String,
    pub(crate) onnx: Cow<'static, [u8]>,
    /// `tokenizer.json`.
    pub(crate) tokenizer: Cow<'static, [u8]>,
    pub(crate) pooling: Pooling,
    /// Tokens that it reads at once, its special tokens included.
    pub(crate) window: usize,
    /// What fills shorter texts of a batch.
    pub(crate) pad: Pad,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pad {
    pub(crate) id: u32,
    pub(crate) token: String,
}

/// all-MiniLM-L6-v2 with int8 weights: nothing is read from disk or downloaded.
pub(crate) mod builtin {
    use super::{Cow, Model, Pad, Pooling};

    pub(crate) const NAME: &str = "all-MiniLM-L6-v2-int8";
    pub(crate) const DIMS: usize = 384;
    /// Of `model.onnx`; a test compares it with the file, so that start-up need not hash 23 MB.
    pub(crate) const HASH: &str = "4e9da7c1c53618a4b6ec92ea6fae126f645bd12b3ad2a782598a5374243c0811";
    /// What it was trained to read at once.
    const WINDOW_TOKENS: usize = 256;

    pub(crate) static ONNX: &[u8] = include_bytes!("../../assets/all-MiniLM-L6-v2-int8/model.onnx");
    static TOKENIZER: &[u8] = include_bytes!("../../assets/all-MiniLM-L6-v2-int8/tokenizer.json");

    pub(crate) fn model() -> Model {
        Model {
            name: NAME.into(),
            hash: HASH.into(),
            onnx: Cow::Borrowed(ONNX),
            tokenizer: Cow::Borrowed(TOKENIZER),
            pooling: Pooling::Mean,
            window: WINDOW_TOKENS,
            pad: Pad { id: 0, token: "[PAD]".into() },
        }
    }
}

impl Model {
    /// Reads a sentence-transformer: `model.onnx` or `onnx/model.onnx`, and `tokenizer.json`; pooling, window and
    /// padding from `1_Pooling/config.json`, `sentence_bert_config.json`, `tokenizer_config.json` and `config.json`
    /// where they are there.
    pub(crate) fn read(dir: &Path) -> Result<Self, ModelError> {
        let missing = |file| ModelError::Missing { dir: dir.to_owned(), file };
        let [first, second] = WEIGHTS;
        let onnx = match bytes(&dir.join(first))? {
            Some(onnx) => onnx,
            None => bytes(&dir.join(second))?.ok_or(missing("model.onnx or onnx/model.onnx"))?,
        };
        let tokenizer = bytes(&dir.join(TOKENIZER))?.ok_or(missing(TOKENIZER))?;
        let words = Tokenizer::from_bytes(&tokenizer);
        let words = words.map_err(|error| ModelError::unfit(&dir.join(TOKENIZER), error))?;
        let [config, tokenizer_config, transformer] =
            [CONFIG, TOKENIZER_CONFIG, TRANSFORMER].map(|file| json(&dir.join(file)));
        let (config, tokenizer_config, transformer) = (config?, tokenizer_config?, transformer?);
        let limits =
            [&config["max_position_embeddings"], &tokenizer_config["model_max_length"], &transformer["max_seq_length"]];
        // Some say 10^30 where there is no limit.
        let limit = limits.into_iter().filter_map(Value::as_f64).fold(MOST_WINDOW_TOKENS as f64, f64::min);
        if limit < LEAST_WINDOW_TOKENS as f64 {
            let reason = format!("its model reads {limit} tokens at once; at least {LEAST_WINDOW_TOKENS} are needed");
            return Err(ModelError::unfit(dir, reason));
        }
        let named = |value: &Value| Some(value.as_str().or(value["content"].as_str())?.to_owned());
        let token = named(&tokenizer_config["pad_token"]).unwrap_or_else(|| "[PAD]".into());
        let id = config["pad_token_id"].as_u64().and_then(|id| u32::try_from(id).ok());
        let id = id.or_else(|| words.token_to_id(&token)).unwrap_or_default();
        Ok(Self {
            name: dir.file_name().map_or_else(|| "local".into(), |name| name.to_string_lossy().into_owned()),
            hash: Sha256::digest(&onnx).iter().map(|byte| format!("{byte:02x}")).collect(),
            onnx: Cow::Owned(onnx),
            tokenizer: Cow::Owned(tokenizer),
            pooling: pooling(&dir.join(POOLING))?,
            window: limit as usize,
            pad: Pad { id, token },
        })
    }
}

/// Mean where the file says nothing.
fn pooling(file: &Path) -> Result<Pooling, ModelError> {
    let config = json(file)?;
    let Value::Object(modes) = &config else { return Ok(Pooling::Mean) };
    let on = |(mode, value): (&String, &Value)| (*value == Value::Bool(true)).then(|| mode.clone());
    let modes: Vec<String> = modes.iter().filter_map(on).filter(|mode| mode.starts_with("pooling_mode")).collect();
    match modes.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] | ["pooling_mode_mean_tokens"] => Ok(Pooling::Mean),
        ["pooling_mode_cls_token"] => Ok(Pooling::First),
        other => {
            let reason = format!("it asks for {}; the mean and the first token are known", other.join(" and "));
            Err(ModelError::unfit(file, reason))
        }
    }
}

/// None where there is no such file.
fn bytes(file: &Path) -> Result<Option<Vec<u8>>, ModelError> {
    match fs::read(file) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(ModelError::unfit(file, error)),
    }
}

/// Null where there is no such file.
fn json(file: &Path) -> Result<Value, ModelError> {
    let bytes = bytes(file)?.unwrap_or_else(|| b"null".to_vec());
    serde_json::from_slice(&bytes).map_err(|error| ModelError::unfit(file, error))
}

#[cfg(test)]
mod tests;
