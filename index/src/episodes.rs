//! The columns that a search of episodes needs, in memory. They are read part by part, as a store has them, and are
//! joined to one table: who is shown an episode is told by its times, and its meaning by vectors in 8 bits a number.

mod byte_vectors;

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use jiff::Timestamp;
use rayon::prelude::*;
use reasoning_bank_domain::episode::{EpisodeFilter, EpisodeTimes, ScoreInputs, Visibility};
use reasoning_bank_domain::memory::label::label_key;
use reasoning_bank_domain::memory::trace::Outcome;
use uuid::Uuid;

use self::byte_vectors::ByteQuery;
pub use self::byte_vectors::ByteVectors;

/// The part of a table that has the episodes themselves.
#[derive(Debug, Default)]
pub struct EpisodeColumns {
    pub ids: Vec<u128>,
    /// Microseconds since 1970.
    pub created: Vec<i64>,
    pub workspaces: Vec<Arc<str>>,
    pub outcomes: Vec<Arc<str>>,
    /// The keys of the domains and the types of the tasks. Those that have none are empty.
    pub domains: Vec<Arc<str>>,
    pub task_types: Vec<Arc<str>>,
    /// The keys of the tools of each episode.
    pub tools: Vec<Arc<[String]>>,
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
    pub access_counts: Vec<u64>,
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
    /// The workspaces, outcomes, domains and types of tasks, each text once.
    texts: Interned<Arc<str>>,
    /// The tools that episodes used together, each list once.
    tools: Interned<Arc<[String]>>,
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
    outcome: u32,
    domain: u32,
    task_type: u32,
    tools: u32,
    /// True where the episode has a state, because something happened to it.
    has_state: bool,
    access_count: u64,
    times: EpisodeTimes,
    /// The embedder of its vectors, as the part and the row that name it.
    embedded: Option<(u32, u32)>,
}

impl EpisodeTable {
    /// Adds parts of the table of episodes, and then of that of their vectors. Vectors of no episode are left out.
    pub fn add(&mut self, episodes: &[Arc<EpisodeColumns>], vectors: &[Arc<VectorColumns>]) {
        for part in episodes {
            for (at, (id, created)) in part.ids.iter().zip(&part.created).enumerate() {
                let Ok(created_at) = Timestamp::from_microsecond(*created) else { continue };
                self.places.insert(*id, place(self.rows.len()));
                self.rows.push(EpisodeEntry {
                    id: *id,
                    created: *created,
                    row_id: part.row_ids[at],
                    workspace: self.texts.add(&part.workspaces[at]),
                    outcome: self.texts.add(&part.outcomes[at]),
                    domain: self.texts.add(&part.domains[at]),
                    task_type: self.texts.add(&part.task_types[at]),
                    tools: self.tools.add(&part.tools[at]),
                    has_state: false,
                    access_count: 0,
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
            row.access_count = 0;
            row.times = EpisodeTimes::untouched(row.times.created_at);
        }
        for part in states {
            for (row, id) in part.ids.iter().enumerate() {
                let Some(place) = self.places.get(id) else { continue };
                let entry = &mut self.rows[*place as usize];
                entry.has_state = true;
                entry.access_count = part.access_counts[row];
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

    /// Returns what the score of an episode is made of. None where it is unknown.
    pub fn score_inputs(&self, id: u128) -> Option<ScoreInputs> {
        let row = &self.rows[*self.places.get(&id)? as usize];
        let domain = &self.texts.values[row.domain as usize];
        Some(ScoreInputs {
            id: Uuid::from_u128(id).into(),
            times: row.times,
            succeeded: *self.texts.values[row.outcome as usize] == *Outcome::Success.as_str(),
            domain: (!domain.is_empty()).then(|| Arc::clone(domain)),
            access_count: row.access_count,
        })
    }

    /// Estimates the bytes that a table of the given number of episodes takes.
    pub fn bytes(episodes: usize, vectors: usize, dims: usize) -> usize {
        episodes.saturating_mul(256).saturating_add(vectors.saturating_mul(3 * (dims + dims / 8 + 4) + 64))
    }

    /// Returns what a filter asks for that is not told here: the session, the tags and the failures. None where that is
    /// nothing.
    pub fn untold(filter: &EpisodeFilter) -> Option<EpisodeFilter> {
        let rest = EpisodeFilter { domain: None, task_type: None, status: None, tools: Vec::new(), ..filter.clone() };
        rest.has_labels().then_some(rest)
    }

    /// Lists the episodes that a filter lets through but for what is [`Self::untold`], in no order: who is shown each,
    /// when it was made in microseconds, and its id.
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
        // An episode without a label has an empty text here, and no label is empty.
        let place_of_label = |label: &str| match label_key(label).as_str() {
            "" => UNKNOWN,
            key => self.texts.place(key),
        };
        let label = |wanted: &Option<String>| wanted.as_deref().map(place_of_label);
        let workspace = filter.workspace.as_ref().map(|wanted| self.texts.place(wanted.as_str()));
        let outcome = filter.status.map(|wanted| self.texts.place(wanted.as_str()));
        let (domain, task_type) = (label(&filter.domain), label(&filter.task_type));
        let wanted: Vec<String> = filter.tools.iter().map(|tool| label_key(tool)).collect();
        let has_all = |tools: &Arc<[String]>| wanted.iter().all(|tool| tools.contains(tool));
        let with_tools: Option<Vec<bool>> =
            (!wanted.is_empty()).then(|| self.tools.values.iter().map(has_all).collect());
        let since = filter.since.map_or(i64::MIN, Timestamp::as_microsecond);
        let until = filter.until.map_or(i64::MAX, Timestamp::as_microsecond);
        move |row| {
            let is = |wanted: Option<u32>, own: u32| wanted.is_none_or(|wanted| wanted == own);
            let is_of = is(workspace, row.workspace)
                && is(outcome, row.outcome)
                && is(domain, row.domain)
                && is(task_type, row.task_type)
                && with_tools.as_ref().is_none_or(|with_tools| with_tools[row.tools as usize]);
            if !is_of || row.created < since || row.created >= until {
                return None;
            }
            let visibility = row.times.visibility(filter.rules, filter.now);
            filter.visible.contains(&visibility).then_some(visibility)
        }
    }
}

/// The place of what is in no row.
const UNKNOWN: u32 = u32::MAX;

/// Values that many rows have, each once.
#[derive(Debug, Clone)]
struct Interned<T> {
    values: Vec<T>,
    places: HashMap<T, u32>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self { values: Vec::new(), places: HashMap::new() }
    }
}

impl<T: Clone + Eq + Hash> Interned<T> {
    /// Returns the place of a value, which it gets where it has none.
    fn add(&mut self, value: &T) -> u32 {
        if let Some(at) = self.places.get(value) {
            return *at;
        }
        let at = place(self.values.len());
        self.values.push(value.clone());
        self.places.insert(value.clone(), at);
        at
    }

    fn place<Q: Eq + Hash + ?Sized>(&self, value: &Q) -> u32
    where
        T: Borrow<Q>,
    {
        self.places.get(value).copied().unwrap_or(UNKNOWN)
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
            columns.outcomes.push(if n % 2 == 0 { "success" } else { "failure" }.into());
            columns.domains.push(["rust", "web", ""][n % 3].into());
            columns.task_types.push(["bug_fix", "other"][n / 2 % 2].into());
            columns.tools.push([vec!["cargo".to_owned(), "bash".to_owned()], vec![]][n / 4 % 2].as_slice().into());
            columns.row_ids.push(1_000 + n as u64);
            if one.deleted {
                states.ids.push(n as u128);
                states.accessed.push(None);
                states.archived.push(None);
                states.deleted.push(Some(now()));
                states.access_counts.push(7);
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

    #[test]
    fn labels_leave_out_what_has_others() {
        let one = |deleted| Drawn { workspace: false, days: 1, deleted, vectors: None };
        let table = table_of(&(0..24).map(|n| one(n == 12)).collect::<Vec<_>>(), 10);
        let all = EpisodeFilter::of(shops()[0].clone(), LifecycleRules::default(), now());
        let shown = |filter: EpisodeFilter| table.shown(&filter).map(|(_, _, id)| id).collect::<Vec<u128>>();
        let domain = |domain: &str| EpisodeFilter { domain: Some(domain.into()), ..all.clone() };
        assert_eq!(shown(domain(" Rust")), [0, 3, 6, 9, 15, 18, 21]);
        assert_eq!((shown(domain("go")), shown(domain(""))), (vec![], vec![]));
        assert_eq!(shown(EpisodeFilter { status: Some(Outcome::Failure), ..domain("rust") }), [3, 9, 15, 21]);
        let tools = vec!["Bash".to_owned(), "cargo".to_owned()];
        assert_eq!(shown(EpisodeFilter { tools, ..domain("rust") }), [0, 3, 9, 18]);
        assert_eq!(shown(EpisodeFilter { task_type: Some("other".into()), ..domain("rust") }), [3, 6, 15, 18]);
        let inputs = |id| table.score_inputs(id).unwrap();
        assert!(inputs(12).succeeded && inputs(12).access_count == 7 && inputs(12).domain.as_deref() == Some("rust"));
        assert!(!inputs(5).succeeded && inputs(5).access_count == 0 && inputs(5).domain.is_none());
        assert_eq!(table.score_inputs(99), None);
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
