//! Episodes: lists by their labels and times, and the search by meaning. Which episodes there are is told by short columns,
//! and only the bodies of those that are asked for are read.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use reasoning_bank_actors::ports::{EpisodeRow, EpisodeSearch, StoreError};
use reasoning_bank_domain::episode::{
    EpisodeFilter, EpisodeState, EpisodeTimes, EpisodeVectors, QuantizedVector, Visibility,
};
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::WorkspaceId;

use crate::lance::tables::read::{record, select, select_these};
use crate::lance::tables::rows::{decode_bodies, on_all_cores, optional_times, text_column, time_column, vector_bytes};
use crate::lance::tables::{Tables, filter};

/// An episode in the order of lists: its time in microseconds, and its id as text, which sorts as the id does.
type EpisodePlace = (i64, String);

/// Lists a page of the episodes that the filter lets through, the newest first.
pub(in crate::lance) async fn episodes(
    tables: &Tables,
    filter: &EpisodeFilter,
    after: Option<TraceId>,
    limit: usize,
) -> Result<Vec<EpisodeRow>, StoreError> {
    let after = match after {
        None => None,
        Some(id) => match record::<Trace>(&tables.traces, &id.to_string(), filter.workspace.as_ref()).await? {
            Some(trace) => Some((trace.created_at.as_microsecond(), id.to_string())),
            None => return Ok(Vec::new()),
        },
    };
    let mut places = places(tables, filter).await?;
    places.retain(|place| after.as_ref().is_none_or(|after| place < after));
    let ids = newest(places, limit);
    read_rows(tables, &ids).await
}

/// Counts the episodes that the filter lets through, by who is shown them.
pub(in crate::lance) async fn count(
    tables: &Tables,
    filter: &EpisodeFilter,
) -> Result<BTreeMap<Visibility, u64>, StoreError> {
    let mut counts = BTreeMap::new();
    for (visibility, _) in visible_places(tables, filter).await? {
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
    tables: &Tables,
    search: &EpisodeSearch,
) -> Result<Vec<(EpisodeRow, f64)>, StoreError> {
    let shown: HashSet<String> = places(tables, &search.filter).await?.into_iter().map(|(_, id)| id).collect();
    let of = search.filter.workspace.as_ref().map(|workspace| filter::equals("workspace", workspace.as_str()));
    let of_embedder = filter::equals("embedder", search.embedder.as_str());
    let compared: &[&'static str] = if search.of_outcome { &["outcome"] } else { &["task", "whole"] };
    let columns: Vec<&str> = std::iter::once("id").chain(compared.iter().copied()).collect();
    let found = select(&tables.episode_vectors, filter::all([of, Some(of_embedder)]), &columns).await?;
    let ids: Vec<&str> = text_column(&found, "id").collect();
    let vectors: Vec<Vec<Option<&[u8]>>> = compared.iter().map(|name| vector_bytes(&found, name).collect()).collect();
    let candidates: Vec<usize> = (0..ids.len()).filter(|row| shown.contains(ids[*row])).collect();
    let cosines = on_all_cores(&candidates, |row| {
        let of_row = vectors.iter().filter_map(|column| *column.get(*row)?);
        let cosines = of_row.map(|bytes| QuantizedVector::from_bytes(bytes).cosine(&search.vector));
        cosines.fold(0.0, f64::max)
    });
    let mut ranked: Vec<(f64, &str)> = cosines.into_iter().zip(candidates.iter().map(|row| ids[*row])).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    ranked.truncate(search.limit);
    let wanted: Vec<String> = ranked.iter().map(|(_, id)| (*id).to_owned()).collect();
    let cosines: HashMap<&str, f64> = ranked.iter().map(|(cosine, id)| (*id, *cosine)).collect();
    let rows = read_rows(tables, &wanted).await?;
    let cosine = |row: &EpisodeRow| cosines.get(row.trace.trace_id.to_string().as_str()).copied().unwrap_or_default();
    let with_cosine = |row: EpisodeRow| {
        let cosine = cosine(&row);
        (row, cosine)
    };
    Ok(rows.into_iter().map(with_cosine).collect())
}

/// Reads the states of these episodes.
pub(in crate::lance) async fn states(tables: &Tables, ids: &[TraceId]) -> Result<Vec<EpisodeState>, StoreError> {
    let ids = ids.iter().map(TraceId::to_string).collect();
    decode_bodies(&select_these(&tables.episode_state, "id", ids, &["body"]).await?)
}

/// Reads the vectors of these episodes that this embedder made.
pub(in crate::lance) async fn vectors(
    tables: &Tables,
    ids: &[TraceId],
    embedder: &str,
) -> Result<Vec<EpisodeVectors>, StoreError> {
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
    Ok(whole.filter(|vectors| vectors.embedder == embedder).collect())
}

/// Lists the newest episodes that have no vectors of this embedder, each with the revision that its vectors get.
pub(in crate::lance) async fn without_vectors(
    tables: &Tables,
    filter: &EpisodeFilter,
    embedder: &str,
    limit: usize,
) -> Result<Vec<(Trace, u64)>, StoreError> {
    let places = places(tables, filter).await?;
    let of = filter.workspace.as_ref().map(|workspace| filter::equals("workspace", workspace.as_str()));
    let known = select(&tables.episode_vectors, of, &["id", "embedder"]).await?;
    let embedders = text_column(&known, "id").zip(text_column(&known, "embedder"));
    let current: HashSet<&str> = embedders.filter(|(_, made_by)| *made_by == embedder).map(|(id, _)| id).collect();
    let lacking = places.into_iter().filter(|(_, id)| !current.contains(id.as_str())).collect();
    let ids = newest(lacking, limit);
    let others = select_these(&tables.episode_vectors, "id", ids.clone(), &["body"]).await?;
    let revisions = decode_bodies::<EpisodeVectors>(&others)?.into_iter().map(|of| (of.episode_id, of.revision + 1));
    let revisions: HashMap<TraceId, u64> = revisions.collect();
    let rows = read_rows(tables, &ids).await?;
    let with_revision = |row: EpisodeRow| {
        let revision = revisions.get(&row.trace.trace_id).copied().unwrap_or_default();
        (row.trace, revision)
    };
    Ok(rows.into_iter().map(with_revision).collect())
}

/// Returns the places of all episodes that the filter lets through, in no order.
async fn places(tables: &Tables, filter: &EpisodeFilter) -> Result<Vec<EpisodePlace>, StoreError> {
    Ok(visible_places(tables, filter).await?.into_iter().map(|(_, place)| place).collect())
}

/// Returns the places of all episodes that the filter lets through, in no order, and who is shown each.
async fn visible_places(
    tables: &Tables,
    filter: &EpisodeFilter,
) -> Result<Vec<(Visibility, EpisodePlace)>, StoreError> {
    let of = filter.workspace.as_ref().map(|workspace| filter::equals("workspace", workspace.as_str()));
    let (traces, states) = tokio::try_join!(
        select(&tables.traces, filter::episodes(filter), &["id", "created"]),
        select(&tables.episode_state, of, &["id", "accessed", "archived", "deleted"])
    )?;
    let accessed = text_column(&states, "id").zip(optional_times(&states, "accessed"));
    let times = accessed.zip(optional_times(&states, "archived").zip(optional_times(&states, "deleted")));
    let times: HashMap<&str, [Option<Timestamp>; 3]> =
        times.map(|((id, accessed), (archived, deleted))| (id, [accessed, archived, deleted])).collect();
    let shown = text_column(&traces, "id").zip(time_column(&traces, "created")).filter_map(|(id, created)| {
        let [last_accessed, archived_at, deleted_at] = times.get(id).copied().unwrap_or_default();
        let created_at = Timestamp::from_microsecond(created).ok()?;
        let times = EpisodeTimes { created_at, last_accessed, archived_at, deleted_at };
        let visibility = times.visibility(filter.rules, filter.now);
        filter.visible.contains(&visibility).then(|| (visibility, (created, id.to_owned())))
    });
    Ok(shown.collect())
}

/// Returns the ids of the newest places.
fn newest(mut places: Vec<EpisodePlace>, limit: usize) -> Vec<String> {
    if places.len() > limit {
        places.select_nth_unstable_by(limit, |a, b| b.cmp(a));
        places.truncate(limit);
    }
    places.sort_unstable_by(|a, b| b.cmp(a));
    places.into_iter().map(|(_, id)| id).collect()
}

/// Reads these episodes, in this order. Those that are gone meanwhile are left out.
async fn read_rows(tables: &Tables, ids: &[String]) -> Result<Vec<EpisodeRow>, StoreError> {
    let (traces, states) = tokio::try_join!(
        select_these(&tables.traces, "id", ids.to_vec(), &["body"]),
        select_these(&tables.episode_state, "id", ids.to_vec(), &["body"])
    )?;
    let states = decode_bodies::<EpisodeState>(&states)?.into_iter().map(|state| (state.episode_id, state));
    let mut states: HashMap<TraceId, EpisodeState> = states.collect();
    let traces = decode_bodies::<Trace>(&traces)?.into_iter().map(|trace| (trace.trace_id.to_string(), trace));
    let mut traces: HashMap<String, Trace> = traces.collect();
    let row = |trace: Trace| {
        let state = states.remove(&trace.trace_id).unwrap_or_else(|| EpisodeState::of(&trace));
        EpisodeRow { trace, state }
    };
    Ok(ids.iter().filter_map(|id| traces.remove(id)).map(row).collect())
}
