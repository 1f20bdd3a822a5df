//! A write that its client may send again, when it does not know whether the first one arrived. The client names the
//! write by a key (the header `Idempotency-Key`), and the write is carried out once.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::memory::ids::{KeyedRequestId, MemoryId, derived};
use crate::memory::workspace::WorkspaceId;

/// The scope of a key: the owner who sends the write, the workspace, and the route. The same key names another write
/// where one of these differs.
#[derive(Debug, Clone, Copy)]
pub struct KeyScope<'a> {
    pub owner: &'a str,
    pub workspace: &'a WorkspaceId,
    /// The method, and the path with names in the place of ids, which stand in what was sent.
    pub route: &'a str,
}

impl KeyScope<'_> {
    pub fn id(&self, key: &str) -> KeyedRequestId {
        let parts = ["keyed request", self.owner, self.workspace.as_str(), self.route, key];
        derived(&parts.map(str::as_bytes)).into()
    }
}

/// A write that has a key, as it is stored: in the first commit of the write, and once more with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyedRequest {
    pub id: KeyedRequestId,
    pub workspace_id: WorkspaceId,
    /// Tells the try that carries the write out from any other one with the same key.
    pub try_id: Uuid,
    /// Follows from what was sent: something else under the same key has another digest.
    pub digest: Uuid,
    pub at: Timestamp,
    /// The memories that the first commit of the write holds. The answer may have words of them.
    #[serde(default)]
    pub memories: Vec<MemoryId>,
    /// 1 for an answer to what was stored without one, else 0.
    #[serde(default)]
    pub revision: u64,
    /// The answer, as JSON. It is stored after the write, so it may be lost with the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// The answer to the question whether a write was sent before, from what is stored under its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EarlierWrite {
    /// It was not carried out.
    None,
    /// It was carried out, and this was its answer.
    Answered(String),
    /// It was carried out since this time, and has no answer yet, or has lost it.
    Unanswered { since: Timestamp },
    /// Something else was sent under this key.
    Other,
}

impl KeyedRequest {
    /// A request is kept for this long at least.
    pub const KEPT: SignedDuration = SignedDuration::from_hours(24);
    /// A key has 1 to this many bytes.
    pub const KEY_MAX_BYTES: usize = 255;

    /// Begins a try. `try_id` is new for each.
    pub fn begun(id: KeyedRequestId, workspace_id: WorkspaceId, sent: &[u8], try_id: Uuid, at: Timestamp) -> Self {
        let digest = derived(&[sent]);
        Self { id, workspace_id, try_id, digest, at, memories: Vec::new(), revision: 0, answer: None }
    }

    /// Adds the answer. `is_stored` says that the request was stored without one.
    #[must_use]
    pub fn answered(self, answer: String, is_stored: bool) -> Self {
        Self { revision: u64::from(is_stored), answer: Some(answer), ..self }
    }

    /// Compares this write with what is stored under its key.
    pub fn earlier(&self, stored: Option<Self>) -> EarlierWrite {
        match stored {
            None => EarlierWrite::None,
            Some(stored) if stored.digest != self.digest => EarlierWrite::Other,
            Some(Self { answer: Some(answer), .. }) => EarlierWrite::Answered(answer),
            Some(Self { at, .. }) => EarlierWrite::Unanswered { since: at },
        }
    }

    /// Says whether a try other than this one carried the write out already.
    pub fn was_carried_out_by(&self, stored: &Self) -> bool {
        stored.try_id != self.try_id
    }

    /// Says whether the write holds this memory, or its answer names it.
    pub fn names(&self, memory: MemoryId) -> bool {
        self.memories.contains(&memory)
            || self.answer.as_ref().is_some_and(|answer| answer.contains(&memory.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(body: &str) -> KeyedRequest {
        tried(body, 1)
    }

    fn tried(body: &str, n: u128) -> KeyedRequest {
        let workspace: WorkspaceId = "0123456789abcdef".parse().unwrap();
        let scope = KeyScope { owner: "ana", workspace: &workspace, route: "POST /memories" };
        KeyedRequest::begun(
            scope.id("one"),
            workspace.clone(),
            body.as_bytes(),
            Uuid::from_u128(n),
            Timestamp::UNIX_EPOCH,
        )
    }

    #[test]
    fn a_write_is_known_by_its_key_and_by_what_was_sent() {
        let first = sent("{}");
        assert_eq!(first.earlier(None), EarlierWrite::None);
        let again = sent("{}");
        assert_eq!(again.id, first.id);
        assert_eq!(again.earlier(Some(first.clone())), EarlierWrite::Unanswered { since: first.at });
        let answered = first.clone().answered("1".into(), true);
        assert_eq!(again.earlier(Some(answered.clone())), EarlierWrite::Answered("1".into()));
        assert_eq!(sent("[]").earlier(Some(answered)), EarlierWrite::Other);
    }

    #[test]
    fn another_try_is_told_from_the_same_one() {
        let (first, again) = (tried("{}", 1), tried("{}", 2));
        assert!(again.was_carried_out_by(&first));
        assert!(!first.was_carried_out_by(&first.clone().answered("1".into(), true)));
    }

    #[test]
    fn the_same_key_is_another_one_for_another_owner_workspace_or_route() {
        let [one, two]: [WorkspaceId; 2] = ["0123456789abcdef", "fedcba9876543210"].map(|id| id.parse().unwrap());
        let scope = KeyScope { owner: "ana", workspace: &one, route: "POST /memories" };
        let others = [
            KeyScope { owner: "ben", ..scope },
            KeyScope { workspace: &two, ..scope },
            KeyScope { route: "POST /outcomes", ..scope },
        ];
        assert!(others.iter().all(|other| other.id("one") != scope.id("one")));
        assert_ne!(scope.id("one"), scope.id("two"));
    }
}
