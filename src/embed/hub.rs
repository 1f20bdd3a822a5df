//! Downloads the files of a model by its name (`embedding.model_dir = "hub:OWNER/NAME"`), once: they are kept where other
//! tools keep them, too (`HF_HOME`), and read from there afterwards, without a network. Only with the feature `hub`.

use std::path::PathBuf;

use super::model::ModelError;

/// What a path of a model begins with when it is a name.
pub(crate) const PREFIX: &str = "hub:";

/// The directory that the files are in.
#[cfg(feature = "hub")]
pub(crate) fn directory(name: &str) -> Result<PathBuf, ModelError> {
    use hf_hub::Cache;
    use hf_hub::api::sync::ApiBuilder;

    use super::model::{CONFIG, POOLING, TOKENIZER, TOKENIZER_CONFIG, TRANSFORMER, WEIGHTS};

    let failed = |reason: String| ModelError::Hub { name: name.to_owned(), reason };
    let api = ApiBuilder::from_env().with_progress(false).build().map_err(|error| failed(error.to_string()))?;
    let files = api.model(name.to_owned());
    let tokenizer = match files.info() {
        Ok(info) => {
            let is_there = |file: &&str| info.siblings.iter().any(|sibling| sibling.rfilename == *file);
            let missing = || failed(format!("it has no {}", WEIGHTS.join(" or ")));
            let weights = WEIGHTS.into_iter().find(is_there).ok_or_else(missing)?;
            let others = [CONFIG, POOLING, TOKENIZER_CONFIG, TRANSFORMER].into_iter().filter(is_there);
            let get = |file: &str| files.get(file).map_err(|error| failed(format!("{file}: {error}")));
            others.chain([weights]).try_for_each(|file| get(file).map(drop))?;
            // The last one: where it is, all others are.
            get(TOKENIZER)?
        }
        // Without a network there is what was downloaded before.
        Err(error) => {
            let kept = Cache::from_env().model(name.to_owned()).get(TOKENIZER);
            kept.ok_or_else(|| failed(error.to_string()))?
        }
    };
    tokenizer.parent().map(PathBuf::from).ok_or_else(|| failed("its files have no directory".into()))
}

#[cfg(not(feature = "hub"))]
pub(crate) fn directory(name: &str) -> Result<PathBuf, ModelError> {
    let reason = "this build downloads nothing; one with `--features hub` does";
    Err(ModelError::Hub { name: name.to_owned(), reason: reason.into() })
}
