//! Sentences that state rules: which they are, and which only look like it, by their words alone. `user_rules` makes
//! lessons of them.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::blocks::sentences;
use super::classify::is_output_line;
use super::words::length;
use crate::learning::phrases::{
    CHINESE, IS_JAPANESE, JAPANESE, LanguagePatterns, OBJECTION, OF_ONCE, RULE_PATTERNS, SURE_OBJECTION,
    UnspacedPatterns,
};
use crate::learning::transcript::{FenceLine, Fences};

/// A longer message was pasted, as a rule, and not written.
const MESSAGE_MAX_CHARS: usize = 1_200;
/// The bounds of the length of a sentence that states a rule.
const SENTENCE_CHARS: std::ops::RangeInclusive<usize> = 15..=400;

/// Returns the lines that the user wrote, those of one sentence joined: what stands outside of fences, without
/// quotations, tables and the output of programs. None where the message is too long, or a document with headings.
pub(super) fn own_prose(message: &str) -> Option<Vec<String>> {
    let mut fences = Fences::default();
    let mut lines: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in message.lines() {
        let is_outside = fences.next(line) == FenceLine::Outside;
        let text = line.trim();
        if is_outside && text.starts_with('#') && text.trim_start_matches('#').starts_with(' ') {
            return None;
        }
        if !is_outside || text.is_empty() || text.starts_with(['>', '|', '$']) || is_output_line(line) {
            goes_on = false;
            continue;
        }
        let item = text.strip_prefix(['-', '*', '•']).filter(|rest| rest.starts_with(' '));
        match lines.last_mut().filter(|_| goes_on && item.is_none() && text.starts_with(char::is_lowercase)) {
            Some(last) => *last = format!("{last} {text}"),
            None => lines.push(item.unwrap_or(text).trim().to_owned()),
        }
        goes_on = !text.ends_with(['.', '!', '?', ':', ';']);
    }
    let chars: usize = lines.iter().map(|line| line.chars().count()).sum();
    (chars <= MESSAGE_MAX_CHARS).then_some(lines)
}

/// Tells whether a sentence states a rule. `orders` is true where the message orders something new: what it says of
/// each time is of that, unless it names the place.
pub(super) fn states_rule(sentence: &str, orders: bool) -> bool {
    may_be_rule(sentence) && is_stated(sentence, orders)
}

/// Tells whether a sentence has the form of a rule, though it may be one of this once.
fn is_stated(sentence: &str, orders: bool) -> bool {
    let patterns = &*RULE_PATTERNS;
    if patterns.orders.is_match(sentence) && !patterns.each_time.is_match(sentence) {
        return false;
    }
    let (body, says_no) = without_no(sentence);
    let plain = matched(body);
    if patterns.remember.is_match(&plain) || patterns.points_back_last.is_match(&plain) {
        return true;
    }
    if is_stated_unspaced(&plain, orders) || patterns.decided.is_match(&plain) || is_noted(&plain) {
        return true;
    }
    let is_general = !orders && patterns.where_it_holds.is_match(&plain) && !patterns.one_thing.is_match(&plain);
    let body = patterns.not_ever.replace_all(&plain, " ");
    patterns.languages.iter().any(|words| {
        let (ever, contrast) = (words.ever.is_match(&body), words.contrast.is_match(&body));
        let is_of_speaker = || words.speaker.is_match(&body);
        let told = || words.told.find(&body).is_some_and(|told| !words.fails.is_match(told.as_str()));
        let is_of_kind = || !words.definite.is_match(&body) && !is_of_speaker();
        let from_now = || words.from_now.is_match(&body) && !is_of_speaker();
        let habit = || (ever || contrast) && words.habit.is_match(&body);
        let of_project = || {
            let is_due = ever || contrast || words.must.is_match(&body);
            is_due && words.in_project.is_match(&body) && !words.fails.is_match(&body)
        };
        let is_here = || words.here.is_match(&body);
        from_now()
            || habit()
            || of_project()
            || (ever && (!orders || is_here()) && told())
            || (ever && !orders && words.due.is_match(&body) && is_of_kind())
            || (contrast && is_here() && words.prefers.is_match(&body))
            || (is_general && words.forbids.is_match(&body) && !is_of_speaker())
            || (ever && says_no && is_of_kind() && !words.fails.is_match(&body))
    })
}

/// Tells whether a sentence is a note of what is to be done in general.
fn is_noted(sentence: &str) -> bool {
    let patterns = &*RULE_PATTERNS;
    let Some(lead) = patterns.noted.find(sentence) else { return false };
    let rest = &sentence[lead.end()..];
    let is_order = |words: &LanguagePatterns| {
        (words.prefers.is_match(rest) || words.forbids.is_match(rest) || words.told.is_match(rest))
            && !words.speaker.is_match(rest)
    };
    !patterns.one_thing.is_match(rest) && patterns.languages.iter().any(is_order)
}

/// Tells whether a sentence of a language without spaces has the form of a rule.
fn is_stated_unspaced(sentence: &str, orders: bool) -> bool {
    let patterns: &UnspacedPatterns = if IS_JAPANESE.is_match(sentence) { &JAPANESE } else { &CHINESE };
    patterns.told.is_match(sentence)
        && !patterns.other.is_match(sentence)
        && (!orders || patterns.here.is_match(sentence))
}

/// Tells whether a sentence orders something new.
pub(super) fn orders_something(sentence: &str) -> bool {
    let body = without_no(sentence).0;
    let is_unspaced = match IS_JAPANESE.is_match(body) {
        true => JAPANESE.orders.is_match(body) && !JAPANESE.told.is_match(body),
        false => CHINESE.orders.is_match(body),
    };
    is_unspaced || (RULE_PATTERNS.orders.is_match(body) && !RULE_PATTERNS.each_time.is_match(body))
}

/// Tells whether a message states a rule of this once, and none of each time.
pub(super) fn is_rule_of_once(message: &str) -> bool {
    let said: Vec<String> = own_prose(message).unwrap_or_default().iter().flat_map(|line| sentences(line)).collect();
    said.iter().any(|sentence| {
        let rest = RULE_PATTERNS.once.replace_all(sentence, " ");
        let rest = RULE_PATTERNS.now_only.replace_all(&rest, " ");
        tells_of_once(sentence) && is_stated(rest.trim_start_matches([' ', ',']), false)
    })
}

/// Tells whether a sentence may state a rule at all: it asks nothing, objects to nothing, and tells of no single time
/// and of nobody else.
pub(super) fn may_be_rule(sentence: &str) -> bool {
    let (body, _) = without_no(sentence);
    let plain = matched(body);
    SENTENCE_CHARS.contains(&length(sentence))
        && !sentence.contains(['?', '？', '¿'])
        && !tells_of_once(body)
        && !RULE_PATTERNS.reported.is_match(&plain)
        && !SURE_OBJECTION.is_match(&plain)
        && !OBJECTION.is_match(&plain)
}

/// Tells whether a sentence tells of now, or of one piece of work, and not of each time.
pub(super) fn tells_of_once(sentence: &str) -> bool {
    let plain = RULE_PATTERNS.languages.iter().fold(matched(sentence), |text, of| match of.from_now.is_match(&text) {
        true => Cow::Owned(of.from_now.replace_all(&text, " ").into_owned()),
        false => text,
    });
    RULE_PATTERNS.now_only.is_match(&plain) || RULE_PATTERNS.once.is_match(&plain) || OF_ONCE.is_match(&plain)
}

/// Returns a sentence without a "no" that it begins with, and whether it does.
pub(super) fn without_no(sentence: &str) -> (&str, bool) {
    let found = NO_FIRST.find(sentence).filter(|no| no.end() < sentence.len());
    found.map_or((sentence, false), |no| (&sentence[no.end()..], true))
}

/// Returns what of a sentence is matched: what it quotes is somebody else's.
fn matched(sentence: &str) -> Cow<'_, str> {
    QUOTED.replace_all(sentence, "…")
}

/// Quotations. What stands between signs of code is the user's own.
const QUOTATION: &str = r#""[^"]*"|“[^”]*”|«[^»]*»|„[^“”]*[“”]"#;
/// A "no" that stands before what the sentence says.
const NO: &str = r"(?i)^\W{0,3}(?:(?:no|nope|nein|non|nee|wait|stop|halt)[,.!:;–—]\s*)+";

#[allow(clippy::expect_used, reason = "the pattern is constant, and the tests compile it")]
static QUOTED: LazyLock<Regex> = LazyLock::new(|| Regex::new(QUOTATION).expect("a valid pattern"));
#[allow(clippy::expect_used, reason = "the pattern is constant, and the tests compile it")]
static NO_FIRST: LazyLock<Regex> = LazyLock::new(|| Regex::new(NO).expect("a valid pattern"));
