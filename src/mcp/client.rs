//! The caller of a tool: an agent that speaks the protocol, which can be asked and told things while its call runs, or
//! a script over HTTP, which is asked nothing.

use reasoning_bank_domain::solve::task::Progress;
use rmcp::RoleServer;
use rmcp::model::CallToolRequestParams;
use rmcp::service::RequestContext;
use serde_json::Value;
use tokio::sync::watch;

use super::progress;

/// The key of a request, and what the request was sent to.
pub(crate) struct RequestKey {
    /// 1 to `KeyedRequest::KEY_MAX_BYTES` bytes.
    pub(crate) key: String,
    /// The method and the path.
    pub(crate) route: String,
}

pub(super) enum ToolClient<'a> {
    Agent {
        request: &'a CallToolRequestParams,
        context: RequestContext<RoleServer>,
    },
    Script {
        /// The progress of a solve goes here.
        progress: watch::Sender<Progress>,
        key: Option<RequestKey>,
        /// The revisions of which the memory that is changed must have one. None allows any.
        if_revisions: Option<Vec<u64>>,
    },
}

impl ToolClient<'_> {
    pub(super) fn is_script(&self) -> bool {
        matches!(self, Self::Script { .. })
    }

    /// Says whether the client speaks the revision that has no handshake, in which servers send no requests.
    pub(super) fn is_stateless(&self) -> bool {
        match self {
            Self::Agent { context, .. } => context.protocol_version().is_some_and(|version| !version.has_initialize()),
            Self::Script { .. } => true,
        }
    }

    /// Returns what the client answered to a question that it was asked before it repeated the call.
    pub(super) fn answer_to(&self, question: &str) -> Option<&Value> {
        match self {
            Self::Agent { request, .. } => request.input_responses.as_ref()?.get(question),
            Self::Script { .. } => None,
        }
    }

    /// Returns the key of the request, where it has one.
    pub(super) fn key(&self) -> Option<&RequestKey> {
        match self {
            Self::Agent { .. } => None,
            Self::Script { key, .. } => key.as_ref(),
        }
    }

    /// Returns the revisions of which the memory that is changed must have one, where they are no argument.
    pub(super) fn if_revisions(&self) -> Option<&[u64]> {
        match self {
            Self::Agent { .. } => None,
            Self::Script { if_revisions, .. } => if_revisions.as_deref(),
        }
    }

    /// Returns where the progress of a solve goes.
    pub(super) fn progress(&self) -> watch::Sender<Progress> {
        match self {
            Self::Agent { .. } => watch::Sender::default(),
            Self::Script { progress, .. } => progress.clone(),
        }
    }

    /// Runs `work`, and tells an agent of its progress meanwhile.
    pub(super) async fn told_of<T>(&self, work: impl Future<Output = T>, news: watch::Receiver<Progress>) -> T {
        match self {
            Self::Agent { context, .. } => {
                progress::reported(work, news, context.meta.get_progress_token(), &context.peer).await
            }
            Self::Script { .. } => work.await,
        }
    }
}
