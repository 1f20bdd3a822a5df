//! The patterns of a workspace: all of them, and those for a task.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::pattern::{PatternPart, PatternStage};
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::memory::{Memory, Scope, Status};
use reasoning_bank_domain::pattern::document::{
    ExcludedPattern, FoundPattern, PatternList, PatternSummary, PatternsFound,
};
use reasoning_bank_domain::pattern::finding::{PatternHit, PatternIndex, PatternQuestion, SuggestedPattern};

use crate::error::Error;
use crate::memories::{MemoriesHandle, ScopeFilter, WorkspaceRef, visible};
use crate::ports::MemoryFilter;
use crate::runtime::Deadline;

/// The patterns that are asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct PatternQuery {
    pub workspace: WorkspaceRef,
    pub question: PatternQuestion,
    /// The answer says of each other pattern what keeps it out.
    pub explain: bool,
}

impl MemoriesHandle {
    /// Lists the patterns that a workspace may read, of one stage or of all.
    pub async fn patterns(
        &self,
        workspace: &WorkspaceRef,
        stage: Option<PatternStage>,
        deadline: Deadline,
    ) -> Result<PatternList, Error> {
        let found = self.all_patterns(workspace, deadline).await?;
        let wanted = found.iter().filter(|(_, part)| stage.is_none_or(|stage| part.stage == stage));
        let mut patterns: Vec<PatternSummary> =
            wanted.map(|(memory, part)| PatternSummary::new(memory, part)).collect();
        let more_first = |a: &PatternSummary, b: &PatternSummary| -> Ordering {
            b.confidence.total_cmp(&a.confidence).then(a.pattern_id.cmp(&b.pattern_id))
        };
        patterns.sort_by(more_first);
        Ok(PatternList { patterns })
    }

    /// Finds the patterns that apply to a task, the best first.
    pub async fn find_patterns(&self, query: PatternQuery, deadline: Deadline) -> Result<PatternsFound, Error> {
        let found = self.all_patterns(&query.workspace, deadline).await?;
        let index = PatternIndex::new(found.iter().map(|(memory, part)| (memory.id, part)));
        let now = self.clock.now();
        let (hits, kept_out) = if query.explain {
            let (hits, left) = index.explain(&query.question, now);
            let name = |id: MemoryId| found.iter().find(|(memory, _)| memory.id == id).map(|(memory, _)| &memory.title);
            let left = left.into_iter().map(|out| ExcludedPattern {
                pattern_id: out.id,
                name: name(out.id).cloned().unwrap_or_default(),
                why: out.why.to_string(),
            });
            (hits, Some(left.collect()))
        } else {
            (index.find(&query.question, now), None)
        };
        let patterns = as_stored(hits, found).into_iter().map(FoundPattern::from).collect();
        Ok(PatternsFound { patterns, kept_out })
    }

    /// Finds the patterns that apply to a task, the best first, as they are stored.
    pub(crate) async fn suggested_patterns(
        &self,
        workspace: &WorkspaceRef,
        question: &PatternQuestion,
        deadline: Deadline,
    ) -> Result<Vec<SuggestedPattern>, Error> {
        let found = self.all_patterns(workspace, deadline).await?;
        let index = PatternIndex::new(found.iter().map(|(memory, part)| (memory.id, part)));
        let hits = index.find(question, self.clock.now());
        Ok(as_stored(hits, found))
    }

    /// Reads all patterns that a workspace may read. They are active: what is quarantined or superseded is left out.
    pub(super) async fn all_patterns(
        &self,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<Vec<(Memory, PatternPart)>, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let visible = visible(&workspace, ScopeFilter::Cascade);
        let active = MemoryFilter { status: Some(Status::Active), patterns_only: true, ..MemoryFilter::default() };
        let own = MemoryFilter { workspace: Some(workspace.id.clone()), ..active.clone() };
        let shared = [(Scope::Team, &visible.team), (Scope::Org, &visible.org)];
        let shared = shared.into_iter().filter(|(_, readers)| readers.is_some());
        let shared = shared.map(|(scope, _)| MemoryFilter { scope: Some(scope), ..active.clone() });
        let mut found = BTreeMap::new();
        for filter in std::iter::once(own).chain(shared) {
            let patterns = self.listed_patterns(&filter, deadline).await?;
            let readable = patterns.into_iter().filter(|(memory, _)| visible.contains(memory));
            found.extend(readable.map(|one| (one.0.id, one)));
        }
        Ok(found.into_values().collect())
    }

    /// Reads the patterns that belong to a workspace, of any status and stage.
    pub(crate) async fn own_patterns(
        &self,
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Result<Vec<(Memory, PatternPart)>, Error> {
        let workspace = Some(workspace.id.clone());
        self.listed_patterns(&MemoryFilter { workspace, patterns_only: true, ..MemoryFilter::default() }, deadline)
            .await
    }

    async fn listed_patterns(
        &self,
        filter: &MemoryFilter,
        deadline: Deadline,
    ) -> Result<Vec<(Memory, PatternPart)>, Error> {
        let mut found = Vec::new();
        self.each_page(filter, deadline, |rows| {
            let memories = rows.into_iter().map(|row| row.memory);
            found.extend(memories.filter_map(|memory| Some((memory.pattern.as_deref()?.clone(), memory))));
            ControlFlow::Continue(())
        })
        .await?;
        Ok(found.into_iter().map(|(part, memory)| (memory, part)).collect())
    }
}

/// Returns the patterns of hits, in their order.
fn as_stored(hits: Vec<PatternHit>, found: Vec<(Memory, PatternPart)>) -> Vec<SuggestedPattern> {
    let mut by_id: BTreeMap<MemoryId, (Memory, PatternPart)> =
        found.into_iter().map(|(memory, part)| (memory.id, (memory, part))).collect();
    let stored = |PatternHit { id, score, preferred_over, .. }| {
        let (memory, part) = by_id.remove(&id)?;
        Some(SuggestedPattern { memory, part, score, preferred_over })
    };
    hits.into_iter().filter_map(stored).collect()
}
