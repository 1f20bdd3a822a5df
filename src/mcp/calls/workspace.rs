//! The workspace that a call reads and writes. On this machine it is the one that the session is bound to, or one that
//! the call names by a path or an id. Over the network it is named by a key, and the token says which keys are good: no
//! path is looked at, and an id allows nothing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::workspaces::{Resolved, WorkspaceRef};
use reasoning_bank_domain::access::Principal;
use reasoning_bank_domain::memory::workspace::{SharedWorkspace, Workspace, WorkspaceId, WorkspaceKey};
use reqwest::Url;
use rmcp::model::{InputRequest, InputRequests};
use serde_json::Value;

use super::{Calling, Interrupted};
use crate::mcp::binding::SessionBinding;
use crate::mcp::caller::Caller;
use crate::mcp::client::ToolClient;
use crate::project;

/// A client may take this long to list its roots.
const ROOTS_LIMIT: Duration = Duration::from_secs(5);
/// Names the question for the client's roots, and its answer.
const ROOTS: &str = "roots";

impl Calling<'_> {
    /// Returns the workspace that a call reads and writes: the session's own, or the one that is named where the user
    /// lets sessions name others.
    pub(in crate::mcp) async fn workspace(&self, named: Option<&str>) -> Result<WorkspaceRef, Interrupted> {
        let binding = match &self.caller {
            Caller::User { binding, .. } => binding,
            Caller::Holder { .. } => return Ok(WorkspaceRef::Shared(shared_workspace(&self.caller, named)?)),
        };
        let named = named.map(|text| self.named("workspace", text).map(|workspace| (text, workspace))).transpose()?;
        let bound = match binding.get() {
            Some(bound) => bound,
            None => self.bound_by_first_sign(binding, named.as_ref().map(|(_, workspace)| workspace)).await?,
        };
        match named {
            None => Ok(bound),
            Some((_, named)) if named == bound || self.options.names_workspaces() => Ok(named),
            Some((text, named)) => {
                // An id that nobody has is an error, in a bound session too.
                let named = self.system.workspaces.resolve(&named, self.deadline).await?.workspace.id;
                if named == self.resolved(&bound).await?.workspace.id {
                    Ok(bound)
                } else {
                    Err(Error::OtherWorkspace(text.to_owned()).into())
                }
            }
        }
    }

    /// Resolves the workspace of the call. The call resolves it once, unless nobody has written to it yet: the call
    /// itself may be the first.
    pub(in crate::mcp) async fn resolved(&self, workspace: &WorkspaceRef) -> Result<Resolved, Error> {
        if let Some((_, resolved)) = self.resolved.get().filter(|(named, _)| named == workspace) {
            return Ok(resolved.clone());
        }
        let resolved = self.system.workspaces.resolve(workspace, self.deadline).await?;
        if resolved.registered {
            let _ = self.resolved.set((workspace.clone(), resolved.clone()));
        }
        Ok(resolved)
    }

    /// Returns the workspace that is written to already and that an argument names, in whatever workspace the session
    /// is.
    pub(in crate::mcp) async fn registered(
        &self,
        argument: &'static str,
        text: &str,
    ) -> Result<(WorkspaceRef, Workspace), Error> {
        let (workspaces, deadline) = (&self.system.workspaces, self.deadline);
        let found = match &self.caller {
            Caller::User { .. } => {
                let all = workspaces.list(deadline).await?;
                let found = project::registered(text, &self.options.base, self.options.identity, &all);
                let found = found.map_err(|error| Error::invalid(argument, error.to_string()))?.cloned();
                found.map(|found| (WorkspaceRef::Id(found.id.clone()), found))
            }
            Caller::Holder { principal, key, .. } => {
                let asked = asked_for(argument, key.as_ref(), Some(text))?;
                let named = WorkspaceRef::Shared(shared(principal, asked)?);
                let resolved = workspaces.resolve(&named, deadline).await?;
                resolved.registered.then_some((named, resolved.workspace))
            }
        };
        found.ok_or_else(|| match self.caller {
            Caller::User { .. } => Error::WorkspaceUnknown(text.to_owned()),
            Caller::Holder { .. } => Error::KeyUnknown(text.to_owned()),
        })
    }

    /// Lists the workspaces that the caller may use and that were ever written to, and the one that the session works
    /// in.
    pub(in crate::mcp) async fn workspaces(&self) -> Result<(Vec<Workspace>, Option<WorkspaceId>), Error> {
        let (workspaces, deadline) = (&self.system.workspaces, self.deadline);
        let mut all = workspaces.list(deadline).await?;
        let current = match &self.caller {
            Caller::User { binding, .. } => binding.get(),
            Caller::Holder { principal, key, .. } => {
                let may_use = |workspace: &Workspace| {
                    let shared = workspace.key.as_ref().and_then(|key| principal.workspace(key));
                    shared.is_some_and(|shared| shared.is(workspace))
                };
                all.retain(may_use);
                shared(principal, key.clone()).ok().map(WorkspaceRef::Shared)
            }
        };
        let current = match current {
            Some(current) => Some(workspaces.resolve(&current, deadline).await?.workspace.id),
            None => None,
        };
        Ok((all, current))
    }

    /// Resolves a workspace as a client of this machine names it.
    pub(in crate::mcp) fn named(&self, argument: &'static str, text: &str) -> Result<WorkspaceRef, Error> {
        project::workspace(text, &self.options.base, self.options.identity)
            .map_err(|error| Error::invalid(argument, error.to_string()))
    }

    /// Binds the session to the one root that the client lists, else to the first project it names that exists.
    async fn bound_by_first_sign(
        &self,
        binding: &SessionBinding,
        named: Option<&WorkspaceRef>,
    ) -> Result<WorkspaceRef, Interrupted> {
        if let [root] = self.roots().await?.as_slice()
            && let Some(workspace) = self.project_at(root)
        {
            return Ok(binding.bind(workspace));
        }
        match named {
            None => Err(Error::WorkspaceRequired(String::new()).into()),
            Some(workspace) if self.exists(workspace).await => Ok(binding.bind(workspace.clone())),
            Some(_) => {
                Err(Error::WorkspaceRequired(": the one that is named does not exist, or is no project".into()).into())
            }
        }
    }

    /// Returns the workspace at a directory that exists, unless everything else lies below it.
    fn project_at(&self, directory: &Path) -> Option<WorkspaceRef> {
        let root = project::root(directory, &self.options.base, self.options.identity).ok()?;
        let is_project = directory.is_dir() && !project::is_too_wide(&root, self.options.home.as_deref());
        is_project.then_some(WorkspaceRef::Root(root))
    }

    async fn exists(&self, workspace: &WorkspaceRef) -> bool {
        match workspace {
            WorkspaceRef::Root(root) => self.project_at(Path::new(root)).is_some(),
            WorkspaceRef::Id(_) | WorkspaceRef::Shared(_) => self.resolved(workspace).await.is_ok(),
        }
    }

    /// Lists the directories that the client says it works in. There are none where it does not say.
    async fn roots(&self) -> Result<Vec<PathBuf>, Interrupted> {
        let ToolClient::Agent { context, .. } = &self.client else { return Ok(Vec::new()) };
        if context.client_capabilities().is_none_or(|capabilities| capabilities.roots.is_none()) {
            return Ok(Vec::new());
        }
        let listed = match self.client.is_stateless() {
            true => match self.client.answer_to(ROOTS) {
                Some(answer) => answer.clone(),
                None => {
                    let question = InputRequest::ListRoots(Default::default());
                    return Err(Interrupted::asks(InputRequests::from([(ROOTS.to_owned(), question)]), None));
                }
            },
            false => {
                #[expect(deprecated, reason = "clients of the revisions with a handshake say so in no other way")]
                let listed = tokio::time::timeout(ROOTS_LIMIT, context.peer.list_roots()).await;
                match listed {
                    Ok(Ok(listed)) => serde_json::to_value(listed).map_err(Error::internal)?,
                    _ => Value::Null,
                }
            }
        };
        Ok(directories(&listed))
    }
}

/// Returns the workspace that a request over the network is for.
pub(in crate::mcp) fn shared_workspace(caller: &Caller<'_>, named: Option<&str>) -> Result<SharedWorkspace, Error> {
    let Caller::Holder { principal, key, .. } = caller else {
        return Err(Error::internal("a user of this machine names no shared workspace"));
    };
    shared(principal, asked_for("workspace", key.as_ref(), named)?)
}

/// Returns the key under which the audit log notes a request, whether the request may use it or not.
pub(in crate::mcp) fn noted_key(
    principal: &Principal,
    header: Option<&WorkspaceKey>,
    named: Option<&str>,
) -> Option<WorkspaceKey> {
    let asked = named.and_then(|named| named.parse().ok()).or_else(|| header.cloned());
    asked.or_else(|| Some(principal.only_workspace()?.key))
}

/// Returns the key that a request over the network names: in its header, in an argument, or the same in both.
fn asked_for(
    argument: &'static str,
    header: Option<&WorkspaceKey>,
    named: Option<&str>,
) -> Result<Option<WorkspaceKey>, Error> {
    let Some(text) = named else { return Ok(header.cloned()) };
    let key = WorkspaceKey::chosen(text).map_err(|error| Error::invalid(argument, error.to_string()))?;
    match header {
        Some(header) if *header != key => {
            Err(Error::TwoWorkspaces { argument, named: key.to_string(), bound: header.to_string() })
        }
        _ => Ok(Some(key)),
    }
}

/// Returns the workspace of a principal under a key, or without a key the only one that the principal may use.
fn shared(principal: &Principal, key: Option<WorkspaceKey>) -> Result<SharedWorkspace, Error> {
    match key {
        Some(key) => principal.workspace(&key).ok_or_else(|| Error::KeyUnknown(key.to_string())),
        None => principal.only_workspace().ok_or(Error::KeyRequired),
    }
}

/// Picks the local directories of a client's list of roots.
fn directories(listed: &Value) -> Vec<PathBuf> {
    let roots = listed["roots"].as_array().map(Vec::as_slice).unwrap_or_default();
    let path =
        |root: &Value| Url::parse(root["uri"].as_str()?).ok().filter(|uri| uri.scheme() == "file")?.to_file_path().ok();
    roots.iter().filter_map(path).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_local_directories_count_as_roots() {
        let listed = json!({"roots": [
            {"uri": "file:///home/me/a%20b", "name": "x"}, {"uri": "https://example.org/a"}, {"uri": "file://"}, {"uri": 7},
            {"uri": "/home/me"}, {},
        ]});
        assert_eq!(directories(&listed)[0], Path::new("/home/me/a b"));
        assert!(directories(&listed).iter().all(|path| path.is_absolute()));
        assert_eq!(directories(&json!(null)), Vec::<PathBuf>::new());
        assert_eq!(directories(&json!({"roots": "file:///x"})), Vec::<PathBuf>::new());
    }
}
