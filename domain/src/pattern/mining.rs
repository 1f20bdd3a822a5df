//! Mining: candidates for patterns from what happened, by rules alone.
//!
//! `hypotheses` are sets of tools, orders of steps and plans that may make success likelier; `tested` decides which of
//! them do. `counted` are failures and recoveries, which only have to come twice. `candidate` makes patterns of both.
//! The patterns that a model proposes, where one may be asked, are in `consolidation::proposals`.

mod candidate;
mod counted;
mod episode_set;
mod hypotheses;
mod tested;

use std::collections::{BTreeMap, HashSet};

use jiff::{SignedDuration, Timestamp};

pub use candidate::MinedPattern;
pub(crate) use candidate::mined_id;

use super::facts::EpisodeFacts;
use crate::memory::ids::MemoryId;

/// The number of days that mining looks back.
pub const MINED_DAYS: i64 = 180;
/// The most new candidates of a run.
pub const CANDIDATES_MAX: usize = 20;

/// Finds candidates in episodes. `known` are the ids of patterns that there are, rejected ones too: they do not come
/// back. Those that success speaks for come first, by their p-values, then recoveries and failures by their counts. The
/// order of the episodes changes nothing.
pub fn mine(episodes: &[EpisodeFacts], known: &HashSet<MemoryId>, now: Timestamp) -> Vec<MinedPattern> {
    let since = now.checked_sub(SignedDuration::from_hours(24 * MINED_DAYS)).unwrap_or(Timestamp::MIN);
    let mut originals: Vec<&EpisodeFacts> =
        episodes.iter().filter(|episode| episode.is_original && episode.at >= since).collect();
    originals.sort_by_key(|episode| (episode.at, episode.id));
    let mut by_workspace: BTreeMap<&str, Vec<&EpisodeFacts>> = BTreeMap::new();
    for episode in originals {
        by_workspace.entry(episode.workspace.as_str()).or_default().push(episode);
    }
    let mut found: Vec<MinedPattern> = Vec::new();
    for episodes in by_workspace.values() {
        found.extend(tested::significant(episodes));
    }
    found.sort_by(|a, b| a.p_value.total_cmp(&b.p_value).then(a.id.cmp(&b.id)));
    let mut counted: Vec<MinedPattern> =
        by_workspace.values().flat_map(|episodes| counted::repeated(episodes)).collect();
    counted.sort_by_key(|one| (std::cmp::Reverse(one.part.category), std::cmp::Reverse(one.supporting.len()), one.id));
    found.extend(counted);
    let mut seen = HashSet::new();
    found.retain(|one| !known.contains(&one.id) && seen.insert(one.id));
    found.truncate(CANDIDATES_MAX);
    found
}

#[cfg(test)]
mod tests;
