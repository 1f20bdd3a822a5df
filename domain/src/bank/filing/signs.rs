//! The signs by which a piece of text is classified: labels, which name a category before a colon or as a heading, and
//! patterns in sentences, each with a weight. They are in `signs.txt`.

use std::sync::LazyLock;

use regex::{RegexSet, RegexSetBuilder};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error;

use crate::bank::BankCategory;

const TABLE: &str = include_str!("signs.txt");
const LABEL: &str = "label";
/// The compiled patterns have at most this many bytes.
const SET_MAX_BYTES: usize = 64 << 20;
/// The cache that a thread keeps for matching texts has at most this many bytes.
const CACHE_MAX_BYTES: usize = 16 << 20;

struct BankSigns {
    set: RegexSet,
    weights: Vec<(BankCategory, u32)>,
    /// The categories that have names. The patterns of the names are in the same order.
    named: Vec<BankCategory>,
    names_before_colon: RegexSet,
    names_as_heading: RegexSet,
    /// The patterns of decisions alone, which are matched in a fraction of the time.
    decisions: RegexSet,
}

/// A test holds that the table can be read, so that it is there.
static ALL: LazyLock<Option<BankSigns>> = LazyLock::new(|| BankSigns::read(TABLE));

impl BankSigns {
    fn read(table: &str) -> Option<Self> {
        let (mut patterns, mut weights) = (Vec::<String>::new(), Vec::new());
        let (mut named, mut before_colon, mut as_heading) = (Vec::new(), Vec::new(), Vec::new());
        for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let mut parts = line.splitn(3, ' ');
            let (category, weight, pattern) = (parts.next()?, parts.next()?, parts.next()?);
            let category = BankCategory::deserialize(IntoDeserializer::<Error>::into_deserializer(category)).ok()?;
            if weight == LABEL {
                named.push(category);
                before_colon
                    .push(format!(r"^(\*\*|__)?({pattern})(\([^)\n]{{0,30}}\))?(\*\*|__)?\s*(:|\s[–—-]\s)(\*\*|__)?"));
                as_heading.push(format!(r"^[^\w]*({pattern})[^\w]*$"));
                continue;
            }
            // Names begin with a capital letter, whatever the case of the rest.
            patterns.push(of_ascii(&pattern.replace("[A-Z]", "(?-i:[A-Z])")));
            weights.push((category, weight.parse().ok()?));
        }
        let set = |patterns: &[String]| {
            let mut set = RegexSetBuilder::new(patterns);
            set.case_insensitive(true).size_limit(SET_MAX_BYTES).dfa_size_limit(CACHE_MAX_BYTES);
            set.build().ok()
        };
        let of_decisions =
            patterns.iter().zip(&weights).filter(|(_, (category, _))| *category == BankCategory::Decision);
        let decisions: Vec<String> = of_decisions.map(|(pattern, _)| pattern.clone()).collect();
        let (names_before_colon, names_as_heading) = (set(&before_colon)?, set(&as_heading)?);
        Some(Self {
            set: set(&patterns)?,
            decisions: set(&decisions)?,
            weights,
            named,
            names_before_colon,
            names_as_heading,
        })
    }
}

impl BankSigns {
    /// Returns the categories whose names match a text, in the order of the table.
    fn named_by(&self, names: &RegexSet, text: &str) -> impl Iterator<Item = BankCategory> {
        names.matches(text).into_iter().filter_map(|index| self.named.get(index).copied())
    }
}

/// Returns a pattern whose words and digits are those of ASCII. The signs are English, and the patterns are compiled in
/// less than half of the time.
fn of_ascii(pattern: &str) -> String {
    let (mut written, mut in_class) = (String::with_capacity(2 * pattern.len()), false);
    let mut signs = pattern.chars();
    while let Some(sign) = signs.next() {
        if sign != '\\' {
            in_class = sign == '[' || (in_class && sign != ']');
            written.push(sign);
            continue;
        }
        match (signs.next(), in_class) {
            (Some('w'), true) => written.push_str("0-9A-Za-z_"),
            (Some('w'), false) => written.push_str("[0-9A-Za-z_]"),
            (Some('d'), true) => written.push_str("0-9"),
            (Some('d'), false) => written.push_str("[0-9]"),
            (Some('b'), false) => written.push_str(r"(?-u:\b)"),
            (escaped, _) => {
                written.push('\\');
                written.extend(escaped);
            }
        }
    }
    written
}

/// Returns the categories that a text has signs of, with their weights.
pub(super) fn signs_of(text: &str) -> Vec<(BankCategory, u32)> {
    let Some(signs) = &*ALL else { return Vec::new() };
    signs.set.matches(text).into_iter().filter_map(|index| signs.weights.get(index).copied()).collect()
}

/// Says whether a text has any sign of a decision. It may be something else all the same.
pub(super) fn may_be_decision(text: &str) -> bool {
    let Some(signs) = &*ALL else { return false };
    let mut named = signs.named_by(&signs.names_before_colon, text);
    signs.decisions.is_match(text) || named.any(|category| category == BankCategory::Decision)
}

/// Returns the category that a text names before a colon. The table has first what wins.
pub(super) fn label_of(text: &str) -> Option<BankCategory> {
    let signs = ALL.as_ref()?;
    signs.named_by(&signs.names_before_colon, text).next()
}

/// Returns the category that a heading names.
pub(super) fn heading_of(title: &str) -> Option<BankCategory> {
    let signs = ALL.as_ref()?;
    signs.named_by(&signs.names_as_heading, title).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_read_and_has_signs_of_every_category() {
        let signs = BankSigns::read(TABLE).unwrap();
        assert_eq!(signs.named.len(), 22);
        for named in &signs.named {
            assert!(signs.weights.iter().any(|(category, _)| category == named), "{named:?}");
        }
        assert_eq!(
            (label_of("**Next**: x"), heading_of("## Open questions")),
            (Some(BankCategory::Next), Some(BankCategory::Question))
        );
        assert!(BankSigns::read("nonsense 3 x").is_none() && BankSigns::read("next 3 (").is_none());
    }
}
