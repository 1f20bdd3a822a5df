//! The rules for taking a run back. A thing that was changed since the run is left as it is, and so is what hangs
//! together with it: the patterns that were merged with the one that stands for them, and episodes with the one that
//! stands for them. A memory that took in others gives up what it took in, whatever else became of it, and each of the
//! others comes back by itself.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use uuid::Uuid;

use super::duplicates::split;
use super::history::{HistoryEntry, Undo};
use super::run::{Skipped, SkippedBecause};
use crate::episode::EpisodeState;
use crate::memory::Memory;
use crate::memory::ids::{MemoryId, TraceId};

/// The present state of the things that a run made or changed. A thing that is missing here is not stored.
#[derive(Debug, Default)]
pub struct StoredNow {
    pub memories: HashMap<MemoryId, Memory>,
    /// The episodes with the revisions of their traces.
    pub episodes: HashMap<TraceId, (u64, EpisodeState)>,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq)]
pub enum UndoStep {
    EraseMemory(MemoryId),
    /// A memory becomes what it was.
    RestoreMemory {
        current: Box<Memory>,
        before: Box<Memory>,
    },
    PurgeEpisode(TraceId),
    /// An episode is no longer archived: its next state.
    Unarchive(EpisodeState),
    /// It is done already.
    Nothing,
}

/// The steps that take a run back, and what is left as it is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UndoPlan {
    pub steps: Vec<UndoStep>,
    pub skipped: Vec<Skipped>,
}

/// Decides how the entries of a run are taken back.
pub fn undo_plan(entries: &[HistoryEntry], now: &StoredNow) -> UndoPlan {
    let mut by_object: BTreeMap<Uuid, Vec<&HistoryEntry>> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.as_run().is_none()) {
        by_object.entry(entry.object).or_default().push(entry);
    }
    let mut decided: BTreeMap<Uuid, Result<UndoStep, SkippedBecause>> = BTreeMap::new();
    for (object, entries) in &mut by_object {
        entries.sort_by_key(|entry| entry.after().map(|after| after.revision));
        decided.insert(*object, step(*object, entries, now));
    }
    for group in groups(&by_object) {
        let is_kept = |object: &Uuid| decided.get(object).is_some_and(Result::is_err);
        if group.iter().any(is_kept) {
            for object in group {
                if let Some(step @ Ok(_)) = decided.get_mut(&object) {
                    *step = Err(SkippedBecause::Changed);
                }
            }
        }
    }
    let mut plan = UndoPlan::default();
    for (id, step) in decided {
        match step {
            Ok(step) => plan.steps.push(step),
            Err(because) => plan.skipped.push(Skipped { id, because }),
        }
    }
    plan
}

/// Returns the things that are taken back together or not at all.
fn groups(by_object: &BTreeMap<Uuid, Vec<&HistoryEntry>>) -> Vec<BTreeSet<Uuid>> {
    let mut groups: BTreeMap<Uuid, BTreeSet<Uuid>> = BTreeMap::new();
    for entry in by_object.values().flatten() {
        let stands_for_it = match &entry.undo {
            Undo::RestoreMemory { after, .. } => {
                after.pattern.as_ref().and_then(|part| part.lifecycle.superseded_by).map(MemoryId::uuid)
            }
            Undo::UnarchiveEpisode { for_episode } => Some(for_episode.uuid()),
            Undo::Run(_) | Undo::EraseMemory { .. } | Undo::SplitMemory { .. } | Undo::PurgeEpisode => None,
        };
        if let Some(other) = stands_for_it.filter(|other| by_object.contains_key(other)) {
            groups.entry(other).or_default().extend([other, entry.object]);
        }
    }
    groups.into_values().collect()
}

/// Decides about one thing, of which a run may have several entries, in their order.
fn step(object: Uuid, entries: &[&HistoryEntry], now: &StoredNow) -> Result<UndoStep, SkippedBecause> {
    let Some((first, last)) = entries.first().zip(entries.last()) else { return Ok(UndoStep::Nothing) };
    match &first.undo {
        Undo::Run(_) => Ok(UndoStep::Nothing),
        Undo::EraseMemory { .. } | Undo::RestoreMemory { .. } => {
            let id = MemoryId::from(object);
            let current = now.memories.get(&id);
            match (current, first.before()) {
                // A try that was cut off may have erased it.
                (None, None) => Ok(UndoStep::Nothing),
                (None, Some(_)) => Err(SkippedBecause::Erased),
                (Some(current), Some(before)) if is_again(current, before) => Ok(UndoStep::Nothing),
                (Some(current), before) => {
                    let was_left = last.after().is_some_and(|after| current.says_the_same(after));
                    let is_unbroken = entries.windows(2).all(|pair| match (pair[0].after(), pair[1].before()) {
                        (Some(after), Some(before)) => after.says_the_same(before),
                        _ => false,
                    });
                    if !was_left || !is_unbroken {
                        return Err(SkippedBecause::Changed);
                    }
                    Ok(match before {
                        None => UndoStep::EraseMemory(id),
                        Some(before) => UndoStep::RestoreMemory {
                            current: Box::new(current.clone()),
                            before: Box::new(before.clone()),
                        },
                    })
                }
            }
        }
        Undo::SplitMemory { others, added } => match now.memories.get(&object.into()) {
            None => Err(SkippedBecause::Erased),
            Some(current) => Ok(match split(current, others, added) {
                before if before == *current => UndoStep::Nothing,
                before => UndoStep::RestoreMemory { current: Box::new(current.clone()), before: Box::new(before) },
            }),
        },
        Undo::PurgeEpisode => match now.episodes.get(&object.into()) {
            None => Ok(UndoStep::Nothing),
            Some((revision, state)) if *revision > 0 || !state.referenced_by.is_empty() => Err(SkippedBecause::Changed),
            Some(_) => Ok(UndoStep::PurgeEpisode(object.into())),
        },
        Undo::UnarchiveEpisode { for_episode } => match now.episodes.get(&object.into()) {
            None => Err(SkippedBecause::Erased),
            Some((_, state)) if state.archived_at.is_none() && !state.referenced_by.contains(for_episode) => {
                Ok(UndoStep::Nothing)
            }
            Some((_, state)) if state.archived_at != Some(first.at) => Err(SkippedBecause::Changed),
            Some((_, state)) => {
                state.unarchived_from(*for_episode).map(UndoStep::Unarchive).ok_or(SkippedBecause::Changed)
            }
        },
    }
}

/// Tells whether a memory is exactly what it was, but for what every write changes.
fn is_again(current: &Memory, before: &Memory) -> bool {
    let Memory { revision, updated_at, ref embedder, .. } = *before;
    Memory { revision, updated_at, embedder: embedder.clone(), ..current.clone() } == *before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consolidation::duplicates::{MergeCandidate, memory_merges};
    use crate::consolidation::{ConsolidationRun, RunTrigger};
    use crate::memory::samples::{id, now, strategy, trace};
    use crate::memory::trace::Trace;
    use crate::pattern::samples::tool_pattern;
    use crate::pattern::stages::deprecated;

    fn run() -> ConsolidationRun {
        ConsolidationRun::begun(Uuid::from_u128(9).into(), strategy(1).workspace_id, RunTrigger::Person, true, now())
    }

    fn pattern(n: u128) -> Memory {
        Memory { pattern: Some(Box::new(tool_pattern(&["rg"]))), ..strategy(n) }
    }

    fn titled(memory: &Memory, title: &str) -> Memory {
        Memory { title: title.to_owned(), ..memory.clone() }.revised(now())
    }

    fn changed(before: &Memory, after: &Memory) -> HistoryEntry {
        HistoryEntry::changed_memory(&run(), before, after, now())
    }

    fn plan(entries: &[HistoryEntry], memories: &[&Memory]) -> UndoPlan {
        let memories = memories.iter().map(|memory| (memory.id, (*memory).clone())).collect();
        undo_plan(entries, &StoredNow { memories, ..StoredNow::default() })
    }

    fn kept(memory: &Memory, because: SkippedBecause) -> Vec<Skipped> {
        vec![Skipped { id: memory.id.uuid(), because }]
    }

    #[test]
    fn two_changes_of_a_run_are_taken_back_at_once_unless_somebody_changed_it_between_or_after() {
        let a = pattern(1);
        let b = titled(&a, "B");
        let c = titled(&b, "C");
        let entries = [changed(&a, &b), changed(&b, &c)];
        let restored = UndoStep::RestoreMemory { current: Box::new(c.clone()), before: Box::new(a.clone()) };
        assert_eq!(plan(&entries, &[&c]).steps, [restored]);
        assert_eq!(plan(&entries, &[&titled(&c, "D")]).skipped, kept(&a, SkippedBecause::Changed));
        assert_eq!(plan(&entries, &[]).skipped, kept(&a, SkippedBecause::Erased));
        assert_eq!(plan(&entries, &[&a.clone().revised(now())]).steps, [UndoStep::Nothing], "it was taken back");
        let by_a_person = titled(&b, "By a person");
        let between = [changed(&a, &b), changed(&by_a_person, &titled(&by_a_person, "C"))];
        assert_eq!(plan(&between, &[&titled(&by_a_person, "C")]).skipped, kept(&a, SkippedBecause::Changed));
    }

    #[test]
    fn what_a_run_made_is_erased_though_its_applications_were_added_up_since() {
        let made = pattern(1);
        let entries = [HistoryEntry::made_memory(&run(), &made, now())];
        let mut counted = made.clone().revised(now());
        if let Some(part) = &mut counted.pattern {
            part.statistics.num_applications = 3;
            part.lifecycle.tested_at = 5;
        }
        assert_eq!(plan(&entries, &[&counted]).steps, [UndoStep::EraseMemory(made.id)]);
        assert_eq!(plan(&entries, &[&titled(&made, "Mine")]).skipped, kept(&made, SkippedBecause::Changed));
        assert_eq!(plan(&entries, &[]).steps, [UndoStep::Nothing]);
    }

    #[test]
    fn a_merge_is_taken_back_as_a_whole_or_not_at_all() {
        let (one, a, b) = (pattern(3), pattern(1), pattern(2));
        let out_of_use = |memory: &Memory| {
            let part = memory.pattern.as_deref().map(|part| Box::new(deprecated(part, "merged", Some(one.id))));
            Memory { pattern: part, ..memory.clone() }.revised(now())
        };
        let (a_after, b_after) = (out_of_use(&a), out_of_use(&b));
        let made = HistoryEntry::made_memory(&run(), &one, now());
        let entries = [made, changed(&a, &a_after), changed(&b, &b_after)];
        assert_eq!(plan(&entries, &[&one, &a_after, &b_after]).steps.len(), 3);
        let edited = titled(&one, "Mine");
        assert_eq!(plan(&entries, &[&edited, &a_after, &b_after]).skipped.len(), 3);
        assert_eq!(plan(&entries, &[&one, &titled(&a_after, "Mine"), &b_after]).skipped.len(), 3);
    }

    #[test]
    fn memories_that_said_the_same_come_back_whatever_became_of_the_one_that_took_them_in() {
        let stays = Memory { embedder: Some("hash".into()), task: "one task".into(), ..strategy(1) };
        let other = Memory { id: id(2), task: "quite another one".into(), ..stays.clone() };
        let candidates = [&stays, &other].map(|memory| MergeCandidate {
            memory: memory.clone(),
            confidence: 0.5,
            vector: vec![1.0],
        });
        let merge = memory_merges(candidates.to_vec()).remove(0);
        let (after, superseded) = (merge.after.clone().revised(now()), merge.others[0].1.clone().revised(now()));
        let entries = [HistoryEntry::merged_memory(&run(), &merge, now()), changed(&other, &superseded)];
        let restored = |current: &Memory, before: &Memory| UndoStep::RestoreMemory {
            current: Box::new(current.clone()),
            before: Box::new(Memory { revision: current.revision, updated_at: current.updated_at, ..before.clone() }),
        };
        let is_back =
            UndoStep::RestoreMemory { current: Box::new(superseded.clone()), before: Box::new(other.clone()) };
        let taken_back =
            |plan: UndoPlan, of_stays: UndoStep| plan.steps.contains(&of_stays) && plan.steps.contains(&is_back);
        assert!(taken_back(plan(&entries, &[&after, &superseded]), restored(&after, &stays)));
        let (edited, was_edited) = (titled(&after, "Mine"), titled(&stays, "Mine"));
        assert!(taken_back(plan(&entries, &[&edited, &superseded]), restored(&edited, &was_edited)));
        let erased = plan(&entries, &[&superseded]);
        assert_eq!((erased.skipped, erased.steps), (kept(&stays, SkippedBecause::Erased), vec![is_back]));
        let twice = plan(&entries, &[&stays, &other]).steps;
        assert_eq!(twice, [UndoStep::Nothing, UndoStep::Nothing], "it was taken back");
        let reinstated = superseded.reinstated(None).unwrap();
        let plan = plan(&entries, &[&after, &reinstated]);
        assert_eq!((plan.steps, plan.skipped), (vec![restored(&after, &stays)], kept(&other, SkippedBecause::Changed)));
    }

    #[test]
    fn episodes_come_back_with_the_purge_of_the_one_that_stands_for_them() {
        let of = |n: u128| EpisodeState::of(&Trace::reported(trace(n), strategy(1).workspace_id, "s", None, now()));
        let (one, original) = (trace(9), of(1));
        let archived = original.archived_for(one, now()).unwrap();
        let entries = [
            HistoryEntry::made_episode(&run(), one, now()),
            HistoryEntry::archived_episode(&run(), trace(1), one, now()),
        ];
        let plan = |revision: u64, state: EpisodeState| {
            let episodes = [(one, (revision, of(9))), (trace(1), (0, state))].into();
            undo_plan(&entries, &StoredNow { episodes, ..StoredNow::default() })
        };
        let taken_back = plan(0, archived.clone());
        assert!(taken_back.steps.contains(&UndoStep::PurgeEpisode(one)) && taken_back.skipped.is_empty());
        assert_eq!(plan(1, archived.clone()).skipped.len(), 2, "its verdict was changed since");
        let later = crate::memory::samples::days_ago(-1.0);
        let by_hand = archived.unarchived_from(one).unwrap().archived(later).unwrap().unwrap();
        assert_eq!(plan(0, by_hand).skipped.len(), 2, "somebody archived it by hand");
        assert_eq!(id(1), strategy(1).id);
    }
}
