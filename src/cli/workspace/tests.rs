use reasoning_bank_domain::note::Code;
use std::time::Duration;

use super::*;
use crate::cli::testing::{loaded, system};

const SURE: Sure = Sure { yes: true };
const NOT_SURE: Sure = Sure { yes: false };

#[tokio::test]
async fn a_workspace_whose_directory_is_gone_is_found_by_the_path_it_had() {
    let temp = tempfile::tempdir().unwrap();
    let top = temp.path().canonicalize().unwrap();
    let (system, loaded) = (system().await, loaded());
    let bank = system.handle();
    let here = Here { loaded: &loaded, base: &top };
    let old = top.join("old").display().to_string();
    bank.workspaces.rename(&WorkspaceRef::Root(old.clone()), "mine", request_deadline()).await.unwrap();
    // A repository around it must not take its place.
    for part in ["objects", "refs"] {
        std::fs::create_dir_all(top.join(".git").join(part)).unwrap();
    }
    std::fs::write(top.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();

    let found = here.registered("old", &bank).await.unwrap();
    assert_eq!((found.name.as_str(), found.root), ("mine", old));
    assert_eq!(here.registered(found.id.as_str(), &bank).await.unwrap().name, "mine");
    let unknown = here.registered("other", &bank).await.unwrap_err();
    assert_eq!((unknown.code, unknown.exit.code()), (Code::WorkspaceUnknown, 2));
    system.stop(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn nothing_is_trusted_deleted_or_purged_without_consent() {
    let temp = tempfile::tempdir().unwrap();
    let top = temp.path().canonicalize().unwrap();
    std::fs::write(top.join(".reasoning-bank.toml"), "workspace.team = 'web'").unwrap();
    let (system, mut loaded) = (system().await, loaded());
    loaded.workspace = WorkspaceRef::Root(top.display().to_string());
    let bank = system.handle();
    let here = Here { loaded: &loaded, base: &top };
    bank.workspaces.rename(&loaded.workspace, "mine", request_deadline()).await.unwrap();

    for refused in [
        here.trust(Path::new("."), NOT_SURE, &bank).await.map(|_| ()),
        here.delete(".", false, NOT_SURE, &bank).await.map(|_| ()),
        here.purge_traces(Some(1), NOT_SURE, &bank).await.map(|_| ()),
    ] {
        let refused = refused.unwrap_err();
        assert_eq!((refused.code, refused.exit.code()), (Code::InvalidArgument, 2));
    }
    assert_eq!(here.show(&bank).await.unwrap().detail.workspace.team, None);
    assert_eq!(here.trust(Path::new("."), SURE, &bank).await.unwrap().workspace.team.as_deref(), Some("web"));
    // A workspace that is trusted already needs no consent.
    assert_eq!(here.trust(Path::new("."), NOT_SURE, &bank).await.unwrap().workspace.team.as_deref(), Some("web"));
    here.delete(".", false, SURE, &bank).await.unwrap();
    assert!(here.list(&bank).await.unwrap().workspaces.is_empty());
    system.stop(Duration::from_secs(5)).await;
}
