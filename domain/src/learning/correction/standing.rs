//! The exchanges of a file, by whether somebody took them back.

use super::{Objections, RuleHistory, failed_work};
use crate::learning::capture::{CaptureOutcome, CaptureRefusal, Captured, Thresholds, assess, rule_of, scrubbed};
use crate::learning::transcript::{Exchange, Format, UserRequest};

/// An exchange whose answer an objection or a failed check takes back, or whose rule a later message does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenBackExchange {
    pub exchange: Exchange,
    /// The place, among the exchanges that stand, of the one that puts the answer right.
    pub put_right_by: Option<usize>,
    pub refusal: CaptureRefusal,
    /// True where the rule is taken back that its question states.
    pub takes_back_rule: bool,
}

impl TakenBackExchange {
    /// Returns the refusal of the exchange, as a report counts it.
    pub fn refused(&self) -> Captured {
        let (_, removed) = scrubbed(self.exchange.clone());
        Captured { outcome: CaptureOutcome::Refused(self.refusal), id: None, removed }
    }
}

/// Returns the rules of users that no exchange which stands has: what they said is true though the answer to it was
/// taken back, or nobody answered. Each is an exchange without an answer. What was taken back of the rules is left out.
fn unanswered_rules(exchanges: &[Exchange], objections: &Objections, history: &RuleHistory) -> Vec<Exchange> {
    let mut rules = Vec::new();
    for (n, exchange) in exchanges.iter().enumerate() {
        let bare = |is_unanswered: bool, question: &str, asked_first: Option<String>| Exchange {
            question: history.left(n, is_unanswered).unwrap_or_else(|| question.to_owned()),
            answer: String::new(),
            session: exchange.session.clone(),
            asked_first: history.taken_back_by(exchanges, n, is_unanswered).or(asked_first),
            said_next: None,
            at: exchange.at,
        };
        let asked = exchanges[objections.asked(n)].question.clone();
        if objections.has_taken_back(n) || history.left(n, false).is_some() {
            rules.push(bare(false, &exchange.question, objections.asked_first(exchanges, n)));
        }
        rules.extend(exchange.said_next.as_ref().map(|said| bare(true, said, Some(asked))));
    }
    rules.retain(|rule| rule_of(rule).is_some());
    rules
}

/// Returns a section of notes that is too short for a lesson and states a rule as what states one: the rule, below its
/// heading. Any other section stays as it is.
fn as_rule_of_notes(section: Exchange) -> Exchange {
    let judged = assess(&section.question, &section.answer, &Thresholds::default());
    let rule = Exchange {
        question: section.answer.trim().to_owned(),
        answer: String::new(),
        asked_first: Some(section.question.clone()),
        ..section.clone()
    };
    let is_rule = judged.verdict == Err(CaptureRefusal::AnswerTooShort) && rule_of(&rule).is_some();
    if is_rule { rule } else { section }
}

/// Returns the exchanges of a file that nothing took back, and the others. An answer that puts another right answers the
/// question that the other one answered, and the objection. `requests` are those of the same file. Behind those that
/// stand are the rules of users whose exchanges do not.
pub fn left_standing(
    format: Format,
    exchanges: Vec<Exchange>,
    requests: &[UserRequest],
) -> (Vec<Exchange>, Vec<TakenBackExchange>) {
    // What follows a section of notes is another section, and no reply.
    if format == Format::Notes {
        return (exchanges.into_iter().map(as_rule_of_notes).collect(), Vec::new());
    }
    let failed = failed_work(&exchanges, requests);
    let objections = Objections::of(&exchanges, failed.clone());
    let history = RuleHistory::of(&exchanges);
    let (mut standing, mut taken_back) = (Vec::<Exchange>::new(), Vec::<(usize, TakenBackExchange)>::new());
    for (n, exchange) in exchanges.iter().enumerate() {
        let asked = objections.asked(n);
        let takes_back_rule = history.left(n, false).is_some();
        if objections.has_taken_back(n) || takes_back_rule {
            let refusal = if failed[n] { CaptureRefusal::ChecksFailed } else { CaptureRefusal::TakenBack };
            let exchange = exchange.clone();
            taken_back.push((n, TakenBackExchange { exchange, put_right_by: None, refusal, takes_back_rule }));
            continue;
        }
        for (wrong, taken_back) in &mut taken_back {
            if objections.asked(*wrong) == asked || history.put_right_by(*wrong) == Some(n) {
                taken_back.put_right_by = Some(standing.len());
            }
        }
        let Some(asked_first) = history.taken_back_by(&exchanges, n, false) else {
            standing.push(Exchange { asked_first: objections.asked_first(&exchanges, n), ..exchange.clone() });
            continue;
        };
        let rule = Exchange { asked_first: Some(asked_first), ..exchange.clone() };
        if assess(&exchange.question, &exchange.answer, &Thresholds::default()).verdict.is_err() {
            standing.push(rule);
            continue;
        }
        // The lesson of the answer is not titled by the rule that does not hold any more.
        standing.push(Exchange { answer: String::new(), said_next: None, ..rule });
        standing.push(Exchange { asked_first: None, ..exchange.clone() });
    }
    standing.extend(unanswered_rules(&exchanges, &objections, &history));
    (standing, taken_back.into_iter().map(|(_, wrong)| wrong).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_of_a_file_that_the_next_one_corrects_is_refused_and_the_correction_has_the_question() {
        let said = |question: &str, session: &str| Exchange {
            question: question.into(),
            answer: "a".into(),
            session: Some(session.into()),
            asked_first: None,
            said_next: None,
            at: None,
        };
        let file = vec![
            said("How do I skip rows?", "s"),
            said("That did not work.", "s"),
            said("Nope, still broken.", "s"),
            said("And with two tenants?", "s"),
            said("No, that is wrong.", "another session"),
        ];
        let (standing, taken_back) = left_standing(Format::Messages, file.clone(), &[]);
        let questions: Vec<_> = standing.iter().map(Exchange::whole_question).collect();
        let said: Vec<&str> = standing.iter().map(|exchange| exchange.question.as_str()).collect();
        assert_eq!(said, ["Nope, still broken.", "And with two tenants?", "No, that is wrong."]);
        let corrected = "How do I skip rows?\n\nNope, still broken.";
        assert_eq!(questions, [corrected, "And with two tenants?", "No, that is wrong."]);
        assert_eq!(taken_back.iter().map(|wrong| wrong.put_right_by).collect::<Vec<_>>(), [Some(0); 2]);
        let outcomes: Vec<CaptureOutcome> = taken_back.iter().map(|wrong| wrong.refused().outcome).collect();
        assert_eq!(outcomes, [CaptureOutcome::Refused(CaptureRefusal::TakenBack); 2]);
        assert_eq!(left_standing(Format::Notes, file.clone(), &[]), (file.clone(), Vec::new()));
        let unanswered = vec![Exchange { said_next: Some("That did not work.".into()), ..file[0].clone() }];
        let (standing, taken_back) = left_standing(Format::Messages, unanswered, &[]);
        assert_eq!((standing.len(), taken_back[0].put_right_by), (0, None));
    }

    #[test]
    fn a_rule_of_a_user_stands_with_its_task_whatever_becomes_of_the_answer() {
        let said = |question: &str, said_next: Option<&str>| Exchange {
            question: question.into(),
            answer: "a".into(),
            session: Some("s".into()),
            asked_first: None,
            said_next: said_next.map(str::to_owned),
            at: None,
        };
        let (task, rule) = ("Write a test for the cart total.", "Great. From now on we use factories in tests.");
        let asked = |exchanges: Vec<Exchange>| -> Vec<(String, Option<String>)> {
            let (standing, _) = left_standing(Format::Messages, exchanges, &[]);
            standing.into_iter().map(|exchange| (exchange.question, exchange.asked_first)).collect()
        };
        let of = |question: &str, asked: Option<&str>| (question.to_owned(), asked.map(str::to_owned));
        let answered = asked(vec![said(task, None), said(rule, None)]);
        assert_eq!(answered, [of(task, None), of(rule, Some(task))]);
        let taken_back = asked(vec![said(task, None), said(rule, Some("That did not work."))]);
        assert_eq!(taken_back, [of(task, None), of(rule, Some(task))]);
        let unanswered = asked(vec![said(task, Some(rule))]);
        assert_eq!(unanswered, [of(task, None), of(rule, Some(task))]);
    }

    #[test]
    fn work_that_fails_its_check_to_the_end_is_refused_and_what_puts_it_right_stands() {
        let told = |n: u32, role: &str, content: serde_json::Value| {
            serde_json::json!({"type": role, "uuid": format!("u{n}"), "sessionId": "s",
                "timestamp": format!("2026-01-05T10:{n:02}:00Z"), "message": {"role": role, "content": content}})
            .to_string()
        };
        let call = |id: &str, name: &str, input: serde_json::Value| serde_json::json!([{"type": "tool_use", "id": id, "name": name, "input": input}]);
        let result = |id: &str, text: &str, failed: bool| serde_json::json!([{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed}]);
        let edit = serde_json::json!({"file_path": "/r/cache.rs", "old_string": "a", "new_string": "b"});
        let test = || serde_json::json!({"command": "cargo test"});
        let asked = told(0, "user", "Make the cache thread-safe".into());
        let edited = [told(1, "assistant", call("a", "Edit", edit)), told(2, "user", result("a", "ok", false))];
        let tested = |n: u32, failed: bool| {
            let output = if failed { "test result: FAILED. 1 failed" } else { "test result: ok. 9 passed" };
            [
                told(n, "assistant", call(&n.to_string(), "Bash", test())),
                told(n + 1, "user", result(&n.to_string(), output, failed)),
            ]
        };
        let answered = told(9, "assistant", "I wrapped the cache in a RefCell.".into());
        let read = |lines: &[String]| {
            let read = crate::learning::transcript::read(lines.join("\n").as_bytes()).unwrap();
            let (standing, taken_back) = left_standing(read.format, read.exchanges, &read.requests);
            let told = taken_back.iter().map(|wrong| (wrong.refusal, wrong.put_right_by)).collect::<Vec<_>>();
            (standing.len(), told)
        };
        let first = |middle: &[String]| [&[asked.clone()][..], middle, std::slice::from_ref(&answered)].concat();
        let failed = first(&[&edited[..], &tested(3, true)].concat());
        assert_eq!(read(&failed), (0, vec![(CaptureRefusal::ChecksFailed, None)]));
        let passed = first(&[&edited[..], &tested(3, true), &tested(5, false)].concat());
        assert_eq!(read(&passed), (1, vec![]));
        assert_eq!(
            read(&first(&tested(3, true))),
            (1, vec![]),
            "nothing was changed, so the failure is what was asked"
        );
        let objection =
            [told(10, "user", "That did not work.".into()), told(11, "assistant", "Use a Mutex instead.".into())];
        assert_eq!(read(&[&failed[..], &objection].concat()), (1, vec![(CaptureRefusal::ChecksFailed, Some(0))]));
    }

    #[test]
    fn a_short_section_of_notes_that_states_a_rule_or_a_decision_is_one_and_any_other_stays() {
        let section = |heading: &str, text: &str| Exchange {
            question: heading.into(),
            answer: text.into(),
            session: None,
            asked_first: None,
            said_next: None,
            at: None,
        };
        let decision = "We decided on Postgres instead of SQLite because of concurrent writers.";
        let notes = ["Note: use LF line endings.", "Don't deploy before noon.", decision, "The build is broken.", ""];
        let notes: Vec<Exchange> = notes.iter().map(|text| section("Database of the shop", text)).collect();
        let (standing, _) = left_standing(Format::Notes, notes.clone(), &[]);
        let rules: Vec<String> = standing.iter().filter_map(rule_of).map(|rule| rule.content).collect();
        assert_eq!(rules, ["Use LF line endings.", "Don't deploy before noon.", decision]);
        assert_eq!(standing[3..], notes[3..]);
    }
}
