//! The test of whether two texts say the same in other words. They are compared word by word. The only differences that
//! carry nothing are articles, the capital at the beginning of a sentence or of a longer word, the mark at its end, a
//! dash for a comma, a hyphen that stands alone between words, and the place of the one condition of a sentence. A
//! synonym may be another value, another tense an update, a word in capitals or another bracket another program, so
//! none of them is ignored.

use std::collections::HashSet;

/// The first words of clauses that may stand before or behind what they are about.
const CONDITIONS: [&str; 14] = [
    "after", "although", "as", "because", "before", "for", "if", "once", "since", "unless", "until", "when",
    "whenever", "while",
];
/// The least letters of a word whose capital carries nothing. Shorter ones are often names: `Go`, `May`.
const FOLDED_LETTERS: usize = 4;
const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// Tells whether two texts are the same sentences, in the same order, with the same words.
pub(crate) fn says_the_same(a: &str, b: &str) -> bool {
    let folds = !has_both_cases(a) && !has_both_cases(b);
    sentences(a, folds) == sentences(b, folds)
}

/// Texts by what they say, so that one which says the same as another is found without a comparison with each.
#[derive(Debug, Default)]
pub(crate) struct Wordings {
    /// The sentences with their capitals folded, of texts that may be compared so.
    folded: HashSet<Vec<Sentence>>,
    /// The sentences as they are written, of all texts.
    written: HashSet<Vec<Sentence>>,
    /// The sentences of texts that write one word with a capital and without it.
    of_both_cases: HashSet<Vec<Sentence>>,
}

impl Wordings {
    pub(crate) fn add(&mut self, text: &str) {
        let written = sentences(text, false);
        if has_both_cases(text) {
            self.of_both_cases.insert(written.clone());
        } else {
            self.folded.insert(sentences(text, true));
        }
        self.written.insert(written);
    }

    /// Tells whether a text says the same as one of these, as [`says_the_same`] does of two.
    pub(crate) fn has(&self, text: &str) -> bool {
        let written = sentences(text, false);
        match has_both_cases(text) {
            true => self.written.contains(&written),
            false => self.folded.contains(&sentences(text, true)) || self.of_both_cases.contains(&written),
        }
    }
}

/// Returns a key that is the same for texts that say the same. Texts with one key may still differ in capitals.
pub(super) fn wording_key(text: &str) -> String {
    let sentence = |of: Sentence| format!("{:?}", (of.condition, of.clauses));
    sentences(text, true).into_iter().map(sentence).collect::<Vec<_>>().join("\n")
}

/// Tells whether a text writes one word with a capital and without it. Then the capital may be what it speaks of.
fn has_both_cases(text: &str) -> bool {
    let words: HashSet<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    words.iter().any(|word| is_title_case(word) && words.contains(word.to_lowercase().as_str()))
}

/// Tells whether a word of some length has a capital at its beginning and nothing but small letters behind it.
fn is_title_case(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase)
        && letters.all(char::is_lowercase)
        && word.chars().count() >= FOLDED_LETTERS
}

/// A sentence: its condition, where it has exactly one, and the rest. Otherwise all of its clauses in their order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Sentence {
    condition: Vec<String>,
    clauses: Vec<Vec<String>>,
}

fn sentences(text: &str, folds: bool) -> Vec<Sentence> {
    let (mut sentences, mut words) = (Vec::new(), Vec::<PunctuatedWord>::new());
    for line in text.lines() {
        let written_words: Vec<&str> = line.split_whitespace().collect();
        for (n, written) in written_words.iter().copied().enumerate() {
            if written == "-" && is_only_spacing(&written_words, n) {
                continue;
            }
            if let Some(before) = words.last_mut().filter(|_| is_dash(written)) {
                before.ends_clause = true;
                continue;
            }
            let word = PunctuatedWord::of(written, words.is_empty(), folds);
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

fn sentence(words: Vec<PunctuatedWord>) -> Option<Sentence> {
    let is_condition = |word: &str| CONDITIONS.contains(&word.to_lowercase().as_str());
    let mut clauses: Vec<Vec<String>> = Vec::new();
    let mut begins = true;
    for word in words {
        let ends_clause = word.ends_clause;
        if !ARTICLES.contains(&word.text.as_str()) {
            if begins || is_condition(&word.text) {
                clauses.push(Vec::new());
            }
            begins = false;
            if let Some(clause) = clauses.last_mut() {
                clause.push(word.text);
            }
        }
        begins |= ends_clause;
    }
    // The order matters where there are several conditions, or several clauses.
    let is_conditional = |clause: &Vec<String>| clause.first().is_some_and(|first| is_condition(first));
    let mut condition = Vec::new();
    if let [first, second] = &clauses[..]
        && is_conditional(first) != is_conditional(second)
    {
        let (of, mut rest) = if is_conditional(first) { (first, second.clone()) } else { (second, first.clone()) };
        if rest.len() > 1 && rest[0] == "then" {
            rest.remove(0);
        }
        condition = of.clone();
        // Either of them may begin the sentence.
        for clause in [&mut condition, &mut rest] {
            clause[0] = clause[0].to_lowercase();
        }
        clauses = vec![rest];
    }
    (!clauses.is_empty()).then_some(Sentence { condition, clauses })
}

struct PunctuatedWord {
    text: String,
    ends_clause: bool,
    ends_sentence: bool,
}

impl PunctuatedWord {
    /// Returns a word without the mark behind it. Whatever else is written is part of it: `3.11`, `-1`, `!flag`, `(0,`,
    /// `"quoted"`.
    fn of(written: &str, is_first: bool, folds: bool) -> Self {
        let bare = written.strip_suffix(['.', ',', ';', ':']).filter(|bare| bare.ends_with(|c: char| !is_mark(c)));
        let behind = &written[bare.map_or(written.len(), str::len)..];
        let bare = bare.unwrap_or(written).replace('’', "'");
        // A word in capitals is a name, also at the beginning.
        let begins = is_first && bare.chars().skip(1).all(|c| !c.is_uppercase());
        let is_capitalised = begins || (folds && is_title_case(&bare));
        Self {
            text: if is_capitalised { bare.to_lowercase() } else { bare },
            ends_clause: !behind.is_empty(),
            ends_sentence: behind.contains(['.', ';']),
        }
    }
}

/// Tells whether this is a dash between two clauses. A hyphen by itself may be a minus or an argument.
fn is_dash(written: &str) -> bool {
    matches!(written, "–" | "—")
}

/// Tells whether the hyphen at a place of a line is spacing alone: the mark of an item of a list, or a hyphen between
/// two words of letters. Beside anything else it may be a minus or an argument.
fn is_only_spacing(words: &[&str], place: usize) -> bool {
    let is_word = |word: &str| word.chars().count() > 1 && word.chars().all(char::is_alphabetic);
    let behind = words.get(place + 1).map(|word| word.trim_end_matches(['.', ',', ';', ':']));
    let before = place.checked_sub(1).and_then(|before| words.get(before));
    behind.is_some_and(is_word) && before.is_none_or(|before| is_word(before))
}

fn is_mark(c: char) -> bool {
    c.is_ascii_punctuation() && !"\"'`)]}%*_/".contains(c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::capital_and_mark("Use exponential backoff on 429.", "use exponential backoff on 429")]
    #[case::articles("Close the file before a rename.", "Close file before rename")]
    #[case::condition_first("When the API returns 429, use backoff.", "Use backoff when the API returns 429.")]
    #[case::then("If the lock is held, then wait.", "Wait if the lock is held.")]
    #[case::lines("Close it.\nRename it.", "Close it. Rename it.")]
    #[case::apostrophe("Don’t retry", "don't retry")]
    #[case::hyphen("Deploy with Helm - never by hand.", "Deploy with Helm never by hand")]
    #[case::item("- Close it.\n- Rename it.", "Close it.\nRename it.")]
    #[case::capital_of_a_word("Keep the Sessions in Redis.", "Keep the sessions in redis.")]
    #[case::dash("Let it rest overnight, then bake it.", "Let it rest overnight — then bake it")]
    fn words_that_say_the_same(#[case] a: &str, #[case] b: &str) {
        assert_eq!(wording_key(a), wording_key(b));
        assert!(says_the_same(a, b), "{:?} {:?}", sentences(a, true), sentences(b, true));
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
    #[case::standard_input("Read it with cat - first.", "Read it with cat, first.")]
    #[case::capitals("Add it to PATH.", "Add it to path.")]
    #[case::tense("We used Redis for sessions.", "We use Redis for sessions.")]
    #[case::two_settings("Use tabs in go, spaces in python.", "Use spaces in go, tabs in python.")]
    #[case::before_and_after("Before deploying, run the tests.", "After deploying, run the tests.")]
    #[case::named_a("Take plan A.", "Take plan B.")]
    #[case::opposite_condition("If it fails, retry.", "Unless it fails, retry.")]
    #[case::exchanged_conditions(
        "Retry the call when it times out, fail when it is refused.",
        "Retry the call when it is refused, fail when it times out."
    )]
    #[case::exchanged_languages("Use tabs for Go, spaces for Python.", "Use spaces for Go, tabs for Python.")]
    #[case::interval("The range is (0, 1].", "The range is [0, 1).")]
    #[case::stars("Pass *kwargs to it.", "Pass **kwargs to it.")]
    #[case::bang("Call save!", "Call save")]
    #[case::dots("Take everything from ..", "Take everything from .")]
    #[case::minus("The offset is - 5.", "The offset is 5.")]
    #[case::argument("Read it with tar xf - /data.", "Read it with tar xf /data.")]
    #[case::name_in_capitals("Deploy it to US first.", "Deploy it to us first.")]
    #[case::short_name("Write it in Go.", "Write it in go.")]
    #[case::both_cases("Rename Config to config.", "Rename config to Config.")]
    #[case::camel_case("Call readAll on it.", "Call readall on it.")]
    #[case::flag("Call it with curl -k.", "Call it with curl -K.")]
    #[case::plan_a("Take the plan A.", "Take the plan.")]
    #[case::other_script("パスワードは変更済み", "パスワードは未変更")]
    fn words_that_do_not(#[case] a: &str, #[case] b: &str) {
        assert!(!says_the_same(a, b), "{:?}", sentences(a, true));
    }

    proptest! {
        #[test]
        fn another_word_is_another_statement(words in prop::collection::vec("[b-z]{2,6}", 1..8), at: prop::sample::Index, other in "[b-z]{7}") {
            let mut changed = words.clone();
            let at = at.index(words.len());
            changed[at] = other;
            prop_assert!(!says_the_same(&words.join(" "), &changed.join(" ")));
            prop_assert!(says_the_same(&words.join(" "), &(words.join("  ") + ".")));
        }

        #[test]
        fn a_text_is_found_among_others_where_it_says_the_same_as_one(
            texts in prop::collection::vec("(The|the|If|if|Sessions|sessions|go|Go)([ ,.;]{1,2}(then|the|if|When|when|sessions|Sessions|go|—|-)){0,4}", 2..8),
        ) {
            let mut wordings = Wordings::default();
            texts[1..].iter().for_each(|text| wordings.add(text));
            let is_there = texts[1..].iter().any(|text| says_the_same(text, &texts[0]));
            prop_assert_eq!(wordings.has(&texts[0]), is_there);
        }

        #[test]
        fn what_says_the_same_has_one_key(
            a in "(Then|then|The|the|If|if|Sessions|sessions|go|Go|ab)([ ,.;]{1,2}(then|Then|the|if|When|when|sessions|Sessions|go|—|-)){0,4}",
            b in "(Then|then|The|the|If|if|Sessions|sessions|go|Go|ab)([ ,.;]{1,2}(then|Then|the|if|When|when|sessions|Sessions|go|—|-)){0,4}",
        ) {
            prop_assert!(!says_the_same(&a, &b) || wording_key(&a) == wording_key(&b));
            let moved = format!("If {b}, {a}");
            let other = format!("{a} if {b}");
            prop_assert!(!says_the_same(&moved, &other) || wording_key(&moved) == wording_key(&other));
        }
    }
}
