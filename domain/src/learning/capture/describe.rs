//! The title of a lesson and when it is to be used, from the question it answers.

use std::sync::LazyLock;

use regex::Regex;

use super::blocks::sentences;
use super::words::is_dense;
use crate::learning::transcript::{FenceLine, Fences};
use crate::memory::{DESCRIPTION_MAX_CHARS, TITLE_MAX_CHARS};
use crate::text::shortened;

/// Phrases that are said before the matter itself.
const FILLER: &str = r"(?i)^\W*(?:(?:hi|hey|hello|yo|ok|okay|so|well|please|thanks|thank you|great|quick question|one more question|question|another question|dear|claude|chatgpt|codex|copilot|there|all|also|and|now)\b[\s,.:!–-]*|(?:can|could|would|will) you (?:please |kindly |maybe |quickly )*(?:tell|show|explain to|remind|give) me (?:about )?|(?:can|could|would|will) you (?:please |kindly |maybe |quickly )*(?:explain|describe|clarify|help me (?:to )?(?:with |understand )?|help (?:with|understand) )\s*|(?:please )?(?:tell me|explain to me|explain|show me|help me understand|help me with|help me)\s+|i(?:'d| would) (?:like|love) to (?:know|understand|learn)(?: about)?\s*|i(?:'m| am| was) (?:wondering|curious|trying to (?:understand|figure out))(?: about)?\s*|(?:i|we)(?:'m|'re| am| are)? (?:keep |always |often |sometimes )?(?:get|getting|see|seeing) (?:an? |the |this )?(?:error )?|i (?:wonder|need to know|want to know|don't (?:understand|get|know))\s+|do you know\s+|any idea\s+|just\s+)";

#[allow(clippy::expect_used, reason = "the pattern is constant, and the tests compile it")]
static FILLERS: LazyLock<Regex> = LazyLock::new(|| Regex::new(FILLER).expect("a valid pattern"));

/// Makes the title: one line of at most [`TITLE_MAX_CHARS`], without politeness. `instead` stands for a question that
/// names nothing.
pub(super) fn title(question: &str, instead: Option<&str>) -> String {
    let prose = prose(question);
    let sentences = sentences(&prose);
    let cleaned = |sentence: &String| Some(without_filler(sentence)).filter(|text| content_words(text) >= 2);
    let asked = sentences.iter().filter(|sentence| sentence.ends_with(['?', '？'])).find_map(cleaned);
    let found = asked.or_else(|| sentences.iter().find_map(cleaned));
    let found = found.or_else(|| instead.map(without_filler));
    let found = found.unwrap_or_else(|| without_filler(question.lines().next().unwrap_or_default()));
    let found = if found.is_empty() { question.split_whitespace().collect::<Vec<_>>().join(" ") } else { found };
    let title = shortened(&capitalised(&found), TITLE_MAX_CHARS);
    // One sign of a pair stays where the other was cut off.
    if title.matches('`').count() % 2 == 1 { title.replace('`', "") } else { title }
}

/// Makes the description: one sentence that says when to use the lesson.
pub(super) fn description(title: &str, error: Option<&str>) -> String {
    let topic = title.trim_end_matches(['?', '？', '.', '!', '…', ' ']);
    let lower = topic.to_lowercase();
    let after = |start: &str| lower.starts_with(start).then(|| topic.get(start.len()..)).flatten();
    let text = match error {
        Some(error) => format!("When {error} comes up, or before doing what leads to it: {topic}."),
        None => match [
            "how do i ",
            "how can i ",
            "how should i ",
            "how to ",
            "how would i ",
            "how do you ",
            "how do we ",
            "how can we ",
        ]
        .iter()
        .find_map(|start| after(start))
        {
            Some(deed) => format!("When you want to {deed}."),
            None if lower.starts_with("why ") || lower.starts_with("what ") || lower.starts_with("when ") => {
                format!(
                    "When the question is {}{}.",
                    topic.chars().take(1).flat_map(char::to_lowercase).collect::<String>(),
                    topic.chars().skip(1).collect::<String>()
                )
            }
            None => format!("When this comes up: {topic}."),
        },
    };
    shortened(&text, DESCRIPTION_MAX_CHARS)
}

/// Returns the question's prose: what stands outside of fences, without headings, quotations and the lines of a
/// traceback.
fn prose(question: &str) -> String {
    let mut fences = Fences::default();
    let outside = question.lines().filter(|line| fences.next(line) == FenceLine::Outside);
    let lines = outside
        .map(|line| line.trim().trim_start_matches(['#', '>', ' ', '*']))
        .filter(|line| !super::classify::is_output_line(line));
    lines.collect::<Vec<_>>().join("\n")
}

fn without_filler(sentence: &str) -> String {
    let mut text = sentence.trim();
    while let Some(found) = FILLERS.find(text).filter(|found| found.end() > 0 && found.end() < text.len()) {
        text = text[found.end()..].trim_start();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ").trim_matches(['*', '_', ' ']).to_owned()
}

/// Words of a question that name nothing.
const NAMELESS: [&str; 40] = [
    "what",
    "does",
    "mean",
    "means",
    "this",
    "that",
    "with",
    "have",
    "when",
    "where",
    "which",
    "should",
    "could",
    "would",
    "there",
    "here",
    "wrong",
    "happen",
    "happens",
    "happening",
    "about",
    "they",
    "them",
    "your",
    "from",
    "into",
    "then",
    "than",
    "some",
    "going",
    "look",
    "please",
    "help",
    "want",
    "need",
    "these",
    "those",
    "please",
    "problem",
    "thanks",
];

/// Returns the number of words that may name something. Every two signs of a script without spaces count as one.
fn content_words(text: &str) -> usize {
    let is_long = |word: &str| word.chars().count() > 3 && !NAMELESS.contains(&word.to_lowercase().as_str());
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).enumerate();
    let words = words.filter(|(n, word)| is_long(word) || is_short_name(word, *n == 0)).count();
    let dense = text.chars().filter(|c| is_dense(*c)).count();
    words + dense / 2
}

/// Tells whether a short word is written like a name: `S3`, `CI`, `Go`. A capital at the beginning of a sentence makes
/// none.
fn is_short_name(word: &str, begins: bool) -> bool {
    let capitals = word.chars().filter(|c| c.is_uppercase()).count();
    let has_digit = word.chars().any(|c| c.is_ascii_digit()) && word.chars().any(char::is_alphabetic);
    let is_short = (2..=3).contains(&word.chars().count());
    is_short && (has_digit || capitals > 1 || (capitals == 1 && !begins && word.starts_with(char::is_uppercase)))
}

fn capitalised(text: &str) -> String {
    let mut signs = text.chars();
    let first = signs.next().map(|first| {
        // A name that is written in small letters stays as it is.
        let word: String = text.split_whitespace().next().unwrap_or_default().into();
        if word.chars().all(|c| c.is_lowercase() || c == '\'') {
            first.to_uppercase().collect()
        } else {
            first.to_string()
        }
    });
    first.unwrap_or_default() + signs.as_str()
}
