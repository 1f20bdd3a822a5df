//! Tokens: the words of a sentence, how each is written, which marks stand around it, and whether it reads like a name.

use super::calendar;
use super::dotted;
use super::east_asian;
use super::lexicon;
use super::tools;

/// Marks that may stand before a word and are no part of it.
const OPENING: [char; 10] = ['(', '[', '{', '"', '\'', '`', '“', '‘', '*', '«'];
/// Marks that may stand behind a word and are no part of it.
const CLOSING: [char; 16] = [')', ']', '}', '"', '\'', '`', '”', '’', '*', '»', '.', ',', ';', ':', '!', '?'];

/// A word as it is written and in small letters, and what stands around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub text: String,
    pub lower: String,
    /// True where the word reads like a name of a person, a tool or a symbol of a program.
    pub is_name: bool,
    /// True where a colon, an equals sign or an arrow follows the word.
    pub separates: bool,
    /// True where a comma, a closing bracket, a dash or a sign such as `&` follows the word.
    pub pauses: bool,
    /// True where a bracket opens before the word.
    pub opens: bool,
    /// True where a question ends with the word.
    pub asks: bool,
    /// True for a word of a compound with a hyphen that describes the noun behind it: `long-lived branches`.
    pub is_joined: bool,
}

impl Token {
    /// Makes a plain word.
    pub(super) fn word(word: &str) -> Self {
        Self {
            text: word.to_owned(),
            lower: word.to_owned(),
            is_name: false,
            separates: false,
            pauses: false,
            opens: false,
            asks: false,
            is_joined: false,
        }
    }
}

/// Splits a text into sentences, each as its words. There are at most `most` words altogether.
pub(super) fn sentences(text: &str, most: usize) -> Vec<Vec<Token>> {
    let (mut all, mut words, mut count) = (Vec::new(), Vec::new(), 0);
    for line in text.lines() {
        let line = east_asian::spaced(line);
        let line = line.trim_start().trim_start_matches(['-', '*', '#', '>', '•', ' ']);
        let written = words_of(line);
        for (at, word) in written.iter().enumerate() {
            if count >= most {
                break;
            }
            count += 1;
            let ends = read(word, &mut words);
            if ends && !is_day_of_month(word, written.get(at + 1)) {
                all.push(std::mem::take(&mut words));
            }
        }
        if !words.is_empty() {
            all.push(std::mem::take(&mut words));
        }
    }
    all.iter_mut().for_each(|words| {
        join_pairs(words);
        spare_verbs(words);
    });
    all
}

/// Tells whether a number with a dot is a day, as German writes it: `3. Mai`.
fn is_day_of_month(word: &str, next: Option<&&str>) -> bool {
    let month = next.map(|next| next.trim_end_matches(CLOSING).to_lowercase());
    let is_number = word.strip_suffix('.').is_some_and(|number| number.parse::<u32>().is_ok());
    is_number && month.is_some_and(|month| calendar::month(&month).or(calendar::foreign_month(&month)).is_some())
}

/// Leaves only those compounds joined that stand before a noun. Others may be verbs: `is self-hosted on`, `we force-push`.
fn spare_verbs(words: &mut [Token]) {
    let mut from = 0;
    while from < words.len() {
        let length = words[from..].iter().take_while(|token| token.is_joined).count();
        let to = from + length;
        let may_speak = |word: &str| lexicon::is_plain_pronoun(word) || matches!(word, "can" | "may" | "must" | "to");
        let begins = from == 0 || may_speak(&words[from - 1].lower);
        let has_noun =
            to > from && !words[to - 1].pauses && words.get(to).is_some_and(|next| !is_function_word(&next.lower));
        if begins || !has_noun {
            words[from..to].iter_mut().for_each(|token| token.is_joined = false);
        }
        from = to + 1;
    }
}

/// Splits a line into words as they are written. A command in backticks is one word, an assignment is not.
fn words_of(line: &str) -> Vec<&str> {
    let (mut words, mut rest) = (Vec::new(), line.trim_start());
    while !rest.is_empty() {
        let ends = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let code = rest.find('`').filter(|from| rest[..*from].chars().all(|c| OPENING.contains(&c)));
        let closes = code.and_then(|from| rest[from + 1..].find('`').map(|length| from + 1 + length));
        let is_command =
            |to: &usize| *to > ends && !rest[..*to].contains(['=', '<', '>']) && !rest[..*to].contains(": ");
        let ends = closes
            .filter(is_command)
            .map_or(ends, |to| to + rest[to..].find(char::is_whitespace).unwrap_or(rest.len() - to));
        words.push(&rest[..ends]);
        rest = rest[ends..].trim_start();
    }
    words
}

/// The pairs of words that are written as one word elsewhere, each with that word.
const PAIRS: [(&str, &str, &str); 13] = [
    ("united", "kingdom", "uk"),
    ("united", "states", "usa"),
    ("time", "out", "timeout"),
    ("times", "out", "timeout"),
    ("by", "hand", "manually"),
    ("log", "in", "login"),
    ("sign", "in", "login"),
    ("e", "mail", "email"),
    ("on", "call", "oncall"),
    ("continuous", "integration", "ci"),
    ("in", "charge", "responsible"),
    ("road", "map", "roadmap"),
    ("data", "base", "database"),
];

/// Writes pairs of words as one.
fn join_pairs(words: &mut Vec<Token>) {
    let mut at = 0;
    while at + 1 < words.len() {
        let joined =
            PAIRS.iter().find(|(first, second, _)| words[at].lower == *first && words[at + 1].lower == *second);
        if let Some((.., joined)) = joined {
            let second = words.remove(at + 1);
            words[at] = Token { lower: (*joined).to_owned(), opens: words[at].opens, ..second };
        }
        at += 1;
    }
}

/// Adds what a written word consists of, and returns whether a sentence ends with it.
fn read(written: &str, words: &mut Vec<Token>) -> bool {
    if let Some(last) = words.last_mut() {
        if matches!(written, "=" | ":" | "->" | "=>" | "→" | ":=") {
            last.separates = true;
            return false;
        }
        if matches!(written, "-" | "–" | "—" | "--" | "," | "|" | "&" | "+") {
            last.pauses = true;
            return false;
        }
    }
    // `key=value`, `key:value` and `a→b` are two words; an address is one.
    if !written.contains("://") {
        for mark in ["->", "→", "=>", "="] {
            if let Some((before, after)) = written.split_once(mark)
                && before.chars().any(char::is_alphanumeric)
                && after.chars().any(char::is_alphanumeric)
                && !after.contains('=')
            {
                read(before, words);
                if let Some(last) = words.last_mut() {
                    last.separates = true;
                }
                return read(after, words);
            }
        }
    }
    let bare = written.trim_start_matches(OPENING);
    let opens = written.starts_with(['(', '[']);
    let text = bare.trim_end_matches(CLOSING);
    let (text, bare) = (without_elision(text), without_elision(bare));
    let text = text.strip_suffix("'s").or_else(|| text.strip_suffix("’s")).unwrap_or(text);
    let behind = &bare[text.len()..];
    if !text.chars().any(|c| c.is_alphanumeric() || "%$€£/~".contains(c)) {
        return false;
    }
    let quoted = written.starts_with('`');
    let is_first = words.is_empty();
    let parts = if quoted { vec![text] } else { parts(text) };
    let last = parts.len() - 1;
    for (at, part) in parts.into_iter().enumerate() {
        // Only the capitals tell the country from the pronoun.
        let lower = if part == "US" { "usa".to_owned() } else { part.to_lowercase().replace('’', "'") };
        let lower = uncontracted(lower);
        words.push(Token {
            is_name: is_name(part, &lower, is_first && at == 0, quoted),
            text: part.to_owned(),
            lower,
            separates: at == last && (behind.contains(':')),
            pauses: at == last && behind.contains([',', ')', ']']),
            opens: at == 0 && opens,
            asks: at == last && behind.contains('?'),
            is_joined: last > 0,
        });
    }
    behind.contains(['.', ';', '!', '?'])
        && !matches!(text, "e.g" | "i.e" | "vs" | "approx" | "no" | "Dr" | "Mr" | "Mrs" | "Ms" | "St" | "Prof" | "Mt")
}

/// Returns a word without the short article or preposition of French and Italian before it: `l'API`, `dell'80%`.
fn without_elision(word: &str) -> &str {
    const SHORT: &str = "l d dell all nell dall sull un qu c s n j";
    let begins = |short: &str| lexicon::in_list(SHORT, &short.to_lowercase());
    let rest = word.split_once(['\'', '’']).filter(|(short, rest)| begins(short) && rest.chars().count() > 1);
    rest.map_or(word, |(_, rest)| rest)
}

/// Returns a pronoun without the short form of a verb behind it: `you` for `you'll`. Other words stay.
fn uncontracted(word: String) -> String {
    match word.split_once('\'') {
        Some((pronoun @ ("i" | "we" | "you" | "they" | "it" | "he" | "she"), "ll" | "ve" | "re" | "m")) => {
            pronoun.to_owned()
        }
        _ => word,
    }
}

/// Splits a compound of plain words into its words. Any other text stays whole.
fn parts(text: &str) -> Vec<&str> {
    let parts: Vec<&str> = text.split('-').collect();
    let is_plain = |part: &&str| part.len() > 1 && part.chars().all(char::is_alphabetic);
    let known = text.to_lowercase();
    let is_identifier = parts.len() > 2 && parts.iter().all(|part| !is_function_word(&part.to_lowercase()));
    // The name of a tool may begin another name: `pip-tools`. A participle behind it is no name: `Redis-backed`.
    let names_tool = parts.first().is_some_and(|first| tools::is_tool(&first.to_lowercase())) && !known.ends_with("ed");
    if is_identifier || (parts.len() > 1 && names_tool) || tools::tool_kind(&known).is_some() {
        return vec![text];
    }
    let is_known = lexicon::opposite(&known).is_some()
        || lexicon::canonical(&known) != known && lexicon::environment(&known).is_some();
    if parts.len() > 1 && !is_known && parts.iter().all(is_plain) { parts } else { vec![text] }
}

pub(super) fn is_function_word(word: &str) -> bool {
    lexicon::is_filler(word) || lexicon::is_preposition(word) || lexicon::is_condition(word) || word == "and"
}

fn is_name(text: &str, lower: &str, is_first: bool, quoted: bool) -> bool {
    let mut letters = text.chars();
    let first_is_capital = letters.next().is_some_and(char::is_uppercase);
    let later_is_capital = letters.clone().any(char::is_uppercase);
    let all_capitals = text.chars().all(|c| c.is_uppercase() || !c.is_alphabetic());
    let is_symbol = text.contains(['_', '@', '#']) || text.contains("::");
    let has_digit = text.chars().any(|c| c.is_ascii_digit()) && text.chars().any(char::is_alphabetic);
    let hump = later_is_capital && !all_capitals && !lower.ends_with("s")
        || (later_is_capital && text.chars().next().is_some_and(char::is_lowercase));
    let is_word = is_function_word(lower);
    let is_identifier = text.matches('-').count() > 1 && text.chars().all(|c| c.is_alphabetic() || c == '-');
    // Inside of a sentence, a single capital letter tells one of several: `Team A`.
    let is_letter = text.len() == 1 && first_is_capital && !is_first && text != "I";
    quoted
        || is_letter
        || is_symbol
        || is_identifier
        || dotted::is_name(text)
        || dotted::is_date_pattern(text)
        || has_digit
        || hump
        || tools::is_tool(lower.split('-').next().unwrap_or(lower))
        || (first_is_capital && !is_first && !all_capitals && !is_word && text.chars().count() > 1)
}
