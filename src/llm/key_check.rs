//! Asks the provider whether it takes the key, before the first task needs it. Only OpenRouter can be asked.

use std::time::Duration;

use super::client::Client;
use super::failure::ProviderFailure;

const PATH: &[&str] = &["key"];
const LIMIT: Duration = Duration::from_secs(10);

pub struct KeyCheck {
    client: Client,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyVerdict {
    Accepted,
    /// The reason is in the provider's words.
    Rejected(String),
    /// The provider could not be asked.
    Unknown(String),
}

impl KeyCheck {
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    /// Asks the provider. The answer comes within ten seconds.
    pub async fn run(&self) -> KeyVerdict {
        match tokio::time::timeout(LIMIT, self.client.get(PATH)).await {
            Ok(Ok(_)) => KeyVerdict::Accepted,
            Ok(Err(failure @ ProviderFailure { status: Some(401 | 403), .. })) => {
                KeyVerdict::Rejected(self.shown(&failure))
            }
            Ok(Err(failure)) => KeyVerdict::Unknown(self.shown(&failure)),
            Err(_elapsed) => KeyVerdict::Unknown(format!("no answer within {} s", LIMIT.as_secs())),
        }
    }

    fn shown(&self, failure: &ProviderFailure) -> String {
        failure.shown(self.client.redaction())
    }
}
