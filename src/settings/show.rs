//! The effective settings as a user reads them; secrets are not among them.

use config::{Value, ValueKind};
use reasoning_bank_domain::safety::secrets::{Scrub, scrub};
use serde::Serialize;

use super::keys::{self, KEYS};

/// One key: its value and the layer that set it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effective {
    pub key: String,
    pub value: serde_json::Value,
    /// The origin is `built-in`, a file, an environment variable or a flag.
    pub origin: String,
}

/// The values of all layers, without the secrets.
#[derive(Debug, Clone)]
pub(super) struct MergedLayers(Vec<Effective>);

impl MergedLayers {
    pub(super) fn of(merged: &Value) -> Self {
        let entry = |key: &keys::SettingKey| {
            let (value, origin) = keys::at(merged, key.name)?;
            Some(Effective { key: key.name.to_owned(), value: json(value), origin: origin.to_owned() })
        };
        Self(KEYS.iter().filter(|key| !key.is_secret()).filter_map(entry).collect())
    }

    /// Returns the layer that a value comes from.
    pub(super) fn origin_of(&self, key: &str) -> &str {
        self.0.iter().find(|entry| entry.key == key).map(|entry| &*entry.origin).unwrap_or_default()
    }

    /// Lists the values as a user may read them. To scrub them takes longer than to read all layers, and few commands
    /// show them.
    pub(super) fn effective(&self) -> Vec<Effective> {
        let scrubbed = |entry: &Effective| {
            let mut value = entry.value.clone();
            value.scrub();
            Effective { value, origin: scrub(&entry.origin).text.into_owned(), key: entry.key.clone() }
        };
        self.0.iter().map(scrubbed).collect()
    }
}

pub(super) fn json(value: &ValueKind) -> serde_json::Value {
    match value {
        ValueKind::Boolean(flag) => (*flag).into(),
        ValueKind::I64(number) => (*number).into(),
        ValueKind::Float(number) => (*number).into(),
        ValueKind::Array(items) => items.iter().map(|item| json(&item.kind)).collect(),
        other => other.to_string().into(),
    }
}
