//! The user's consent to what cannot be undone, asked for through the client. Clients of the revisions with a handshake
//! are asked while the call waits; those of the stateless revision get the question as the answer and repeat the call.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use reasoning_bank_actors::error::Error;
use rmcp::model::{ElicitRequestParams, ElicitationAction, ElicitationSchema, InputRequest, InputRequests, JsonObject};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;
use uuid::Uuid;

use super::calls::{Calling, Interrupted};

/// How long the user may think about it.
const CONSENT_LIMIT: Duration = Duration::from_secs(5 * 60);
/// More questions than a person has open; the oldest is forgotten for the next one.
const MAX_OPEN: usize = 16;
/// Names the question in a call, and what the user ticks to agree.
const CONFIRM: &str = "confirm";

/// What happens when a client wants to erase something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Destructive {
    /// The user has to agree.
    Ask,
    Allow,
}

/// A call as it was when its question was asked.
#[derive(Debug, Clone, PartialEq)]
struct AskedCall {
    tool: String,
    arguments: JsonObject,
}

#[derive(Debug)]
struct OpenQuestion {
    /// Random, so that nobody can make one up; what it stands for never leaves the server.
    handle: String,
    call: AskedCall,
    until: Instant,
}

/// The questions of this server that wait for an answer. A handle is good for one answer to one call.
#[derive(Debug, Default)]
pub(super) struct OpenQuestions(Mutex<VecDeque<OpenQuestion>>);

impl OpenQuestions {
    fn open(&self, call: AskedCall) -> String {
        let handle = Uuid::new_v4().to_string();
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= MAX_OPEN {
            open.pop_front();
        }
        open.push_back(OpenQuestion { handle: handle.clone(), call, until: Instant::now() + CONSENT_LIMIT });
        handle
    }

    /// Whether this handle was given for this very call, in time; it is used up either way.
    fn close(&self, handle: &str, call: &AskedCall) -> bool {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = open.iter().position(|question| question.handle == handle);
        let question = at.and_then(|at| open.remove(at));
        question.is_some_and(|question| question.call == *call && Instant::now() < question.until)
    }
}

impl Calling<'_> {
    /// Returns when the user agreed, or lets clients erase. `what` is a question without its mark: `Delete x for good`;
    /// `command` does the same from a terminal.
    pub(super) async fn consent(&self, what: String, command: String) -> Result<(), Interrupted> {
        if self.options.destructive == Destructive::Allow {
            return Ok(());
        }
        if !self.client_asks() {
            return Err(Error::ConsentRequired { what, command }.into());
        }
        let answer = if self.is_stateless() { self.repeated(&what)? } else { self.asked_now(&what).await? };
        if agrees(&answer) { Ok(()) } else { Err(Error::Declined { what }.into()) }
    }

    fn client_asks(&self) -> bool {
        let elicitation = self.context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
        // One that names neither kind has forms.
        elicitation.is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
    }

    /// The answer that came with the repeated call; without one the question.
    fn repeated(&self, what: &str) -> Result<Value, Interrupted> {
        let call = AskedCall {
            tool: self.request.name.to_string(),
            arguments: self.request.arguments.clone().unwrap_or_default(),
        };
        let Some(handle) = &self.request.request_state else {
            let question = InputRequest::Elicitation(rmcp::model::ElicitRequest::new(question(what)?));
            let questions = InputRequests::from([(CONFIRM.to_owned(), question)]);
            return Err(Interrupted::asks(questions, Some(self.questions.open(call))));
        };
        if !self.questions.close(handle, &call) {
            let problem = "is not that of this call, was used before, or is older than five minutes; call without it";
            return Err(Error::invalid("requestState", problem).into());
        }
        Ok(self.answer_to(CONFIRM).cloned().unwrap_or_default())
    }

    async fn asked_now(&self, what: &str) -> Result<Value, Interrupted> {
        let asked = self.context.peer.create_elicitation_with_timeout(question(what)?, Some(CONSENT_LIMIT)).await;
        match asked {
            Ok(answer) => Ok(serde_json::to_value(answer).map_err(Error::internal)?),
            Err(error) => {
                tracing::info!(%error, "the client did not answer for the user");
                Err(Error::Declined { what: what.to_owned() }.into())
            }
        }
    }
}

fn question(what: &str) -> Result<ElicitRequestParams, Error> {
    let schema = ElicitationSchema::builder().required_bool(CONFIRM).build().map_err(Error::internal)?;
    let message = format!("{what}? This cannot be undone.");
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema })
}

/// Only a form that was sent off with the box ticked.
fn agrees(answer: &Value) -> bool {
    let accepted = serde_json::to_value(ElicitationAction::Accept).is_ok_and(|accept| answer["action"] == accept);
    accepted && answer["content"][CONFIRM] == Value::Bool(true)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(argument: &str) -> AskedCall {
        let arguments = json!({"memory_id": argument, "confirm": true});
        AskedCall { tool: "delete_memory".into(), arguments: arguments.as_object().cloned().unwrap() }
    }

    #[tokio::test(start_paused = true)]
    async fn a_handle_is_good_for_its_own_call_once_and_for_five_minutes() {
        let questions = OpenQuestions::default();
        let handle = questions.open(call("a"));
        assert!(questions.close(&handle, &call("a")));
        assert!(!questions.close(&handle, &call("a")), "a second time");
        let handle = questions.open(call("a"));
        assert!(!questions.close(&handle, &call("b")), "for other arguments");
        assert!(!questions.close(&handle, &call("a")), "after it was tried on another call");
        assert!(!questions.close("made up", &call("a")));
        let handle = questions.open(call("a"));
        tokio::time::advance(CONSENT_LIMIT).await;
        assert!(!questions.close(&handle, &call("a")), "too late");
    }

    #[test]
    fn more_questions_than_a_person_has_open_push_out_the_oldest() {
        let questions = OpenQuestions::default();
        let handles: Vec<String> = (0..=MAX_OPEN).map(|_| questions.open(call("a"))).collect();
        assert!(!questions.close(&handles[0], &call("a")));
        assert!(handles[1..].iter().all(|handle| questions.close(handle, &call("a"))));
    }

    #[test]
    fn only_an_accepted_form_with_the_box_ticked_agrees() {
        assert!(agrees(&json!({"action": "accept", "content": {"confirm": true}})));
        for no in [
            json!({"action": "accept", "content": {"confirm": false}}),
            json!({"action": "accept", "content": {"confirm": "true"}}),
            json!({"action": "accept"}),
            json!({"action": "decline", "content": {"confirm": true}}),
            json!({"action": "cancel"}),
            json!(null),
        ] {
            assert!(!agrees(&no), "{no}");
        }
    }
}
