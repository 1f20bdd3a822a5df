//! The check of the provider's key: there is one where one is needed, and the provider takes it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use reasoning_bank_clients::{AgentClient, SetupScope, server_arguments};

use super::{Check, Grade};
use crate::bootstrap::ChosenModel;
use crate::cli::client_places::client_places;
use crate::llm::KeyVerdict;
use crate::settings::{Loaded, Provider, ProviderError, SettingSources};

const LIMIT: Duration = Duration::from_secs(3);

pub(super) async fn check(loaded: &Loaded, sources: &SettingSources) -> Check {
    let provider = loaded.settings.llm.provider;
    let failed = |message: String, hint: &str| Check::new("key", Grade::Fail, message).hint(hint);
    if let Err(error) = loaded.check_provider(true) {
        // Nobody chose the provider here, and the servers of the clients have another one.
        let is_unchosen = matches!(error, ProviderError::KeyMissing { .. }) && loaded.is_default("llm.provider");
        let clients = if is_unchosen { clients_without_key(loaded, sources) } else { Vec::new() };
        if !clients.is_empty() {
            let names = clients.iter().map(|client| client.title()).collect::<Vec<_>>().join(", ");
            let detail = format!("none is set, and the server needs none as it is set up in {names}; ");
            return Check::new("key", Grade::Ok, detail + "commands that need a model need a key");
        }
        return failed(error.to_string(), error.hint());
    }
    if matches!(provider, Provider::Simulated | Provider::None) {
        return Check::new("key", Grade::Ok, format!("the provider {} takes none", provider.as_str()));
    }
    let origin = loaded.api_key.as_ref().map(|key| key.origin.as_str());
    let found = format!("{}: {}", provider.as_str(), origin.unwrap_or("none is set, and none is needed"));
    let check = match ChosenModel::of(loaded) {
        Ok(chosen) => chosen.key_check,
        Err(error) => return failed(error.to_string(), "install the certificates of the system (ca-certificates)"),
    };
    let Some(check) = check else { return Check::new("key", Grade::Ok, found) };
    let verdict = tokio::time::timeout(LIMIT, check.run()).await;
    match verdict.unwrap_or_else(|_| KeyVerdict::Unknown(format!("no answer within {} s", LIMIT.as_secs()))) {
        KeyVerdict::Accepted => Check::new("key", Grade::Ok, format!("{found}, accepted")),
        KeyVerdict::Rejected(reason) => {
            let error = loaded.key_rejected(reason);
            failed(error.to_string(), error.hint())
        }
        KeyVerdict::Unknown(reason) => Check::new("key", Grade::Warn, format!("{found}, not checked: {reason}"))
            .hint("check the network and llm.base_url"),
    }
}

/// Returns the clients whose server is set up with a provider that takes no key, or with a server elsewhere. None where
/// the server of any client needs the key.
fn clients_without_key(loaded: &Loaded, sources: &SettingSources) -> Vec<AgentClient> {
    let Ok(places) = client_places(loaded, sources) else { return Vec::new() };
    let mut clients = Vec::new();
    for client in AgentClient::ALL {
        for scope in [SetupScope::User, SetupScope::Project] {
            let Ok(file) = places.server_file(client, scope, Path::exists) else { continue };
            let Ok(text) = fs::read_to_string(&file.path) else { continue };
            match server_arguments(client, file.format, &text) {
                Ok(Some(arguments)) if !needs_key(&arguments) => clients.push(client),
                Ok(Some(_)) => return Vec::new(),
                // A file that cannot be read is its client's matter.
                Ok(None) | Err(_) => {}
            }
        }
    }
    clients.dedup();
    clients
}

fn needs_key(arguments: &[String]) -> bool {
    let provider = arguments.iter().position(|argument| argument == "--llm").and_then(|at| arguments.get(at + 1));
    let is_elsewhere = arguments.iter().any(|argument| argument == "--server");
    !is_elsewhere && provider.is_none_or(|provider| provider == Provider::Openrouter.as_str())
}
