mod keyed;

use std::time::Duration;

use jiff::Timestamp;
use reasoning_bank_actors::memories::Restorable;
use reasoning_bank_actors::ports::{MemoryFilter, Page, Record};
use reasoning_bank_actors::testkit::soon;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::evidence::confidence::Evidence;
use reasoning_bank_domain::learning::job::{Job, Work};
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::memory::{MemoryOutcome, SourceType, Trust};
use serde_json::{Value, json};
use uuid::Uuid;

use super::*;
use crate::cli::args::Sure;
use crate::cli::testing::{self, system};
use crate::export::ExportOptions;
use crate::import::ImportCounts;
use crate::import::testing::{file, id, lesson, parsed, with};

const QUIET: Output = Output { json: true, quiet: true };

/// Returns all that a bank exports, jobs included.
async fn exported(system: &SystemHandle, vectors: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let options = ExportOptions { vectors, jobs: true };
    crate::cli::memory::export(None, options, false, system, &mut out).await.unwrap();
    out
}

/// The built-in settings, with a data directory that is there.
fn loaded(data_dir: &tempfile::TempDir) -> Loaded {
    let mut loaded = testing::loaded();
    loaded.settings.data_dir = data_dir.path().to_owned();
    loaded
}

/// The arguments of an import that asks nobody.
fn arguments(file: &Path, trusted_backup: bool) -> ImportArgs {
    ImportArgs { file: file.to_owned(), trusted_backup, sure: Sure { yes: true } }
}

#[tokio::test]
async fn of_a_circle_one_relation_is_left_out_and_said_and_everything_else_is_imported() {
    let place = tempfile::tempdir().unwrap();
    let (system, loaded) = (system().await, loaded(&place));
    let from = |n: u128, sources: Value| with(lesson(n), "derived_from", sources);
    let lines = [
        from(1, json!([id(2), id(5)])),
        with(from(2, json!([id(1), id(5)])), "parent_memory_id", json!(id(1))),
        with(from(4, json!([id(3)])), "parent_memory_id", json!(id(3))),
        with(lesson(3), "parent_memory_id", json!(id(4))),
        lesson(5),
    ];
    let file = file(&place, &lines);
    let imported = import(&arguments(&file, true), &loaded, QUIET, &system.handle()).await.unwrap();
    assert_eq!(imported.imported.memories, 5);
    let note = |id: String, source: String| format!("{id} was not linked to its source {source}, which comes from it");
    assert_eq!(imported.notes, [note(id(2), id(1)), note(id(4), id(3))]);
    let ids: Vec<MemoryId> = (1..=5).map(|n| Uuid::from_u128(n).into()).collect();
    let rows = system.handle().store.get(ids, soon()).await.unwrap();
    let sources: Vec<(Vec<String>, Option<String>)> = rows
        .into_iter()
        .map(|row| (row.memory.derived_from, row.memory.parent_memory_id))
        .map(|(of, parent)| (of.iter().map(MemoryId::to_string).collect(), parent.map(|id| id.to_string())))
        .collect();
    let expected = [
        (vec![id(2), id(5)], None),
        (vec![id(5)], None),
        (Vec::new(), Some(id(4))),
        (Vec::new(), None),
        (Vec::new(), None),
    ];
    assert_eq!(sources, expected);
    system.stop(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn secrets_are_replaced_and_counted_before_anything_is_written() {
    let place = tempfile::tempdir().unwrap();
    let (system, loaded) = (system().await, loaded(&place));
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let leaky = with(lesson(1), "content", json!(format!("Use {secret} and {secret}")));
    let file = file(&place, &[leaky, lesson(2)]);
    let import = async || import(&arguments(&file, false), &loaded, QUIET, &system.handle()).await.unwrap();

    let first = import().await;
    assert_eq!((first.imported.memories, first.skipped, first.redactions), (2, 0, 2));
    let again = import().await;
    assert_eq!((again.imported.memories, again.skipped, again.redactions), (0, 2, 0));

    let store = system.handle().store;
    let rows = store.memories(MemoryFilter::default(), Page::first(10), soon()).await.unwrap();
    assert_eq!(rows.len(), 2);
    assert!(rows[0].memory.content.starts_with("Use [REDACTED:") && !rows[0].memory.content.contains(&secret));
    let named = MemoryId::from(Uuid::from_u128(1));
    let view = system.handle().memories.get(named, &loaded.workspace, soon()).await.unwrap();
    assert_eq!(view.source_type, SourceType::Imported);
    system.stop(Duration::from_secs(5)).await;
}

/// Makes things of many kinds, other ones for every `n`.
fn unusual(n: u64) -> Vec<Restorable> {
    let pick = |of: &str, from: &[&str]| from[(n as usize * 7 + of.len()) % from.len()].to_owned();
    let time = |of: u64| Timestamp::from_nanosecond(i128::from(n * 86_400_000_000_123 + of * 1_001)).unwrap();
    let texts =
        ["plain", "Grün \u{1f980}\n\t\"quoted\"", "C:\\path\\{brace}", "a ".repeat(3_000).leak(), "a\u{7f}\u{200b}b"];
    let mut memory = lesson(u128::from(n) * 3 + 1);
    let fields = json!({
        "content": pick("content", &texts), "task": pick("t", &["", "the task"]), "revision": n + 1,
        "scope": "project", "source_type": pick("s", &["solve", "explicit", "distilled", "passive_learning"]),
        "trust": pick("tr", &["user", "agent", "tool", "model"]), "pinned": n.is_multiple_of(3),
        "status": pick("st", &["active", "archived", "superseded", "quarantined"]),
        "prior": 1.0 / (n as f64 + 1.5), "created_at": time(1), "updated_at": time(2), "evolution_stage": n % 5,
        "pattern_tags": [pick("tag", &texts[..3])], "derived_from": [id(n.into())],
        "workspace_id": format!("{:016x}", n % 3), "source_session": pick("se", &["a", "b"]),
    });
    memory.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    if n.is_multiple_of(4) {
        memory["scope"] = json!("team");
        memory["team"] = json!("platform");
    }
    if n.is_multiple_of(2) {
        memory["error_context"] = json!({"error_type": "E", "failure_pattern": "f", "corrective_guidance": "c",
            "stack_trace": pick("stack", &texts[..3])});
    }
    let trace = json!({"kind": "trace", "trace_id": id(u128::from(n) * 3 + 2), "task": "t", "outcome": "partial",
        "trajectory": [{"iteration": 1, "action": "think", "attempt": n, "content": pick("c", &texts),
            "score": (0.1 + 0.2 * n as f64) % 1.0, "timestamp": time(3)}],
        "final_score": 1.0 / (n as f64 + 3.0), "verdict_source": "judge", "memory_items": [], "memories_used": [id(9)],
        "metadata": {"model": "m", "reasoning_effort": "low", "matts_enabled": true, "matts_k": 3, "matts_mode": "parallel",
            "total_iterations": 1, "total_tokens": n, "workspace_id": "00000000000000aa"}, "created_at": time(4)});
    let signal = json!({"kind": "signal", "id": id(u128::from(n) * 3 + 3), "memory_id": id(u128::from(n) * 3 + 1),
        "workspace_id": "00000000000000bb", "signal": pick("k", &["helpful", "not_helpful", "injected", "stable"]),
        "at": time(5), "comment": pick("comment", &texts[..3])});
    [memory, trace, signal].map(parsed).into()
}

/// Returns two jobs, one that waits and one that runs.
fn jobs() -> [Restorable; 2] {
    let now = "2026-03-01T12:00:00.123456Z".parse().unwrap();
    let workspace: WorkspaceId = "00000000000000aa".parse().unwrap();
    let work = |session: &str| Work::Distill {
        session_id: session.into(),
        outcome: MemoryOutcome::Mixed,
        transcript: "User: why?\nAssistant: because.".into(),
    };
    let queued = |session: &str| Job::queued(workspace.clone(), work(session), now);
    [queued("a"), queued("b").begun(now)].map(Restorable::Job)
}

#[tokio::test]
async fn a_backup_that_is_imported_is_exported_the_same() {
    let place = tempfile::tempdir().unwrap();
    let (old, loaded) = (system().await, loaded(&place));
    let things: Vec<Restorable> = (0..60).flat_map(unusual).chain(jobs()).collect();
    let mut team = Workspace::of_root("/moved", "2026-03-01T12:00:00.123456789Z".parse().unwrap());
    (team.id, team.team, team.revision) = ("00000000000000aa".parse().unwrap(), Some("platform".into()), 3);
    old.handle().store.commit(vec![Record::Workspace(team)], soon()).await.unwrap();
    old.handle().memories.restore(things, soon()).await.unwrap();
    for vectors in [false, true] {
        let exported = async |system: &SystemHandle| String::from_utf8(exported(system, vectors).await).unwrap();
        let before = exported(&old.handle()).await;
        assert_eq!(before.lines().count(), 182);
        assert_eq!(before.matches(r#""state":"queued""#).count(), 2, "what ran is to be done again");
        assert_eq!(before.matches("\"root\":\"/moved\"").count(), 1);
        let file = place.path().join("bank.jsonl");
        std::fs::write(&file, &before).unwrap();
        let new = system().await;
        let imported = import(&arguments(&file, true), &loaded, QUIET, &new.handle()).await.unwrap();
        assert_eq!(imported.imported, ImportCounts { memories: 60, traces: 60, signals: 60, jobs: 2, bank_files: 0 });
        assert_eq!((imported.left_out, imported.notes), (ImportCounts::default(), Vec::new()));
        assert_eq!(exported(&new.handle()).await, before);
        let again = import(&arguments(&file, true), &loaded, QUIET, &new.handle()).await.unwrap();
        assert_eq!((again.imported.sum(), again.skipped), (0, 182));
        new.stop(Duration::from_secs(5)).await;
    }
    old.stop(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn of_a_file_that_nobody_vouches_for_the_words_are_taken_and_the_claims_are_not() {
    let place = tempfile::tempdir().unwrap();
    let (old, new, loaded) = (system().await, system().await, loaded(&place));
    let things: Vec<Restorable> = (0..60).flat_map(unusual).chain(jobs()).collect();
    old.handle().memories.restore(things, soon()).await.unwrap();
    let file = place.path().join("bank.jsonl");
    std::fs::write(&file, exported(&old.handle(), true).await).unwrap();
    let imported = import(&arguments(&file, false), &loaded, QUIET, &new.handle()).await.unwrap();
    // every fourth memory is for a team
    assert_eq!(imported.imported, ImportCounts { memories: 45, traces: 60, ..ImportCounts::default() });
    assert_eq!(imported.left_out, ImportCounts { memories: 15, traces: 0, signals: 60, jobs: 2, bank_files: 0 });
    assert!(imported.notes[0].contains("--trusted-backup"), "{:?}", imported.notes);
    assert!(imported.notes[1].contains("60 signals"), "{:?}", imported.notes);
    assert!(imported.notes[2].contains("2 that nobody"), "{:?}", imported.notes);
    assert!(imported.notes[3].contains("the team \"platform\""), "{:?}", imported.notes);
    let rows = new.handle().store.memories(MemoryFilter::default(), Page::first(100), soon()).await.unwrap();
    assert_eq!(rows.len(), 45);
    for row in rows {
        let memory = row.memory;
        assert_eq!((memory.trust, memory.revision, memory.pinned), (Trust::Model, 1, false));
        assert!(memory.prior <= 0.4 && memory.team.is_none() && memory.source_type == SourceType::Imported);
        assert_eq!(row.evidence, Evidence::default());
        assert!(memory.embedder.is_some(), "its vectors are made here");
    }
    for system in [old, new] {
        system.stop(Duration::from_secs(5)).await;
    }
}

#[tokio::test]
async fn a_memory_for_a_team_is_taken_where_its_workspace_is_trusted_with_that_very_team() {
    let place = tempfile::tempdir().unwrap();
    let (system, loaded) = (system().await, loaded(&place));
    let here = system.handle().workspaces.resolve(&loaded.workspace, soon()).await.unwrap().workspace;
    system.handle().workspaces.trust(&loaded.workspace, Some("web".into()), None, soon()).await.unwrap();
    let to = |n: u128, team: &str| with(with(lesson(n), "scope", json!("team")), "team", json!(team));
    let elsewhere = with(to(3, "web"), "workspace_id", json!("00000000000000bb"));
    let org = with(with(lesson(4), "scope", json!("org")), "org", json!("web"));
    let file = file(&place, &[to(1, "web"), to(2, "platform"), elsewhere, org]);
    let imported = import(&arguments(&file, false), &loaded, QUIET, &system.handle()).await.unwrap();
    assert_eq!((imported.imported.memories, imported.left_out.memories), (1, 3));
    let root = here.root;
    assert!(
        imported.notes.iter().any(|note| note.contains(&format!("workspace trust {root}"))),
        "{:?}",
        imported.notes
    );
    system.stop(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn other_workspaces_are_listed_and_asked_for() {
    let place = tempfile::tempdir().unwrap();
    let (system, loaded) = (system().await, loaded(&place));
    let known = system.handle().workspaces.rename(&WorkspaceRef::Root("/known".into()), "shop", soon()).await.unwrap();
    let new = Workspace::of_root("/new", Timestamp::UNIX_EPOCH);
    let lines = [
        lesson(1),
        with(lesson(2), "workspace_id", json!(known.id)),
        with(with(lesson(3), "workspace_id", json!(new.id)), "workspace", json!(new)),
        with(lesson(4), "workspace_id", json!("00000000000000bb")),
    ];
    let hostile = file(&place, &lines);
    let asked = ImportArgs { sure: Sure { yes: false }, ..arguments(&hostile, false) };
    let failure = import(&asked, &loaded, QUIET, &system.handle()).await.unwrap_err();
    let expected = [
        format!("{} \"shop\" at /known: known here, 1 memories, 0 traces", known.id),
        format!("{} \"new\" at /new: new here, 1 memories, 0 traces", new.id),
        "00000000000000bb: new here, 1 memories, 0 traces".into(),
    ];
    assert!(expected.iter().all(|line| failure.message.contains(line)), "{}", failure.message);
    assert!(failure.hint.unwrap().starts_with("--yes agrees"));
    let count =
        async || system.handle().store.memories(MemoryFilter::default(), Page::first(10), soon()).await.unwrap().len();
    assert_eq!(count().await, 0);
    import(&arguments(&hostile, false), &loaded, QUIET, &system.handle()).await.unwrap();
    assert_eq!(count().await, 4);
    // none to ask about
    let own = file(&place, &[lesson(9)]);
    let asked = ImportArgs { sure: Sure { yes: false }, ..arguments(&own, false) };
    import(&asked, &loaded, QUIET, &system.handle()).await.unwrap();
    system.stop(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn links_of_a_stranger_hold_within_the_file() {
    let place = tempfile::tempdir().unwrap();
    let (system, loaded) = (system().await, loaded(&place));
    let own = file(&place, &[lesson(1)]);
    import(&arguments(&own, true), &loaded, QUIET, &system.handle()).await.unwrap();
    let linked = with(with(lesson(2), "derived_from", json!([id(1), id(3)])), "parent_memory_id", json!(id(1)));
    let foreign = file(&place, &[linked, lesson(3)]);
    import(&arguments(&foreign, false), &loaded, QUIET, &system.handle()).await.unwrap();
    let named = MemoryId::from(Uuid::from_u128(2));
    let memory = system.handle().store.get(vec![named], soon()).await.unwrap().remove(0).memory;
    assert_eq!((memory.parent_memory_id, memory.derived_from), (None, vec![Uuid::from_u128(3).into()]));
    system.stop(Duration::from_secs(5)).await;
}
