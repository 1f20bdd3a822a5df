//! The exchanges of a file, by whether somebody took them back.

use super::Objections;
use crate::learning::capture::{CaptureOutcome, CaptureRefusal, Captured, scrubbed};
use crate::learning::transcript::{Exchange, Format};

/// An exchange whose answer an objection takes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenBackExchange {
    pub exchange: Exchange,
    /// The place, among the exchanges that stand, of the one that puts the answer right.
    pub put_right_by: Option<usize>,
}

impl TakenBackExchange {
    /// Returns the refusal of the exchange, as a report counts it.
    pub fn refused(&self) -> Captured {
        let (_, removed) = scrubbed(self.exchange.clone());
        Captured { outcome: CaptureOutcome::Refused(CaptureRefusal::TakenBack), id: None, removed }
    }
}

/// Returns the exchanges of a file that nobody took back, and the others. An answer that puts another right answers the
/// question that the other one answered, and the objection.
pub fn left_standing(format: Format, exchanges: Vec<Exchange>) -> (Vec<Exchange>, Vec<TakenBackExchange>) {
    // What follows a section of notes is another section, and no reply.
    if format == Format::Notes {
        return (exchanges, Vec::new());
    }
    let objections = Objections::of(&exchanges);
    let (mut standing, mut taken_back) = (Vec::<Exchange>::new(), Vec::<(usize, TakenBackExchange)>::new());
    for (n, exchange) in exchanges.iter().enumerate() {
        let asked = objections.asked(n);
        if objections.has_taken_back(n) {
            let exchange = exchange.clone();
            taken_back.push((asked, TakenBackExchange { exchange, put_right_by: None }));
            continue;
        }
        let corrected = taken_back.iter_mut().filter(|(first, _)| *first == asked);
        corrected.for_each(|(_, wrong)| wrong.put_right_by = Some(standing.len()));
        let asked_first = (asked != n).then(|| exchanges[asked].question.clone());
        standing.push(Exchange { asked_first, ..exchange.clone() });
    }
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
        let (standing, taken_back) = left_standing(Format::Messages, file.clone());
        let questions: Vec<_> = standing.iter().map(Exchange::whole_question).collect();
        let said: Vec<&str> = standing.iter().map(|exchange| exchange.question.as_str()).collect();
        assert_eq!(said, ["Nope, still broken.", "And with two tenants?", "No, that is wrong."]);
        let corrected = "How do I skip rows?\n\nNope, still broken.";
        assert_eq!(questions, [corrected, "And with two tenants?", "No, that is wrong."]);
        assert_eq!(taken_back.iter().map(|wrong| wrong.put_right_by).collect::<Vec<_>>(), [Some(0); 2]);
        let outcomes: Vec<CaptureOutcome> = taken_back.iter().map(|wrong| wrong.refused().outcome).collect();
        assert_eq!(outcomes, [CaptureOutcome::Refused(CaptureRefusal::TakenBack); 2]);
        assert_eq!(left_standing(Format::Notes, file.clone()), (file.clone(), Vec::new()));
        let unanswered = vec![Exchange { said_next: Some("That did not work.".into()), ..file[0].clone() }];
        let (standing, taken_back) = left_standing(Format::Messages, unanswered);
        assert_eq!((standing.len(), taken_back[0].put_right_by), (0, None));
    }
}
