//! Whether two texts say the same in other words. Compared is what is written, word by word: articles, punctuation, capitals
//! and the place of a clause of condition in its sentence are the only differences that carry nothing. A synonym may be
//! another value, and another tense may be an update, so neither is looked through.

/// The first words of clauses that stand before or behind what they are about alike.
const CONDITIONS: [&str; 14] = [
    "after", "although", "as", "because", "before", "for", "if", "once", "since", "unless", "until", "when",
    "whenever", "while",
];
const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// Whether two texts are the same sentences, in the same order, with the same words.
pub(super) fn says_the_same(a: &str, b: &str) -> bool {
    sentences(a) == sentences(b)
}

/// A sentence: its conditions in the order of their words, then the rest in its own order.
#[derive(Debug, PartialEq, Eq)]
struct Sentence {
    conditions: Vec<Vec<String>>,
    rest: Vec<String>,
}

fn sentences(text: &str) -> Vec<Sentence> {
    let (mut sentences, mut words) = (Vec::new(), Vec::new());
    for line in text.lines() {
        for written in line.split_whitespace() {
            let word = Word::of(written);
            let ends = word.ends_sentence;
            words.push(word);
            if ends {
                sentences.extend(sentence(std::mem::take(&mut words)));
            }
        }
        sentences.extend(sentence(std::mem::take(&mut words)));
    }
    sentences
}

fn sentence(words: Vec<Word>) -> Option<Sentence> {
    let mut clauses: Vec<Vec<String>> = Vec::new();
    let (mut conditions, mut rest) = (Vec::new(), Vec::new());
    let mut begins = true;
    for word in words {
        if word.text.is_empty() || ARTICLES.contains(&word.text.as_str()) {
            begins |= word.ends_clause;
            continue;
        }
        if begins || CONDITIONS.contains(&word.text.as_str()) {
            clauses.push(Vec::new());
        }
        begins = word.ends_clause;
        if let Some(clause) = clauses.last_mut() {
            clause.push(word.text);
        }
    }
    for mut clause in clauses {
        match clause.first() {
            Some(first) if CONDITIONS.contains(&first.as_str()) => conditions.push(clause),
            // What follows a condition: "if …, then …".
            Some(first) if first == "then" && rest.is_empty() => rest.extend(clause.drain(1..)),
            _ => rest.extend(clause),
        }
    }
    conditions.sort();
    (!conditions.is_empty() || !rest.is_empty()).then_some(Sentence { conditions, rest })
}

struct Word {
    text: String,
    ends_clause: bool,
    ends_sentence: bool,
}

impl Word {
    /// Without quotes, brackets and marks around it; what stands within it (`3.11`, `a-b`, `x_y`) or before it as a sign of its
    /// own (`-1`, `!flag`, `$HOME`) is part of it.
    fn of(written: &str) -> Self {
        let opening = |c: char| "([{\"'`*“‘«".contains(c);
        let closing = |c: char| ")]}\"'`*”’»".contains(c);
        let mark = |c: char| ".,;:!?…".contains(c);
        let bare = written.trim_start_matches(opening).trim_end_matches(|c| closing(c) || mark(c));
        let behind = &written[written.rfind(bare).map_or(0, |at| at + bare.len())..];
        Self {
            text: bare.replace('’', "'").to_lowercase(),
            ends_clause: behind.contains([',', ';', ':']),
            ends_sentence: behind.contains(['.', '!', '?', ';']),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::capitals_and_marks("Use \"exponential backoff\" on 429!", "use exponential backoff on 429")]
    #[case::articles("Close the file before a rename.", "Close file before rename")]
    #[case::condition_first("When the API returns 429, use backoff.", "Use backoff when the API returns 429.")]
    #[case::then("If the lock is held, then wait.", "Wait if the lock is held.")]
    #[case::lines("Close it.\nRename it.", "Close it. Rename it.")]
    #[case::apostrophe("Don’t retry", "don't retry")]
    fn words_that_say_the_same(#[case] a: &str, #[case] b: &str) {
        assert!(says_the_same(a, b), "{:?} {:?}", sentences(a), sentences(b));
    }

    #[rstest]
    #[case::value("The service listens on port 8080.", "The service listens on port 9090.")]
    #[case::version("We are on Python 3.11.", "We are on Python 3.12.")]
    #[case::name("The owner is Ann Lee.", "The owner is Bob Lee.")]
    #[case::religion("His religion is Islam.", "His religion is Hinduism.")]
    #[case::negation("Retry on 429.", "Do not retry on 429.")]
    #[case::exchanged("Move from MySQL to Postgres.", "Move from Postgres to MySQL.")]
    #[case::steps("Run the migrations, deploy.", "Deploy, run the migrations.")]
    #[case::qualifier("The limit is 5.", "In staging the limit is 5.")]
    #[case::sign("Pass -1.", "Pass 1.")]
    #[case::tense("We used Redis for sessions.", "We use Redis for sessions.")]
    #[case::two_settings("Use tabs in go, spaces in python.", "Use spaces in go, tabs in python.")]
    #[case::before_and_after("Before deploying, run the tests.", "After deploying, run the tests.")]
    #[case::named_a("Take plan A.", "Take plan B.")]
    #[case::opposite_condition("If it fails, retry.", "Unless it fails, retry.")]
    #[case::other_script("パスワードは変更済み", "パスワードは未変更")]
    fn words_that_do_not(#[case] a: &str, #[case] b: &str) {
        assert!(!says_the_same(a, b), "{:?}", sentences(a));
    }

    proptest! {
        #[test]
        fn another_word_is_another_statement(words in prop::collection::vec("[b-z]{2,6}", 1..8), at: prop::sample::Index, other in "[b-z]{7}") {
            let mut changed = words.clone();
            let at = at.index(words.len());
            changed[at] = other;
            prop_assert!(!says_the_same(&words.join(" "), &changed.join(" ")));
            prop_assert!(says_the_same(&words.join(" "), &(words.join("  ").to_uppercase() + ".")));
        }
    }
}
