//! The columns that a search of episodes needs, in memory. They are read part by part, as a store has them, and are
//! joined to one table: who is shown an episode is told by its times, and its meaning by vectors in 8 bits a number.

mod byte_vectors;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;
use rayon::prelude::*;
use reasoning_bank_domain::episode::{EpisodeFilter, EpisodeTimes, Visibility};

use self::byte_vectors::ByteQuery;
pub use self::byte_vectors::ByteVectors;

/// The part of a table that has the episodes themselves.
#[derive(Debug, Default)]
pub struct EpisodeColumns {
    pub ids: Vec<u128>,
    /// Microseconds since 1970.
    pub created: Vec<i64>,
    pub workspaces: Vec<Arc<str>>,
    /// The place of each episode in the table.
    pub row_ids: Vec<u64>,
}

/// The part of a table that has what happened to episodes.
#[derive(Debug, Default)]
pub struct StateColumns {
    pub ids: Vec<u128>,
    pub accessed: Vec<Option<Timestamp>>,
    pub archived: Vec<Option<Timestamp>>,
    pub deleted: Vec<Option<Timestamp>>,
}

/// The part of a table that has the vectors of episodes.
#[derive(Debug, Default)]
pub struct VectorColumns {
    pub ids: Vec<u128>,
    pub embedders: Vec<Arc<str>>,
    pub task: ByteVectors,
    pub outcome: ByteVectors,
    pub whole: ByteVectors,
}

/// The episodes, each with what the other tables say of it.
#[derive(Debug, Clone, Default)]
pub struct EpisodeTable {
    rows: Vec<EpisodeEntry>,
    /// The row of each episode.
    places: HashMap<u128, u32>,
    workspaces: Vec<Arc<str>>,
    vectors: Vec<Arc<VectorColumns>>,
    /// The row of the episode, for each part of the vectors and each of its rows.
    owners: Vec<Vec<Option<u32>>>,
}

#[derive(Debug, Clone)]
struct EpisodeEntry {
    id: u128,
    created: i64,
    row_id: u64,
    workspace: u32,
    /// True where the episode has a state, because something happened to it.
    has_state: bool,
    times: EpisodeTimes,
    /// The embedder of its vectors, as the part and the row that name it.
    embedded: Option<(u32, u32)>,
}

impl EpisodeTable {
    /// Adds parts of the table of episodes, and then of that of their vectors. Vectors of no episode are left out.
    pub fn add(&mut self, episodes: &[Arc<EpisodeColumns>], vectors: &[Arc<VectorColumns>]) {
        let known = self.workspaces.iter().enumerate();
        let mut known: HashMap<Arc<str>, u32> =
            known.map(|(at, workspace)| (Arc::clone(workspace), place(at))).collect();
        for part in episodes {
            let rows = part.ids.iter().zip(&part.created).zip(&part.workspaces).zip(&part.row_ids);
            for (((id, created), workspace), row_id) in rows {
                let Ok(created_at) = Timestamp::from_microsecond(*created) else { continue };
                let workspace = *known.entry(Arc::clone(workspace)).or_insert_with(|| {
                    self.workspaces.push(Arc::clone(workspace));
                    place(self.workspaces.len() - 1)
                });
                self.places.insert(*id, place(self.rows.len()));
                self.rows.push(EpisodeEntry {
                    id: *id,
                    created: *created,
                    row_id: *row_id,
                    workspace,
                    has_state: false,
                    times: EpisodeTimes::untouched(created_at),
                    embedded: None,
                });
            }
        }
        for columns in vectors {
            let part = place(self.vectors.len());
            let owners: Vec<Option<u32>> = columns.ids.iter().map(|id| self.places.get(id).copied()).collect();
            for (row, owner) in owners.iter().enumerate() {
                if let Some(owner) = owner {
                    self.rows[*owner as usize].embedded = Some((part, place(row)));
                }
            }
            self.vectors.push(Arc::clone(columns));
            self.owners.push(owners);
        }
    }

    /// Tells whether all vectors are of episodes. Where some are not, their episodes may still come, and the table has
    /// to be made anew then.
    pub fn is_whole(&self) -> bool {
        self.owners.iter().flatten().all(Option::is_some)
    }

    /// Sets what happened to the episodes to what all parts of the table of states say.
    pub fn set_states(&mut self, states: &[Arc<StateColumns>]) {
        for row in self.rows.iter_mut().filter(|row| row.has_state) {
            row.has_state = false;
            row.times = EpisodeTimes::untouched(row.times.created_at);
        }
        for part in states {
            for (row, id) in part.ids.iter().enumerate() {
                let Some(place) = self.places.get(id) else { continue };
                let entry = &mut self.rows[*place as usize];
                entry.has_state = true;
                let times = &mut entry.times;
                times.last_accessed = part.accessed[row];
                times.archived_at = part.archived[row];
                times.deleted_at = part.deleted[row];
            }
        }
    }

    /// Returns where an episode is in its table, and whether anything happened to it. None where it is unknown.
    pub fn location(&self, id: u128) -> Option<(u64, bool)> {
        let row = &self.rows[*self.places.get(&id)? as usize];
        Some((row.row_id, row.has_state))
    }

    /// Estimates the bytes that a table of the given number of episodes takes.
    pub fn bytes(episodes: usize, vectors: usize, dims: usize) -> usize {
        episodes.saturating_mul(256).saturating_add(vectors.saturating_mul(3 * (dims + dims / 8 + 4) + 64))
    }

    /// Lists the episodes that the workspace, the time and the visibility of a filter let through, in no order: who is
    /// shown each, when it was made in microseconds, and its id. Labels are not looked at.
    pub fn shown<'a>(&'a self, filter: &'a EpisodeFilter) -> impl Iterator<Item = (Visibility, i64, u128)> + 'a {
        let passes = self.passes(filter);
        self.rows.iter().filter_map(move |row| Some((passes(row)?, row.created, row.id)))
    }

    /// Lists those that [`Self::shown`] lists and that have no vectors of this embedder.
    pub fn without_vectors<'a>(
        &'a self,
        filter: &'a EpisodeFilter,
        embedder: &'a str,
    ) -> impl Iterator<Item = (i64, u128)> + 'a {
        let passes = self.passes(filter);
        self.rows
            .iter()
            .filter(move |row| passes(row).is_some() && !self.is_made_by(row, embedder))
            .map(|row| (row.created, row.id))
    }

    /// Finds the episodes that are most like a vector of this embedder, among those that [`Self::shown`] lists and
    /// `among` has: their ids and cosines, the best first. The outcomes are compared, or else the larger cosine of task
    /// and whole counts.
    pub fn nearest(
        &self,
        filter: &EpisodeFilter,
        among: Option<&HashSet<u128>>,
        vector: &[i8],
        embedder: &str,
        of_outcome: bool,
        limit: usize,
    ) -> Vec<(u128, f32)> {
        let passes = self.passes(filter);
        let vector = &ByteQuery::of(vector);
        let best_of_part = |(part, owners): (&Arc<VectorColumns>, &Vec<Option<u32>>)| {
            let id = |row: usize| {
                let entry = &self.rows[owners[row]? as usize];
                let is_among = among.is_none_or(|among| among.contains(&entry.id));
                let is_found = is_among && *part.embedders[row] == *embedder && passes(entry).is_some();
                is_found.then_some(entry.id)
            };
            let compared = if of_outcome { vec![&part.outcome] } else { vec![&part.task, &part.whole] };
            let mut rows: Vec<u32> = compared
                .par_iter()
                .flat_map_iter(|vectors| vectors.near(vector, limit, |row| id(row).is_some()))
                .collect();
            rows.sort_unstable();
            rows.dedup();
            let mut found: Vec<(u128, f32)> = rows
                .into_iter()
                .filter_map(|row| {
                    let row = row as usize;
                    let cosines = compared.iter().map(|vectors| vectors.cosine(row, vector));
                    Some((id(row)?, cosines.fold(0.0, f32::max)))
                })
                .collect();
            keep_best(&mut found, limit);
            found
        };
        let parts = self.vectors.par_iter().zip(&self.owners);
        let mut best: Vec<(u128, f32)> = parts.flat_map_iter(best_of_part).collect();
        keep_best(&mut best, limit);
        best
    }

    fn is_made_by(&self, row: &EpisodeEntry, embedder: &str) -> bool {
        row.embedded.is_some_and(|(part, at)| *self.vectors[part as usize].embedders[at as usize] == *embedder)
    }

    fn passes<'a>(&self, filter: &'a EpisodeFilter) -> impl Fn(&EpisodeEntry) -> Option<Visibility> + use<'a> {
        let workspace = filter.workspace.as_ref().map(|wanted| {
            let found = self.workspaces.iter().position(|workspace| **workspace == *wanted.as_str());
            found.map_or(u32::MAX, place)
        });
        let since = filter.since.map_or(i64::MIN, Timestamp::as_microsecond);
        let until = filter.until.map_or(i64::MAX, Timestamp::as_microsecond);
        move |row| {
            let is_of = workspace.is_none_or(|workspace| workspace == row.workspace);
            if !is_of || row.created < since || row.created >= until {
                return None;
            }
            let visibility = row.times.visibility(filter.rules, filter.now);
            filter.visible.contains(&visibility).then_some(visibility)
        }
    }
}

/// The place of something in memory. There are fewer than 2^32 of it, because each takes some bytes.
fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Keeps the best, in their order. Among equals the one with the smaller id comes first.
fn keep_best(found: &mut Vec<(u128, f32)>, limit: usize) {
    let order = |a: &(u128, f32), b: &(u128, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if limit > 0 && found.len() > limit {
        found.select_nth_unstable_by(limit - 1, order);
    }
    found.truncate(limit);
    found.sort_unstable_by(order);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reasoning_bank_domain::episode::{LifecycleRules, QuantizedVector};
    use reasoning_bank_domain::memory::workspace::WorkspaceId;

    use super::*;

    const DIMS: usize = 8;

    fn now() -> Timestamp {
        Timestamp::from_second(1_800_000_000).unwrap()
    }

    /// An episode as it is drawn: its workspace, its age in days, what happened to it, and its vectors.
    #[derive(Debug, Clone)]
    struct Drawn {
        workspace: bool,
        days: i64,
        deleted: bool,
        vectors: Option<(bool, [Option<Vec<i8>>; 3])>,
    }

    fn drawn() -> impl Strategy<Value = Drawn> {
        let vector = || prop::option::of(prop::collection::vec(-127_i8..=127, DIMS));
        let vectors = prop::option::of((any::<bool>(), [vector(), vector(), vector()]));
        (any::<bool>(), 0_i64..600, prop::bool::weighted(0.2), vectors)
            .prop_map(|(workspace, days, deleted, vectors)| Drawn { workspace, days, deleted, vectors })
    }

    fn shops() -> [WorkspaceId; 2] {
        [WorkspaceId::of_root("/shop"), WorkspaceId::of_root("/bank")]
    }

    /// Makes the table of these episodes, of which the first `before` were there before the others. The vectors of each
    /// are in two parts.
    fn table_of(episodes: &[Drawn], before: usize) -> EpisodeTable {
        let mut table = EpisodeTable::default();
        let mut states = StateColumns::default();
        for part in [0..before, before..episodes.len()] {
            add_part(&mut table, &mut states, episodes, part);
            assert!(table.is_whole());
        }
        table.set_states(&[Arc::new(states)]);
        table
    }

    fn add_part(table: &mut EpisodeTable, states: &mut StateColumns, episodes: &[Drawn], part: std::ops::Range<usize>) {
        let mut columns = EpisodeColumns::default();
        let new = || ByteVectors::new(DIMS);
        let mut parts: Vec<VectorColumns> = (0..2)
            .map(|_| VectorColumns { task: new(), outcome: new(), whole: new(), ..VectorColumns::default() })
            .collect();
        for (n, one) in episodes.iter().enumerate().take(part.end).skip(part.start) {
            columns.ids.push(n as u128);
            columns.created.push((now() - jiff::SignedDuration::from_hours(24 * one.days)).as_microsecond());
            columns.workspaces.push(shops()[usize::from(one.workspace)].as_str().into());
            columns.row_ids.push(1_000 + n as u64);
            if one.deleted {
                states.ids.push(n as u128);
                states.accessed.push(None);
                states.archived.push(None);
                states.deleted.push(Some(now()));
            }
            if let Some((is_old, [task, outcome, whole])) = &one.vectors {
                let part = &mut parts[n % 2];
                part.ids.push(n as u128);
                part.embedders.push(if *is_old { "old" } else { "new" }.into());
                for (column, vector) in [(&mut part.task, task), (&mut part.outcome, outcome), (&mut part.whole, whole)]
                {
                    let bytes = vector.as_ref().map(|v| v.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<_>>());
                    column.push(bytes.as_deref());
                }
            }
        }
        let parts: Vec<Arc<VectorColumns>> = parts.into_iter().map(Arc::new).collect();
        table.add(&[Arc::new(columns)], &parts);
    }

    proptest! {
        #[test]
        fn it_finds_what_looking_at_each_episode_finds(
            episodes in prop::collection::vec(drawn(), 0..40),
            query in prop::collection::vec(-127_i8..=127, DIMS),
            of_outcome in any::<bool>(),
            limit in 0_usize..12,
            before in 0_usize..40,
        ) {
            let table = table_of(&episodes, before.min(episodes.len()));
            let filter = EpisodeFilter::of(shops()[0].clone(), LifecycleRules::default(), now());
            let is_shown = |one: &Drawn| !one.workspace && !one.deleted && one.days < 365;
            let mut shown: Vec<u128> = table.shown(&filter).map(|(_, _, id)| id).collect();
            shown.sort_unstable();
            let of = |wanted: &dyn Fn(&Drawn) -> bool| {
                let all = episodes.iter().enumerate();
                all.filter(|(_, one)| wanted(one)).map(|(n, _)| n as u128).collect::<Vec<u128>>()
            };
            prop_assert_eq!(shown, of(&is_shown));
            for (n, one) in episodes.iter().enumerate() {
                prop_assert_eq!(table.location(n as u128), Some((1_000 + n as u64, one.deleted)));
            }
            prop_assert_eq!(table.location(1_000), None);
            let lacks = |one: &Drawn| is_shown(one) && one.vectors.as_ref().is_none_or(|(is_old, _)| *is_old);
            let mut lacking: Vec<u128> = table.without_vectors(&filter, "new").map(|(_, id)| id).collect();
            lacking.sort_unstable();
            prop_assert_eq!(lacking, of(&lacks));

            let quantized = |numbers: &[i8]| {
                QuantizedVector::from_bytes(&numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<_>>())
            };
            let cosine = |n: u128| {
                let Some((_, [task, outcome, whole])) = &episodes[n as usize].vectors else { return 0.0 };
                let compared = if of_outcome { vec![outcome] } else { vec![task, whole] };
                let cosines = compared.into_iter().flatten().map(|v| quantized(v).cosine(&quantized(&query)));
                cosines.fold(0.0, f64::max)
            };
            let found = table.nearest(&filter, None, &query, "new", of_outcome, limit);
            let candidates = of(&|one| is_shown(one) && one.vectors.as_ref().is_some_and(|(is_old, _)| !is_old));
            prop_assert_eq!(found.len(), limit.min(candidates.len()));
            for (id, own) in &found {
                prop_assert!(candidates.contains(id) && (f64::from(*own) - cosine(*id)).abs() < 1e-4);
            }
            let worst = found.last().map_or(f64::MAX, |(_, cosine)| f64::from(*cosine));
            for id in candidates.iter().filter(|id| found.iter().all(|(one, _)| one != *id)) {
                prop_assert!(limit == 0 || cosine(*id) <= worst + 1e-4);
            }
        }
    }
}
