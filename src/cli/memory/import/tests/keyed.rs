//! Tests of workspaces that callers on other machines know by a key.

use reasoning_bank_actors::memories::ListRequest;
use reasoning_bank_domain::memory::workspace::SharedWorkspace;

use super::*;

#[tokio::test]
async fn workspaces_with_keys_come_back_under_their_keys_where_the_user_vouches_for_the_file() {
    let place = tempfile::tempdir().unwrap();
    let (old, loaded) = (system().await, loaded(&place));
    let shared = |team: Option<&str>| {
        let (key, team) = ("git:example.org/a/shop".parse().unwrap(), team.map(Into::into));
        SharedWorkspace { key, team, org: None }
    };
    for (n, team) in [(1, None), (2, Some("web"))] {
        let workspace = Workspace::of_key(&shared(team), Timestamp::UNIX_EPOCH);
        let memory = parsed(with(lesson(n), "workspace_id", json!(workspace.id)));
        old.handle().memories.restore(vec![Restorable::Workspace(workspace), memory], soon()).await.unwrap();
    }
    let file = place.path().join("bank.jsonl");
    std::fs::write(&file, exported(&old.handle(), true).await).unwrap();
    for (is_backup, taken) in [(true, [true, true]), (false, [true, false])] {
        let new = system().await;
        import(&arguments(&file, is_backup), &loaded, QUIET, &new.handle()).await.unwrap();
        for (team, is_there) in [None, Some("web")].into_iter().zip(taken) {
            let request = ListRequest::new(WorkspaceRef::Shared(shared(team)), 10);
            let found = new.handle().memories.list(request, soon()).await.unwrap().memories.len();
            assert_eq!(found, usize::from(is_there), "{team:?} of a backup: {is_backup}");
        }
        let stored = new.handle().workspaces.list(soon()).await.unwrap();
        assert_eq!(stored.len(), 2, "{stored:?}");
        assert_eq!(stored.iter().filter(|workspace| workspace.team.is_some()).count(), usize::from(is_backup));
        new.stop(Duration::from_secs(5)).await;
    }
    old.stop(Duration::from_secs(5)).await;
}
