//! Whether memories that are to be stored would come from themselves.

use std::collections::BTreeMap;

use crate::ids::MemoryId;

/// A memory that comes from itself over the others, or none. `sources` are those of each memory, known or not; time
/// grows with their number.
pub fn circle(sources: &BTreeMap<MemoryId, Vec<MemoryId>>) -> Option<MemoryId> {
    // of those that were met, whether all of their sources were looked at
    let mut is_left: BTreeMap<MemoryId, bool> = BTreeMap::new();
    for start in sources.keys() {
        let mut way = vec![Step::Enter(*start)];
        while let Some(step) = way.pop() {
            match step {
                Step::Leave(id) => drop(is_left.insert(id, true)),
                Step::Enter(id) => match is_left.get(&id) {
                    Some(true) => {}
                    Some(false) => return Some(id),
                    None => {
                        is_left.insert(id, false);
                        way.push(Step::Leave(id));
                        way.extend(sources.get(&id).into_iter().flatten().map(|source| Step::Enter(*source)));
                    }
                },
            }
        }
    }
    None
}

enum Step {
    Enter(MemoryId),
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
    fn a_circle_is_found_however_long_it_is() {
        for edges in [&[(1, 1)][..], &[(1, 2), (2, 1)], &[(9, 3), (3, 2), (2, 1), (1, 3)]] {
            assert!(circle(&graph(edges)).is_some(), "{edges:?}");
        }
    }

    #[test]
    fn to_come_from_the_same_memory_over_two_ways_is_no_circle() {
        assert_eq!(circle(&graph(&[(4, 2), (4, 3), (2, 1), (3, 1), (4, 1), (4, 5)])), None);
        assert_eq!(circle(&BTreeMap::new()), None);
        let long: Vec<(u8, u8)> = (1..=255).map(|n| (n, n - 1)).collect();
        assert_eq!(circle(&graph(&long)), None);
    }

    proptest! {
        #[test]
        fn memories_that_come_from_older_ones_are_no_circle(edges in proptest::collection::vec((0u8..40, 0u8..40), 0..80)) {
            let older: Vec<(u8, u8)> = edges.into_iter().filter(|(to, from)| from < to).collect();
            prop_assert_eq!(circle(&graph(&older)), None);
            if let Some((to, from)) = older.first() {
                let closed = [&older[..], &[(*from, *to)]].concat();
                prop_assert!(circle(&graph(&closed)).is_some());
            }
        }
    }
}
