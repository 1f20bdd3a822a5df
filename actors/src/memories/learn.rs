//! From a lesson to what is committed: its passages with vectors, and whether the bank says the same already.

use std::collections::HashSet;

use jiff::Timestamp;
use reasoning_bank_domain::agent_loop::Keep;
use reasoning_bank_domain::confidence::{Signal, SignalKind};
use reasoning_bank_domain::ids::{MemoryId, SignalId};
use reasoning_bank_domain::memory::{Memory, Scope, normalised};
use reasoning_bank_domain::secrets::Scrub;
use reasoning_bank_domain::solve::Learned;
use reasoning_bank_domain::workspace::Workspace;
use uuid::Uuid;

use super::MemoriesHandle;
use crate::error::Error;
use crate::ports::{Chunk, Conditions, EmbedError, MemoryRow, Passage, PassageKind, Recall, Record, Visible};
use crate::runtime::Deadline;

/// From this cosine on, two lessons with mostly the same words say the same.
const SAME_COSINE: f64 = 0.95;
const SAME_OVERLAP: f64 = 0.8;
/// From this cosine on, a lesson is linked to the existing one as derived from it.
const RELATED_COSINE: f64 = 0.85;
const NEIGHBOURS: usize = 5;

/// A memory that is ready to be committed, or the existing one that it confirms.
pub(super) enum ToLearn {
    New { memory: Box<Memory>, passages: Vec<Passage> },
    Same { existing: MemoryId, memory: Box<Memory> },
}

impl ToLearn {
    pub(super) fn reinforces(&self) -> Option<MemoryId> {
        match self {
            Self::New { .. } => None,
            Self::Same { existing, .. } => Some(*existing),
        }
    }

    pub(super) fn into_record(self, now: Timestamp) -> Record {
        match self {
            Self::New { memory, passages } => {
                Record::Memory { memory: *memory, passages, confirm: SignalId::from(Uuid::now_v7()) }
            }
            Self::Same { existing, memory } => {
                let (kind, trace_id) = (SignalKind::Confirmed, memory.trace_id);
                Record::Signal(signal(existing, kind, &memory, trace_id, now))
            }
        }
    }
}

impl MemoriesHandle {
    /// Stores what a solve leaves: the trace, the lessons, the evidence about injected memories; all or nothing.
    pub(crate) async fn keep(
        &self,
        keep: Keep,
        workspace: Workspace,
        deadline: Deadline,
    ) -> Result<Vec<Learned>, Error> {
        let now = keep.origin.at;
        let mut trace = keep.trace;
        trace.scrub();
        let mut batch = vec![Record::Workspace(workspace.clone())];
        let (mut learnings, mut is_new, mut lessons) = (Vec::new(), Vec::new(), Vec::new());
        for lesson in keep.lessons {
            let mut memory = lesson.into_memory(Uuid::now_v7().into(), &keep.origin, &keep.injected);
            memory.scrub();
            memory.validate()?;
            let (id, title) = (memory.id, memory.title.clone());
            let learned = self.to_learn(memory, deadline).await?;
            let existing = learned.reinforces();
            learnings.push(Learned { id: existing.unwrap_or(id), title });
            is_new.push(existing.is_none());
            lessons.push(learned.into_record(now));
        }
        trace.memory_items = learnings.iter().map(|learned| learned.id).collect();
        let signals = keep.signals.into_iter().map(|(memory_id, kind)| {
            Record::Signal(Signal {
                id: SignalId::from(Uuid::now_v7()),
                memory_id,
                workspace_id: workspace.id.clone(),
                kind,
                at: now,
                trace_id: Some(keep.origin.trace_id),
                comment: None,
            })
        });
        batch.push(Record::Trace(trace));
        batch.extend(lessons);
        batch.extend(signals);
        let committed = self.store.commit(batch, deadline).await?;
        self.workspaces.registered(workspace);
        // The store may have found an exact duplicate that was written meanwhile.
        let new = learnings.iter_mut().zip(is_new).filter_map(|(learned, is_new)| is_new.then_some(learned));
        for (learned, commit) in new.zip(committed.memories) {
            learned.id = commit.id();
        }
        Ok(learnings)
    }

    /// Embeds a memory and compares it with its nearest neighbours of the same readers. The comparison is best effort:
    /// without vectors only exact duplicates are found, by the store.
    pub(super) async fn to_learn(&self, mut memory: Memory, deadline: Deadline) -> Result<ToLearn, Error> {
        let passages = self.passages(&mut memory, deadline).await?;
        let vector =
            passages.iter().find(|p| p.kind == PassageKind::Content && p.n == 0).and_then(|p| p.vector.clone());
        let neighbours = match vector {
            Some(vector) => self.neighbours(&memory, vector, deadline).await.unwrap_or_default(),
            None => Vec::new(),
        };
        for (cosine, row) in neighbours {
            if cosine >= SAME_COSINE && overlap(&memory, &row.memory) >= SAME_OVERLAP {
                return Ok(ToLearn::Same { existing: row.memory.id, memory: Box::new(memory) });
            }
            if cosine >= RELATED_COSINE && !memory.derived_from.contains(&row.memory.id) {
                memory.derived_from.push(row.memory.id);
                memory.evolution_stage = memory.evolution_stage.max(row.memory.evolution_stage + 1);
            }
        }
        Ok(ToLearn::New { memory: Box::new(memory), passages })
    }

    async fn passages(&self, memory: &mut Memory, deadline: Deadline) -> Result<Vec<Passage>, Error> {
        let texts = vec![memory.task.clone(), memory.content_text()];
        let embedded = self.embedder.embed_documents(texts.clone(), deadline).await;
        let chunks = match embedded {
            Ok(chunks) => {
                memory.embedder = Some(self.embedder.fingerprint().to_string());
                chunks
            }
            // For good: the memory is found by its words alone.
            Err(EmbedError::Failed(_)) => {
                let whole =
                    |text: String| if text.trim().is_empty() { vec![] } else { vec![Chunk { text, vector: None }] };
                texts.into_iter().map(whole).collect()
            }
            Err(error) => return Err(error.into()),
        };
        let kinds = [PassageKind::Task, PassageKind::Content];
        let passages = kinds.into_iter().zip(chunks).flat_map(|(kind, chunks)| {
            let passage =
                move |(n, chunk): (usize, Chunk)| Passage { kind, n: n as u32, text: chunk.text, vector: chunk.vector };
            chunks.into_iter().enumerate().map(passage)
        });
        Ok(passages.collect())
    }

    async fn neighbours(
        &self,
        memory: &Memory,
        vector: Vec<f32>,
        deadline: Deadline,
    ) -> Result<Vec<(f64, MemoryRow)>, Error> {
        let project = (memory.scope == Scope::Project).then(|| memory.workspace_id.clone());
        let recall = Recall {
            visible: Visible { workspace: project, team: memory.team.clone(), org: memory.org.clone() },
            conditions: Conditions {
                warnings_only: memory.is_warning(),
                without_warnings: !memory.is_warning(),
                ..Conditions::default()
            },
            text: None,
            vector: Some(vector),
            limit: NEIGHBOURS,
        };
        let found = self.store.candidates(recall, deadline).await?;
        let mut near: Vec<(MemoryId, f64)> = found.vector.map(|list| list.hits).unwrap_or_default();
        near.retain(|(_, cosine)| *cosine >= RELATED_COSINE);
        near.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
        let rows = self.store.get(near.iter().map(|(id, _)| *id).collect(), deadline).await?;
        let row_of = |id: MemoryId| rows.iter().find(|row| row.memory.id == id).cloned();
        let same_readers =
            |row: &MemoryRow| row.memory.scope == memory.scope && row.memory.workspace_id == memory.workspace_id;
        let rows = near.into_iter().filter_map(|(id, cosine)| Some((cosine, row_of(id).filter(same_readers)?)));
        Ok(rows.collect())
    }
}

fn signal(
    memory_id: MemoryId,
    kind: SignalKind,
    learned: &Memory,
    trace_id: Option<reasoning_bank_domain::ids::TraceId>,
    at: Timestamp,
) -> Signal {
    let (id, workspace_id) = (SignalId::from(Uuid::now_v7()), learned.workspace_id.clone());
    Signal { id, memory_id, workspace_id, kind, at, trace_id, comment: None }
}

/// The share of words that two lessons have in common (Jaccard).
fn overlap(a: &Memory, b: &Memory) -> f64 {
    let words = |memory: &Memory| -> HashSet<String> {
        let text = normalised(&memory.content_text());
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let (a, b) = (words(a), words(b));
    let union = a.union(&b).count();
    if union == 0 { 0.0 } else { a.intersection(&b).count() as f64 / union as f64 }
}
