//! The shape of a short text: how random it looks. It tells random keys apart from words, names and versions.

use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shape {
    pub chars: usize,
    pub letters: usize,
    pub digits: usize,
    capitals: usize,
    /// The Shannon entropy of a character, in bits.
    pub bits: f64,
    /// The number of changes between small letters, capitals and digits inside words. A capital before a small letter
    /// is no change.
    changes: usize,
}

#[derive(PartialEq, Clone, Copy)]
enum Class {
    Lower,
    Upper,
    Digit,
    Other,
}

impl Shape {
    pub(super) fn of(text: &str) -> Self {
        let mut counts: BTreeMap<char, usize> = BTreeMap::new();
        let mut shape = Self { chars: 0, letters: 0, digits: 0, capitals: 0, bits: 0.0, changes: 0 };
        let mut previous = Class::Other;
        for c in text.chars() {
            *counts.entry(c).or_default() += 1;
            shape.chars += 1;
            let class = match c {
                _ if c.is_ascii_digit() => Class::Digit,
                _ if c.is_uppercase() => Class::Upper,
                _ if c.is_alphabetic() => Class::Lower,
                _ => Class::Other,
            };
            shape.digits += usize::from(class == Class::Digit);
            shape.capitals += usize::from(class == Class::Upper);
            shape.letters += usize::from(matches!(class, Class::Lower | Class::Upper));
            let inside = previous != Class::Other && class != Class::Other;
            let capitalised = previous == Class::Upper && class == Class::Lower;
            shape.changes += usize::from(inside && previous != class && !capitalised);
            previous = class;
        }
        let total = shape.chars as f64;
        shape.bits = counts.values().map(|n| *n as f64 / total).map(|p| -p * p.log2()).sum();
        shape
    }

    /// Tells whether the text is random: it has twelve characters or more, and letters and digits are well mixed. This
    /// misses one or two of a thousand random keys of 20 hexadecimal digits or more. Words with a number behind them do
    /// not count as random.
    pub(super) fn is_random(&self) -> bool {
        self.chars >= 12
            && self.letters > 0
            && self.digits > 0
            && self.bits >= 2.9
            && self.changes as f64 >= 0.15 * self.chars as f64
    }

    /// Tells whether the text is random and has letters only, as one random key in sixteen has. Such a text has about
    /// as many capitals as small letters, unlike names made of words.
    pub(super) fn is_random_in_letters(&self) -> bool {
        let chars = self.chars as f64;
        self.chars >= 12
            && self.letters == self.chars
            && self.bits >= 2.9
            && (0.35..=0.65).contains(&(self.capitals as f64 / chars))
            && self.changes as f64 >= 0.15 * chars
    }

    /// Tells whether a word mixes letters and digits as no word of a language does, and has this many characters. A
    /// number before or behind letters, as in `sha256`, is no mixture.
    pub(super) fn is_mixed(&self, at_least: usize) -> bool {
        self.chars >= at_least && self.letters > 0 && self.digits > 0 && self.changes >= 2
    }
}
