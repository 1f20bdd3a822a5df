//! The workspace that a session is bound to. A session is bound to one: from its start, or by the first thing that says
//! which project it is for. What was learned in one project so never reaches another because a text asks for it.

use std::sync::{Mutex, PoisonError};

use reasoning_bank_actors::workspaces::WorkspaceRef;

/// The workspace of a session, once it is known.
#[derive(Debug, Default)]
pub(super) struct SessionBinding(Mutex<Option<WorkspaceRef>>);

impl SessionBinding {
    pub(super) fn new(workspace: Option<WorkspaceRef>) -> Self {
        Self(Mutex::new(workspace))
    }

    pub(super) fn get(&self) -> Option<WorkspaceRef> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Binds a session that is not bound yet, and returns what it is bound to then. The first of two calls at once
    /// binds.
    pub(super) fn bind(&self, workspace: WorkspaceRef) -> WorkspaceRef {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(workspace).clone()
    }

    /// Binds the session to another workspace.
    pub(super) fn rebind(&self, workspace: WorkspaceRef) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(workspace);
    }
}
