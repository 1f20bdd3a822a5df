//! The words that tell what a sentence does: cues, each a pattern of closed classes of words (connectives, modals,
//! verbs of work done), in a table for each language. `vocabulary` has the words of computing, which languages share.
//! The structure of an answer and this vocabulary have to speak for a language that has no table.

mod english;
mod languages;
mod spelling;
mod unspaced;
mod vocabulary;

use std::sync::LazyLock;

use regex::Regex;
use regex::bytes::{RegexSet, RegexSetBuilder};

use spelling::{respelled, spelled};
pub(super) use vocabulary::{has_quantity, subjects};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cue {
    /// It says why.
    Cause,
    /// It says when, or what instead.
    Condition,
    /// It says what to do.
    Directive,
    /// It begins with a verb as a command.
    Imperative,
    /// It compares, defines, or says how something behaves in general.
    General,
    Thanks,
    Apology,
    Declines,
    /// It offers more, or asks to be told.
    Offer,
    Announces,
    /// It speaks of the speaker.
    FirstPerson,
    FirstPersonDone,
    Done,
    DonePassive,
    ReportLead,
    PlanLead,
    /// It belongs to one day.
    Dated,
    /// It speaks of one person: the speaker, him or her.
    Personal,
    /// It is written in English.
    English,
    /// It is vague in itself.
    Vague,
    AskKnowledge,
    /// It asks in a form that is not used for a fact of the day.
    AskHow,
    AskOneOff,
    /// It asks for a number, which is one of today or one that always holds.
    AskQuantity,
    AskChat,
    AskAction,
    AskPlan,
}

/// The cues that a text has, each as a bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cues(u32);

impl Cues {
    pub(super) fn of(text: &str) -> Self {
        let spaced = SPACED.of_text(spelled(text).as_bytes());
        if text.contains(is_dense) { Self(spaced | UNSPACED.of_text(text.as_bytes())) } else { Self(spaced) }
    }

    pub(super) fn has(self, cue: Cue) -> bool {
        self.0 & bit(cue) != 0
    }
}

fn bit(cue: Cue) -> u32 {
    1 << cue as u32
}

/// A set of patterns, each with its cue.
struct CuePatterns {
    patterns: RegexSet,
    /// The cue of each pattern.
    cues: Vec<Cue>,
}

impl CuePatterns {
    #[allow(clippy::expect_used, reason = "the tables are constant, and the tests compile every pattern in them")]
    fn of(rows: &[(Cue, String)], unicode: bool) -> Self {
        let mut patterns = RegexSetBuilder::new(rows.iter().map(|(_, pattern)| pattern));
        let patterns = patterns.unicode(unicode).case_insensitive(unicode).size_limit(64 << 20).build();
        Self {
            patterns: patterns.expect("every cue is a valid pattern"),
            cues: rows.iter().map(|(cue, _)| *cue).collect(),
        }
    }

    /// Returns the bits of the cues that a text has.
    fn of_text(&self, text: &[u8]) -> u32 {
        self.patterns.matches(text).into_iter().fold(0, |cues, index| cues | bit(self.cues[index]))
    }
}

/// The cues of languages with spaces between words. They are spelled as every text is spelled before they are looked
/// for in it.
static SPACED: LazyLock<CuePatterns> = LazyLock::new(|| {
    let others = languages::CUES.iter().flat_map(|(_, cues)| cues.iter());
    let rows = english::CUES.iter().chain(others);
    let spelled = |(cue, pattern): &(Cue, &str)| (*cue, respelled(&pattern.replace("WORKDONE", english::WORK_DONE)));
    CuePatterns::of(&rows.map(spelled).collect::<Vec<_>>(), false)
});

static UNSPACED: LazyLock<CuePatterns> = LazyLock::new(|| {
    let rows = unspaced::CUES.iter().flat_map(|(_, cues)| cues.iter());
    CuePatterns::of(&rows.map(|(cue, pattern)| (*cue, (*pattern).to_owned())).collect::<Vec<_>>(), true)
});

/// The names that are written as in code: names with signs in them, calls, flags, files, abbreviations. Such a name
/// ends where ASCII does, because Japanese and Chinese put no space behind it.
const TERM: &str = r"`[^`]+`|\b[a-zA-Z][a-z0-9]*_[a-zA-Z0-9_]+\b|\b[a-z]+[A-Z]\w*\b|\b[A-Z][a-z0-9]+[A-Z]\w*\b|\b\w+\(\)|--[a-z][\w-]+|\b\w+::\w+|\b[A-Z][A-Z0-9]+\b|\b[\w-]+\.(?:rs|py|js|ts|tsx|go|java|toml|json|ya?ml|sh|sql|cpp|rb|conf|env|lock|cfg|ini|kt|cs|php|xml|html|css)\b|@\w+|\b\w+\.\w+\(|[A-Z]\w+(?:Error|Exception)\b";

#[allow(clippy::expect_used, reason = "the pattern is constant, and the tests compile it")]
static TERMS: LazyLock<Regex> = LazyLock::new(|| {
    let ascii = TERM.replace(r"\b", r"(?-u:\b)").replace(r"\w", "[0-9A-Za-z_]");
    Regex::new(&ascii).expect("a valid pattern")
});

/// Abbreviations that name nothing technical.
const NO_TERMS: [&str; 14] = ["AM", "PM", "OK", "AI", "US", "UK", "EU", "TV", "CEO", "FAQ", "TODO", "PR", "CI", "USA"];

/// Finds the technical terms of a text, as they are written: names as in code, and words in Latin letters among those
/// of another script.
pub(super) fn terms(text: &str) -> impl Iterator<Item = &str> {
    let written = TERMS.find_iter(text).map(|found| found.as_str()).filter(|term| !NO_TERMS.contains(term));
    let loaned = is_in_another_script(text).then(|| LATIN.find_iter(text).map(|found| found.as_str()));
    written.chain(loaned.into_iter().flatten())
}

/// Tells whether a text is written in another script than the Latin one: the letters of other scripts are more than
/// half as many as the Latin ones.
fn is_in_another_script(text: &str) -> bool {
    let letters = |test: fn(char) -> bool| text.chars().filter(|c| c.is_alphabetic() && test(*c)).count();
    // The Latin letters end before the Greek ones.
    letters(|c| c >= '\u{370}') > letters(|c| c < '\u{370}') / 2
}

#[allow(clippy::expect_used, reason = "the pattern is constant, and the tests compile it")]
static LATIN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[A-Za-z][A-Za-z0-9+#]{2,}").expect("a valid pattern"));

/// Tells whether a text is specific: it has a name as in code, a word of computing, or a number with a unit.
pub(super) fn is_specific(text: &str) -> bool {
    terms(text).next().is_some() || has_quantity(text) || !subjects(text).is_empty()
}

/// Returns the length of a text in characters. Those of Chinese, Japanese and Korean say more each, and count double.
pub(super) fn length(text: &str) -> usize {
    text.chars().map(|c| if is_dense(c) { 2 } else { 1 }).sum()
}

/// Tells whether a character is of a script in which two characters make a word.
pub(super) fn is_dense(c: char) -> bool {
    ('\u{3040}'..='\u{9fff}').contains(&c) || ('\u{ac00}'..='\u{d7a3}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::Cue::*;
    use super::*;

    #[test]
    fn every_pattern_compiles_and_every_cue_has_a_bit() {
        assert_eq!(SPACED.patterns.len(), SPACED.cues.len());
        assert_eq!(UNSPACED.patterns.len(), UNSPACED.cues.len());
        assert!(terms("call `x` with max_size and parseInt()").count() >= 3);
        assert!((AskPlan as u32) < 32);
        assert!(Cues::of("It fails because of that").has(Cause));
        assert!(!Cues::of("It is fine").has(Cause));
    }

    #[test]
    fn a_report_that_ends_with_what_comes_next_announces() {
        for text in [
            "I have read src/importer.rs and will look at the tests next, because I need to understand it.",
            "I've found the handler, and now I'll check the session middleware.",
            "Ich habe src/importer.rs gelesen und sehe mir als Nächstes die Tests an, weil ich sie verstehen muss.",
            "J'ai lu le module et je vais vérifier les tests, parce que c'est utile.",
            "He leído el módulo y ahora voy a revisar las pruebas.",
            "Ho letto il modulo e ora controllo i test.",
            "Ik heb de module gelezen en ga nu de tests bekijken.",
            "Li o módulo e agora vou ver os testes.",
        ] {
            assert!(Cues::of(text).has(Announces), "{text}");
        }
        assert!(!Cues::of("I added a lock, because two threads wrote and the later one will win.").has(Announces));
    }
}
