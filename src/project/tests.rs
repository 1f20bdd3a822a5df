use std::process::Command;

use super::*;

fn git(directory: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A directory with the repository `repo` in it, which has one commit.
fn with_repository() -> (tempfile::TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let top = temp.path().canonicalize().unwrap();
    std::fs::create_dir_all(top.join("repo/src/deep")).unwrap();
    git(&top.join("repo"), &["init", "-q", "-b", "main"]);
    git(&top.join("repo"), &["commit", "-q", "--allow-empty", "-m", "first"]);
    (temp, top)
}

/// Returns the root as a path, after a look at the text, which is what identifies a workspace.
fn root_of(path: &Path) -> PathBuf {
    let root = root(path, Path::new("/"), Identity::Git).unwrap();
    assert!(!root.ends_with('/') && !root.contains("//") && !root.contains("/./"), "{root}");
    root.into()
}

#[test]
fn what_is_changed_or_removed_is_what_was_named() {
    let (_temp, top) = with_repository();
    let registered: Vec<Workspace> = ["repo", "repo/gone-submodule", "gone"]
        .map(|root| Workspace::of_root(top.join(root).to_str().unwrap(), jiff::Timestamp::UNIX_EPOCH))
        .into();
    let found = |text: &str| super::registered(text, &top, Identity::Git, &registered).unwrap();
    let named = |root: &str| registered.iter().find(|workspace| Path::new(&workspace.root) == top.join(root));

    for (text, root) in [("repo", "repo"), ("repo/src/deep", "repo"), ("gone", "gone")] {
        assert_eq!(found(text), named(root), "{text}");
    }
    assert_eq!(found("repo/gone-submodule"), named("repo/gone-submodule"), "not the repository around it");
    assert_eq!(found("repo/typo"), None, "not the repository around it");
    assert_eq!(found("typo"), None);
    assert_eq!(found(registered[2].id.as_str()), named("gone"));
    assert_eq!(found("0123456789abcdef"), None);
}

#[test]
fn all_clones_of_a_repository_have_the_key_of_its_remote() {
    let (_temp, top) = with_repository();
    let repo = top.join("repo");
    assert_eq!(key_of_remote(&repo), None, "without a remote");
    git(&repo, &["remote", "add", "upstream", "https://example.org/other/shop.git"]);
    git(&repo, &["remote", "add", "origin", "https://me:secret@example.org/acme/shop.git"]);
    git(&repo, &["worktree", "add", "-q", "../tree", "-b", "tree"]);
    git(&top, &["clone", "-q", "--bare", "repo", "bare.git"]);
    for path in ["repo", "repo/src", "tree"] {
        assert_eq!(key_of_remote(&root_of(&top.join(path))).unwrap().as_str(), "git:example.org/acme/shop", "{path}");
    }
    assert_eq!(key_of_remote(&top.join("bare.git")), None, "a path on this disk is no key");
    assert_eq!(key_of_remote(&top), None);
}

#[test]
fn subdirectories_work_trees_and_the_git_directory_belong_to_their_repository() {
    let (_temp, top) = with_repository();
    let repo = top.join("repo");
    git(&repo, &["worktree", "add", "-q", "../tree", "-b", "tree"]);
    std::fs::create_dir(top.join("tree/sub")).unwrap();
    for path in ["repo", "repo/src/deep", "repo/.git", "repo/.git/worktrees/tree", "tree", "tree/sub"] {
        assert_eq!(root_of(&top.join(path)), repo, "{path}");
    }
}

#[test]
fn a_bare_repository_and_its_work_trees_are_the_bare_directory() {
    let (_temp, top) = with_repository();
    git(&top, &["clone", "-q", "--bare", "repo", "bare.git"]);
    git(&top.join("bare.git"), &["worktree", "add", "-q", "../tree", "-b", "tree"]);
    assert_eq!(root_of(&top.join("bare.git")), top.join("bare.git"));
    assert_eq!(root_of(&top.join("bare.git/refs")), top.join("bare.git"));
    assert_eq!(root_of(&top.join("tree")), top.join("bare.git"));
}

#[test]
fn a_bare_repository_inside_the_project_directory_is_one_workspace_with_its_work_trees() {
    let (_temp, top) = with_repository();
    git(&top, &["clone", "-q", "--bare", "repo", "project/.bare"]);
    std::fs::write(top.join("project/.git"), "gitdir: ./.bare\n").unwrap();
    git(&top.join("project"), &["worktree", "add", "-q", "tree", "-b", "tree"]);
    assert_eq!(root_of(&top.join("project")), top.join("project/.bare"));
    assert_eq!(root_of(&top.join("project/tree")), top.join("project/.bare"));
}

#[test]
fn a_submodule_is_its_own_workspace_and_so_are_its_work_trees() {
    let (_temp, top) = with_repository();
    git(&top, &["init", "-q", "outer"]);
    git(&top.join("outer"), &["submodule", "--quiet", "add", "../repo", "inner"]);
    git(&top.join("outer/inner"), &["worktree", "add", "-q", "../../tree", "-b", "tree"]);
    assert_eq!(root_of(&top.join("outer")), top.join("outer"));
    assert_eq!(root_of(&top.join("outer/inner")), top.join("outer/inner"));
    assert_eq!(root_of(&top.join("tree")), top.join("outer/inner"));
}

#[test]
fn a_git_directory_kept_elsewhere_leaves_the_work_tree_its_own_workspace() {
    let (_temp, top) = with_repository();
    git(&top, &["init", "-q", "--separate-git-dir", "kept.git", "apart"]);
    assert_eq!(root_of(&top.join("apart")), top.join("apart"));
}

#[test]
fn a_forged_link_does_not_reach_another_repository() {
    let (_temp, top) = with_repository();
    let repo = top.join("repo");
    git(&repo, &["worktree", "add", "-q", "../tree", "-b", "tree"]);
    let forged = top.join("forged");
    let fake = forged.join("fake");
    std::fs::create_dir_all(fake.join("objects")).unwrap();
    std::fs::create_dir_all(fake.join("refs")).unwrap();
    std::fs::write(fake.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(fake.join("config"), format!("[core]\n\tworktree = {}\n", repo.display())).unwrap();
    for link in [repo.join(".git"), repo.join(".git/worktrees/tree")] {
        std::fs::write(forged.join(".git"), format!("gitdir: {}\n", link.display())).unwrap();
        assert_eq!(root_of(&forged), forged);
    }
    std::fs::write(forged.join(".git"), "gitdir: fake\n").unwrap();
    assert_eq!(root_of(&forged), fake);
    std::fs::write(fake.join("commondir"), format!("{}\n", repo.join(".git").display())).unwrap();
    std::fs::write(fake.join("gitdir"), format!("{}\n", forged.join(".git").display())).unwrap();
    assert_eq!(root_of(&forged), fake);
}

#[test]
fn outside_a_repository_the_directory_is_the_root_and_a_file_stands_for_its_directory() {
    let temp = tempfile::tempdir().unwrap();
    let top = temp.path().canonicalize().unwrap();
    std::fs::create_dir(top.join("plain")).unwrap();
    std::fs::write(top.join("plain/file.txt"), "").unwrap();
    assert_eq!(root_of(&top.join("plain")), top.join("plain"));
    assert_eq!(root_of(&top.join("plain/file.txt")), top.join("plain"));
    assert_eq!(root_of(&top.join("plain/../plain/.")), top.join("plain"));
}

#[test]
fn a_path_that_does_not_exist_is_resolved_as_far_as_it_does() {
    let (_temp, top) = with_repository();
    assert_eq!(root_of(&top.join("gone/deeper")), top.join("gone/deeper"));
    assert_eq!(root_of(&top.join("gone/../other")), top.join("other"));
    assert_eq!(root_of(&top.join("repo/gone")), top.join("repo"));
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_resolved() {
    let (_temp, top) = with_repository();
    std::os::unix::fs::symlink(top.join("repo/src"), top.join("link")).unwrap();
    assert_eq!(root_of(&top.join("link/deep")), top.join("repo"));
}

#[test]
fn identity_path_turns_the_repository_rule_off() {
    let (_temp, top) = with_repository();
    let own = root(Path::new("repo/src"), &top, Identity::Path).unwrap();
    assert_eq!(Path::new(&own), top.join("repo/src"));
}

#[test]
fn sixteen_hex_digits_are_an_id_unless_they_are_a_directory() {
    let temp = tempfile::tempdir().unwrap();
    let top = temp.path().canonicalize().unwrap();
    let named = |text: &str| workspace(text, &top, Identity::Git).unwrap();
    assert_eq!(named("0123456789abcdef"), WorkspaceRef::Id("0123456789abcdef".parse().unwrap()));
    std::fs::create_dir(top.join("0123456789abcdef")).unwrap();
    assert!(matches!(named("0123456789abcdef"), WorkspaceRef::Root(_)));
    assert_eq!(workspace("", &top, Identity::Git), Err(ProjectError::Empty));
}

#[test]
fn home_and_the_file_system_root_are_warned_of() {
    let temp = tempfile::tempdir().unwrap();
    let home = temp.path().canonicalize().unwrap();
    assert!(warning("/", None).unwrap().contains("root of the file system"));
    assert!(warning(home.to_str().unwrap(), Some(temp.path())).unwrap().contains("home directory"));
    assert_eq!(warning(home.join("project").to_str().unwrap(), Some(&home)), None);
}
