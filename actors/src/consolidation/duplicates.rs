//! The stage of memories: of those that say the same one stays in search, by the rules of
//! `domain::consolidation::duplicates`.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use reasoning_bank_domain::consolidation::duplicates::{MergeCandidate, is_mergeable, memory_merges};
use reasoning_bank_domain::consolidation::{ChangeKind, ConsolidationRun, HistoryEntry, StageName};
use reasoning_bank_domain::evidence::confidence::confidence;
use reasoning_bank_domain::learning::lesson::statement_key;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::memory::{Facts, Scope, Status};

use super::ConsolidationHandle;
use super::run_inputs::RunInputs;
use super::stages::{RECORDS_MAX, StageOutcome};
use crate::error::Error;
use crate::memories::content_vector;
use crate::ports::{MemoryFilter, MemoryRow, Record};
use crate::runtime::Deadline;

/// The most memories that a run looks at.
const MEMORIES_MOST: usize = 100_000;
/// The most memories that are compared with each other. The next run does the rest.
const COMPARED_MOST: usize = 200;

impl ConsolidationHandle {
    pub(super) async fn merged_memories(
        &self,
        run: &ConsolidationRun,
        workspace: &Workspace,
        inputs: &RunInputs,
        deadline: Deadline,
    ) -> Result<StageOutcome, Error> {
        let now = self.clock.now();
        let mut staged = StageOutcome::of(StageName::Memories, 0);
        // The memories that may say the same, by a key that such memories have in common.
        let mut by_key: HashMap<String, Vec<MemoryId>> = HashMap::new();
        let filter = MemoryFilter {
            workspace: Some(workspace.id.clone()),
            status: Some(Status::Active),
            scope: Some(Scope::Project),
            ..MemoryFilter::default()
        };
        let looked_at = &mut staged.report.looked_at;
        let take = |rows: Vec<MemoryRow>| {
            for row in rows.iter().filter(|row| is_mergeable(&row.memory)) {
                *looked_at += 1;
                if !inputs.rejected.contains(&row.memory.id.uuid()) {
                    by_key.entry(statement_key(&row.memory)).or_default().push(row.memory.id);
                }
            }
            if *looked_at < MEMORIES_MOST as u64 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        self.memories.each_page(&filter, deadline, take).await?;
        let groups: BTreeMap<MemoryId, Vec<MemoryId>> =
            by_key.into_values().filter(|ids| ids.len() > 1).filter_map(|ids| Some((*ids.first()?, ids))).collect();
        for mut ids in groups.into_values() {
            if staged.records.len() >= RECORDS_MAX {
                staged.report.left += 1;
                continue;
            }
            staged.report.left += ids.len().saturating_sub(COMPARED_MOST) as u64;
            ids.truncate(COMPARED_MOST);
            let mut passages = self.store.passages(ids.clone(), deadline).await?;
            let rows = self.store.get(ids, deadline).await?;
            let candidates = rows.into_iter().filter_map(|row| {
                let vector = content_vector(passages.get(&row.memory.id)?)?.to_vec();
                let confidence = confidence(&Facts::from(&row.memory), &row.evidence, now);
                Some(MergeCandidate { memory: row.memory, confidence, vector })
            });
            for merge in memory_merges(candidates.collect()) {
                let stays = &merge.before;
                let why = match merge.others.len() {
                    1 => "took in another one".to_owned(),
                    count => format!("took in {count} others"),
                };
                staged.note(stays.id.uuid(), ChangeKind::Extended, &stays.title, why);
                staged.records.push(Record::History(HistoryEntry::merged_memory(run, &merge, now)));
                let revised = self.memories.merged(&merge, &mut passages, deadline).await;
                for ((before, _), after) in merge.others.iter().zip(&revised.others) {
                    let why = format!("says the same as {}", stays.id);
                    staged.note(before.id.uuid(), ChangeKind::Superseded, &before.title, why);
                    staged.records.push(Record::History(HistoryEntry::changed_memory(run, before, after, now)));
                }
                staged.records.extend(revised.records);
            }
        }
        Ok(staged)
    }
}
