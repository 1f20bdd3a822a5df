//! This file reads when a clause holds: whether it adds to what holds, tells what holds from now on, what held
//! before, what happened once, or what may be.

use super::lexicon::in_list;
use super::token::Token;
use super::values::{self, ValueKind};
use super::{calendar, former_value, lexicon, units};

/// Forms of the past that no ending tells.
const PAST: &str = "was were had did broke went fell lost met got came ran sold won rose hit struck blew held sent paid \
    took gave found made bought caught forgot froze grew spoke stole threw wrote flew drove rode woke withdrew wound \
    wurde wurden war waren hatte hatten fiel était étaient avait été fue fueron estuvo estuvieron hubo fu furono stato stata \
    stood slept sank shrank stuck swung tore understood brought taught fought";
/// Words that tell of a plan, even in the past: `was scheduled for`.
const PLANS: &str = "planned scheduled rescheduled due expected set moved postponed delayed supposed shifted pushed \
    fixed agreed decided confirmed announced targeted geplant prévu prévue previsto prevista";
/// Words of what happens to a thing once.
const ONCE: &str = "born died founded established incorporated built created married gegründet geboren \
    fondé fondée fundada";
/// States of a day, which other days may have as well.
const STATES_OF_DAYS: &str = "closed open shut off late slow busy down offline unavailable absent away out quiet empty \
    free crowded";
/// Such states in German, French, Spanish and Italian.
const FOREIGN_STATES: &str = "geschlossen fermé fermée fermés fermées cerrado cerrada cerrados cerradas chiuso chiusa chiusi \
    chiuse";

/// Tells whether a clause speaks of what may be.
pub(super) fn doubts(tokens: &[Token]) -> bool {
    tokens.iter().enumerate().any(|(at, token)| {
        let is_plan = token.lower.starts_with("plan");
        let before = at.checked_sub(1).map_or("", |before| &tokens[before].lower);
        // Something that is considered abandoned is abandoned, and where something is discussed is a rule.
        let is_rule = match &*token.lower {
            "considered" | "discussed" => matches!(before, "is" | "are"),
            "discussing" => before == "for",
            "expected" => tokens.get(at + 1).is_some_and(|next| matches!(&*next.lower, "within" | "by" | "at" | "in")),
            _ => false,
        };
        lexicon::is_doubt(&token.lower)
            && !is_rule
            && (!is_plan || tokens.get(at + 1).is_some_and(|next| next.lower == "to"))
    })
}

/// Tells whether a clause speaks of what held before.
pub(super) fn is_over(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| matches!(&*token.lower, "previously" | "formerly" | "originally"))
}

/// Tells whether a clause tells what happened once: `Today lunch was served at 12:50`.
pub(super) fn tells_once(tokens: &[Token]) -> bool {
    let is_past = tokens.iter().any(|token| matches!(&*token.lower, "was" | "were" | "had" | "did"));
    is_past
        && tokens.iter().enumerate().any(|(at, token)| {
            let behind = tokens.get(at + 1).map_or("", |next| &next.lower);
            match &*token.lower {
                "today" | "yesterday" => true,
                "last" => calendar::weekday(behind).is_some() || units::unit(behind).is_some() || behind == "night",
                "this" => matches!(behind, "morning" | "week" | "month" | "year"),
                _ => false,
            }
        })
}

/// Tells whether a clause adds a value to those there are: `also`, `as well`, `was added`.
pub(super) fn adds(tokens: &[Token]) -> bool {
    tokens.iter().enumerate().any(|(at, token)| {
        let before = at.checked_sub(1).map_or("", |before| &tokens[before].lower);
        match &*token.lower {
            "also" | "additionally" | "another" | "additional" | "besides" => true,
            "addition" => before == "in",
            "top" => before == "on" && tokens.get(at + 1).is_none_or(|next| next.lower == "of"),
            "from" => before == "apart",
            "too" => at + 1 == tokens.len() || token.pauses,
            "well" => before == "as",
            "added" => at > 0,
            _ => false,
        }
    })
}

/// Tells whether a clause says that something is another one from now on: `now`, `no longer`, `switched to`.
pub(super) fn announces(tokens: &[Token]) -> bool {
    tokens.iter().enumerate().any(|(at, token)| {
        let before = at.checked_sub(1).map_or("", |before| &tokens[before].lower);
        match &*token.lower {
            "now" | "nowadays" | "anymore" | "instead" | "currently" | "henceforth" => true,
            "jetzt" | "ahora" | "maintenant" | "désormais" | "adesso" => true,
            "longer" => before == "no",
            "days" => before == "these",
            // That something is abandoned is a state of it.
            "abandoned" => false,
            word => {
                (word.ends_with("ed") || matches!(word, "went" | "rewrote" | "rewritten" | "cut"))
                    && former_value::is_change(word)
                    || former_value::is_foreign_change(word)
            }
        }
    })
}

/// Tells whether a clause tells what happened on a day, or what a single day is like: `the API was down on 3 June`,
/// `the office is closed on 1 May`, `nobody works on 6 January`. The same may be said of other days. What is planned is
/// told of one day alone.
pub(super) fn tells_of_a_day(tokens: &[Token]) -> bool {
    let has = |list: &str| tokens.iter().any(|token| !token.is_name && in_list(list, &token.lower));
    // There is one last outage.
    let tells_the_last =
        tokens.iter().take(2).any(|token| matches!(&*token.lower, "last" | "latest" | "next" | "newest"));
    if has(PLANS) || has(ONCE) || tells_the_last {
        return false;
    }
    happened(tokens) || is_day_like_others(tokens)
}

fn happened(tokens: &[Token]) -> bool {
    let is_present =
        |token: &Token| matches!(&*token.lower, "is" | "are" | "be" | "been" | "get" | "gets" | "has" | "have");
    let has_ending = |word: &str| word.len() > 4 && word.ends_with("ed") && lexicon::verb(word) != word;
    tokens.iter().enumerate().any(|(at, token)| {
        let before = at.checked_sub(1).map_or("", |before| &tokens[before].lower);
        // A participle before a noun tells no past: `the extended deadline`.
        let may_be_verb = !before.is_empty() && !lexicon::is_determiner(before) && !lexicon::is_preposition(before);
        let is_past = in_list(PAST, &token.lower)
            || (has_ending(&token.lower) && may_be_verb && !tokens[..at].iter().any(is_present));
        is_past && !token.is_name && !token.is_joined
    })
}

/// Tells whether a clause tells a state of a day, denies something of it, or says what sort of day it is.
fn is_day_like_others(tokens: &[Token]) -> bool {
    let is_day = |at: usize| {
        let value = values::typed(tokens, at).map(|(value, _)| value);
        value.is_some_and(|value| value.kind == ValueKind::Date && value.names_a_day())
    };
    let is_on_a_day =
        (0..tokens.len()).any(|at| is_day(at) && (at == 0 || in_list("on am le el il", &tokens[at - 1].lower)));
    let word = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    let is_state = |at: usize| {
        let is_joined = at > 0 && matches!(word(at - 1), "is" | "are");
        (is_joined && in_list(STATES_OF_DAYS, word(at))) || in_list(FOREIGN_STATES, word(at))
    };
    let denies = tokens.iter().any(|token| lexicon::is_negation(&token.lower));
    let is_sort_of_day = || {
        let behind = values::typed(tokens, 0).map_or(0, |(_, taken)| taken);
        word(behind) == "is" && matches!(word(behind + 1), "a" | "an")
    };
    is_on_a_day && (denies || (0..tokens.len()).any(is_state) || is_sort_of_day())
}
