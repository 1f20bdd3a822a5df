use std::path::PathBuf;

use jiff::Timestamp;
use reasoning_bank_actors::ports::{Filter, Page, Passage, PassageKind, Record, Scanned};
use reasoning_bank_domain::ids::MemoryId;
use reasoning_bank_domain::memory::{Memory, MemoryOutcome, SourceType, Trust};
use reasoning_bank_domain::workspace::Workspace;
use serde_json::{Value, json};

use super::*;
use crate::cli::testing::{self, a_minute, system};

const QUIET: Output = Output { json: true, quiet: true };

/// The built-in settings, with a data directory that is there.
fn loaded(data_dir: &tempfile::TempDir) -> Loaded {
    let mut loaded = testing::loaded();
    loaded.settings.data_dir = data_dir.path().to_owned();
    loaded
}

fn defaults() -> Defaults {
    Defaults { here: Workspace::of_root("/here", Timestamp::UNIX_EPOCH), now: "2026-03-01T12:00:00Z".parse().unwrap() }
}

fn id(n: u128) -> String {
    uuid::Uuid::from_u128(n).to_string()
}

fn lesson(n: u128) -> Value {
    json!({"kind": "memory", "id": id(n), "title": format!("Lesson {n}"), "description": "When", "content": "How"})
}

fn parsed(line: Value) -> Line {
    line::parse(serde_json::from_value(line).unwrap(), &defaults()).unwrap()
}

/// What is said about each of these lines.
fn problems(lines: &[Value]) -> String {
    let place = tempfile::tempdir().unwrap();
    let file = file(&place, lines);
    let aside = tempfile::tempfile().unwrap();
    match check(&file, aside, &defaults(), &QUIET.progress("lines")) {
        Err(failure) => failure.message.split_once("nothing was imported").unwrap().1.trim().to_owned(),
        Ok(_) => "none".into(),
    }
}

fn file(place: &tempfile::TempDir, lines: &[Value]) -> PathBuf {
    let path = place.path().join("bank.jsonl");
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, text).unwrap();
    path
}

fn with(mut line: Value, field: &str, value: Value) -> Value {
    line[field] = value;
    line
}

fn without(mut line: Value, field: &str) -> Value {
    line.as_object_mut().unwrap().remove(field);
    line
}

#[test]
fn every_line_that_is_wrong_is_named_with_its_field() {
    let signal = json!({"kind": "signal", "id": id(7), "memory_id": id(1), "workspace_id": "0123456789abcdef",
        "signal": "helpful", "at": "2026-03-01T12:00:00Z"});
    let lines = [
        lesson(1),
        without(lesson(2), "id"),
        with(lesson(3), "id", json!("three")),
        without(with(lesson(4), "title", json!(" ")), "content"),
        with(lesson(5), "scope", json!("team")),
        with(lesson(6), "outcome", json!("splendid")),
        with(lesson(7), "error_context", json!({"error_type": "E", "failure_pattern": 7})),
        with(lesson(8), "created_at", json!("yesterday")),
        with(lesson(9), "passages", json!([{"kind": "content", "n": 0, "text": "t", "vector": [0.5, "x"]}])),
        with(lesson(10), "workspace", json!({"id": "0123456789abcdef", "name": "n", "root": 7})),
        with(
            lesson(10),
            "workspace",
            json!({"id": "0123456789abcdef", "name": "n", "root": "/a\u{1b}[2J",
            "created_at": "2026-03-01T12:00:00Z"}),
        ),
        with(lesson(11), "kind", json!("memories")),
        without(lesson(12), "kind"),
        json!({"kind": "trace", "task": "t"}),
        json!({"kind": "trace", "trace_id": id(13), "task": "t"}),
        with(signal.clone(), "signal", json!("shrug")),
        without(signal.clone(), "signal"),
        json!(["memory"]),
        signal,
    ];
    insta::assert_snapshot!(problems(&lines));
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
    let imported = import(&file, &loaded, QUIET, &system.handle()).await.unwrap();
    assert_eq!(imported.imported.memories, 5);
    let note = |id: String, source: String| format!("{id} was not linked to its source {source}, which comes from it");
    assert_eq!(imported.notes, [note(id(2), id(1)), note(id(4), id(3))]);
    let ids: Vec<MemoryId> = (1..=5).map(|n| uuid::Uuid::from_u128(n).into()).collect();
    let rows = system.handle().store.get(ids, a_minute()).await.unwrap();
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

#[test]
fn a_memory_that_names_itself_is_refused() {
    let said = problems(&[with(lesson(1), "derived_from", json!([id(1)]))]);
    assert!(said.contains("derived_from: names the memory itself"), "{said}");
}

#[test]
fn what_a_memory_of_another_program_lacks_is_filled_in() {
    let line = parsed(lesson(1));
    let Restorable::Memory { memory, passages } = line.thing else { panic!("{:?}", line.thing) };
    assert_eq!((memory.revision, memory.outcome, memory.prior), (1, MemoryOutcome::Success, 0.5));
    assert_eq!((memory.source_type, memory.trust), (SourceType::Imported, Trust::Model));
    assert_eq!((memory.created_at, memory.updated_at), (defaults().now, defaults().now));
    assert_eq!(line.workspace.unwrap().id, memory.workspace_id);
    assert!(passages.is_empty());
}

#[tokio::test]
async fn secrets_are_replaced_and_counted_before_anything_is_written() {
    let place = tempfile::tempdir().unwrap();
    let (system, loaded) = (system().await, loaded(&place));
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let leaky = with(lesson(1), "content", json!(format!("Use {secret} and {secret}")));
    let file = file(&place, &[leaky, lesson(2)]);
    let import = async || import(&file, &loaded, QUIET, &system.handle()).await.unwrap();

    let first = import().await;
    assert_eq!((first.imported.memories, first.skipped, first.redactions), (2, 0, 2));
    let again = import().await;
    assert_eq!((again.imported.memories, again.skipped, again.redactions), (0, 2, 0));

    let all = Filter::Memories { workspace: None, status: None, scope: None };
    let Scanned::Memories(rows) = system.handle().store.scan(all, Page::first(10), a_minute()).await.unwrap() else {
        panic!("no memories")
    };
    assert_eq!(rows.len(), 2);
    assert!(rows[0].memory.content.starts_with("Use [REDACTED:") && !rows[0].memory.content.contains(&secret));
    let named = MemoryId::from(uuid::Uuid::from_u128(1));
    let view = system.handle().memories.get(named, &loaded.workspace, a_minute()).await.unwrap();
    assert_eq!(view.source_type, SourceType::Imported);
    system.stop(Duration::from_secs(5)).await;
}

#[test]
fn what_cannot_be_put_aside_is_not_said_to_be_unreadable() {
    let place = tempfile::tempdir().unwrap();
    // one goes out at the end alone, all of these before
    for lines in [1, 4_000] {
        let file = file(&place, &(1..=lines).map(lesson).collect::<Vec<_>>());
        let not_writable = File::open(&file).unwrap();
        let failure = check(&file, not_writable, &defaults(), &QUIET.progress("lines")).err().unwrap();
        assert!(failure.message.starts_with("what was checked cannot be put aside"), "{}", failure.message);
        assert!(failure.hint.unwrap().contains("data directory"));
    }
}

#[test]
fn a_batch_is_bounded_by_its_bytes_and_by_what_is_to_be_embedded() {
    const OWN: &str = "model/384/0123456789abcdef";
    const OTHER: &str = "other/384/0123456789abcdef";
    let entry = |chars: usize, embedder: Option<&str>| {
        let memory = match parsed(lesson(1)).thing {
            Restorable::Memory { memory, .. } => memory,
            other => panic!("{other:?}"),
        };
        let memory = Memory { content: "x".repeat(chars), embedder: embedder.map(str::to_owned), ..memory };
        let passage = Passage { kind: PassageKind::Content, n: 0, text: "x".into(), vector: Some(vec![0.5, -1e-30]) };
        let two = vec![passage.clone(), Passage { vector: None, ..passage }];
        let passages = if embedder.is_some() { two } else { Vec::new() };
        let mut bytes = Vec::new();
        Entry { redactions: 3, thing: Restorable::Memory { memory, passages } }.write(&mut bytes).unwrap();
        bytes
    };
    let sizes = |bytes: Vec<u8>| {
        let mut entries = &bytes[..];
        let mut next = || next_batch(&mut entries, &BTreeSet::new(), OWN).unwrap();
        std::iter::from_fn(|| Some(next().things.len()).filter(|n| *n > 0)).collect::<Vec<_>>()
    };
    for embedder in [None, Some(OTHER)] {
        assert_eq!(sizes(entry(10, embedder).repeat(600)), [256, 256, 88]);
        assert_eq!(sizes(entry(400_000, embedder).repeat(7)), [3, 3, 1]);
    }
    assert_eq!(sizes(entry(10, Some(OWN)).repeat(9_000)), [8_192, 808]);
    assert_eq!(sizes(entry(12_000_000, Some(OWN)).repeat(4)), [3, 1]);
    assert_eq!(sizes(Vec::new()), [0; 0]);
}

#[test]
fn what_is_put_aside_is_read_again_to_the_bit() {
    let vector = vec![0.1, f32::MIN_POSITIVE, -0.0, f32::MAX];
    let passage = |n, vector| Passage { kind: PassageKind::Content, n, text: "\u{1f980}\n".into(), vector };
    let Restorable::Memory { memory, .. } = parsed(lesson(1)).thing else { unreachable!() };
    let passages = vec![passage(0, Some(vector)), passage(1, None), passage(2, Some(Vec::new()))];
    let entry =
        || Entry { redactions: 7, thing: Restorable::Memory { memory: memory.clone(), passages: passages.clone() } };
    let mut bytes = Vec::new();
    entry().write(&mut bytes).unwrap();
    entry().write(&mut bytes).unwrap();
    let mut source = &bytes[..];
    for _ in 0..2 {
        assert_eq!(Entry::read(&mut source).unwrap().unwrap().0, entry());
    }
    assert!(Entry::read(&mut source).unwrap().is_none());
    assert!(Entry::read(&mut &bytes[..bytes.len() - 1]).unwrap().is_some());
    assert!(Entry::read(&mut &bytes[..20]).is_err());
}

/// Of many kinds, each another for every `n`.
fn unusual(n: u64) -> Vec<Restorable> {
    let pick = |of: &str, from: &[&str]| from[(n as usize * 7 + of.len()) % from.len()].to_owned();
    let time = |of: u64| Timestamp::from_nanosecond(i128::from(n * 86_400_000_000_123 + of * 1_001)).unwrap();
    let texts =
        ["plain", "Grün \u{1f980}\n\t\"quoted\"", "C:\\path\\{brace}", "a ".repeat(3_000).leak(), "\u{7f}\u{200b}"];
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
            "score": 0.1 + 0.2 * n as f64, "timestamp": time(3)}],
        "final_score": 1.0 / (n as f64 + 3.0), "verdict_source": "judge", "memory_items": [], "memories_used": [id(9)],
        "metadata": {"model": "m", "reasoning_effort": "low", "matts_enabled": true, "matts_k": 3, "matts_mode": "parallel",
            "total_iterations": 1, "total_tokens": n, "workspace_id": "00000000000000aa"}, "created_at": time(4)});
    let signal = json!({"kind": "signal", "id": id(u128::from(n) * 3 + 3), "memory_id": id(u128::from(n) * 3 + 1),
        "workspace_id": "00000000000000bb", "signal": pick("k", &["helpful", "not_helpful", "injected", "stable"]),
        "at": time(5), "comment": pick("comment", &texts[..3])});
    [memory, trace, signal].map(|line| parsed(line).thing).into()
}

#[test]
fn a_name_of_a_workspace_is_safe_to_print() {
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let named = |name: String| {
        let workspace = json!({"id": "0123456789abcdef", "name": name, "root": "/a", "created_at": defaults().now});
        parsed(with(lesson(1), "workspace", workspace)).workspace.unwrap().name
    };
    assert_eq!(named("shop\u{1b}[2J\n".into()), "shop[2J");
    assert_eq!(named("x".repeat(500)).len(), 120);
    assert!(!named(format!("at {secret}")).contains(&secret));
}

/// Lines without what an import leaves out of workspaces.
fn untrusted(export: &str) -> Vec<Value> {
    let line = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if let Some(workspace) = line.get_mut("workspace").and_then(Value::as_object_mut) {
            workspace.retain(|field, _| !["team", "org", "revision"].contains(&field.as_str()));
        }
        line
    };
    export.lines().map(line).collect()
}

#[tokio::test]
async fn an_export_that_is_imported_is_exported_the_same_but_for_whom_workspaces_trust() {
    let place = tempfile::tempdir().unwrap();
    let (old, loaded) = (system().await, loaded(&place));
    let things: Vec<Restorable> = (0..60).flat_map(unusual).collect();
    let mut team = Workspace::of_root("/moved", "2026-03-01T12:00:00.123456789Z".parse().unwrap());
    (team.id, team.team, team.revision) = ("00000000000000aa".parse().unwrap(), Some("platform".into()), 3);
    old.handle().store.commit(vec![Record::Workspace(team)], a_minute()).await.unwrap();
    old.handle().memories.restore(things, a_minute()).await.unwrap();
    for vectors in [false, true] {
        let exported = async |system: &SystemHandle| {
            let mut out = Vec::new();
            crate::cli::memory::export(None, vectors, false, system, &mut out).await.unwrap();
            String::from_utf8(out).unwrap()
        };
        let before = exported(&old.handle()).await;
        assert_eq!(before.lines().count(), 180);
        assert_eq!(before.matches("\"root\":\"/moved\"").count(), 1);
        let file = place.path().join("bank.jsonl");
        std::fs::write(&file, &before).unwrap();
        let new = system().await;
        let imported = import(&file, &loaded, QUIET, &new.handle()).await.unwrap();
        assert_eq!(imported.imported, Counts { memories: 60, traces: 60, signals: 60 });
        assert_eq!(imported.notes, [UNTRUSTED]);
        let after = exported(&new.handle()).await;
        assert_eq!(untrusted(&after), untrusted(&before));
        let list = new.handle().workspaces.list(a_minute()).await.unwrap();
        assert!(list.iter().all(|workspace| workspace.team.is_none()), "{list:?}");
        let again = system().await;
        std::fs::write(&file, &after).unwrap();
        let imported = import(&file, &loaded, QUIET, &again.handle()).await.unwrap();
        assert_eq!(imported.notes, [""; 0]);
        assert_eq!(exported(&again.handle()).await, after);
        again.stop(Duration::from_secs(5)).await;
        new.stop(Duration::from_secs(5)).await;
    }
    old.stop(Duration::from_secs(5)).await;
}
