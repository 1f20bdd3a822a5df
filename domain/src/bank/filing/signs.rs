//! The signs by which a piece of text is classified: labels, which name a category before a colon or as a heading, and
//! patterns in sentences, each with a weight. They are in `signs.txt`.

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error;

use crate::bank::BankCategory;

const TABLE: &str = include_str!("signs.txt");
const LABEL: &str = "label";
/// The compiled patterns have at most this many bytes.
const SET_MAX_BYTES: usize = 64 << 20;
/// What a thread remembers of texts that it has matched has at most this many bytes.
const CACHE_MAX_BYTES: usize = 16 << 20;

struct BankSigns {
    set: RegexSet,
    weights: Vec<(BankCategory, u32)>,
    labels: Vec<BankLabel>,
    /// The patterns of decisions alone, which are matched in a fraction of the time.
    decisions: RegexSet,
}

/// The names of a category, before a colon and as a whole heading.
struct BankLabel {
    category: BankCategory,
    before_colon: Regex,
    heading: Regex,
}

/// A test holds that the table can be read, so that it is there.
static ALL: LazyLock<Option<BankSigns>> = LazyLock::new(|| BankSigns::read(TABLE));

impl BankSigns {
    fn read(table: &str) -> Option<Self> {
        let (mut patterns, mut weights, mut labels) = (Vec::<String>::new(), Vec::new(), Vec::new());
        for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let mut parts = line.splitn(3, ' ');
            let (category, weight, pattern) = (parts.next()?, parts.next()?, parts.next()?);
            let category = BankCategory::deserialize(IntoDeserializer::<Error>::into_deserializer(category)).ok()?;
            if weight == LABEL {
                labels.push(BankLabel::of(category, pattern)?);
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
        Some(Self { set: set(&patterns)?, decisions: set(&decisions)?, weights, labels })
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

impl BankLabel {
    fn of(category: BankCategory, names: &str) -> Option<Self> {
        let build = |pattern: String| RegexBuilder::new(&pattern).case_insensitive(true).build().ok();
        let before_colon =
            build(format!(r"^(\*\*|__)?({names})(\([^)\n]{{0,30}}\))?(\*\*|__)?\s*(:|\s[–—-]\s)(\*\*|__)?"))?;
        let heading = build(format!(r"^[^\w]*({names})[^\w]*$"))?;
        Some(Self { category, before_colon, heading })
    }
}

/// Returns the categories that a text has signs of, with their weights.
pub(super) fn signs_of(text: &str) -> Vec<(BankCategory, u32)> {
    let Some(signs) = &*ALL else { return Vec::new() };
    signs.set.matches(text).into_iter().filter_map(|index| signs.weights.get(index).copied()).collect()
}

/// Says whether a text has any sign of a decision. It may be something else all the same.
pub(super) fn may_be_decision(text: &str) -> bool {
    let is_labelled = |label: &BankLabel| label.category == BankCategory::Decision && label.before_colon.is_match(text);
    ALL.as_ref().is_some_and(|signs| signs.decisions.is_match(text) || signs.labels.iter().any(is_labelled))
}

/// Returns the category that a text names before a colon.
pub(super) fn label_of(text: &str) -> Option<BankCategory> {
    label(|label| label.before_colon.is_match(text))
}

/// Returns the category that a heading names.
pub(super) fn heading_of(title: &str) -> Option<BankCategory> {
    label(|label| label.heading.is_match(title))
}

fn label(is_it: impl Fn(&BankLabel) -> bool) -> Option<BankCategory> {
    ALL.as_ref()?.labels.iter().find(|label| is_it(label)).map(|label| label.category)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_read_and_has_signs_of_every_category() {
        let signs = BankSigns::read(TABLE).unwrap();
        assert_eq!(signs.labels.len(), 22);
        for label in &signs.labels {
            assert!(signs.weights.iter().any(|(category, _)| *category == label.category), "{:?}", label.category);
        }
        assert_eq!(
            (label_of("**Next**: x"), heading_of("## Open questions")),
            (Some(BankCategory::Next), Some(BankCategory::Question))
        );
        assert!(BankSigns::read("nonsense 3 x").is_none() && BankSigns::read("next 3 (").is_none());
    }
}
