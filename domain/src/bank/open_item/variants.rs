//! Reports on less than all of a task: a part of it in numbers, one of its variants, or a trial.

use std::sync::LazyLock;

use regex::Regex;

use super::{bare, terms_of_task, without_due_day};
use crate::bank::pieces::undated;

/// Parts of all, as numbers tell them, and what was taken back.
static PART: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let numbers = r"\b(\d[\d,.]*) ?(?:of|out of|/) ?(?:the |all )?(\d[\d,.]*)\b|\b(\d[\d.]*) ?(?:%|percent\b)";
    Regex::new(&format!(r"(?i){numbers}|\b(?:rolled|rolling|took|taken) (?:it )?back\b")).ok()
});
/// A place or an audience that something has before all others.
static TRIAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let of_trials = "test|testing|beta|alpha|canary|dev|development|preview|demo|pilot|internal|uat|qa|pre-?prod(?:uction)?|trials?|early[- ]access";
    let flag = r"\bbehind (?:an? |the )?(?:feature )?(flag|toggle)\b";
    Regex::new(&format!(r"(?i)\b(?:to|on|onto|in|into|at|for) (?:[\w'-]+ ){{0,2}}?({of_trials})\b|{flag}")).ok()
});

/// Says whether a text tells of a part: `3 of 40`, `60 %`, or what was rolled back. All 40 of 40 are no part.
pub(super) fn tells_part(text: &str) -> bool {
    let Some(part) = PART.as_ref() else { return false };
    let text = undated(text);
    part.captures_iter(&text).any(|found| match (found.get(1), found.get(2), found.get(3)) {
        (Some(some), Some(all), _) => some.as_str() != all.as_str(),
        (_, _, Some(percent)) => percent.as_str() != "100",
        _ => true,
    })
}

/// Says whether a report is about a trial of a task, or about what is narrower than the task: `the parser for YAML` and
/// `the YAML parser` are less than the parser.
pub(super) fn tells_variant(report: &str, task: &str) -> bool {
    let task = without_due_day(&undated(task));
    let own = terms_of_task(&task);
    let is_own = |word: &str| terms_of_task(word).is_subset(&own);
    let verb = task.split_whitespace().next().map(terms_of_task).unwrap_or_default();
    let trial = TRIAL.as_ref().is_some_and(|trial| {
        trial.captures_iter(report).any(|found| found.iter().skip(1).flatten().any(|word| !is_own(word.as_str())))
    });
    let words: Vec<&str> = report.split_whitespace().collect();
    let ends_clause = |word: &str| word.ends_with(['.', ',', ';', ':', '!', '?', ')']);
    let joined = |at: usize| at > 0 && !ends_clause(words[at - 1]);
    let narrows = |at: usize| {
        let is_joined = joined(at) && is_own(bare(words[at - 1])) && !bare(words[at - 1]).is_empty();
        matches!(words[at], "for" | "of") && is_joined && narrowing(&words[at + 1..]).is_some_and(|of| !is_own(&of))
    };
    let names = |at: usize| {
        let next = words.get(at + 1).map(|word| terms_of_task(bare(word)));
        let next = next.filter(|next| next.is_subset(&own) && !next.is_empty() && *next != verb);
        joined(at) && !ends_clause(words[at]) && is_name(bare(words[at])) && next.is_some() && !is_own(bare(words[at]))
    };
    trial || (0..words.len()).any(|at| narrows(at) || names(at))
}

/// Returns the words behind `for` or `of` that tell which ones of all are meant. None where all are.
fn narrowing(words: &[&str]) -> Option<String> {
    const ALL: [&str; 18] = [
        "all",
        "everyone",
        "everybody",
        "both",
        "each",
        "every",
        "any",
        "good",
        "real",
        "now",
        "us",
        "free",
        "it",
        "them",
        "this",
        "that",
        "you",
        "me",
    ];
    const ENDS: [&str; 20] = [
        "in", "on", "at", "to", "with", "by", "from", "for", "of", "is", "are", "was", "were", "has", "have", "and",
        "which", "that", "because", "as",
    ];
    let first = bare(words.first()?).to_lowercase();
    if ALL.contains(&first.as_str()) {
        return None;
    }
    let is_end = |word: &&&str| ENDS.contains(&bare(word).to_lowercase().as_str());
    let mut phrase: Vec<&str> = Vec::new();
    for word in words.iter().take_while(|word| !is_end(word)) {
        phrase.push(word);
        if word.ends_with(['.', ',', ';', ':', '!', '?', ')']) {
            break;
        }
    }
    Some(phrase.join(" ")).filter(|phrase| phrase.contains(char::is_alphanumeric))
}

/// Says whether a word within a sentence is written as names are: with a capital letter, or with letters and digits.
fn is_name(word: &str) -> bool {
    const NO_NAMES: [&str; 9] = ["a", "all", "an", "i", "my", "our", "the", "we", "your"];
    let has = |is: fn(char) -> bool| word.contains(is);
    (has(char::is_uppercase) || (has(char::is_alphabetic) && has(char::is_numeric)))
        && !NO_NAMES.contains(&word.to_lowercase().as_str())
}
