//! `config show`: every setting, its value and where it comes from. Secrets are masked.

use reasoning_bank_actors::memories::WorkspaceRef;
use reasoning_bank_domain::workspace::WorkspaceId;
use serde::Serialize;

use crate::settings::{Effective, Loaded};

#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    settings: Vec<&'a Effective>,
    workspace: WorkspaceDocument<'a>,
    secrets: Vec<SecretDocument<'a>>,
}

#[derive(Debug, Serialize)]
struct WorkspaceDocument<'a> {
    id: WorkspaceId,
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct SecretDocument<'a> {
    key: &'a str,
    /// Masked; absent when it is not set.
    value: Option<&'a str>,
    origin: Option<&'a str>,
}

pub(super) fn document(loaded: &Loaded) -> Document<'_> {
    let workspace = match &loaded.workspace {
        WorkspaceRef::Root(root) => WorkspaceDocument { id: WorkspaceId::of_root(root), root: Some(root) },
        WorkspaceRef::Id(id) => WorkspaceDocument { id: id.clone(), root: None },
    };
    let origin = loaded.api_key.as_ref().map(|key| key.origin.as_str());
    let key = SecretDocument { key: "llm.api_key", value: origin.map(|_| "********"), origin };
    Document { settings: loaded.effective.iter().collect(), workspace, secrets: vec![key] }
}

/// Readable as a configuration file: what is no setting is a comment.
pub(super) fn text(document: &Document<'_>) -> String {
    let root = document.workspace.root.unwrap_or("path not known here");
    let mut lines = vec![format!("# workspace {} ({root})", document.workspace.id)];
    for Effective { key, value, origin } in &document.settings {
        lines.push(format!("{:<52} # {origin}", format!("{key} = {value}")));
    }
    for SecretDocument { key, value, origin } in &document.secrets {
        let (value, origin) = (value.unwrap_or("not set"), origin.map(|o| format!(" ({o})")).unwrap_or_default());
        lines.push(format!("# {key}: {value}{origin}"));
    }
    lines.join("\n")
}
