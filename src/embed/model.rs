//! The parts of an embedding model, from inside the binary or from a directory. The files `tract` and `onnx_runtime`
//! run it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::{fs, io};

use reasoning_bank_domain::text::hex::hex;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::prompts::TextPrompts;
use super::{chunking, graph};

/// A model from a directory reads at most this many tokens at once, because attention takes time with their square.
const MOST_WINDOW_TOKENS: usize = 512;
/// A smaller window has no room for words beside the special tokens.
const LEAST_WINDOW_TOKENS: usize = 8;

/// The files that may hold the weights, in order of preference.
pub(crate) const WEIGHTS: [&str; 2] = ["model.onnx", "onnx/model.onnx"];
pub(crate) const TOKENIZER: &str = "tokenizer.json";
// The files that are read besides these, where they are there.
pub(crate) const CONFIG: &str = "config.json";
pub(crate) const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
pub(crate) const TRANSFORMER: &str = "sentence_bert_config.json";
pub(crate) const POOLING: &str = "1_Pooling/config.json";
pub(crate) const MODULES: &str = "modules.json";
pub(crate) const PROMPTS: &str = "config_sentence_transformers.json";

/// The error of a directory that holds no model that can be used. The message names the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbeddingModelError {
    #[error("{dir} has no {file}")]
    Missing { dir: PathBuf, file: &'static str },
    #[error("{file} cannot be used: {reason}")]
    Unfit { file: PathBuf, reason: String },
    #[error("the model {name} cannot be had: {reason}")]
    Hub { name: String, reason: String },
}

impl EmbeddingModelError {
    /// Tells the user what to do about it.
    pub fn hint(&self) -> &'static str {
        "embedding.model_dir names the directory of a sentence-transformer in ONNX form: model.onnx or onnx/model.onnx, \
         tokenizer.json and what else its publisher put beside them; leave it empty for the built-in model"
    }

    fn unfit(file: &Path, reason: impl ToString) -> Self {
        Self::Unfit { file: file.to_owned(), reason: reason.to_string() }
    }
}

/// The ways to make one vector of a text from those of its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    Mean,
    /// The vector of the first token stands for the text.
    First,
}

impl Pooling {
    /// Names the pooling for the hash of a model.
    fn as_str(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::First => "first",
        }
    }
}

pub(crate) struct Model {
    pub(crate) name: String,
    /// The SHA-256 in hex of all fields below, or of `onnx` alone for the built-in model.
    pub(crate) hash: String,
    pub(crate) onnx: Cow<'static, [u8]>,
    /// The bytes of `tokenizer.json`.
    pub(crate) tokenizer: Cow<'static, [u8]>,
    pub(crate) pooling: Pooling,
    /// The model reads this many tokens at once, its special tokens included.
    pub(crate) window: usize,
    /// The window without the tokens of prompts.
    pub(crate) room: usize,
    pub(crate) prompts: TextPrompts,
    /// The token that fills up shorter texts of a batch.
    pub(crate) pad: Pad,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pad {
    pub(crate) id: u32,
    pub(crate) token: String,
}

/// The built-in model is all-MiniLM-L6-v2 with int8 weights. Nothing is read from disk or downloaded.
pub(crate) mod builtin {
    use super::{Cow, Model, Pad, Pooling, TextPrompts};

    pub(crate) const NAME: &str = "all-MiniLM-L6-v2-int8";
    pub(crate) const DIMS: usize = 384;
    /// The hash of `model.onnx`. A test compares it with the file, so that start-up need not hash 23 MB. The tokenizer
    /// and the window are not in it, so they stay as they are.
    pub(crate) const HASH: &str = "4e9da7c1c53618a4b6ec92ea6fae126f645bd12b3ad2a782598a5374243c0811";
    /// The model was trained to read this many tokens at once.
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
            room: WINDOW_TOKENS,
            prompts: TextPrompts::default(),
            pad: Pad { id: 0, token: "[PAD]".into() },
        }
    }
}

impl Model {
    /// Reads a sentence-transformer: `model.onnx` or `onnx/model.onnx`, and `tokenizer.json`. Pooling, window, padding
    /// and prompts come from `1_Pooling/config.json`, `sentence_bert_config.json`, `tokenizer_config.json`,
    /// `config.json` and `config_sentence_transformers.json`, where these are there.
    ///
    /// # Errors
    /// A file is missing, cannot be read or says what cannot be, or `modules.json` names a module that would be left
    /// out. The message names the file.
    pub(crate) fn read(dir: &Path) -> Result<Self, EmbeddingModelError> {
        let missing = |file| EmbeddingModelError::Missing { dir: dir.to_owned(), file };
        let [first, second] = WEIGHTS;
        let onnx = match bytes(&dir.join(first))? {
            Some(onnx) => onnx,
            None => bytes(&dir.join(second))?.ok_or(missing("model.onnx or onnx/model.onnx"))?,
        };
        let tokenizer = bytes(&dir.join(TOKENIZER))?.ok_or(missing(TOKENIZER))?;
        let words = chunking::tokenizer(&tokenizer);
        let words = words.map_err(|error| EmbeddingModelError::unfit(&dir.join(TOKENIZER), error))?;
        if let Some(module) = unknown_module(&dir.join(MODULES))?
            && !graph::gives_sentences(&onnx).map_err(|error| EmbeddingModelError::unfit(dir, error))?
        {
            let reason = format!(
                "it names the module {module}; only Transformer, Pooling and Normalize are understood, unless the \
                 graph has the output {}",
                graph::SENTENCE
            );
            return Err(EmbeddingModelError::unfit(&dir.join(MODULES), reason));
        }
        let [config, tokenizer_config, transformer] =
            [CONFIG, TOKENIZER_CONFIG, TRANSFORMER].map(|file| json(&dir.join(file)));
        let (config, tokenizer_config, transformer) = (config?, tokenizer_config?, transformer?);
        let limits =
            [&config["max_position_embeddings"], &tokenizer_config["model_max_length"], &transformer["max_seq_length"]];
        // Some say 10^30 where there is no limit.
        let limit = limits.into_iter().filter_map(Value::as_f64).fold(MOST_WINDOW_TOKENS as f64, f64::min);
        let prompts = TextPrompts::of(&json(&dir.join(PROMPTS))?);
        let of_prompts =
            prompts.tokens(&words).map_err(|error| EmbeddingModelError::unfit(&dir.join(PROMPTS), error))?;
        let window = limit as usize;
        let room = window.saturating_sub(of_prompts);
        if room < LEAST_WINDOW_TOKENS {
            let reason = format!(
                "its model reads {limit} tokens at once, {of_prompts} of them of prompts; at least {LEAST_WINDOW_TOKENS} \
                 are needed"
            );
            return Err(EmbeddingModelError::unfit(dir, reason));
        }
        let named = |value: &Value| Some(value.as_str().or(value["content"].as_str())?.to_owned());
        let token = named(&tokenizer_config["pad_token"]).unwrap_or_else(|| "[PAD]".into());
        let id = config["pad_token_id"].as_u64().and_then(|id| u32::try_from(id).ok());
        let id = id.or_else(|| words.token_to_id(&token)).unwrap_or_default();
        let pooling = pooling(&dir.join(POOLING))?;
        let settings = format!("pooling={} window={window} pad={id} {token}{}", pooling.as_str(), prompts.describe());
        Ok(Self {
            name: dir.file_name().map_or_else(|| "local".into(), |name| name.to_string_lossy().into_owned()),
            hash: hash([&onnx, &tokenizer, settings.as_bytes()]),
            onnx: Cow::Owned(onnx),
            tokenizer: Cow::Owned(tokenizer),
            pooling,
            window,
            room,
            prompts,
            pad: Pad { id, token },
        })
    }
}

/// Computes the SHA-256 of the parts, each behind its length, in hex.
fn hash(parts: [&[u8]; 3]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hex(&hasher.finalize())
}

/// Returns the type of the first module that is not understood, if there is one.
fn unknown_module(file: &Path) -> Result<Option<String>, EmbeddingModelError> {
    let is_known = |kind: &str| {
        let (path, name) = kind.rsplit_once('.').unwrap_or_default();
        path.starts_with("sentence_transformers.") && ["Transformer", "Pooling", "Normalize"].contains(&name)
    };
    let modules = json(file)?;
    let mut kinds = modules.as_array().into_iter().flatten().map(|module| &module["type"]);
    let unknown = kinds.find(|kind| !kind.as_str().is_some_and(is_known));
    Ok(unknown.map(ToString::to_string))
}

/// Reads the pooling, which is the mean where nothing is said.
fn pooling(file: &Path) -> Result<Pooling, EmbeddingModelError> {
    let config = json(file)?;
    let Value::Object(keys) = &config else {
        tracing::warn!("there is no {}: the vector of a text is the mean of its tokens' vectors", file.display());
        return Ok(Pooling::Mean);
    };
    let modes: Vec<&str> = match &config["pooling_mode"] {
        Value::String(mode) => vec![mode.as_str()],
        Value::Array(modes) => modes.iter().filter_map(Value::as_str).collect(),
        // Formerly each mode was a key of its own.
        _ => {
            let on = keys.iter().filter(|(_, value)| **value == Value::Bool(true));
            on.filter_map(|(key, _)| key.strip_prefix("pooling_mode_")).collect()
        }
    };
    match modes.as_slice() {
        [] | ["mean" | "mean_tokens"] => Ok(Pooling::Mean),
        ["cls" | "cls_token"] => Ok(Pooling::First),
        other => {
            let reason = format!("it asks for {}; the mean and the first token are known", other.join(" and "));
            Err(EmbeddingModelError::unfit(file, reason))
        }
    }
}

/// Reads a file, or returns none where there is no such file.
fn bytes(file: &Path) -> Result<Option<Vec<u8>>, EmbeddingModelError> {
    match fs::read(file) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(EmbeddingModelError::unfit(file, error)),
    }
}

/// Reads a JSON file, or returns null where there is no such file.
fn json(file: &Path) -> Result<Value, EmbeddingModelError> {
    let bytes = bytes(file)?.unwrap_or_else(|| b"null".to_vec());
    serde_json::from_slice(&bytes).map_err(|error| EmbeddingModelError::unfit(file, error))
}

#[cfg(test)]
mod tests;
