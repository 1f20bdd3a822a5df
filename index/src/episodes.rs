//! The columns that a search of episodes needs, in memory. They are read part by part, as a store has them, and are
//! joined to one table: who is shown an episode is told by its times, and its meaning by vectors in 8 bits a number.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;
use rayon::prelude::*;
use reasoning_bank_domain::episode::{EpisodeFilter, EpisodeTimes, Visibility};

use super::kernels;

/// The part of a table that has the episodes themselves.
#[derive(Debug, Default)]
pub struct EpisodeColumns {
    pub ids: Vec<u128>,
    /// Microseconds since 1970.
    pub created: Vec<i64>,
    pub workspaces: Vec<Arc<str>>,
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

/// Vectors of one length, one after another. A row without a vector is all zeros.
#[derive(Debug, Default)]
pub struct ByteVectors {
    dims: usize,
    numbers: Vec<i8>,
    norms: Vec<f32>,
}

impl ByteVectors {
    pub fn new(dims: usize) -> Self {
        Self { dims, ..Self::default() }
    }

    /// Adds a row. A vector of another length is none.
    pub fn push(&mut self, vector: Option<&[u8]>) {
        match vector.filter(|vector| vector.len() == self.dims) {
            Some(vector) => {
                let at = self.numbers.len();
                self.numbers.extend(vector.iter().map(|byte| i8::from_le_bytes([*byte])));
                self.norms.push(norm(&self.numbers[at..]));
            }
            None => {
                self.numbers.extend(std::iter::repeat_n(0, self.dims));
                self.norms.push(0.0);
            }
        }
    }

    /// Returns the cosine of each row with the query; 0 where it has no vector, or the query is of another length.
    fn cosines(&self, query: &[i8]) -> Vec<f32> {
        let length = norm(query);
        if query.len() != self.dims || length <= 0.0 {
            return vec![0.0; self.norms.len()];
        }
        let query: Vec<i16> = query.iter().map(|number| i16::from(*number)).collect();
        let mut dots = Vec::with_capacity(self.norms.len());
        kernels::dots(&query, &self.numbers, &mut dots);
        #[allow(clippy::cast_precision_loss, reason = "a dot product has less than 24 bits for vectors of this length")]
        let cosine = |(dot, own): (&i32, &f32)| if *own > 0.0 { *dot as f32 / (own * length) } else { 0.0 };
        dots.iter().zip(&self.norms).map(cosine).collect()
    }
}

fn norm(numbers: &[i8]) -> f32 {
    let sum: i64 = numbers.iter().map(|number| i64::from(*number).pow(2)).sum();
    #[allow(clippy::cast_precision_loss, reason = "the length of a vector needs no more than 24 bits")]
    let sum = sum as f32;
    sum.sqrt()
}

/// The episodes, each with what the other tables say of it.
#[derive(Debug, Default)]
pub struct EpisodeTable {
    rows: Vec<EpisodeEntry>,
    workspaces: Vec<Arc<str>>,
    vectors: Vec<Arc<VectorColumns>>,
    /// The row of the episode, for each part of the vectors and each of its rows.
    owners: Vec<Vec<Option<u32>>>,
}

#[derive(Debug)]
struct EpisodeEntry {
    id: u128,
    created: i64,
    workspace: u32,
    times: EpisodeTimes,
    /// The embedder of its vectors, as the part and the row that name it.
    embedded: Option<(u32, u32)>,
}

impl EpisodeTable {
    /// Joins the parts of the three tables. What belongs to no episode is left out.
    pub fn join(
        episodes: &[Arc<EpisodeColumns>],
        states: &[Arc<StateColumns>],
        vectors: &[Arc<VectorColumns>],
    ) -> Self {
        let mut table = Self { vectors: vectors.to_vec(), ..Self::default() };
        let mut known: HashMap<Arc<str>, u32> = HashMap::new();
        let mut places: HashMap<u128, u32> = HashMap::new();
        for part in episodes {
            for ((id, created), workspace) in part.ids.iter().zip(&part.created).zip(&part.workspaces) {
                let Ok(created_at) = Timestamp::from_microsecond(*created) else { continue };
                let workspace = *known.entry(Arc::clone(workspace)).or_insert_with(|| {
                    table.workspaces.push(Arc::clone(workspace));
                    place(table.workspaces.len() - 1)
                });
                places.insert(*id, place(table.rows.len()));
                let times = EpisodeTimes::untouched(created_at);
                table.rows.push(EpisodeEntry { id: *id, created: *created, workspace, times, embedded: None });
            }
        }
        for part in states {
            for (row, id) in part.ids.iter().enumerate() {
                let Some(place) = places.get(id) else { continue };
                let times = &mut table.rows[*place as usize].times;
                times.last_accessed = part.accessed[row];
                times.archived_at = part.archived[row];
                times.deleted_at = part.deleted[row];
            }
        }
        for (part, columns) in vectors.iter().enumerate() {
            let owners: Vec<Option<u32>> = columns.ids.iter().map(|id| places.get(id).copied()).collect();
            for (row, owner) in owners.iter().enumerate() {
                if let Some(owner) = owner {
                    table.rows[*owner as usize].embedded = Some((place(part), place(row)));
                }
            }
            table.owners.push(owners);
        }
        table
    }

    /// Estimates the bytes that a table of the given number of episodes takes.
    pub fn bytes(episodes: usize, vectors: usize, dims: usize) -> usize {
        episodes.saturating_mul(192).saturating_add(vectors.saturating_mul(3 * (dims + 4) + 64))
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
        let best_of_part = |(part, owners): (&Arc<VectorColumns>, &Vec<Option<u32>>)| {
            let mut cosines = if of_outcome { part.outcome.cosines(vector) } else { part.task.cosines(vector) };
            if !of_outcome {
                let of_whole = part.whole.cosines(vector);
                cosines.iter_mut().zip(of_whole).for_each(|(best, whole)| *best = best.max(whole));
            }
            let mut found: Vec<(u128, f32)> = owners
                .iter()
                .zip(&part.embedders)
                .zip(cosines)
                .filter(|((_, made_by), _)| ***made_by == *embedder)
                .filter_map(|((owner, _), cosine)| {
                    let row = &self.rows[(*owner)? as usize];
                    let is_among = among.is_none_or(|among| among.contains(&row.id));
                    (is_among && passes(row).is_some()).then_some((row.id, cosine.max(0.0)))
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

    /// Makes the table of these episodes, whose vectors are in two parts.
    fn table_of(episodes: &[Drawn]) -> EpisodeTable {
        let (mut columns, mut states) = (EpisodeColumns::default(), StateColumns::default());
        let new = || ByteVectors::new(DIMS);
        let mut parts: Vec<VectorColumns> = (0..2)
            .map(|_| VectorColumns { task: new(), outcome: new(), whole: new(), ..VectorColumns::default() })
            .collect();
        for (n, one) in episodes.iter().enumerate() {
            columns.ids.push(n as u128);
            columns.created.push((now() - jiff::SignedDuration::from_hours(24 * one.days)).as_microsecond());
            columns.workspaces.push(shops()[usize::from(one.workspace)].as_str().into());
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
        EpisodeTable::join(&[Arc::new(columns)], &[Arc::new(states)], &parts)
    }

    proptest! {
        #[test]
        fn it_finds_what_looking_at_each_episode_finds(
            episodes in prop::collection::vec(drawn(), 0..40),
            query in prop::collection::vec(-127_i8..=127, DIMS),
            of_outcome in any::<bool>(),
            limit in 0_usize..12,
        ) {
            let table = table_of(&episodes);
            let filter = EpisodeFilter::of(shops()[0].clone(), LifecycleRules::default(), now());
            let is_shown = |one: &Drawn| !one.workspace && !one.deleted && one.days < 365;
            let mut shown: Vec<u128> = table.shown(&filter).map(|(_, _, id)| id).collect();
            shown.sort_unstable();
            let of = |wanted: &dyn Fn(&Drawn) -> bool| {
                let all = episodes.iter().enumerate();
                all.filter(|(_, one)| wanted(one)).map(|(n, _)| n as u128).collect::<Vec<u128>>()
            };
            prop_assert_eq!(shown, of(&is_shown));
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
