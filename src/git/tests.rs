use std::path::PathBuf;

use reasoning_bank_domain::evidence::stability::WorkStanding;

use super::*;

/// Runs git as somebody who works in the directory, at a second of 2026.
fn git(directory: &Path, second: u32, arguments: &[&str]) -> String {
    let date = format!("@{} +0000", 1_767_225_600 + i64::from(second));
    let output = std::process::Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_AUTHOR_DATE", &date)
        .env("GIT_COMMITTER_DATE", &date)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn at(second: u32) -> Timestamp {
    Timestamp::from_second(1_767_225_600 + i64::from(second)).unwrap()
}

fn change(directory: &Path, second: u32, file: &str) {
    std::fs::write(directory.join(file), second.to_string()).unwrap();
    git(directory, second, &["add", "."]);
    git(directory, second, &["commit", "-q", "-m", &format!("change {file}")]);
}

fn repository() -> (tempfile::TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let top = temp.path().canonicalize().unwrap().join("repository");
    std::fs::create_dir_all(top.join("sub")).unwrap();
    git(&top, 0, &["init", "-q", "-b", "main"]);
    (temp, top)
}

async fn standing(directory: &Path, only_below: bool, solved: u32) -> WorkStanding {
    history(directory, only_below).await.unwrap().standing(at(solved), at(30 * 24 * 60 * 60))
}

fn count(standing: &WorkStanding) -> usize {
    match standing {
        WorkStanding::Stable { commits, .. } => *commits,
        WorkStanding::Nothing => 0,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn commits_of_all_branches_are_read_and_their_reverts_are_understood() {
    let (_temp, top) = repository();
    assert_eq!(standing(&top, false, 0).await, WorkStanding::Nothing, "there is no commit yet");
    change(&top, 10, "a");
    git(&top, 11, &["switch", "-q", "-c", "side"]);
    change(&top, 12, "b");
    git(&top, 13, &["switch", "-q", "--detach", "main"]);
    change(&top, 14, "c");
    std::fs::write(top.join("a"), "put away").unwrap();
    git(&top, 15, &["stash", "-q"]);
    for directory in [&top, &top.join("sub")] {
        assert_eq!(count(&standing(directory, false, 10).await), 3);
    }
    git(&top, 20, &["switch", "-q", "side"]);
    git(&top, 21, &["revert", "--no-edit", "HEAD"]);
    let WorkStanding::Reverted { commit, by } = standing(&top, false, 10).await else {
        panic!("a commit was reverted")
    };
    assert_eq!((commit.subject.as_str(), by.subject.as_str()), ("change b", "Revert \"change b\""));
    git(&top, 22, &["revert", "--no-edit", "HEAD"]);
    assert_eq!(count(&standing(&top, false, 10).await), 4, "c is on no branch any more");
}

#[tokio::test]
async fn of_a_directory_in_a_repository_only_what_changed_it_counts() {
    let (_temp, top) = repository();
    change(&top, 9, "sub/a");
    change(&top, 10, "a");
    change(&top, 11, "sub/b");
    assert_eq!(count(&standing(&top.join("sub"), true, 10).await), 1);
    git(&top, 12, &["revert", "--no-edit", "HEAD"]);
    assert_eq!(standing(&top.join("sub"), true, 10).await.signal().unwrap().as_str(), "reverted");
}

#[tokio::test]
async fn a_bare_repository_is_read_too_and_what_is_none_is_refused() {
    let (temp, top) = repository();
    change(&top, 10, "a");
    git(temp.path(), 11, &["clone", "-q", "--bare", "repository", "bare.git"]);
    assert_eq!(count(&standing(&temp.path().join("bare.git"), false, 5).await), 1);
    std::fs::create_dir(temp.path().join("plain")).unwrap();
    let refused = history(&temp.path().join("plain"), false).await.unwrap_err();
    assert!(matches!(&refused, GitError::Refused(words) if words.contains("not a git repository")), "{refused}");
    assert!(matches!(history(&temp.path().join("gone"), false).await, Err(GitError::Io(_))));
}

#[tokio::test]
async fn nothing_that_a_repository_names_is_run() {
    let (temp, top) = repository();
    change(&top, 10, "a");
    let ran = temp.path().join("ran");
    let program = temp.path().join("program");
    std::fs::write(&program, format!("#!/bin/sh\necho \"$@\" >> {}\n", ran.display())).unwrap();
    std::process::Command::new("chmod").arg("+x").arg(&program).status().unwrap();
    let program = program.to_str().unwrap();
    // A signature makes git run what checks it.
    let tree = git(&top, 11, &["rev-parse", "HEAD^{tree}"]);
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n aGVsbG8=\n -----END PGP SIGNATURE-----";
    let person = "t <t@example.org> 1767225611 +0000";
    let signed = format!("tree {tree}\nauthor {person}\ncommitter {person}\n{signature}\n\nsigned\n");
    std::fs::write(temp.path().join("signed"), signed).unwrap();
    let signed = git(&top, 11, &["hash-object", "-t", "commit", "-w", "../signed"]);
    git(&top, 11, &["update-ref", "refs/heads/signed", &signed]);
    // A tree that is missing makes it ask the remote that promises to have it.
    change(&top, 12, "sub/b");
    let lost = git(&top, 12, &["rev-parse", "HEAD^{tree}"]);
    std::fs::remove_file(top.join(".git/objects").join(&lost[..2]).join(&lost[2..])).unwrap();
    for (key, value) in [
        ("core.fsmonitor", program),
        ("core.pager", program),
        ("pager.log", program),
        ("core.sshCommand", program),
        ("core.alternateRefsCommand", program),
        ("core.editor", program),
        ("gpg.program", program),
        ("log.showSignature", "true"),
        ("diff.external", program),
        ("remote.origin.url", "ssh://host.invalid/repository"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.partialclonefilter", "blob:none"),
        ("protocol.allow", "always"),
        ("protocol.ssh.allow", "always"),
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
    ] {
        git(&top, 14, &["config", key, value]);
    }
    let hook = top.join(".git/hooks/post-index-change");
    std::fs::copy(program, hook).unwrap();
    // Git decides whether the rest can be read.
    let sub = top.join("sub");
    for (directory, only_below) in [(&top, false), (&sub, false), (&sub, true)] {
        let _ = history(directory, only_below).await;
        assert!(!ran.exists(), "{}", std::fs::read_to_string(&ran).unwrap());
    }
    // Without the precautions it is run, for the one and for the other.
    for (directory, path, asked) in [(&top, None, "--verify"), (&sub, Some("."), "host.invalid")] {
        let mut plain = std::process::Command::new("git");
        let plain = plain.args(["log", "--all", "--"]).args(path).current_dir(directory).output().unwrap();
        let ran = std::fs::read_to_string(&ran).unwrap_or_default();
        assert!(ran.contains(asked), "{ran}{}", String::from_utf8_lossy(&plain.stderr));
    }
}

#[tokio::test]
async fn what_a_shallow_clone_left_out_is_not_judged() {
    let (temp, top) = repository();
    for second in [10, 20, 30, 40] {
        change(&top, second, "a");
    }
    git(&top, 41, &["switch", "-q", "--orphan", "other"]);
    for second in [15, 16] {
        change(&top, second, "b");
    }
    let source = format!("file://{}", top.display());
    git(temp.path(), 50, &["clone", "-q", "--depth", "2", "--no-single-branch", &source, "shallow"]);
    let shallow = temp.path().join("shallow");
    for (solved, known) in [(10, false), (20, false), (29, false), (30, true), (40, true)] {
        let standing = standing(&shallow, false, solved).await;
        assert_eq!(standing != WorkStanding::Unknown, known, "at {solved}: {standing:?}");
    }
    assert_eq!(count(&standing(&top, false, 10).await), 6);
}

#[tokio::test]
async fn a_history_is_read_to_a_bound_and_says_so() {
    let entry = |n: usize| format!("{n:040x} {} {}\nsubject {n}\n\nbody\0", 2_000_000_000 - n, 2_000_000_000 - n);
    let many: String = (0..=COMMITS_MAX).map(entry).collect();
    let log = commits(many.as_bytes()).await.unwrap();
    assert_eq!((log.commits.len(), log.is_cut), (COMMITS_MAX, true));
    assert_eq!(log.reaches_back_to(false).unwrap().as_second(), 2_000_000_001 - COMMITS_MAX as i64);
    let of_1970 = format!("{:040x} 5 5 {:040x}\n\0{many}", 0xbad, 0);
    let log = commits(of_1970.as_bytes()).await.unwrap();
    assert_eq!(log.reaches_back_to(false).unwrap().as_second(), 2_000_000_002 - COMMITS_MAX as i64);
    let whole: String = (0..COMMITS_MAX).map(entry).collect();
    assert!(!commits(whole.as_bytes()).await.unwrap().is_cut);

    let reverting = format!("This reverts commits {}", "abcdef0 ".repeat(1_000));
    let entry = |n: usize| format!("{n:040x} {} {}\n{reverting}\0", 2_000_000_000 - n, 2_000_000_000 - n);
    let hostile: String = (0..REVERTS_MAX / 1_000 + 1).map(entry).collect();
    let log = commits(hostile.as_bytes()).await.unwrap();
    assert_eq!((log.commits.len(), log.is_cut), (REVERTS_MAX / 1_000, true));

    let long = format!("{:040x} 1 1\n{}\n\nThis reverts commit 1f3870b.\0", 1, "é".repeat(MESSAGE_MAX_BYTES));
    let odd = format!("{long}no commit\0{:040x} x y\0\0{:064x} 2 3\ntoken=9aB8cD7eF6gH5iJ4\0", 2, 3);
    let log = commits(odd.as_bytes()).await.unwrap();
    let subjects: Vec<&str> = log.commits.iter().map(|commit| commit.subject.as_str()).collect();
    assert_eq!(subjects, ["é".repeat(SUBJECT_MAX_CHARS).as_str(), "token=[REDACTED:assigned]"]);
    assert!(log.commits[0].reverts.is_empty() && log.commits[1].id.len() == 64);
}
