//! Artefacts: files that came of a task, and texts that are too long for the body of an episode. They are kept beside
//! the body, which names each by its checksum. The body has the head and the tail of a long text.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::document::Episode;
use crate::memory::trace::{ArtefactReference, EpisodeParts, Execution, OutcomeParts, Reflection, TaskParts};
use crate::memory::{FieldProblem, LABEL_MAX_CHARS, check_count, check_length, check_text};
use crate::safety::secrets::{Removed, Scrub};
use crate::text::head_and_tail;
use crate::text::hex::hex;

/// The largest artefact, in bytes.
pub const ARTEFACT_MAX_BYTES: usize = 64 << 20;
/// The most artefacts of an episode.
pub const ARTEFACTS_MAX: usize = 100;
/// The most bytes of all artefacts of an episode.
pub const ARTEFACTS_MAX_BYTES: usize = 256 << 20;
/// The longest text that stays in the body of an episode, in bytes. The head and tail of a longer one have about as
/// many.
pub const INLINE_MAX_BYTES: usize = 16 << 10;
/// The most bytes of an artefact that are shown at once.
pub const ARTEFACT_PAGE_MAX_BYTES: usize = 64 << 10;

const TEXT_TYPE: &str = "text/plain";
const BINARY_TYPE: &str = "application/octet-stream";

/// A file or a text that is handed in with an episode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "")]
pub struct NewArtefact {
    pub name: String,
    pub text: String,
    /// Default: text/plain.
    #[serde(default)]
    pub media_type: Option<String>,
    /// The content that is no text. A command that reads a file from the disk sets it; no document has it.
    #[serde(skip)]
    pub binary: Option<Vec<u8>>,
}

/// An artefact as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artefact {
    pub reference: ArtefactReference,
    pub content: Vec<u8>,
}

/// A part of an artefact that is a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "")]
pub struct ArtefactText {
    #[serde(flatten)]
    pub artefact: ArtefactReference,
    /// The offset of the text in the artefact, in bytes.
    pub from: u64,
    pub text: String,
    /// The offset of what comes after it. It is left out at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

impl Artefact {
    fn new(name: String, media_type: String, content: Vec<u8>) -> Self {
        let (sha256, bytes) = (hex(&Sha256::digest(&content)), content.len() as u64);
        Self { reference: ArtefactReference { name, sha256, bytes, media_type }, content }
    }

    /// Returns the text from an offset on, at most [`ARTEFACT_PAGE_MAX_BYTES`] of it. An offset within a character
    /// counts as the start of that character.
    ///
    /// # Errors
    ///
    /// The artefact is no text, or has fewer bytes than that.
    pub fn page(&self, from: u64) -> Result<ArtefactText, FieldProblem> {
        let text = self.text()?;
        let start = usize::try_from(from).ok().filter(|start| *start <= text.len());
        let Some(start) = start else {
            return Err(FieldProblem::new("from", format!("is beyond the end; the artefact has {} bytes", text.len())));
        };
        let start = text.floor_char_boundary(start);
        let end = text.floor_char_boundary(start.saturating_add(ARTEFACT_PAGE_MAX_BYTES));
        Ok(ArtefactText {
            artefact: self.reference.clone(),
            from: start as u64,
            text: text[start..end].to_owned(),
            next: (end < text.len()).then_some(end as u64),
        })
    }

    /// Returns all of the text.
    ///
    /// # Errors
    ///
    /// The artefact is no text.
    pub fn whole_text(&self) -> Result<ArtefactText, FieldProblem> {
        let text = self.text()?.to_owned();
        Ok(ArtefactText { artefact: self.reference.clone(), from: 0, text, next: None })
    }

    fn text(&self) -> Result<&str, FieldProblem> {
        let problem = "is no text; `episode artefact --out` writes it to a file";
        str::from_utf8(&self.content).map_err(|_| FieldProblem::new("artefact", problem))
    }
}

impl NewArtefact {
    /// Checks and scrubs what was handed in.
    fn into_artefact(self) -> Result<(Artefact, Removed), FieldProblem> {
        let Self { mut name, mut text, media_type, binary } = self;
        check_text("artefacts.name", &name, LABEL_MAX_CHARS)?;
        let default_type = if binary.is_some() { BINARY_TYPE } else { TEXT_TYPE };
        let mut media_type = media_type.unwrap_or_else(|| default_type.to_owned());
        check_length("artefacts.media_type", &media_type, LABEL_MAX_CHARS)?;
        let bytes = binary.as_ref().map_or(text.len(), Vec::len);
        check_count("artefacts", bytes, "bytes in one", ARTEFACT_MAX_BYTES)?;
        let mut removed = name.scrub() + media_type.scrub();
        let content = match binary {
            Some(content) => content,
            None => {
                removed = removed + text.scrub();
                text.into_bytes()
            }
        };
        Ok((Artefact::new(name, media_type, content), removed))
    }
}

/// Makes artefacts of what was handed in, each scrubbed of secrets unless it is no text.
///
/// # Errors
///
/// There are too many, one is too large, or all together are.
pub(super) fn handed_in(new: Vec<NewArtefact>) -> Result<(Vec<Artefact>, Removed), FieldProblem> {
    check_count("artefacts", new.len(), "artefacts", ARTEFACTS_MAX)?;
    let mut removed = Removed::default();
    let mut artefacts = Vec::new();
    for one in new {
        let (artefact, removed_there) = one.into_artefact()?;
        if artefacts.iter().any(|other: &Artefact| other.reference.name == artefact.reference.name) {
            return Err(FieldProblem::new("artefacts.name", "is the name of two artefacts"));
        }
        removed = removed + removed_there;
        artefacts.push(artefact);
    }
    Ok((artefacts, removed))
}

/// Takes the texts that are too long out of the body. Each becomes an artefact under the name of its field; its head, a
/// reference and its tail stay.
pub(super) fn take_long_texts(parts: &mut EpisodeParts) -> Vec<Artefact> {
    let mut artefacts = Vec::new();
    for (name, text) in texts(&mut parts.task, &mut parts.execution, &mut parts.outcome, &mut parts.reflection) {
        if text.len() <= INLINE_MAX_BYTES {
            continue;
        }
        let artefact = Artefact::new(name, TEXT_TYPE.to_owned(), text.clone().into_bytes());
        let between = format!(" … {} … ", marker(&artefact.reference));
        *text = head_and_tail(text, INLINE_MAX_BYTES, &between).into_owned();
        artefacts.push(artefact);
    }
    artefacts
}

/// Stands in a text for what is left out of it.
fn marker(of: &ArtefactReference) -> String {
    format!("[artefact:{} {} bytes]", of.sha256, of.bytes)
}

impl Episode {
    /// Lists the artefacts that hold a text of the body, whole.
    pub fn long_texts(&self) -> impl Iterator<Item = &ArtefactReference> {
        self.artefacts.iter().filter(|artefact| artefact.media_type == TEXT_TYPE)
    }

    /// Puts long texts back into the body. `contents` has them by their checksums.
    pub fn restore_texts(&mut self, contents: &BTreeMap<String, String>) {
        let Self { task, execution, outcome, reflection, artefacts, .. } = self;
        for (name, text) in texts(&mut task.parts, execution, &mut outcome.parts, reflection) {
            let own = artefacts.iter().find(|artefact| artefact.name == name && text.contains(&marker(artefact)));
            if let Some(whole) = own.and_then(|artefact| contents.get(&artefact.sha256)) {
                whole.clone_into(text);
            }
        }
    }
}

/// Checks that an episode has not too many artefacts, and names them in its body. What is there twice is kept once.
pub(super) fn refer(parts: &mut EpisodeParts, artefacts: &mut Vec<Artefact>) -> Result<(), FieldProblem> {
    check_count("artefacts", artefacts.len(), "artefacts with long texts", ARTEFACTS_MAX)?;
    let bytes = artefacts.iter().map(|artefact| artefact.content.len()).sum();
    check_count("artefacts", bytes, "bytes with long texts", ARTEFACTS_MAX_BYTES)?;
    parts.artefacts = artefacts.iter().map(|artefact| artefact.reference.clone()).collect();
    artefacts.sort_by(|one, other| one.reference.sha256.cmp(&other.reference.sha256));
    artefacts.dedup_by(|one, other| one.reference.sha256 == other.reference.sha256);
    Ok(())
}

/// The texts of a body that may be long, each with the name of its field.
fn texts<'a>(
    task: &'a mut TaskParts,
    execution: &'a mut Execution,
    outcome: &'a mut OutcomeParts,
    reflection: &'a mut Reflection,
) -> impl Iterator<Item = (String, &'a mut String)> {
    let context = task.context.iter_mut().map(|text| ("task.context".to_owned(), text));
    let entries = execution.trace.iter_mut().enumerate().flat_map(|(n, entry)| {
        let both = [("input", &mut entry.input), ("output", &mut entry.output)];
        both.into_iter().filter_map(move |(field, text)| Some((format!("execution.trace.{n}.{field}"), text.as_mut()?)))
    });
    let output = outcome.primary_output.iter_mut().map(|text| ("outcome.primary_output".to_owned(), text));
    let insights =
        reflection.insights.iter_mut().enumerate().map(|(n, text)| (format!("reflection.insights.{n}"), text));
    let failures = reflection.failures_analyzed.iter_mut().enumerate().flat_map(|(n, failure)| {
        let optional = [("cause", &mut failure.cause), ("resolution", &mut failure.resolution)];
        let optional = optional.into_iter().filter_map(|(field, text)| Some((field, text.as_mut()?)));
        let of = move |(field, text)| (format!("reflection.failures_analyzed.{n}.{field}"), text);
        std::iter::once(("error", &mut failure.error)).chain(optional).map(of)
    });
    let analysis = reflection.performance_analysis.iter_mut();
    let analysis = analysis.map(|text| ("reflection.performance_analysis".to_owned(), text));
    context.chain(entries).chain(output).chain(insights).chain(failures).chain(analysis)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::episode::{EpisodeState, LifecycleRules};
    use crate::memory::samples::{now, strategy, trace};
    use crate::memory::trace::{Trace, TraceEntry};

    fn text(name: &str, text: &str) -> NewArtefact {
        NewArtefact { name: name.into(), text: text.into(), media_type: None, binary: None }
    }

    #[test]
    fn a_long_text_becomes_an_artefact_and_its_ends_stay() {
        let long = format!("begin{}end", "é".repeat(INLINE_MAX_BYTES));
        let mut parts = EpisodeParts::default();
        parts.outcome.primary_output = Some(long.clone());
        parts.execution.trace = vec![TraceEntry { output: Some(long.clone()), ..TraceEntry::default() }];
        parts.reflection.insights = vec!["short".into()];
        let mut artefacts = take_long_texts(&mut parts);
        refer(&mut parts, &mut artefacts).unwrap();
        let names: Vec<&str> = parts.artefacts.iter().map(|artefact| artefact.name.as_str()).collect();
        assert_eq!(names, ["execution.trace.0.output", "outcome.primary_output"]);
        assert_eq!(artefacts.len(), 1, "the same text is kept once");
        assert_eq!(artefacts[0].content, long.as_bytes());
        let cut = parts.outcome.clone();
        let kept = cut.primary_output.clone().unwrap();
        let reference = format!("[artefact:{} {} bytes]", artefacts[0].reference.sha256, long.len());
        assert!(kept.starts_with("beginé") && kept.contains(&reference) && kept.ends_with("éend"));
        assert!(kept.len() <= INLINE_MAX_BYTES);
        assert_eq!(parts.reflection.insights, ["short"]);

        let stored = Trace {
            episode: Some(Box::new(EpisodeParts { outcome: cut, ..parts })),
            ..Trace::reported(trace(1), strategy(1).workspace_id, "", None, now())
        };
        let mut shown = Episode::new(&stored, &EpisodeState::of(&stored), LifecycleRules::default(), now());
        shown.restore_texts(&BTreeMap::from([(artefacts[0].reference.sha256.clone(), long.clone())]));
        assert_eq!(shown.outcome.parts.primary_output.as_deref(), Some(&*long));
        assert_eq!(shown.execution.trace[0].output.as_deref(), Some(&*long));
    }

    #[test]
    fn artefacts_are_bounded_and_scrubbed() {
        let refused = |new: Vec<NewArtefact>| {
            let FieldProblem { field, problem } = handed_in(new).unwrap_err();
            format!("{field} {problem}")
        };
        assert!(refused(vec![text("a", "b"); ARTEFACTS_MAX + 1]).contains("101 artefacts"));
        assert!(refused(vec![text(" ", "b")]).contains("artefacts.name"));
        assert!(refused(vec![text("a", &"b".repeat(ARTEFACT_MAX_BYTES + 1))]).contains("bytes in one"));
        let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz12";
        let (artefacts, removed) = handed_in(vec![text("log", &format!("token {secret}"))]).unwrap();
        assert_eq!(removed.redactions, 1);
        assert!(!String::from_utf8_lossy(&artefacts[0].content).contains(secret));
        let binary = NewArtefact { binary: Some(vec![0xff, 0]), ..text("core", "") };
        let (artefacts, _) = handed_in(vec![binary]).unwrap();
        assert_eq!(artefacts[0].reference.media_type, BINARY_TYPE);
        assert!(artefacts[0].page(0).unwrap_err().problem.contains("--out"));
    }

    proptest! {
        #[test]
        fn pages_together_are_the_text(part in "[aé漢]{1,9}", times in 0usize..20_000) {
            let whole = part.repeat(times);
            let artefact = Artefact::new("a".into(), TEXT_TYPE.into(), whole.clone().into_bytes());
            let (mut read, mut from) = (String::new(), Some(0));
            while let Some(at) = from {
                let page = artefact.page(at).unwrap();
                prop_assert!(page.text.len() <= ARTEFACT_PAGE_MAX_BYTES);
                read += &page.text;
                from = page.next;
            }
            prop_assert_eq!(read, whole.clone());
            prop_assert!(artefact.page(whole.len() as u64 + 1).is_err());
        }
    }
}
