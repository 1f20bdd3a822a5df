//! The questions of a server that wait for an answer of the user. A client of the stateless revision gets a handle with
//! the question, and sends it back with the answer when it repeats the call.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::JsonObject;
use tokio::time::Instant;
use uuid::Uuid;

/// The user may think about a question for this long.
pub(super) const CONSENT_LIMIT: Duration = Duration::from_secs(5 * 60);
/// A person has no more questions open than this. The oldest is forgotten for the next one.
const MAX_OPEN: usize = 16;

/// A call as it was when its question was asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AskedCall {
    /// Whoever was asked.
    pub(super) asker: String,
    pub(super) tool: String,
    pub(super) arguments: JsonObject,
}

#[derive(Debug)]
struct OpenQuestion {
    /// The handle is random, so that nobody can make one up. What it stands for never leaves the server.
    handle: String,
    call: AskedCall,
    until: Instant,
}

/// The questions of this server that wait for an answer. A handle is good for one answer to one call.
#[derive(Debug, Default)]
pub(super) struct OpenQuestions(Mutex<VecDeque<OpenQuestion>>);

impl OpenQuestions {
    pub(super) fn open(&self, call: AskedCall) -> String {
        let handle = Uuid::new_v4().to_string();
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_own = |question: &OpenQuestion| question.call.asker == call.asker;
        if open.iter().filter(|question| is_own(question)).count() >= MAX_OPEN
            && let Some(oldest) = open.iter().position(is_own)
        {
            open.remove(oldest);
        }
        open.retain(|question| Instant::now() < question.until);
        open.push_back(OpenQuestion { handle: handle.clone(), call, until: Instant::now() + CONSENT_LIMIT });
        handle
    }

    /// Says whether this handle was given for this very call, in time. It is used up either way.
    pub(super) fn close(&self, handle: &str, call: &AskedCall) -> bool {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = open.iter().position(|question| question.handle == handle);
        let question = at.and_then(|at| open.remove(at));
        question.is_some_and(|question| question.call == *call && Instant::now() < question.until)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(argument: &str) -> AskedCall {
        let arguments = json!({"memory_id": argument, "confirm": true});
        AskedCall {
            asker: "me".into(),
            tool: "delete_memory".into(),
            arguments: arguments.as_object().cloned().unwrap(),
        }
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
        let somebody = AskedCall { asker: "somebody".into(), ..call("a") };
        let other = questions.open(somebody.clone());
        assert!(questions.close(&other, &somebody), "somebody else has questions of his own");
        assert!(handles[1..].iter().all(|handle| questions.close(handle, &call("a"))));
    }
}
