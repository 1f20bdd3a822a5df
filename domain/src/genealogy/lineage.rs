//! Who came from whom, as ids alone: what a tree is found by before its memories are read.

use std::collections::HashMap;

use crate::ids::MemoryId;

/// Towards what a memory came from, or towards what came from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Up,
    Down,
}

/// The relations of a bank, of all its workspaces together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lineage {
    sources: HashMap<MemoryId, Vec<MemoryId>>,
    derived: HashMap<MemoryId, Vec<MemoryId>>,
}

impl Lineage {
    /// `sources` are the parent and all other sources of the memory, each once.
    pub fn add(&mut self, id: MemoryId, sources: Vec<MemoryId>) {
        sources.iter().for_each(|source| self.derived.entry(*source).or_default().push(id));
        self.sources.insert(id, sources);
    }

    /// One step from a memory, whether those it leads to are known or not.
    pub fn next(&self, id: MemoryId, way: Way) -> &[MemoryId] {
        let links = match way {
            Way::Up => &self.sources,
            Way::Down => &self.derived,
        };
        links.get(&id).map(Vec::as_slice).unwrap_or_default()
    }
}
