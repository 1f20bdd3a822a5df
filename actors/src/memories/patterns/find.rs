//! The patterns of a workspace: all of them, and those for a task.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::pattern::{PatternPart, PatternStage};
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::pattern::document::{
    ExcludedPattern, FoundPattern, ListedPattern, PatternList, PatternsFound,
};
use reasoning_bank_domain::pattern::evidence::window_start;
use reasoning_bank_domain::pattern::finding::{PatternIndex, PatternQuestion, SuggestedPattern};

use crate::error::Error;
use crate::memories::{MemoriesHandle, ScopeFilter, WorkspaceRef, visible};
use crate::ports::MemoryFilter;
use crate::runtime::Deadline;

/// The number of patterns whose applications are counted by one read.
const COUNTED_AT_ONCE: usize = 100;

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
        let index = self.pattern_index(workspace, deadline).await?;
        let now = self.clock.now();
        let wanted = index.memories().filter(|(_, part)| stage.is_none_or(|stage| part.stage == stage));
        let wanted: Vec<(&Memory, &PatternPart)> = wanted.collect();
        let mut patterns: Vec<ListedPattern> = Vec::new();
        for some in wanted.chunks(COUNTED_AT_ONCE) {
            let ids: Vec<MemoryId> = some.iter().map(|(memory, _)| memory.id).collect();
            let judged = self.judged_since(&ids, window_start(now), deadline).await?;
            let listed =
                |(memory, part): &(&Memory, &PatternPart)| ListedPattern::new(memory, part, &judged.of(memory.id), now);
            patterns.extend(some.iter().map(listed));
        }
        let more_first = |a: &ListedPattern, b: &ListedPattern| -> Ordering {
            let (a, b) = (&a.summary, &b.summary);
            b.confidence.total_cmp(&a.confidence).then(a.pattern_id.cmp(&b.pattern_id))
        };
        patterns.sort_by(more_first);
        Ok(PatternList { patterns })
    }

    /// Finds the patterns that apply to a task, the best first.
    pub async fn find_patterns(&self, query: PatternQuery, deadline: Deadline) -> Result<PatternsFound, Error> {
        let index = self.pattern_index(&query.workspace, deadline).await?;
        let now = self.clock.now();
        let (hits, kept_out) = if query.explain {
            let (hits, left) = index.explain(&query.question, now);
            let left = left.into_iter().map(|out| ExcludedPattern {
                pattern_id: out.id,
                name: index.memory(out.id).map(|memory| memory.title.clone()).unwrap_or_default(),
                why: out.why.to_string(),
            });
            (hits, Some(left.collect()))
        } else {
            (index.find(&query.question, now), None)
        };
        let patterns = index.suggested(hits).into_iter().map(FoundPattern::from).collect();
        Ok(PatternsFound { patterns, kept_out })
    }

    /// Finds the patterns that apply to a task, the best first, as they are stored.
    pub(crate) async fn suggested_patterns(
        &self,
        workspace: &WorkspaceRef,
        question: &PatternQuestion,
        deadline: Deadline,
    ) -> Result<Vec<SuggestedPattern>, Error> {
        let index = self.pattern_index(workspace, deadline).await?;
        Ok(index.suggested(index.find(question, self.clock.now())))
    }

    /// Returns the patterns that a workspace may read. They are active: what is quarantined or superseded is left out.
    pub(super) async fn pattern_index(
        &self,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<Arc<PatternIndex>, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        self.store.patterns(visible(&workspace, ScopeFilter::Cascade), deadline).await
    }

    /// Reads the patterns that a workspace may read. They are active, as in [`Self::pattern_index`].
    pub(super) async fn all_patterns(
        &self,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<Vec<(Memory, PatternPart)>, Error> {
        let index = self.pattern_index(workspace, deadline).await?;
        Ok(index.memories().map(|(memory, part)| (memory.clone(), part.clone())).collect())
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
