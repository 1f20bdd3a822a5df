//! The part of the settings that the file of a checkout may change. Whoever wrote the checkout is not the user: the
//! file narrows what the user's own configuration allows, and a change of the ranking counts only once the user has
//! agreed to it.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use config::ValueKind;
use serde::{Deserialize, Serialize};

use super::keys::{self, ALL_TOOLSETS, InCheckout};
use super::layers::Layer;
use super::per_project;
use super::show;
use reasoning_bank_store::data_dir::AGREED;

/// The keys of `retrieval` with the values that a checkout asks for.
pub type CheckoutRanking = BTreeMap<String, serde_json::Value>;

#[derive(Debug, Serialize, Deserialize)]
struct Agreed {
    ranking: CheckoutRanking,
}

/// Collects what a file asks for of the keys that count after an agreement.
pub(super) fn ranking(layer: &Layer) -> CheckoutRanking {
    let keys = keys::KEYS.iter().filter(|key| key.in_checkout == InCheckout::Agreed);
    keys.filter_map(|key| Some((key.name.to_owned(), show::json(layer.value(key.name)?)))).collect()
}

/// Takes out of a checkout's layer what it may not have, held against the layers of the user below it. The warnings
/// name each key that is ignored, and why.
pub(super) fn narrow(layer: &mut Layer, file: &Path, below: &[Layer], agreed: &CheckoutRanking) -> Vec<String> {
    let mut warnings = Vec::new();
    layer.filter_map(|name, asked| {
        let key = keys::find(name)?;
        let own = below.iter().rev().find_map(|layer| layer.value(name));
        match narrowed(key.in_checkout, name, asked, own, agreed) {
            Ok(value) => Some(value),
            Err(reason) => {
                warnings.push(format!("{name} in {} is ignored: {reason}", file.display()));
                None
            }
        }
    });
    warnings
}

/// Returns the value that counts, or the reason why the one that is asked for does not.
fn narrowed(
    rule: InCheckout,
    name: &str,
    asked: &ValueKind,
    own: Option<&ValueKind>,
    agreed: &CheckoutRanking,
) -> Result<ValueKind, String> {
    let shown = |value: Option<&ValueKind>| value.map(show::json).unwrap_or_default();
    let says = || format!("the user's own configuration says {}", shown(own));
    match rule {
        InCheckout::Never => Err("a checkout may not set it".to_owned()),
        InCheckout::Freely => Ok(asked.clone()),
        InCheckout::Lower | InCheckout::Higher => {
            let within = match (number(asked), own.and_then(number)) {
                (Some(asked), Some(own)) if rule == InCheckout::Lower => asked <= own,
                (Some(asked), Some(own)) => asked >= own,
                _ => false,
            };
            let direction = if rule == InCheckout::Lower { "lower" } else { "raise" };
            if within { Ok(asked.clone()) } else { Err(format!("a checkout may only {direction} it, and {}", says())) }
        }
        InCheckout::Fewer => {
            let (asked, own) = (words(asked), own.map(words).unwrap_or_default());
            let both: Vec<&str> = match (asked.contains(&ALL_TOOLSETS), own.contains(&ALL_TOOLSETS)) {
                (_, true) => asked,
                (true, false) => own,
                (false, false) => asked.into_iter().filter(|word| own.contains(word)).collect(),
            };
            if both.is_empty() {
                Err(format!("a checkout may only leave out of it, and {}", says()))
            } else {
                Ok(both.into())
            }
        }
        InCheckout::Agreed if agreed.get(name) == Some(&show::json(asked)) => Ok(asked.clone()),
        InCheckout::Agreed => Err("it counts after `reasoning-bank workspace trust`".to_owned()),
    }
}

fn number(value: &ValueKind) -> Option<f64> {
    match value {
        ValueKind::I64(number) => Some(*number as f64),
        ValueKind::Float(number) => Some(*number),
        _ => None,
    }
}

fn words(value: &ValueKind) -> Vec<&str> {
    let ValueKind::Array(items) = value else { return Vec::new() };
    let words = items.iter().map(|item| match &item.kind {
        ValueKind::String(text) => text.as_str(),
        _ => "",
    });
    words.collect()
}

/// Reads the ranking that the user agreed to for the checkout at a root. It is empty where nothing readable says so.
pub fn agreed(data_dir: &Path, root: &str) -> CheckoutRanking {
    per_project::read(data_dir, AGREED, root).map(|Agreed { ranking }| ranking).unwrap_or_default()
}

/// Keeps what the user agrees to for the checkout at a root; an empty ranking takes the agreement back.
///
/// # Errors
/// The data directory cannot be written to.
pub fn agree(data_dir: &Path, root: &str, ranking: CheckoutRanking) -> io::Result<()> {
    per_project::keep(data_dir, AGREED, root, (!ranking.is_empty()).then_some(Agreed { ranking }))
}
