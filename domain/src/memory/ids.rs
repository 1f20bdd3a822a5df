//! Identities. Every stored thing has a UUIDv7 of its own, made by its creator before the first write. A write that is
//! retried carries the same id and is therefore the same thing. Things that may be made again from the same matter have
//! an id (UUIDv8) that follows from it: a signal about a trace ([`crate::memory::signal::id_within_trace`]), the trace of
//! what a source reports ([`crate::memory::trace::id_of_reported`]), background work and its memories
//! ([`crate::learning::job`]), a write that its client may send again ([`crate::access::KeyScope`]), the copy of
//! something in another workspace ([`copied`]).

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::{Builder, Uuid};

use crate::memory::workspace::WorkspaceId;

/// Returns the id (UUIDv8) that follows from these parts. The same parts give the same id, and it counts where one part
/// ends.
pub(crate) fn derived(parts: &[&[u8]]) -> Uuid {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.finalize()[..16]);
    Builder::from_custom_bytes(bytes).into_uuid()
}

/// Returns the id that a thing has as a copy in a workspace.
pub fn copied(id: Uuid, workspace: &WorkspaceId) -> Uuid {
    derived(&[b"copy", workspace.as_str().as_bytes(), id.as_bytes()])
}

/// The refusal of a text that is no id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is no id; one looks like 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11")]
pub struct InvalidId;

/// Reads an id of any kind.
pub fn parsed(text: &str) -> Result<Uuid, InvalidId> {
    Uuid::parse_str(text.trim()).map_err(|_| InvalidId)
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl $name {
            pub fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                parsed(text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    };
}

id!(
    /// A reusable lesson.
    MemoryId
);
id!(
    /// One run of the solver, or one reported session.
    TraceId
);
id!(
    /// One run of consolidation.
    RunId
);
id!(
    /// One entry of the history: what something was before a run changed it.
    HistoryId
);
id!(
    /// The working memory of one task.
    WorkingId
);
id!(
    /// The patterns and memories that an agent was shown before one task.
    ContextId
);
id!(
    /// One piece of evidence about a memory.
    SignalId
);
id!(
    /// Background work.
    JobId
);
id!(
    /// A write that its client may send again.
    KeyedRequestId
);
impl WorkingId {
    /// Returns the id of the task that a request with a key begins. It is the same however often the request is sent.
    pub fn begun_by(request: KeyedRequestId) -> Self {
        derived(&[b"working", request.uuid().as_bytes()]).into()
    }
}

id!(
    /// A task while it runs; names it in logs and in `metadata.task_id` of model calls.
    TaskId
);
