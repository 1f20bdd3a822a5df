//! The signs by which a piece of text is classified: labels, which name a category before a colon or as a heading, and
//! patterns in sentences, each with a weight. They are in `signs.txt`.

mod facts;

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex, RegexSet, RegexSetBuilder};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error;

pub(super) use self::facts::{is_unblocked, sentences, stated};
use crate::bank::BankCategory;

const TABLE: &str = include_str!("signs.txt");
/// The names of a category before a colon and as headings, and those before a colon alone.
const LABEL: &str = "label";
const PREFIX: &str = "prefix";
/// A label has at most this many characters, with what stands in parentheses behind it.
const LABEL_MAX_CHARS: usize = 100;
/// The words behind a name in a heading that say when.
const WHEN: &str = r"(\s+(so far|today|yesterday|since yesterday|this (week|session|sprint|morning)|(in|during) (this|the last|last) (week|session|sprint)))?";
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
    /// The patterns of what is done, in the order of the table, and their weights.
    done: (RegexSet, Vec<u32>),
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
                let numbered = r"(\d{1,2}[.)]\s+)?";
                let dated = r"(\s*\([^)\n]{0,30}\d[^)\n]{0,30}\))?";
                let heading = format!(r"^[^\w]*{numbered}({pattern}){WHEN}{dated}[^\w]*$");
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
        let of = |wanted: BankCategory| -> (Vec<String>, Vec<u32>) {
            let all = patterns.iter().zip(&weights).filter(|(_, (category, _))| *category == wanted);
            all.map(|(pattern, (_, weight))| (pattern.clone(), *weight)).unzip()
        };
        let (decisions, _) = of(BankCategory::Decision);
        let (done, done_weights) = of(BankCategory::Done);
        let names = |of: Vec<(BankCategory, String)>| {
            let (named, patterns): (Vec<BankCategory>, Vec<String>) = of.into_iter().unzip();
            Some(CategoryNames { named, patterns: set(&patterns)? })
        };
        Some(Self {
            set: set(&patterns)?,
            decisions: set(&decisions)?,
            done: (set(&done)?, done_weights),
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

/// The words of a clause that tells of no fact: a condition, and what is not so.
static NO_FACT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let condition = r"\b(?:until|unless|before|as long as|once|as soon as|when|whenever|if|so that|to be)\b";
    let negation = r"(?:\b(?:not|never|nothing|nobody|none)\b|n[’']t\b)";
    Regex::new(&format!(r"(?i)(?:{condition}|{negation})[^,.;:!?]*")).ok()
});
/// A negation that says that something has ended.
static NO_MORE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b(?:does|do|did|is|are)(?: not|n[’']t) (\w+)([^.;,]{0,30}?) any ?more\b").ok());
/// A tick at the beginning of a text.
static TICK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[✅✔☑✓]\u{fe0f}?").ok());
/// The words for what a section lists, as people write where it lists nothing: `No open questions yet`.
pub(super) const NAMES_OF_ENTRIES: &str = "(?:blockers?|impediments?|(?:open )?questions?|(?:known )?(?:issues?|bugs?)|\
    next steps?|tasks?|todos?|news|changes?|decisions?|entries|notes|items)";
/// An answer that there is nothing, and the name of that of which there is none.
static NOTHING: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    let behind = r"(?: (?:yet|so far|right now|now|at the moment|at present|today|planned|new|open|known|left|to report|else|currently))*";
    let what = NAMES_OF_ENTRIES;
    RegexSet::new([
        format!(r"(?i)^(?:none|nothing|nil|n/?a|no){behind}$"),
        format!(r"(?i)^(?:there (?:are|is) )?(?:currently )?no (?:open |known |current |new )?{what}{behind}$"),
    ])
    .ok()
});

/// The weight of what says that something blocks the work no more.
const UNBLOCKED_WEIGHT: u32 = 14;
/// The version of what the work is about, which is none of a dependency.
static OWN_VERSION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let number = r"v?\d+(?:\.\d+)*";
    let verb = "(?: (?:is|was|has|had|will|should|would|must|may|might|can|could|won|isn|wasn|hasn|needs|got)\\b)?";
    let own = format!(r"\b(release|milestone|sprint|phase|iteration) {number}\b({verb})|^(version) {number}\b");
    Regex::new(&format!("(?i){own}")).ok()
});
/// The beginnings of texts that tell what is no longer so. Such a text is no rule.
static NO_RULE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?i)^\W*no (?:longer|more)\b").ok());

/// Returns the categories that a text has signs of, with their weights. That something is done is told by no clause
/// with a condition or a negation: `until the review is done` and `is not merged` say the contrary.
pub(super) fn signs_of(text: &str) -> Vec<(BankCategory, u32)> {
    use BankCategory::{Blocked, Convention, Done};
    let Some(signs) = &*ALL else { return Vec::new() };
    let text = &*without_own_versions(text);
    let found = signs.set.matches(text).into_iter().filter_map(|index| signs.weights.get(index).copied());
    let mut found: Vec<(BankCategory, u32)> = found.collect();
    if NO_RULE.as_ref().is_some_and(|no_rule| no_rule.is_match(text)) {
        found.retain(|(category, _)| *category != Convention);
    }
    let Some((no_fact, no_more)) = NO_FACT.as_ref().zip(NO_MORE.as_ref()) else { return found };
    let stated = stated(text);
    let ended = no_more.replace_all(&stated, "no longer $1$2");
    let facts = no_fact.replace_all(&ended, " ");
    if facts != text {
        let (done, weights) = &signs.done;
        found.retain(|(category, _)| *category != Done);
        let done = done.matches(&facts).into_iter().filter_map(|index| weights.get(index).copied());
        found.extend(done.map(|weight| (Done, weight)));
    }
    if is_unblocked(&facts) {
        found.retain(|(category, _)| *category != Blocked);
        found.push((Done, UNBLOCKED_WEIGHT));
    }
    found
}

/// Returns a text without the versions of what the work is about: `Release 2.0 is late` names no dependency.
fn without_own_versions(text: &str) -> Cow<'_, str> {
    // What something is said about is no order to release it.
    let bare = |found: &Captures<'_>| match (found.get(2), found.get(3)) {
        (Some(verb), _) if !verb.is_empty() => format!("the {}{}", &found[1], verb.as_str()),
        (_, Some(version)) => version.as_str().to_owned(),
        _ => found[1].to_owned(),
    };
    OWN_VERSION.as_ref().map_or(Cow::Borrowed(text), |own| own.replace_all(text, bare))
}

/// Says whether a text begins by saying that it answers a question.
pub(super) fn is_answer(text: &str) -> bool {
    static ANSWER: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?i)^(?:\*\*|__)?(?:answer(?:ed)?|reply)(?:\*\*|__)?:").ok());
    ANSWER.as_ref().is_some_and(|answer| answer.is_match(text))
}

/// Says whether a text ends with a question. Such a text asks, and reports nothing.
pub(super) fn is_question(text: &str) -> bool {
    text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_')).ends_with('?')
}

/// Says whether a text begins with a tick.
pub(super) fn begins_ticked(text: &str) -> bool {
    TICK.as_ref().is_some_and(|tick| tick.is_match(text))
}

/// Says whether a text says of what its label or its heading names that there is none, such as `Blockers: none`.
pub(super) fn says_none(text: &str, heading: Option<&str>) -> bool {
    let end = |text: &str| text.trim().trim_end_matches(['.', '!']).trim_matches(['_', '*', '(', ')']).to_owned();
    let is_of = |text: &str, which: usize| NOTHING.as_ref().is_some_and(|of| of.matches(&end(text)).matched(which));
    let named = heading.and_then(|heading| heading_of(heading.trim_end_matches(':')));
    let labelled = || text.split_once(':').filter(|_| label_of(text).is_some());
    is_of(text, 1) || (named.is_some() && is_of(text, 0)) || labelled().is_some_and(|(_, answer)| is_of(answer, 0))
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

/// Returns the category that a heading names. One of several names, such as `Open Questions/Issues`, is what the first
/// of them is.
pub(super) fn heading_of(title: &str) -> Option<BankCategory> {
    let of = |title: &str| ALL.as_ref()?.as_heading.in_text(title).next();
    of(title).or_else(|| {
        let title = title.replace(" and ", "/").replace(" & ", "/");
        let mut named = title.split(['/', ',']).map(of);
        let first = named.next().flatten()?;
        named.all(|other| other.is_some()).then_some(first)
    })
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
        for (title, category) in [
            ("Open Questions/Issues", Some(BankCategory::Question)),
            ("Architectural Patterns", Some(BankCategory::Architecture)),
            ("Coding Patterns", Some(BankCategory::Convention)),
            ("Current Tasks", Some(BankCategory::Next)),
            ("Current Task", Some(BankCategory::Focus)),
            ("Completed Tasks", Some(BankCategory::Done)),
            ("What we did", Some(BankCategory::Done)),
            ("Accomplished this session", Some(BankCategory::Done)),
            ("What was done", Some(BankCategory::Done)),
            ("Work done so far", Some(BankCategory::Done)),
            ("1. Bugs fixed", Some(BankCategory::Done)),
            ("✅ Completed (2026-11-20)", Some(BankCategory::Done)),
            ("Up next", Some(BankCategory::Next)),
            ("Current blockers:", Some(BankCategory::Blocked)),
            ("Decisions made", Some(BankCategory::Decision)),
            ("Decisions (historical)", None),
            ("Goals & Scope", Some(BankCategory::Goal)),
            ("Goals and weather", None),
        ] {
            assert_eq!(heading_of(title), category, "{title}");
        }
        assert_eq!((label_of("Update: x"), heading_of("# Update")), (Some(BankCategory::Done), None));
        assert!(BankSigns::read("nonsense 3 x").is_none() && BankSigns::read("next 3 (").is_none());
    }
}
