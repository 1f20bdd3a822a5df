//! Puts the newest of several memories about the same subject first in an answer.

use std::collections::BTreeSet;

use super::{Cut, Ranked, Ranking};
use crate::memory::ids::MemoryId;
use crate::memory::update_detection::{
    ComparableMemory, DatedResult, OlderMemory, Statement, newest_first, same_subject,
};
use crate::memory::{Memory, normalised};

/// The number of the first memories of an answer that are compared.
const COMPARED_MAX: usize = 10;
/// Two memories are nearly tied where the scores of both are at least this share of the best one.
const NEAR_TIE: f64 = 0.8;

/// A memory of the ranking that is ordered.
struct Ordered<'a> {
    /// Its place in the ranking.
    place: usize,
    memory: &'a Memory,
}

impl Ranking {
    /// Finds the newer memories that are linked to one of the answer, and have no place in the answer only because
    /// others are better or more relevant. Their bodies are needed to put them first.
    pub fn newer_beyond<'a>(&self, body: impl Fn(MemoryId) -> Option<&'a Memory>) -> Vec<MemoryId> {
        let bodies = self.kept().filter_map(|entry| body(entry.facts.id));
        let linked: BTreeSet<MemoryId> = bodies.filter_map(|memory| Some(memory.linked_to()?.id)).collect();
        let is_beyond =
            |cut| matches!(cut, Some(Cut::BeyondN { .. } | Cut::BelowRelevance { .. } | Cut::FarBelowBest { .. }));
        let beyond = self.entries.iter().filter(|entry| is_beyond(entry.cut));
        beyond.map(|entry| entry.facts.id).filter(|id| linked.contains(id)).collect()
    }

    /// Puts newer memories before the ones that they outdate, which then name the newest of them. `body` gives the
    /// memory of an id. Nothing is hidden: a newer memory from beyond the answer comes into it, and the answer then has
    /// one more. A memory of lower trust or of another owner goes before none; the memory that it contradicts names it.
    pub fn newest_first<'a>(&mut self, body: impl Fn(MemoryId) -> Option<&'a Memory>) {
        let beyond = self.newer_beyond(&body);
        let is_kept = |place: &usize| self.entries[*place].cut.is_none();
        let kept: Vec<usize> = (0..self.entries.len()).filter(is_kept).take(COMPARED_MAX).collect();
        let places = (0..self.entries.len())
            .filter(|place| kept.contains(place) || beyond.contains(&self.entries[*place].facts.id));
        let ordered: Vec<Ordered> =
            places.filter_map(|place| Some(Ordered { place, memory: body(self.entries[place].facts.id)? })).collect();
        let placed: Vec<_> = ordered
            .iter()
            .map(|Ordered { memory, .. }| DatedResult {
                at: memory.said_at(),
                trust: memory.trust,
                owner: memory.owner(),
            })
            .collect();
        let links = links(&ordered);
        let mut shown = newest_first(&placed, &links);
        let ties = self.near_ties(&ordered);
        if !ties.is_empty() {
            shown.order = newest_first(&placed, &[links, ties].concat()).order;
        }
        let id = |n: Option<usize>| n.map(|n| ordered[n].memory.id);
        let outdating: BTreeSet<MemoryId> = shown.outdated_by.iter().filter_map(|n| id(*n)).collect();
        let marked = |n: &usize| {
            let entry = self.entries[ordered[*n].place].clone();
            Ranked {
                cut: entry.cut.filter(|_| !outdating.contains(&entry.facts.id)),
                outdated_by: id(shown.outdated_by[*n]),
                contested_by: id(shown.contested_by[*n]),
                ..entry
            }
        };
        let moved: Vec<Ranked> = shown.order.iter().map(marked).collect();
        for (one, entry) in ordered.iter().zip(moved) {
            self.entries[one.place] = entry;
        }
    }
}

impl Ranking {
    /// Finds the newer memories that are linked to one of the answer and are not in it, because of what the caller
    /// asked for, or because they are too unlike it.
    pub fn newer_outside<'a>(&self, body: impl Fn(MemoryId) -> Option<&'a Memory>) -> Vec<MemoryId> {
        self.kept()
            .filter(|entry| is_unmarked(entry))
            .filter_map(|entry| Some(body(entry.facts.id)?.linked_to()?.id))
            .collect()
    }

    /// Marks what these newer memories outdate in the answer, which they are not in themselves.
    pub fn mark_outdated<'a>(&mut self, newer: &[Memory], body: impl Fn(MemoryId) -> Option<&'a Memory>) {
        for entry in self.entries.iter_mut().filter(|entry| entry.cut.is_none() && is_unmarked(entry)) {
            let Some(older) = body(entry.facts.id) else { continue };
            let Some(newer) = newer.iter().find(|newer| older.is_updated_by(newer)) else { continue };
            if newer.trust >= older.trust && newer.owner() == older.owner() {
                entry.outdated_by = Some(newer.id);
            } else {
                entry.contested_by = Some(newer.id);
            }
        }
    }

    /// Finds the pairs of a newer and an older memory that are both nearly as good as the best of the answer and say
    /// different things of the same subject, though no rule is sure that one updates the other. They are ordered, and
    /// none of them is said to be outdated.
    fn near_ties(&self, ordered: &[Ordered]) -> Vec<(usize, usize)> {
        let score = |one: &Ordered| self.entries[one.place].score.composite;
        let best = self.kept().map(|entry| entry.score.composite).fold(0.0, f64::max);
        let is_near_best = |one: &Ordered| self.entries[one.place].cut.is_none() && score(one) >= NEAR_TIE * best;
        let tied: Vec<(usize, ComparableMemory)> = (0..ordered.len())
            .filter(|n| is_near_best(&ordered[*n]))
            .filter_map(|n| Some((n, ComparableMemory::of(ordered[n].memory)?)))
            .collect();
        let mut ties = Vec::new();
        for (n, (one, a)) in tied.iter().enumerate() {
            for (other, b) in &tied[n + 1..] {
                if may_be_tied(a.memory, b.memory) && a.shares_words(b) && speak_of_the_same(a.memory, b.memory) {
                    ties.extend([(*one, *other), (*other, *one)]);
                }
            }
        }
        ties
    }
}

fn is_unmarked(entry: &Ranked) -> bool {
    entry.outdated_by.is_none() && entry.contested_by.is_none()
}

/// Tells whether two memories have the same title and warn of the same error or of none, and nobody said that they
/// stand beside each other.
fn may_be_tied(a: &Memory, b: &Memory) -> bool {
    let stand_beside = |a: &Memory, b: &Memory| a.succession.stands_beside.contains(&b.id);
    normalised(&a.title) == normalised(&b.title)
        && a.signature() == b.signature()
        && !stand_beside(a, b)
        && !stand_beside(b, a)
}

fn speak_of_the_same(a: &Memory, b: &Memory) -> bool {
    let statement = |memory: &Memory| Statement::of(&memory.title, &memory.content);
    same_subject(&statement(a), &statement(b))
}

/// Finds the pairs of a newer memory and an older one that it updates: those that were linked when they were stored,
/// and those that are found now, as if the memories had come one after another.
fn links(ordered: &[Ordered]) -> Vec<(usize, usize)> {
    let memory = |n: usize| ordered[n].memory;
    let each = || 0..ordered.len();
    let pairs = each().flat_map(|older| each().map(move |newer| (newer, older)));
    let mut links: Vec<(usize, usize)> =
        pairs.filter(|(newer, older)| memory(*older).comes_after(memory(*newer))).collect();
    let mut is_outdated = vec![false; ordered.len()];
    links.iter().for_each(|(_, older)| is_outdated[*older] = true);

    let compared: Vec<Option<ComparableMemory>> = ordered.iter().map(|one| ComparableMemory::of(one.memory)).collect();
    let mut by_time: Vec<usize> = each().filter(|n| compared[*n].is_some()).collect();
    by_time.sort_by_key(|n| memory(*n).said_at());
    for (count, newer) in by_time.iter().copied().enumerate() {
        let Some(new) = &compared[newer] else { continue };
        let older = by_time[..count].iter().copied();
        let (places, older): (Vec<usize>, Vec<OlderMemory>) = older
            .filter_map(|n| Some((n, compared[n].as_ref()?)))
            .filter(|(_, old)| new.shares_words(old))
            .map(|(n, compared)| (n, OlderMemory { compared, is_outdated: is_outdated[n] }))
            .unzip();
        for (n, _) in new.updates(&older) {
            is_outdated[places[n]] = true;
            links.push((newer, places[n]));
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::confidence::Evidence;
    use crate::memory::samples::{days_ago, id, strategy, warning};
    use crate::memory::{ErrorContext, Facts};
    use crate::memory::{Scope, Trust};
    use crate::retrieval::ranking::Cut;
    use crate::retrieval::score::{Profile, QueryContext, score};

    fn said(n: u128, days: i64, content: &str) -> Memory {
        let (title, created_at) = ("Deployment".to_owned(), days_ago(days as f64));
        Memory { title, content: content.into(), created_at, ..strategy(n) }
    }

    fn entry(memory: &Memory, cut: Option<Cut>) -> Ranked {
        let now = days_ago(0.0);
        let asked = QueryContext {
            now,
            signature: None,
            domain: None,
            majority_domain: None,
            mentions_error: false,
            compares_meaning: true,
        };
        let (facts, evidence) = (Facts::from(memory), Evidence::default());
        let score = score(&Profile::default(), &asked, &facts, &evidence, &Default::default());
        let relevance = 1.0;
        Ranked {
            facts,
            evidence,
            score,
            relevance,
            relevance_of_text: relevance,
            cut,
            spared: None,
            outdated_by: None,
            contested_by: None,
        }
    }

    /// Returns the answer for these memories, best first, with what outdates each.
    fn shown(memories: &[Memory]) -> Vec<(MemoryId, Option<MemoryId>)> {
        let entries = memories.iter().map(|memory| entry(memory, None)).collect();
        let mut ranking = Ranking { entries, domain: None };
        ranking.newest_first(|id| memories.iter().find(|memory| memory.id == id));
        ranking.kept().map(|entry| (entry.facts.id, entry.outdated_by)).collect()
    }

    const OLD: &str = "The service listens on port 8080.";
    const NEW: &str = "The service listens on port 9090.";

    #[test]
    fn a_newer_value_goes_before_the_one_that_it_outdates() {
        let other = said(2, 5, "Releases are cut on Friday.");
        let memories = [said(1, 9, OLD), other, said(3, 1, NEW)];
        assert_eq!(shown(&memories), [(id(3), None), (id(1), Some(id(3))), (id(2), None)]);
        let in_order = [said(3, 1, NEW), said(1, 9, OLD)];
        assert_eq!(shown(&in_order), [(id(3), None), (id(1), Some(id(3)))]);
    }

    #[test]
    fn another_qualifier_a_copy_and_a_long_text_change_nothing() {
        let unchanged = |newer: Memory| {
            let memories = [said(1, 9, OLD), newer];
            assert_eq!(shown(&memories), [(id(1), None), (id(3), None)], "{:?}", memories[1]);
        };
        unchanged(said(3, 1, "On staging the service listens on port 9090."));
        let copy = said(3, 1, NEW);
        unchanged(Memory { scope: Scope::Org, parent_memory_id: Some(id(9)), derived_from: vec![id(9)], ..copy });
        unchanged(said(3, 1, &format!("{NEW} {}", "It is a long story. ".repeat(60))));
    }

    #[test]
    fn what_was_said_later_counts_and_not_what_was_stored_later() {
        let old = Memory { valid_from: Some(days_ago(0.5)), ..said(1, 9, OLD) };
        assert_eq!(shown(&[said(3, 1, NEW), old]), [(id(1), None), (id(3), Some(id(1)))]);
    }

    #[test]
    fn linked_memories_are_ordered_whatever_their_words_and_undone_pairs_are_not() {
        let (old, new) = (said(1, 9, "We deploy with Jenkins."), said(3, 1, "Releases go out by hand."));
        let linked = [old.linked(id(3), 0.7).unwrap(), new.clone().replacing(id(1))];
        assert_eq!(shown(&linked), [(id(3), None), (id(1), Some(id(3)))]);
        assert_eq!(shown(&[linked[0].clone(), new]), [(id(1), None), (id(3), None)], "only one of them says so");
        let undone = [said(1, 9, OLD).reinstated(Some(id(3))).unwrap(), said(3, 1, NEW)];
        assert_eq!(shown(&undone), [(id(1), None), (id(3), None)]);
    }

    #[test]
    fn a_newer_one_that_is_no_candidate_marks_what_it_outdates() {
        let old = said(1, 9, "We deploy with Jenkins.").linked(id(3), 0.9).unwrap();
        let new = said(3, 1, "Releases go out by hand.").replacing(id(1));
        let less_trusted = Memory { trust: Trust::Model, ..new.clone() };
        for (newer, marks) in [
            (new.clone(), (Some(id(3)), None)),
            (less_trusted, (None, Some(id(3)))),
            (said(3, 1, "Releases go out by hand."), (None, None)),
        ] {
            let mut ranking = Ranking { entries: vec![entry(&old, None)], domain: None };
            let body = |asked: MemoryId| Some(&old).filter(|memory| memory.id == asked);
            assert_eq!(ranking.newer_outside(body), [id(3)]);
            ranking.mark_outdated(&[newer], body);
            assert_eq!((ranking.entries[0].outdated_by, ranking.entries[0].contested_by), marks);
        }
    }

    #[test]
    fn a_newer_one_from_beyond_the_answer_comes_into_it() {
        let (old, new) = (said(1, 9, OLD).linked(id(3), 0.9).unwrap(), said(3, 1, NEW).replacing(id(1)));
        let memories = [old, said(2, 5, "Releases are cut on Friday."), new];
        let in_answer = |beyond: Cut| {
            let cuts = [None, None, Some(beyond)];
            let entries = memories.iter().zip(cuts).map(|(memory, cut)| entry(memory, cut)).collect();
            let mut ranking = Ranking { entries, domain: None };
            ranking.newest_first(|id| memories.iter().find(|memory| memory.id == id));
            ranking.kept().map(|entry| entry.facts.id).collect::<Vec<_>>()
        };
        assert_eq!(in_answer(Cut::BeyondN { n: 2 }), [id(3), id(1), id(2)]);
        assert_eq!(
            in_answer(Cut::BelowRelevance { least: 0.1 }),
            [id(3), id(1), id(2)],
            "it is about the same as the older one"
        );
        assert_eq!(in_answer(Cut::BelowConfidence { least: 0.9 }), [id(1), id(2)], "it was left out for what it is");
    }

    #[test]
    fn a_lower_trust_and_another_owner_are_shown_beside_it() {
        let contested = |newer: Memory| {
            let memories = [said(1, 9, OLD), newer];
            let mut ranking =
                Ranking { entries: memories.iter().map(|memory| entry(memory, None)).collect(), domain: None };
            ranking.newest_first(|id| memories.iter().find(|memory| memory.id == id));
            let shown = ranking.kept().map(|entry| (entry.facts.id, entry.outdated_by, entry.contested_by));
            assert_eq!(shown.collect::<Vec<_>>(), [(id(1), None, Some(id(3))), (id(3), None, None)]);
        };
        contested(Memory { trust: Trust::Model, ..said(3, 1, NEW) });
        contested(Memory { scope: Scope::Team, ..said(3, 1, NEW) });
    }

    #[test]
    fn an_attribute_with_several_values_is_left_as_it_is() {
        let memories = [said(1, 9, "The port is 80."), said(2, 9, "The port is 81."), said(3, 1, "The port is 82.")];
        let shown = shown(&memories);
        assert!(shown.iter().all(|(_, outdated_by)| outdated_by.is_none()), "none of them is outdated");
        assert_eq!(shown.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [id(3), id(1), id(2)], "the newest is first");
    }

    #[test]
    fn only_near_ties_are_ordered_by_their_age_where_no_rule_is_sure() {
        let memories = [said(1, 9, "The port is 80."), said(2, 9, "The port is 81."), said(3, 1, "The port is 82.")];
        let order = |composite: f64, beside: bool| {
            let mut memories = memories.clone();
            if beside {
                memories[0] = memories[0].reinstated(Some(id(3))).unwrap();
                memories[1] = memories[1].reinstated(Some(id(3))).unwrap();
            }
            let mut entries: Vec<Ranked> = memories.iter().map(|memory| entry(memory, None)).collect();
            entries.iter_mut().for_each(|entry| entry.score.composite = 1.0);
            entries[2].score.composite = composite;
            let mut ranking = Ranking { entries, domain: None };
            ranking.newest_first(|id| memories.iter().find(|memory| memory.id == id));
            ranking.kept().map(|entry| entry.facts.id).collect::<Vec<_>>()
        };
        assert_eq!(order(0.81, false), [id(3), id(1), id(2)]);
        assert_eq!(order(0.79, false), [id(1), id(2), id(3)]);
        assert_eq!(order(0.81, true), [id(1), id(2), id(3)], "they stand beside each other");
    }

    #[test]
    fn numbered_titles_and_other_errors_are_told_apart() {
        let titled =
            |n: u128, days: i64, title: &str, content: &str| Memory { title: title.into(), ..said(n, days, content) };
        let unmoved = |memories: [Memory; 2]| {
            assert_eq!(shown(&memories), [(id(1), None), (id(3), None)], "{memories:?}");
        };
        unmoved([titled(1, 9, "Case 1", "The answer is 3."), titled(3, 1, "Case 2", "The answer is 4.")]);
        unmoved([titled(1, 9, "Case 1", "zebra"), titled(3, 1, "Case 2", "Parse the answer of the server.")]);
        let warns = |memory: Memory, error_type: &str| {
            let error_context =
                warning(1).error_context.map(|error| ErrorContext { error_type: error_type.into(), ..error });
            Memory { error_context, ..memory }
        };
        unmoved([warns(said(1, 9, OLD), "KeyError"), warns(said(3, 1, NEW), "ValueError")]);
    }

    #[test]
    fn what_is_cut_stays_where_it_is() {
        let memories = [said(1, 9, OLD), said(2, 5, "Releases are cut on Friday."), said(3, 1, NEW)];
        let cut = Some(Cut::BeyondN { n: 1 });
        let entries = vec![entry(&memories[0], None), entry(&memories[1], cut), entry(&memories[2], None)];
        let mut ranking = Ranking { entries, domain: None };
        ranking.newest_first(|id| memories.iter().find(|memory| memory.id == id));
        assert_eq!(ranking.entries.iter().map(|entry| entry.facts.id).collect::<Vec<_>>(), [id(3), id(2), id(1)]);
    }
}
