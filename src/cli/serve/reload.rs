//! Reads the configuration again when the process gets SIGHUP. The level of the log and the limits of tokens take
//! effect at once. Everything else was handed to the parts of the bank when they started, so it is named and waits for
//! a restart.

use secrecy::ExposeSecret;

use crate::limits::TokenLimits;
use crate::settings::{self, Loaded, SettingSources};
use crate::telemetry;

/// These keys take effect without a restart.
const LIVE: [&str; 4] = ["log.level", "http.requests_per_second", "http.solves_per_token", "http.model_tokens_per_day"];

/// Takes over a new configuration.
pub(super) struct Reloader {
    sources: SettingSources,
    /// The configuration that the process was started with.
    started: Loaded,
    limits: TokenLimits,
}

impl Reloader {
    pub(super) fn new(sources: SettingSources, started: Loaded, limits: TokenLimits) -> Self {
        Self { sources, started, limits }
    }

    /// Reads the configuration, and takes over what can be. A configuration with a problem changes nothing.
    pub(super) fn reload(&self) {
        let loaded = match settings::load(&self.sources) {
            Ok(loaded) => loaded,
            Err(error) => {
                let problems = error.problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
                tracing::error!(problems, "the new configuration is not valid, and nothing of it was taken over");
                return;
            }
        };
        self.limits.set(&loaded.settings.http);
        telemetry::set_level(loaded.settings.log.level);
        let waiting = needing_restart(&self.started, &loaded).join(", ");
        if waiting.is_empty() {
            tracing::info!("the configuration was read again");
        } else {
            tracing::warn!(keys = waiting, "the configuration was read again; these keys changed and need a restart");
        }
    }
}

/// Returns the keys whose values differ from those the process was started with, and that it cannot take over.
fn needing_restart(started: &Loaded, now: &Loaded) -> Vec<String> {
    let pairs = started.effective().into_iter().zip(now.effective());
    let changed = pairs.filter(|(old, new)| old.value != new.value).map(|(old, _)| old.key);
    let secret = |loaded: &Loaded| loaded.api_key.as_ref().map(|key| key.secret.expose_secret().to_owned());
    let key = (secret(started) != secret(now)).then(|| "llm.api_key".to_owned());
    // The texts of prompts may change in the same directory.
    let prompts = (started.settings.llm.prompts != now.settings.llm.prompts).then(|| "llm.prompts_dir".to_owned());
    let mut keys: Vec<String> = changed.filter(|key| !LIVE.contains(&key.as_str())).chain(key).collect();
    if let Some(prompts) = prompts.filter(|prompts| !keys.contains(prompts)) {
        keys.push(prompts);
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRODUCTION: &str = include_str!("../../../config/production.toml");
    const PAGE: &str = include_str!("../../../docs/DAEMON.md");

    #[test]
    fn an_operator_finds_every_key_that_a_reload_takes_over() {
        let settings: toml::Table = PRODUCTION.parse().unwrap();
        for key in LIVE {
            let (section, name) = key.split_once('.').unwrap();
            assert!(settings[section].get(name).is_some(), "config/production.toml: {key}");
            assert!(PAGE.contains(&format!("`{key}`")), "docs/DAEMON.md: {key}");
        }
    }

    #[test]
    fn a_token_has_at_most_half_of_the_solves_in_either_configuration() {
        for text in [PRODUCTION, settings::DEFAULTS] {
            let settings: toml::Table = text.parse().unwrap();
            let number = |section: &str, key: &str| settings[section][key].as_integer().unwrap();
            assert!(2 * number("http", "solves_per_token") <= number("agent", "concurrency"));
        }
    }
}
