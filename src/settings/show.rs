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

pub(super) fn effective(merged: &Value) -> Vec<Effective> {
    let entry = |key: &keys::SettingKey| {
        let (value, origin) = keys::at(merged, key.name)?;
        let mut value = json(value);
        value.scrub();
        Some(Effective { key: key.name.to_owned(), value, origin: scrub(origin).text.into_owned() })
    };
    KEYS.iter().filter(|key| !key.is_secret()).filter_map(entry).collect()
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
