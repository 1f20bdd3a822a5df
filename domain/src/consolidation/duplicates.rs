//! Memories that say the same: which they are, and the one that stays in search with what the others are found by.
//! `learning::lesson` decides what the same is.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::learning::lesson::{cosine, is_repeat};
use crate::memory::ids::MemoryId;
use crate::memory::label::label_key;
use crate::memory::{Memory, Scope, Status, hash_of_parts};

/// A memory of a project that may be merged, with what is compared of it.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeCandidate {
    pub memory: Memory,
    /// The confidence of the memory, in 0..1.
    pub confidence: f64,
    /// The vector of its content, of length 1.
    pub vector: Vec<f32>,
}

/// A memory that takes in others that say the same.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryMerge {
    pub before: Memory,
    /// The memory with the wordings and the tasks of the others. It names them among those that it replaces.
    pub after: Memory,
    /// The others as they were and as they become, which is out of search.
    pub others: Vec<(Memory, Memory)>,
}

/// Tells whether a memory may be merged with others. Patterns are compared by other rules, what a team or an
/// organisation reads is theirs, and a memory with an open link waits until somebody decides about it.
pub fn is_mergeable(memory: &Memory) -> bool {
    memory.status == Status::Active
        && memory.scope == Scope::Project
        && memory.pattern.is_none()
        && memory.succession.outdated_by.is_none()
}

/// Finds the merges among memories of one workspace. A memory is in one merge at most. The one that is trusted most
/// stays, then one that is pinned, then the one of the highest confidence, then the oldest. Memories whose words or
/// tasks it has no room for stay beside it.
pub fn memory_merges(mut candidates: Vec<MergeCandidate>) -> Vec<MemoryMerge> {
    candidates.retain(|one| is_mergeable(&one.memory));
    candidates.sort_by(|a, b| {
        let rank = |one: &MergeCandidate| Reverse((one.memory.trust, one.memory.pinned));
        let age = |one: &MergeCandidate| (one.memory.created_at, one.memory.id);
        rank(a).cmp(&rank(b)).then(b.confidence.total_cmp(&a.confidence)).then_with(|| age(a).cmp(&age(b)))
    });
    let mut merged: BTreeSet<MemoryId> = BTreeSet::new();
    let mut merges = Vec::new();
    for (place, first) in candidates.iter().enumerate() {
        if merged.contains(&first.memory.id) {
            continue;
        }
        let mut merge = MemoryMerge { before: first.memory.clone(), after: first.memory.clone(), others: Vec::new() };
        for other in &candidates[place + 1..] {
            if merged.contains(&other.memory.id) || !says_no_more(other, first) {
                continue;
            }
            let Some(superseded) = other.memory.superseded(first.memory.id) else { continue };
            let Some(after) = taking_in(&merge.after, &other.memory) else { continue };
            merged.insert(other.memory.id);
            merge.after = after;
            merge.others.push((other.memory.clone(), superseded));
        }
        if !merge.others.is_empty() {
            merged.insert(first.memory.id);
            merges.push(merge);
        }
    }
    merges
}

/// Tells whether a memory says the same as the one that stays, and no search by labels loses it.
fn says_no_more(other: &MergeCandidate, first: &MergeCandidate) -> bool {
    let (memory, stays) = (&other.memory, &first.memory);
    let key = |label: &Option<String>| label.as_deref().map(label_key);
    memory.succession.replaces.is_empty()
        && (stays.pinned || !memory.pinned)
        && stays.embedder.is_some()
        && stays.embedder == memory.embedder
        && stays.workspace_id == memory.workspace_id
        && key(&stays.domain_category) == key(&memory.domain_category)
        && key(&stays.difficulty_level) == key(&memory.difficulty_level)
        && memory.pattern_tags.iter().all(|tag| stays.pattern_tags.contains(tag))
        && !memory.succession.stands_beside.contains(&stays.id)
        && !stays.succession.stands_beside.contains(&memory.id)
        && is_repeat(memory, stays, cosine(&first.vector, &other.vector))
}

/// Returns the memory with all that another one is found by, which it then replaces. None where there is no room.
fn taking_in(memory: &Memory, other: &Memory) -> Option<Memory> {
    let has_room = memory.has_room_for(other.id);
    let after = memory.confirmed_by(other).filter(|_| has_room)?.replacing(other.id);
    after.further_tasks.starts_with(&memory.further_tasks).then_some(after)
}

impl MemoryMerge {
    /// Returns the keys of the texts that the memory took in.
    pub fn added(&self) -> Vec<String> {
        let new = |before: &[String], after: &[String]| -> Vec<String> {
            after.iter().filter(|text| !before.contains(text)).map(|text| text_key(text)).collect()
        };
        let (before, after) = (&self.before, &self.after);
        [new(&before.wordings, &after.wordings), new(&before.further_tasks, &after.further_tasks)].concat()
    }
}

/// Returns the memory without the texts that it took in, which these are the keys of, and without the memories that it
/// took them of. What it took in since then stays.
pub fn split(memory: &Memory, others: &[MemoryId], added: &[String]) -> Memory {
    let mut split = memory.clone();
    let is_own = |text: &String| !added.contains(&text_key(text));
    split.wordings.retain(is_own);
    split.further_tasks.retain(is_own);
    split.succession.replaces.retain(|id| !others.contains(id));
    split
}

/// Returns a key of a text, which says nothing of it: the history must not keep words of what is erased later.
fn text_key(text: &str) -> String {
    hash_of_parts(&[text])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::samples::{days_ago, id, strategy};
    use crate::memory::{Trust, left_behind};

    fn saying(n: u128, content: &str, task: &str) -> Memory {
        let embedder = Some("hash".to_owned());
        Memory {
            title: "Calls".into(),
            content: content.into(),
            task: task.into(),
            embedder,
            created_at: days_ago(90.0 - n as f64),
            ..strategy(n)
        }
    }

    fn alike(memory: Memory) -> MergeCandidate {
        MergeCandidate { memory, confidence: 0.5, vector: vec![1.0, 0.0] }
    }

    fn merges(memories: &[&Memory]) -> Vec<MemoryMerge> {
        memory_merges(memories.iter().map(|memory| alike((*memory).clone())).collect())
    }

    #[test]
    fn one_of_those_that_say_the_same_stays_and_takes_in_the_tasks_of_the_others() {
        let first = saying(1, "Retry the call when it times out.", "Make the client of the billing service robust");
        let other = saying(2, "When it times out, retry the call", "Nightly report fails with a timeout");
        let update = saying(3, "Retry the call when it is refused.", "Something else entirely");
        let found = merges(&[&update, &other, &first]);
        let [merge] = &found[..] else { panic!("{found:?}") };
        assert_eq!((merge.before.id, merge.others.len()), (first.id, 1), "the oldest stays");
        assert_eq!(merge.after.further_tasks, std::slice::from_ref(&other.task));
        assert_eq!(merge.after.wordings, [other.content_text()]);
        assert_eq!(merge.others[0].1.superseded_by(), Some(first.id));
        assert_eq!(split(&merge.after, &[other.id], &merge.added()), first, "it can be taken back");
        let mut grown = merge.after.clone();
        grown.add_task("A task of a later lesson".into());
        assert_eq!(split(&grown, &[other.id], &merge.added()).further_tasks, ["A task of a later lesson"]);
        assert!(!format!("{:?}", merge.added()).contains("Nightly"), "the keys say nothing");
    }

    #[test]
    fn the_most_trusted_stays_then_the_pinned_then_the_most_confident() {
        let of = |n| saying(n, "Retry the call.", "");
        let stays = |candidates: Vec<MergeCandidate>| memory_merges(candidates)[0].before.id;
        let trusted = Memory { trust: Trust::User, ..of(3) };
        let pinned = Memory { pinned: true, ..of(2) };
        assert_eq!(stays(vec![alike(of(1)), alike(trusted), alike(of(2))]), id(3));
        assert_eq!(stays(vec![alike(of(1)), alike(pinned)]), id(2));
        assert_eq!(stays(vec![alike(of(1)), MergeCandidate { confidence: 0.6, ..alike(of(2)) }]), id(2));
    }

    #[test]
    fn what_would_be_lost_or_was_decided_is_not_merged() {
        let first = saying(1, "Retry the call.", "");
        let same = saying(2, "Retry the call", "");
        assert_eq!(merges(&[&first, &same]).len(), 1);
        let apart: Vec<Memory> = vec![
            Memory { domain_category: Some("web".into()), ..same.clone() },
            Memory { pattern_tags: vec!["further".into()], ..same.clone() },
            Memory { status: Status::Quarantined, ..same.clone() },
            Memory { scope: Scope::Team, team: Some("t".into()), ..same.clone() },
            Memory { embedder: None, ..same.clone() },
            same.clone().replacing(id(9)),
            same.linked(id(9), 0.9).unwrap(),
            same.superseded(first.id).unwrap().reinstated(None).unwrap(),
        ];
        for other in apart {
            assert_eq!(merges(&[&first, &other]), [], "{other:?}");
        }
        let far = MergeCandidate { vector: vec![0.9, 0.4], ..alike(same.clone()) };
        assert_eq!(memory_merges(vec![alike(first.clone()), far]), []);
        let pinned = Memory { pinned: true, ..same.clone() };
        let trusted = Memory { trust: Trust::User, ..first.clone() };
        assert_eq!(merges(&[&trusted, &pinned]), [], "what a person pinned stays in search");
        let full = (0..).map(|n| format!("task{n} number{n}")).take(crate::memory::FURTHER_TASKS_MAX).collect();
        let full = Memory { task: "own".into(), further_tasks: full, pinned: true, ..first };
        assert_eq!(merges(&[&full, &Memory { task: "quite another one".into(), ..same }]), [], "no task is displaced");
    }

    #[test]
    fn what_was_taken_in_goes_with_the_memory_that_it_came_from() {
        let first = saying(1, "Retry the call.", "One task");
        let other = saying(2, "Retry the call", "The secret plan of Ann");
        let merge = merges(&[&first, &other]).remove(0);
        let erased = &merge.others[0].1;
        assert_eq!(left_behind(erased, None, std::slice::from_ref(&merge.after)), std::slice::from_ref(&first));
        let back = left_behind(&merge.after, None, std::slice::from_ref(erased));
        assert_eq!(back, [other], "without the one that stood for it, it is back in search");
    }

    proptest! {
        #[test]
        fn merging_and_splitting_again_changes_nothing(
            said in prop::collection::vec(("(the )?[ab] (the )?[ab]\\.?", "[c-f]{3} [c-f]{3} [c-f]{3}", any::<bool>()), 2..14),
        ) {
            let memories: Vec<Memory> = said
                .iter()
                .enumerate()
                .map(|(n, (content, task, pinned))| Memory { pinned: *pinned, ..saying(n as u128 + 1, content, task) })
                .collect();
            let found = merges(&memories.iter().collect::<Vec<_>>());
            let mut seen = BTreeSet::new();
            for merge in &found {
                let others: Vec<MemoryId> = merge.others.iter().map(|(before, _)| before.id).collect();
                prop_assert_eq!(&split(&merge.after, &others, &merge.added()), &merge.before);
                prop_assert!(merge.after.validate().is_ok());
                for id in others.into_iter().chain([merge.before.id]) {
                    prop_assert!(seen.insert(id), "each is in one merge");
                }
                for (before, _) in &merge.others {
                    for task in before.search_texts().tasks {
                        let mut again = merge.after.clone();
                        again.add_task(task);
                        prop_assert_eq!(&again, &merge.after, "it is found by that task");
                    }
                }
            }
        }
    }
}
