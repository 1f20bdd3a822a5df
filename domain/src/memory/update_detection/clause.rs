//! A clause, read as a subject with its qualifiers and the values that are said of it.

use std::collections::BTreeSet;

use super::cleft;
use super::former_value;
use super::lexicon;
use super::outline::Outline;
use super::phrase::{self, Phrase};
use super::plans::{self, Outlook};
use super::reason;
use super::several;
use super::tense;
use super::term::{Role, Term};
use super::token::Token;
use super::tools;
use super::unread::{self, UnreadClause};
use super::values::{ClauseValue, ValueKind};
use super::verb::{self, Verb};

/// The most words of a phrase. A longer text without a known verb is a sentence with an unknown one.
const MOST_WORDS_OF_PHRASE: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clause {
    pub subject: Vec<Term>,
    pub values: Vec<ClauseValue>,
    /// The words of the value before, as far as the clause tells it.
    pub former: BTreeSet<String>,
    /// True where the clause affirms. `never`, `disabled` and `forbidden` deny; two of them affirm.
    pub is_affirmed: bool,
    /// True where the clause says that something is not allowed, or advises against it.
    pub bans: bool,
    /// True where the clause speaks of what may be, or of what happened once.
    pub is_doubtful: bool,
    /// True where the clause speaks of the sentence before, as in `This holds for staging`, or is only a phrase.
    pub refers_back: bool,
    /// True where the clause adds a value to those there are.
    pub is_added: bool,
    /// True where the clause says that something is another one from now on.
    pub announces: bool,
    /// True where the clause speaks of what was.
    pub is_past: bool,
    /// True where the verb may have several objects, none of which takes the place of another.
    pub is_additive: bool,
    /// True where the clause tells one of several things, whatever they are: `supports YAML`.
    pub tells_one_of_several: bool,
    /// True where the clause tells when somebody is absent.
    pub tells_an_absence: bool,
    /// True where the title speaks of several things: `Sponsors`.
    pub is_of_several: bool,
    /// True where the clause says what one of several is: `a customer of ours is Acme`.
    pub is_indefinite: bool,
    /// True where the subject does something to an object, and may do it to others.
    pub acts: bool,
    /// True where the clause begins with its verb, as in `Use tabs`.
    pub is_advice: bool,
    /// True where the clause tells what somebody did once.
    pub is_deed: bool,
    /// True where the clause tells what happened on a day, or what a single day is like.
    pub tells_of_a_day: bool,
    /// The clause in the order of its words, where its verb is not known.
    pub unread: Option<UnreadClause>,
    pub outlook: Outlook,
    pub outline: Outline,
    /// All words of the subject and of the values, in the spelling that is compared.
    pub said: BTreeSet<String>,
}

impl Clause {
    pub(super) fn qualifiers(&self) -> impl Iterator<Item = &Term> {
        self.subject.iter().filter(|term| term.role == Role::Qualifier)
    }

    /// Tells whether the clause says anything of its own that another clause could say differently.
    pub(super) fn is_claim(&self) -> bool {
        !self.values.is_empty() || self.subject.iter().any(|term| matches!(term.role, Role::Topic | Role::Action))
    }
}

/// Reads the words of a clause. A clause without a subject speaks of `inherited`, the subject of the clause before.
pub(super) fn read(tokens: &[Token], inherited: &[Term]) -> Clause {
    let spelled = unread::without_false_denial(tokens);
    let tokens = spelled.as_deref().unwrap_or(tokens);
    let plain = cleft::plain(tokens);
    let tokens = plain.as_deref().unwrap_or(tokens);
    let announces = tense::announces(tokens);
    // It speaks of a word of the clause before, and not of its subject.
    let is_relative = tokens.first().is_some_and(|token| matches!(&*token.lower, "who" | "whose" | "which"));
    let (told, reasons) = reason::split(tokens);
    let (tokens, mut former) = former_value::split(&told);
    // A name in the reason for a choice is what was not chosen.
    former.extend(reasons.into_iter().filter(|token| token.is_name).map(|token| token.lower));
    let is_event = !announces && tense::tells_once(&tokens);
    let is_doubtful = tense::doubts(&tokens) || plans::rejects(&tokens);
    let outlook = Outlook::of(&tokens);
    let is_past = tense::is_over(&tokens) || plans::is_over(&tokens);
    let was_elsewhere = plans::was_elsewhere(&tokens);
    let tells_of_a_day = tense::tells_of_a_day(&tokens);
    let mut reading = Reading::default();
    let tokens = reading.polarity(&tokens);
    reading.outline.measure(&tokens, reading.negations % 2 == 1);
    let was = reading.clause(&tokens, inherited);
    // An interval tells how often something happens.
    if tokens.iter().any(|token| matches!(&*token.lower, "interval" | "frequency" | "cadence")) {
        reading.values.iter_mut().for_each(ClauseValue::recur);
        reading.outline.recur();
    }
    let of_values = reading.values.iter().flat_map(|value| value.words.iter().chain(&value.of));
    let said = reading.subject.iter().flat_map(|term| [term.word.clone(), lexicon::canonical(&term.word)]);
    let said = said.chain(of_values.flat_map(|word| [word.clone(), lexicon::canonical(word)])).collect();
    let unread = unread::read(&tokens);
    let was = was || (was_elsewhere && unread.as_ref().is_some_and(UnreadClause::is_foreign));
    Clause {
        subject: reading.subject,
        values: reading.values,
        former,
        bans: reading.bans,
        is_affirmed: reading.negations % 2 == 0,
        is_doubtful: is_doubtful || is_relative || is_event,
        refers_back: tokens.first().is_some_and(|token| {
            lexicon::is_preposition(&token.lower)
                || matches!(&*token.lower, "this" | "that" | "these" | "those" | "it" | "only" | "applies" | "valid")
        }) || (tokens.len() <= MOST_WORDS_OF_PHRASE && verb::main(&tokens).is_none()),
        is_added: tense::adds(&tokens),
        announces,
        is_past: is_past || was,
        is_additive: reading.is_additive,
        tells_one_of_several: several::tells_one(&tokens),
        tells_an_absence: several::tells_an_absence(&tokens),
        is_of_several: false,
        is_indefinite: reading.outline.is_copula
            && tokens.first().is_some_and(|token| matches!(&*token.lower, "a" | "an" | "one" | "another" | "some")),
        acts: reading.acts,
        is_deed: reading.is_deed,
        tells_of_a_day,
        unread,
        outlook,
        is_advice: reading.is_advice,
        outline: reading.outline.finish(inherited),
        said,
    }
}

/// Tells whether words are nothing but a name. Before a verb of the third person, a word with an `s` is no plural.
fn is_bare_name(tokens: &[Token], verb: &Token) -> bool {
    let is_singular = verb.lower.ends_with('s') && verb.lower != "was";
    let may_be_name = |token: &Token| phrase::may_be_name(token) && (is_singular || !phrase::may_be_plural(token));
    !tokens.is_empty()
        && tokens.len() <= 3
        && tokens.iter().enumerate().all(|(at, token)| token.is_name || (at == 0 && may_be_name(token)))
}

fn is_passive(verb: &[Token]) -> bool {
    verb.len() > 1
        && matches!(&*verb[0].lower, "is" | "are" | "was" | "were" | "be" | "get" | "gets" | "got" | "has" | "have")
}

/// Tells whether words are a name with the number of its version.
fn is_version(tokens: &[Token]) -> bool {
    tokens.len() > 1 && tokens.last().is_some_and(|last| last.lower.starts_with(|c: char| c.is_ascii_digit()))
}

/// Tells whether a clause says of its subject what one alone does or has: `Leo cuts the releases`.
fn says_of_one(tokens: &[Token], verb: &Verb) -> bool {
    let behind = tokens[verb.to..].iter().map(|token| &*token.lower);
    verb.to == verb.from + 1 && lexicon::is_exclusive_to_one(&tokens[verb.from].lower, behind)
}

/// Tells whether a word begins a phrase that only one thing can be: `the owner`.
fn begins_definite(word: &str) -> bool {
    lexicon::is_possessive(word) || matches!(word, "the" | "responsible" | "oncall")
}

#[derive(Default)]
struct Reading {
    subject: Vec<Term>,
    values: Vec<ClauseValue>,
    negations: usize,
    bans: bool,
    /// True where the subject does something to an object.
    acts: bool,
    is_deed: bool,
    /// True where the clause begins with its verb, as in `Use tabs`, or where its subject may do several things.
    is_advice: bool,
    is_additive: bool,
    outline: Outline,
}

impl Reading {
    /// Takes negations out, and writes a word such as `disabled` as the word that it is the opposite of. Both are
    /// counted.
    fn polarity(&mut self, tokens: &[Token]) -> Vec<Token> {
        let mut rest = Vec::with_capacity(tokens.len());
        let mut in_condition = false;
        for (at, token) in tokens.iter().enumerate() {
            in_condition &= !at.checked_sub(1).is_some_and(|before| tokens[before].pauses);
            in_condition |= matches!(&*token.lower, "when" | "whenever" | "if" | "unless");
            // Something left out is a detail behind a pause: `in dollars, without tax`.
            let is_detail = token.lower == "without" && at > 0 && tokens[at - 1].pauses;
            if lexicon::is_negation(&token.lower) && !token.is_name && !is_detail {
                // A condition that is not met denies nothing.
                self.negations += usize::from(!in_condition);
                continue;
            }
            let is_last = token.pauses || at + 1 == tokens.len();
            let before = at.checked_sub(1).map(|before| &tokens[before]);
            let is_set = before.is_some_and(|before| {
                before.separates || matches!(&*before.lower, "is" | "are" | "be" | "switched" | "turned" | "set")
            });
            let narrows = |next: &Token| matches!(&*next.lower, "in" | "for" | "by" | "on" | "at");
            let is_last = is_last || (is_set && narrows(&tokens[at + 1]));
            let is_switch = matches!(&*token.lower, "on" | "off");
            // A manual is a book, unless it tells how something else is: `manual releases`, `releases are manual`.
            let next = tokens.get(at + 1).filter(|_| !token.pauses);
            let is_book = token.lower == "manual"
                && !before.is_some_and(|before| lexicon::is_light_verb(&before.lower))
                && next.is_none_or(|next| lexicon::is_light_verb(&next.lower) || lexicon::is_preposition(&next.lower));
            // German writes a switch that is on or off with words that are others elsewhere: `ist aus`.
            let is_german =
                before.is_some_and(|before| matches!(&*before.lower, "ist" | "sind" | "bleibt" | "bleiben"));
            let word = match &*token.lower {
                "an" if is_german && is_last => "on",
                "aus" if is_german && is_last => "off",
                word => word,
            };
            match lexicon::opposite(word).filter(|_| (!is_switch || is_last) && !is_book) {
                Some((base, affirmed)) => {
                    self.negations += usize::from(!affirmed);
                    self.bans |= matches!(base, "permission" | "usage");
                    rest.push(Token { lower: base.to_owned(), is_name: false, ..token.clone() });
                }
                None => rest.push(token.clone()),
            }
        }
        rest
    }

    /// Reads a clause, and returns whether its verb tells what was.
    fn clause(&mut self, tokens: &[Token], inherited: &[Term]) -> bool {
        let before_last = tokens.len().saturating_sub(1);
        if let Some(at) = tokens[..before_last].iter().position(|token| token.separates) {
            let (left, right) = tokens.split_at(at + 1);
            let verb = verb::main(right);
            self.left(left);
            if let Some(verb) = verb {
                self.predicate(right, &verb, &[]);
                return verb.is_past;
            }
            let phrases = phrase::split(right, true);
            self.outline.add(&phrases, false);
            self.values_of(&phrases, true);
            return false;
        }
        match verb::main(tokens) {
            Some(verb) => {
                self.is_advice = tokens[..verb.from].iter().all(|token| lexicon::is_filler(&token.lower));
                self.predicate(tokens, &verb, inherited);
                verb.is_past
            }
            None => {
                let phrases = phrase::split(tokens, false);
                self.outline.add(&phrases, false);
                self.fragment(&phrases);
                if !self.subject.iter().any(|term| matches!(term.role, Role::Topic | Role::Qualifier)) {
                    self.subject.extend(inherited.iter().cloned());
                }
                false
            }
        }
    }

    /// Reads a clause without a verb. Typed values and tools are its values, other words its subject.
    fn fragment(&mut self, phrases: &[Phrase]) {
        for phrase in phrases {
            if phrase.is_main() {
                self.values.extend(phrase.values.iter().filter(|value| value.kind != ValueKind::Phrase).cloned());
                self.add(&phrase.words, Role::Topic);
            } else {
                self.qualify(phrase);
            }
        }
        self.promote(phrases);
    }

    fn predicate(&mut self, tokens: &[Token], verb: &Verb, inherited: &[Term]) {
        let left = phrase::split(&tokens[..verb.from], false);
        let right = phrase::split(&tokens[verb.to..], true);
        let next = tokens.get(verb.to).map_or("", |next| &next.lower);
        let is_permission = tokens[..verb.from].iter().any(|token| matches!(&*token.lower, "may" | "can"));
        let is_of_one = says_of_one(tokens, verb);
        // A version that is required is one, while one that is supported is one of several.
        let is_needed =
            next == "obligation" || tokens[verb.from + 1..verb.to].iter().any(|token| token.lower == "needed");
        let is_required = is_needed && is_version(&tokens[..verb.from]);
        let is_definite =
            verb.is_role || is_of_one || is_required || next == "as" || (verb.is_copula && begins_definite(next));
        let bare = &tokens[..verb.from];
        match is_definite && is_bare_name(bare, &tokens[verb.from]) {
            true => self.outline.begin_with(phrase::name(bare)),
            false => self.outline.add(&left, true),
        }
        self.outline.add(&right, false);
        // Several people may do the same work, while one tool does it.
        let is_shared = lexicon::is_shared_work(&tokens[verb.from].lower)
            && !tokens[..verb.from].iter().any(|token| tools::is_tool(&token.lower));
        self.outline.set_verb(verb, next, is_definite && !is_shared, is_permission && tokens[verb.from].lower != "be");
        self.outline.tells_a_duty = is_of_one || next == "oncall";
        self.outline.is_passive = !verb.is_copula && is_passive(&tokens[verb.from..verb.to]);
        let says_who = verb.to < tokens.len()
            && self.is_holder(&tokens[..verb.from], &tokens[verb.from], verb, tokens.get(verb.to), is_of_one);
        if says_who {
            // One may do several things.
            self.is_advice = true;
            self.values.extend(phrase::name(&tokens[..verb.from]));
            self.actions(verb);
            for phrase in &right {
                if phrase.is_main() {
                    self.add(&phrase.words, Role::Topic);
                    for value in phrase.values.iter().filter(|value| value.kind != ValueKind::Phrase) {
                        self.add(&value.words.iter().cloned().collect::<Vec<_>>(), Role::Qualifier);
                    }
                } else {
                    self.qualify(phrase);
                }
            }
            return;
        }
        // An act on one thing may be done to others as well: `CI caches the modules`.
        let acts = verb.takes_object && !verb.actions.is_empty() && !is_passive(&tokens[verb.from..verb.to]);
        // A deed that somebody did once says nothing of what else was done: `Sara translated it into Spanish`.
        let word = &tokens[verb.from].lower;
        // A verb such as `feed` only ends like a past.
        let is_past = word.ends_with("ed") && lexicon::verb(word) != *word;
        let is_deed = verb.to == verb.from + 1 && is_past && !lexicon::is_light_verb(word);
        self.is_additive = verb.is_additive || (is_deed && !former_value::is_change(word));
        self.acts = acts;
        self.is_deed = is_deed && !former_value::is_change(word);
        for phrase in &left {
            if phrase.is_main() {
                self.topic(phrase);
            } else {
                self.qualify(phrase);
            }
        }
        if !self.subject.iter().any(|term| matches!(term.role, Role::Topic | Role::Qualifier)) {
            self.subject.extend(inherited.iter().cloned());
        }
        let has_none = !self.subject.iter().any(|term| matches!(term.role, Role::Topic | Role::Qualifier));
        self.actions(verb);
        self.values_of(&right, false);
        if has_none {
            let purposes: Vec<&String> = right
                .iter()
                .filter(|phrase| matches!(&*phrase.opening, "for" | "as"))
                .flat_map(|phrase| &phrase.words)
                .collect();
            let of_purpose =
                self.subject.iter_mut().filter(|term| term.role == Role::Qualifier && purposes.contains(&&term.word));
            of_purpose
                .filter(|term| lexicon::environment(&term.word).is_none())
                .for_each(|term| term.role = Role::Topic);
        }
        if verb.takes_object && self.object(&right) {
            // Whoever does something with the object is not what the clause speaks of, and narrows it.
            let actors: Vec<&String> = left.iter().flat_map(|phrase| &phrase.words).collect();
            let of_actors =
                self.subject.iter_mut().filter(|term| term.role == Role::Topic && actors.contains(&&term.word));
            of_actors.for_each(|term| term.role = Role::Qualifier);
        }
    }

    /// Tells whether the subject of a clause is what may be exchanged: `Ann owns billing`, `Paris is the capital of
    /// France`.
    fn is_holder(&self, left: &[Token], verb_word: &Token, verb: &Verb, next: Option<&Token>, is_of_one: bool) -> bool {
        let Some(next) = next else { return false };
        let definite = begins_definite(&next.lower);
        is_bare_name(left, verb_word)
            && (verb.is_role && !lexicon::is_preposition(&next.lower) && phrase::begins_plain(next)
                || verb.is_copula && definite
                || verb.is_for
                || is_of_one)
    }

    /// Adds the words left of the value to the subject. Names and numbers among them narrow it.
    fn topic(&mut self, phrase: &Phrase) {
        self.add(&phrase.words, Role::Topic);
        for value in phrase.values.iter().filter(|value| value.kind != ValueKind::Phrase) {
            self.add(&value.words.iter().cloned().collect::<Vec<_>>(), Role::Qualifier);
        }
    }

    fn left(&mut self, tokens: &[Token]) {
        let phrases = phrase::split(tokens, false);
        self.outline.add(&phrases, true);
        for phrase in &phrases {
            if phrase.is_main() { self.topic(phrase) } else { self.qualify(phrase) }
        }
    }

    fn actions(&mut self, verb: &Verb) {
        self.add(&verb.actions, Role::Action);
    }

    /// Takes the values from the main phrase behind the verb. The other phrases narrow the subject.
    fn values_of(&mut self, phrases: &[Phrase], is_marked: bool) {
        for phrase in phrases {
            if !phrase.is_main() {
                self.qualify(phrase);
                continue;
            }
            let has_typed = phrase.values.iter().any(|value| value.kind != ValueKind::Phrase);
            if !has_typed {
                self.values.extend(phrase.values.iter().cloned());
                continue;
            }
            let numeric =
                phrase.values.iter().any(|value| matches!(value.kind, ValueKind::Number | ValueKind::Amount(_)));
            self.values.extend(phrase.values.iter().filter(|value| value.kind != ValueKind::Phrase).cloned());
            let role = if numeric || is_marked { Role::Topic } else { Role::Detail };
            self.add(&phrase.words, role);
        }
        self.promote(phrases);
    }

    /// Makes the last thing that narrows the subject the value, where nothing else is one.
    fn promote(&mut self, phrases: &[Phrase]) {
        if !self.values.is_empty() {
            return;
        }
        let typed = |phrase: &&Phrase| {
            !phrase.is_main()
                && (!phrase.is_condition || matches!(&*phrase.opening, "after" | "until" | "before"))
                && phrase.values.iter().any(|value| value.kind != ValueKind::Phrase)
        };
        let Some(phrase) = phrases.iter().rev().find(typed) else { return };
        self.take(phrase);
    }

    /// Reads `We store sessions in Redis`: the object is the subject, and what stands behind the preposition is the
    /// value. Returns false for another clause.
    fn object(&mut self, phrases: &[Phrase]) -> bool {
        let Some(object) = phrases.iter().find(|phrase| phrase.is_main()) else { return false };
        let is_place = |phrase: &&Phrase| {
            !phrase.is_main()
                && !phrase.is_condition
                && phrase.is_object_of_verb()
                && !phrase.words.iter().any(|word| lexicon::environment(word).is_some())
        };
        let has_typed = |phrase: &&Phrase| phrase.values.iter().any(|value| value.kind != ValueKind::Phrase);
        let typed_object = object.values.iter().any(|value| value.kind != ValueKind::Phrase);
        let places: Vec<&Phrase> = phrases.iter().take_while(|phrase| !phrase.is_condition).filter(is_place).collect();
        let Some(place) = places.iter().find(|phrase| has_typed(phrase) || phrase.is_goal()).or(places.first()) else {
            return false;
        };
        if typed_object && !((place.is_goal() || place.is_means()) && has_typed(place)) {
            return false;
        }
        let place = (*place).clone();
        // One thing may go to many places, and is done with one tool.
        self.is_additive &= !place.is_means();
        self.values.clear();
        self.topic(object);
        self.take(&place);
        true
    }

    /// Turns the words of a phrase from qualifiers into values.
    fn take(&mut self, phrase: &Phrase) {
        let words: BTreeSet<&String> =
            phrase.words.iter().chain(phrase.values.iter().flat_map(|value| value.words.iter())).collect();
        self.subject.retain(|term| term.role != Role::Qualifier || !words.contains(&term.word));
        let has_typed = phrase.values.iter().any(|value| value.kind != ValueKind::Phrase);
        self.values.extend(phrase.values.iter().filter(|value| !has_typed || value.kind != ValueKind::Phrase).cloned());
        if has_typed {
            self.add(&phrase.words, Role::Detail);
        }
    }

    fn qualify(&mut self, phrase: &Phrase) {
        self.add(&phrase.words, Role::Qualifier);
        for value in phrase.values.iter().filter(|value| value.kind != ValueKind::Phrase) {
            self.add(&value.words.iter().cloned().collect::<Vec<_>>(), Role::Qualifier);
        }
    }

    fn add(&mut self, words: &[String], role: Role) {
        for word in words {
            let role = if phrase::is_detail(word) {
                Role::Detail
            } else if role != Role::Detail && lexicon::environment(word).is_some() {
                Role::Qualifier
            } else {
                role
            };
            self.subject.push(Term { word: word.clone(), role });
        }
    }
}
