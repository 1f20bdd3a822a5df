//! The command `config show` lists every setting with its value and its origin. Secrets are masked.

use reasoning_bank_domain::memory::workspace::WorkspaceId;
use serde::Serialize;

use crate::settings::{CheckoutProposal, Effective, Loaded};

#[derive(Debug, Serialize)]
pub(super) struct ConfigDocument<'a> {
    settings: Vec<Effective>,
    workspace: WorkspaceDocument<'a>,
    secrets: Vec<SecretDocument<'a>>,
}

#[derive(Debug, Serialize)]
struct WorkspaceDocument<'a> {
    id: WorkspaceId,
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<&'a str>,
    /// The way in which it came to be the workspace.
    origin: &'a str,
    /// The proposal of its checkout, which counts after `workspace trust`.
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal: Option<&'a CheckoutProposal>,
}

#[derive(Debug, Serialize)]
struct SecretDocument<'a> {
    key: &'a str,
    /// The value is masked, and absent when it is not set.
    value: Option<&'a str>,
    origin: Option<&'a str>,
    /// The reason why what is set cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

pub(super) fn document(loaded: &Loaded) -> ConfigDocument<'_> {
    let (id, root) = (loaded.workspace.own_id(), loaded.workspace.root());
    let workspace =
        WorkspaceDocument { id, root, origin: &loaded.workspace_origin, proposal: loaded.proposal.as_ref() };
    let origin = loaded.api_key.as_ref().map(|key| key.origin.as_str());
    let problem = loaded.key_problem.as_ref().map(ToString::to_string);
    let key = SecretDocument { key: "llm.api_key", value: origin.map(|_| "********"), origin, problem };
    ConfigDocument { settings: loaded.effective(), workspace, secrets: vec![key] }
}

/// Writes the document as a configuration file. What is no setting is a comment.
pub(super) fn text(document: &ConfigDocument<'_>) -> String {
    let WorkspaceDocument { id, root, origin, proposal } = &document.workspace;
    let mut lines = vec![format!("# workspace {id} ({}), from: {origin}", root.unwrap_or("path not known here"))];
    if let Some(CheckoutProposal { team, org, ranking, file }) = proposal {
        let scopes = [("workspace.team", team), ("workspace.org", org)];
        let scopes = scopes.into_iter().filter_map(|(key, name)| Some((key, format!("{:?}", name.as_ref()?))));
        for (key, value) in scopes.chain(ranking.iter().map(|(key, value)| (key.as_str(), value.to_string()))) {
            lines.push(format!("# {key} = {value} is proposed by {}; `workspace trust` agrees", file.display()));
        }
    }
    for Effective { key, value, origin } in &document.settings {
        lines.push(format!("{:<52} # {origin}", format!("{key} = {value}")));
    }
    for SecretDocument { key, value, origin, problem } in &document.secrets {
        let (value, origin) = (value.unwrap_or("not set"), origin.map(|o| format!(" ({o})")).unwrap_or_default());
        lines.push(match problem {
            Some(problem) => format!("# {key}: cannot be used; {problem}"),
            None => format!("# {key}: {value}{origin}"),
        });
    }
    lines.join("\n")
}
