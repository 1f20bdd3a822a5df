//! The project root of a path, which is the identity of a workspace: all work trees and subdirectories of a repository
//! are one workspace. Files are read here, and no git process runs. What a workspace may do is not decided here.

use std::path::{Path, PathBuf};

use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId, WorkspaceKey};
use serde::{Deserialize, Serialize};

mod git;

/// The values of `workspace.identity`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Identity {
    /// The root is the repository that a path is in, or else the directory.
    #[default]
    Git,
    /// The root is the directory itself.
    Path,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProjectError {
    #[error("the path is empty")]
    Empty,
    #[error("the path {0} cannot be read: {1}")]
    Unreadable(PathBuf, String),
    #[error("the path {0} is not UTF-8")]
    NotUtf8(PathBuf),
}

/// Finds the canonical project root of `path`. A relative path is one below `base`, and a file stands for its
/// directory. A path that does not exist is resolved as far as it does: it names a workspace that nobody has written
/// to.
pub fn root(path: &Path, base: &Path, identity: Identity) -> Result<String, ProjectError> {
    if path.as_os_str().is_empty() {
        return Err(ProjectError::Empty);
    }
    let (existing, rest) = resolve(&base.join(path))?;
    let directory = if existing.is_file() { existing.parent().unwrap_or(&existing) } else { &existing };
    let repository = match identity {
        Identity::Git => git::root(directory),
        Identity::Path => None,
    };
    let root = repository.unwrap_or_else(|| directory.components().chain(rest.components()).collect());
    root.to_str().map(str::to_owned).ok_or_else(|| ProjectError::NotUtf8(root.clone()))
}

/// Finds the top of the work tree that holds a path, or none outside of work trees. That of a linked work tree is
/// another directory than its project root.
pub fn work_tree(path: &Path) -> Option<PathBuf> {
    git::work_tree(&path.canonicalize().ok()?)
}

/// Returns the key under which a team's server would know the repository at this root: that of its remote `origin`.
/// Whoever writes a checkout chooses its remote, so a user agrees to a key before it is used.
pub fn key_of_remote(root: &Path) -> Option<WorkspaceKey> {
    WorkspaceKey::of_remote(&git::origin(root)?)
}

/// Says whether a directory lies in a repository.
pub fn in_repository(directory: &Path) -> bool {
    directory.canonicalize().is_ok_and(|directory| git::root(&directory).is_some())
}

/// Resolves a workspace as a user names it: by the 16 hex digits of an id, or by a path.
pub fn workspace(text: &str, base: &Path, identity: Identity) -> Result<WorkspaceRef, ProjectError> {
    match text.parse::<WorkspaceId>() {
        Ok(id) if !base.join(text).exists() => Ok(WorkspaceRef::Id(id)),
        _ => root(Path::new(text), base, identity).map(WorkspaceRef::Root),
    }
}

/// Finds the one among `registered` that an id or a path names. It serves what changes or removes a workspace, where a
/// slip of the pen must not hit another one. A path means the root that was registered under it, even if nothing is
/// there any more; it means the repository around it only where there is something.
pub fn registered<'a>(
    text: &str,
    base: &Path,
    identity: Identity,
    registered: &'a [Workspace],
) -> Result<Option<&'a Workspace>, ProjectError> {
    let of_root = |root: &str| registered.iter().find(|workspace| workspace.root == root);
    let named = workspace(text, base, identity)?;
    let Some(root) = named.root() else {
        return Ok(registered.iter().find(|workspace| workspace.id == named.own_id()));
    };
    let exact = self::root(Path::new(text), base, Identity::Path)?;
    Ok(of_root(&exact).or_else(|| of_root(root).filter(|_| base.join(text).exists())))
}

/// Says whether every other project lies below a root, as below that of the file system, the home directory or one that
/// this is in.
pub fn is_too_wide(root: &str, home: Option<&Path>) -> bool {
    is_file_system(root) || home.is_some_and(|home| home.starts_with(root))
}

/// Explains why a root is probably not what was meant, if so.
pub fn warning(root: &str, home: Option<&Path>) -> Option<String> {
    let what = match (is_file_system(root), is_home(root, home)) {
        (true, _) => "the root of the file system",
        (false, true) => "your home directory",
        (false, false) => return None,
    };
    Some(format!(
        "the workspace is {what} ({root}): everything below it shares its memories; choose a project with --workspace"
    ))
}

fn is_file_system(root: &str) -> bool {
    Path::new(root).parent().is_none()
}

fn is_home(root: &str, home: Option<&Path>) -> bool {
    home.is_some_and(|home| home.canonicalize().is_ok_and(|home| home == Path::new(root)))
}

/// Splits an absolute path into the canonical form of the part that exists, and the part that does not.
fn resolve(path: &Path) -> Result<(PathBuf, PathBuf), ProjectError> {
    let mut rest = Vec::new();
    let mut existing = lexical(path);
    loop {
        match existing.canonicalize() {
            Ok(canonical) => return Ok((canonical, rest.iter().rev().collect())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let Some(name) = existing.file_name().map(ToOwned::to_owned) else {
                    return Err(ProjectError::Unreadable(existing, error.to_string()));
                };
                rest.push(name);
                existing.pop();
            }
            Err(error) => return Err(ProjectError::Unreadable(existing, error.to_string())),
        }
    }
}

/// Removes `..` behind parts that do not exist. Behind parts that do, `..` is the matter of the file system and its
/// symlinks.
fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir if !out.exists() => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests;
