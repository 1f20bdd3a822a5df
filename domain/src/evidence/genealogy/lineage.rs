//! Who came from whom, as ids alone: what a tree is found by before its memories are read.

use std::collections::{HashMap, HashSet};

use crate::memory::ids::MemoryId;

/// Towards what a memory came from, towards what came from it, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Up,
    Down,
    Both,
}

/// The relations of a bank, of all its workspaces together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lineage {
    sources: HashMap<MemoryId, Vec<MemoryId>>,
    derived: HashMap<MemoryId, Vec<MemoryId>>,
}

impl Lineage {
    /// `sources` are the parent and all other sources of the memory. Of a memory that is added again the sources are
    /// those given last.
    pub fn add(&mut self, id: MemoryId, sources: Vec<MemoryId>) {
        sources.iter().for_each(|source| self.derived.entry(*source).or_default().push(id));
        self.sources.insert(id, sources);
    }

    /// One step from a memory, whether those it leads to are known or not.
    pub fn next(&self, id: MemoryId, way: Direction) -> impl Iterator<Item = MemoryId> {
        let up = (way != Direction::Down).then(|| self.sources.get(&id)).flatten();
        let down = (way != Direction::Up).then(|| self.derived.get(&id)).flatten();
        up.into_iter().chain(down).flatten().copied()
    }

    /// All that came from a memory, nearest first, equally near ones by id; whether they are known or not.
    pub fn descendants(&self, id: MemoryId) -> Vec<MemoryId> {
        super::walk(id, |id| self.next(id, Direction::Down).collect())
    }

    /// Whether the one is among the ancestors of the other, over however many steps, but at least one.
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
