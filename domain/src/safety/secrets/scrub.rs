//! Scrubbing of whole records: secrets and invisible characters are taken out of every text that a record holds.

use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ScrubbedText, scrub};

/// The counts of what was taken out of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Removed {
    /// The number of secrets that were replaced.
    pub redactions: u32,
    /// The number of characters that were dropped because nobody sees them.
    pub dropped_characters: u32,
}

impl Removed {
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }
}

impl Add for Removed {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            redactions: self.redactions.saturating_add(other.redactions),
            dropped_characters: self.dropped_characters.saturating_add(other.dropped_characters),
        }
    }
}

impl Sum for Removed {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

/// Takes secrets and invisible characters out of every text in a thing. Lengths may change, so validate afterwards.
pub trait Scrub {
    fn scrub(&mut self) -> Removed;
}

impl Scrub for String {
    fn scrub(&mut self) -> Removed {
        let ScrubbedText { text, redactions, dropped_characters, .. } = scrub(self);
        let removed = Removed { redactions, dropped_characters };
        if !removed.is_nothing() {
            *self = text.into_owned();
        }
        removed
    }
}

impl<T: Scrub> Scrub for Box<T> {
    fn scrub(&mut self) -> Removed {
        (**self).scrub()
    }
}

impl<T: Scrub> Scrub for Option<T> {
    fn scrub(&mut self) -> Removed {
        self.as_mut().map(T::scrub).unwrap_or_default()
    }
}

impl<T: Scrub> Scrub for Vec<T> {
    fn scrub(&mut self) -> Removed {
        self.iter_mut().map(T::scrub).sum()
    }
}

/// A JSON value is scrubbed string by string, so that it stays JSON and escaped text is read as it is meant. The names
/// of fields stay.
impl Scrub for Value {
    fn scrub(&mut self) -> Removed {
        match self {
            Self::String(text) => text.scrub(),
            Self::Array(items) => items.iter_mut().map(Self::scrub).sum(),
            Self::Object(fields) => fields.values_mut().map(Self::scrub).sum(),
            Self::Null | Self::Bool(_) | Self::Number(_) => Removed::default(),
        }
    }
}

pub(crate) fn all<const N: usize>(fields: [&mut dyn Scrub; N]) -> Removed {
    fields.into_iter().map(|field| field.scrub()).sum()
}
