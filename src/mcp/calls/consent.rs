//! The user's consent to what cannot be undone, asked for through the client. Clients of the revisions with a handshake
//! are asked while the call waits. Those of the stateless revision get the question as the answer, and repeat the call.

use reasoning_bank_actors::error::Error;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ElicitRequestParams, ElicitationAction, ElicitationSchema, InputRequest, InputRequests,
};
use rmcp::service::RequestContext;
use serde_json::Value;

use super::{Calling, Interrupted};
use crate::mcp::client::ToolClient;
use crate::mcp::open_questions::{AskedCall, CONSENT_LIMIT};
use crate::settings::Destructive;

/// Names the question in a call, and what the user ticks to agree.
const CONFIRM: &str = "confirm";

impl Calling<'_> {
    /// Returns when the user agreed, or lets clients erase. `what` is a question without its mark: `Delete x for good`;
    /// `command` does the same from a terminal.
    pub(in crate::mcp) async fn consent(&self, what: String, command: String) -> Result<(), Interrupted> {
        // A script sends a request to erase because somebody wrote it to.
        let ToolClient::Agent { request, context } = &self.client else { return Ok(()) };
        if self.options.destructive == Destructive::Allow {
            return Ok(());
        }
        if !asks_its_user(context) {
            return Err(Error::ConsentRequired { what, command }.into());
        }
        let answer = match self.client.is_stateless() {
            true => self.repeated(&what, request)?,
            false => asked_now(&what, context).await?,
        };
        if agrees(&answer) { Ok(()) } else { Err(Error::Declined { what }.into()) }
    }

    /// Returns the answer that came with the repeated call. Without one it answers the question itself.
    fn repeated(&self, what: &str, request: &CallToolRequestParams) -> Result<Value, Interrupted> {
        let call = AskedCall {
            asker: self.caller.identity(),
            tool: self.tool.to_owned(),
            arguments: self.arguments.cloned().unwrap_or_default(),
        };
        let Some(handle) = &request.request_state else {
            let question = InputRequest::Elicitation(rmcp::model::ElicitRequest::new(question(what)?));
            let questions = InputRequests::from([(CONFIRM.to_owned(), question)]);
            return Err(Interrupted::asks(questions, Some(self.questions.open(call))));
        };
        if !self.questions.close(handle, &call) {
            let problem = "is not that of this call, was used before, or is older than five minutes; call without it";
            return Err(Error::invalid("requestState", problem).into());
        }
        Ok(self.client.answer_to(CONFIRM).cloned().unwrap_or_default())
    }
}

/// Says whether a client can ask its user.
fn asks_its_user(context: &RequestContext<RoleServer>) -> bool {
    let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    // One that names neither kind has forms.
    elicitation.is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

async fn asked_now(what: &str, context: &RequestContext<RoleServer>) -> Result<Value, Interrupted> {
    let asked = context.peer.create_elicitation_with_timeout(question(what)?, Some(CONSENT_LIMIT)).await;
    match asked {
        Ok(answer) => Ok(serde_json::to_value(answer).map_err(Error::internal)?),
        Err(error) => {
            tracing::info!(%error, "the client did not answer for the user");
            Err(Error::Declined { what: what.to_owned() }.into())
        }
    }
}

fn question(what: &str) -> Result<ElicitRequestParams, Error> {
    let schema = ElicitationSchema::builder().required_bool(CONFIRM).build().map_err(Error::internal)?;
    let message = format!("{what}? This cannot be undone.");
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema })
}

/// Says whether the user agreed, which takes a form that was sent off with the box ticked.
fn agrees(answer: &Value) -> bool {
    let accepted = serde_json::to_value(ElicitationAction::Accept).is_ok_and(|accept| answer["action"] == accept);
    accepted && answer["content"][CONFIRM] == Value::Bool(true)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
