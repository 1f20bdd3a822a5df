//! A request of a script that has a key (`Idempotency-Key`). The script may send it again when it has had no answer:
//! the request is carried out once, and what it was answered is answered again.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use reasoning_bank_actors::banks::BanksHandle;
use reasoning_bank_actors::consolidation::ConsolidationHandle;
use reasoning_bank_actors::context::ContextHandle;
use reasoning_bank_actors::episodes::EpisodesHandle;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::MemoriesHandle;
use reasoning_bank_actors::ports::{Record, StoreError};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::store::KeyedWrite;
use reasoning_bank_actors::working::WorkingHandle;
use reasoning_bank_actors::workspaces::Resolved;
use reasoning_bank_domain::access::{EarlierWrite, KeyScope, KeyedRequest};
use reasoning_bank_domain::memory::ids::KeyedRequestId;
use reasoning_bank_domain::safety::secrets::Scrub;
use rmcp::model::JsonObject;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Calling, Interrupted, MEMORY_DEADLINE};
use crate::mcp::client::RequestKey;

/// Storing an answer may take this long.
const STORE_LIMIT: Duration = Duration::from_secs(5);

/// The requests with a key that this process has in work.
#[derive(Debug, Default)]
pub(in crate::mcp) struct RequestsInWork(Mutex<HashSet<KeyedRequestId>>);

/// Ends the work on a request when it is dropped.
struct InWork<'a> {
    requests: &'a RequestsInWork,
    id: KeyedRequestId,
}

impl RequestsInWork {
    fn begin(&self, id: KeyedRequestId) -> Result<InWork<'_>, Error> {
        let is_new = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        if is_new { Ok(InWork { requests: self, id }) } else { Err(Error::RequestInWork) }
    }
}

impl Drop for InWork<'_> {
    fn drop(&mut self) {
        self.requests.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

/// Returns how long a request may be in work, its answer included.
fn in_work_for() -> SignedDuration {
    SignedDuration::try_from(MEMORY_DEADLINE + STORE_LIMIT).unwrap_or(SignedDuration::MAX)
}

/// Writes what was sent in one order of its fields, because an object is the same in any. The revisions of a header
/// stand where an argument would name one.
fn canonical(arguments: Option<&JsonObject>, if_revisions: Option<&[u64]>) -> serde_json::Result<Vec<u8>> {
    let mut sent = serde_json::to_value(arguments)?;
    if let (Some(fields), Some(revisions)) = (sent.as_object_mut(), if_revisions) {
        let wanted = if let [one] = revisions { json!(one) } else { json!(revisions) };
        fields.insert("if_revision".to_owned(), wanted);
    }
    sent.sort_all_objects();
    serde_json::to_vec(&sent)
}

impl Calling<'_> {
    /// Returns a handle as this call writes with it: with the key of its request, where that has one.
    fn keyed<H: Clone>(&self, handle: &H, carrying_out: impl FnOnce(&H, &KeyedWrite) -> H) -> H {
        self.keyed.get().map_or_else(|| handle.clone(), |write| carrying_out(handle, write))
    }

    /// Returns the memories as this call writes them: what it writes first is stored with the key of its request.
    pub(in crate::mcp) fn memories(&self) -> MemoriesHandle {
        self.keyed(&self.system.memories, |memories, write| memories.carrying_out(write.clone()))
    }

    /// Returns the episodes as this call writes them, in the same way.
    pub(in crate::mcp) fn episodes(&self) -> EpisodesHandle {
        self.keyed(&self.system.episodes, |episodes, write| episodes.carrying_out(write.clone()))
    }

    /// Returns what learns from tasks, as this call writes, in the same way.
    pub(in crate::mcp) fn context(&self) -> ContextHandle {
        self.keyed(&self.system.context, |context, write| context.carrying_out(write.clone()))
    }

    /// Returns the tasks as this call works on them: the log of a task names the request as well.
    pub(in crate::mcp) fn working(&self) -> WorkingHandle {
        self.keyed(&self.system.working, |working, write| working.carrying_out(write.id()))
    }

    /// Returns the memory banks as this call updates them, in the same way.
    pub(in crate::mcp) fn banks(&self) -> BanksHandle {
        self.keyed(&self.system.banks, |banks, write| banks.carrying_out(write.id()))
    }

    /// Returns what consolidates, as this call runs it, in the same way.
    pub(in crate::mcp) fn consolidation(&self) -> ConsolidationHandle {
        self.keyed(&self.system.consolidation, |consolidation, write| consolidation.carrying_out(write.id()))
    }

    /// Registers a workspace before what is not stored with it. The key of a request is not stored with that: nothing
    /// is carried out yet.
    pub(in crate::mcp) async fn register(&self, workspace: &Resolved) -> Result<(), Error> {
        self.system.memories.register(workspace, self.deadline).await
    }

    /// Answers a request that has a key. `answer` carries it out, and is run only where nobody has done that yet.
    pub(in crate::mcp) async fn once(
        &self,
        key: &RequestKey,
        answer: impl Future<Output = Result<Value, Interrupted>>,
    ) -> Result<Value, Interrupted> {
        let named = self.arguments.and_then(|arguments| arguments.get("workspace")?.as_str());
        let workspace = self.resolved(&self.workspace(named).await?).await?.workspace.id;
        let scope = KeyScope { owner: self.caller.source(), workspace: &workspace, route: &key.route };
        let id = scope.id(&key.key);
        let _in_work = self.requests.begin(id)?;
        let sent = canonical(self.arguments, self.client.if_revisions()).map_err(Error::internal)?;
        let now = Timestamp::now();
        let request = KeyedRequest::begun(id, workspace, &sent, Uuid::now_v7(), now);
        match request.earlier(self.system.store.request(id, self.deadline).await?) {
            EarlierWrite::None => {}
            EarlierWrite::Answered(answer) => return Ok(serde_json::from_str(&answer).map_err(Error::internal)?),
            // It may be in work at another daemon.
            EarlierWrite::Unanswered { since } if now.duration_since(since) < in_work_for() => {
                return Err(Error::RequestInWork.into());
            }
            EarlierWrite::Unanswered { .. } => return Err(Error::from(StoreError::CarriedOut(id)).into()),
            EarlierWrite::Other => {
                let problem = "another request was sent under this key; each request needs a key of its own";
                return Err(Error::invalid("Idempotency-Key", problem).into());
            }
        }
        let write = self.keyed.get_or_init(|| KeyedWrite::new(request));
        let mut document = match answer.await {
            // Another daemon was faster, and will have the answer.
            Err(Interrupted::Failed(Error::Store(StoreError::CarriedOut(_)))) => {
                return Err(Error::RequestInWork.into());
            }
            answer => answer?,
        };
        document.scrub();
        let answered = Record::Request(write.answered(document.to_string()));
        if let Err(error) = self.system.store.commit(vec![answered], Deadline::after(STORE_LIMIT)).await {
            tracing::warn!(%error, "the answer to a request with a key was not kept, so it cannot be answered again");
        }
        Ok(document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_fields_does_not_make_another_request() {
        let sent = |text: &str| canonical(Some(&serde_json::from_str::<JsonObject>(text).unwrap()), None).unwrap();
        let one = sent(r#"{"a": 1, "b": [{"c": 2, "d": 3}]}"#);
        assert_eq!(sent(r#"{"b": [{"d": 3, "c": 2}], "a": 1}"#), one);
        assert_ne!(sent(r#"{"a": 1, "b": [{"c": 3, "d": 2}]}"#), one);
        assert_eq!(canonical(None, None).unwrap(), json!(null).to_string().into_bytes());
    }
    #[test]
    fn the_revisions_of_a_header_are_a_part_of_what_was_sent() {
        let arguments = JsonObject::from_iter([("a".to_owned(), json!(1))]);
        let sent = |if_revisions: Option<&[u64]>| canonical(Some(&arguments), if_revisions).unwrap();
        assert_eq!(sent(Some(&[3])), br#"{"a":1,"if_revision":3}"#);
        assert_eq!(sent(Some(&[3, 4])), br#"{"a":1,"if_revision":[3,4]}"#);
        assert_eq!(sent(None), br#"{"a":1}"#);
    }
}
