//! Cycles: whether memories that are to be stored would come from themselves, and by which relations.

use std::collections::{BTreeMap, BTreeSet};

use crate::memory::ids::MemoryId;

/// Returns the relations, each a memory and one of its sources, without which no memory comes from itself. Empty where
/// there is no cycle. `sources` holds the sources of each memory, known or not. The time grows with the number of
/// relations.
pub fn cycle_edges(sources: &BTreeMap<MemoryId, Vec<MemoryId>>) -> BTreeSet<(MemoryId, MemoryId)> {
    let mut closing = BTreeSet::new();
    // for each memory that was visited, whether all of its sources were looked at
    let mut is_left: BTreeMap<MemoryId, bool> = BTreeMap::new();
    for start in sources.keys() {
        let mut way = vec![DfsStep::Enter { id: *start, of: None }];
        while let Some(step) = way.pop() {
            match step {
                DfsStep::Leave(id) => drop(is_left.insert(id, true)),
                DfsStep::Enter { id, of } => match is_left.get(&id) {
                    Some(true) => {}
                    // it is on the path to itself
                    Some(false) => closing.extend(of.map(|of| (of, id))),
                    None => {
                        is_left.insert(id, false);
                        way.push(DfsStep::Leave(id));
                        let own = sources.get(&id).into_iter().flatten();
                        way.extend(own.map(|source| DfsStep::Enter { id: *source, of: Some(id) }));
                    }
                },
            }
        }
    }
    closing
}

enum DfsStep {
    /// `of` is the memory whose source it is.
    Enter {
        id: MemoryId,
        of: Option<MemoryId>,
    },
    Leave(MemoryId),
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(n: u8) -> MemoryId {
        uuid::Uuid::from_u128(n.into()).into()
    }

    fn graph(edges: &[(u8, u8)]) -> BTreeMap<MemoryId, Vec<MemoryId>> {
        let mut sources: BTreeMap<MemoryId, Vec<MemoryId>> = BTreeMap::new();
        edges.iter().for_each(|(to, from)| sources.entry(id(*to)).or_default().push(id(*from)));
        sources
    }

    #[test]
    fn a_cycle_is_found_however_long_it_is() {
        for edges in [&[(1, 1)][..], &[(1, 2), (2, 1)], &[(9, 3), (3, 2), (2, 1), (1, 3)]] {
            assert_eq!(cycle_edges(&graph(edges)).len(), 1, "{edges:?}");
        }
    }

    #[test]
    fn to_come_from_the_same_memory_over_two_ways_is_no_cycle() {
        assert!(cycle_edges(&graph(&[(4, 2), (4, 3), (2, 1), (3, 1), (4, 1), (4, 5)])).is_empty());
        assert!(cycle_edges(&BTreeMap::new()).is_empty());
        let long: Vec<(u8, u8)> = (1..=255).map(|n| (n, n - 1)).collect();
        assert!(cycle_edges(&graph(&long)).is_empty());
    }

    proptest! {
        #[test]
        fn memories_that_come_from_older_ones_are_no_cycle(edges in proptest::collection::vec((0u8..40, 0u8..40), 0..80)) {
            let older: Vec<(u8, u8)> = edges.into_iter().filter(|(to, from)| from < to).collect();
            prop_assert!(cycle_edges(&graph(&older)).is_empty());
            if let Some((to, from)) = older.first() {
                let closed = [&older[..], &[(*from, *to)]].concat();
                prop_assert!(!cycle_edges(&graph(&closed)).is_empty());
            }
        }

        #[test]
        fn without_what_closes_them_there_are_no_cycles(edges in proptest::collection::vec((0u8..20, 0u8..20), 0..80)) {
            let mut sources = graph(&edges);
            let closing = cycle_edges(&sources);
            prop_assert!(closing.iter().all(|(of, source)| sources[of].contains(source)));
            for (id, of) in &mut sources {
                of.retain(|source| !closing.contains(&(*id, *source)));
            }
            prop_assert!(cycle_edges(&sources).is_empty());
        }
    }
}
