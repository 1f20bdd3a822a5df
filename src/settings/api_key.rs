//! The key of the provider: its form, the variables that hold it, and over what it may be sent. A key is held in memory
//! only, and nothing that is shown or logged holds it.

use reqwest::Url;
use secrecy::SecretString;

use super::problem::SettingProblem;
use crate::hosts::is_private;

pub(super) const VARIABLE: &str = "OPENROUTER_API_KEY";
pub(super) const VARIABLES: [&str; 2] = [OWN_VARIABLE, VARIABLE];
/// Each of these environment variables holds a key or a token, or the path of a file that does.
pub const SECRET_VARIABLES: [&str; 5] =
    [OWN_VARIABLE, "REASONING_BANK__LLM__API_KEY_FILE", VARIABLE, "OPENROUTER_API_KEY_FILE", BOOTSTRAP_TOKEN_FILE];
/// The environment variable that names a file with the first token of a daemon.
pub const BOOTSTRAP_TOKEN_FILE: &str = "REASONING_BANK_BOOTSTRAP_TOKEN_FILE";
const OWN_VARIABLE: &str = "REASONING_BANK__LLM__API_KEY";
pub(super) const KEY: &str = "llm.api_key";

/// A key, and where it comes from.
#[derive(Debug, Clone)]
pub struct ApiKey {
    pub secret: SecretString,
    pub origin: String,
}

impl ApiKey {
    /// Takes a key, or none where the text is blank.
    pub(super) fn of(text: &str, origin: &str) -> Result<Option<Self>, SettingProblem> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        if !text.chars().all(|c| c.is_ascii_graphic()) {
            return Err(SettingProblem::new(KEY, "must be text without white space, all of it ASCII", origin));
        }
        Ok(Some(Self { secret: text.into(), origin: origin.to_owned() }))
    }

    pub(super) fn of_toml(value: &toml::Value, origin: &str) -> Result<Option<Self>, SettingProblem> {
        let text = value.as_str().ok_or_else(|| SettingProblem::new(KEY, "must be text", origin))?;
        Self::of(text, origin)
    }
}

/// Says whether nobody can read a key on the way to this URL. A private network is trusted as the machine is.
pub(super) fn is_safe_over(url: &Url) -> bool {
    url.scheme() == "https" || is_private(url)
}
