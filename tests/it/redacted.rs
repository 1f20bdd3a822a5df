//! Documents for snapshots, without the values that differ from run to run: ids are numbered as they come, times and
//! measures are replaced, scores rounded.

use std::path::Path;

use serde_json::{Value, json};

/// The fields that are measured. Their numbers mean nothing to a reader of a snapshot.
const MEASURED: [&str; 15] = [
    "took_ms",
    "elapsed_ms",
    "latency_ms",
    "uptime_s",
    "bytes",
    "fragments",
    "rows",
    "index_lag_rows",
    "p50",
    "p95",
    "p99",
    "queue",
    "entries",
    "shelves",
    "searches",
];

pub(crate) struct Redacted<'a> {
    place: &'a Path,
    ids: Vec<String>,
}

impl<'a> Redacted<'a> {
    /// Makes a redaction that shows paths below `place` relative to it.
    pub(crate) fn new(place: &'a Path) -> Self {
        Self { place, ids: Vec::new() }
    }

    /// The same id has the same number in every document that one of these has seen.
    pub(crate) fn document(&mut self, document: &Value) -> Value {
        match document {
            Value::Object(fields) => {
                let field = |(name, value): (&String, &Value)| {
                    let measured = value.is_number() && MEASURED.contains(&name.as_str());
                    (name.clone(), if measured { json!("[measured]") } else { self.document(value) })
                };
                Value::Object(fields.iter().map(field).collect())
            }
            Value::Array(items) => Value::Array(items.iter().map(|item| self.document(item)).collect()),
            Value::Number(number) if number.is_f64() => {
                json!((number.as_f64().unwrap() * 1e3).round() / 1e3)
            }
            Value::String(text) => Value::String(self.text(text)),
            other => other.clone(),
        }
    }

    fn text(&mut self, text: &str) -> String {
        if text.parse::<jiff::Timestamp>().is_ok() {
            return "[time]".into();
        }
        let text = text.replace(&self.place.display().to_string(), "[place]");
        let mut out = String::new();
        // Ids are among words, brackets and line breaks.
        for piece in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '-') {
            let word = piece.trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            let is_workspace = word.len() == 16 && word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
            if is_workspace || (word.len() == 36 && word.parse::<uuid::Uuid>().is_ok()) {
                let n = self.ids.iter().position(|id| id == word).unwrap_or_else(|| {
                    self.ids.push(word.to_owned());
                    self.ids.len() - 1
                });
                out.push_str(&format!("[id {}]", n + 1));
                out.push_str(&piece[word.len()..]);
            } else {
                out.push_str(piece);
            }
        }
        out
    }
}
