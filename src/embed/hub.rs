//! Downloads the files of a model by its name (`embedding.model_dir = "hub:OWNER/NAME"`) once. They are kept where
//! other tools keep them, too (`HF_HOME`), and read from there afterwards, without a network. Only the feature `hub`
//! downloads.

use std::path::PathBuf;

use super::model::EmbeddingModelError;

/// A path that is the name of a model begins with this.
pub(crate) const PREFIX: &str = "hub:";

/// Finds the directory that the files are in, and downloads them where they are not there yet.
///
/// # Errors
/// The files cannot be downloaded, or the model has no ONNX form.
#[cfg(feature = "hub")]
pub(crate) fn directory(name: &str) -> Result<PathBuf, EmbeddingModelError> {
    use super::model::{MODULES, TOKENIZER, WEIGHTS};

    let kept = hf_hub::Cache::from_env().model(name.to_owned());
    let is_kept = |file: &str| kept.get(file).is_some();
    // Another tool may have kept the weights and the tokenizer alone. A repository without modules.json is therefore
    // asked at each start what else it has.
    let is_complete = is_kept(MODULES);
    let tokenizer = match kept.get(TOKENIZER).filter(|_| WEIGHTS.into_iter().any(is_kept)) {
        Some(tokenizer) if is_complete => tokenizer,
        // Without a network there is what was downloaded before.
        Some(tokenizer) => download(name).unwrap_or(tokenizer),
        None => download(name)?,
    };
    tokenizer.parent().map(PathBuf::from).ok_or_else(|| failed(name, "its files have no directory"))
}

/// Downloads the files, and returns where `tokenizer.json` is. It is fetched last: then all others are there.
#[cfg(feature = "hub")]
fn download(name: &str) -> Result<PathBuf, EmbeddingModelError> {
    use hf_hub::api::sync::ApiBuilder;

    use super::model::{CONFIG, MODULES, POOLING, PROMPTS, TOKENIZER, TOKENIZER_CONFIG, TRANSFORMER, WEIGHTS};

    let api = ApiBuilder::from_env().with_progress(false).build().map_err(|error| failed(name, error))?;
    let files = api.model(name.to_owned());
    let info = files.info().map_err(|error| failed(name, error))?;
    let is_there = |file: &&str| info.siblings.iter().any(|sibling| sibling.rfilename == *file);
    let missing = || failed(name, format!("it has no {}", WEIGHTS.join(" or ")));
    let weights = WEIGHTS.into_iter().find(is_there).ok_or_else(missing)?;
    let others = [CONFIG, MODULES, POOLING, PROMPTS, TOKENIZER_CONFIG, TRANSFORMER].into_iter().filter(is_there);
    let get = |file: &str| files.get(file).map_err(|error| failed(name, format!("{file}: {error}")));
    others.chain([weights]).try_for_each(|file| get(file).map(drop))?;
    get(TOKENIZER)
}

#[cfg(feature = "hub")]
fn failed(name: &str, reason: impl ToString) -> EmbeddingModelError {
    EmbeddingModelError::Hub { name: name.to_owned(), reason: reason.to_string() }
}

#[cfg(not(feature = "hub"))]
pub(crate) fn directory(name: &str) -> Result<PathBuf, EmbeddingModelError> {
    let reason = "this build downloads nothing; one with `--features hub` does";
    Err(EmbeddingModelError::Hub { name: name.to_owned(), reason: reason.into() })
}
