//! Candidates for a query. A vector search and a text search run side by side over the passages, and beside them the
//! memories are found that warn of the error that is asked for; then what scoring needs of what was found is read.
//! Fusing and scoring is done by the domain. Where all of it is in memory the tables are not searched (`resident`).

use std::collections::{BTreeSet, HashMap, HashSet};

use arrow_array::RecordBatch;
use futures::TryStreamExt;
use lancedb::expr::{DfExpr, col, contains, lit};
use lancedb::index::scalar::FullTextSearchQuery;
use lancedb::query::{ExecutableQuery, QueryBase, Select};
use lancedb::{DistanceType, Table};
use reasoning_bank_actors::ports::{Recall, StoreError};
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signature::{Signature, SignatureFrequency};
use reasoning_bank_domain::memory::{Facts, Memory};
use reasoning_bank_domain::retrieval::candidates::Candidates;
use reasoning_bank_domain::retrieval::fusion::RankedList;
use reasoning_bank_domain::text::terms::{self, QueryTerm};
use serde::Deserialize;
use serde::de::value::{Error as ParseError, StrDeserializer};

use super::{term_statistics, view};
use crate::lance::errors::failed;
use crate::lance::resident;
use crate::lance::shared::SharedStore;
use crate::lance::tables::read::{self, with_retry};
use crate::lance::tables::{Tables, filter, rows};

/// The number of passages that are fetched for a memory, which usually has two or three.
const PASSAGES_A_MEMORY: usize = 4;
/// A search looks at more passages at most this many times, where those so far are of too few memories.
const ROUNDS: u32 = 4;

pub(in crate::lance) async fn candidates(shared: &SharedStore, recall: Recall) -> Result<Candidates, StoreError> {
    let terms = recall.text.as_deref().filter(|text| !text.trim().is_empty()).map(terms::query);
    let Some(condition) = filter::searched(&recall).filter(|_| recall.limit > 0) else {
        let nothing = RankedList::default;
        return Ok(Candidates {
            vector: recall.vector.is_some().then(nothing),
            text: terms.is_some().then(nothing),
            signature_frequency: recall.signature.is_some().then(SignatureFrequency::default),
            ..Candidates::default()
        });
    };
    // Active memories alone are held in memory.
    if !recall.with_superseded
        && let Some(found) = resident::candidates(&shared.resident, &recall, terms.as_deref()).await
    {
        return Ok(found);
    }
    view::whole(shared, async move |_, tables| in_tables(tables, &recall, terms.as_deref(), &condition).await).await
}

async fn in_tables(
    tables: &Tables,
    recall: &Recall,
    terms: Option<&[QueryTerm]>,
    condition: &DfExpr,
) -> Result<Candidates, StoreError> {
    let passages = tables.passages.query_snapshot().await.map_err(failed)?;
    let by_vector = async |vector| {
        Ok(best_per_memory(&passages, PassageSearch::Vector(vector), condition, recall.limit).await?.list)
    };
    // The index of the table counts each term once, however often the query says it.
    let by_words = async |terms: &[QueryTerm]| {
        let terms: Vec<String> = terms.iter().map(|of| of.term.clone()).collect();
        let found = best_per_memory(&passages, PassageSearch::Text(&terms.join(" ")), condition, recall.limit).await?;
        let all = with_retry(&passages, || passages.count_rows(None)).await?;
        Ok((found.list, term_statistics::of(&found.passages, &terms, all)?))
    };
    let (vector, text, warnings) = tokio::try_join!(
        maybe(recall.vector.as_deref().map(by_vector)),
        maybe(terms.map(by_words)),
        maybe(recall.signature.as_ref().map(|signature| warnings_of(tables, signature, recall))),
    )?;
    let (text, terms) = text.unzip();
    let (warnings, signature_frequency) = warnings.unzip();
    let found = complete(tables, recall, vector, text, warnings.unwrap_or_default()).await?;
    Ok(Candidates { terms: terms.unwrap_or_default(), signature_frequency, ..found })
}

/// The newest memories that warn of such an error, at most `limit`, and how many there are. Those that may be read are
/// found without their bodies; where the conditions leave few of them, no more than a few times as many as are wanted
/// are looked at.
async fn warnings_of(
    tables: &Tables,
    error: &Signature,
    recall: &Recall,
) -> Result<(Vec<MemoryId>, SignatureFrequency), StoreError> {
    let may_be_found =
        |of| filter::all([Some(of), filter::of_status(recall.statuses()), filter::readable(&recall.visible)]);
    let named = may_be_found(contains(col("signature"), lit(format!("{}|", error.error()))));
    let warns = may_be_found(col("signature").not_eq(lit("")));
    let (found, all) = tokio::try_join!(
        read::select(&tables.memories, named, &["id", "signature"]),
        read::select(&tables.memories, warns, &["status"]),
    )?;
    let mut matching = Vec::new();
    for (id, own) in rows::text_column(&found, "id").zip(rows::text_column(&found, "signature")) {
        let own = Signature::deserialize(StrDeserializer::<ParseError>::new(own)).map_err(failed)?;
        if error.matches(&own) {
            matching.push(id.parse::<MemoryId>().map_err(failed)?);
        }
    }
    let warnings: usize = all.iter().map(RecordBatch::num_rows).sum();
    let signature_frequency = SignatureFrequency { warnings: warnings as u64, of_this: matching.len() as u64 };
    matching.sort_unstable_by(|a, b| b.cmp(a));
    let mut warning = Vec::new();
    for ids in matching.chunks(recall.limit).take(ROUNDS as usize) {
        let memories = read::memories(tables, ids).await?;
        let wanted = |memory: &Memory| recall.visible.contains(memory) && recall.conditions.hold(memory);
        let wanted: HashSet<MemoryId> = memories.iter().filter(|m| wanted(m)).map(|memory| memory.id).collect();
        warning.extend(ids.iter().filter(|id| wanted.contains(id)));
        if warning.len() >= recall.limit {
            break;
        }
    }
    warning.truncate(recall.limit);
    Ok((warning, signature_frequency))
}

async fn maybe<T>(work: Option<impl Future<Output = Result<T, StoreError>>>) -> Result<Option<T>, StoreError> {
    match work {
        Some(work) => work.await.map(Some),
        None => Ok(None),
    }
}

#[derive(Clone, Copy)]
enum PassageSearch<'a> {
    Vector(&'a [f32]),
    Text(&'a str),
}

/// The best memories, and the passages that they were found among.
#[derive(Default)]
struct BestMemories {
    list: RankedList,
    passages: Vec<RecordBatch>,
}

async fn best_per_memory(
    passages: &Table,
    search: PassageSearch<'_>,
    condition: &DfExpr,
    limit: usize,
) -> Result<BestMemories, StoreError> {
    if matches!(search, PassageSearch::Text(terms) if terms.is_empty()) {
        return Ok(BestMemories::default());
    }
    let mut fetch = limit.saturating_mul(PASSAGES_A_MEMORY).saturating_add(1);
    let mut round = 1;
    loop {
        let batches = with_retry(passages, || run(passages, search, condition, fetch)).await?;
        let found: usize = batches.iter().map(RecordBatch::num_rows).sum();
        let exhausted = found < fetch;
        let list = rank(&batches, search, limit, exhausted)?;
        if exhausted || list.hits.len() >= limit || round == ROUNDS {
            return Ok(BestMemories { list, passages: batches });
        }
        fetch = fetch.saturating_mul(PASSAGES_A_MEMORY);
        round += 1;
    }
}

async fn run(
    passages: &Table,
    search: PassageSearch<'_>,
    condition: &DfExpr,
    limit: usize,
) -> lancedb::Result<Vec<RecordBatch>> {
    match search {
        PassageSearch::Vector(vector) => {
            let condition = condition.clone().and(col("vector").is_not_null());
            let query =
                passages.query().only_if_expr(condition).nearest_to(vector)?.distance_type(DistanceType::Cosine);
            let query = query.limit(limit).select(Select::columns(&["memory_id", "_distance"]));
            query.execute().await?.try_collect().await
        }
        PassageSearch::Text(terms) => {
            let query = FullTextSearchQuery::new(terms.to_owned()).with_column("terms".to_owned())?;
            let query = passages.query().only_if_expr(condition.clone()).full_text_search(query);
            let query = query.limit(limit).select(Select::columns(&["memory_id", "terms", "_score"]));
            query.execute().await?.try_collect().await
        }
    }
}

/// Ranks memories by their best passage, the best memory first, at most `limit` of them.
fn rank(
    batches: &[RecordBatch],
    search: PassageSearch<'_>,
    limit: usize,
    exhausted: bool,
) -> Result<RankedList, StoreError> {
    let scores: Vec<f64> = match search {
        PassageSearch::Vector(_) => rows::float_column(batches, "_distance").map(|distance| 1.0 - distance).collect(),
        PassageSearch::Text(_) => rows::float_column(batches, "_score").collect(),
    };
    let mut best: HashMap<MemoryId, f64> = HashMap::new();
    for (id, score) in rows::text_column(batches, "memory_id").zip(scores) {
        let id: MemoryId = id.parse().map_err(failed)?;
        let entry = best.entry(id).or_insert(score);
        *entry = entry.max(score);
    }
    let mut hits: Vec<(MemoryId, f64)> = best.into_iter().collect();
    hits.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
    let truncated = hits.len() > limit || !exhausted;
    hits.truncate(limit);
    Ok(RankedList { hits, truncated })
}

/// Adds facts and evidence to the lists. A memory that was erased since the search is in neither list.
async fn complete(
    tables: &Tables,
    recall: &Recall,
    mut vector: Option<RankedList>,
    mut text: Option<RankedList>,
    besides: Vec<MemoryId>,
) -> Result<Candidates, StoreError> {
    let hits = |list: &Option<RankedList>| list.iter().flat_map(|list| list.hits.clone()).collect::<Vec<_>>();
    let listed = hits(&vector).into_iter().chain(hits(&text)).map(|(id, _)| id);
    let ids: Vec<MemoryId> = listed.chain(besides).collect::<BTreeSet<_>>().into_iter().collect();
    let (memories, mut evidence) = tokio::try_join!(read::memories(tables, &ids), read::evidence(tables, &ids))?;
    // this is checked on the memory itself as well: the passages only carry copies of these columns
    let may_be_read = |memory: &Memory| recall.visible.contains(memory) && recall.statuses().contains(&memory.status);
    let memories: Vec<Memory> = memories.into_iter().filter(may_be_read).collect();
    let known: HashSet<MemoryId> = memories.iter().map(|memory| memory.id).collect();
    for list in [&mut vector, &mut text].into_iter().flatten() {
        list.hits.retain(|(id, _)| known.contains(id));
    }
    let facts = memories.iter().map(|m| (Facts::from(m), evidence.remove(&m.id).unwrap_or_default())).collect();
    Ok(Candidates { vector, text, facts, ..Candidates::default() })
}
