//! A search of owner indexes that are up to date. Words and vectors are searched side by side, off the threads that
//! serve requests.

use std::collections::BTreeSet;
use std::sync::{Arc, RwLockReadGuard};

use reasoning_bank_actors::ports::{Recall, StoreError};
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signature::SignatureFrequency;
use reasoning_bank_domain::retrieval::candidates::{Candidates, MatchedTerms};
use reasoning_bank_domain::retrieval::fusion::RankedList;
use reasoning_bank_domain::text::terms::QueryTerm;
use reasoning_bank_index::{Collection, OwnerIndex, TermQuery, merge};

use super::cache::{CachedIndex, VersionedIndex};
use crate::lance::errors::failed;
use crate::lance::threads::{self, blocking};

/// Searching fewer passages takes less than handing the work to another thread is worth.
const PASSAGES_IN_PLACE: usize = 2_000;

pub(super) async fn search(
    indexes: Vec<Arc<CachedIndex>>,
    recall: &Recall,
    terms: Option<&[QueryTerm]>,
) -> Result<Candidates, StoreError> {
    let query = terms.map(TermQuery::new);
    let search = Arc::new(IndexSearch { indexes, recall: recall.clone(), query });
    let passages: usize = search.indexes().iter().map(|versioned| versioned.index.passages()).sum();
    if passages <= PASSAGES_IN_PLACE {
        let (text, terms) = search.by_words();
        return Ok(search.complete(search.by_vector(), text, terms));
    }
    let vectors = Arc::clone(&search);
    let vectors = tokio::task::spawn_blocking(move || vectors.by_vector());
    let ((text, terms), search) = blocking(move || (search.by_words(), search)).await?;
    let vector = vectors.await.map_err(failed)?;
    blocking(move || search.complete(vector, text, terms)).await
}

struct IndexSearch {
    indexes: Vec<Arc<CachedIndex>>,
    recall: Recall,
    query: Option<TermQuery>,
}

impl IndexSearch {
    fn indexes(&self) -> Vec<RwLockReadGuard<'_, VersionedIndex>> {
        self.indexes.iter().map(|cached| cached.versioned()).collect()
    }

    fn by_vector(&self) -> Option<RankedList> {
        let Recall { conditions, limit, .. } = &self.recall;
        let vector = self.recall.vector.as_deref()?;
        let versioned = self.indexes();
        let indexes: Vec<&OwnerIndex> = versioned.iter().map(|versioned| &versioned.index).collect();
        let list = || merge(indexes.iter().map(|index| index.by_vector(vector, conditions, *limit)), *limit);
        let passages: usize = indexes.iter().map(|index| index.passages()).sum();
        // the locks are held out here
        Some(if passages <= PASSAGES_IN_PLACE { list() } else { threads::search(list) })
    }

    fn by_words(&self) -> (Option<RankedList>, MatchedTerms) {
        let Recall { conditions, limit, .. } = &self.recall;
        let Some(query) = &self.query else { return (None, MatchedTerms::default()) };
        let indexes = self.indexes();
        let mut collection = Collection::default();
        indexes.iter().for_each(|versioned| versioned.index.count(query, &mut collection));
        let mut terms = collection.terms();
        let lists: Vec<RankedList> = indexes
            .iter()
            .map(|versioned| {
                let found = versioned.index.by_words(query, &collection, conditions, *limit);
                terms.matched.extend(found.matched);
                found.list
            })
            .collect();
        (Some(merge(lists, *limit)), terms)
    }

    /// Completes the lists with the newest memories that warn of the error that is asked for, and with what scoring
    /// needs of all that was found. What was taken off an owner index since is in neither list.
    fn complete(
        &self,
        mut vector: Option<RankedList>,
        mut text: Option<RankedList>,
        terms: MatchedTerms,
    ) -> Candidates {
        let Recall { conditions, limit, .. } = &self.recall;
        let indexes = self.indexes();
        let warning = self.recall.signature.iter().flat_map(|error| {
            let of = |versioned: &RwLockReadGuard<'_, VersionedIndex>| {
                versioned.index.by_signature(error, conditions, *limit)
            };
            let mut warning: Vec<MemoryId> = indexes.iter().flat_map(of).collect();
            warning.sort_unstable_by(|a, b| b.cmp(a));
            warning.truncate(*limit);
            warning
        });
        let listed = [&vector, &text].into_iter().flatten().flat_map(|list| list.hits.iter().map(|(id, _)| *id));
        let found: BTreeSet<MemoryId> = listed.chain(warning).collect();
        let facts: Vec<_> =
            found.into_iter().filter_map(|id| indexes.iter().find_map(|versioned| versioned.index.facts(id))).collect();
        let known: BTreeSet<MemoryId> = facts.iter().map(|(facts, _)| facts.id).collect();
        for list in [&mut vector, &mut text].into_iter().flatten() {
            list.hits.retain(|(id, _)| known.contains(id));
        }
        let signature_frequency = self.recall.signature.as_ref().map(|error| {
            indexes
                .iter()
                .map(|versioned| versioned.index.signature_frequency(error))
                .fold(SignatureFrequency::default(), SignatureFrequency::and)
        });
        Candidates { vector, text, facts, terms, signature_frequency }
    }
}
