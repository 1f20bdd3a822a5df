//! Finding the patterns for a task: a filter by applicability, then a score.

mod applies;
mod score;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

pub use self::applies::{KeptOut, Match, PreparedPattern};
pub use self::score::{PatternScore, pattern_score};
use super::features::TaskFeatures;
use crate::memory::Memory;
use crate::memory::ids::MemoryId;
use crate::memory::label::label_key;
use crate::memory::pattern::{PatternCategory, PatternPart, PatternStage};

/// The most patterns that are suggested, where nobody says how many.
pub const SUGGESTED: usize = 5;

/// A question for the patterns that apply to a task.
#[derive(Debug, Clone, PartialEq)]
pub struct PatternQuestion {
    pub features: TaskFeatures,
    /// Empty: those that are validated.
    pub stages: Vec<PatternStage>,
    /// Empty: all.
    pub categories: Vec<PatternCategory>,
    pub limit: usize,
}

impl Default for PatternQuestion {
    fn default() -> Self {
        Self { features: TaskFeatures::default(), stages: Vec::new(), categories: Vec::new(), limit: SUGGESTED }
    }
}

/// A pattern that applies.
#[derive(Debug, Clone, PartialEq)]
pub struct PatternHit {
    pub id: MemoryId,
    pub stage: PatternStage,
    pub score: PatternScore,
    /// The patterns that it contradicts and that are left out for it.
    pub preferred_over: Vec<MemoryId>,
}

/// A pattern that is suggested for a task, as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct SuggestedPattern {
    pub memory: Memory,
    pub part: PatternPart,
    pub score: PatternScore,
    /// The patterns that it contradicts and that are left out for it.
    pub preferred_over: Vec<MemoryId>,
}

/// A pattern that is not suggested, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptOutPattern {
    pub id: MemoryId,
    pub why: KeptOut,
}

/// The patterns of one reader, with lists by domain and by type of task, so that a question looks at few of them.
#[derive(Debug, Default)]
pub struct PatternIndex {
    patterns: Vec<PreparedPattern>,
    memories: BTreeMap<MemoryId, Arc<Memory>>,
    by_domain: FeatureLists,
    by_type: FeatureLists,
}

/// The places of patterns by the value of a feature, and of those that take any.
#[derive(Debug, Default)]
struct FeatureLists {
    of: BTreeMap<String, Vec<usize>>,
    any: Vec<usize>,
}

impl FeatureLists {
    fn add(&mut self, values: &[String], place: usize) {
        if values.is_empty() {
            self.any.push(place);
        }
        let distinct: BTreeSet<String> = values.iter().map(|value| label_key(value)).collect();
        distinct.into_iter().for_each(|value| self.of.entry(value).or_default().push(place));
    }

    /// Returns the places that a value leaves. None where nothing is known.
    fn places(&self, value: Option<&str>) -> Option<[&[usize]; 2]> {
        let named = self.of.get(&label_key(value?)).map_or(&[][..], Vec::as_slice);
        Some([named, &self.any])
    }
}

impl PatternIndex {
    /// Makes the index of these patterns. A memory that is none is left out.
    pub fn of(memories: impl IntoIterator<Item = Arc<Memory>>) -> Self {
        let memories = memories.into_iter().filter(|memory| memory.pattern.is_some());
        let memories: BTreeMap<MemoryId, Arc<Memory>> = memories.map(|memory| (memory.id, memory)).collect();
        let parts = memories.iter().filter_map(|(id, memory)| Some((*id, memory.pattern.as_deref()?)));
        let index = Self::new(parts);
        Self { memories, ..index }
    }

    fn new<'a>(patterns: impl IntoIterator<Item = (MemoryId, &'a PatternPart)>) -> Self {
        let mut index = Self::default();
        for (id, part) in patterns {
            let place = index.patterns.len();
            index.by_domain.add(&part.applicability.domains, place);
            index.by_type.add(&part.applicability.problem_types, place);
            index.patterns.push(PreparedPattern::new(id, part));
        }
        index
    }

    pub fn len(&self) -> usize {
        self.patterns.len()
    }

    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Lists the patterns, in the order of their ids.
    pub fn memories(&self) -> impl Iterator<Item = (&Memory, &PatternPart)> {
        self.memories.values().filter_map(|memory| Some((&**memory, memory.pattern.as_deref()?)))
    }

    /// Returns the memory of a pattern.
    pub fn memory(&self, id: MemoryId) -> Option<&Memory> {
        self.memories.get(&id).map(|memory| &**memory)
    }

    /// Returns the patterns of hits as they are stored, in their order.
    pub fn suggested(&self, hits: Vec<PatternHit>) -> Vec<SuggestedPattern> {
        let stored = |PatternHit { id, score, preferred_over, .. }| {
            let memory = self.memory(id)?.clone();
            let part = memory.pattern.as_deref()?.clone();
            Some(SuggestedPattern { memory, part, score, preferred_over })
        };
        hits.into_iter().filter_map(stored).collect()
    }

    /// Finds the patterns that apply, the best first.
    pub fn find(&self, question: &PatternQuestion, now: Timestamp) -> Vec<PatternHit> {
        let features = &question.features;
        let lists =
            [self.by_domain.places(features.domain.as_deref()), self.by_type.places(features.task_type.as_deref())];
        let smallest = lists.into_iter().flatten().min_by_key(|[named, any]| named.len() + any.len());
        let hits = match smallest {
            Some([named, any]) => self.hits(named.iter().chain(any).copied(), question, now, &mut |_| {}),
            None => self.hits(0..self.patterns.len(), question, now, &mut |_| {}),
        };
        ranked(hits, question.limit, &mut |_| {})
    }

    /// Finds the patterns that apply, and tells of each other one what keeps it out.
    pub fn explain(&self, question: &PatternQuestion, now: Timestamp) -> (Vec<PatternHit>, Vec<KeptOutPattern>) {
        let mut left = Vec::new();
        let hits = self.hits(0..self.patterns.len(), question, now, &mut |out| left.push(out));
        let hits = ranked(hits, question.limit, &mut |out| left.push(out));
        (hits, left)
    }

    fn hits(
        &self,
        places: impl Iterator<Item = usize>,
        question: &PatternQuestion,
        now: Timestamp,
        left: &mut dyn FnMut(KeptOutPattern),
    ) -> Vec<(PatternHit, &PreparedPattern)> {
        let mut hits = Vec::new();
        for prepared in places.map(|place| &self.patterns[place]) {
            match prepared.answers(question) {
                Err(why) => left(KeptOutPattern { id: prepared.id, why }),
                Ok(found) => {
                    let score = pattern_score(&prepared.part, found, now);
                    let (id, stage) = (prepared.id, prepared.part.stage);
                    hits.push((PatternHit { id, stage, score, preferred_over: Vec::new() }, prepared));
                }
            }
        }
        hits
    }
}

/// Orders hits and leaves out what a better one contradicts, then what is beyond the limit.
fn ranked(
    mut hits: Vec<(PatternHit, &PreparedPattern)>,
    limit: usize,
    left: &mut dyn FnMut(KeptOutPattern),
) -> Vec<PatternHit> {
    hits.sort_by(|(a, _), (b, _)| b.score.total.total_cmp(&a.score.total).then(a.id.cmp(&b.id)));
    let mut kept: Vec<(PatternHit, &PreparedPattern)> = Vec::new();
    for (hit, prepared) in hits {
        let contradicted = kept.iter_mut().find(|(_, better)| better.contradicts(prepared));
        if let Some((better, _)) = contradicted {
            better.preferred_over.push(hit.id);
            left(KeptOutPattern { id: hit.id, why: KeptOut::Contradicts(better.id) });
        } else if kept.len() == limit {
            left(KeptOutPattern { id: hit.id, why: KeptOut::Rank });
        } else {
            kept.push((hit, prepared));
        }
    }
    kept.into_iter().map(|(hit, _)| hit).collect()
}

#[cfg(test)]
mod tests;
