//! Episodes: lists by their labels and times, and the search by meaning. Which episodes there are is told by a table in
//! memory (`resident/episodes.rs`), or by short columns where it would be too large. Labels that it does not have are
//! looked for in the columns, and only the bodies of those that are asked for are read.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use reasoning_bank_actors::ports::{EpisodeRow, EpisodeSearch, StoreError};
use reasoning_bank_domain::episode::{
    EpisodeFilter, EpisodeState, EpisodeTimes, EpisodeVectors, QuantizedVector, ScoreInputs, Visibility,
};
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_index::EpisodeTable;
use uuid::Uuid;

use crate::lance::resident::CurrentEpisodes;
use crate::lance::shared::SharedStore;
use crate::lance::tables::read::{record, select, select_these};
use crate::lance::tables::rows::{
    decode_bodies, id_column, on_all_cores, optional_times, text_column, time_column, vector_bytes,
};
use crate::lance::tables::{Tables, filter};
use crate::lance::threads::blocking;

/// An episode in the order of lists: its time in microseconds, and its id.
type EpisodePlace = (i64, u128);

/// Lists a page of the episodes that the filter lets through, the newest first.
pub(in crate::lance) async fn episodes(
    shared: &SharedStore,
    tables: &Tables,
    filter: &EpisodeFilter,
    after: Option<TraceId>,
    limit: usize,
) -> Result<Vec<EpisodeRow>, StoreError> {
    let after = match after {
        None => None,
        Some(id) => match record::<Trace>(&tables.traces, &id.to_string(), filter.workspace.as_ref()).await? {
            Some(trace) => Some((trace.created_at.as_microsecond(), id.uuid().as_u128())),
            None => return Ok(Vec::new()),
        },
    };
    let mut places = places(shared, tables, filter).await?;
    places.retain(|place| after.as_ref().is_none_or(|after| place < after));
    let ids = newest(places, limit);
    read_rows(shared, tables, &ids).await
}

/// Counts the episodes that the filter lets through, by who is shown them.
pub(in crate::lance) async fn count(
    shared: &SharedStore,
    tables: &Tables,
    filter: &EpisodeFilter,
) -> Result<BTreeMap<Visibility, u64>, StoreError> {
    let mut counts = BTreeMap::new();
    for (visibility, _) in visible_places(shared, tables, filter).await? {
        *counts.entry(visibility).or_default() += 1;
    }
    Ok(counts)
}

/// Reads one episode, of one workspace or of any.
pub(in crate::lance) async fn episode(
    tables: &Tables,
    id: TraceId,
    of: Option<&WorkspaceId>,
) -> Result<Option<EpisodeRow>, StoreError> {
    let id = id.to_string();
    let (trace, state) = tokio::try_join!(
        record::<Trace>(&tables.traces, &id, of),
        record::<EpisodeState>(&tables.episode_state, &id, of)
    )?;
    Ok(trace.map(|trace| EpisodeRow { state: state.unwrap_or_else(|| EpisodeState::of(&trace)), trace }))
}

/// Finds the episodes that are most like what is asked, by comparing the vectors of all that the filter lets through.
pub(in crate::lance) async fn nearest(
    shared: &SharedStore,
    tables: &Tables,
    search: &EpisodeSearch,
) -> Result<Vec<(ScoreInputs, f64)>, StoreError> {
    let Some(CurrentEpisodes { table, .. }) = table(shared, tables).await? else {
        return nearest_in_tables(shared, tables, search).await;
    };
    let labelled = labelled(tables, &search.filter).await?;
    let search = search.clone();
    let find = move || {
        let EpisodeSearch { filter, vector, embedder, of_outcome, limit } = search;
        let near = table.nearest(&filter, labelled.as_ref(), vector.numbers(), &embedder, of_outcome, limit);
        let with_inputs = |(id, cosine)| Some((table.score_inputs(id)?, f64::from(cosine)));
        near.into_iter().filter_map(with_inputs).collect()
    };
    blocking(find).await
}

/// Compares the vectors as they lie in the tables.
async fn nearest_in_tables(
    shared: &SharedStore,
    tables: &Tables,
    search: &EpisodeSearch,
) -> Result<Vec<(ScoreInputs, f64)>, StoreError> {
    let shown: HashSet<u128> = places(shared, tables, &search.filter).await?.into_iter().map(|(_, id)| id).collect();
    let of = search.filter.workspace.as_ref().map(|workspace| filter::equals("workspace", workspace.as_str()));
    let of_embedder = filter::equals("embedder", search.embedder.as_str());
    let compared: &[&'static str] = if search.of_outcome { &["outcome"] } else { &["task", "whole"] };
    let columns: Vec<&str> = std::iter::once("id").chain(compared.iter().copied()).collect();
    let found = select(&tables.episode_vectors, filter::all([of, Some(of_embedder)]), &columns).await?;
    let ids: Vec<u128> = id_column(&found).collect();
    let vectors: Vec<Vec<Option<&[u8]>>> = compared.iter().map(|name| vector_bytes(&found, name).collect()).collect();
    let candidates: Vec<usize> = (0..ids.len()).filter(|row| shown.contains(&ids[*row])).collect();
    let cosines = on_all_cores(&candidates, |row| {
        let of_row = vectors.iter().filter_map(|column| *column.get(*row)?);
        let cosines = of_row.map(|bytes| QuantizedVector::from_bytes(bytes).cosine(&search.vector));
        cosines.fold(0.0, f64::max)
    });
    let mut ranked: Vec<(f64, u128)> = cosines.into_iter().zip(candidates.iter().map(|row| ids[*row])).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    ranked.truncate(search.limit);
    let cosines: HashMap<u128, f64> = ranked.iter().map(|(cosine, id)| (*id, *cosine)).collect();
    let wanted: Vec<u128> = ranked.iter().map(|(_, id)| *id).collect();
    let rows = read_rows(shared, tables, &wanted).await?;
    let cosine = |row: &EpisodeRow| cosines.get(&row.trace.trace_id.uuid().as_u128()).copied().unwrap_or_default();
    Ok(rows.iter().map(|row| (ScoreInputs::of(&row.trace, &row.state), cosine(row))).collect())
}

/// Reads these episodes, in this order.
pub(in crate::lance) async fn of_ids(
    shared: &SharedStore,
    tables: &Tables,
    ids: &[TraceId],
) -> Result<Vec<EpisodeRow>, StoreError> {
    let ids: Vec<u128> = ids.iter().map(|id| id.uuid().as_u128()).collect();
    read_rows(shared, tables, &ids).await
}

/// Reads the states of these episodes.
pub(in crate::lance) async fn states(tables: &Tables, ids: &[TraceId]) -> Result<Vec<EpisodeState>, StoreError> {
    let ids = ids.iter().map(TraceId::to_string).collect();
    decode_bodies(&select_these(&tables.episode_state, "id", ids, &["body"]).await?)
}

/// Reads the vectors of these episodes.
pub(in crate::lance) async fn vectors(tables: &Tables, ids: &[TraceId]) -> Result<Vec<EpisodeVectors>, StoreError> {
    let ids: Vec<String> = ids.iter().map(TraceId::to_string).collect();
    let found = select_these(&tables.episode_vectors, "id", ids, &["task", "outcome", "whole", "body"]).await?;
    let column = |name| vector_bytes(&found, name).map(|bytes| bytes.map(QuantizedVector::from_bytes));
    let vectors = column("task").zip(column("outcome")).zip(column("whole"));
    let heads = decode_bodies::<EpisodeVectors>(&found)?;
    let whole = heads.into_iter().zip(vectors).map(|(head, ((task, outcome), whole))| EpisodeVectors {
        task,
        outcome,
        whole,
        ..head
    });
    Ok(whole.collect())
}

/// Lists the newest episodes that have no vectors of this embedder, each with the revision that its vectors get.
pub(in crate::lance) async fn without_vectors(
    shared: &SharedStore,
    tables: &Tables,
    filter: &EpisodeFilter,
    embedder: &str,
    limit: usize,
) -> Result<Vec<(Trace, u64)>, StoreError> {
    let lacking = match table(shared, tables).await? {
        Some(CurrentEpisodes { table, .. }) => {
            let labelled = labelled(tables, filter).await?;
            let lacking = table.without_vectors(filter, embedder);
            lacking.filter(|(_, id)| labelled.as_ref().is_none_or(|labelled| labelled.contains(id))).collect()
        }
        None => {
            let places = places(shared, tables, filter).await?;
            let of = filter.workspace.as_ref().map(|workspace| filter::equals("workspace", workspace.as_str()));
            let known = select(&tables.episode_vectors, of, &["id", "embedder"]).await?;
            let embedders = id_column(&known).zip(text_column(&known, "embedder"));
            let current: HashSet<u128> =
                embedders.filter(|(_, made_by)| *made_by == embedder).map(|(id, _)| id).collect();
            places.into_iter().filter(|(_, id)| !current.contains(id)).collect()
        }
    };
    let ids = newest(lacking, limit);
    let others = select_these(&tables.episode_vectors, "id", texts_of(&ids), &["body"]).await?;
    let revisions = decode_bodies::<EpisodeVectors>(&others)?.into_iter().map(|of| (of.episode_id, of.revision + 1));
    let revisions: HashMap<TraceId, u64> = revisions.collect();
    let rows = read_rows(shared, tables, &ids).await?;
    let with_revision = |row: EpisodeRow| {
        let revision = revisions.get(&row.trace.trace_id).copied().unwrap_or_default();
        (row.trace, revision)
    };
    Ok(rows.into_iter().map(with_revision).collect())
}

/// Returns the episodes in memory; none where they would take too much of it.
async fn table(shared: &SharedStore, tables: &Tables) -> Result<Option<CurrentEpisodes>, StoreError> {
    shared.resident.episodes.table(tables, shared.dims).await
}

/// Returns the episodes that have what the filter asks for and the table in memory does not tell. None where that is
/// nothing.
async fn labelled(tables: &Tables, filter: &EpisodeFilter) -> Result<Option<HashSet<u128>>, StoreError> {
    let Some(untold) = EpisodeTable::untold(filter) else { return Ok(None) };
    let found = select(&tables.traces, filter::episodes(&untold), &["id"]).await?;
    Ok(Some(id_column(&found).collect()))
}

/// Returns the places of all episodes that the filter lets through, in no order.
async fn places(
    shared: &SharedStore,
    tables: &Tables,
    filter: &EpisodeFilter,
) -> Result<Vec<EpisodePlace>, StoreError> {
    Ok(visible_places(shared, tables, filter).await?.into_iter().map(|(_, place)| place).collect())
}

/// Returns the places of all episodes that the filter lets through, in no order, and who is shown each.
async fn visible_places(
    shared: &SharedStore,
    tables: &Tables,
    filter: &EpisodeFilter,
) -> Result<Vec<(Visibility, EpisodePlace)>, StoreError> {
    if let Some(CurrentEpisodes { table, .. }) = table(shared, tables).await? {
        let labelled = labelled(tables, filter).await?;
        let is_labelled = |id: &u128| labelled.as_ref().is_none_or(|labelled| labelled.contains(id));
        let shown = table.shown(filter).filter(|(_, _, id)| is_labelled(id));
        return Ok(shown.map(|(visibility, created, id)| (visibility, (created, id))).collect());
    }
    let of = filter.workspace.as_ref().map(|workspace| filter::equals("workspace", workspace.as_str()));
    let (traces, states) = tokio::try_join!(
        select(&tables.traces, filter::episodes(filter), &["id", "created"]),
        select(&tables.episode_state, of, &["id", "accessed", "archived", "deleted"])
    )?;
    let accessed = id_column(&states).zip(optional_times(&states, "accessed"));
    let times = accessed.zip(optional_times(&states, "archived").zip(optional_times(&states, "deleted")));
    let times: HashMap<u128, [Option<Timestamp>; 3]> =
        times.map(|((id, accessed), (archived, deleted))| (id, [accessed, archived, deleted])).collect();
    let shown = id_column(&traces).zip(time_column(&traces, "created")).filter_map(|(id, created)| {
        let [last_accessed, archived_at, deleted_at] = times.get(&id).copied().unwrap_or_default();
        let created_at = Timestamp::from_microsecond(created).ok()?;
        let times = EpisodeTimes { created_at, last_accessed, archived_at, deleted_at };
        let visibility = times.visibility(filter.rules, filter.now);
        filter.visible.contains(&visibility).then_some((visibility, (created, id)))
    });
    Ok(shown.collect())
}

/// Returns the ids of the newest places.
fn newest(mut places: Vec<EpisodePlace>, limit: usize) -> Vec<u128> {
    if places.len() > limit {
        places.select_nth_unstable_by(limit, |a, b| b.cmp(a));
        places.truncate(limit);
    }
    places.sort_unstable_by(|a, b| b.cmp(a));
    places.into_iter().map(|(_, id)| id).collect()
}

fn texts_of(ids: &[u128]) -> Vec<String> {
    ids.iter().map(|id| Uuid::from_u128(*id).to_string()).collect()
}

/// Reads these episodes, in this order. Those that are gone meanwhile are left out.
async fn read_rows(shared: &SharedStore, tables: &Tables, ids: &[u128]) -> Result<Vec<EpisodeRow>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let (traces, states) = match table(shared, tables).await? {
        Some(current) => {
            let has_state = |id: &u128| current.table.location(*id).is_none_or(|(_, has_state)| has_state);
            let changed: Vec<u128> = ids.iter().copied().filter(has_state).collect();
            let states = select_these(&tables.episode_state, "id", texts_of(&changed), &["body"]);
            tokio::try_join!(current.traces(ids), states)?
        }
        None => {
            let (traces, states) = tokio::try_join!(
                select_these(&tables.traces, "id", texts_of(ids), &["body"]),
                select_these(&tables.episode_state, "id", texts_of(ids), &["body"])
            )?;
            (decode_bodies(&traces)?, states)
        }
    };
    let states = decode_bodies::<EpisodeState>(&states)?.into_iter().map(|state| (state.episode_id, state));
    let mut states: HashMap<TraceId, EpisodeState> = states.collect();
    let mut traces: HashMap<u128, Trace> =
        traces.into_iter().map(|trace: Trace| (trace.trace_id.uuid().as_u128(), trace)).collect();
    let row = |trace: Trace| {
        let state = states.remove(&trace.trace_id).unwrap_or_else(|| EpisodeState::of(&trace));
        EpisodeRow { trace, state }
    };
    Ok(ids.iter().filter_map(|id| traces.remove(id)).map(row).collect())
}
