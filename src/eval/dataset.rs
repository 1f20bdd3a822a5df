//! A retrieval set: documents and queries as JSON Lines. Queries are held in memory. There may be many documents, so
//! only what results are told by is held of them, and they are read again when they are stored.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use reasoning_bank_domain::retrieval::measures::Gold;
use serde::Deserialize;
use serde_json::Value;

use super::EvalError;
use crate::jsonl::{self, ItemProblem, ReadError, Refusal};

/// A line of a corpus.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CorpusDocument {
    pub(crate) title: String,
    pub(crate) text: String,
    /// The time at which the document was said or written.
    pub(crate) at: Option<Timestamp>,
    pub(crate) workspace: Option<String>,
}

#[derive(Deserialize)]
struct DocumentLine {
    id: String,
    #[serde(default)]
    title: Option<String>,
    text: String,
    #[serde(default)]
    ts: Option<String>,
    #[serde(default)]
    workspace: Option<String>,
}

/// A corpus that was read through once and found to be in order. Documents are numbered from 0 by their lines.
pub(crate) struct Corpus {
    path: PathBuf,
    ids: Vec<String>,
    numbers: HashMap<String, u32>,
    /// The entry of a document is an index into `names`, or none where the document names no workspace.
    workspaces: Vec<Option<u32>>,
    names: Vec<String>,
}

impl Corpus {
    /// Reads a corpus through once.
    ///
    /// # Errors
    /// The error names every line that is wrong, up to a bound: a line is no JSON, a field has another form, or an id
    /// was there before.
    pub(crate) fn open(path: &Path) -> Result<Self, EvalError> {
        let mut corpus = Self {
            path: path.to_owned(),
            ids: Vec::new(),
            numbers: HashMap::new(),
            workspaces: Vec::new(),
            names: Vec::new(),
        };
        let mut indexes: HashMap<String, u32> = HashMap::new();
        read(path, |line: DocumentLine| {
            let (id, document) = document(line)?;
            let number = u32::try_from(corpus.ids.len()).map_err(|_| bad("id", "is one too many"))?;
            if corpus.numbers.insert(id.clone(), number).is_some() {
                return Err(bad("id", format!("{id} was there before")));
            }
            corpus.ids.push(id);
            let names = &mut corpus.names;
            let index = document.workspace.map(|name| {
                *indexes.entry(name).or_insert_with_key(|name| {
                    names.push(name.clone());
                    names.len() as u32 - 1
                })
            });
            corpus.workspaces.push(index);
            Ok(())
        })?;
        Ok(corpus)
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Counts the workspaces that documents name.
    pub(crate) fn workspaces(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn id(&self, number: u32) -> &str {
        &self.ids[number as usize]
    }

    pub(crate) fn number(&self, id: &str) -> Option<u32> {
        self.numbers.get(id).copied()
    }

    pub(crate) fn workspace(&self, number: u32) -> Option<&str> {
        self.workspaces[number as usize].map(|index| self.names[index as usize].as_str())
    }

    /// Reads the corpus once more and hands out the documents in order. It blocks, and it ends early when `each` fails.
    pub(crate) fn each(&self, mut each: impl FnMut(u32, CorpusDocument) -> io::Result<()>) -> Result<(), EvalError> {
        let mut number = 0;
        read(&self.path, |line: DocumentLine| {
            let (id, document) = document(line)?;
            if self.number(&id) != Some(number) {
                return Err(Refusal::Io(io::Error::other("it was changed while it was read")));
            }
            each(number, document).map_err(Refusal::Io)?;
            number += 1;
            Ok(())
        })
    }
}

fn document(line: DocumentLine) -> Result<(String, CorpusDocument), Refusal> {
    let at =
        line.ts.map(|ts| time(&ts).ok_or_else(|| bad("ts", "is no time such as 2026-03-01T12:00:00"))).transpose()?;
    let title = line.title.unwrap_or_default();
    Ok((line.id, CorpusDocument { title, text: line.text, at, workspace: line.workspace }))
}

/// Parses a time. Without an offset it is UTC; without a time of day it is midnight.
fn time(text: &str) -> Option<Timestamp> {
    let offset = || text.parse().ok();
    let civil = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    let at: Timestamp = offset().or_else(civil)?;
    // The ends of what a timestamp can hold are no times to count from.
    at.checked_add(SignedDuration::from_hours(24)).is_ok().then_some(at)
}

pub(crate) struct DatasetQuery {
    pub(crate) id: String,
    pub(crate) text: String,
    /// All documents are searched where this is none.
    pub(crate) workspace: Option<String>,
    pub(crate) gold: Gold,
    /// Documents with these ids are not to be found.
    pub(crate) exclude: Vec<String>,
}

#[derive(Deserialize)]
struct QueryLine {
    id: String,
    text: String,
    #[serde(default)]
    workspace: Option<String>,
    #[serde(default)]
    gold: Value,
    #[serde(default)]
    exclude: Option<Vec<String>>,
}

/// Reads the queries of a file.
///
/// # Errors
/// The error names every line that is wrong, up to a bound.
pub(crate) fn queries(path: &Path) -> Result<Vec<DatasetQuery>, EvalError> {
    let (mut queries, mut seen) = (Vec::new(), HashSet::new());
    read(path, |line: QueryLine| {
        if line.text.trim().is_empty() {
            return Err(bad("text", "is blank"));
        }
        if !seen.insert(line.id.clone()) {
            return Err(bad("id", format!("{} was there before", line.id)));
        }
        let gold = gold(line.gold).ok_or_else(|| {
            bad("gold", "is neither a list of ids nor an object of ids with their relevance, a number of at least 0")
        })?;
        let exclude = line.exclude.unwrap_or_default();
        queries.push(DatasetQuery { id: line.id, text: line.text, workspace: line.workspace, gold, exclude });
        Ok(())
    })?;
    Ok(queries)
}

fn gold(value: Value) -> Option<Gold> {
    let judged: Option<Vec<(String, f64)>> = match value {
        Value::Null => Some(Vec::new()),
        Value::Array(ids) => ids.into_iter().map(|id| Some((id.as_str()?.to_owned(), 1.0))).collect(),
        Value::Object(judged) => judged
            .into_iter()
            .map(|(id, relevance)| Some((id, relevance.as_f64().filter(|relevance| *relevance >= 0.0)?)))
            .collect(),
        _ => None,
    };
    judged.map(Gold::new)
}

pub(super) fn bad(field: &str, problem: impl Into<String>) -> Refusal {
    Refusal::Bad(vec![ItemProblem::new(field, problem)])
}

pub(super) fn read<T: serde::de::DeserializeOwned>(
    path: &Path,
    mut each: impl FnMut(T) -> Result<(), Refusal>,
) -> Result<(), EvalError> {
    let wrong = |error| EvalError::Dataset { name: path.display().to_string(), error };
    let file = File::open(path).map_err(|error| wrong(ReadError::Io(error)))?;
    jsonl::read(file, |_, line| each(line)).map_err(wrong)
}

#[cfg(test)]
mod tests;
