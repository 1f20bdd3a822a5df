//! The rules of users in a session, and what becomes of them: a later message may take one back. The rule is then not
//! kept, and what the message says in its place is.

use crate::learning::capture::{rules_in, taken_back};
use crate::learning::transcript::Exchange;

/// The number of messages with rules before a message whose rules it may take back.
const EARLIER: usize = 20;

/// A message of a user that states rules.
struct RuleMessage {
    /// The exchange that it begins, or that it follows where nobody answered it.
    exchange: usize,
    is_unanswered: bool,
    rules: Vec<String>,
    is_taken_back: Vec<bool>,
    /// The exchange whose message takes rules of this one back, unless nobody answered that.
    put_right_by: Option<usize>,
    /// The message, by its place among those with rules, whose rules this one takes back.
    takes_back: Option<usize>,
}

/// The messages of a file that state rules, in their order.
pub(in crate::learning) struct RuleHistory {
    said: Vec<RuleMessage>,
}

impl RuleHistory {
    pub(in crate::learning) fn of(exchanges: &[Exchange]) -> Self {
        let mut history = Self { said: Vec::new() };
        for (n, exchange) in exchanges.iter().enumerate() {
            history.read(exchanges, n, false, &exchange.question);
            if let Some(said_next) = &exchange.said_next {
                history.read(exchanges, n, true, said_next);
            }
        }
        history
    }

    fn read(&mut self, exchanges: &[Exchange], exchange: usize, is_unanswered: bool, message: &str) {
        let before = if is_unanswered { Some(exchange) } else { exchange.checked_sub(1) };
        let mut takes_back = None;
        for (place, said) in self.said.iter_mut().enumerate().rev().take(EARLIER) {
            if exchanges[said.exchange].session != exchanges[exchange].session {
                break;
            }
            let found = taken_back(message, &said.rules, before == Some(said.exchange));
            let is_new = |(now, earlier): (&bool, &bool)| *now && !*earlier;
            if found.iter().zip(&said.is_taken_back).any(is_new) {
                said.is_taken_back.iter_mut().zip(found).for_each(|(earlier, now)| *earlier |= now);
                said.put_right_by = (!is_unanswered).then_some(exchange);
                takes_back = takes_back.or(Some(place));
            }
        }
        let context = takes_back.map(|place| self.message(exchanges, place));
        let rules = rules_in(message, context);
        let is_taken_back = vec![false; rules.len()];
        // What takes a rule back and states none is kept as well, so that a message behind it is not the next one.
        if takes_back.is_some() || !rules.is_empty() {
            let said = RuleMessage { exchange, is_unanswered, rules, is_taken_back, put_right_by: None, takes_back };
            self.said.push(said);
        }
    }

    fn message<'a>(&self, exchanges: &'a [Exchange], place: usize) -> &'a str {
        let said = &self.said[place];
        let exchange = &exchanges[said.exchange];
        exchange.said_next.as_deref().filter(|_| said.is_unanswered).unwrap_or(&exchange.question)
    }

    fn at(&self, exchange: usize, is_unanswered: bool) -> Option<&RuleMessage> {
        self.said.iter().find(|said| said.exchange == exchange && said.is_unanswered == is_unanswered)
    }

    /// Returns the message whose rules the message of an exchange takes back.
    pub(in crate::learning) fn taken_back_by(
        &self,
        exchanges: &[Exchange],
        exchange: usize,
        is_unanswered: bool,
    ) -> Option<String> {
        let place = self.at(exchange, is_unanswered)?.takes_back?;
        Some(self.message(exchanges, place).to_owned())
    }

    /// Returns what is left of the rules of a message. None where nothing of them was taken back.
    pub(in crate::learning) fn left(&self, exchange: usize, is_unanswered: bool) -> Option<String> {
        let said = self.at(exchange, is_unanswered).filter(|said| said.is_taken_back.contains(&true))?;
        let left = said.rules.iter().zip(&said.is_taken_back).filter(|(_, is_taken_back)| !**is_taken_back);
        Some(left.map(|(rule, _)| rule.as_str()).collect::<Vec<_>>().join("\n"))
    }

    /// Returns the exchange whose message takes back a rule of the message that begins this one.
    pub(super) fn put_right_by(&self, exchange: usize) -> Option<usize> {
        self.at(exchange, false)?.put_right_by
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::left_standing;
    use super::*;
    use crate::learning::capture::rule_of;
    use crate::learning::distill::{by_rules, taken_back_by_rules};
    use crate::learning::job::Work;
    use crate::learning::transcript::{self, Format};
    use crate::memory::MemoryOutcome;

    fn session(messages: &[&str]) -> Work {
        let transcript = messages.iter().map(|said| format!("## User\n{said}\n\n## Assistant\nOK.\n\n")).collect();
        Work::Distill { session_id: "s".into(), outcome: MemoryOutcome::Success, transcript }
    }

    fn exchanges(messages: &[&str]) -> Vec<Exchange> {
        let Work::Distill { transcript, .. } = session(messages) else { return Vec::new() };
        transcript::read(transcript.as_bytes()).unwrap().exchanges
    }

    /// Returns the rules that are learned from a file, and those that are drawn from the session.
    fn learned(messages: &[&str]) -> [Vec<String>; 2] {
        let (standing, _) = left_standing(Format::Chat, exchanges(messages), &[]);
        let of_file = standing.iter().filter_map(rule_of).map(|rule| rule.content).collect();
        let (drawn, _) = by_rules(&session(messages));
        [of_file, drawn.into_iter().map(|lesson| lesson.content).collect()]
    }

    const TASK: &str = "How do I configure nginx for websockets?";

    #[rstest]
    #[case(&["Always use yarn for installs.", "Forget that, do not use yarn. Always use npm for installs."], "Do not use yarn.\nAlways use npm for installs.")]
    #[case(&["From now on we use pnpm for all packages.", "Actually, forget that. We stay with npm."], "We stay with npm.")]
    #[case(&["Never use mocks in the tests.", "Scratch that, mocks are fine."], "Mocks are fine.")]
    #[case(&["Ab jetzt immer Tabs zum Einrücken verwenden.", "Doch nicht, nimm vier Leerzeichen."], "Nimm vier Leerzeichen.")]
    #[case(&["Always run tests with pytest -x.", "No wait, that was wrong: do not use -x."], "Do not use -x.")]
    #[case(&["Always use yarn for installs.", TASK, "Forget that about yarn, use npm."], "Use npm.")]
    #[case(&["Always use yarn for installs.", "Forget that. Use pnpm.", "I changed my mind, use npm."], "Use npm.")]
    #[case(&["Désormais, on utilise toujours yarn.", "Oublie ça, on garde npm."], "On garde npm.")]
    #[case(&["A partir de ahora usamos siempre yarn.", "Olvida eso, seguimos con npm."], "Seguimos con npm.")]
    #[case(&["D'ora in poi usiamo sempre yarn.", "Come non detto, restiamo con npm."], "Restiamo con npm.")]
    #[case(&["Voortaan gebruiken we altijd yarn.", "Vergeet dat maar, we blijven bij npm."], "We blijven bij npm.")]
    fn a_rule_that_is_taken_back_is_not_kept_and_what_is_said_instead_is(#[case] said: &[&str], #[case] kept: &str) {
        assert_eq!(learned(said), [vec![kept.to_owned()], vec![kept.to_owned()]]);
        let withdrawn: Vec<String> = taken_back_by_rules(&session(said)).into_iter().map(|of| of.content).collect();
        assert!(withdrawn.iter().any(|of| said[0].ends_with(of.as_str())), "{withdrawn:?}");
    }

    #[test]
    fn what_only_looks_like_taking_it_back_leaves_a_rule() {
        let rule = "Always use yarn for installs.";
        for next in
            ["That did not work.", "Never mind, I found it.", "Don't forget that.", TASK, "Do not use yarn for now."]
        {
            assert_eq!(learned(&[rule, next]), [vec![rule.to_owned()], vec![rule.to_owned()]], "{next}");
        }
        let forgotten_task = learned(&[rule, TASK, "Forget that, use apache."]);
        assert_eq!(forgotten_task, [vec![rule.to_owned()], vec![rule.to_owned()]]);
    }

    #[test]
    fn of_two_rules_of_a_message_the_other_one_stays_and_the_exchange_is_withdrawn() {
        let said = ["Always use yarn for installs. Never commit to main.", "Forget that about yarn."];
        assert_eq!(
            learned(&said),
            [vec!["Never commit to main.".to_owned()], vec!["Never commit to main.".to_owned()]]
        );
        let (standing, taken_back) = left_standing(Format::Chat, exchanges(&said), &[]);
        let wrong: Vec<(&str, bool, Option<usize>)> =
            taken_back.iter().map(|of| (of.exchange.question.as_str(), of.takes_back_rule, of.put_right_by)).collect();
        assert_eq!(wrong, [(said[0], true, Some(0))]);
        assert_eq!(standing[0].question, said[1]);
    }

    #[test]
    fn the_lesson_of_a_long_answer_to_the_correction_is_not_titled_by_the_rule_that_was_taken_back() {
        let answer = "Run `npm ci` in the pipeline, because it installs what the lock file says and fails where the \
            lock file is out of date. Use `npm install` only when you change a dependency.";
        let said = |question: &str, answer: &str| Exchange {
            question: question.into(),
            answer: answer.into(),
            session: Some("s".into()),
            asked_first: None,
            said_next: None,
            at: None,
        };
        let file =
            vec![said("From now on we use yarn for installs.", "OK."), said("Forget that. We stay with npm.", answer)];
        let (standing, taken_back) = left_standing(Format::Messages, file, &[]);
        let rules: Vec<String> = standing.iter().filter_map(rule_of).map(|rule| rule.content).collect();
        assert_eq!((rules, taken_back[0].put_right_by), (vec!["We stay with npm.".to_owned()], Some(0)));
        let titles: Vec<String> = standing.iter().map(|exchange| exchange.whole_question().into_owned()).collect();
        assert_eq!(titles.last().map(String::as_str), Some("Forget that. We stay with npm."));
    }

    #[test]
    fn a_rule_may_be_taken_back_in_its_own_message() {
        let said = ["Always use yarn for installs. No, forget that: always use npm for installs."];
        assert_eq!(learned(&said)[0], ["Always use npm for installs."]);
    }
}
