//! The content of a data directory, as `memory export` tells it in a process of its own.

use std::path::Path;
use std::process::Stdio;

use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::daemon::command;
use super::failed;
use super::traffic::LoadLesson;
use crate::eval::EvalError;

/// A memory that is stored.
pub(super) struct StoredLesson {
    pub(super) id: String,
    pub(super) lesson: LoadLesson,
    /// Every passage has its vector.
    pub(super) has_vectors: bool,
}

#[derive(Deserialize)]
struct ExportedLine {
    kind: String,
    id: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    content: String,
    #[serde(default)]
    passages: Vec<ExportedPassage>,
}

#[derive(Deserialize)]
struct ExportedPassage {
    vector: Option<IgnoredAny>,
}

/// Reads all memories of a data directory, whether a daemon serves it or not.
pub(super) async fn stored(data_dir: &Path) -> Result<Vec<StoredLesson>, EvalError> {
    let failed = failed("the export");
    let mut export = command(data_dir, &["memory", "export", "--all", "--vectors"])?;
    let mut export = export.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(|error| failed(&error))?;
    let mut stored = Vec::new();
    if let Some(stdout) = export.stdout.take() {
        let mut lines = BufReader::new(stdout).lines();
        while let Some(line) = lines.next_line().await.map_err(|error| failed(&error))? {
            stored.extend(lesson_of(&line).map_err(|error| failed(&error))?);
        }
    }
    let status = export.wait().await.map_err(|error| failed(&error))?;
    if status.success() { Ok(stored) } else { Err(failed(&status)) }
}

/// Reads a line of an export. None where it is no memory.
fn lesson_of(line: &str) -> serde_json::Result<Option<StoredLesson>> {
    let ExportedLine { kind, id, title, description, content, passages } = serde_json::from_str(line)?;
    let has_vectors = !passages.is_empty() && passages.iter().all(|passage| passage.vector.is_some());
    let lesson = LoadLesson { title, description, content };
    Ok((kind == "memory").then_some(StoredLesson { id, lesson, has_vectors }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_has_its_vectors_where_every_passage_has_one() {
        let has_vectors = |passages: &str| {
            let line = format!(r#"{{"kind": "memory", "id": "1", "title": "t", "passages": {passages}}}"#);
            lesson_of(&line).unwrap().unwrap().has_vectors
        };
        assert!(has_vectors(r#"[{"text": "a", "vector": [0.5, 0.5]}]"#));
        assert!(!has_vectors(r#"[{"vector": [0.5]}, {"vector": null}]"#));
        assert!(!has_vectors(r#"[{"text": "a"}]"#));
        assert!(!has_vectors("[]"));
        assert!(lesson_of(r#"{"kind": "signal", "id": "1"}"#).unwrap().is_none());
    }
}
