use std::fs::File;

use reasoning_bank_actors::ports::{Passage, PassageKind};
use reasoning_bank_domain::memory::{Memory, MemoryOutcome, SourceType, Trust};
use reasoning_bank_domain::safety::secrets::Removed;
use serde_json::{Value, json};

use super::testing::{bank, file, id, lesson, line_of, parsed, with, without};
use super::*;

/// Returns what is said about each of these lines.
fn problems(lines: &[Value]) -> String {
    let place = tempfile::tempdir().unwrap();
    let file = file(&place, lines);
    let aside = tempfile::tempfile().unwrap();
    match check(File::open(file).unwrap(), aside, &bank(ImportMode::Backup), |_| {}) {
        Err(failure) => failure.to_string().split_once("nothing was imported").unwrap().1.trim().to_owned(),
        Ok(_) => "none".into(),
    }
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

#[test]
fn a_memory_that_names_itself_is_refused() {
    let said = problems(&[with(lesson(1), "derived_from", json!([id(1)]))]);
    assert!(said.contains("derived_from: names the memory itself"), "{said}");
}

#[test]
fn what_a_memory_of_another_program_lacks_is_filled_in() {
    for mode in [ImportMode::Backup, ImportMode::Stranger, ImportMode::Copies] {
        let line = line_of(lesson(1), &bank(mode));
        let Taken::Thing(Restorable::Memory { memory, passages }) = line.taken else { panic!("{:?}", line.taken) };
        assert_eq!((memory.revision, memory.outcome, memory.prior), (1, MemoryOutcome::Success, 0.4));
        assert_eq!((memory.source_type, memory.trust), (SourceType::Imported, Trust::Model));
        assert_eq!(
            (memory.created_at, memory.updated_at),
            (bank(ImportMode::Backup).now, bank(ImportMode::Backup).now)
        );
        assert_eq!(line.workspace.unwrap().id, memory.workspace_id);
        assert!(passages.is_empty());
    }
}

#[test]
fn what_cannot_be_put_aside_is_not_said_to_be_unreadable() {
    let place = tempfile::tempdir().unwrap();
    // one goes out at the end alone, all of these before
    for lines in [1, 4_000] {
        let file = file(&place, &(1..=lines).map(lesson).collect::<Vec<_>>());
        let not_writable = File::open(&file).unwrap();
        let failure = check(File::open(&file).unwrap(), not_writable, &bank(ImportMode::Backup), |_| {}).err().unwrap();
        assert!(matches!(failure, ImportFailure::Aside(_)), "{failure}");
    }
}

#[test]
fn a_batch_is_bounded_by_its_bytes_and_by_what_is_to_be_embedded() {
    const OWN: &str = "model/384/0123456789abcdef";
    const OTHER: &str = "other/384/0123456789abcdef";
    let entry = |chars: usize, embedder: Option<&str>| {
        let memory = match parsed(lesson(1)) {
            Restorable::Memory { memory, .. } => memory,
            other => panic!("{other:?}"),
        };
        let memory = Memory { content: "x".repeat(chars), embedder: embedder.map(str::to_owned), ..memory };
        let passage = Passage { kind: PassageKind::Content, n: 0, text: "x".into(), vector: Some(vec![0.5, -1e-30]) };
        let two = vec![passage.clone(), Passage { vector: None, ..passage }];
        let passages = if embedder.is_some() { two } else { Vec::new() };
        let mut bytes = Vec::new();
        StagedEntry {
            removed: Removed { redactions: 3, dropped_characters: 1 },
            thing: Restorable::Memory { memory, passages },
        }
        .write(&mut bytes)
        .unwrap();
        bytes
    };
    let sizes = |bytes: Vec<u8>| {
        let mut entries = &bytes[..];
        let mut next = || next_batch(OWN, MissingVectors::MadeNow, || StagedEntry::read(&mut entries)).unwrap();
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
    let Restorable::Memory { memory, .. } = parsed(lesson(1)) else { unreachable!() };
    let passages = vec![passage(0, Some(vector)), passage(1, None), passage(2, Some(Vec::new()))];
    let entry = || StagedEntry {
        removed: Removed { redactions: 7, dropped_characters: 0 },
        thing: Restorable::Memory { memory: memory.clone(), passages: passages.clone() },
    };
    let mut bytes = Vec::new();
    entry().write(&mut bytes).unwrap();
    entry().write(&mut bytes).unwrap();
    let mut source = &bytes[..];
    for _ in 0..2 {
        assert_eq!(StagedEntry::read(&mut source).unwrap().unwrap().0, entry());
    }
    assert!(StagedEntry::read(&mut source).unwrap().is_none());
    assert!(StagedEntry::read(&mut &bytes[..bytes.len() - 1]).unwrap().is_some());
    assert!(StagedEntry::read(&mut &bytes[..20]).is_err());
}

#[test]
fn a_name_of_a_workspace_is_safe_to_print() {
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let named = |name: String| {
        let workspace =
            json!({"id": "0123456789abcdef", "name": name, "root": "/a", "created_at": bank(ImportMode::Backup).now});
        line_of(with(lesson(1), "workspace", workspace), &bank(ImportMode::Stranger)).workspace.unwrap().name
    };
    assert_eq!(named("shop\u{1b}[2J\n".into()), "shop");
    assert_eq!(named("x".repeat(500)).len(), 120);
    assert!(!named(format!("at {secret}")).contains(&secret));
}
