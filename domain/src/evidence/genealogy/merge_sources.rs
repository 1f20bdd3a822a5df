//! The sources of a memory that is learned again: those that it has, and the memories that the new lesson came from.

use super::{Direction, Lineage};
use crate::memory::ids::MemoryId;
use crate::memory::{Memory, SOURCES_MAX};

/// Returns the memory with those of `sources` that it can have. None where there is no new one. A source is left out
/// where it would break a rule: it came from the memory itself (a cycle), it is less trusted (the memory would have to
/// lose trust), or it would raise the stage of a memory that others came from already (their stages would be too low).
pub fn merge_sources(memory: &Memory, sources: &[&Memory], lineage: &Lineage) -> Option<Memory> {
    let has_descendants = lineage.next(memory.id, Direction::Down).next().is_some();
    let mut merged = memory.clone();
    for source in sources {
        let is_known = source.id == memory.id
            || memory.parent_memory_id == Some(source.id)
            || merged.derived_from.contains(&source.id);
        let raises = source.evolution_stage >= memory.evolution_stage;
        let breaks =
            source.trust < memory.trust || (raises && has_descendants) || comes_from(source, memory.id, lineage);
        if !is_known && !breaks && merged.derived_from.len() < SOURCES_MAX {
            merged.derive_from(source);
        }
    }
    (merged != *memory).then_some(merged)
}

fn comes_from(memory: &Memory, ancestor: MemoryId, lineage: &Lineage) -> bool {
    memory.sources().any(|source| source == ancestor || lineage.comes_from(source, ancestor))
        || lineage.comes_from(memory.id, ancestor)
}

/// Returns the new sources of a memory by which it comes from itself. That happens where two memories get each other as
/// a source at the same time, and is only seen afterwards.
pub fn cyclic_sources(before: &Memory, after: &Memory, lineage: &Lineage) -> Vec<MemoryId> {
    let new = after.derived_from.iter().filter(|source| !before.derived_from.contains(source));
    new.copied().filter(|source| lineage.comes_from(*source, after.id)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::cycle_edges;
    use super::*;
    use crate::memory::Trust;
    use crate::memory::samples::{id, strategy};

    fn lineage(memories: &[Memory]) -> Lineage {
        let mut lineage = Lineage::default();
        memories.iter().for_each(|memory| lineage.add(memory.id, memory.derived_from.clone()));
        lineage
    }

    fn from(n: u128, sources: &[u128], stage: u32) -> Memory {
        Memory { derived_from: sources.iter().map(|n| id(*n)).collect(), evolution_stage: stage, ..strategy(n) }
    }

    #[test]
    fn new_sources_are_added_and_the_stage_follows() {
        let (known, other) = (from(1, &[9], 1), from(2, &[], 3));
        let all = lineage(&[known.clone(), other.clone()]);
        let after = merge_sources(&known, &[&other, &other, &known], &all).unwrap();
        assert_eq!((after.derived_from.clone(), after.evolution_stage), (vec![id(9), id(2)], 4));
        assert_eq!(merge_sources(&after, &[&other], &all), None, "once is enough");
    }

    #[test]
    fn what_would_break_a_rule_is_left_out() {
        let known = from(1, &[], 0);
        let child = from(2, &[1], 1);
        let less_trusted = Memory { trust: Trust::Model, ..from(3, &[], 0) };
        let other = from(4, &[], 0);
        let all = lineage(&[known.clone(), child.clone(), less_trusted.clone(), other.clone()]);
        assert_eq!(merge_sources(&known, &[&child, &less_trusted, &other], &all), None);
        let alone = lineage(std::slice::from_ref(&known));
        assert_eq!(
            merge_sources(&known, &[&child], &alone),
            None,
            "what a memory says of itself is enough for a cycle"
        );
        assert_eq!(merge_sources(&known, &[&less_trusted, &other], &alone).unwrap().derived_from, [id(4)]);
    }

    #[test]
    fn of_two_that_are_merged_into_each_other_at_once_both_see_the_cycle_and_nothing_else_of_theirs() {
        let (a, b, other) = (from(1, &[], 0), from(2, &[], 0), from(3, &[], 0));
        let before = lineage(&[a.clone(), b.clone(), other.clone()]);
        let merged_a = merge_sources(&a, &[&b, &other], &before).unwrap();
        let merged_b = merge_sources(&b, &[&a], &before).unwrap();
        let after = lineage(&[merged_a.clone(), merged_b.clone(), other]);
        assert_eq!(cyclic_sources(&a, &merged_a, &after), [id(2)]);
        assert_eq!(cyclic_sources(&b, &merged_b, &after), [id(1)]);
        assert!(cyclic_sources(&merged_a, &merged_a, &after).is_empty());
    }

    proptest! {
        #[test]
        fn merging_never_closes_a_cycle_raises_trust_or_leaves_a_stage_too_low(
            edges in prop::collection::vec((0u128..10, 0u128..10), 0..20),
            trust in prop::collection::vec(prop::sample::select(vec![Trust::Model, Trust::Agent, Trust::User]), 10),
            target in 0usize..10,
            sources in prop::collection::vec(0usize..10, 0..5),
        ) {
            let mut bank: Vec<Memory> = Vec::new();
            for n in 0..10u128 {
                let own: Vec<u128> = edges.iter().filter(|(to, from)| *to == n && from < to).map(|(_, from)| *from).collect();
                let stage = own.iter().map(|from| bank[*from as usize].next_stage()).max().unwrap_or(0);
                let trust = own.iter().map(|from| bank[*from as usize].trust).fold(trust[n as usize], Ord::min);
                bank.push(Memory { trust, ..from(n, &own, stage) });
            }
            let sources: Vec<Memory> = sources.into_iter().map(|n| bank[n].clone()).collect();
            let before = bank[target].clone();
            let after = merge_sources(&before, &sources.iter().collect::<Vec<_>>(), &lineage(&bank)).unwrap_or_else(|| before.clone());
            prop_assert!(before.derived_from.iter().all(|id| after.derived_from.contains(id)));
            prop_assert_eq!(after.trust, before.trust);
            bank[target] = after;
            let links: BTreeMap<MemoryId, Vec<MemoryId>> =
                bank.iter().map(|memory| (memory.id, memory.derived_from.clone())).collect();
            prop_assert!(cycle_edges(&links).is_empty());
            for memory in &bank {
                for source in memory.derived_from.iter().map(|id| bank.iter().find(|other| other.id == *id).unwrap()) {
                    prop_assert!(memory.evolution_stage > source.evolution_stage && memory.trust <= source.trust);
                }
            }
        }
    }
}
