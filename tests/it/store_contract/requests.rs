//! Tests of requests with a key: they are stored with what they write, by one try alone, and erased with what their
//! answers name.

use reasoning_bank_domain::access::{KeyScope, KeyedRequest};
use reasoning_bank_domain::memory::workspace::WorkspaceId;

use uuid::Uuid;

use super::*;

fn request(workspace: &WorkspaceId, key: &str) -> KeyedRequest {
    let scope = KeyScope { owner: "ana", workspace, route: "POST /memories" };
    KeyedRequest::begun(scope.id(key), workspace.clone(), b"{}", Uuid::now_v7(), now())
}

async fn stored(store: &Arc<dyn MemoryStore>, of: &KeyedRequest) -> Option<KeyedRequest> {
    store.reads().request(of.id, soon()).await.unwrap()
}

#[rstest]
#[tokio::test]
async fn a_request_is_carried_out_by_one_try_and_keeps_its_answer(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let store = &opened.store;
    let here = workspace("/here");
    let first = request(&here, "one");
    assert_eq!(stored(store, &first).await, None);
    store
        .commit(vec![Record::Request(first.clone()), Record::Workspace(Workspace::of_root("/here", now()))], soon())
        .await
        .unwrap();
    assert_eq!(stored(store, &first).await.as_ref(), Some(&first));

    let other = request(&here, "one");
    let late = vec![Record::Workspace(Workspace::of_root("/there", now())), Record::Request(other)];
    assert_eq!(store.commit(late, soon()).await, Err(StoreError::CarriedOut(first.id)));
    assert_eq!(
        store.reads().workspaces(soon()).await.unwrap(),
        [Workspace::of_root("/here", now())],
        "nothing of the batch is stored"
    );

    let answered = first.clone().answered("{}".into(), true);
    for record in [&answered, &first, &answered] {
        store.commit(vec![Record::Request(record.clone())], soon()).await.unwrap();
        assert_eq!(stored(store, &first).await.as_ref(), Some(&answered));
    }
    // An answer may be all that is stored, where the request itself stored nothing.
    let second = request(&here, "two").answered("[]".into(), false);
    store.commit(vec![Record::Request(second.clone())], soon()).await.unwrap();
    assert_eq!(stored(store, &second).await, Some(second));
    // A request that was erased before its answer came gets none.
    let third = request(&here, "three");
    store.commit(vec![Record::Request(third.clone().answered("{}".into(), true))], soon()).await.unwrap();
    assert_eq!(stored(store, &third).await, None);
}

#[rstest]
#[tokio::test]
async fn of_tries_at_the_same_time_one_is_stored(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let tries = (0..8).map(|_| opened.store.commit(vec![Record::Request(request(&here, "one"))], soon()));
    let answers = futures::future::join_all(tries).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
}

#[rstest]
#[tokio::test]
async fn a_request_goes_with_its_workspace_its_memory_and_its_time(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let store = &opened.store;
    let (here, there) = (workspace("/here"), workspace("/there"));
    let memory = MemoryId::from(Uuid::now_v7());
    let names_it = request(&here, "names it").answered(format!("{{\"id\":\"{memory}\"}}"), false);
    let holds_it = KeyedRequest { memories: vec![memory], ..request(&here, "holds it") };
    let names_none = request(&here, "names none").answered("{}".into(), false);
    let elsewhere = request(&there, "elsewhere");
    let late = KeyedRequest { at: now() + jiff::SignedDuration::from_hours(1), ..request(&there, "late") };
    let all = [&names_it, &holds_it, &names_none, &elsewhere, &late];
    store.commit(all.map(|request| Record::Request(request.clone())).into(), soon()).await.unwrap();
    let left = async |scope: EraseScope| {
        store.erase(scope, soon()).await.unwrap();
        let mut left = Vec::new();
        for request in all {
            left.push(stored(store, request).await.is_some());
        }
        left
    };
    assert_eq!(left(EraseScope::Memory(memory)).await, [false, false, true, true, true]);
    assert_eq!(left(EraseScope::Workspace(here.clone())).await, [false, false, false, true, true]);
    let before = now() + jiff::SignedDuration::from_secs(1);
    assert_eq!(left(EraseScope::Requests { before }).await, [false, false, false, false, true]);
}
