//! Changes of rules: whether a message takes back a rule that its user stated before, and what it says in its place. It
//! does where it says so (`forget that`), where it orders the contrary of the rule and nothing besides, and where it
//! turns to something else on the same thing (`actually, always use npm for installs`).

use std::collections::HashSet;

use super::blocks::sentences;
use super::rule_sentences::{own_prose, states_rule, tells_of_once};
use crate::learning::phrases::{CHANGE_PATTERNS, RULE_PATTERNS};
use crate::text::terms;

/// The number of sentences of a message that are read.
const SENTENCES: usize = 6;

/// The least length of a word that is the end of another one.
const PART_MIN_CHARS: usize = 4;

/// Terms that any message about work may have.
const OF_ANY_WORK: [&str; 38] = [
    "write", "add", "file", "code", "name", "set", "creat", "put", "new", "time", "project", "want", "thing", "way",
    "work", "make", "chang", "get", "fix", "error", "help", "problem", "issu", "need", "first", "line", "call",
    "function", "method", "class", "version", "show", "schreib", "datei", "fichier", "archivo", "bestand", "arquivo",
];

/// A sentence without what takes back, or turns from, what was said before it.
pub(super) struct SaidChange<'a> {
    /// The part of the sentence that takes back what was said before. It may be empty.
    revocation: Option<&'a str>,
    turns: bool,
    pub(super) rest: &'a str,
}

impl<'a> SaidChange<'a> {
    pub(super) fn of(sentence: &'a str) -> Self {
        let patterns = &*CHANGE_PATTERNS;
        let mut said = Self { revocation: None, turns: false, rest: sentence.trim() };
        loop {
            let (revokes, turns) = (patterns.revokes.find(said.rest), patterns.turns.find(said.rest));
            let Some(found) = revokes.or(turns).or_else(|| patterns.fillers.find(said.rest)) else { return said };
            said.revocation = said.revocation.or(revokes.map(|found| found.as_str()));
            said.turns |= revokes.is_none() && turns.is_some();
            if found.end() == 0 {
                return said;
            }
            said.rest = said.rest[found.end()..].trim_start();
        }
    }

    pub(super) fn revokes(&self) -> bool {
        self.revocation.is_some()
    }
}

/// Tells for each of the rules whether a message that was said later takes it back. `is_next` is true where the message
/// is the one behind that of the rules, so that "that" may be the rules.
pub(crate) fn taken_back(message: &str, rules: &[String], is_next: bool) -> Vec<bool> {
    let mut taken_back = vec![false; rules.len()];
    let Some(prose) = own_prose(message).filter(|_| !rules.is_empty()) else { return taken_back };
    let said: Vec<String> = prose.iter().flat_map(|line| sentences(line)).take(SENTENCES).collect();
    let about: Vec<HashSet<String>> = rules.iter().map(|rule| subjects(rule)).collect();
    let of_message = subjects(message);
    let named: Vec<bool> = about.iter().map(|rule| !rule.is_disjoint(&of_message)).collect();
    for sentence in said.iter().filter(|sentence| !sentence.ends_with(['?', '？'])) {
        let change = SaidChange::of(sentence);
        let of_revocation = change.revocation.map(|said| subjects(about_what(said)));
        for (n, rule) in rules.iter().enumerate() {
            let is_revoked = of_revocation.as_ref().is_some_and(|of_revocation| match of_revocation.is_empty() {
                true => named[n] || (is_next && !named.contains(&true)),
                false => !of_revocation.is_disjoint(&about[n]),
            });
            let turns =
                change.turns && states_rule(change.rest, false) && !subjects(change.rest).is_disjoint(&about[n]);
            let differs = subjects(change.rest) != about[n];
            taken_back[n] |= is_revoked || (turns && differs) || is_contrary(change.rest, rule);
        }
    }
    taken_back
}

/// Returns what a revocation names. It is empty where that is only "that".
fn about_what(revocation: &str) -> &str {
    let found = CHANGE_PATTERNS.about.captures(revocation);
    found.and_then(|found| found.get(1).or(found.get(2))).map_or("", |named| named.as_str())
}

/// Tells whether a sentence says something in the place of a rule that was taken back: it orders, chooses or permits.
pub(super) fn says_instead(sentence: &str) -> bool {
    let patterns = &*CHANGE_PATTERNS;
    !sentence.contains(['?', '？'])
        && !tells_of_once(sentence)
        && !RULE_PATTERNS.orders.is_match(sentence)
        && (patterns.chooses.is_match(sentence) || patterns.permits.is_match(sentence))
        && !subjects(sentence).is_empty()
}

/// Tells whether a sentence orders or permits the contrary of a rule, and speaks of nothing else.
fn is_contrary(sentence: &str, rule: &str) -> bool {
    let patterns = &*CHANGE_PATTERNS;
    let is_order = patterns.chooses.is_match(sentence)
        || patterns.permits.is_match(sentence)
        || RULE_PATTERNS.languages.iter().any(|words| words.prefers.is_match(sentence))
        || patterns.denies.find(sentence).is_some_and(|denies| denies.start() < 3);
    if !is_order || tells_of_once(sentence) {
        return false;
    }
    let (mut said, denies) = (subjects(sentence), patterns.denies.is_match(sentence));
    if denies {
        // `Do not commit` says nothing of what to commit.
        let verb = &sentence[patterns.before_verb.find(sentence).map_or(0, |before| before.end())..];
        let verb = subjects(verb.split_whitespace().next().unwrap_or_default());
        said.retain(|term| !verb.contains(term));
    }
    let clauses = clauses(rule);
    let of_clause = |denied: bool| clauses.iter().any(|(about, denies)| *denies == denied && said.is_subset(about));
    !said.is_empty() && of_clause(!denies) && !of_clause(denies)
}

/// Returns what each clause of a rule is about, and whether the clause denies it.
fn clauses(rule: &str) -> Vec<(HashSet<String>, bool)> {
    let mut parts = vec![(rule, CHANGE_PATTERNS.denies.is_match(rule))];
    for words in &RULE_PATTERNS.languages {
        if let Some(contrast) = words.contrast.find(rule) {
            let (before, behind) = (&rule[..contrast.start()], &rule[contrast.start()..]);
            parts = vec![(before, CHANGE_PATTERNS.denies.is_match(before)), (behind, true)];
            break;
        }
    }
    parts.into_iter().map(|(part, denies)| (subjects(part), denies)).collect()
}

/// Tells whether two texts speak of the same thing: they share a telling term, or a word of one is the end of a word of
/// the other (`test`, `unittest`).
pub(super) fn shares_subject(one: &str, other: &str) -> bool {
    let telling = |text: &str| -> HashSet<String> {
        subjects(text).into_iter().filter(|term| !OF_ANY_WORK.contains(&term.as_str())).collect()
    };
    let (one, other) = (telling(one), telling(other));
    let is_end = |end: &str, of: &str| end.chars().count() >= PART_MIN_CHARS && of.ends_with(end);
    one.iter().any(|term| other.contains(term) || other.iter().any(|of| is_end(term, of) || is_end(of, term)))
}

/// Returns the terms of a text that say what it is about, and the options of commands.
pub(super) fn subjects(text: &str) -> HashSet<String> {
    let words = text.split(|c: char| c.is_whitespace() || ",;:!?()\"“”«»`".contains(c));
    let options = words.map(|word| word.trim_end_matches('.')).filter(|word| word.starts_with('-') && word.len() > 1);
    let options: HashSet<String> = options.map(str::to_owned).collect();
    let rest = CHANGE_PATTERNS.little.replace_all(text, " ");
    let rest = CHANGE_PATTERNS.denies.replace_all(&rest, " ");
    let rest = CHANGE_PATTERNS.permits.replace_all(&rest, " ");
    let named = terms::query(&rest).into_iter().map(|of| of.term).filter(|term| term.chars().count() > 2);
    named.chain(options).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Always use yarn for installs.", "Forget that, do not use yarn. Always use npm for installs.")]
    #[case("From now on we use pnpm for everything.", "Actually, forget that. We stay with npm.")]
    #[case("Never use mocks in the tests.", "Scratch that, mocks are fine.")]
    #[case("Ab jetzt immer Tabs zum Einrücken verwenden.", "Doch nicht, nimm vier Leerzeichen.")]
    #[case("Always run tests with pytest -x.", "No wait, that was wrong: do not use -x.")]
    #[case("Always sign the commits.", "I changed my mind, we do not sign commits.")]
    #[case("Always use yarn for installs.", "Actually, always use npm for installs.")]
    #[case("Utilise toujours des UUID comme clés.", "Oublie ça, garde des entiers.")]
    #[case("Usa siempre Decimal para los importes.", "Olvida eso, usa enteros en céntimos.")]
    #[case("Usa sempre Decimal per gli importi.", "Anzi no, usa interi in centesimi.")]
    #[case("Gebruik altijd Zod voor de validatie.", "Vergeet dat maar, gebruik Valibot.")]
    #[case("Sempre use aspas simples no código.", "Esquece isso, use aspas duplas.")]
    #[case("決して本番環境で直接SQLを実行しないこと。", "それは忘れてください。")]
    #[case("永远不要在周五部署。", "算了，周五可以部署。")]
    fn a_message_takes_back_the_rule_before_it(#[case] rule: &str, #[case] message: &str) {
        assert_eq!(taken_back(message, &[rule.to_owned()], true), [true]);
    }

    #[rstest]
    #[case("Always use yarn for installs.", "That did not work, the build fails.")]
    #[case("Always use yarn for installs.", "Never use yarn on the CI server.")]
    #[case("Always use yarn for installs.", "Do not use yarn for now.")]
    #[case("Always use yarn for installs.", "Never mind, I found it myself.")]
    #[case("Always use yarn for installs.", "Don't forget that.")]
    #[case("Always commit with a ticket number.", "Do not commit.")]
    #[case("We use pnpm here, not npm.", "No, use pnpm!")]
    #[case("Merk dir: immer Tabs verwenden.", "Vergiss das nicht.")]
    #[case("Gebruik altijd Zod voor de validatie.", "Vergeet dat niet.")]
    #[case("Never use mocks in the tests.", "Should I forget that?")]
    fn other_messages_leave_it(#[case] rule: &str, #[case] message: &str) {
        assert_eq!(taken_back(message, &[rule.to_owned()], true), [false]);
    }

    #[test]
    fn of_several_rules_those_are_taken_back_that_the_message_names_or_else_all_that_were_said_last() {
        let rules = ["Always use yarn for installs.".to_owned(), "Never commit to main.".to_owned()];
        assert_eq!(taken_back("Forget that about yarn, use npm.", &rules, true), [true, false]);
        assert_eq!(taken_back("Forget that, do not use yarn.", &rules, false), [true, false]);
        assert_eq!(taken_back("Forget that.", &rules, true), [true, true]);
        assert_eq!(taken_back("Forget that.", &rules, false), [false, false]);
    }
}
