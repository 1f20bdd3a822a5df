//! The check of the provider's key: there is one where one is needed, and the provider takes it.

use std::time::Duration;

use super::{Check, Grade};
use crate::bootstrap::ChosenModel;
use crate::llm::KeyVerdict;
use crate::settings::{Loaded, Provider};

const LIMIT: Duration = Duration::from_secs(3);

pub(super) async fn check(loaded: &Loaded) -> Check {
    let provider = loaded.settings.llm.provider;
    let failed = |message: String, hint: &str| Check::new("key", Grade::Fail, message).hint(hint);
    if let Err(error) = loaded.check_provider(true) {
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
