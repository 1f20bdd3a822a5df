//! Corrections: whether what somebody says later takes back an answer, because it did not work or was wrong. That is
//! the answer before it, those that were gone along with on the way, or the one before where only that one is named.
//! The first sentences decide. A question, a condition and a request for something else take nothing back. What surely
//! speaks of the answer ("that did not work") takes it back in each of them. What may speak of something else ("the
//! same error") does so until the message turns to something else, or behind a word such as "but". Praise behind an
//! objection answers it. Praise before it does where the objection is not sure and no "but" stands between them. Thanks
//! alone decide nothing, but a "no" with thanks takes nothing back. Other messages let the answer stand. What is called
//! a mistake takes back the answer that it names, behind praise of another one too. An answer that begins by saying
//! that the assistant was wrong takes back the one before it.

mod rule_history;
mod standing;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::{Match, Regex};

use super::capture::{rule_of, sentences};
use super::episodes::checks_failed;
use super::phrases;
use super::transcript::{Exchange, UserRequest};
use crate::retrieval::standalone::{only_carries_on, stands_alone};
use crate::text::terms;

pub(super) use rule_history::RuleHistory;
pub use standing::{TakenBackExchange, left_standing};

/// The number of sentences that are read.
const SENTENCES: usize = 3;
/// A sentence is read up to this many characters.
const LOOKED_AT_CHARS: usize = 400;
/// The number of terms of an earlier question that an objection to its answer names.
const TELLING: usize = 2;
/// The number of exchanges before the last one that an objection may be about.
const EARLIER: usize = 20;
/// The number of sentences in which an answer takes back another one at its beginning.
const RETRACTING: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ObjectionReading {
    TakesBack,
    Stands,
    /// It decides nothing, and the next sentence still speaks of the answer.
    GoesOn,
    /// It decides nothing, and the next sentence may speak of something else.
    Turns,
}

/// Tells for each exchange whether the work that was done for it failed its checks. `requests` are those of the same
/// file.
pub(super) fn failed_work(exchanges: &[Exchange], requests: &[UserRequest]) -> Vec<bool> {
    let failed = requests.iter().filter(|request| checks_failed(request));
    let failed: HashSet<(Option<&str>, &str)> =
        failed.map(|request| (request.session.as_deref(), request.question.trim())).collect();
    let named = |exchange: &Exchange| failed.contains(&(exchange.session.as_deref(), exchange.question.trim()));
    exchanges.iter().map(named).collect()
}

/// The objections of a session: which answers they take back, and which exchanges answer them.
pub(super) struct Objections {
    taken_back: Vec<bool>,
    /// For each exchange, the one whose answer its question takes back.
    corrected: Vec<Option<usize>>,
}

impl Objections {
    /// Finds the objections among what is said behind each exchange, whether somebody answered it or not.
    /// `failed` says for each exchange whether a check takes its answer back already.
    pub(super) fn of(exchanges: &[Exchange], failed: Vec<bool>) -> Self {
        let none = vec![None; exchanges.len()];
        let mut objections = Self { taken_back: failed, corrected: none };
        for (n, exchange) in exchanges.iter().enumerate() {
            if let Some(last) = before(exchanges, n) {
                objections.corrected[n] = objections.found_wrong(exchanges, last, &exchange.question);
                if objections.corrected[n].is_none() {
                    objections.retract(exchanges, last, n);
                }
            }
            if let Some(said_next) = &exchange.said_next {
                objections.found_wrong(exchanges, n, said_next);
            }
        }
        objections
    }

    /// Notes what a message behind the exchange at `last` takes back. Returns the exchange that it objects to.
    fn found_wrong(&mut self, exchanges: &[Exchange], last: usize, message: &str) -> Option<usize> {
        if is_correction(message) {
            return Some(self.note(exchanges, last, message));
        }
        // Praise of the last answer may go before a word on an earlier one.
        let named = self.named_mistake(exchanges, last, message)?;
        self.taken_back[named] = true;
        Some(named)
    }

    /// Notes what the answer at `n` takes back, where it begins by saying that the assistant was wrong.
    fn retract(&mut self, exchanges: &[Exchange], last: usize, n: usize) {
        let Exchange { question, answer, .. } = &exchanges[n];
        let Some(said) = retraction(answer) else { return };
        let wrong = self.note(exchanges, last, &said);
        // Otherwise it answers a question of its own as well.
        if goes_along(question) || !stands_alone(question) {
            self.corrected[n] = Some(wrong);
        }
    }

    /// Notes which answers an objection takes back that was said behind the exchange at `last`. Returns the exchange
    /// that it objects to.
    fn note(&mut self, exchanges: &[Exchange], last: usize, objection: &str) -> usize {
        // An answer that puts another right answers the same question.
        let mut wrong =
            if self.corrected[last].is_some() { last } else { self.objected_to(exchanges, last, objection) };
        self.taken_back[wrong] = true;
        // Who only went along with an answer objects to that answer.
        while let Some(answer) = before(exchanges, wrong).filter(|_| goes_along(&exchanges[wrong].question)) {
            wrong = answer;
            self.taken_back[wrong] = true;
        }
        wrong
    }

    /// Returns the exchange that an objection behind the exchange at `last` is about: that one, or the nearest before it
    /// where the objection names what was asked there, and nothing of what was asked last.
    fn objected_to(&self, exchanges: &[Exchange], last: usize, objection: &str) -> usize {
        if let Some(named) = self.named_mistake(exchanges, last, objection) {
            return named;
        }
        // A question that does not say by itself what it is about goes on from the one before it.
        if !stands_alone(&exchanges[last].question) {
            return last;
        }
        let said: HashSet<String> = telling_terms(objection).collect();
        let named = |asked: usize, other: usize| {
            let elsewhere = terms_of(&exchanges[other]);
            let asked: HashSet<String> = telling_terms(&exchanges[asked].question).collect();
            asked.iter().filter(|term| said.contains(*term) && !elsewhere.contains(*term)).count()
        };
        let earlier = earlier(exchanges, last).find(|earlier| named(*earlier, last) >= TELLING);
        earlier.filter(|earlier| named(last, *earlier) == 0).map_or(last, |earlier| self.answered_last(earlier, last))
    }

    /// Returns the exchange, up to the one at `last`, whose answer holds what a message calls a mistake (`storing prices
    /// as double was a mistake`). None where the message names nothing that was said in one exchange more than in others.
    fn named_mistake(&self, exchanges: &[Exchange], last: usize, message: &str) -> Option<usize> {
        let subject = mistake(message)?;
        let subject: HashSet<String> = telling_terms(&subject).collect();
        let named = |n: usize| terms_of(&exchanges[n]).intersection(&subject).count();
        let in_last = named(last);
        let (nearest, most) = earlier(exchanges, last).map(|n| (n, named(n))).rev().max_by_key(|(_, named)| *named)?;
        match () {
            () if most >= TELLING && most > in_last => Some(self.answered_last(nearest, last)),
            () if in_last >= TELLING => Some(last),
            () => None,
        }
    }

    /// Returns the last exchange, up to the one at `last`, that answers what the one at `n` answers.
    fn answered_last(&self, n: usize, last: usize) -> usize {
        let asked = self.asked(n);
        (n..=last).rev().find(|later| self.asked(*later) == asked).unwrap_or(n)
    }

    /// Tells whether somebody may have found the answer of the exchange at `n` wrong: what was said next neither asks,
    /// nor praises, nor goes along with it.
    pub(super) fn is_in_doubt(exchanges: &[Exchange], n: usize) -> bool {
        let next = exchanges.get(n + 1).filter(|next| next.session == exchanges[n].session);
        let said = exchanges[n].said_next.as_deref().or(next.map(|next| next.question.as_str()));
        said.is_some_and(|said| !lets_stand(said))
    }

    /// Tells whether an objection takes back the answer of the exchange at `n`.
    pub(super) fn has_taken_back(&self, n: usize) -> bool {
        self.taken_back[n]
    }

    /// Returns the exchange whose answer the question at `n` takes back, where it does.
    pub(super) fn corrected(&self, n: usize) -> Option<usize> {
        self.corrected[n]
    }

    /// Returns the exchange that asked what the one at `n` goes on from. None where that one asks something itself, or
    /// says by itself what it is about.
    pub(super) fn goes_on_from(&self, exchanges: &[Exchange], n: usize) -> Option<usize> {
        let said = &exchanges[n].question;
        let says_little = !said.contains(['?', '？']) && !stands_alone(said);
        before(exchanges, n).filter(|_| says_little).map(|before| self.asked(before))
    }

    /// Returns what was asked before the message at `n`, where that goes on from it: it takes back an answer, or states a
    /// rule.
    pub(super) fn asked_first(&self, exchanges: &[Exchange], n: usize) -> Option<String> {
        let asked = self.asked(n);
        let of_objection = (asked != n).then(|| exchanges[asked].question.clone());
        of_objection.or_else(|| self.asked_before_rule(exchanges, n))
    }

    /// Returns what was asked of the work in which the message at `n` states a rule. None where it states none, asks
    /// something itself, or begins the session.
    fn asked_before_rule(&self, exchanges: &[Exchange], n: usize) -> Option<String> {
        let message = &exchanges[n];
        let last = before(exchanges, n).filter(|_| !message.question.contains(['?', '？']))?;
        rule_of(message).map(|_| exchanges[self.asked(last)].question.clone())
    }

    /// Returns the exchange that asked what the one at `n` answers: where that one takes back an answer, the first
    /// before it that does not.
    pub(super) fn asked(&self, n: usize) -> usize {
        // Each step goes to an earlier exchange, so the recursion ends.
        self.corrected[n].map_or(n, |before| self.asked(before))
    }
}

/// Returns the exchange before this one, where it is of the same session.
fn before(exchanges: &[Exchange], n: usize) -> Option<usize> {
    n.checked_sub(1).filter(|before| exchanges[*before].session == exchanges[n].session)
}

/// Returns the exchanges of the same session before this one, the nearest first, up to a number of them.
fn earlier(exchanges: &[Exchange], n: usize) -> impl DoubleEndedIterator<Item = usize> {
    let session = exchanges[n].session.as_ref();
    let first = exchanges[..n].iter().rposition(|earlier| earlier.session.as_ref() != session).map_or(0, |at| at + 1);
    (first.max(n.saturating_sub(EARLIER))..n).rev()
}

/// Returns the terms that may say what an exchange is about.
fn terms_of(exchange: &Exchange) -> HashSet<String> {
    telling_terms(&exchange.question).chain(telling_terms(&exchange.answer)).collect()
}

/// Returns what a message calls a mistake. None where it calls nothing so.
fn mistake(message: &str) -> Option<String> {
    read_sentences(message).into_iter().find_map(|sentence| {
        let found = phrases::MISTAKE.find(&sentence)?;
        let before = &sentence[..found.start()];
        // Further behind, some of these words say as what a thing is used.
        let begins = |condition: Match<'_>| !before[..condition.start()].contains(char::is_alphanumeric);
        let asks = phrases::NO_OBJECTION.is_match(&sentence) || phrases::CONDITION.find(before).is_some_and(begins);
        (!asks).then(|| before.to_owned())
    })
}

/// Returns the beginning of an answer that says that an earlier answer was wrong. None where it does not.
fn retraction(answer: &str) -> Option<String> {
    let said = answer.lines().flat_map(sentences).take(RETRACTING).collect::<Vec<_>>();
    let found = said.iter().any(|sentence| retracts(sentence));
    found.then(|| said.join(" "))
}

fn retracts(sentence: &str) -> bool {
    let is_said = |found: Match<'_>| !phrases::CONDITION.is_match(&sentence[..found.start()]);
    !sentence.ends_with(['?', '？']) && phrases::RETRACTION.find(sentence).is_some_and(is_said)
}

/// Returns what was said against the answer that an exchange puts right: the user's objection, or the assistant's own.
pub(super) fn said_against(correction: &Exchange) -> String {
    let question = correction.question.trim().to_owned();
    let by_user = is_correction(&question) || mistake(&question).is_some();
    if by_user { question } else { retraction(&correction.answer).unwrap_or(question) }
}

/// Returns the terms of a text that may say what it is about.
fn telling_terms(text: &str) -> impl Iterator<Item = String> {
    let is_telling = |term: &String| term.chars().count() > 2 && !phrases::SAYS_LITTLE.contains(&term.as_str());
    terms::query(text).into_iter().map(|of| of.term).filter(is_telling)
}

/// Tells whether a message asks nothing and only goes along with what was said, such as `ok, I'll try that`.
fn goes_along(message: &str) -> bool {
    !message.contains(['?', '？']) && !phrases::ASKS_FOR_MORE.is_match(message) && {
        let rest = phrases::GOES_ALONG.replace_all(message, " ");
        rest.trim_matches(|c: char| !c.is_alphanumeric()).is_empty() || only_carries_on(&rest)
    }
}

/// Tells whether a message that takes nothing back surely finds nothing wrong with the answer before it.
fn lets_stand(message: &str) -> bool {
    let praises = |sentence: &String| says(&phrases::PRAISE, sentence, |_| true);
    message.contains(['?', '？'])
        || goes_along(message)
        || phrases::NO_WITH_THANKS.is_match(message)
        || read_sentences(message).iter().any(praises)
}

fn is_correction(message: &str) -> bool {
    let mut speaks_of_answer = true;
    for sentence in read_sentences(message) {
        match read(&sentence, speaks_of_answer) {
            ObjectionReading::TakesBack => return true,
            ObjectionReading::Stands => return false,
            ObjectionReading::GoesOn => {}
            ObjectionReading::Turns => speaks_of_answer = false,
        }
    }
    false
}

/// Returns the sentences that decide. A "no" on its own is read together with the sentence that follows it.
fn read_sentences(message: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for sentence in message.lines().flat_map(sentences).take(SENTENCES) {
        match found.last_mut().filter(|last| phrases::BARE_NO.is_match(last)) {
            Some(last) => *last = format!("{last} {sentence}"),
            None => found.push(sentence),
        }
    }
    found
}

fn read(sentence: &str, speaks_of_answer: bool) -> ObjectionReading {
    if let Some(no) = phrases::NO_WITH_THANKS.find(sentence) {
        let takes_back = read(&sentence[no.end()..], speaks_of_answer) == ObjectionReading::TakesBack;
        return if takes_back { ObjectionReading::TakesBack } else { ObjectionReading::Stands };
    }
    if phrases::NO_OBJECTION.is_match(sentence) {
        return ObjectionReading::Stands;
    }
    let end = sentence.char_indices().nth(LOOKED_AT_CHARS).map_or(sentence.len(), |(at, _)| at);
    let sentence = &sentence[..end];
    let Some((objection, is_sure)) = objection(sentence, speaks_of_answer) else {
        return match () {
            () if says(&phrases::PRAISE, sentence, |_| true) => ObjectionReading::Stands,
            () if speaks_of_answer && phrases::LEADS_ON.is_match(sentence) => ObjectionReading::GoesOn,
            () => ObjectionReading::Turns,
        };
    };
    let before = &sentence[..objection.start()];
    if phrases::CONDITION.is_match(before) {
        return ObjectionReading::Turns;
    }
    let turned = is_sure || phrases::CONTRAST.is_match(before);
    let counts =
        |praise: &Match<'_>| praise.start() >= objection.end() || (!turned && praise.end() <= objection.start());
    let is_content = phrases::CONTENT.find_iter(sentence).any(|content| content.end() > objection.end());
    let is_answered = says(&phrases::PRAISE, sentence, counts)
        || (!is_sure && (is_content || says(&phrases::OVER, sentence, counts)));
    if is_answered { ObjectionReading::Stands } else { ObjectionReading::TakesBack }
}

/// Tells whether a sentence says something that counts, and does not deny it.
fn says(pattern: &Regex, sentence: &str, counts: impl Fn(&Match<'_>) -> bool) -> bool {
    let is_denied = |found: &Match<'_>| {
        phrases::DENIED_BEFORE.is_match(&sentence[..found.start()])
            || phrases::DENIED_BEHIND.is_match(&sentence[found.end()..])
    };
    pattern.find_iter(sentence).any(|found| counts(&found) && !is_denied(&found))
}

/// Finds the last objection of a sentence, and tells whether it is surely one to the answer. An objection that may be
/// to something else counts where the sentence speaks of the answer, or behind a word such as "but".
fn objection(sentence: &str, speaks_of_answer: bool) -> Option<(Match<'_>, bool)> {
    let last = |pattern: &'static LazyLock<Regex>| pattern.find_iter(sentence).last();
    let counts = |found: &Match<'_>| speaks_of_answer || phrases::CONTRAST.is_match(&sentence[..found.start()]);
    let sure = last(&phrases::SURE_OBJECTION).map(|found| (found, true));
    sure.or_else(|| last(&phrases::OBJECTION).filter(counts).map(|found| (found, false)))
}
