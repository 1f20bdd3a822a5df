//! One search. It ranks the candidates that the store finds. It looks more widely while rules that the store does not
//! know leave fewer of them than were asked for.

use std::collections::HashSet;

use reasoning_bank_domain::evidence::confidence::Evidence;
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId};
use reasoning_bank_domain::memory::{Facts, Status};
use reasoning_bank_domain::retrieval::candidates::{Candidates, WIDER_SEARCHES, wider};
use reasoning_bank_domain::retrieval::ranking::Ranking;
use reasoning_bank_domain::retrieval::responses::SearchMode;
use reasoning_bank_domain::retrieval::score::{Profile, QueryContext};

use crate::error::Error;
use crate::memories::MemoriesHandle;
use crate::ports::{MemoryRow, Recall};
use crate::runtime::Deadline;

pub(super) struct Search<'a> {
    pub(super) recall: Recall,
    pub(super) asked: QueryContext,
    pub(super) profile: Profile,
    pub(super) min_confidence: Option<f64>,
    /// The number of memories that the answer should have.
    pub(super) n: usize,
    /// True where the answer has only items of the best trace.
    pub(super) one_trace: bool,
    /// The search answers as if these memories were not stored.
    pub(super) except: &'a HashSet<MemoryId>,
}

pub(super) struct Searched {
    pub(super) ranking: Ranking,
    pub(super) mode: SearchMode,
    /// True where the search found as many as were asked for, or there are no more.
    pub(super) complete: bool,
}

impl Search<'_> {
    fn rank(&self, candidates: Candidates) -> Ranking {
        let mut ranking = Ranking::of(candidates, &self.asked, &self.profile);
        match &self.asked.signature {
            Some(error) if self.recall.conditions.warnings_only => ranking.matching_first(error),
            _ => ranking.very_error_first(),
        }
        if let Some(least) = self.min_confidence {
            ranking.require_confidence(least);
        }
        ranking
    }
}

impl MemoriesHandle {
    pub(super) async fn search(&self, search: &mut Search<'_>, deadline: Deadline) -> Result<Searched, Error> {
        let mut wider_searches = 0;
        let (candidates, ranking, complete) = loop {
            let candidates = self.store.candidates(search.recall.clone(), deadline).await?.without(search.except);
            let operational = self.operational(&candidates, deadline).await?;
            let candidates = candidates.without(&operational);
            let ranking = search.rank(candidates.clone());
            let complete = ranking.kept().count() >= search.n || !candidates.are_cut_off();
            if complete || wider_searches == WIDER_SEARCHES {
                break (candidates, ranking, complete);
            }
            wider_searches += 1;
            search.recall.limit = wider(search.recall.limit);
        };
        let mode = match (&candidates.vector, &candidates.text) {
            (Some(_), None) => SearchMode::Vector,
            (Some(_), Some(_)) => SearchMode::Hybrid,
            (None, _) => SearchMode::Keyword,
        };
        let ranking =
            if search.one_trace { self.with_one_trace(search, candidates, ranking, deadline).await? } else { ranking };
        Ok(Searched { ranking, mode, complete })
    }

    /// Finds the candidates that are operational, which no search answers with. Bodies are read only of those that may
    /// be.
    async fn operational(&self, candidates: &Candidates, deadline: Deadline) -> Result<HashSet<MemoryId>, Error> {
        let may_be = candidates.facts.iter().filter(|(facts, _)| facts.may_be_operational());
        let ids: Vec<MemoryId> = may_be.map(|(facts, _)| facts.id).collect();
        if ids.is_empty() {
            return Ok(HashSet::new());
        }
        let rows = self.store.get(ids, deadline).await?;
        let operational = rows.iter().filter(|row| row.memory.is_operational());
        Ok(operational.map(|row| row.memory.id).collect())
    }

    /// Ranks all that was learned from the trace of the best candidate, whether the search found it or not, and nothing
    /// else.
    async fn with_one_trace(
        &self,
        search: &Search<'_>,
        mut candidates: Candidates,
        mut ranking: Ranking,
        deadline: Deadline,
    ) -> Result<Ranking, Error> {
        if let Some(trace) = ranking.best_trace() {
            let others = self.others_of(trace, &ranking, search, deadline).await?;
            candidates.facts.extend(others);
            ranking = search.rank(candidates);
        }
        ranking.keep_best_trace();
        Ok(ranking)
    }

    async fn others_of(
        &self,
        trace: TraceId,
        ranking: &Ranking,
        Search { recall, except, .. }: &Search<'_>,
        deadline: Deadline,
    ) -> Result<Vec<(Facts, Evidence)>, Error> {
        let found: HashSet<MemoryId> = ranking.entries.iter().map(|entry| entry.facts.id).collect();
        let stored = self.store.trace(trace, None, deadline).await?;
        let mut ids = stored.map(|trace| trace.memory_items).unwrap_or_default();
        ids.retain(|id| !found.contains(id) && !except.contains(id));
        let mut rows = self.store.get(ids, deadline).await?;
        rows.retain(|MemoryRow { memory, .. }| {
            let is_own = memory.trace_id == Some(trace) && memory.status == Status::Active && !memory.is_operational();
            is_own && recall.visible.contains(memory) && recall.conditions.hold(memory)
        });
        Ok(rows.into_iter().map(|row| (Facts::from(&row.memory), row.evidence)).collect())
    }
}
