//! The main verb of a clause: where it stands, and what it says of subject and value.

use std::collections::BTreeSet;

use super::lexicon::{self, in_list};
use super::token::{Token, is_function_word};

/// Verbs whose object is the value itself.
const CHOOSING: &str = "use uses used using pick picked picks choose chose chosen select selected adopt adopted adopts \
    prefer prefers preferred want wants like likes need needs require requires have has had own owns lead leads speak \
    speaks play plays drink drinks support supports accept accepts allow study studies employ employs approve eat drive \
    drives marry married cost costs utilise utilize teach teaches";
/// Forms of verbs that are nouns as often.
const NOUNS_TOO: &str = "tests logs builds releases reports limits backups caches stores hosts deploys reviews costs \
    calls runs formats charges names works changes sets moves plays times uses caps leads uploads downloads orders needs takes drops pins lints \
    votes watches feeds covers supplies bills signs points treats heads chairs ends starts documents checks ships closes \
    provides powers invoices watches";
/// Participles without a regular ending.
const PARTICIPLES: &str = "drawn done run sent kept held given taken known shown grown thrown put cut read led fed paid \
    sold told made found bound spent begun chosen driven spoken broken dealt drunk eaten fallen flown hidden hung laid \
    lent lit met ridden rung seen set shot shut sung sunk slept spun split spread stolen stuck struck swept swum taught \
    thought torn understood undone unwritten woken worn wound woven bought brought caught fought sought";
/// Verbs whose object may be one of many.
const ADDITIVE: &str = "support supports supported accept accepts accepted allow allows include includes contain contains \
    provide provides need needs require requires know knows like likes has have add adds speak speaks write writes wrote \
    read reads bought buy buys sell sells visit visited teach teaches study studied ship ships shipped send sends sent \
    depend depends rely relies play plays played work works emit emits export exports expose exposes import imports \
    log logs ingest ingests consume consumes collect collects cover covers offer offers handle handles \
    trust trusts trusted carry carries link links linked mirror mirrors mirrored sponsor sponsors sponsored understand \
    understands recognise recognises recognize recognizes fire fires fail fails let lets show shows block blocks ban bans \
    exclude excludes ignore ignores skip skips contain list lists record records truncate truncates \
    validate validates check checks deliver delivers delivered notify notifies written exported forwarded";
/// Verbs, each with the prepositions behind which it may have several objects, also where it is passive: a package may be
/// published to two registries, while a program is hosted on one platform.
const ADDITIVE_WITH: &[(&str, &str)] = &[
    ("publish publishes published", "to"),
    ("mail mails mailed", "to"),
    ("translate translates translated", "into to"),
    ("integrate integrates integrated", "with"),
    ("login pay pays paid", "with"),
    ("test tests tested", "in on"),
];
const PAST: [&str; 9] = ["was", "were", "had", "lived", "worked", "ran", "liked", "listened", "preferred"];

/// The main verb of a clause: where its words stand, and what they say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verb {
    /// The place of its first word. `to` is the place behind its last word.
    pub from: usize,
    pub to: usize,
    /// The words that name the attribute, in the spelling that is compared.
    pub actions: Vec<String>,
    /// All of its words but those of `to be`, in the spelling that is compared.
    pub words: BTreeSet<String>,
    pub is_copula: bool,
    /// True where the subject may be exchanged: `owns`, `formats`.
    pub is_role: bool,
    /// True for `is used for` and the like, where what is used is the value.
    pub is_for: bool,
    /// True where a preposition follows the verb: `runs on`.
    pub(super) has_preposition: bool,
    /// True where the object may be the subject, with the value behind a preposition: `store it in Redis`.
    pub takes_object: bool,
    pub is_past: bool,
    /// True where the verb may have several objects, none of which takes the place of another: `ships to`, `supports`.
    pub is_additive: bool,
}

fn is_copula(word: &str) -> bool {
    matches!(
        word,
        "is" | "are"
            | "was"
            | "were"
            | "be"
            | "been"
            | "become"
            | "becomes"
            | "became"
            | "remains"
            | "equals"
            | "stays"
            | "means"
    )
}

fn is_verb(token: &Token) -> bool {
    let is_abbreviation = token.text.len() > 1 && token.text.chars().all(char::is_uppercase);
    !token.is_name
        && !token.is_joined
        && !is_abbreviation
        && (lexicon::is_light_verb(&token.lower) || lexicon::is_content_verb(&token.lower))
}

/// Tells whether a word is a verb whatever stands around it.
fn is_certain(token: &Token) -> bool {
    let word = token.lower.as_str();
    let is_inflected = word.ends_with('s') || word.ends_with("ed");
    let is_irregular = matches!(
        word,
        "went"
            | "chose"
            | "chosen"
            | "ran"
            | "wrote"
            | "became"
            | "began"
            | "got"
            | "kept"
            | "made"
            | "sold"
            | "bought"
            | "taught"
            | "took"
            | "brought"
            | "stood"
            | "paid"
            | "gone"
            | "has"
            | "have"
            | "had"
            | "written"
            | "born"
            | "met"
            | "led"
            | "sent"
            | "built"
            | "listen"
            | "live"
            | "expire"
            | "belong"
            | "reside"
            | "speak"
            | "depend"
            | "go"
            | "get"
            | "give"
            | "receive"
            | "hang"
            | "lie"
    );
    is_verb(token) && (is_copula(word) || is_irregular || (is_inflected && !in_list(NOUNS_TOO, word)))
}

/// Tells whether a clause has a verb that is listed.
pub(super) fn is_known(tokens: &[Token]) -> bool {
    verb_position(tokens).is_some()
}

/// Finds the main verb of a clause, outside of its conditions.
pub(super) fn main(tokens: &[Token]) -> Option<Verb> {
    let from = verb_position(tokens).or_else(|| unlisted(tokens))?;
    let mut verb = Verb {
        from,
        to: from,
        actions: Vec::new(),
        words: BTreeSet::new(),
        is_copula: true,
        is_role: false,
        is_for: false,
        has_preposition: false,
        takes_object: false,
        is_past: false,
        is_additive: false,
    };
    let mut last = "";
    while let Some(token) = tokens.get(verb.to) {
        let word = token.lower.as_str();
        let next_is_verb = tokens.get(verb.to + 1).is_some_and(is_verb);
        let is_unlisted = verb.to == from && !is_verb(token);
        if is_unlisted || is_verb(token) && (verb.to == from || is_chained(last, token) || token.lower == "be") {
            if is_unlisted || lexicon::is_content_verb(word) {
                verb.actions.push(lexicon::verb(word));
            }
            if !is_copula(word) {
                verb.words.insert(lexicon::verb(word));
            }
            verb.is_copula &= is_copula(word);
            verb.is_past |= PAST.contains(&word) || (word == "used" && verb.to == from);
            let participle = verb.to > from
                && (word.ends_with("ed") || word.ends_with("en") || word.ends_with('t') || word.ends_with("ing"));
            verb.is_past &= !participle;
            verb.is_role = lexicon::is_role_verb(word) && !participle;
            verb.takes_object = !is_copula(word) && !in_list(CHOOSING, word);
            verb.is_for = participle && in_list(CHOOSING, word);
            last = word;
        } else if is_copula(last) && is_participle(token) {
            verb.actions.push(lexicon::verb(word));
            (verb.is_copula, verb.is_role, verb.is_past, verb.takes_object) = (false, false, false, true);
            last = word;
        } else if word == "and" && next_is_verb && !tokens[verb.to - 1].pauses && tokens.len() > verb.to + 2 {
            // These are two verbs of one object.
            last = "";
        } else if (word == "to" && next_is_verb)
            || ((is_adverb(word) || (is_particle(word) && !begins_bound(tokens, verb.to)))
                && !matches!(word, "the" | "a" | "an"))
        {
            // The word stands between the words of a verb.
        } else {
            break;
        }
        verb.to += 1;
        if token.pauses {
            break;
        }
    }
    verb.is_for &= tokens.get(verb.to).is_some_and(|next| matches!(&*next.lower, "for" | "as"));
    verb.has_preposition = tokens.get(verb.to).is_some_and(|next| {
        !next.is_name && (lexicon::is_preposition(&next.lower) || matches!(&*next.lower, "after" | "until" | "before"))
    });
    verb.takes_object &= !verb.has_preposition;
    verb.is_additive = is_additive(&tokens[verb.from..verb.to], &tokens[verb.to..]);
    Some(verb)
}

/// Tells whether these words of a verb may have several objects. A passive verb may have several only where something
/// goes to them, as in `is sent to` but not in `is sent by`, or behind another preposition of its own. Somebody `works for` one alone.
fn is_additive(verb: &[Token], behind: &[Token]) -> bool {
    let is_passive = verb.first().is_some_and(|token| is_copula(&token.lower));
    let next = behind.first().map_or("", |next| &next.lower);
    let has_one = |token: &Token| in_list("work works play plays study studies", &token.lower);
    let is_employed = matches!(next, "for" | "at" | "as") && verb.iter().any(has_one);
    let takes_several = if is_passive { next == "to" } else { !is_employed && next != "as" };
    let is_any = |list: &str| verb.iter().any(|token| in_list(list, &token.lower));
    // The object may stand between a verb and its preposition: `we publish it to npm`.
    let preposition =
        behind.iter().map(|token| &*token.lower).find(|word| lexicon::is_preposition(word)).unwrap_or(next);
    (takes_several && is_any(ADDITIVE))
        || ADDITIVE_WITH.iter().any(|(verbs, prepositions)| in_list(prepositions, preposition) && is_any(verbs))
}

/// Tells whether a word reads as the participle of a verb that is not listed.
fn is_participle(token: &Token) -> bool {
    let word = token.lower.as_str();
    let is_regular = word.len() > 4 && (word.ends_with("ed") || word.ends_with("built") || word.ends_with("written"));
    !token.is_name && !token.is_joined && (is_regular || in_list(PARTICIPLES, word))
}

/// Finds the place of a word that reads like a verb, where no listed verb stands. It has the ending of a verb, and an
/// object or a preposition behind it. A word behind a pronoun or a modal verb also counts, and so does the first word
/// where an article or the like follows it.
fn unlisted(tokens: &[Token]) -> Option<usize> {
    let end = tokens.iter().position(|token| lexicon::is_condition(&token.lower)).unwrap_or(tokens.len());
    let is_spoken_by = |at: usize| {
        // The denial is taken out of `we no longer refund`.
        let before = if tokens[at - 1].lower == "longer" && at > 1 { &tokens[at - 2] } else { &tokens[at - 1] };
        (lexicon::is_pronoun(&before.lower) || is_modal(&before.lower))
            && !lexicon::is_filler(&tokens[at].lower)
            && !tokens[at].is_name
    };
    // No noun stands before an article: `Pass the helper in`.
    let begins = tokens.len() > 2
        && lexicon::is_determiner(&tokens[1].lower)
        && !tokens[0].pauses
        && !tokens[0].is_name
        && !is_function_word(&tokens[0].lower)
        && super::values::typed(tokens, 0).is_none();
    if begins && end > 1 {
        return Some(0);
    }
    (1..end.saturating_sub(1)).find(|at| {
        if is_spoken_by(*at) {
            return true;
        }
        let (before, token, next) = (&tokens[at - 1], &tokens[*at], &tokens[at + 1]);
        let word = token.lower.as_str();
        let follows_plural = before.lower.ends_with('s') && !before.lower.ends_with("ss") && !before.is_name;
        // A plural takes a verb without the `s`, so of two words with it the first one is the verb.
        let is_object_of_verb = *at > 1 && follows_plural && word.ends_with('s');
        let has_plural = next.lower.ends_with('s') && !next.lower.ends_with("ss") && !is_verb(next);
        let is_plain =
            word.chars().all(char::is_alphabetic) && !lexicon::is_filler(word) && !lexicon::is_preposition(word);
        let ends = word.len() > 3
            && (word.ends_with('s') && !word.ends_with("ss") || word.ends_with("ed") || follows_plural && is_plain);
        let is_object = is_particle(&next.lower)
            || next.is_name
            || lexicon::is_preposition(&next.lower)
            || lexicon::is_determiner(&next.lower)
            || super::values::typed(tokens, at + 1).is_some();
        let is_free = !before.pauses && !lexicon::is_preposition(&before.lower) && !lexicon::is_filler(&before.lower);
        ends && (is_object || has_plural)
            && is_free
            && !is_object_of_verb
            && !token.is_name
            && !token.pauses
            && super::values::typed(tokens, *at).is_none()
    })
}

/// Tells whether `up to` stands here.
fn begins_bound(tokens: &[Token], at: usize) -> bool {
    tokens[at].lower == "up" && tokens.get(at + 1).is_some_and(|next| next.lower == "to")
}

fn is_modal(word: &str) -> bool {
    matches!(word, "can" | "may" | "could" | "should" | "must" | "will" | "shall")
}

/// Tells whether a word makes another verb of the one before it: `kicks off`, `hands back`.
fn is_particle(word: &str) -> bool {
    matches!(word, "off" | "out" | "up" | "down" | "over" | "back" | "away")
}

fn is_chained(last: &str, token: &Token) -> bool {
    is_copula(last)
        || matches!(
            last,
            "have"
                | "has"
                | "had"
                | "do"
                | "does"
                | "did"
                | "decided"
                | "agreed"
                | "want"
                | "wants"
                | "need"
                | "needs"
                | "started"
                | "start"
                | "get"
                | "gets"
                | "got"
                | "starts"
                | "chose"
                | ""
        )
        || token.lower.ends_with("ing")
}

fn is_adverb(word: &str) -> bool {
    matches!(
        word,
        "now"
            | "only"
            | "always"
            | "also"
            | "just"
            | "currently"
            | "already"
            | "usually"
            | "normally"
            | "still"
            | "typically"
            | "officially"
            | "permanently"
            | "entirely"
            | "fully"
            | "finally"
            | "recently"
            | "all"
            | "exclusively"
            | "mostly"
            | "simply"
            | "by-default"
            | "automatically"
            | "about"
            | "exactly"
            | "roughly"
            | "instead"
            | "both"
            | "today"
            | "directly"
            | "then"
    )
}

/// Tells whether a participle belongs to a noun, since the clause has its verb behind it: `the supported version is 3`.
fn is_attribute(tokens: &[Token], at: usize) -> bool {
    let is_behind_verb = at > 0 && is_verb(&tokens[at - 1]);
    let mut behind = tokens[at + 1..].iter().take_while(|token| {
        !lexicon::is_condition(&token.lower)
            && !lexicon::is_reason(&token.lower)
            && !matches!(&*token.lower, "that" | "which" | "who" | "and" | "but" | "or" | "as")
    });
    let ends = |token: &Token| token.pauses || token.separates;
    let mut is_open = !ends(&tokens[at]);
    let has_verb = behind.any(|token| {
        let is_it =
            is_open && matches!(&*token.lower, "is" | "are" | "was" | "were" | "must" | "should" | "has" | "have");
        is_open &= !ends(token);
        is_it
    });
    tokens[at].lower.ends_with("ed") && at > 0 && !is_behind_verb && has_verb
}

/// Tells whether the first word is a noun with a preposition behind it, since the clause has its verb further on.
fn begins_subject(tokens: &[Token]) -> bool {
    let ends = |token: &&Token| !matches!(&*token.lower, "and" | "but" | "that" | "which") && !token.pauses;
    let rest: Vec<&Token> = tokens[1..].iter().take_while(ends).collect();
    rest.first().is_some_and(|next| lexicon::is_preposition(&next.lower))
        && rest.windows(2).any(|pair| {
            let is_noun = lexicon::is_preposition(&pair[0].lower) || lexicon::is_determiner(&pair[0].lower);
            !is_noun && is_verb(pair[1])
        })
}

/// Finds the verb of a clause: the first word that is one for certain, or else the first that may be one.
fn verb_position(tokens: &[Token]) -> Option<usize> {
    let mut uncertain = None;
    for (at, in_condition) in in_conditions(tokens).into_iter().enumerate() {
        if in_condition || !is_verb(&tokens[at]) || is_used_as_noun(tokens, at) {
            continue;
        }
        match is_verb_here(tokens, at, uncertain.is_some()) {
            Some(true) => return Some(at),
            Some(false) => {}
            None => uncertain = uncertain.or(Some(at)),
        }
    }
    uncertain
}

/// Tells of each word whether it stands in a condition, a reason or a purpose, whose verbs are not that of the clause.
/// A pause ends these, and so does the pronoun that begins the main clause.
fn in_conditions(tokens: &[Token]) -> Vec<bool> {
    let mut in_condition = false;
    let is_in = |(at, token): (usize, &Token)| {
        let word = token.lower.as_str();
        // A purpose may come first: `To build the gallery you need libvips`.
        in_condition |= lexicon::is_condition(word) || lexicon::is_reason(word) || (at == 0 && word == "to");
        let is_in = in_condition;
        let follows_words = at.checked_sub(1).is_some_and(|before| {
            let before = &tokens[before].lower;
            !lexicon::is_preposition(before) && !lexicon::is_condition(before)
        });
        in_condition &= !(token.pauses || (follows_words && lexicon::is_pronoun(word)));
        is_in
    };
    tokens.iter().enumerate().map(is_in).collect()
}

/// Tells whether a word that may be a verb is a noun here, by the word before it or the verb behind it.
fn is_used_as_noun(tokens: &[Token], at: usize) -> bool {
    let word = tokens[at].lower.as_str();
    if is_copula(word) {
        return false;
    }
    let previous = previous(tokens, at);
    if lexicon::is_determiner(previous)
        || matches!(previous, "this" | "that")
        || (lexicon::is_preposition(previous) && previous != "to")
    {
        return true;
    }
    let has_verb_behind = tokens.get(at + 1).is_some_and(|next| is_copula(&next.lower) || is_certain(next));
    // No clause begins with such a verb where another one follows: `Merges by the bot need no review`.
    word.ends_with('s') && (has_verb_behind || (at == 0 && begins_subject(tokens)))
}

/// Tells whether a word that is no noun is the verb of its clause. None where it may be, unless a later word is one.
/// `has_earlier` says whether an earlier word may be the verb.
fn is_verb_here(tokens: &[Token], at: usize, has_earlier: bool) -> Option<bool> {
    let (word, previous) = (tokens[at].lower.as_str(), previous(tokens, at));
    if is_certain(&tokens[at]) {
        return Some(!is_attribute(tokens, at));
    }
    // The word behind such a pronoun is a verb, whatever follows: `we keep invoices`.
    if lexicon::is_plain_pronoun(previous) {
        return Some(true);
    }
    let is_plural_noun = |next: &Token| word.ends_with('s') && is_verb(next) && !next.lower.ends_with('s');
    if tokens.get(at + 1).is_some_and(|next| is_certain(next) || is_plural_noun(next)) {
        return Some(false);
    }
    let follows_plural = at > 0 && previous.ends_with('s') && !word.ends_with('s') && !tokens[at - 1].is_name;
    let is_announced = is_modal(previous)
        || matches!(previous, "to" | "people" | "please" | "would" | "always" | "never")
        || follows_plural;
    // A step that is done to reach something comes before it: `Run the script to load the data`.
    if is_announced && !(previous == "to" && has_earlier) {
        return Some(true);
    }
    if at == 0 || in_list(NOUNS_TOO, word) { None } else { Some(false) }
}

/// Returns the word before this one. It is empty at the beginning.
fn previous(tokens: &[Token], at: usize) -> &str {
    at.checked_sub(1).map_or("", |before| tokens[before].lower.as_str())
}
