//! A conversation: who said what, one after the other, as exchanges.

use jiff::Timestamp;

use super::{Exchange, MAX_ANSWER_CHARS, MAX_QUESTION_CHARS};
use crate::text::pieces;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Turn {
    Question(String),
    Answer(String),
    /// A break: what follows answers no question that is known.
    Break,
}

#[derive(Debug, Default)]
pub(super) struct Conversation {
    done: Vec<Exchange>,
    open: Option<Open>,
    /// The characters of questions that are longer than a question may be.
    cut: usize,
    asked: bool,
    answered: bool,
}

#[derive(Debug)]
struct Open {
    question: Bounded,
    answer: String,
    session: Option<String>,
    /// The time of what was said last.
    at: Option<Timestamp>,
}

impl Conversation {
    pub(super) fn of(done: Vec<Exchange>) -> Self {
        Self { done, ..Self::default() }
    }

    pub(super) fn take(&mut self, turn: Turn, session: Option<&str>, at: Option<Timestamp>) {
        match turn {
            Turn::Question(text) | Turn::Answer(text) if text.trim().is_empty() => {}
            Turn::Question(text) => {
                self.asked = true;
                match &mut self.open {
                    // Nobody answered yet, so the question goes on.
                    Some(open) if open.answer.is_empty() => open.question.append(&text),
                    _ => {
                        self.close();
                        let mut question = Bounded::new(MAX_QUESTION_CHARS);
                        question.append(&text);
                        let session = session.map(str::to_owned);
                        self.open = Some(Open { question, answer: String::new(), session, at });
                    }
                }
            }
            Turn::Answer(text) => {
                self.answered = true;
                if let Some(open) = &mut self.open {
                    open.answer.push_str(if open.answer.is_empty() { "" } else { "\n\n" });
                    open.answer.push_str(text.trim());
                    open.at = open.at.max(at);
                }
            }
            Turn::Break => self.close(),
        }
    }

    fn close(&mut self) {
        let Some(Open { question, answer, session, at }) = self.open.take() else { return };
        if !answer.is_empty() {
            self.cut += question.cut;
            let read = exchanges(&question.text, &answer, session.as_deref());
            self.done.extend(read.map(|exchange| Exchange { at, ..exchange }));
        } else if let Some(last) = self.done.last_mut().filter(|last| last.session == session) {
            last.said_next.get_or_insert(question.text);
        }
    }

    /// Tells whether one side is missing in it.
    pub(super) fn is_one_sided(&self) -> bool {
        !self.asked || !self.answered
    }

    /// Returns the exchanges, and the number of characters that their questions lost.
    pub(super) fn into_exchanges(mut self) -> (Vec<Exchange>, usize) {
        self.close();
        (self.done, self.cut)
    }
}

/// Returns the exchange of a question and its answer, or one for each part of an answer that is longer than one takes.
pub(super) fn exchanges(question: &str, answer: &str, session: Option<&str>) -> impl Iterator<Item = Exchange> {
    pieces(answer, MAX_ANSWER_CHARS).into_iter().map(move |part| Exchange {
        question: question.to_owned(),
        answer: part.to_owned(),
        session: session.map(str::to_owned),
        asked_first: None,
        said_next: None,
        at: None,
    })
}

/// A text that grows by paragraphs, up to a number of characters.
#[derive(Debug)]
struct Bounded {
    text: String,
    left: usize,
    /// The number of characters beyond the bound.
    cut: usize,
}

impl Bounded {
    fn new(max: usize) -> Self {
        Self { text: String::new(), left: max, cut: 0 }
    }

    fn append(&mut self, paragraph: &str) {
        let separator = if self.text.is_empty() { "" } else { "\n\n" };
        for sign in separator.chars().chain(paragraph.trim().chars()) {
            if self.left == 0 {
                self.cut += 1;
            } else {
                self.text.push(sign);
                self.left -= 1;
            }
        }
    }
}
