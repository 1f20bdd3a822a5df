//! Genealogy: which memories a memory was learned from, and which were learned from it. The caller loads them,
//! `lineage` knows who came from whom, `cycles` finds memories that would come from themselves, `merge_sources` says
//! which sources a memory has that is learned again, and `draw` draws the graph.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::confidence::{Evidence, confidence};
use crate::memory::ids::MemoryId;
use crate::memory::{Facts, Memory, MemoryOutcome, SourceType, Status};

mod cycles;
mod draw;
mod lineage;
mod merge_sources;

pub use cycles::cycle_edges;
pub use lineage::{Direction, Lineage};
pub use merge_sources::{cyclic_sources, merge_sources};

/// The most memories of one answer.
pub const MAX_NODES: usize = 10_000;

/// A memory as a node of the tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    pub id: MemoryId,
    pub title: String,
    pub outcome: MemoryOutcome,
    pub warning: bool,
    pub evolution_stage: u32,
    /// The confidence lies in 0..1.
    pub confidence: f64,
    pub status: Status,
}

/// The way in which one memory came from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EdgeKind {
    /// `from` is the one it refines most directly.
    Parent,
    /// `from` is among its sources.
    Derived,
    /// `from` was merged into it.
    Consolidated,
}

impl EdgeKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Parent => "parent",
            Self::Derived => "derived",
            Self::Consolidated => "consolidated",
        }
    }
}

/// An edge from the older memory to the one that came from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Edge {
    pub from: MemoryId,
    pub to: MemoryId,
    pub kind: EdgeKind,
}

/// A node and the memories it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    pub node: Node,
    sources: BTreeMap<MemoryId, EdgeKind>,
}

impl Member {
    pub fn new(memory: &Memory, evidence: &Evidence, now: Timestamp) -> Self {
        let merged = memory.source_type == SourceType::Consolidated;
        let kind = if merged { EdgeKind::Consolidated } else { EdgeKind::Derived };
        let mut sources: BTreeMap<MemoryId, EdgeKind> = memory.derived_from.iter().map(|id| (*id, kind)).collect();
        sources.extend(memory.parent_memory_id.map(|parent| (parent, EdgeKind::Parent)));
        let node = Node {
            id: memory.id,
            title: memory.title.clone(),
            outcome: memory.outcome,
            warning: memory.is_warning(),
            evolution_stage: memory.evolution_stage,
            confidence: confidence(&Facts::from(memory), evidence, now),
            status: memory.status,
        };
        Self { node, sources }
    }

    /// Returns the memories that it came from, whether they are members or not.
    pub fn sources(&self) -> impl Iterator<Item = MemoryId> {
        self.sources.keys().copied()
    }
}

/// The tree around one memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Genealogy {
    pub memory: Node,
    /// The ancestors, nearest first. Equally near ones are in the order of their ids, which is the order of their age.
    pub ancestors: Vec<Node>,
    /// The descendants, nearest first.
    pub descendants: Vec<Node>,
    /// The other memories of the tree, such as what else came from an ancestor; nearest first. Empty where a depth was
    /// asked for. The schema for models leaves it out, because every client pays for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-program" = true))]
    pub relatives: Vec<Node>,
    /// The edges between the memories above, in the order of their ends.
    pub edges: Vec<Edge>,
    /// The tree as text. The oldest memory is at the top.
    pub tree: String,
    /// True where there are more memories, and the answer was cut at its depth or at its size.
    pub truncated: bool,
}

impl Genealogy {
    /// Builds the tree around `of` from the `members` that are connected with it. None where `of` is not among them.
    /// Sources that are no members are left out. A cycle in the stored memories does no harm, because no memory is
    /// visited twice.
    pub fn of(of: MemoryId, members: Vec<Member>, truncated: bool) -> Option<Self> {
        let mut members: BTreeMap<MemoryId, Member> =
            members.into_iter().map(|member| (member.node.id, member)).collect();
        let known: BTreeSet<MemoryId> = members.keys().copied().collect();
        let mut children: BTreeMap<MemoryId, Vec<MemoryId>> = BTreeMap::new();
        for member in members.values_mut() {
            let id = member.node.id;
            member.sources.retain(|source, _| *source != id && known.contains(source));
            member.sources().for_each(|source| children.entry(source).or_default().push(id));
        }
        let sources_of = |id: MemoryId| members.get(&id).into_iter().flat_map(Member::sources);
        let derived_from = |id: MemoryId| children.get(&id).into_iter().flatten().copied();
        let above = walk(of, |id| sources_of(id).collect());
        let below = walk(of, |id| derived_from(id).collect());
        let all = walk(of, |id| sources_of(id).chain(derived_from(id)).collect());
        let shown: BTreeSet<MemoryId> = std::iter::once(of).chain(all.iter().copied()).collect();
        let mut edges: Vec<Edge> = Vec::new();
        for member in shown.iter().filter_map(|id| members.get(id)) {
            let sources = member.sources.iter().filter(|(from, _)| shown.contains(from));
            edges.extend(sources.map(|(from, kind)| Edge { from: *from, to: member.node.id, kind: *kind }));
        }
        edges.sort();
        let node = |id: &MemoryId| members.get(id).map(|member| member.node.clone());
        // In a cycle an ancestor is a descendant as well; it is listed once.
        let is_above: BTreeSet<&MemoryId> = above.iter().collect();
        let is_below: BTreeSet<&MemoryId> = below.iter().collect();
        let descendants = below.iter().filter(|id| !is_above.contains(id)).filter_map(node).collect();
        let relatives = all.iter().filter(|id| !is_above.contains(id) && !is_below.contains(id));
        let mut genealogy = Self {
            memory: node(&of)?,
            ancestors: above.iter().filter_map(node).collect(),
            descendants,
            relatives: relatives.filter_map(node).collect(),
            edges,
            tree: String::new(),
            truncated,
        };
        genealogy.tree = genealogy.text();
        Some(genealogy)
    }

    /// Returns every memory of the tree, the one asked for first.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        std::iter::once(&self.memory).chain(&self.ancestors).chain(&self.descendants).chain(&self.relatives)
    }
}

/// Finds all memories that can be reached from `start`, level by level, each level in the order of ids. `start` is not
/// among them.
fn walk(start: MemoryId, next: impl Fn(MemoryId) -> Vec<MemoryId>) -> Vec<MemoryId> {
    let mut met = BTreeSet::from([start]);
    let mut reached = Vec::new();
    let mut level = vec![start];
    while !level.is_empty() {
        let found: BTreeSet<MemoryId> = level.into_iter().flat_map(&next).filter(|id| !met.contains(id)).collect();
        met.extend(&found);
        level = found.into_iter().collect();
        reached.extend(&level);
    }
    reached
}

#[cfg(test)]
mod tests;
