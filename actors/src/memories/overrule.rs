//! The changes that a report of evidence makes beside the reporter's own votes: to the verdict of the trace, to the
//! lessons learned from it, and to the votes of the solve that it contradicts. `domain::evidence::verdict_override` has
//! the rule.

use std::collections::{BTreeSet, HashSet};

use jiff::Timestamp;
use reasoning_bank_domain::evidence::verdict_override::{OwnVote, vote_on_learned, with_outcome_of};
use reasoning_bank_domain::memory::ids::{MemoryId, SignalId};
use reasoning_bank_domain::memory::signal::Signal;
use reasoning_bank_domain::memory::trace::Trace;
use uuid::Uuid;

use super::MemoriesHandle;
use crate::error::Error;
use crate::ports::Record;
use crate::runtime::Deadline;

/// The changes that follow from a report. All of them belong into one commit.
#[derive(Default)]
pub(super) struct Overruled {
    /// The revisions of the lessons of the trace, which take its new outcome.
    pub(super) revisions: Vec<Record>,
    pub(super) signals: Vec<Signal>,
}

impl MemoriesHandle {
    /// Makes the changes that follow from a report about `trace`. `after` is the trace with what is reported; None
    /// where that says nothing new. Those of the `contradicted` votes that were cast are taken back.
    pub(super) async fn overrule(
        &self,
        trace: &Trace,
        after: Option<&Trace>,
        contradicted: Vec<OwnVote>,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<Overruled, Error> {
        let (trace_id, session) = trace.source_of_signals();
        let signal = |id, memory, kind| Signal {
            trace_id,
            session: session.clone(),
            ..Signal::new(id, memory, trace.metadata.workspace_id.clone(), kind, now)
        };
        let cast = self.stored_signals(contradicted.iter().map(|vote| vote.id), deadline).await?;
        let taken_back = contradicted.into_iter().filter(|vote| cast.contains(&vote.id));
        let mut signals: Vec<Signal> =
            taken_back.map(|vote| signal(vote.reversal_id, vote.memory, vote.reversal)).collect();
        let Some(after) = after else {
            return Ok(Overruled { signals, revisions: Vec::new() });
        };
        let mut revisions = Vec::new();
        let learned: BTreeSet<MemoryId> = trace.memory_items.iter().copied().collect();
        for row in self.store.get(learned.into_iter().collect(), deadline).await? {
            let lesson = row.memory;
            let vote = vote_on_learned(&lesson, trace, after);
            signals.extend(vote.map(|(kind, id)| signal(id, lesson.id, kind)));
            if let Some(revised) = with_outcome_of(after, &lesson) {
                let (memory, passages) = self.with_passages(revised.revised(now), &lesson, deadline).await?;
                revisions.push(Record::Revision { memory, passages });
            }
        }
        Ok(Overruled { revisions, signals })
    }

    /// Finds those of `ids` that are stored.
    pub(super) async fn stored_signals(
        &self,
        ids: impl Iterator<Item = SignalId>,
        deadline: Deadline,
    ) -> Result<HashSet<SignalId>, Error> {
        let ids: Vec<Uuid> = ids.map(SignalId::uuid).collect();
        if ids.is_empty() {
            return Ok(HashSet::new());
        }
        Ok(self.store.existing_ids(ids, deadline).await?.into_iter().map(SignalId::from).collect())
    }
}
