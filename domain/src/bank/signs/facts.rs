//! The sentences of a text that tell facts. A condition, a guess, what failed in the end and what was taken back tell of
//! nothing that is done.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::bank::past_forms::is_past_form;

/// The signs and the words before the first clause of a sentence.
const BEGIN: &str =
    r"^[^A-Za-z]*(?:(?:status|update|note|news|fyi|info|progress):\s*)?(?:(?:and|but|then|so|also)\s+)?";
/// These words begin a condition in whatever tense it is.
const CONDITIONS: &str = "if|unless|assuming|supposing|provided|providing|in case";
/// The condition of a sentence such as `Should the review pass, …`.
const INVERTED: &str = "should (?:the|an?|our|it|we|they|this|that)";
/// These words begin a condition, unless what they tell has happened.
const TIMED_CONDITIONS: &str = "when|whenever|once|as soon as|as long as";
const GUESSES: &str =
    "(?:maybe|perhaps|probably|apparently|supposedly|allegedly|presumably|hopefully|possibly|seemingly)";

/// A sentence that begins with a condition.
static CONDITION_FIRST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(r"(?is){BEGIN}(?:(?P<any>{CONDITIONS}|{INVERTED})|{TIMED_CONDITIONS})\b(?P<rest>.*)$")).ok()
});
/// A sentence with a condition behind its main clause.
static CONDITION_LAST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(r"(?is)^(?P<main>.+?)\b(?:{CONDITIONS}|{TIMED_CONDITIONS})\b(?P<condition>.*)$")).ok()
});
/// The end of a clause that tells a state.
static STATE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b(?:is|are|gets?)\b|\b(?:done|finished|completed?|ready|live)\s*$").ok());
/// The words of a clause that tells of the present or of something that is described.
static OF_NOW: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?i)\b(?:now|no longer|any ?more)\b").ok());
static DESCRIBES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?i)\b(?:that|which|who)\b").ok());
static GUESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let thinks = r"(?:i|we|he|she|they) (?:\w+ )?(?:think|believe|guess|assume|suppose|hope|expect|suspect|reckon)s?";
    let others = r"(?:the )?\w+ (?:thinks|believes|hopes|guesses|reckons)";
    let heard = r"(?:i|we) (?:was|were|am|are|have been) told|(?:i|we) (?:have )?heard|it (?:seems|appears|looks like)";
    let says = format!("(?:{thinks}|{others}|{heard}|{GUESSES})");
    let to_check = r"\bneeds? to (?:be )?(?:check|verify|confirm)(?:ed)?(?: (?:it|this|that))?";
    let first = format!(r"{BEGIN}{says}\b");
    let last = format!(r"[,(–—]\s*{says}(?: so)?[\s,.)!]*$");
    Regex::new(&format!(r"(?i){first}|{last}|{to_check}[\s.!]*$")).ok()
});
/// A guess within a sentence, and the word before its verb.
static GUESSED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(r"(?i)(?P<before>\w+)\s+(?:is|are|was|were|has|have)(?: been)? {GUESSES}\b")).ok()
});
/// Phrases for work that was done and then taken back.
static TAKEN_BACK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let joins = r"(?:[,;(–—]|\s-\s|\b(?:but|then|and|however|afterwards|later)\b)";
    let back = "(?:reverted|undid|withdrew|backed out|rolled back)";
    let it = r"(?:it|them|this|that|all|everything|both|again|afterwards|later)";
    let by_us = format!(r"{back}(?:(?: {it})+\b|[\s.!)]*$|\s+(?:because|due|since|as)\b)");
    let by_others = r"(?:was|were|got|been|be|is|are) (?:\w+ )?(?:reverted|rolled back|undone|backed out|withdrawn)\b";
    let apart = r"(?:rolled|took) (?:it|them|this|that|everything) back\b|had to (?:revert|undo|roll back|withdraw)\b";
    Regex::new(&format!(r"(?i){joins}[^.]{{0,40}}?\b(?:{by_us}|{by_others}|{apart})")).ok()
});
/// A failure behind a contrast, with the words between the two.
static BUT_FAILS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let fails = r"(?:fail(?:s|ed|ing)?|crash(?:es|ed|ing)?|breaks?|broke|broken|hangs?|hung|times? out|timed out|errors? out|(?:is|are) red|(?:does|do)(?: not|n[’']t) work)";
    Regex::new(&format!(
        r"(?i)(?:\b(?:but|however|except that)\b(?P<between>[^.]{{0,60}}?)|[,;–—]\s*(?:and |yet )?)\b{fails}\b"
    ))
    .ok()
});
/// The repair of something that is described: `Fixed the tests that …`.
static REPAIRED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let verb = "(?:fixed|resolved|solved|repaired|closed)";
    Regex::new(&format!(
        r"(?i)^[^A-Za-z]*(?:(?:we|i) )?(?:have )?{verb}\b[^.]*?(?:\b(?:that|which|where|when|who)\b|:)"
    ))
    .ok()
});
/// Phrases for a blocker that is over.
static UNBLOCKED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let ended = r"\bno longer (?:\w+ )?(?:wait(?:ing|s)?|block(?:ed|er|ing)|stuck|on hold|paused|held up|pending)\b";
    let freed =
        r"^[^A-Za-z]*(?:(?:now|finally) )?unblocked\b|\b(?:is|are|was|were|got|been) (?:now |finally )?unblocked\b";
    Regex::new(&format!(r"(?i){ended}|{freed}")).ok()
});

/// Returns the text of the sentences that tell facts.
pub(in crate::bank) fn stated(text: &str) -> Cow<'_, str> {
    let mut written = String::with_capacity(text.len());
    for sentence in sentences(text).filter(|sentence| !is_undone(sentence)) {
        let parts = sentence.split_inclusive(';').filter(|part| !is_conditional(part) && !is_guess(part));
        parts.for_each(|part| written.push_str(part));
    }
    if written.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(written) }
}

/// Splits a text behind its full stops, question marks and line ends.
pub(in crate::bank) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut from = 0;
    let ends = text.char_indices().filter(|(at, sign)| {
        let next = text[at + sign.len_utf8()..].chars().next();
        *sign == '\n' || (matches!(sign, '.' | '!' | '?') && next.is_none_or(char::is_whitespace))
    });
    let ends: Vec<usize> = ends.map(|(at, sign)| at + sign.len_utf8()).chain([text.len()]).collect();
    ends.into_iter().filter_map(move |end| {
        let sentence = &text[from..end];
        from = end;
        (!sentence.is_empty()).then_some(sentence)
    })
}

/// Says whether a text tells that something blocks the work no more.
pub(in crate::bank) fn is_unblocked(text: &str) -> bool {
    matches(&UNBLOCKED, text)
}

fn matches(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// Says whether a sentence tells what holds only under a condition that is not met yet.
fn is_conditional(sentence: &str) -> bool {
    // `Once and for all` and `once per day` are no conditions.
    const NO_SUBJECTS: [&str; 5] = ["and", "more", "again", "per", "every"];
    if let Some(found) = CONDITION_FIRST.as_ref().and_then(|first| first.captures(sentence)) {
        let rest = &found["rest"];
        let (condition, main) = rest.split_once(',').unwrap_or((rest, ""));
        return !matches(&OF_NOW, main) && (found.name("any").is_some() || !tells_past(condition, 1));
    }
    let Some(found) = CONDITION_LAST.as_ref().and_then(|last| last.captures(sentence)) else { return false };
    let (main, condition) = (&found["main"], &found["condition"]);
    let mut words = condition.split_whitespace();
    let begins_clause = |first: &str| !first.ends_with("ing") && !NO_SUBJECTS.contains(&first);
    let is_clause = words.next().is_some_and(begins_clause) && words.next().is_some();
    is_clause
        && matches(&STATE, main)
        && !matches(&OF_NOW, main)
        && !matches(&DESCRIBES, main)
        && !tells_past(main, 0)
        && !tells_past(condition, 1)
}

/// Says whether a clause has a verb in the past, at one of its words from this one on.
fn tells_past(clause: &str, from: usize) -> bool {
    const OF_PAST: [&str; 4] = ["was", "were", "had", "did"];
    const AUXILIARIES: [&str; 9] = ["is", "are", "be", "been", "being", "get", "gets", "has", "have"];
    let lower = clause.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_past = |at: usize| {
        let before = &words[at.saturating_sub(2)..at];
        OF_PAST.contains(&words[at])
            || (is_past_form(words[at]) && !before.iter().any(|word| AUXILIARIES.contains(word)))
    };
    (from..words.len()).any(is_past)
}

fn is_guess(sentence: &str) -> bool {
    const DESCRIBING: [&str; 3] = ["that", "which", "who"];
    let is_own = |before: &str| !DESCRIBING.contains(&before.to_lowercase().as_str());
    let guessed = || GUESSED.as_ref().is_some_and(|of| of.captures_iter(sentence).any(|of| is_own(&of["before"])));
    matches(&GUESS, sentence) || guessed()
}

/// Says whether what a sentence tells was taken back, or failed in another place.
fn is_undone(sentence: &str) -> bool {
    const NEGATIONS: [&str; 5] = ["no longer", "not ", "never", "n't", "used to"];
    let fails = || {
        let found = BUT_FAILS.as_ref().and_then(|but| but.captures(sentence));
        found.is_some_and(|found| {
            let between = found.name("between").map_or("", |of| of.as_str()).to_lowercase().replace('’', "'");
            !NEGATIONS.iter().any(|negation| between.contains(negation))
        })
    };
    matches(&TAKEN_BACK, sentence) || (fails() && !matches(&REPAIRED, sentence))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Fixed the menu that is cut if the window is small.")]
    #[case("If the file is empty, the parser no longer crashes.")]
    #[case("The crash is fixed when opening files.")]
    #[case("Fixed the bug that was probably caused by the cache.")]
    #[case("The build failed, but it no longer fails in CI.")]
    #[case("Although it failed twice, the importer is deployed.")]
    #[case("The import is deployed, and the parser was written when Ana came.")]
    #[case("We decided to assume nothing.")]
    #[case("Release 2.0 is done once and for all.")]
    #[case("Wrote the parser when I was in Rome.")]
    #[case("Fixed the crash that happens when the list is empty.")]
    #[case("The importer assumes UTF-8 now.")]
    #[case("Fixed: a wrong total, failed logins")]
    fn a_fact_is_told_whatever_else_a_sentence_has(#[case] text: &str) {
        assert_eq!(stated(text), text);
    }

    #[rstest]
    #[case("Release 2.0: done once QA signs off.", "")]
    #[case("The parser is written; if Ana agrees, the importer is deployed.", "The parser is written;")]
    #[case("It works. We rolled it out, then rolled it back.", "It works.")]
    #[case("The importer is, I think, deployed, I guess.", "")]
    #[case("Should the review pass, the parser is written.", "")]
    #[case("As long as the vendor agrees, Release 2.0 is finished.", "")]
    #[case("Release 2.0 is live when the flag is on.", "")]
    #[case("Ana thinks the importer is deployed. The docs are done.", " The docs are done.")]
    #[case("The tests pass on Linux, fail on Windows.", "")]
    #[case("Deployed the importer, had to roll back.", "")]
    fn what_is_no_fact_is_left_out(#[case] text: &str, #[case] wanted: &str) {
        assert_eq!(stated(text), wanted);
    }
}
