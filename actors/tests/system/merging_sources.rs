//! Tests of the sources that a confirmed memory gets while another process is at work on the same memories.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::FutureExt;
use reasoning_bank_actors::memories::{FeedbackRequest, RecordRequest};
use reasoning_bank_actors::ports::{
    Batch, Committed, EraseScope, Erased, Maintained, MemoryStore, Record, StoreFuture, StoreReads,
};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::store::StoreOpener;
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::MemoryId;

use crate::support::*;

/// Returns what another process stores between the reading of the first one who revises a memory, and its commit.
type Meanwhile = Box<dyn Fn(Memory) -> Vec<Memory> + Send + Sync>;

struct Shared {
    store: MemStore,
    meanwhile: std::sync::Mutex<Option<(Vec<MemoryId>, Meanwhile)>>,
    lineages: Arc<AtomicUsize>,
}

impl Shared {
    async fn memory(&self, id: MemoryId) -> Memory {
        self.store.get(vec![id], soon()).await.unwrap().remove(0).memory
    }

    async fn revise(&self, memory: Memory) {
        let mut stored = self.store.passages(vec![memory.id], soon()).await.unwrap();
        let passages = stored.remove(&memory.id).unwrap_or_default();
        let memory = Memory { revision: memory.revision + 1, ..memory };
        self.store.commit(vec![Record::Revision { memory, passages }], soon()).await.unwrap();
    }
}

impl MemoryStore for Shared {
    fn reads(&self) -> &dyn StoreReads {
        &self.store
    }

    fn commit(&self, batch: Batch, deadline: Deadline) -> StoreFuture<'_, Committed> {
        let revises = batch.iter().any(|record| matches!(record, Record::Revision { .. }));
        let meanwhile = if revises { self.meanwhile.lock().unwrap().take() } else { None };
        async move {
            if let Some((ids, change)) = meanwhile {
                for id in ids {
                    for changed in change(self.memory(id).await) {
                        self.revise(changed).await;
                    }
                }
            }
            self.store.commit(batch, deadline).await
        }
        .boxed()
    }

    fn erase(&self, scope: EraseScope, deadline: Deadline) -> StoreFuture<'_, Erased> {
        self.store.erase(scope, deadline)
    }

    fn maintain(&self, deadline: Deadline) -> StoreFuture<'_, Maintained> {
        self.store.maintain(deadline)
    }
}

async fn shared_world() -> (World, Arc<Shared>) {
    let (store, lineages) = (MemStore::new(), Arc::new(AtomicUsize::default()));
    let counted = Arc::clone(&lineages);
    store.before_each(move |op| {
        counted.fetch_add(usize::from(op == "lineage"), Ordering::Relaxed);
        Ok(())
    });
    let shared = Arc::new(Shared { store, meanwhile: Default::default(), lineages });
    let opened: Arc<dyn MemoryStore> = Arc::clone(&shared) as Arc<dyn MemoryStore>;
    let opener: StoreOpener = Arc::new(move || {
        let opened = Arc::clone(&opened);
        async move { Ok(opened) }.boxed()
    });
    (world_over(opener, good_model()).await, shared)
}

const A: (&str, &str) = ("Retry with backoff", "double the delay after each failed attempt and add jitter");
const B: (&str, &str) = ("Close files", "before renaming them, on every platform that locks them");

fn again(of: (&str, &str), derived_from: Vec<MemoryId>) -> RecordRequest {
    RecordRequest { derived_from, ..lesson(of.0, of.1) }
}

#[tokio::test(start_paused = true)]
async fn two_that_are_merged_with_each_other_by_two_processes_at_once_form_no_cycle() {
    let (world, shared) = shared_world().await;
    let (a, b) = (world.recorded(lesson(A.0, A.1)).await, world.recorded(lesson(B.0, B.1)).await);
    let other = world.recorded(lesson("Pin versions", "in the lock file")).await;
    let joins_b = move |memory: Memory| vec![Memory { derived_from: vec![a], evolution_stage: 1, ..memory }];
    *shared.meanwhile.lock().unwrap() = Some((vec![b], Box::new(joins_b)));
    world.handle.memories.record(again(A, vec![b, other]), soon()).await.unwrap();
    assert_eq!(shared.memory(b).await.derived_from, [a], "it was first");
    assert_eq!(shared.memory(a).await.derived_from, [other]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn who_was_too_late_looks_at_the_relations_again() {
    let (world, shared) = shared_world().await;
    let (a, b) = (world.recorded(lesson(A.0, A.1)).await, world.recorded(lesson(B.0, B.1)).await);
    let change = move |memory: Memory| match memory.id == b {
        true => vec![Memory { derived_from: vec![a], evolution_stage: 1, ..memory }],
        false => vec![Memory { pinned: true, ..memory }],
    };
    *shared.meanwhile.lock().unwrap() = Some((vec![a, b], Box::new(change)));
    world.handle.memories.record(again(A, vec![b]), soon()).await.unwrap();
    let (a, b) = (shared.memory(a).await, shared.memory(b).await);
    assert_eq!((a.revision, a.pinned, a.derived_from), (2, true, Vec::new()));
    assert_eq!(b.derived_from, [a.id]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn many_lessons_of_one_report_look_at_the_relations_of_the_bank_once_and_once_after() {
    let (world, shared) = shared_world().await;
    let (a, b) = (world.recorded(lesson(A.0, A.1)).await, world.recorded(lesson(B.0, B.1)).await);
    let source = world.recorded(lesson("Pin versions", "in the lock file")).await;
    let report = async |session: &str| {
        let request = FeedbackRequest {
            learnings: vec![learning(A.0, A.1), learning(B.0, B.1)],
            session: Some(session.into()),
            ..feedback_on(vec![source], Default::default())
        };
        world.feedback(request).await
    };
    report("one").await;
    assert_eq!(
        (shared.memory(a).await.derived_from, shared.memory(b).await.derived_from),
        (vec![source], vec![source])
    );
    assert_eq!(shared.lineages.load(Ordering::Relaxed), 2);
    report("two").await;
    assert_eq!(shared.lineages.load(Ordering::Relaxed), 2, "nothing is new");
    world.stop().await;
}
