//! Lineage: who came from whom, as ids alone. A tree is found by them before its memories are read.

use std::collections::{HashMap, HashSet};

use crate::memory::ids::MemoryId;

/// The way to go from a memory: up to what it came from, down to what came from it, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Up,
    Down,
    Both,
}

/// The relations between the memories of a bank, across all its workspaces.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lineage {
    sources: HashMap<MemoryId, Vec<MemoryId>>,
    derived: HashMap<MemoryId, Vec<MemoryId>>,
}

impl Lineage {
    /// Adds a memory. `sources` are its parent and all its other sources. Where a memory is added again, the sources
    /// given last count.
    pub fn add(&mut self, id: MemoryId, sources: Vec<MemoryId>) {
        sources.iter().for_each(|source| self.derived.entry(*source).or_default().push(id));
        self.sources.insert(id, sources);
    }

    /// Returns the memories that are one step away, whether they are known or not.
    pub fn next(&self, id: MemoryId, way: Direction) -> impl Iterator<Item = MemoryId> {
        let up = (way != Direction::Down).then(|| self.sources.get(&id)).flatten();
        let down = (way != Direction::Up).then(|| self.derived.get(&id)).flatten();
        up.into_iter().chain(down).flatten().copied()
    }

    /// Returns all memories that came from a memory, nearest first. Equally near ones are in the order of their ids.
    /// The memories need not be known.
    pub fn descendants(&self, id: MemoryId) -> Vec<MemoryId> {
        super::walk(id, |id| self.next(id, Direction::Down).collect())
    }

    /// Tells whether `ancestor` is among the ancestors of a memory. A memory is an ancestor of itself only over a
    /// cycle.
    pub fn comes_from(&self, id: MemoryId, ancestor: MemoryId) -> bool {
        let mut waiting: Vec<MemoryId> = self.next(id, Direction::Up).collect();
        let mut met = HashSet::new();
        while let Some(id) = waiting.pop() {
            if id == ancestor {
                return true;
            }
            if met.insert(id) {
                waiting.extend(self.next(id, Direction::Up));
            }
        }
        false
    }
}
