//! The preview of an import, as a person is shown it before anything is written: read from what was put aside, and held
//! against what the bank has.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, BufReader, Seek};

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::Restorable;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::text::shortened;
use serde::Serialize;
use uuid::Uuid;

use super::sources::WorkspaceFacts;
use super::staging::StagedEntry;
use super::{BATCH_THINGS, Checked, ImportFailure, REQUEST_TIMEOUT};

const EXAMPLES: usize = 3;
const EXAMPLE_CHARS: usize = 100;

/// The things of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct KindPreview {
    /// The number of things that are new here.
    pub(crate) new: u64,
    /// The number of things that are here already.
    pub(crate) known: u64,
    pub(crate) examples: Vec<String>,
}

impl KindPreview {
    fn add(&mut self, is_new: bool, example: impl FnOnce() -> String) {
        if !is_new {
            self.known += 1;
            return;
        }
        self.new += 1;
        if self.examples.len() < EXAMPLES {
            self.examples.push(shortened(&example(), EXAMPLE_CHARS));
        }
    }
}

/// The things of a source that are new here, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct KindPreviews {
    pub(crate) strategies: KindPreview,
    pub(crate) warnings: KindPreview,
    pub(crate) facts: KindPreview,
    /// The traces, signals and jobs of an export.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) others: u64,
    /// The new memories and facts of each workspace.
    #[serde(skip)]
    pub(crate) workspaces: BTreeMap<WorkspaceId, u64>,
    /// The facts that no memory bank has room for.
    #[serde(skip)]
    pub(crate) without_room: u64,
}

impl KindPreviews {
    pub(crate) fn new_things(&self) -> u64 {
        self.strategies.new + self.warnings.new + self.facts.new
    }

    /// Says whether nothing was found, new or known.
    pub(crate) fn are_empty(&self) -> bool {
        let known = self.strategies.known + self.warnings.known + self.facts.known;
        self.new_things() + known + self.others == 0
    }

    fn add_to(&mut self, workspace: &WorkspaceId, more: u64) {
        if more > 0 {
            *self.workspaces.entry(workspace.clone()).or_default() += more;
        }
    }

    /// Counts what is put aside.
    ///
    /// # Errors
    /// It cannot be read, or the store does not say what is there.
    pub(crate) async fn add_checked(
        &mut self,
        checked: &mut Checked,
        system: &SystemHandle,
    ) -> Result<(), ImportFailure> {
        let failed = |error| ImportFailure::BrokenOff { lines: 0, error: Box::new(error) };
        loop {
            let entries = next_entries(checked).map_err(ImportFailure::Aside)?;
            if entries.is_empty() {
                break;
            }
            let ids: Vec<Uuid> = entries.iter().filter_map(memory_id).collect();
            let known = system.store.existing_ids(ids, Deadline::after(REQUEST_TIMEOUT)).await.map_err(failed)?;
            let known: HashSet<Uuid> = known.into_iter().collect();
            for entry in &entries {
                self.add_entry(entry, &known);
            }
        }
        checked.file.rewind().map_err(ImportFailure::Aside)
    }

    fn add_entry(&mut self, entry: &StagedEntry, known: &HashSet<Uuid>) {
        match &entry.thing {
            Restorable::Memory { memory, .. } => {
                let is_new = !known.contains(&memory.id.uuid());
                let kind = if memory.is_warning() { &mut self.warnings } else { &mut self.strategies };
                kind.add(is_new, || memory.title.clone());
                self.add_to(&memory.workspace_id, u64::from(is_new));
            }
            Restorable::Workspace(_) => {}
            Restorable::Trace { .. } | Restorable::Signal(_) | Restorable::Job(_) => self.others += 1,
        }
    }

    /// Counts the facts of a workspace.
    ///
    /// # Errors
    /// Its memory bank cannot be read.
    pub(crate) async fn add_facts(
        &mut self,
        source: &str,
        of: &WorkspaceFacts,
        system: &SystemHandle,
    ) -> Result<(), Error> {
        let previewed =
            system.banks.preview_facts(&of.location, source, &of.facts, Deadline::after(REQUEST_TIMEOUT)).await?;
        self.facts.new += previewed.added as u64;
        self.facts.known += previewed.known as u64;
        self.without_room += previewed.left_out as u64;
        self.add_to(&of.workspace.id, previewed.added as u64);
        let room = if previewed.added > 0 { EXAMPLES - self.facts.examples.len().min(EXAMPLES) } else { 0 };
        self.facts.examples.extend(of.facts.iter().take(room).map(|fact| shortened(&fact.text, EXAMPLE_CHARS)));
        Ok(())
    }
}

fn memory_id(entry: &StagedEntry) -> Option<Uuid> {
    if let Restorable::Memory { memory, .. } = &entry.thing { Some(memory.id.uuid()) } else { None }
}

/// Reads the next entries that were put aside, and leaves the file behind them.
fn next_entries(checked: &mut Checked) -> io::Result<Vec<StagedEntry>> {
    let at = checked.file.stream_position()?;
    let mut entries = BufReader::with_capacity(1 << 20, &checked.file);
    let (mut read, mut taken) = (0, Vec::new());
    while taken.len() < BATCH_THINGS {
        let Some((entry, _)) = StagedEntry::read(&mut entries)? else { break };
        taken.push(entry);
        read += 1;
    }
    if read > 0 {
        let left = entries.buffer().len() as u64;
        let end = checked.file.stream_position()? - left;
        debug_assert!(end > at);
        checked.file.seek(io::SeekFrom::Start(end))?;
    }
    Ok(taken)
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
