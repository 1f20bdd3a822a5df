//! The key of the provider: whether there is one where one is needed.

use super::{Check, Grade};
use crate::settings::{Loaded, Provider};

pub(super) async fn check(loaded: &Loaded) -> Check {
    let provider = loaded.settings.llm.provider;
    if let Err(error) = loaded.check_provider(true) {
        return Check::new("key", Grade::Fail, error.to_string()).hint(error.hint());
    }
    match provider {
        Provider::Simulated | Provider::None => {
            Check::new("key", Grade::Ok, format!("the provider {} takes none", provider.as_str()))
        }
        Provider::Openrouter | Provider::Responses | Provider::Chat => {
            let from = loaded.api_key_origin.as_deref().unwrap_or("none is set, and none is needed");
            Check::new("key", Grade::Ok, format!("{}: {from}", provider.as_str()))
        }
    }
}
