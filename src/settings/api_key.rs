//! The key of the provider: where it is looked for, and over what it may be sent. It is held in memory only, and nothing
//! that is shown or logged holds it.

use std::net::IpAddr;

use reqwest::Url;
use secrecy::SecretString;

use super::layers::{Layer, SettingSources, read};
use super::problem::SettingProblem;
use super::{LlmSection, Provider};

pub(super) const VARIABLE: &str = "OPENROUTER_API_KEY";
const VARIABLES: [&str; 2] = [OWN_VARIABLE, VARIABLE];
/// Every environment variable that holds a key, or the path of a file that does.
pub const SECRET_VARIABLES: [&str; 4] =
    [OWN_VARIABLE, "REASONING_BANK__LLM__API_KEY_FILE", VARIABLE, "OPENROUTER_API_KEY_FILE"];
const OWN_VARIABLE: &str = "REASONING_BANK__LLM__API_KEY";
const KEY: &str = "llm.api_key";

/// A key, and where it comes from.
#[derive(Debug, Clone)]
pub struct ApiKey {
    pub secret: SecretString,
    pub origin: String,
}

impl ApiKey {
    /// None where nothing is given.
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

/// The key for the provider that is configured; looked for only where the provider takes one. The environment wins over
/// files; `layers` are those of the files, the last one wins.
pub(super) fn find<'a>(
    llm: &LlmSection,
    sources: &SettingSources,
    layers: impl DoubleEndedIterator<Item = &'a Layer>,
) -> Result<Option<ApiKey>, SettingProblem> {
    let variables = match llm.provider {
        Provider::Openrouter => &VARIABLES[..],
        Provider::Responses | Provider::Chat => &VARIABLES[..1],
        Provider::Simulated | Provider::None => return Ok(None),
    };
    for name in variables {
        if let Some(key) = of_variable(name, sources)? {
            return Ok(Some(key));
        }
    }
    Ok(layers.rev().find_map(Layer::api_key).cloned())
}

fn of_variable(name: &str, sources: &SettingSources) -> Result<Option<ApiKey>, SettingProblem> {
    let origin = format!("environment variable {name}");
    if let Some(value) = sources.variable(name) {
        let text = value.to_str().ok_or_else(|| SettingProblem::new(KEY, "is not UTF-8", origin.as_str()))?;
        let key = ApiKey::of(text, &origin)?;
        if key.is_some() {
            return Ok(key);
        }
    }
    let Some(path) = sources.variable(&format!("{name}_FILE")) else { return Ok(None) };
    let origin = format!("{origin}_FILE");
    let problem = |problem: String| SettingProblem::new(KEY, problem, origin.as_str());
    let text = read(&sources.directory.join(path))
        .map_err(|error| problem(format!("the file it is read from cannot be read: {error}")))?;
    let key = ApiKey::of(&text, &origin)?;
    key.map(Some).ok_or_else(|| problem("the file it is read from is empty".to_owned()))
}

/// Whether a key that goes to this URL can be read on the way. A private network is trusted as the machine is.
pub(super) fn is_safe_over(url: &Url) -> bool {
    url.scheme() == "https" || is_private(url.host_str().unwrap_or_default())
}

fn is_private(host: &str) -> bool {
    match host.trim_matches(['[', ']']).parse() {
        Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_private() || address.is_link_local(),
        Ok(IpAddr::V6(address)) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
        // A name without a dot is one of the local network.
        Err(_) => {
            !host.contains('.') || [".localhost", ".local", ".internal", ".lan"].iter().any(|end| host.ends_with(end))
        }
    }
}
