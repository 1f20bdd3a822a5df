//! Loading the tree around a memory, level by level, as far as the workspace may read it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::Duration;

use jiff::Timestamp;
use reasoning_bank_domain::genealogy::{Genealogy, MAX_NODES, Member};
use reasoning_bank_domain::ids::MemoryId;
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::workspace::Workspace;

use super::{MemoriesHandle, Reach, WorkspaceRef, visible};
use crate::error::Error;
use crate::ports::{Filter, MemoryRow, Visible};
use crate::runtime::Deadline;

/// Ids in one question to the store.
const AT_ONCE: usize = 200;
/// Of the caller's time, to answer with what was loaded until then.
const RESERVE: Duration = Duration::from_secs(5);

#[derive(Clone, Copy)]
enum Way {
    Up,
    Down,
}

/// What came from a memory: itself first, then nearest first.
pub(super) struct Descendants {
    pub(super) ids: Vec<MemoryId>,
    pub(super) truncated: bool,
}

struct Family {
    members: BTreeMap<MemoryId, Member>,
    truncated: bool,
    visible: Visible,
    now: Timestamp,
}

impl Family {
    fn lacks(&self, memory: &Memory) -> bool {
        self.visible.contains(memory) && !self.members.contains_key(&memory.id)
    }

    /// Those that were not there yet, as far as there is room.
    fn add(&mut self, rows: Vec<MemoryRow>) -> Vec<MemoryId> {
        let mut added = Vec::new();
        for MemoryRow { memory, evidence } in rows {
            if self.lacks(&memory) && !self.is_full() {
                added.push(memory.id);
                self.members.insert(memory.id, Member::new(&memory, &evidence, self.now));
            } else {
                self.truncated |= self.lacks(&memory);
            }
        }
        added
    }

    fn is_full(&self) -> bool {
        self.members.len() == MAX_NODES
    }
}

impl MemoriesHandle {
    /// The tree around a memory that the workspace may read, `depth` levels up and down, or whole; up to 10,000
    /// memories, and as many as can be loaded before the deadline. `truncated` says that there are more.
    pub async fn genealogy(
        &self,
        id: MemoryId,
        workspace: &WorkspaceRef,
        depth: Option<u32>,
        deadline: Deadline,
    ) -> Result<Genealogy, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let mut family = self.family_of(id, &workspace, deadline).await?;
        let enough = deadline.leaving(RESERVE);
        for way in [Way::Up, Way::Down] {
            self.load(&mut family, id, way, depth, enough, deadline).await?;
        }
        let Family { members, truncated, .. } = family;
        Genealogy::of(id, members.into_values().collect(), truncated)
            .ok_or_else(|| Error::internal("a memory is not in its own tree"))
    }

    pub(super) async fn descendants(
        &self,
        id: MemoryId,
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Result<Descendants, Error> {
        let mut family = self.family_of(id, workspace, deadline).await?;
        let ids = self.load(&mut family, id, Way::Down, None, deadline.halfway(), deadline).await?;
        Ok(Descendants { ids: std::iter::once(id).chain(ids).collect(), truncated: family.truncated })
    }

    async fn family_of(&self, id: MemoryId, workspace: &Workspace, deadline: Deadline) -> Result<Family, Error> {
        let row = self.readable_one(id, workspace, deadline).await?;
        let visible = visible(workspace, Reach::Cascade);
        let mut family = Family { members: BTreeMap::new(), truncated: false, visible, now: self.clock.now() };
        family.add(vec![row]);
        Ok(family)
    }

    /// Adds all that is reached from `start`, nearest first.
    async fn load(
        &self,
        family: &mut Family,
        start: MemoryId,
        way: Way,
        depth: Option<u32>,
        enough: Deadline,
        deadline: Deadline,
    ) -> Result<Vec<MemoryId>, Error> {
        let (mut level, mut loaded, mut depth_left) = (vec![start], Vec::new(), depth);
        while !level.is_empty() {
            let mut next = Vec::new();
            for ids in level.chunks(AT_ONCE) {
                if enough.passed() || (family.is_full() && family.truncated) {
                    family.truncated = true;
                    return Ok(loaded);
                }
                let rows = match way {
                    Way::Up => self.sources(family, ids, deadline).await?,
                    Way::Down => self.derived_from(ids, deadline).await?,
                };
                if depth_left == Some(0) {
                    family.truncated |= rows.iter().any(|row| family.lacks(&row.memory));
                } else {
                    let added = family.add(rows);
                    next.extend(&added);
                    loaded.extend(added);
                }
            }
            depth_left = depth_left.map(|left| left.saturating_sub(1));
            level = next;
        }
        Ok(loaded)
    }

    async fn sources(&self, family: &Family, ids: &[MemoryId], deadline: Deadline) -> Result<Vec<MemoryRow>, Error> {
        let members = ids.iter().filter_map(|id| family.members.get(id));
        let sources: BTreeSet<MemoryId> =
            members.flat_map(Member::sources).filter(|id| !family.members.contains_key(id)).collect();
        if sources.is_empty() {
            return Ok(Vec::new());
        }
        self.store.get(sources.into_iter().collect(), deadline).await
    }

    async fn derived_from(&self, ids: &[MemoryId], deadline: Deadline) -> Result<Vec<MemoryRow>, Error> {
        let filter = Filter::DerivedFrom(ids.to_vec());
        let mut rows = Vec::new();
        let take = |found: Vec<MemoryRow>| {
            rows.extend(found);
            if rows.len() <= MAX_NODES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        self.each_page(&filter, deadline, take).await?;
        Ok(rows)
    }
}
