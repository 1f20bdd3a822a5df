//! A statement, read once and compared often.

use std::collections::BTreeSet;

use super::clause::{self, Clause};
use super::term::{Role, Term};
use super::token::{self, Token};
use super::{former_value, lexicon, plans, verb};

/// The most bytes of a text that are read. What is said beyond that does not make a statement about one thing.
const READ_BYTES: usize = 8_192;
const MOST_WORDS: usize = 600;
/// The most clauses of a statement, as the time to compare two grows with the product of their clauses.
const MOST_CLAUSES: usize = 16;

/// The statement of a memory, split into clauses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statement {
    clauses: Vec<Clause>,
    /// The words of the title that say what the statement is about.
    context: BTreeSet<String>,
    /// All words of the clauses and of the title.
    said: BTreeSet<String>,
}

impl Statement {
    /// Reads a title, which may be empty, and a content. An environment that narrows the title narrows the content,
    /// too.
    pub fn of(title: &str, content: &str) -> Self {
        let mut context = BTreeSet::new();
        let mut clauses = clauses(content, &[]);
        let is_told = !title.trim().is_empty()
            && !content.to_lowercase().starts_with(&title.trim().trim_end_matches(['.', '…']).to_lowercase());
        if is_told {
            let of_title = self::clauses(title, &[]);
            let topics: Vec<Term> = of_title
                .iter()
                .filter(|clause| clause.values.is_empty())
                .flat_map(|clause| clause.subject.iter().cloned())
                .collect();
            if clauses.iter().any(Clause::has_no_subject) && !topics.is_empty() {
                clauses = self::clauses(content, &topics);
            }
            let narrows: Vec<Term> = of_title
                .iter()
                .flat_map(Clause::qualifiers)
                .filter(|term| lexicon::environment(&term.word).is_some())
                .cloned()
                .collect();
            clauses.iter_mut().for_each(|clause| clause.narrow(&narrows));
            let of_subject = of_title.iter().flat_map(|clause| &clause.subject);
            let about = of_subject.filter(|term| matches!(term.role, Role::Topic | Role::Qualifier));
            context.extend(about.map(|term| term.word.clone()));
            clauses.extend(of_title);
        }
        let several = several_things(title).filter(|_| is_told);
        for clause in &mut clauses {
            clause.is_of_several = several.as_ref().is_some_and(|things| !clause.tells_of(things));
        }
        let said = clauses.iter().flat_map(|clause| clause.said.iter().cloned()).collect();
        // A sentence that only narrows is about all of them: `This holds for staging only.`
        let narrows: Vec<Term> = clauses
            .iter()
            .filter(|clause| clause.only_narrows())
            .flat_map(|clause| clause.qualifiers().cloned().collect::<Vec<_>>())
            .collect();
        clauses.retain(|clause| !clause.only_narrows());
        clauses.iter_mut().for_each(|clause| clause.narrow(&narrows));
        clauses.truncate(MOST_CLAUSES);
        Self { clauses, context, said }
    }

    /// Tells whether the titles allow that the statements speak of the same thing. They do not where each title names
    /// what the other statement does not.
    pub(super) fn shares_context(&self, other: &Self) -> bool {
        self.context.is_subset(&other.said) || other.context.is_subset(&self.said)
    }

    pub(super) fn claims(&self) -> impl Iterator<Item = &Clause> {
        self.clauses.iter().filter(|clause| clause.is_claim())
    }
}

impl Clause {
    /// Tells whether a word stands in its subject or in its values, as a name or as another word.
    pub(super) fn says(&self, word: &str) -> bool {
        self.said.contains(word) || self.said.contains(&lexicon::canonical(word))
    }

    /// Tells whether it tells something of all these things, rather than what one of them is: `Spare keys hang in the
    /// hall`.
    fn tells_of(&self, things: &str) -> bool {
        !self.outline.is_copula && self.outline.parts.iter().any(|part| part.words.iter().any(|word| word == things))
    }

    pub(super) fn has_no_subject(&self) -> bool {
        !self.subject.iter().any(|term| matches!(term.role, Role::Topic | Role::Qualifier))
    }

    fn only_narrows(&self) -> bool {
        self.refers_back
            && self.values.is_empty()
            && self.qualifiers().next().is_some()
            && self.subject.iter().all(|term| matches!(term.role, Role::Qualifier | Role::Detail))
    }

    fn narrow(&mut self, terms: &[Term]) {
        let new = terms.iter().filter(|term| !self.says(&term.word)).cloned().collect::<Vec<_>>();
        self.outline.narrow(new.iter().map(|term| term.word.clone()));
        self.said.extend(new.iter().map(|term| term.word.clone()));
        self.subject.extend(new);
    }
}

/// Tells whether a title speaks of several things, such as `Open ports of the gateway`.
pub(super) fn names_several(title: &str) -> bool {
    several_things(title).is_some()
}

/// Returns the noun for the things that a title speaks of, in the spelling that is compared. None where its first noun
/// phrase is no plural.
fn several_things(title: &str) -> Option<String> {
    let words: Vec<String> = title.split_whitespace().map(str::to_lowercase).collect();
    let noun = words.iter().take_while(|word| !lexicon::is_preposition(word)).last()?;
    (noun.ends_with('s') && !noun.ends_with("ss") && noun != "hours").then(|| lexicon::canonical(noun))
}

fn clauses(text: &str, subject: &[Term]) -> Vec<Clause> {
    let end = (0..=READ_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let (mut all, mut inherited) = (Vec::<Clause>::new(), subject.to_vec());
    let sentences = token::sentences(&text[..end], MOST_WORDS);
    let dismissed: Vec<String> = sentences.iter().flat_map(|sentence| former_value::dismissed(sentence)).collect();
    // The thing that `that one` tells from others is one of several.
    let tells_apart = |sentence: &Vec<Token>| {
        sentence.windows(2).next().is_some_and(|pair| {
            matches!((&*pair[0].lower, &*pair[1].lower), ("that" | "this", "one") | ("the", "other" | "others"))
        })
    };
    let is_one_of_several = sentences.iter().any(tells_apart);
    let states = |sentence: &Vec<Token>| !sentence.last().is_some_and(|last| last.asks);
    for sentence in sentences.into_iter().filter(states) {
        let is_taken_back = plans::returns(&sentence);
        for tokens in segments(&sentence) {
            if all.len() >= 2 * MOST_CLAUSES {
                return all;
            }
            let mut clause = clause::read(tokens, &inherited);
            clause.is_added |= is_one_of_several;
            clause.is_doubtful |= is_taken_back;
            clause.former.extend(dismissed.iter().cloned());
            if !clause.has_no_subject() {
                inherited = clause.subject.iter().filter(|term| term.role != Role::Action).cloned().collect();
            }
            all.push(clause);
        }
    }
    all
}

/// Splits a sentence into clauses, each with a verb or a mark of its own. Lists and conditions are not cut.
fn segments(sentence: &[Token]) -> Vec<&[Token]> {
    let (mut segments, mut from) = (Vec::new(), 0);
    for at in 1..sentence.len() {
        let (before, rest) = (&sentence[from..at], &sentence[at..]);
        if announces(before, rest) || joins_clauses(before, rest) {
            segments.push(before);
            from = at;
        }
    }
    if from < sentence.len() {
        segments.push(&sentence[from..]);
    }
    segments
}

/// Tells whether a mark behind a whole sentence announces another one: `Barrels are forbidden: import the file itself`.
fn announces(before: &[Token], rest: &[Token]) -> bool {
    before.last().is_some_and(|last| last.separates)
        && verb::main(before).is_some_and(|verb| verb.to < before.len() || verb.to > verb.from + 1)
        && verb::main(rest).is_some()
}

/// Tells whether another clause begins with `rest`, behind a pause or with a word that joins clauses.
fn joins_clauses(before: &[Token], rest: &[Token]) -> bool {
    let (Some(last), Some(first)) = (before.last(), rest.first()) else { return false };
    let joins = matches!(&*first.lower, "and" | "but" | "while" | "whereas" | "which" | "although" | "though" | "so");
    // A reason says nothing of its own.
    let is_reason = matches!(&*first.lower, "because" | "since" | "as" | "given");
    if is_reason || !(last.pauses || joins) || former_value::joins_contrast(before, rest) {
        return false;
    }
    let has_predicate = |tokens: &[Token]| tokens.iter().any(|token| token.separates) || verb::main(tokens).is_some();
    let until = rest.iter().position(|token| token.pauses).map_or(rest.len(), |pause| pause + 1);
    let is_told_apart = joins && last.pauses && rest.len() > 4;
    has_predicate(before) && (is_told_apart || has_predicate(&rest[..until]))
}
