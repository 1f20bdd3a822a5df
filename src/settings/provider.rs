//! The provider of the language model: where its API is, which key it gets, and whether a command can work with it. The
//! models themselves are in `llm`.

use std::path::PathBuf;
use std::sync::Arc;

use config::Config;
use reasoning_bank_domain::note::Code;
use reasoning_bank_domain::prompt::Prompts;
use reqwest::Url;
use serde::Deserialize;

use super::api_key::{self, ApiKey, VARIABLE};
use super::keys;
use super::layers::{self, Layer, SettingSources};
use super::problem::{SettingProblem, SettingsError};
use super::{CacheSection, LlmModelsSection, Loaded, RetrySection, SimulatedSection};

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

    /// Returns the URL of its API, which `llm.base_url` may replace. A provider that is no network has none.
    fn own_url(self) -> Option<&'static str> {
        match self {
            Self::Openrouter => Some("https://openrouter.ai/api/v1"),
            Self::Responses | Self::Chat => Some("https://api.openai.com/v1"),
            Self::Simulated | Self::None => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LlmSection {
    pub provider: Provider,
    /// An empty URL stands for the provider's own, see [`LlmSection::endpoint`].
    pub base_url: String,
    pub model: String,
    pub effort: String,
    pub max_output_tokens: u32,
    pub timeout_s: u64,
    pub requests_per_minute: u32,
    /// An empty path stands for no prompts of the user's own.
    pub prompts_dir: PathBuf,
    /// The prompts, with those of `prompts_dir` in the place of the built-in ones.
    #[serde(skip)]
    pub prompts: Arc<Prompts>,
    pub models: LlmModelsSection,
    pub retry: RetrySection,
    pub cache: CacheSection,
    pub simulated: SimulatedSection,
}

impl LlmSection {
    /// Returns the base of the provider's API, or none where there is no network.
    pub fn endpoint(&self) -> Option<Url> {
        let own = self.provider.own_url()?;
        let url = if self.base_url.is_empty() { own } else { &self.base_url };
        Url::parse(url).ok()
    }
}

/// The reason why a command that needs a model cannot start with the provider that is configured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    #[error("the provider openrouter ({origin}) needs a key, and {VARIABLE} is not set")]
    KeyMissing { origin: String },
    /// The `reason` is in the provider's words.
    #[error("the provider openrouter rejected the key ({origin}): {reason}")]
    KeyRejected { origin: String, reason: String },
    #[error("there is no model to solve with: the provider is none ({origin})")]
    NoModel { origin: String },
    /// A key is given and cannot be used.
    #[error(transparent)]
    KeyUnusable(SettingsError),
}

impl ProviderError {
    pub fn code(&self) -> Code {
        match self {
            Self::KeyMissing { .. } => Code::LlmKeyMissing,
            Self::KeyRejected { .. } => Code::LlmRejectedKey,
            Self::NoModel { .. } => Code::LlmUnavailable,
            Self::KeyUnusable(_) => Code::ConfigurationInvalid,
        }
    }

    pub fn hint(&self) -> &'static str {
        match self {
            Self::KeyMissing { .. } => {
                "set OPENROUTER_API_KEY, or OPENROUTER_API_KEY_FILE to the path of a file that holds the key; without \
                 a key there are `--llm chat` and `--llm responses` with llm.base_url (a local server), `--llm none` \
                 (memory tools without a model) and `--llm simulated` (in-process, no network)"
            }
            Self::KeyRejected { .. } => {
                "correct OPENROUTER_API_KEY; without a key there are `--llm chat` and `--llm responses` with \
                 llm.base_url (a local server), `--llm none` (memory tools without a model) and `--llm simulated` \
                 (in-process, no network)"
            }
            Self::NoModel { .. } => {
                "choose a model: `--llm openrouter`, `--llm responses`, `--llm chat`, or `--llm simulated` (in-process, \
                 no key, no network)"
            }
            Self::KeyUnusable(_) => "correct or remove what the line names",
        }
    }
}

impl Loaded {
    /// Makes the error of a key that the provider rejects.
    pub fn key_rejected(&self, reason: String) -> ProviderError {
        let origin = self.api_key.as_ref().map(|key| key.origin.clone()).unwrap_or_default();
        ProviderError::KeyRejected { origin, reason }
    }

    /// Checks that the provider can be used by a command that solves tasks, or, with `none_will_do`, by one that works
    /// without a model too.
    ///
    /// # Errors
    /// The key is missing or cannot be used, or there is no model.
    pub fn check_provider(&self, none_will_do: bool) -> Result<(), ProviderError> {
        if let Some(problem) = &self.key_problem {
            return Err(ProviderError::KeyUnusable(SettingsError::one(problem.clone())));
        }
        let provider = self.settings.llm.provider;
        let origin = || self.origin_of("llm.provider");
        match provider {
            Provider::Responses | Provider::Chat | Provider::Simulated => Ok(()),
            Provider::None if none_will_do => Ok(()),
            Provider::None => Err(ProviderError::NoModel { origin: origin() }),
            Provider::Openrouter if self.api_key.is_none() => Err(ProviderError::KeyMissing { origin: origin() }),
            Provider::Openrouter => Ok(()),
        }
    }
}

/// Finds the key for the provider that the settings name, where nobody can read it on the way there. There is none,
/// too, where what the settings say of the provider is wrong.
pub(super) fn usable_key(
    merged: &Config,
    sources: &SettingSources,
    layers: &[Layer],
    problems: &[SettingProblem],
) -> Result<Option<ApiKey>, SettingProblem> {
    const BASE_URL: &str = "llm.base_url";
    if problems.iter().any(|problem| ["llm.provider", BASE_URL].contains(&problem.key.as_str())) {
        return Ok(None);
    }
    let llm: LlmSection = merged.get("llm").map_err(SettingProblem::internal)?;
    let key = key_of_provider(&llm, sources, layers)?;
    match llm.endpoint() {
        Some(url) if key.is_some() && !api_key::is_safe_over(&url) => {
            let problem =
                "must be https, since a key is sent there; http will do for this machine and private networks only";
            let origin = keys::at(&merged.cache, BASE_URL).map(|(_, origin)| origin).unwrap_or_default();
            Err(SettingProblem::new(BASE_URL, problem, origin))
        }
        _ => Ok(key),
    }
}

/// Finds the key for the provider that is configured, where the provider takes one. A key of the environment wins over
/// one of a file, and a later layer over an earlier one.
fn key_of_provider(
    llm: &LlmSection,
    sources: &SettingSources,
    layers: &[Layer],
) -> Result<Option<ApiKey>, SettingProblem> {
    let variables = match llm.provider {
        Provider::Openrouter => &api_key::VARIABLES[..],
        Provider::Responses | Provider::Chat => &api_key::VARIABLES[..1],
        Provider::Simulated | Provider::None => return Ok(None),
    };
    for name in variables {
        if let Some(key) = key_of_variable(name, sources)? {
            return Ok(Some(key));
        }
    }
    Ok(layers.iter().rev().find_map(Layer::api_key).cloned())
}

fn key_of_variable(name: &str, sources: &SettingSources) -> Result<Option<ApiKey>, SettingProblem> {
    let origin = format!("environment variable {name}");
    if let Some(value) = sources.variable(name) {
        let text = value.to_str().ok_or_else(|| SettingProblem::new(api_key::KEY, "is not UTF-8", origin.as_str()))?;
        let key = ApiKey::of(text, &origin)?;
        if key.is_some() {
            return Ok(key);
        }
    }
    let Some(path) = sources.variable(&format!("{name}_FILE")) else { return Ok(None) };
    let origin = format!("{origin}_FILE");
    let problem = |problem: String| SettingProblem::new(api_key::KEY, problem, origin.as_str());
    let text = layers::read(&sources.directory.join(path))
        .map_err(|error| problem(format!("the file it is read from cannot be read: {error}")))?;
    let key = ApiKey::of(&text, &origin)?;
    key.map(Some).ok_or_else(|| problem("the file it is read from is empty".to_owned()))
}
