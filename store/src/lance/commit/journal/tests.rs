use jiff::Timestamp;
use reasoning_bank_actors::ports::Record;
use reasoning_bank_domain::memory::signal::{Signal, SignalKind};
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};

use super::*;

#[test]
fn every_record_survives_the_journal() {
    let signal = Record::Signal(Signal {
        id: Uuid::now_v7().into(),
        memory_id: Uuid::now_v7().into(),
        workspace_id: WorkspaceId::of_root("/here"),
        kind: SignalKind::Helpful,
        at: Timestamp::UNIX_EPOCH,
        trace_id: None,
        session: None,
        comment: Some("\u{1f980} \"quoted\"".into()),
        application: None,
    });
    let workspace = Record::Workspace(Workspace::of_root("/here", Timestamp::UNIX_EPOCH));
    let batch = vec![signal, workspace];
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    fs::write(&path, Frame { erasures: 3, batch: batch.clone() }.encode().unwrap()).unwrap();
    assert_eq!(contents(&path).unwrap().frames[0].batch, batch);
}

fn frame(erasures: u64) -> Vec<u8> {
    Frame { erasures, batch: Vec::new() }.encode().unwrap()
}

fn numbers(path: &Path) -> Vec<u64> {
    contents(path).unwrap().frames.iter().map(|frame| frame.erasures).collect()
}

#[tokio::test]
async fn a_torn_end_does_not_get_into_the_history() {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::prepare(dir.path()).await.unwrap();
    let journal = dir.path().join("torn");
    fs::write(&journal, [frame(1), frame(2)[..10].to_vec()].concat()).unwrap();
    move_to_history(&layout, &journal).unwrap();
    fs::write(&journal, frame(3)).unwrap();
    move_to_history(&layout, &journal).unwrap();
    assert_eq!(numbers(&history(&layout)[0]), [1, 3]);
}

#[tokio::test]
async fn a_journal_that_another_process_emptied_gets_no_zeros_from_a_failed_append() {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::prepare(dir.path()).await.unwrap();
    let mut journal = Journal::create(&layout.journals()).unwrap();
    assert!(journal.append(&frame(1)).is_ok());
    scrub(&layout, &JournalSlot::default()).unwrap();
    journal.file = OpenOptions::new().read(true).open(&journal.path).unwrap();
    assert!(matches!(journal.append(&frame(2)), Err(Broken::Doubtful(_))));
    assert_eq!(fs::metadata(&journal.path).unwrap().len(), 0);
}

#[tokio::test]
async fn nobody_empties_a_journal_that_its_owner_could_not_sync() {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::prepare(dir.path()).await.unwrap();
    let (owner, another) = (JournalSlot::default(), JournalSlot::default());
    owner.name(&layout).await.unwrap();
    owner.append(frame(7)).await.unwrap();
    owner.give_up();
    let kept = || numbers(&journals(&layout).unwrap()[0]);
    for slot in [&owner, &another] {
        assert!(scrub(&layout, slot).unwrap_err().to_string().contains("started again"));
        assert!(remove_records(&layout, slot, |_| true).is_err());
        assert_eq!(kept(), [7]);
    }
    drop(owner);
    orphans(&layout).unwrap().remove(0).remove(&layout).unwrap();
    scrub(&layout, &another).unwrap();
    assert_eq!(fs::read_dir(layout.journals()).unwrap().count(), 1, "nothing but the history is left");
}

#[tokio::test]
async fn a_journal_belongs_to_its_owner_while_that_lives() {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::prepare(dir.path()).await.unwrap();
    let slot = JournalSlot::default();
    slot.name(&layout).await.unwrap();
    slot.append(frame(7)).await.unwrap();
    assert!(orphans(&layout).unwrap().is_empty());
    drop(slot);
    let mut orphans = orphans(&layout).unwrap();
    assert_eq!(numbers(&orphans[0].path), [7]);
    orphans.remove(0).remove(&layout).unwrap();
    assert!(journals(&layout).unwrap().is_empty());
    assert_eq!(numbers(&history(&layout)[0]), [7]);
}
