//! The records of a merge of memories that say the same.

use std::collections::BTreeMap;

use reasoning_bank_domain::consolidation::duplicates::MemoryMerge;
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::MemoryId;

use super::MemoriesHandle;
use super::compare::passages_added;
use super::passages::with_more;
use crate::ports::{Passage, Record};
use crate::runtime::Deadline;

/// The next revisions of memories that are merged.
pub(crate) struct RevisedMerge {
    /// Those that go out of search, in the order of the merge.
    pub(crate) others: Vec<Memory>,
    /// The records of all, the one that stays among them.
    pub(crate) records: Vec<Record>,
}

impl MemoriesHandle {
    /// Makes the next revisions of memories that are merged. `passages` are those of the stored ones. The one that
    /// stays gets those of the texts that it takes in, so that nothing is embedded again.
    pub(crate) async fn merged(
        &self,
        merge: &MemoryMerge,
        passages: &mut BTreeMap<MemoryId, Vec<Passage>>,
        deadline: Deadline,
    ) -> RevisedMerge {
        let now = self.clock.now();
        let MemoryMerge { before, after, others } = merge;
        let mut grown = before.clone();
        let mut of_stays = passages.remove(&before.id).unwrap_or_default();
        let mut revised = RevisedMerge { others: Vec::new(), records: Vec::new() };
        for (other, superseded) in others {
            let stored = passages.remove(&other.id).unwrap_or_default();
            let next = grown.confirmed_by(other).unwrap_or_else(|| grown.clone());
            of_stays = with_more(of_stays, passages_added(&grown, &next, &stored));
            grown = next;
            let (memory, passages) = self.with_these_or_new(superseded.clone().revised(now), stored, deadline).await;
            revised.others.push(memory.clone());
            revised.records.push(Record::Revision { memory, passages });
        }
        let (memory, passages) = self.with_these_or_new(after.clone().revised(now), of_stays, deadline).await;
        revised.records.push(Record::Revision { memory, passages });
        revised
    }
}
