//! The signs by which a piece of text is classified: labels, which name a category before a colon or as a heading, and
//! patterns in sentences, each with a weight. They are in `signs.txt`.

use std::sync::LazyLock;

use regex::{RegexSet, RegexSetBuilder};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error;

use crate::bank::BankCategory;

const TABLE: &str = include_str!("signs.txt");
/// The names of a category before a colon and as headings, and those before a colon alone.
const LABEL: &str = "label";
const PREFIX: &str = "prefix";
/// A label has at most this many characters, with what stands in parentheses behind it.
const LABEL_MAX_CHARS: usize = 100;
/// The compiled patterns have at most this many bytes.
const SET_MAX_BYTES: usize = 64 << 20;
/// The cache that a thread keeps for matching texts has at most this many bytes.
const CACHE_MAX_BYTES: usize = 16 << 20;

struct BankSigns {
    set: RegexSet,
    weights: Vec<(BankCategory, u32)>,
    before_colon: CategoryNames,
    as_heading: CategoryNames,
    /// The patterns of decisions alone, which are matched in a fraction of the time.
    decisions: RegexSet,
}

/// The patterns of names, and in the same order the categories that they name.
struct CategoryNames {
    named: Vec<BankCategory>,
    patterns: RegexSet,
}

/// A test holds that the table can be read, so that it is there.
static ALL: LazyLock<Option<BankSigns>> = LazyLock::new(|| BankSigns::read(TABLE));

impl BankSigns {
    fn read(table: &str) -> Option<Self> {
        let (mut patterns, mut weights) = (Vec::<String>::new(), Vec::new());
        let (mut before_colon, mut as_heading) = (Vec::new(), Vec::new());
        for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let mut parts = line.splitn(3, ' ');
            let (category, weight, pattern) = (parts.next()?, parts.next()?, parts.next()?);
            let category = BankCategory::deserialize(IntoDeserializer::<Error>::into_deserializer(category)).ok()?;
            if weight == LABEL || weight == PREFIX {
                let prefix =
                    format!(r"^(\*\*|__)?({pattern})(\([^)\n]{{0,30}}\))?(\*\*|__)?\s*(:|\s[–—-]\s)(\*\*|__)?");
                before_colon.push((category, prefix));
                let heading = format!(r"^[^\w]*({pattern})[^\w]*$");
                as_heading.extend((weight == LABEL).then_some((category, heading)));
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
        let names = |of: Vec<(BankCategory, String)>| {
            let (named, patterns): (Vec<BankCategory>, Vec<String>) = of.into_iter().unzip();
            Some(CategoryNames { named, patterns: set(&patterns)? })
        };
        Some(Self {
            set: set(&patterns)?,
            decisions: set(&decisions)?,
            weights,
            before_colon: names(before_colon)?,
            as_heading: names(as_heading)?,
        })
    }
}

impl CategoryNames {
    /// Returns the categories whose names match a text, in the order of the table.
    fn in_text(&self, text: &str) -> impl Iterator<Item = BankCategory> {
        self.patterns.matches(text).into_iter().filter_map(|index| self.named.get(index).copied())
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
    signs.decisions.is_match(text)
        || signs.before_colon.in_text(text).any(|category| category == BankCategory::Decision)
}

/// Returns the category that a text names before a colon. The table has first what wins.
pub(super) fn label_of(text: &str) -> Option<BankCategory> {
    ALL.as_ref()?.before_colon.in_text(text).next()
}

/// Says whether a text begins by telling what is done, next, blocked or asked: with a label in capital letters, or with
/// words such as `Blocked by`.
pub(super) fn begins_status(text: &str) -> bool {
    use BankCategory::{Blocked, Done, Next, Question};
    if !text.starts_with(|c: char| c.is_uppercase() || matches!(c, '*' | '_')) {
        return false;
    }
    let line = text.lines().next().unwrap_or_default();
    let line = &line[..line.char_indices().nth(LABEL_MAX_CHARS).map_or(line.len(), |(at, _)| at)];
    let is_blocked = ["Blocked by ", "Blocked on ", "Blocked until "].iter().any(|begin| line.starts_with(begin));
    is_blocked || label_of(line).is_some_and(|of| matches!(of, Blocked | Done | Next | Question))
}

/// Returns the category that a heading names.
pub(super) fn heading_of(title: &str) -> Option<BankCategory> {
    ALL.as_ref()?.as_heading.in_text(title).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_read_and_has_signs_of_every_category() {
        let signs = BankSigns::read(TABLE).unwrap();
        assert_eq!(signs.as_heading.named.len(), 22);
        for named in &signs.as_heading.named {
            assert!(signs.weights.iter().any(|(category, _)| category == named), "{named:?}");
        }
        assert_eq!(
            (label_of("**Next**: x"), heading_of("## Open questions")),
            (Some(BankCategory::Next), Some(BankCategory::Question))
        );
        assert_eq!((label_of("Update: x"), heading_of("# Update")), (Some(BankCategory::Done), None));
        assert!(BankSigns::read("nonsense 3 x").is_none() && BankSigns::read("next 3 (").is_none());
    }
}
