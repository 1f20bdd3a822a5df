//! The test of claims about success: those of a workspace are tested together, one hypothesis for each set of episodes.

use std::collections::BTreeMap;

use super::candidate::MinedPattern;
use super::episode_set::EpisodeSet;
use super::hypotheses::{Claim, Group};
use crate::pattern::facts::EpisodeFacts;
use crate::pattern::significance::{ContingencyTable, benjamini_hochberg, fisher_greater};

/// The share of false findings that is accepted among all.
const FALSE_DISCOVERIES: f64 = 0.1;

/// A claim with its p-value, before and after the correction.
struct Hypothesis<'a> {
    task_type: &'a str,
    claim: Claim,
    set: EpisodeSet,
    episodes: Vec<&'a EpisodeFacts>,
    p_value: f64,
}

/// Returns the candidates of one workspace whose success rate is above that of the episodes of the same type of task
/// without them.
pub(super) fn significant(episodes: &[&EpisodeFacts]) -> Vec<MinedPattern> {
    let mut by_type: BTreeMap<&str, Vec<&EpisodeFacts>> = BTreeMap::new();
    for episode in episodes.iter().filter(|episode| episode.succeeded.is_some()) {
        by_type.entry(episode.task_type.as_str()).or_default().push(episode);
    }
    let mut family: Vec<Hypothesis<'_>> = Vec::new();
    for (task_type, of_type) in &by_type {
        family.extend(hypotheses(task_type, of_type));
    }
    let adjusted = benjamini_hochberg(&family.iter().map(|one| one.p_value).collect::<Vec<_>>());
    let mut held: Vec<Hypothesis<'_>> =
        family.into_iter().zip(adjusted).filter(|(_, p)| *p <= FALSE_DISCOVERIES).map(|(one, _)| one).collect();
    held.sort_by(|a, b| a.p_value.total_cmp(&b.p_value).then_with(|| a.claim.cmp(&b.claim)));
    let mut kept: Vec<Hypothesis<'_>> = Vec::new();
    for one in held {
        if !kept.iter().any(|better| better.task_type == one.task_type && better.claim.says_more_of(&one.claim)) {
            kept.push(one);
        }
    }
    kept.into_iter().map(|one| MinedPattern::tested(one.task_type, &one.claim, &one.episodes, one.p_value)).collect()
}

/// Returns the hypotheses of one type of task. Claims with the same episodes are one, which the claim stands for that
/// says most for what it claims: a plan, then the largest set of tools, then an order. An order counts where the same
/// tools came in another order, too. Those that could not hold whatever the outcomes are left out.
fn hypotheses<'a>(task_type: &'a str, episodes: &[&'a EpisodeFacts]) -> Vec<Hypothesis<'a>> {
    let group = Group::new(episodes);
    let all = group.successes.len();
    let total = episodes.len() as u64;
    let mut by_set: BTreeMap<EpisodeSet, Claim> = BTreeMap::new();
    for (claim, set) in group.claims() {
        match by_set.get_mut(&set) {
            Some(known) if claim.stands_before(known) => *known = claim,
            Some(_) => {}
            None => {
                by_set.insert(set, claim);
            }
        }
    }
    let mut found = Vec::new();
    for (set, claim) in by_set {
        let (size, successes) = (set.len(), group.successes.common(&set));
        let unclear = group.unclear(&claim);
        let (all, total) = (all - group.successes.common(&unclear), total - unclear.len());
        let table = ContingencyTable {
            successes,
            failures: size - successes,
            other_successes: all - successes,
            other_failures: (total - size) - (all - successes),
        };
        if fisher_greater(table.most_extreme()) > FALSE_DISCOVERIES {
            continue;
        }
        let supporting = episodes.iter().enumerate().filter(|(place, _)| set.contains(*place));
        let episodes = supporting.map(|(_, episode)| *episode).collect();
        found.push(Hypothesis { task_type, claim, set, episodes, p_value: fisher_greater(table) });
    }
    found.sort_by(|a, b| a.set.cmp(&b.set));
    found
}

impl Claim {
    /// Tells whether this claim stands for another one with the same episodes.
    fn stands_before(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Tools(own), Self::Tools(others)) => (others.len(), own) < (own.len(), others),
            _ if self.rank() != other.rank() => self.rank() < other.rank(),
            _ => self < other,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Plan(_) => 0,
            Self::Tools(_) => 1,
            Self::Order(..) => 2,
        }
    }

    /// Tells whether another claim, which is less significant, is about the same tools and adds nothing.
    fn says_more_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Tools(own), Self::Tools(others)) => own.is_subset(others) || others.is_subset(own),
            (Self::Order(a, b), Self::Tools(others)) => others.contains(a) || others.contains(b),
            (Self::Tools(own), Self::Order(a, b)) => own.contains(a) || own.contains(b),
            (Self::Order(a, b), Self::Order(c, d)) => a == c || b == d || a == d || b == c,
            _ => false,
        }
    }
}
