//! A conversation: who said what, one after the other, as exchanges.

use super::{Exchange, MAX_ANSWER_CHARS, MAX_QUESTION_CHARS};

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
    asked: bool,
    answered: bool,
}

#[derive(Debug)]
struct Open {
    question: Bounded,
    answer: Bounded,
    session: Option<String>,
}

impl Conversation {
    pub(super) fn of(done: Vec<Exchange>) -> Self {
        Self { done, ..Self::default() }
    }

    pub(super) fn take(&mut self, turn: Turn, session: Option<&str>) {
        match turn {
            Turn::Question(text) | Turn::Answer(text) if text.trim().is_empty() => {}
            Turn::Question(text) => {
                self.asked = true;
                match &mut self.open {
                    // Nobody answered yet, so the question goes on.
                    Some(open) if open.answer.text.is_empty() => open.question.append(&text),
                    _ => {
                        self.close();
                        let mut question = Bounded::new(MAX_QUESTION_CHARS);
                        question.append(&text);
                        let session = session.map(str::to_owned);
                        self.open = Some(Open { question, answer: Bounded::new(MAX_ANSWER_CHARS), session });
                    }
                }
            }
            Turn::Answer(text) => {
                self.answered = true;
                if let Some(open) = &mut self.open {
                    open.answer.append(&text);
                }
            }
            Turn::Break => self.close(),
        }
    }

    fn close(&mut self) {
        let Some(Open { question, answer, session }) = self.open.take() else { return };
        let (question, answer) = (question.text, answer.text);
        if !answer.is_empty() {
            self.done.push(Exchange { question, answer, session, asked_first: None, said_next: None });
        } else if let Some(last) = self.done.last_mut().filter(|last| last.session == session) {
            last.said_next.get_or_insert(question);
        }
    }

    /// Tells whether one side is missing in it.
    pub(super) fn is_one_sided(&self) -> bool {
        !self.asked || !self.answered
    }

    pub(super) fn into_exchanges(mut self) -> Vec<Exchange> {
        self.close();
        self.done
    }
}

/// A text that grows by paragraphs, up to a number of characters.
#[derive(Debug)]
struct Bounded {
    text: String,
    left: usize,
}

impl Bounded {
    fn new(max: usize) -> Self {
        Self { text: String::new(), left: max }
    }

    fn append(&mut self, paragraph: &str) {
        let separator = if self.text.is_empty() { "" } else { "\n\n" };
        for sign in separator.chars().chain(paragraph.trim().chars()).take(self.left) {
            self.text.push(sign);
            self.left -= 1;
        }
    }
}
