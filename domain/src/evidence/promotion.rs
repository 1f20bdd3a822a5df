//! Promotion: which memories have proved themselves enough to be shared with a wider scope, and the copy that is then
//! made. A person decides whether it is made. That person may also promote what this rule does not propose, or agree
//! once for all to whatever it proposes.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::confidence::{Evidence, confidence};
use crate::memory::ids::{MemoryId, SignalId, TraceId, derived};
use crate::memory::signal::{Signal, SignalKind};
use crate::memory::workspace::{Workspace, WorkspaceId};
use crate::memory::{Facts, Memory, Scope, Status, Succession};
use crate::note::Note;

pub const LEAST_CONFIDENCE: f64 = 0.9;
pub const LEAST_POSITIVE: u64 = 5;
pub const LEAST_SOURCES: usize = 2;

/// The signals that say that a memory helped. `Confirmed` is not among them: that the same was learned again says
/// nothing of its use, and a command that succeeds after a warning may do so for another reason.
const POSITIVE: [SignalKind; 3] = [SignalKind::Helpful, SignalKind::TaskSucceeded, SignalKind::Stable];

/// The sources of positive evidence for each memory. Each source has the number of its positive signals that were not
/// overruled.
///
/// The sources are traces where one person works, and sessions that named no trace. In a shared workspace they are the
/// owners of tokens, however much each of them solved and reported; a signal that names no owner has no source there.
#[derive(Debug, Clone, Default)]
pub struct PositiveSources {
    shared: BTreeSet<WorkspaceId>,
    by_memory: BTreeMap<MemoryId, BTreeMap<EvidenceSource, i64>>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum EvidenceSource {
    Trace(TraceId),
    Session(String),
    Owner(String),
}

impl PositiveSources {
    /// Makes an empty set of sources. `shared` are the workspaces that several people use.
    pub fn with_shared(shared: impl IntoIterator<Item = WorkspaceId>) -> Self {
        Self { shared: shared.into_iter().collect(), ..Self::default() }
    }

    pub fn add(&mut self, signal: Signal) {
        let source = if self.shared.contains(&signal.workspace_id) {
            signal.session.map(EvidenceSource::Owner)
        } else {
            signal.trace_id.map(EvidenceSource::Trace).or(signal.session.map(EvidenceSource::Session))
        };
        let counts = match signal.kind {
            SignalKind::SuccessOverruled => -1,
            kind => i64::from(POSITIVE.contains(&kind)),
        };
        if let Some(source) = source.filter(|_| counts != 0) {
            *self.by_memory.entry(signal.memory_id).or_default().entry(source).or_default() += counts;
        }
    }

    pub fn count(&self, id: MemoryId) -> usize {
        self.by_memory.get(&id).map_or(0, |sources| sources.values().filter(|positive| **positive > 0).count())
    }
}

/// Returns the next wider scope. None for the organisation, which is the widest.
pub fn wider(scope: Scope) -> Option<Scope> {
    match scope {
        Scope::Project => Some(Scope::Team),
        Scope::Team => Some(Scope::Org),
        Scope::Org => None,
    }
}

/// Tells whether a memory and its evidence meet the rule. The sources of the evidence are read for candidates alone, so
/// they are not asked for here. A memory that a newer one was found to update is not spread further.
pub fn is_candidate(memory: &Memory, evidence: &Evidence, now: Timestamp) -> bool {
    memory.status == Status::Active
        && memory.linked_to().is_none()
        && wider(memory.scope).is_some()
        && positive(evidence) >= LEAST_POSITIVE
        && confidence(&Facts::from(memory), evidence, now) >= LEAST_CONFIDENCE
}

/// Returns the number of signals that say that the memory helped. A success that was overruled does not count.
pub fn positive(evidence: &Evidence) -> u64 {
    evidence.count(SignalKind::Helpful) + evidence.successes() + evidence.count(SignalKind::Stable)
}

/// A memory that should be shared more widely.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proposal {
    pub id: MemoryId,
    pub title: String,
    pub scope: Scope,
    /// The scope it would get.
    pub to: Scope,
    /// The confidence lies in 0..1.
    pub confidence: f64,
    pub positive_signals: u64,
    /// The number of sources that the positive signals come from: traces and sessions, or owners of tokens.
    pub sources: usize,
}

impl Proposal {
    /// Returns the proposal to promote a memory. None where the rule does not hold.
    pub fn of(memory: &Memory, evidence: &Evidence, sources: &PositiveSources, now: Timestamp) -> Option<Self> {
        let sources = sources.count(memory.id);
        if sources < LEAST_SOURCES || !is_candidate(memory, evidence, now) {
            return None;
        }
        Some(Self {
            id: memory.id,
            title: memory.title.clone(),
            scope: memory.scope,
            to: wider(memory.scope)?,
            confidence: confidence(&Facts::from(memory), evidence, now),
            positive_signals: positive(evidence),
            sources,
        })
    }
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Proposals {
    /// The proposals come with the most certain first.
    pub proposals: Vec<Proposal>,
    /// The reasons why some memories that deserve it cannot be promoted.
    pub notes: Vec<Note>,
}

/// The answer to a promotion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Promoted {
    /// The copy in the wider scope.
    pub id: MemoryId,
    pub promoted_from: MemoryId,
    pub scope: Scope,
    /// True where the copy is new. Otherwise the memory had been promoted before, and `id` is the copy made then.
    pub created: bool,
}

/// A copy in a wider scope, as answers name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PromotedCopy {
    pub id: MemoryId,
    pub title: String,
    pub scope: Scope,
    /// The name of the team or the organisation that has it.
    pub owner: String,
}

impl PromotedCopy {
    pub fn of(copy: &Memory) -> Self {
        let owner = copy.owner().1.unwrap_or_default().to_owned();
        Self { id: copy.id, title: copy.title.clone(), scope: copy.scope, owner }
    }
}

/// Returns the id of the signal that confirms a memory of the wider scope which says the same as the promoted one. The
/// id (a UUIDv8) stays the same however often that is tried, and becomes another once the words have changed.
pub fn confirmation_id(promoted: &Memory, scope: Scope) -> SignalId {
    let (id, words) = (promoted.id.uuid(), promoted.text_key());
    derived(&["promotion".as_bytes(), id.as_bytes(), scope.as_str().as_bytes(), words.as_bytes()]).into()
}

/// Returns the id of the signal that says that a memory was shared with this workspace's team or organisation, whatever
/// became of the copy. None for the scope of a project, and where the workspace has no such team or organisation.
pub fn mark_id(promoted: MemoryId, scope: Scope, workspace: &Workspace) -> Option<SignalId> {
    let readers = workspace.readers(scope).filter(|_| scope != Scope::Project)?;
    let (scope, readers) = (scope.as_str().as_bytes(), readers.as_bytes());
    Some(derived(&["promoted".as_bytes(), promoted.uuid().as_bytes(), scope, readers]).into())
}

/// Returns the id of the signal that says of this copy that a promotion made it, whatever it and its parent say since.
pub fn copy_mark_id(copy: MemoryId) -> SignalId {
    derived(&["promoted copy".as_bytes(), copy.uuid().as_bytes()]).into()
}

/// Makes the copy of `memory` for the next wider scope. The copy has the same words, and the memory as its parent. It
/// starts with the confidence that the memory has earned, and collects its own evidence from then on. What replaces the
/// memory does not replace the copy. None where there is no wider scope, or where the workspace has no team or
/// organisation of that kind.
pub fn promoted(
    memory: &Memory,
    evidence: &Evidence,
    id: MemoryId,
    workspace: &Workspace,
    now: Timestamp,
) -> Option<Memory> {
    let scope = wider(memory.scope)?;
    let (team, org) = workspace.team_and_org(scope)?;
    let mut copy = Memory {
        id,
        revision: 1,
        workspace_id: workspace.id.clone(),
        scope,
        team,
        org,
        parent_memory_id: Some(memory.id),
        derived_from: Vec::new(),
        prior: confidence(&Facts::from(memory), evidence, now).clamp(0.01, 0.99),
        created_at: now,
        updated_at: now,
        pinned: false,
        status: Status::Active,
        valid_from: Some(memory.said_at()),
        succession: Succession::default(),
        ..memory.clone()
    };
    copy.derive_from(memory);
    Some(copy)
}

/// Finds the workspace whose own memory was promoted to this copy, also through a copy of a copy. `parents` are the
/// known parents, and `marks` those of the [marks](copy_mark_id) of copies that are stored. A copy whose parent is gone
/// counts as shared by the workspace that it names. None where this is no copy of a workspace's own memory, for example
/// because its team or organisation had the memory from elsewhere.
pub fn origin<'a>(
    copy: &'a Memory,
    parents: &BTreeMap<MemoryId, &'a Memory>,
    marks: &HashSet<SignalId>,
) -> Option<&'a WorkspaceId> {
    let is_marked = |copy: &Memory| marks.contains(&copy_mark_id(copy.id));
    match parents.get(&copy.parent_memory_id?) {
        None => Some(&copy.workspace_id),
        // Each step goes to a narrower scope, so the recursion ends.
        Some(parent) if wider(parent.scope) != Some(copy.scope) => None,
        // The words differ and no promotion made it, so somebody wrote this memory after its parent.
        Some(parent) if parent.text_key() != copy.text_key() && !is_marked(copy) => None,
        Some(parent) if parent.scope == Scope::Project => Some(&parent.workspace_id),
        Some(parent) if parent.is_copy() => origin(parent, parents, marks),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests;
