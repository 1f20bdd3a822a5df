//! The check of which lessons are fit to keep. Evidence says later whether they are true or useful.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::echo::{Echoes, LessonContext};
use super::injection::overrides_instructions;
use super::{Lesson, LessonError};
use crate::memory::signature::Signature;
use crate::memory::{DESCRIPTION_MAX_CHARS, LABEL_MAX_CHARS, LESSON_CONTENT_MAX_CHARS, TITLE_MAX_CHARS};
use crate::prompt::names_a_fence;
use crate::safety::secrets::{MARKER, scrub};

/// The reason why a lesson was not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LessonRefusal {
    /// One of its texts has neither a letter nor a digit.
    Blank,
    TooLong,
    /// It has a secret, or the marker of one that was there.
    HasSecret,
    /// It repeats the task, a whole solution, the instructions, or the fence around quoted text.
    EchoesPrompt,
    /// It tells its reader to ignore the instructions that the reader has.
    OverridesInstructions,
    /// It is from a failure and does not say what went wrong, or its error has no name.
    NoErrorContext,
    /// Its title has only paths, addresses and ids, and no word of a rule.
    OnlyLiterals,
    /// There were more lessons than are kept.
    TooMany,
}

impl LessonRefusal {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Blank => "blank",
            Self::TooLong => "too_long",
            Self::HasSecret => "has_secret",
            Self::EchoesPrompt => "echoes_prompt",
            Self::OverridesInstructions => "overrides_instructions",
            Self::NoErrorContext => "no_error_context",
            Self::OnlyLiterals => "only_literals",
            Self::TooMany => "too_many",
        }
    }
}

/// The lessons that are fit to keep, and how many were refused for which reason.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AcceptedLessons {
    pub lessons: Vec<Lesson>,
    pub refused: BTreeMap<LessonRefusal, usize>,
}

/// Accepts the lessons that are fit to keep, at most `max`. `warnings_only` is set where the one solution or the
/// session failed: then each lesson must say what went wrong.
pub fn accept(lessons: Vec<Lesson>, shown: &LessonContext<'_>, warnings_only: bool, max: usize) -> AcceptedLessons {
    let mut kept = AcceptedLessons::default();
    let echoes = Echoes::of(shown);
    for lesson in lessons {
        let lesson = tidied(lesson);
        let refused = check(&lesson, &echoes, warnings_only).err();
        match refused.or((kept.lessons.len() == max).then_some(LessonRefusal::TooMany)) {
            Some(reason) => *kept.refused.entry(reason).or_default() += 1,
            None => kept.lessons.push(lesson),
        }
    }
    kept
}

/// Drops an error context with nothing in it, which is how some models say null.
fn tidied(mut lesson: Lesson) -> Lesson {
    let says_nothing = |text: &String| {
        let said: String = text.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
        ["", "none", "null", "na"].contains(&&*said)
    };
    let nothing = |error: &LessonError| {
        [&error.error_type, &error.failure_pattern, &error.corrective_guidance].into_iter().all(says_nothing)
    };
    lesson.error_context = lesson.error_context.filter(|error| !nothing(error));
    lesson
}

fn check(lesson: &Lesson, echoes: &Echoes, warnings_only: bool) -> Result<(), LessonRefusal> {
    let mut texts = vec![(&lesson.description, DESCRIPTION_MAX_CHARS), (&lesson.content, LESSON_CONTENT_MAX_CHARS)];
    let mut names = vec![(&lesson.title, TITLE_MAX_CHARS)];
    let mut pattern = Vec::new();
    if let Some(error) = &lesson.error_context {
        names.push((&error.error_type, LABEL_MAX_CHARS));
        texts.push((&error.corrective_guidance, LESSON_CONTENT_MAX_CHARS));
        pattern.push((&error.failure_pattern, LESSON_CONTENT_MAX_CHARS));
    }
    for (text, max) in names.iter().chain(&texts).chain(&pattern) {
        if !has_words(text) {
            return Err(LessonRefusal::Blank);
        }
        if text.chars().count() > *max {
            return Err(LessonRefusal::TooLong);
        }
    }
    let labels = lesson.pattern_tags.iter().chain(&lesson.domain_category).chain(&lesson.difficulty_level);
    let mut all = names.iter().chain(&texts).chain(&pattern).map(|(text, _)| *text).chain(labels);
    if all.clone().any(|text| text.contains(MARKER) || scrub(text).redactions > 0) {
        return Err(LessonRefusal::HasSecret);
    }
    if all.clone().any(|text| overrides_instructions(text)) {
        return Err(LessonRefusal::OverridesInstructions);
    }
    match &lesson.error_context {
        None if warnings_only => return Err(LessonRefusal::NoErrorContext),
        Some(error) if !has_words(Signature::of(&error.error_type, None).error()) => {
            return Err(LessonRefusal::NoErrorContext);
        }
        _ => {}
    }
    let echoed = texts.iter().any(|(text, _)| echoes.is_echo(text))
        || pattern.iter().any(|(text, _)| echoes.is_echo_of_all(text))
        || echoes.is_long_echo(&lesson.title);
    if echoed || all.any(|text| names_a_fence(text)) {
        return Err(LessonRefusal::EchoesPrompt);
    }
    if is_only_literals(&lesson.title) {
        return Err(LessonRefusal::OnlyLiterals);
    }
    Ok(())
}

/// Tells whether a text has words. White space, dots, dashes and characters that nobody sees are none.
fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// Tells whether a title has nothing but paths, addresses and ids, and so names no rule. A title with one word more
/// passes, because no pattern can tell whether a rule is general enough.
fn is_only_literals(title: &str) -> bool {
    static LITERAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let address = r"[a-z][a-z0-9+.-]*://\S+";
        let path = r"(?:~|\.{1,2}|[a-z]:)?[/\\]\S+|\S+[/\\]\S*\.[a-z0-9]{1,8}";
        let id = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|#?[0-9]+|0x[0-9a-f]+|[0-9a-f]{8,64}";
        Regex::new(&format!(r"(?i)^(?:{address}|{path}|{id})$")).ok()
    });
    let bare = |word: &str| word.trim_matches(|c: char| "`'\"()[]{}<>,;:!?".contains(c)).to_owned();
    let mut words = title.split_whitespace().map(bare).filter(|word| has_words(word)).peekable();
    let Some(literal) = &*LITERAL else { return false };
    words.peek().is_some() && words.all(|word| literal.is_match(&word))
}

#[cfg(test)]
mod tests;
