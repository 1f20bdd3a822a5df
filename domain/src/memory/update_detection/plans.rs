//! Statements that do not hold: options that were rejected, plans for later, goals, and what was tried and taken back.
//! They are read in English, German, French, Spanish, Italian and Dutch.

use super::lexicon::{self, in_list};
use super::token::Token;
use super::values::{self, ValueKind};
use super::{former_value, units};

/// Words that tell whether somebody was for or against an option.
const DECIDING: &str = "decided decide voted opted chose chosen went advised argued entschieden entschied entschlossen \
    gestimmt décidé opté voté choisi prononcés decidido decidimos optado votado deciso optato votato besloten gekozen";
const AGAINST: &str = "against gegen contre contra contro tegen";
/// Words that say that an option was not taken, unless they tell what is done to such things in general.
const REJECTED: &str = "rejected dismissed discarded discounted verworfen abgelehnt ausgeschlossen rejeté rejetée écarté \
    écartée exclu descartado descartada descartamos descartó rechazado rechazada rechazamos rechazó scartato scartata escluso \
    esclusa respinto respinta afgewezen verworpen uitgesloten";
/// Verbs that say so with a word behind them: `ruled out`, `turned down`.
const REJECTED_WITH: [(&str, &str); 3] = [("ruled", "out"), ("turned", "down"), ("voted", "down")];
/// Words with which it is told what is done in general: `requests are rejected`.
const IN_GENERAL: &str =
    "is are be get gets being werden wird est sont es son se sono è viene vengono wordt worden if when wenn";
/// Words that tell of a later time.
const LATER: &str =
    "tomorrow soon someday shortly bald demnächst irgendwann bientôt prochainement pronto prossimamente binnenkort";
/// Words that tell, beside a period, that it is not yet there.
const NEXT: &str = "next coming nächste nächsten nächstes nächster nächstem kommende kommenden kommendes prochain prochaine \
    próximo próxima prossimo prossima volgend volgende";
/// Periods that units do not tell.
const PERIODS: &str = "quarter spring summer autumn fall winter sprint jahr woche monat quartal frühjahr sommer herbst an année \
    mois semaine trimestre año mes semana anno mese settimana ano mês jaar maand week kwartaal";
/// Words of what has to be so.
const OBLIGATIONS: &str = "should must ought shall soll sollen sollte sollten muss \
    müssen darf dürfen devrait devraient doit doivent debería deberían debe deben dovrebbe dovrebbero deve devono zou zouden \
    moet moeten mag mogen";
/// Verbs that say so with `to` behind them.
const OBLIGATIONS_TO: &str = "need needs have has want wants aim aims hope";
/// Words that name a goal.
const GOALS: &str = "goal aim objective ideally ziel objectif objetivo obiettivo doel";
/// Words of a bound.
const BOUNDS: &str = "less fewer more lower under below within most least longer maximum minimum maximal minimal weniger unter \
    höchstens mindestens moins sous plus menos máximo mínimo meno massimo minimo minder onder hoogstens minstens";
/// Words of a bound that is told behind a value, or has a noun of its own: `14 and later`, `a budget of 300 ms`.
const OPEN_ENDS: &str = "later newer above higher up budget target sla slo";
/// Words of what did not last, where they stand with a verb of the past.
const FOR_A_TIME: &str = "briefly initially temporarily formerly kurz vorübergehend zwischenzeitlich früher brièvement auparavant \
    temporairement brevemente antes temporalmente temporaneamente kort tijdelijk vroeger eerst";
/// Forms of the past of `to be`, `to have` and `to use` in other languages than English.
const FOREIGN_PAST: &str = "war waren hatte hatten était étaient avait avaient utilisait utilisions era eran estaba estaban tenía \
    tenían usaba usábamos erano aveva avevano usava usavamo was waren had hadden gebruikte gebruikten";

/// The words of a clause about a time that is not now, or about what is only wished for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Outlook {
    /// It tells what holds later.
    is_later: bool,
    /// It tells what an amount has to be.
    is_goal: bool,
    /// It tells a bound, or what has to be.
    is_bounded: bool,
}

impl Outlook {
    pub(super) fn of(tokens: &[Token]) -> Self {
        let has = |list: &str| tokens.iter().any(|token| !token.is_name && in_list(list, &token.lower));
        let has_amount = || {
            let mut values = (0..tokens.len()).filter_map(|at| values::typed(tokens, at));
            values.any(|(value, _)| matches!(value.kind, ValueKind::Amount(_) | ValueKind::Number))
        };
        let has_to = |pair: &[Token]| in_list(OBLIGATIONS_TO, &pair[0].lower) && pair[1].lower == "to";
        let (obliges, is_bound) = (has(OBLIGATIONS) || tokens.windows(2).any(has_to), has(BOUNDS));
        let is_goal = ((obliges && is_bound) || has(GOALS)) && has_amount();
        let is_limit = tokens.iter().any(|token| lexicon::canonical(&token.lower) == lexicon::canonical("limit"));
        Self {
            is_later: is_later(tokens),
            is_goal,
            is_bounded: obliges || is_bound || is_goal || is_limit || has(OPEN_ENDS),
        }
    }

    /// Tells whether only one of two clauses tells what holds now.
    pub(super) fn is_apart_from(self, older: Self) -> bool {
        let is_other_time = self.is_later && !older.is_later;
        is_other_time || (self.is_goal && !older.is_bounded) || (older.is_goal && !self.is_bounded)
    }
}

/// Tells whether a clause names a time that is to come: `next year`, `soon`.
fn is_later(tokens: &[Token]) -> bool {
    let is_period = |token: &Token| {
        in_list(PERIODS, &token.lower) || units::unit(&token.lower).is_some_and(|(kind, _)| kind == "duration")
    };
    let is_next = |token: &Token| in_list(NEXT, &token.lower);
    let has_period = tokens
        .windows(2)
        .any(|pair| (is_next(&pair[0]) && is_period(&pair[1])) || (is_period(&pair[0]) && is_next(&pair[1])));
    let says = |words: [&str; 3]| {
        tokens.windows(3).any(|three| three.iter().zip(words).all(|(token, word)| token.lower == word))
    };
    let is_viene = tokens.windows(2).any(|pair| pair[0].lower == "que" && pair[1].lower == "viene");
    has_period
        || is_viene
        || says(["in", "the", "future"])
        || tokens.iter().any(|token| !token.is_name && in_list(LATER, &token.lower))
}

/// Tells whether a clause says that an option was not taken: `we decided against DynamoDB`, `Kafka was ruled out`.
pub(super) fn rejects(tokens: &[Token]) -> bool {
    let has = |tokens: &[Token], list: &str| tokens.iter().any(|token| in_list(list, &token.lower));
    let is_with = tokens.windows(2).any(|pair| REJECTED_WITH.contains(&(&*pair[0].lower, &*pair[1].lower)));
    (has(tokens, DECIDING) && has(tokens, AGAINST)) || ((is_with || has(tokens, REJECTED)) && !has(tokens, IN_GENERAL))
}

/// Tells whether a sentence says at its end that all is as before: `then we went back`, `but we reverted that`.
pub(super) fn returns(tokens: &[Token]) -> bool {
    let is_end = |at: usize| {
        at + 1 == tokens.len()
            || tokens[at].pauses
            || tokens[at + 1..].iter().all(|token| lexicon::is_filler(&token.lower))
    };
    tokens.iter().enumerate().any(|(at, token)| {
        let before = || tokens[at.saturating_sub(3)..at].iter().any(|token| former_value::is_change(&token.lower));
        let rolls = || at > 0 && matches!(&*tokens[at - 1].lower, "rolled" | "came" | "it" | "that" | "this");
        match &*token.lower {
            "back" => at > 0 && is_end(at) && (before() || rolls()),
            "reverted" => !tokens[at..].iter().any(|token| token.lower == "to") && at > 0,
            _ => false,
        }
    })
}

/// Tells whether an English clause speaks of what held for a time.
pub(super) fn is_over(tokens: &[Token]) -> bool {
    let was = tokens.iter().any(|token| matches!(&*token.lower, "was" | "were" | "had"));
    let pair = |first: &str, second: &str| {
        let is_here = |pair: &[Token]| pair[0].lower == first && pair[1].lower == second;
        tokens.windows(2).position(is_here)
    };
    // Something is used to do something else.
    let is_passive =
        |at: usize| at > 0 && matches!(&*tokens[at - 1].lower, "is" | "are" | "be" | "was" | "were" | "been");
    let used_to = pair("used", "to").is_some_and(|at| at > 0 && !is_passive(at));
    let for_a_time = || {
        let is_marked = tokens.iter().any(|token| in_list(FOR_A_TIME, &token.lower));
        is_marked || pair("a", "while").is_some() || pair("at", "first").is_some()
    };
    used_to || (was && for_a_time())
}

/// Tells whether a clause of another language speaks of what was.
pub(super) fn was_elsewhere(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| in_list(FOREIGN_PAST, &token.lower))
}
