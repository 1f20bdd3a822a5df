//! The calls that need something of the client. In the stateless revision a call ends with what the server asks for,
//! and the client repeats it with the answers. Before that revision the server asks while the call runs.

use std::collections::HashMap;
use std::sync::Mutex;

use rmcp::model::{ClientCapabilities, InputRequest, InputRequests, InputRequiredResult, InputResponses};
use rmcp::service::ServiceError;
use rmcp::{ErrorData, Peer, RoleServer};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

#[derive(Debug, Deserialize)]
struct Dialogue {
    /// The requests for input, one round after the other.
    rounds: Vec<InputRequests>,
    /// The client has to send the handle of the round back.
    #[serde(default)]
    has_state: bool,
}

/// The state of a call that may ask.
pub(super) enum Turn {
    Asks(InputRequiredResult),
    Done,
}

/// The dialogues by the name of the tool or the prompt, and the rounds that were begun by their handle. A handle is
/// random, so that nobody can make one up.
pub(super) struct Dialogues {
    known: HashMap<String, Dialogue>,
    begun: Mutex<HashMap<String, usize>>,
}

impl Dialogues {
    pub(super) fn read() -> Self {
        #[derive(Deserialize)]
        struct Document {
            dialogues: HashMap<String, Dialogue>,
        }
        let document: Document = serde_json::from_str(include_str!("answers.json")).unwrap();
        Self { known: document.dialogues, begun: Mutex::default() }
    }

    /// Takes the next turn of a dialogue, if the name is one of a dialogue. Nothing is asked for that the client cannot
    /// give.
    ///
    /// # Errors
    /// The handle was not given out.
    pub(super) fn turn(
        &self,
        name: &str,
        responses: Option<&InputResponses>,
        handle: Option<&str>,
        capabilities: &ClientCapabilities,
    ) -> Result<Option<Turn>, ErrorData> {
        let Some(dialogue) = self.known.get(name) else { return Ok(None) };
        let begun = match handle {
            Some(handle) => {
                let begun = self.begun.lock().unwrap().get(handle).copied();
                let unknown = || ErrorData::invalid_params("the requestState was not given out by this server", None);
                Some(begun.ok_or_else(unknown)?)
            }
            None => (!dialogue.has_state).then_some(0),
        };
        let asked = |round: usize| {
            let requests = dialogue.rounds[round].iter();
            requests.filter(|(_, request)| can_answer(capabilities, request))
        };
        // An answer that is no document is none.
        let is_answered = |name: &String| responses.and_then(|given| given.get(name)).is_some_and(Value::is_object);
        let next = match begun {
            Some(round) if asked(round).all(|(name, _)| is_answered(name)) => round + 1,
            Some(round) => round,
            None => 0,
        };
        if next == dialogue.rounds.len() {
            return Ok(Some(Turn::Done));
        }
        let requests = asked(next).map(|(name, request)| (name.clone(), request.clone())).collect();
        let handle = dialogue.has_state.then(|| Uuid::new_v4().to_string());
        handle.iter().for_each(|handle| {
            self.begun.lock().unwrap().insert(handle.clone(), next);
        });
        Ok(Some(Turn::Asks(InputRequiredResult::new(Some(requests), handle))))
    }
}

fn can_answer(capabilities: &ClientCapabilities, request: &InputRequest) -> bool {
    match request {
        InputRequest::CreateMessage(_) => capabilities.sampling.is_some(),
        InputRequest::Elicitation(_) => capabilities.elicitation.is_some(),
        InputRequest::ListRoots(_) => capabilities.roots.is_some(),
        _ => false,
    }
}

/// Asks a client that has a session, and returns its answer as a document.
///
/// # Errors
/// The client refuses, or is gone.
pub(super) async fn asked(question: InputRequest, peer: &Peer<RoleServer>) -> Result<Value, ServiceError> {
    let answer = match question {
        InputRequest::CreateMessage(question) => {
            serde_json::to_value(peer.create_message(question.params).await?).unwrap()
        }
        InputRequest::Elicitation(question) => {
            serde_json::to_value(peer.create_elicitation(question.params).await?).unwrap()
        }
        question => panic!("no tool asks for {question:?}"),
    };
    Ok(answer)
}
