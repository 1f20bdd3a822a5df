//! Finds the repository that a directory belongs to, by the files that git leaves. Every link from a directory to a
//! repository elsewhere counts only if the repository points back: an unpacked archive must not claim another project's
//! memories with a forged `.git` file.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Finds the root of the repository that holds `directory`, which is canonical. There is none outside of one.
pub(super) fn root(directory: &Path) -> Option<PathBuf> {
    directory.ancestors().find_map(root_at)
}

/// Finds the top of the work tree that holds `directory`, which is canonical.
pub(super) fn work_tree(directory: &Path) -> Option<PathBuf> {
    let top = directory.ancestors().find(|ancestor| root_at(ancestor).is_some())?;
    (!is_git_dir(top)).then(|| top.to_owned())
}

/// Returns the root if `directory` is the top of a work tree or a git directory.
fn root_at(directory: &Path) -> Option<PathBuf> {
    let link = directory.join(".git");
    if is_git_dir(&link) {
        return Some(directory.to_owned());
    }
    if link.is_file() {
        return Some(root_of_link(directory).unwrap_or_else(|| directory.to_owned()));
    }
    is_git_dir(directory).then(|| root_of_git_dir(directory))
}

/// Finds the root of a work tree whose `.git` is a file: a linked work tree, a submodule, or a git directory kept
/// elsewhere.
fn root_of_link(work_tree: &Path) -> Option<PathBuf> {
    let git_dir = linked_git_dir(work_tree)?;
    if let Some(common) = common_of_linked(&git_dir) {
        let points_back = read(&git_dir.join("gitdir"))
            .and_then(|link| git_dir.join(link).canonicalize().ok())
            .is_some_and(|link| link == work_tree.join(".git"));
        return points_back.then(|| root_of_common(&common));
    }
    // A submodule's git directory names its work tree; one inside the work tree (a bare repository beside its work
    // trees) is its own. Any other cannot be told from a forged link: the directory stands for itself.
    if configured_work_tree(&git_dir).is_some_and(|named| named == work_tree) {
        Some(work_tree.to_owned())
    } else {
        git_dir.starts_with(work_tree).then(|| root_of_common(&git_dir))
    }
}

/// Finds the root of a directory that is a git directory itself.
fn root_of_git_dir(git_dir: &Path) -> PathBuf {
    root_of_common(&common_of_linked(git_dir).unwrap_or_else(|| git_dir.to_owned()))
}

/// Finds the root of the repository whose common directory this is: its parent where it is named `.git`, the work tree
/// it names where that one points back (submodules), or else itself (bare).
fn root_of_common(common: &Path) -> PathBuf {
    if common.file_name().is_some_and(|name| name == ".git")
        && let Some(parent) = common.parent()
    {
        return parent.to_owned();
    }
    configured_work_tree(common)
        .filter(|work_tree| linked_git_dir(work_tree).is_some_and(|git_dir| git_dir == common))
        .unwrap_or_else(|| common.to_owned())
}

/// Returns the common directory if this is the git directory of a linked work tree: `<common>/worktrees/<name>`.
fn common_of_linked(git_dir: &Path) -> Option<PathBuf> {
    let common = git_dir.join(read(&git_dir.join("commondir"))?).canonicalize().ok()?;
    (git_dir.parent()? == common.join("worktrees") && is_git_dir(&common)).then_some(common)
}

/// Reads the git directory that the `.git` file of a work tree names.
fn linked_git_dir(work_tree: &Path) -> Option<PathBuf> {
    let text = read(&work_tree.join(".git"))?;
    let git_dir = work_tree.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    git_dir.is_dir().then_some(git_dir)
}

/// Returns the URL of the remote `origin` of the repository at this root.
pub(super) fn origin(root: &Path) -> Option<String> {
    let link = root.join(".git");
    let git_dir = if link.is_file() {
        linked_git_dir(root)?
    } else if link.is_dir() {
        link
    } else {
        root.to_owned()
    };
    configured(&git_dir, "[remote \"origin\"]", "url")
}

/// Reads `core.worktree` of a git directory's configuration as a canonical path.
fn configured_work_tree(git_dir: &Path) -> Option<PathBuf> {
    git_dir.join(configured(git_dir, "[core]", "worktree")?).canonicalize().ok()
}

/// Reads the value of a key in a section of a git directory's configuration. The last one wins.
fn configured(git_dir: &Path, section: &str, name: &str) -> Option<String> {
    let config = read(&git_dir.join("config"))?;
    let mut in_section = false;
    let mut found = None;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            in_section = line.eq_ignore_ascii_case(section);
        } else if in_section
            && let Some((key, value)) = line.split_once('=')
            && key.trim().eq_ignore_ascii_case(name)
        {
            found = Some(value.trim().trim_matches('"').to_owned());
        }
    }
    found
}

fn is_git_dir(path: &Path) -> bool {
    let has_objects = path.join("objects").is_dir() && path.join("refs").is_dir();
    path.join("HEAD").is_file() && (has_objects || path.join("commondir").is_file())
}

/// Reads a small file and trims its text. It returns none for what is no small regular UTF-8 file.
fn read(path: &Path) -> Option<String> {
    const MAX_BYTES: u64 = 256 * 1024;
    let meta = path.metadata().ok()?;
    if !meta.is_file() || meta.len() > MAX_BYTES {
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    Some(text.trim().to_owned())
}
