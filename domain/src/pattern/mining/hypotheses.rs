//! The claims about what makes success likelier: sets of tools, orders of two steps, plans. Each has the episodes that
//! it is seen in.

use std::collections::{BTreeMap, BTreeSet};

use super::episode_set::EpisodeSet;
use crate::pattern::facts::EpisodeFacts;
use crate::pattern::wording::{PLAN_JACCARD, jaccard, title_key};

/// The fewest successes of a hypothesis.
pub(super) const SUCCESSES_MIN: u64 = 3;
/// The most tools and plans that are looked at, those in most successes first.
const ITEMS_MAX: usize = 64;
/// The largest set of tools.
const TOOLS_MAX: usize = 3;

/// A tool with the episodes that used it.
type ToolUse = (String, EpisodeSet);
/// The place of the first call of each tool in an episode.
type FirstCalls = BTreeMap<String, usize>;

/// A claim about success that is tested.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Claim {
    /// Titles of a plan.
    Plan(Vec<String>),
    /// The first tool is called before the second one is.
    Order(String, String),
    Tools(BTreeSet<String>),
}

/// The successes and the names of the tools of a group of episodes.
pub(super) struct Group<'a> {
    pub(super) episodes: &'a [&'a EpisodeFacts],
    pub(super) successes: EpisodeSet,
}

impl<'a> Group<'a> {
    pub(super) fn new(episodes: &'a [&'a EpisodeFacts]) -> Self {
        let mut successes = EpisodeSet::new(episodes.len());
        for (place, episode) in episodes.iter().enumerate() {
            if episode.succeeded == Some(true) {
                successes.insert(place);
            }
        }
        Self { episodes, successes }
    }

    /// Returns every claim with its episodes. Each is in at least three successes.
    pub(super) fn claims(&self) -> Vec<(Claim, EpisodeSet)> {
        let mut claims = self.plans();
        let (tools, first) = self.tools();
        claims.extend(self.orders(&tools, &first));
        claims.extend(self.tool_sets(&tools));
        claims
    }

    fn is_frequent(&self, set: &EpisodeSet) -> bool {
        self.successes.common(set) >= SUCCESSES_MIN
    }

    /// Returns the frequent tools, and for each episode the place of the first call of each tool.
    fn tools(&self) -> (Vec<ToolUse>, Vec<FirstCalls>) {
        let first: Vec<FirstCalls> = self.episodes.iter().map(|episode| episode.first_calls()).collect();
        let mut sets: BTreeMap<&String, EpisodeSet> = BTreeMap::new();
        let used: Vec<BTreeSet<String>> = self.episodes.iter().map(|episode| episode.tools()).collect();
        for (place, tools) in used.iter().enumerate() {
            for tool in tools {
                sets.entry(tool).or_insert_with(|| EpisodeSet::new(self.episodes.len())).insert(place);
            }
        }
        let mut tools: Vec<ToolUse> =
            sets.into_iter().filter(|(_, set)| self.is_frequent(set)).map(|(tool, set)| (tool.clone(), set)).collect();
        tools.sort_by_key(|(_, set)| std::cmp::Reverse(self.successes.common(set)));
        tools.truncate(ITEMS_MAX);
        tools.sort();
        (tools, first)
    }

    /// Returns the episodes of which nobody knows whether the claim is true of them: they name the tools of an order
    /// and tell no calls.
    pub(super) fn unclear(&self, claim: &Claim) -> EpisodeSet {
        let mut set = EpisodeSet::new(self.episodes.len());
        let Claim::Order(a, b) = claim else { return set };
        for (place, episode) in self.episodes.iter().enumerate().filter(|(_, episode)| episode.steps.is_empty()) {
            let tools = episode.tools();
            if tools.contains(a) && tools.contains(b) {
                set.insert(place);
            }
        }
        set
    }

    /// Returns the orders of two tools that came in the other order, too. Elsewhere the tools themselves are the claim.
    fn orders(&self, tools: &[ToolUse], first: &[FirstCalls]) -> Vec<(Claim, EpisodeSet)> {
        let mut claims = Vec::new();
        for (a, with_a) in tools {
            for (b, with_b) in tools.iter().filter(|(b, _)| b != a) {
                if self.successes.intersection(with_a).common(with_b) < SUCCESSES_MIN {
                    continue;
                }
                let mut set = EpisodeSet::new(self.episodes.len());
                let mut came_otherwise = false;
                for (place, calls) in first.iter().enumerate() {
                    let Some((at, then)) = calls.get(a).zip(calls.get(b)) else { continue };
                    if at < then {
                        set.insert(place);
                    } else {
                        came_otherwise = true;
                    }
                }
                if came_otherwise && self.is_frequent(&set) {
                    claims.push((Claim::Order(a.clone(), b.clone()), set));
                }
            }
        }
        claims
    }

    fn tool_sets(&self, tools: &[ToolUse]) -> Vec<(Claim, EpisodeSet)> {
        let mut claims = Vec::new();
        let mut level: Vec<(Vec<usize>, EpisodeSet)> =
            tools.iter().enumerate().map(|(place, (_, set))| (vec![place], set.clone())).collect();
        for size in 1..=TOOLS_MAX {
            let mut larger = Vec::new();
            for (places, set) in level {
                if size < TOOLS_MAX {
                    let after = places.last().map_or(0, |last| last + 1);
                    for (place, (_, more)) in tools.iter().enumerate().skip(after) {
                        let both = set.intersection(more);
                        if self.is_frequent(&both) {
                            larger.push((places.iter().copied().chain([place]).collect(), both));
                        }
                    }
                }
                let names = places.iter().map(|place| tools[*place].0.clone()).collect();
                claims.push((Claim::Tools(names), set));
            }
            level = larger;
        }
        claims
    }

    /// Groups plans by the first one that each is like.
    fn plans(&self) -> Vec<(Claim, EpisodeSet)> {
        let mut leaders: Vec<(BTreeSet<String>, Vec<String>, EpisodeSet)> = Vec::new();
        for (place, episode) in self.episodes.iter().enumerate() {
            let titles: BTreeSet<String> =
                episode.plan.iter().map(|title| title_key(title)).filter(|title| !title.is_empty()).collect();
            // One step is no decomposition.
            if titles.len() < 2 {
                continue;
            }
            let like = leaders.iter_mut().find(|(leader, ..)| jaccard(leader, &titles) >= PLAN_JACCARD);
            match like {
                Some((_, _, set)) => set.insert(place),
                None => {
                    let mut set = EpisodeSet::new(self.episodes.len());
                    set.insert(place);
                    leaders.push((titles, episode.plan.clone(), set));
                }
            }
        }
        let mut frequent: Vec<(Claim, EpisodeSet)> = leaders
            .into_iter()
            .filter(|(_, _, set)| self.is_frequent(set))
            .map(|(_, plan, set)| (Claim::Plan(plan), set))
            .collect();
        frequent.sort_by_key(|(_, set)| std::cmp::Reverse(self.successes.common(set)));
        frequent.truncate(ITEMS_MAX);
        frequent
    }
}
