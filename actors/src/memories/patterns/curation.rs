//! Keeping patterns right and few by hand: a change makes a new version, earlier ones can be read, similar ones are
//! named, and those that are worth little are proposed.

use reasoning_bank_domain::consolidation::HistoryEntry;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::pattern::{PatternPart, PatternStage};
use reasoning_bank_domain::memory::{Memory, Trust};
use reasoning_bank_domain::pattern::document::{
    PatternChanged, PatternDocument, PatternSummary, PatternVersion, PatternVersions, PruneProposal, PruneProposals,
    SimilarPattern, SimilarPatterns,
};
use reasoning_bank_domain::pattern::evidence::comparable;
use reasoning_bank_domain::pattern::input::PatternInput;
use reasoning_bank_domain::pattern::merging::pattern_likeness;
use reasoning_bank_domain::pattern::{pruning, stages};

use crate::conflict::retry_on_conflict;
use crate::error::Error;
use crate::memories::{MemoriesHandle, WorkspaceRef};
use crate::ports::{HistoryFilter, HistoryOf, Page, Record};
use crate::runtime::Deadline;

/// The most similar patterns that are named.
const SIMILAR_MAX: usize = 20;
/// Patterns are similar from this likeness on.
const SIMILAR_LIKENESS: f64 = 0.5;
/// The most earlier versions that are read.
const VERSIONS_MAX: usize = 1_000;

impl MemoriesHandle {
    /// Changes what a pattern says and when it applies. That is its next version, which is validated only if the
    /// applications that meet it pass the tests. The earlier one can be read.
    ///
    /// # Errors
    /// `InvalidArgument` for another category, because a pattern of another one is another pattern.
    pub async fn update_pattern(
        &self,
        id: MemoryId,
        input: &PatternInput,
        trust: Trust,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<PatternChanged, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        retry_on_conflict(async |_| {
            let (before, part) = self.readable_pattern(id, &workspace, deadline).await?;
            if part.category != input.category {
                return Err(Error::invalid(
                    "category",
                    "is another one than the pattern has; add a pattern of its own",
                ));
            }
            let now = self.clock.now();
            let judged = self.judged(id, deadline).await?;
            let applied = judged.of(id);
            let said = input.part();
            let changed = PatternPart {
                content: said.content,
                applicability: said.applicability,
                guidance: said.guidance,
                relationships: said.relationships,
                ..part.clone()
            };
            let memory = Memory {
                title: input.title.clone(),
                description: input.description.clone(),
                content: input.explanation.clone(),
                trust: before.trust.max(trust),
                ..before.clone()
            };
            if changed == part && memory == before {
                let pattern = PatternDocument::new(&before, &part, &applied, now);
                let why = "it says that already".to_owned();
                return Ok(PatternChanged { pattern, application_id: None, stage_before: part.stage, why });
            }
            let others = self.compared_with(&judged, &workspace, deadline).await?;
            let comparable = comparable(&changed, &applied, &others, now);
            let next = stages::next_version(changed, &applied, &comparable, now);
            let revised = self.with_part(&before, memory, next.clone(), deadline).await?;
            let Some((memory, record)) = revised else { return Err(Error::internal("a change of a pattern is none")) };
            let history = Record::History(HistoryEntry::earlier_version(&before, &memory, now));
            self.store.commit(vec![record, history], deadline).await?;
            let pattern = PatternDocument::new(&memory, &next, &applied, now);
            let why = format!("version {}", next.version);
            Ok(PatternChanged { pattern, application_id: None, stage_before: part.stage, why })
        })
        .await
    }

    /// Reads what a pattern was before each change of which the history knows.
    pub async fn pattern_versions(
        &self,
        id: MemoryId,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<PatternVersions, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let (memory, _) = self.readable_pattern(id, &workspace, deadline).await?;
        let filter = HistoryFilter { workspace: memory.workspace_id, of: HistoryOf::Memory(id) };
        let mut entries = self.store.history(filter, Page::first(VERSIONS_MAX), deadline).await?;
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.before().map(|before| before.revision)));
        let version = |entry: &HistoryEntry| {
            let before = entry.before()?;
            let part = before.pattern.as_deref()?;
            Some(PatternVersion {
                version: part.version,
                stage: part.stage,
                until: entry.at,
                run_id: entry.run_id,
                name: before.title.clone(),
                description: before.description.clone(),
                detailed_explanation: before.content.clone(),
                content: part.content.clone(),
                applicability: part.applicability.clone(),
            })
        };
        Ok(PatternVersions { versions: entries.iter().filter_map(version).collect() })
    }

    /// Names the patterns that say much the same as one.
    pub async fn similar_patterns(
        &self,
        id: MemoryId,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<SimilarPatterns, Error> {
        let resolved = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let (_, part) = self.readable_pattern(id, &resolved, deadline).await?;
        let others = self.all_patterns(workspace, deadline).await?;
        let mut patterns: Vec<SimilarPattern> = others
            .iter()
            .filter(|(memory, other)| memory.id != id && other.stage != PatternStage::Deprecated)
            .map(|(memory, other)| SimilarPattern {
                summary: PatternSummary::new(memory, other),
                likeness: pattern_likeness(&part, other),
            })
            .filter(|similar| similar.likeness >= SIMILAR_LIKENESS)
            .collect();
        patterns.sort_by(|a, b| b.likeness.total_cmp(&a.likeness));
        patterns.truncate(SIMILAR_MAX);
        Ok(SimilarPatterns { patterns })
    }

    /// Proposes the patterns of a workspace that are worth little. None of them is changed.
    pub async fn prunable_patterns(
        &self,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<PruneProposals, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let own = self.own_patterns(&workspace, deadline).await?;
        let now = self.clock.now();
        let patterns = own.iter().filter_map(|(memory, part)| {
            let contradicting = contradicting(memory.id, part, &own);
            let reason = pruning::prune_reason(part, memory.created_at, &contradicting, now)?;
            Some(PruneProposal { summary: PatternSummary::new(memory, part), reason })
        });
        Ok(PruneProposals { patterns: patterns.collect() })
    }
}

/// Returns those of these patterns that contradict one, whichever of the two says so.
pub(crate) fn contradicting<'a>(
    id: MemoryId,
    part: &PatternPart,
    patterns: impl IntoIterator<Item = &'a (Memory, PatternPart)>,
) -> Vec<&'a PatternPart> {
    let contradicts = |(other, theirs): &&(Memory, PatternPart)| {
        theirs.relationships.contradicts.contains(&id) || part.relationships.contradicts.contains(&other.id)
    };
    patterns.into_iter().filter(contradicts).map(|(_, theirs)| theirs).collect()
}
