//! Saying which newer memory takes the place of an older one, and taking that back. `domain::memory::Succession` has
//! the rule of what then becomes of both.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use reasoning_bank_domain::memory::ids::{MemoryId, SignalId};
use reasoning_bank_domain::memory::signal::{Signal, SignalKind};
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::memory::{
    Memory, REPLACED_MAX, Status, Successor, left_behind, links_decided_by_report, replacement_problem,
};
use reasoning_bank_domain::retrieval::responses::{MemoryDetail, OpenLink, Replaced};
use uuid::Uuid;

use super::{MemoriesHandle, ScopeFilter, WorkspaceRef, visible};
use crate::conflict::retry_on_conflict;
use crate::error::Error;
use crate::ports::{Batch, MemoryFilter, MemoryRow, Record};
use crate::runtime::Deadline;

/// The most older memories, of those that the given ones name, that one call reads.
const OLDER_READ_MAX: usize = 500;
/// The most memories that one read asks for.
const AT_ONCE: usize = 500;

/// The one who says that a memory takes the place of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SaidBy {
    Person,
    /// The session of a client.
    Session(Option<String>),
}

/// The memories that others superseded or were linked to, as they are after those others changed.
#[derive(Debug, Default)]
pub(super) struct LeftBehind {
    pub changed: Vec<Memory>,
    /// The memories that are back in search, each as it was before, with the memory that superseded it.
    pub reinstated: Vec<(Memory, MemoryId)>,
    /// The memories that are superseded again, each as it was before, with the memory that came back.
    pub superseded: Vec<(Memory, MemoryId)>,
}

impl LeftBehind {
    /// Names the memories back in search that the workspace may read.
    pub(super) fn reinstated(&self, workspace: &Workspace) -> Vec<MemoryId> {
        let visible = visible(workspace, ScopeFilter::Cascade);
        let readable = self.reinstated.iter().filter(|(memory, _)| visible.contains(memory));
        readable.map(|(memory, _)| memory.id).collect()
    }
}

impl SaidBy {
    fn session(&self) -> Option<String> {
        match self {
            Self::Person => None,
            Self::Session(session) => session.clone(),
        }
    }
}

impl MemoriesHandle {
    /// Takes `older` out of search, because `newer` says what holds now. A second call changes nothing.
    ///
    /// # Errors
    /// Another memory superseded it already, or `newer` cannot take its place.
    pub async fn supersede(
        &self,
        older: MemoryId,
        newer: MemoryId,
        workspace: &WorkspaceRef,
        said_by: &SaidBy,
        deadline: Deadline,
    ) -> Result<Replaced, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let try_to_supersede = async |_| {
            if older == newer {
                return Err(Error::invalid("by", "names the memory itself; name the newer one"));
            }
            let replaced_by = self.readable_one(older, &workspace, deadline).await?.memory.superseded_by();
            if let Some(other) = replaced_by.filter(|other| *other != newer) {
                let undo = format!("`reasoning-bank memory supersede {older} --undo` takes that back first");
                return Err(Error::invalid("id", format!("{older} is superseded by {other} already; {undo}")));
            }
            let newer = self.readable_one(newer, &workspace, deadline).await?.memory;
            let rows = self.replaceable(&[older], &newer, &workspace, said_by, "id", deadline).await?;
            let linked = self.linked_to(&rows, &newer, deadline).await?;
            let mut batch = self.superseding(&rows, &linked, newer.id, said_by, deadline).await?;
            let replaced = rows.iter().map(|row| &row.memory).chain(&linked);
            let replacing = replaced.fold(newer.clone(), |newer, older| newer.replacing(older.id));
            if replacing != newer {
                batch.extend(self.revisions(vec![replacing], deadline).await?);
            }
            self.commit_changes(batch, deadline).await?;
            Ok(rows)
        };
        let rows = retry_on_conflict(try_to_supersede).await?;
        let replaced = self.replaced(&rows, &workspace, deadline).await?.pop();
        replaced.ok_or_else(|| Error::internal("a memory that was replaced is missing in the answer"))
    }

    /// Brings back a memory that was superseded, or takes away its link to a newer one. `newer` names the newer one of
    /// a pair that was not linked yet. Rules never link the pair again.
    pub async fn reinstate(
        &self,
        older: MemoryId,
        newer: Option<MemoryId>,
        workspace: &WorkspaceRef,
        said_by: &SaidBy,
        deadline: Deadline,
    ) -> Result<MemoryDetail, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let try_to_reinstate = async |_| {
            let row = self.readable_one(older, &workspace, deadline).await?;
            let now = self.clock.now();
            let Some(after) = row.memory.reinstated(newer) else {
                return Ok(MemoryDetail::new(row.memory, &row.evidence, now));
            };
            let signal = self.said(&row.memory, SignalKind::Reinstated, said_by, "back in its place".into());
            let left = self.left_behind(&[(&row.memory, Some(&after))], deadline).await?;
            let mut batch = self.revisions(vec![after.clone()], deadline).await?;
            batch.extend(self.leaving(left, deadline).await?);
            batch.extend((after.status != row.memory.status).then_some(signal));
            self.commit_changes(batch, deadline).await?;
            Ok(MemoryDetail::new(after.revised(now), &row.evidence, now))
        };
        retry_on_conflict(try_to_reinstate).await
    }

    /// Lists the pairs of the workspace's memories that rules linked and nobody decided about, at most `most`, and
    /// counts all of them.
    pub async fn open_links(
        &self,
        workspace: &WorkspaceRef,
        most: usize,
        deadline: Deadline,
    ) -> Result<(Vec<OpenLink>, usize), Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let filter =
            MemoryFilter { workspace: Some(workspace.id), status: Some(Status::Active), ..MemoryFilter::default() };
        let mut linked: Vec<(Memory, Successor)> = Vec::new();
        let take = |rows: Vec<MemoryRow>| {
            let memories = rows.into_iter().map(|row| row.memory);
            linked.extend(memories.filter_map(|memory| memory.linked_to().map(|newer| (memory, newer))));
            ControlFlow::Continue(())
        };
        self.each_page(&filter, deadline, take).await?;
        let (mut links, mut count) = (Vec::new(), 0);
        for pairs in linked.chunks(AT_ONCE) {
            let rows = self.store.get(pairs.iter().map(|(_, newer)| newer.id).collect(), deadline).await?;
            for (older, link) in pairs {
                let newer = rows.iter().map(|row| &row.memory).find(|newer| older.is_updated_by(newer));
                let Some(newer) = newer else { continue };
                count += 1;
                if links.len() < most {
                    links.push(OpenLink {
                        older: older.id,
                        older_title: older.title.clone(),
                        newer: newer.id,
                        newer_title: newer.title.clone(),
                        confidence: link.confidence.unwrap_or(1.0),
                    });
                }
            }
        }
        Ok((links, count))
    }

    /// Reads the memories of these ids, and checks that `newer` may take the place of each. `argument` is the name by
    /// which errors call what the caller gave.
    pub(super) async fn replaceable(
        &self,
        older: &[MemoryId],
        newer: &Memory,
        workspace: &Workspace,
        said_by: &SaidBy,
        argument: &'static str,
        deadline: Deadline,
    ) -> Result<Vec<MemoryRow>, Error> {
        let rows = self.readable(older.to_vec(), workspace, deadline).await?;
        if let Some(missing) = older.iter().find(|id| !rows.iter().any(|row| row.memory.id == **id)) {
            return Err(Error::NotFound(format!("memory {missing} here")));
        }
        let problem = |row: &MemoryRow| {
            let problem = replacement_problem(&row.memory, newer, *said_by == SaidBy::Person)?;
            Some(Error::invalid(argument, format!("{} {problem}", row.memory.id)))
        };
        rows.iter().find_map(problem).map_or(Ok(rows), Err)
    }

    /// Finds the memories with an open link to one of these, as many as `newer` has room for beside them.
    pub(super) async fn linked_to(
        &self,
        older: &[MemoryRow],
        newer: &Memory,
        deadline: Deadline,
    ) -> Result<Vec<Memory>, Error> {
        let is_named = |id: &MemoryId| *id == newer.id || older.iter().any(|row| row.memory.id == *id);
        let replaced = older.iter().flat_map(|row| row.memory.succession.replaces.iter().copied());
        let ids: BTreeSet<MemoryId> = replaced.filter(|id| !is_named(id)).take(OLDER_READ_MAX).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.store.get(ids.into_iter().collect(), deadline).await?;
        let is_linked = |memory: &Memory| older.iter().any(|row| memory.is_updated_by(&row.memory));
        let room = REPLACED_MAX.saturating_sub(newer.succession.replaces.len() + older.len());
        Ok(rows.into_iter().map(|row| row.memory).filter(is_linked).take(room).collect())
    }

    /// Makes the records by which `older` is superseded by `newer`, without those that are already, and by which what
    /// was linked to them is linked to `newer`.
    pub(super) async fn superseding(
        &self,
        older: &[MemoryRow],
        linked: &[Memory],
        newer: MemoryId,
        said_by: &SaidBy,
        deadline: Deadline,
    ) -> Result<Batch, Error> {
        let changed: Vec<Memory> = older.iter().filter_map(|row| row.memory.superseded(newer)).collect();
        let said =
            |memory: &Memory| self.said(memory, SignalKind::Superseded, said_by, format!("superseded by {newer}"));
        let mut batch: Batch = changed.iter().map(said).collect();
        let relinked = linked.iter().map(|memory| memory.relinked(newer));
        batch.extend(self.revisions(changed.into_iter().chain(relinked).collect(), deadline).await?);
        Ok(batch)
    }

    /// Describes the older memories for a caller, with their copies in wider scopes.
    pub(super) async fn replaced(
        &self,
        older: &[MemoryRow],
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Result<Vec<Replaced>, Error> {
        if older.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<MemoryId> = older.iter().map(|row| row.memory.id).collect();
        let mut copies: BTreeMap<MemoryId, Vec<MemoryId>> = BTreeMap::new();
        for copy in self.copies_of(&ids, workspace, deadline).await?.iter().filter(|copy| copy.is_copy()) {
            copies.entry(copy.parent_memory_id.unwrap_or(copy.id)).or_default().push(copy.id);
        }
        let replaced = |MemoryRow { memory, .. }: &MemoryRow| Replaced {
            id: memory.id,
            title: memory.title.clone(),
            copies: copies.remove(&memory.id).unwrap_or_default(),
        };
        Ok(older.iter().map(replaced).collect())
    }

    /// Makes the records of what a report that these memories helped changes about links between them and others.
    /// Memories that are `revised_elsewhere` in the same batch stay as they are.
    pub(super) async fn decided_links(
        &self,
        reported: &[&Memory],
        session: Option<&str>,
        revised_elsewhere: &[MemoryId],
        deadline: Deadline,
    ) -> Result<Batch, Error> {
        let mut older: Vec<MemoryId> =
            reported.iter().flat_map(|memory| memory.succession.replaces.iter().copied()).collect();
        older.truncate(OLDER_READ_MAX);
        let others = if older.is_empty() { Vec::new() } else { self.store.get(older, deadline).await? };
        let others: Vec<Memory> = others.into_iter().map(|row| row.memory).collect();
        let mut decided = links_decided_by_report(reported, &others, session);
        decided.retain(|memory| !revised_elsewhere.contains(&memory.id));
        let said_by = SaidBy::Session(session.map(str::to_owned));
        let confirmed = decided.iter().filter_map(|memory| Some((memory, memory.superseded_by()?)));
        let mut batch: Batch = confirmed
            .map(|(memory, newer)| {
                let words = format!("superseded by {newer}, as a report confirmed");
                self.said(memory, SignalKind::Superseded, &said_by, words)
            })
            .collect();
        // A memory that no longer outdates another one does not name it any more.
        let before = |after: &Memory| reported.iter().copied().find(|memory| memory.id == after.id);
        let ended: Vec<(&Memory, Option<&Memory>)> =
            decided.iter().filter_map(|after| Some((before(after)?, Some(after)))).collect();
        let mut newer = self.left_behind(&ended, deadline).await?.changed;
        let is_decided = |id: MemoryId| decided.iter().any(|memory| memory.id == id);
        newer.retain(|memory| !revised_elsewhere.contains(&memory.id) && !is_decided(memory.id));
        batch.extend(self.revisions(decided.into_iter().chain(newer).collect(), deadline).await?);
        Ok(batch)
    }

    /// Tells what becomes of the memories that others superseded or are linked to, when those change or go.
    pub(super) async fn left_behind(
        &self,
        changes: &[(&Memory, Option<&Memory>)],
        deadline: Deadline,
    ) -> Result<LeftBehind, Error> {
        let named = changes.iter().flat_map(|(before, _)| before.succession.replaces.iter().copied());
        let newest = changes.iter().filter_map(|(before, _)| before.succession.newer());
        let ids: BTreeSet<MemoryId> = named.chain(newest).collect();
        let mut others = self.memories_of(&ids.into_iter().collect::<Vec<_>>(), deadline).await?;
        let mut left = LeftBehind::default();
        for (before, after) in changes {
            for changed in left_behind(before, *after, &others) {
                let Some(other) = others.iter_mut().find(|other| other.id == changed.id) else { continue };
                match (other.status, changed.status) {
                    (Status::Superseded, Status::Active) => left.reinstated.push((other.clone(), before.id)),
                    (Status::Active, Status::Superseded) => left.superseded.push((other.clone(), before.id)),
                    _ => {}
                }
                left.changed.retain(|earlier| earlier.id != changed.id);
                left.changed.push(changed.clone());
                *other = changed;
            }
        }
        Ok(left)
    }

    /// Makes the records of what was left behind.
    pub(super) async fn leaving(&self, left: LeftBehind, deadline: Deadline) -> Result<Batch, Error> {
        let nobody = SaidBy::Session(None);
        let reinstated = left.reinstated.iter().map(|(memory, newer)| {
            self.said(memory, SignalKind::Reinstated, &nobody, format!("back in search, as {newer} left it"))
        });
        let superseded = left.superseded.iter().map(|(memory, newer)| {
            self.said(memory, SignalKind::Superseded, &nobody, format!("superseded by {newer}, which is back"))
        });
        let mut batch: Batch = reinstated.chain(superseded).collect();
        batch.extend(self.revisions(left.changed, deadline).await?);
        Ok(batch)
    }

    /// Makes the next revisions of these memories, whose texts are unchanged.
    pub(super) async fn revisions(&self, changed: Vec<Memory>, deadline: Deadline) -> Result<Batch, Error> {
        if changed.is_empty() {
            return Ok(Batch::new());
        }
        let mut passages = self.store.passages(changed.iter().map(|memory| memory.id).collect(), deadline).await?;
        let (now, mut batch) = (self.clock.now(), Batch::new());
        for memory in changed {
            let stored = passages.remove(&memory.id).unwrap_or_default();
            let (memory, passages) = self.with_these_or_new(memory.revised(now), stored, deadline).await;
            batch.push(Record::Revision { memory, passages });
        }
        Ok(batch)
    }

    pub(super) async fn commit_changes(&self, batch: Batch, deadline: Deadline) -> Result<(), Error> {
        if !batch.is_empty() {
            self.store.commit(batch, deadline).await?;
        }
        Ok(())
    }

    pub(super) fn said(&self, memory: &Memory, kind: SignalKind, said_by: &SaidBy, words: String) -> Record {
        let id = SignalId::from(Uuid::now_v7());
        let signal = Signal::new(id, memory.id, memory.workspace_id.clone(), kind, self.clock.now());
        Record::Signal(Signal { session: said_by.session(), comment: Some(words), ..signal })
    }
}
