//! The workspace that a call reads and writes: the one that its session is bound to, or one that it names.

use std::path::{Path, PathBuf};
use std::time::Duration;

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reqwest::Url;
use rmcp::model::{InputRequest, InputRequests};
use serde_json::Value;

use super::{Calling, Interrupted};
use crate::project;

/// A client may take this long to list its roots.
const ROOTS_LIMIT: Duration = Duration::from_secs(5);
/// The store may take this long to say which workspace an id means.
const RESOLVE_LIMIT: Duration = Duration::from_secs(30);
/// Names the question for the client's roots, and its answer.
const ROOTS: &str = "roots";

impl Calling<'_> {
    /// Returns the workspace that a call reads and writes: the session's own, or the one that is named where the user
    /// lets sessions name others.
    pub(in crate::mcp) async fn workspace(&self, named: Option<&str>) -> Result<WorkspaceRef, Interrupted> {
        let named = named.map(|text| self.named("workspace", text).map(|workspace| (text, workspace))).transpose()?;
        let bound = match self.binding.get() {
            Some(bound) => bound,
            None => self.bound_by_first_sign(named.as_ref().map(|(_, workspace)| workspace)).await?,
        };
        match named {
            None => Ok(bound),
            Some((_, named)) if named == bound || self.options.names_workspaces() => Ok(named),
            Some((_, named)) if self.id_of(&named).await? == self.id_of(&bound).await? => Ok(bound),
            Some((text, _)) => Err(Error::OtherWorkspace(text.to_owned()).into()),
        }
    }

    /// Resolves a workspace as a client names it.
    pub(in crate::mcp) fn named(&self, argument: &'static str, text: &str) -> Result<WorkspaceRef, Error> {
        project::workspace(text, &self.options.base, self.options.identity)
            .map_err(|error| Error::invalid(argument, error.to_string()))
    }

    /// Returns the id of a workspace. An id that nobody has is an error, in a bound session too.
    async fn id_of(&self, workspace: &WorkspaceRef) -> Result<WorkspaceId, Error> {
        Ok(self.system.workspaces.resolve(workspace, Deadline::after(RESOLVE_LIMIT)).await?.workspace.id)
    }

    /// Binds the session to the one root that the client lists, else to the first project it names that exists.
    async fn bound_by_first_sign(&self, named: Option<&WorkspaceRef>) -> Result<WorkspaceRef, Interrupted> {
        if let [root] = self.roots().await?.as_slice()
            && let Some(workspace) = self.project_at(root)
        {
            return Ok(self.binding.bind(workspace));
        }
        match named {
            None => Err(Error::WorkspaceRequired(String::new()).into()),
            Some(workspace) if self.exists(workspace).await => Ok(self.binding.bind(workspace.clone())),
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
            WorkspaceRef::Id(_) => self.id_of(workspace).await.is_ok(),
        }
    }

    /// Lists the directories that the client says it works in. There are none where it does not say.
    async fn roots(&self) -> Result<Vec<PathBuf>, Interrupted> {
        if self.context.client_capabilities().is_none_or(|capabilities| capabilities.roots.is_none()) {
            return Ok(Vec::new());
        }
        let listed = match self.is_stateless() {
            true => match self.answer_to(ROOTS) {
                Some(answer) => answer.clone(),
                None => {
                    let question = InputRequest::ListRoots(Default::default());
                    return Err(Interrupted::asks(InputRequests::from([(ROOTS.to_owned(), question)]), None));
                }
            },
            false => {
                #[expect(deprecated, reason = "clients of the revisions with a handshake say so in no other way")]
                let listed = tokio::time::timeout(ROOTS_LIMIT, self.context.peer.list_roots()).await;
                match listed {
                    Ok(Ok(listed)) => serde_json::to_value(listed).map_err(Error::internal)?,
                    _ => Value::Null,
                }
            }
        };
        Ok(directories(&listed))
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
