//! This file reads when a clause holds: whether it adds to what holds, tells what holds from now on, what held
//! before, what happened once, or what may be.

use super::former_value;
use super::lexicon;
use super::token::Token;
use super::units;

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
                "last" => units::weekday(behind).is_some() || units::unit(behind).is_some() || behind == "night",
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
            "longer" => before == "no",
            "days" => before == "these",
            // That something is abandoned is a state of it.
            "abandoned" => false,
            word => {
                (word.ends_with("ed") || matches!(word, "went" | "rewrote" | "cut")) && former_value::is_change(word)
            }
        }
    })
}
