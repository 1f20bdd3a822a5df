//! Where the language model comes from, and whether a command can work with it. The models themselves are elsewhere.

use serde::Deserialize;

use super::layers::Sources;
use super::problem::Problem;
use super::{Loaded, Settings};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    Openrouter,
    Responses,
    Chat,
    Simulated,
    None,
}

impl Provider {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Openrouter => "openrouter",
            Self::Responses => "responses",
            Self::Chat => "chat",
            Self::Simulated => "simulated",
            Self::None => "none",
        }
    }
}

const KEY_VARIABLE: &str = "OPENROUTER_API_KEY";
const KEY_FILE_VARIABLE: &str = "OPENROUTER_API_KEY_FILE";

/// Why a command that needs a model cannot start with the provider that is configured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    #[error("the provider openrouter ({origin}) needs a key, and {KEY_VARIABLE} is not set")]
    KeyMissing { origin: String },
    #[error("this version speaks to the providers simulated and none only, not to {provider} ({origin})")]
    NotSpoken { provider: &'static str, origin: String },
    #[error("there is no model to solve with: the provider is none ({origin})")]
    NoModel { origin: String },
}

impl ProviderError {
    pub fn code(&self) -> &'static str {
        match self {
            Self::KeyMissing { .. } => "llm_key_missing",
            Self::NotSpoken { .. } | Self::NoModel { .. } => "llm_unavailable",
        }
    }

    pub fn hint(&self) -> &'static str {
        match self {
            Self::KeyMissing { .. } | Self::NotSpoken { .. } => {
                "this version works with `--llm simulated` (in-process, no key, no network) \
                 or `--llm none` (memory tools without a model)"
            }
            Self::NoModel { .. } => "choose a model, for example `--llm simulated` (in-process, no key, no network)",
        }
    }
}

impl Loaded {
    /// Checks that the provider can be used by a command that solves tasks, or, with `none_will_do`, by one that works
    /// without a model too.
    ///
    /// # Errors
    /// The key is missing, or this version has no client for the provider, or there is no model.
    pub fn check_provider(&self, none_will_do: bool) -> Result<(), ProviderError> {
        let provider = self.settings.llm.provider;
        let origin = || {
            let entry = self.effective.iter().find(|entry| entry.key == "llm.provider");
            entry.map(|entry| entry.origin.clone()).unwrap_or_default()
        };
        match provider {
            Provider::Simulated => Ok(()),
            Provider::None if none_will_do => Ok(()),
            Provider::None => Err(ProviderError::NoModel { origin: origin() }),
            Provider::Openrouter if self.api_key_origin.is_none() => {
                Err(ProviderError::KeyMissing { origin: origin() })
            }
            Provider::Openrouter | Provider::Responses | Provider::Chat => {
                Err(ProviderError::NotSpoken { provider: provider.as_str(), origin: origin() })
            }
        }
    }
}

/// Where the provider's key comes from; looked for only where the provider takes one.
pub(super) fn api_key_origin(settings: &Settings, sources: &Sources) -> Result<Option<String>, Problem> {
    if settings.llm.provider != Provider::Openrouter {
        return Ok(None);
    }
    if sources.variable(KEY_VARIABLE).is_some_and(|key| !key.as_encoded_bytes().trim_ascii().is_empty()) {
        return Ok(Some(format!("environment variable {KEY_VARIABLE}")));
    }
    let Some(path) = sources.variable(KEY_FILE_VARIABLE) else { return Ok(None) };
    let layer = format!("environment variable {KEY_FILE_VARIABLE}");
    match super::layers::read(&sources.directory.join(path)) {
        Ok(key) if key.trim().is_empty() => {
            Err(Problem::new("llm.api_key", "the file it is read from is empty", layer))
        }
        Ok(_) => Ok(Some(layer)),
        Err(error) => {
            Err(Problem::new("llm.api_key", format!("the file it is read from cannot be read: {error}"), layer))
        }
    }
}
