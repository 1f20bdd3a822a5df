//! Memories of other programs on their way into a bank. What a source gives is put into a file as an export has it, so
//! that a person sees it before anything is stored. The import of exports then stores it. Facts are collected for the
//! memory banks.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::{MissingVectors, Restorable};
use reasoning_bank_actors::ports::BankLocation;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::bank::ImportedFact;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use reasoning_bank_domain::safety::secrets::{Removed, scrub};
use reasoning_bank_importers::{
    ImportSource, ItemKind, SkipReason, SourceEntry, SourceError, SourceItem, UnreadablePart, is_claude_folder_of,
    origin_id, parts_of, read, to_fact, to_memory,
};
use tokio::runtime::Handle;
use uuid::Uuid;

use super::banks::ImportedBanks;
use super::staging::StagedEntry;
use super::{Checked, ForeignWorkspaces, ImportLineage, NotTaken, REQUEST_TIMEOUT};
use crate::project::{self, Identity};

/// The number of memories above which vectors are left to upkeep: to make them here would take longer than a person
/// waits.
const EMBEDDED_AT_ONCE: u64 = 2_000;
/// The most bytes of facts that are held, several times what a memory bank takes.
const FACTS_MAX_BYTES: usize = 16 << 20;
/// The number of projects that are told apart.
const PROJECTS_MAX: usize = 10_000;

/// The number of files and lines that are named because they cannot be read.
const UNREADABLE_NAMED: usize = 10;

/// The place and the time of an import.
pub(crate) struct SourceContext {
    pub(crate) system: SystemHandle,
    /// The workspace in use, and the work tree of it that the command is called in.
    pub(crate) here: Workspace,
    pub(crate) checkout: Option<PathBuf>,
    pub(crate) known: Vec<Workspace>,
    pub(crate) identity: Identity,
    pub(crate) home: Option<PathBuf>,
    pub(crate) now: Timestamp,
    /// The time before which everything is skipped.
    pub(crate) since: Option<Timestamp>,
    /// The workspace in use takes the things of projects that no directory here is known for. They are left out
    /// otherwise: one project's memories never reach another.
    pub(crate) takes_other_projects: bool,
}

/// The facts for the memory bank of a workspace, the newest first.
pub(crate) struct WorkspaceFacts {
    pub(crate) workspace: Workspace,
    pub(crate) location: BankLocation,
    pub(crate) facts: Vec<ImportedFact>,
}

/// Everything that a source gives, checked and not written yet.
pub(crate) struct CollectedSource {
    pub(crate) checked: Checked,
    pub(crate) facts: Vec<WorkspaceFacts>,
    pub(crate) workspaces: HashMap<WorkspaceId, Workspace>,
    pub(crate) skipped: BTreeMap<SkipReason, u64>,
    /// The first of the files and lines that cannot be read.
    pub(crate) unreadable: Vec<UnreadablePart>,
    /// The projects that no directory here is known for, with the number of their things.
    pub(crate) unplaced: BTreeMap<String, u64>,
    pub(crate) removed: Removed,
    /// The things that are longer than a memory or a fact, and the parts that they are taken in.
    pub(crate) split: SplitThings,
}

/// The number of things that are taken in parts, and of their parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SplitThings {
    pub(crate) things: u64,
    pub(crate) parts: u64,
}

/// The reason why a source is not collected.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CollectError {
    #[error(transparent)]
    Source(SourceError),
    #[error("what was checked cannot be put aside: {0}")]
    Aside(io::Error),
    #[error(transparent)]
    Bank(Error),
}

/// Reads a source, and puts its strategies and warnings aside. It is called where it may block. `progress` is told how
/// many things are read.
///
/// # Errors
/// The source cannot be read, or the disk has no room.
pub(crate) fn collect(
    source: ImportSource,
    place: &Path,
    aside: File,
    context: &SourceContext,
    progress: impl Fn(u64),
) -> Result<CollectedSource, CollectError> {
    let mut collector = Collector::new(source, aside, context);
    let mut things = 0;
    let done = read(source, place, |entry| {
        things += 1;
        progress(things);
        collector.take(entry)
    });
    if let Some(failure) = collector.failure.take() {
        return Err(CollectError::Bank(failure));
    }
    done.map_err(|error| match error {
        SourceError::NotTaken(error) => CollectError::Aside(error),
        error => CollectError::Source(error),
    })?;
    let Collector { out, facts, workspaces, skipped, unreadable, unplaced, removed, split, memories, things, .. } =
        collector;
    let mut file = out.into_inner().map_err(|error| CollectError::Aside(error.into_error()))?;
    file.rewind().map_err(CollectError::Aside)?;
    let vectors = if memories > EMBEDDED_AT_ONCE { MissingVectors::LeftToUpkeep } else { MissingVectors::MadeNow };
    let checked = Checked {
        file,
        things,
        foreign: ForeignWorkspaces::default(),
        not_taken: NotTaken::default(),
        lineage: ImportLineage::default(),
        copies: None,
        vectors,
        banks: ImportedBanks::default(),
    };
    let facts = facts.into_values().map(DatedFacts::newest_first).collect();
    Ok(CollectedSource { checked, facts, workspaces, skipped, unreadable, unplaced, removed, split })
}

/// Facts of one workspace with their times.
struct DatedFacts {
    workspace: Workspace,
    location: BankLocation,
    facts: Vec<(Timestamp, ImportedFact)>,
}

impl DatedFacts {
    fn newest_first(mut self) -> WorkspaceFacts {
        // Facts of one time keep their order.
        self.facts.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        let facts = self.facts.into_iter().map(|(_, fact)| fact).collect();
        WorkspaceFacts { workspace: self.workspace, location: self.location, facts }
    }
}

struct Collector<'a> {
    source: ImportSource,
    context: &'a SourceContext,
    out: BufWriter<File>,
    seen: HashSet<Uuid>,
    /// The workspaces of the projects that were met; none for those that nothing here is known for.
    projects: HashMap<String, Option<WorkspaceId>>,
    workspaces: HashMap<WorkspaceId, Workspace>,
    written: HashSet<WorkspaceId>,
    facts: BTreeMap<WorkspaceId, DatedFacts>,
    fact_bytes: usize,
    skipped: BTreeMap<SkipReason, u64>,
    unreadable: Vec<UnreadablePart>,
    unplaced: BTreeMap<String, u64>,
    removed: Removed,
    split: SplitThings,
    memories: u64,
    things: u64,
    failure: Option<Error>,
}

impl<'a> Collector<'a> {
    fn new(source: ImportSource, aside: File, context: &'a SourceContext) -> Self {
        Self {
            source,
            context,
            out: BufWriter::with_capacity(1 << 20, aside),
            seen: HashSet::new(),
            projects: HashMap::new(),
            workspaces: HashMap::from([(context.here.id.clone(), context.here.clone())]),
            written: HashSet::new(),
            facts: BTreeMap::new(),
            fact_bytes: 0,
            skipped: BTreeMap::new(),
            unreadable: Vec::new(),
            unplaced: BTreeMap::new(),
            removed: Removed::default(),
            split: SplitThings::default(),
            memories: 0,
            things: 0,
            failure: None,
        }
    }

    fn take(&mut self, entry: SourceEntry) -> io::Result<()> {
        let item = match entry {
            SourceEntry::Item(item) => item,
            SourceEntry::Skipped(reason) => return self.skip(reason),
            SourceEntry::Unreadable(part) => {
                if self.unreadable.len() < UNREADABLE_NAMED {
                    self.unreadable.push(part);
                }
                return self.skip(SkipReason::Unreadable);
            }
        };
        if item.created_at.zip(self.context.since).is_some_and(|(at, since)| at < since) {
            return self.skip(SkipReason::TooOld);
        }
        let parts = parts_of(item);
        if parts.len() > 1 {
            self.split.things += 1;
            self.split.parts += parts.len() as u64;
        }
        parts.into_iter().try_for_each(|part| self.take_part(&part))
    }

    fn take_part(&mut self, item: &SourceItem) -> io::Result<()> {
        if !self.seen.insert(origin_id(self.source, &item.origin)) {
            return self.skip(SkipReason::Duplicate);
        }
        match item.kind {
            ItemKind::Fact if item.is_outdated => self.skip(SkipReason::Outdated),
            ItemKind::Fact => self.fact(item),
            ItemKind::Strategy | ItemKind::Warning => self.memory(item),
        }
    }

    fn skip(&mut self, reason: SkipReason) -> io::Result<()> {
        *self.skipped.entry(reason).or_default() += 1;
        Ok(())
    }

    fn memory(&mut self, item: &SourceItem) -> io::Result<()> {
        let Some(workspace) = self.workspace_of(item)? else { return self.skip(SkipReason::OtherProject) };
        let (memory, removed) = match to_memory(self.source, item, &workspace.id, self.context.now) {
            Ok(made) => made,
            Err(reason) => return self.skip(reason),
        };
        self.removed = self.removed + removed;
        self.memories += 1;
        if self.written.insert(workspace.id.clone()) {
            let thing = Restorable::Workspace(workspace.registered());
            self.put(StagedEntry { removed: Removed::default(), thing })?;
        }
        self.put(StagedEntry { removed, thing: Restorable::Memory { memory, passages: Vec::new() } })
    }

    fn put(&mut self, entry: StagedEntry) -> io::Result<()> {
        let mut bytes = Vec::new();
        entry.write(&mut bytes)?;
        self.things += 1;
        self.out.write_all(&bytes)
    }

    fn fact(&mut self, item: &SourceItem) -> io::Result<()> {
        let Some(workspace) = self.workspace_of(item)? else { return self.skip(SkipReason::OtherProject) };
        let (fact, removed) = match to_fact(self.source, item) {
            Ok(made) => made,
            Err(reason) => return self.skip(reason),
        };
        self.removed = self.removed + removed;
        if self.fact_bytes + fact.text.len() > FACTS_MAX_BYTES {
            self.drop_oldest_facts();
        }
        self.fact_bytes += fact.text.len();
        let checkout = if workspace.id == self.context.here.id { self.context.checkout.clone() } else { None };
        let facts = self.facts.entry(workspace.id.clone()).or_insert_with(|| {
            let BankLocation { key, checkout: root } = BankLocation::of_workspace(&workspace);
            let location = BankLocation { key, checkout: checkout.or(root) };
            DatedFacts { workspace, location, facts: Vec::new() }
        });
        facts.facts.push((item.created_at.unwrap_or(self.context.now), fact));
        Ok(())
    }

    /// Drops the older half of the facts of each workspace, which no memory bank has room for.
    fn drop_oldest_facts(&mut self) {
        let mut dropped = 0;
        for of in self.facts.values_mut() {
            of.facts.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
            let kept = of.facts.len().div_ceil(2);
            dropped += (of.facts.len() - kept) as u64;
            of.facts.truncate(kept);
        }
        *self.skipped.entry(SkipReason::NoRoom).or_default() += dropped;
        self.fact_bytes = self.facts.values().flat_map(|of| &of.facts).map(|(_, fact)| fact.text.len()).sum();
    }

    /// Returns the workspace that a thing belongs to: that of its directory, or the only one here with the name of its
    /// project or of its folder. The one in use has what is of no project. None where nothing here is known for the
    /// project.
    fn workspace_of(&mut self, item: &SourceItem) -> io::Result<Option<Workspace>> {
        let Some(project) = item.project.as_deref().map(str::trim).filter(|project| !project.is_empty()) else {
            return Ok(Some(self.context.here.clone()));
        };
        let found = match self.projects.get(project) {
            Some(found) => found.clone(),
            None => {
                let found = self.find(project).map_err(|error| {
                    let message = error.to_string();
                    self.failure = Some(error);
                    io::Error::other(message)
                })?;
                let id = found.as_ref().map(|workspace| workspace.id.clone());
                if self.projects.len() < PROJECTS_MAX {
                    self.projects.insert(project.to_owned(), id.clone());
                }
                self.workspaces.extend(found.map(|workspace| (workspace.id.clone(), workspace)));
                id
            }
        };
        if found.is_none() && (self.unplaced.len() < PROJECTS_MAX || self.unplaced.contains_key(project)) {
            *self.unplaced.entry(scrub(project).text.into_owned()).or_default() += 1;
        }
        let placed = found.and_then(|id| self.workspaces.get(&id));
        Ok(placed.or(self.context.takes_other_projects.then_some(&self.context.here)).cloned())
    }

    fn find(&self, project: &str) -> Result<Option<Workspace>, Error> {
        let SourceContext { system, here, checkout, known, identity, home, .. } = self.context;
        let path = Path::new(project);
        if path.is_absolute() {
            let root = path.is_dir().then(|| project::root(path, path, *identity).ok()).flatten();
            let Some(root) = root.filter(|root| !project::is_too_wide(root, home.as_deref())) else { return Ok(None) };
            let named = WorkspaceRef::Root(root);
            let resolving = system.workspaces.resolve(&named, Deadline::after(REQUEST_TIMEOUT));
            return Handle::current().block_on(resolving).map(|resolved| Some(resolved.workspace));
        }
        let is_named = |workspace: &&Workspace| match self.source {
            ImportSource::ClaudeCode => is_claude_folder_of(project, &workspace.root),
            _ => workspace.name == project,
        };
        let is_checkout = checkout
            .as_deref()
            .and_then(Path::to_str)
            .is_some_and(|root| self.source == ImportSource::ClaudeCode && is_claude_folder_of(project, root));
        if is_checkout || is_named(&here) {
            return Ok(Some(here.clone()));
        }
        let mut named = known.iter().filter(is_named);
        Ok(named.next().filter(|_| named.next().is_none()).cloned())
    }
}
