//! Loading the tree around a memory, as far as the workspace may read it. The ways through it are found by ids alone.
//! The memories on them are read some way ahead, so that a long line costs no more reads than a wide tree.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::time::Duration;

use jiff::Timestamp;
use reasoning_bank_domain::evidence::genealogy::{Direction, Genealogy, Lineage, MAX_NODES, Member};
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::Workspace;

use super::{MemoriesHandle, ScopeFilter, WorkspaceRef, visible};
use crate::error::Error;
use crate::ports::{MemoryRow, Page, Visible};
use crate::runtime::Deadline;

/// The most memories that one read asks for.
const AT_ONCE: usize = 1_000;
/// The most memories whose sources one read asks for.
const LINEAGE_AT_ONCE: usize = 100_000;
/// The part of the caller's time that is kept back, to answer with what was loaded until then.
const RESERVE: Duration = Duration::from_secs(5);

struct Family {
    lineage: Lineage,
    /// The memories that were read so far. None stands for one that the workspace may not read, or that is gone.
    read: HashMap<MemoryId, Option<Member>>,
    members: HashSet<MemoryId>,
    truncated: bool,
    visible: Visible,
    now: Timestamp,
}

impl Family {
    fn take(&mut self, asked: Vec<MemoryId>, rows: Vec<MemoryRow>) {
        self.read.extend(asked.into_iter().map(|id| (id, None)));
        for MemoryRow { memory, evidence } in rows {
            if self.visible.contains(&memory) {
                self.read.insert(memory.id, Some(Member::new(&memory, &evidence, self.now)));
            }
        }
    }

    fn is_readable(&self, id: MemoryId) -> bool {
        self.read.get(&id).is_some_and(Option::is_some)
    }

    /// Tells whether the memory has no place in the family and none is left.
    fn is_too_many(&self, id: MemoryId) -> bool {
        self.members.len() >= MAX_NODES && !self.members.contains(&id)
    }

    /// Finds the nearest memories that were not read yet: `from`, and those up to `levels` beyond them. It does not go
    /// beyond a memory that the workspace may not read, and finds at most `AT_ONCE`.
    fn unread(&self, from: impl Iterator<Item = MemoryId>, way: Direction, levels: u32) -> Vec<MemoryId> {
        let mut waiting: VecDeque<(MemoryId, u32)> = from.map(|id| (id, levels)).collect();
        let (mut met, mut unread) = (HashSet::new(), Vec::new());
        while let Some((id, levels)) = waiting.pop_front().filter(|_| unread.len() < AT_ONCE) {
            if !met.insert(id) || matches!(self.read.get(&id), Some(None)) {
                continue;
            }
            if !self.read.contains_key(&id) {
                unread.push(id);
            }
            if let Some(left) = levels.checked_sub(1) {
                waiting.extend(self.lineage.next(id, way).map(|next| (next, left)));
            }
        }
        unread
    }
}

impl MemoriesHandle {
    /// Loads the tree around a memory that the workspace may read: `depth` levels up and down, or, without `depth`, all
    /// that is related to it in any way. The tree has at most 10,000 memories, and no more than can be loaded before
    /// the deadline. `truncated` says that there are more.
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
        // The memory's own line comes first, because there may not be room for all.
        let ways: &[Direction] = if depth.is_none() {
            &[Direction::Up, Direction::Down, Direction::Both]
        } else {
            &[Direction::Up, Direction::Down]
        };
        for way in ways {
            self.load(&mut family, id, *way, depth, enough, deadline).await?;
        }
        let Family { read, members, truncated, .. } = family;
        let members =
            read.into_iter().filter(|(id, _)| members.contains(id)).filter_map(|(_, member)| member).collect();
        Genealogy::of(id, members, truncated).ok_or_else(|| Error::internal("a memory is not in its own tree"))
    }

    async fn family_of(&self, id: MemoryId, workspace: &Workspace, deadline: Deadline) -> Result<Family, Error> {
        let row = self.readable_one(id, workspace, deadline).await?;
        let mut family = Family {
            lineage: self.lineage(deadline).await?,
            read: HashMap::new(),
            members: HashSet::from([id]),
            truncated: false,
            visible: visible(workspace, ScopeFilter::Cascade),
            now: self.clock.now(),
        };
        family.take(vec![id], vec![row]);
        Ok(family)
    }

    pub(super) async fn lineage(&self, deadline: Deadline) -> Result<Lineage, Error> {
        let mut lineage = Lineage::default();
        let mut page = Some(Page::first(LINEAGE_AT_ONCE));
        while let Some(asked) = page {
            let found = self.store.lineage(asked.clone(), deadline).await?;
            page = asked.following(&found, |(id, _)| id.uuid());
            found.into_iter().for_each(|(id, sources)| lineage.add(id, sources));
        }
        Ok(lineage)
    }

    /// Adds all memories that are reached from `start` over readable ones, nearest first. So a workspace that may not
    /// read a memory does not learn from the tree what came from it.
    async fn load(
        &self,
        family: &mut Family,
        start: MemoryId,
        way: Direction,
        depth: Option<u32>,
        enough: Deadline,
        deadline: Deadline,
    ) -> Result<(), Error> {
        let mut depth_left = depth.unwrap_or(u32::MAX);
        let (mut met, mut level) = (HashSet::from([start]), vec![start]);
        while !level.is_empty() {
            let next = level.iter().flat_map(|id| family.lineage.next(*id, way));
            let next: BTreeSet<MemoryId> = next.filter(|id| met.insert(*id)).collect();
            level = Vec::new();
            for id in next.iter().copied() {
                if !family.read.contains_key(&id) {
                    if enough.passed() {
                        family.truncated = true;
                        return Ok(());
                    }
                    let unread = family.unread(next.range(id..).copied(), way, depth_left);
                    let rows = self.store.get(unread.clone(), deadline).await?;
                    family.take(unread, rows);
                }
                if !family.is_readable(id) {
                    continue;
                }
                if family.is_too_many(id) {
                    family.truncated = true;
                    return Ok(());
                }
                if depth_left == 0 {
                    family.truncated |= !family.members.contains(&id);
                } else {
                    family.members.insert(id);
                    level.push(id);
                }
            }
            depth_left = depth_left.saturating_sub(1);
        }
        Ok(())
    }
}
