//! The phrases of a clause: the main one, and those that a preposition or a condition begins.

use super::dotted;
use super::lexicon;
use super::token::Token;
use super::tools;
use super::values::{self, ClauseValue, ValueKind};

/// Words that tell no subject from another.
const DETAILS: &str = "service system project server version number component instance team company tool library \
    framework provider engine default standard official overall total main primary whole person people guy product \
    solution approach choice option currently new software stack preferred obligation permission usage automatic count";
/// Verbs that a purpose is told with: `to avoid downtime`.
const PURPOSES: &str = "avoid save reduce speed keep make help prevent fix improve simplify cut stop ensure stay match \
    be catch give protect get allow handle have free ease leave cope support do";

/// Words that belong together, and the values among them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Phrase {
    /// The preposition or condition it begins with. It is empty for the main phrase.
    pub opening: String,
    pub is_condition: bool,
    /// True where the first word is a verb: `for sending mail`.
    pub is_action: bool,
    /// True where the phrase names several things.
    pub lists: bool,
    /// The plain words that tell what it is about, in the spelling that is compared.
    pub words: Vec<String>,
    /// All values. The plain words of each part of a list are one value of the kind phrase.
    pub values: Vec<ClauseValue>,
}

impl Phrase {
    pub(super) fn is_main(&self) -> bool {
        self.opening.is_empty()
    }

    /// Tells whether a verb may have its value behind this preposition: `store it in Redis`.
    pub(super) fn is_object_of_verb(&self) -> bool {
        matches!(
            &*self.opening,
            "to" | "in" | "on" | "with" | "at" | "via" | "into" | "through" | "by" | "after" | "onto" | "for" | "as"
        ) && (self.opening != "for"
            || self.values.iter().any(|value| matches!(value.kind, ValueKind::Amount(_) | ValueKind::Number)))
    }

    /// Tells whether it names the tool that something is done with.
    pub(super) fn is_means(&self) -> bool {
        self.opening == "with" && self.values.iter().any(|value| value.kind == ValueKind::Name)
    }

    pub(super) fn is_goal(&self) -> bool {
        matches!(&*self.opening, "to" | "into" | "onto")
    }
}

pub(super) fn is_detail(word: &str) -> bool {
    thread_local!(static DETAIL: Vec<String> = DETAILS.split_whitespace().map(lexicon::canonical).collect());
    DETAIL.with(|details| details.iter().any(|detail| detail == word))
}

/// Tells whether the first word of a sentence may be a name, though every first word has a capital.
pub(super) fn may_be_name(token: &Token) -> bool {
    let word = token.lower.as_str();
    token.text.starts_with(char::is_uppercase)
        && !lexicon::is_filler(word)
        && !lexicon::is_preposition(word)
        && !lexicon::is_condition(word)
        && !lexicon::is_negation(word)
}

pub(super) fn may_be_plural(token: &Token) -> bool {
    token.lower.ends_with('s') && !token.lower.ends_with("ss")
}

/// Tells whether a word begins a noun phrase rather than a value with a type.
pub(super) fn begins_plain(token: &Token) -> bool {
    values::typed(std::slice::from_ref(token), 0).is_none()
}

/// Makes one name of the words. None where there are no words.
pub(super) fn name(tokens: &[Token]) -> Option<ClauseValue> {
    (!tokens.is_empty())
        .then(|| ClauseValue::new(ValueKind::Name, tokens.iter().map(|token| dotted::bare_name(&token.lower))))
}

/// Splits words into phrases. Where they stand behind a verb, a preposition that comes first belongs to the verb.
pub(super) fn split(tokens: &[Token], behind_verb: bool) -> Vec<Phrase> {
    let builder = Builder { phrases: vec![Phrase::default()], ..Builder::default() };
    let mut reader = PhraseReader { tokens, behind_verb, is_begun: !behind_verb, builder };
    let mut at = 0;
    while at < tokens.len() {
        at += reader.several_words(at).unwrap_or_else(|| reader.one_word(at));
    }
    reader.builder.finish()
}

/// The reading of words into phrases.
struct PhraseReader<'a> {
    tokens: &'a [Token],
    behind_verb: bool,
    /// True where a preposition begins a phrase, and belongs to no verb before it.
    is_begun: bool,
    builder: Builder,
}

impl PhraseReader<'_> {
    /// Reads an idiom, a value with a type or a purpose, and returns the number of its words. None where none of these
    /// begins at `at`.
    fn several_words(&mut self, at: usize) -> Option<usize> {
        if let Some(length) = idiom(self.tokens, at) {
            self.builder.bound(&self.tokens[at..at + length]);
            return Some(length);
        }
        if let Some((value, taken)) = values::typed(self.tokens, at) {
            self.builder.typed(value);
            self.is_begun = true;
            self.builder.pause(&self.tokens[at + taken - 1]);
            return Some(taken);
        }
        let tells_purpose = |next: &Token| lexicon::in_list(PURPOSES, &next.lower);
        let is_purpose = self.tokens[at].lower == "to" && self.tokens.get(at + 1).is_some_and(tells_purpose);
        is_purpose.then(|| after_pause(self.tokens, at) - at)
    }

    /// Reads a word that begins a phrase, joins two, or belongs to one, and returns the number of words read.
    fn one_word(&mut self, at: usize) -> usize {
        let token = &self.tokens[at];
        let word = token.lower.as_str();
        let is_condition = lexicon::is_condition(word);
        if (is_condition || lexicon::is_preposition(word)) && !token.is_name {
            if self.is_begun || (is_condition && !matches!(word, "after" | "before" | "until" | "once")) {
                self.builder.open(word, is_condition);
                self.builder.current().into_iter().for_each(|phrase| phrase.is_action = opens_action(self.tokens, at));
            }
            self.builder.pause(token);
        } else if self.builder.has_words() && (is_relative(word) || self.is_participle(at)) {
            self.builder.open(word, true);
        } else if matches!(word, "and" | "or" | "plus" | "&" | "nor" | "but" | "then") {
            self.builder.end_part();
            let lists = word != "but" && word != "then";
            self.builder.current().into_iter().for_each(|phrase| phrase.lists |= lists);
        } else {
            self.plain_word(at);
        }
        1
    }

    fn plain_word(&mut self, at: usize) {
        let token = &self.tokens[at];
        let word = token.lower.as_str();
        let begins_anew = lexicon::is_article(word) || lexicon::is_pronoun(word) || matches!(word, "our" | "my");
        if begins_anew && self.builder.has_words() {
            self.builder.close_leading(at);
        }
        self.is_begun |= !lexicon::is_filler(word) || begins_anew;
        self.builder.word(token);
        self.builder.pause(token);
    }

    /// Tells whether a participle behind a noun begins a phrase that narrows it: `invoices written by hand`.
    fn is_participle(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        let word = token.lower.as_str();
        let has_form =
            word.ends_with("ed") || matches!(word, "kept" | "written" | "built" | "run" | "set" | "using" | "sent");
        self.behind_verb
            && !token.is_joined
            && has_form
            && (lexicon::is_content_verb(word) || lexicon::is_light_verb(word))
            && !self.tokens.get(at + 1).is_some_and(|next| next.is_name)
    }
}

fn is_relative(word: &str) -> bool {
    matches!(word, "that" | "who" | "whose" | "which")
}

/// Tells whether a verb stands behind the preposition at `at`: `for sending mail`, `to send mail`.
fn opens_action(tokens: &[Token], at: usize) -> bool {
    let Some(next) = tokens.get(at + 1) else { return false };
    match &*tokens[at].lower {
        "to" => lexicon::is_content_verb(&next.lower) && !next.lower.ends_with('s'),
        "for" | "by" => next.lower.len() > 4 && next.lower.ends_with("ing") && !next.is_name,
        _ => false,
    }
}

/// Returns the end of what begins at `at`, which is behind the next pause. What begins at the first word may also end
/// before the pronoun that begins the main clause.
fn after_pause(tokens: &[Token], at: usize) -> usize {
    let rest = &tokens[at..];
    let pause = rest.iter().position(|token| token.pauses).map_or(rest.len(), |pause| pause + 1);
    let pronoun = rest
        .iter()
        .skip(2)
        .position(|token| lexicon::is_pronoun(&token.lower))
        .map_or(rest.len(), |pronoun| pronoun + 2);
    at + if at == 0 { pause.min(pronoun) } else { pause }
}

/// Returns the number of words of an idiom that begins at `at`. None where no idiom begins there.
fn idiom(tokens: &[Token], at: usize) -> Option<usize> {
    lexicon::IDIOMS.iter().find_map(|idiom| {
        let mut length = 0;
        let is_here = idiom.split(' ').enumerate().all(|(offset, word)| {
            length = offset + 1;
            tokens.get(at + offset).is_some_and(|token| token.lower == word)
        });
        is_here.then_some(length)
    })
}

#[derive(Default)]
struct Builder {
    phrases: Vec<Phrase>,
    /// The plain words of the part of a list that is being read.
    part: Vec<String>,
    name: Vec<String>,
    /// True where a pause stands behind the last value.
    is_paused: bool,
}

impl Builder {
    fn current(&mut self) -> Option<&mut Phrase> {
        self.phrases.last_mut()
    }

    fn has_words(&self) -> bool {
        !self.part.is_empty()
            || !self.name.is_empty()
            || self.phrases.last().is_some_and(|phrase| !phrase.values.is_empty())
    }

    fn typed(&mut self, mut value: ClauseValue) {
        let name = std::mem::take(&mut self.name);
        // What stands behind the number of a version counts nothing: `Ubuntu 22.04 LTS`.
        let is_version = !name.is_empty() && value.of.as_deref().is_some_and(|of| of == "lts");
        if value.kind == ValueKind::Number && (value.of.is_none() || is_version) {
            value.of = name.last().or(self.part.last()).map(|word| lexicon::canonical(word));
        }
        self.push_name(name);
        self.push(value);
    }

    fn word(&mut self, token: &Token) {
        if token.is_name {
            self.name.push(dotted::bare_name(&token.lower).to_owned());
            return;
        }
        self.end_name();
        if lexicon::is_filler(&token.lower)
            || (lexicon::is_light_verb(&token.lower) && !tools::is_exclusive(&token.lower))
        {
            return;
        }
        self.part.push(lexicon::canonical(&token.lower));
    }

    /// Notes that an idiom such as `at most` speaks of a limit.
    fn bound(&mut self, idiom: &[Token]) {
        let bound = match idiom.last().map(|token| token.lower.as_str()) {
            Some("most" | "than" | "to") => "limit",
            Some("least") => "minimum",
            _ => return,
        };
        self.end_name();
        self.part.push(lexicon::canonical(bound));
    }

    fn end_name(&mut self) {
        let name = std::mem::take(&mut self.name);
        self.push_name(name);
    }

    fn push_name(&mut self, name: Vec<String>) {
        if name.is_empty() {
            return;
        }
        self.push(ClauseValue::new(ValueKind::Name, name));
    }

    fn push(&mut self, value: ClauseValue) {
        let is_paused = std::mem::take(&mut self.is_paused);
        if let Some(phrase) = self.current() {
            phrase.lists |= is_paused && !phrase.values.is_empty();
            phrase.values.push(value);
        }
    }

    fn end_part(&mut self) {
        self.end_name();
        let part = std::mem::take(&mut self.part);
        if part.is_empty() {
            return;
        }
        if let Some(phrase) = self.current() {
            phrase.words.extend(part.iter().cloned());
            phrase.values.push(ClauseValue::new(ValueKind::Phrase, part));
        }
    }

    fn pause(&mut self, token: &Token) {
        if !token.pauses {
            return;
        }
        let is_leading =
            self.phrases.len() > 1 && self.phrases[0].words.is_empty() && self.phrases[0].values.is_empty();
        self.end_part();
        self.is_paused = self.current().is_some_and(|phrase| !phrase.values.is_empty());
        if is_leading || self.current().is_some_and(|phrase| phrase.is_condition) {
            self.phrases.push(Phrase::default());
        }
    }

    /// Ends a phrase that comes first where the next noun phrase begins: `In staging the port is 80`.
    fn close_leading(&mut self, at: usize) {
        let is_leading =
            self.phrases.len() == 2 && self.phrases[0].words.is_empty() && self.phrases[0].values.is_empty();
        if at > 0 && is_leading && !self.phrases[1].is_condition {
            self.end_part();
            self.phrases.push(Phrase::default());
        }
    }

    fn open(&mut self, word: &str, is_condition: bool) {
        self.end_part();
        self.phrases.push(Phrase { opening: word.to_owned(), is_condition, ..Phrase::default() });
    }

    fn finish(mut self) -> Vec<Phrase> {
        self.end_part();
        self.phrases.retain(|phrase| !phrase.words.is_empty() || !phrase.values.is_empty());
        self.phrases
    }
}
