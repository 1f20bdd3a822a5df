//! The other workspaces that a file writes to, and the question whether it may.

use std::collections::BTreeMap;

use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId, quoted_name};

use super::{ImportCounts, ImportFailure, ImportTarget};

/// A file may write to this many workspaces unless somebody vouches for it.
pub(super) const MOST: usize = 1_000;
/// The question names this many workspaces.
const NAMED: usize = 20;

/// The workspaces that a file names, but for the one in use.
#[derive(Debug, Default)]
pub(crate) struct ForeignWorkspaces {
    counts: BTreeMap<WorkspaceId, ImportCounts>,
    /// The file's own words about the workspaces that it describes.
    described: BTreeMap<WorkspaceId, Workspace>,
}

impl ForeignWorkspaces {
    /// Counts what is written to a workspace.
    ///
    /// # Errors
    /// There are too many of them.
    pub(super) fn add(
        &mut self,
        id: &WorkspaceId,
        more: ImportCounts,
        bank: &ImportTarget,
    ) -> Result<(), ImportFailure> {
        if *id == bank.here.id {
            return Ok(());
        }
        self.counts.entry(id.clone()).or_default().add(more);
        if self.counts.len() <= MOST {
            return Ok(());
        }
        Err(ImportFailure::TooManyWorkspaces)
    }

    /// Remembers what the file says of a workspace.
    pub(super) fn describe(&mut self, workspace: &Workspace) {
        self.described.entry(workspace.id.clone()).or_insert_with(|| workspace.clone());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Asks whether the file may write to them.
    pub(crate) fn question(&self, bank: &ImportTarget) -> String {
        let mut lines: Vec<String> =
            self.counts.iter().take(NAMED).map(|(id, counts)| self.line(id, *counts, bank)).collect();
        if let Some(more) = self.counts.len().checked_sub(NAMED).filter(|more| *more > 0) {
            lines.push(format!("  and {more} more"));
        }
        format!("The file writes to other workspaces than the one in use:\n{}\nImport into them", lines.join("\n"))
    }

    fn line(&self, id: &WorkspaceId, counts: ImportCounts, bank: &ImportTarget) -> String {
        let ImportCounts { memories, traces, .. } = counts;
        let (which, workspace) = match bank.known.get(id) {
            Some(known) => ("known here", Some(known)),
            None => ("new here", self.described.get(id)),
        };
        let place = workspace.map(Workspace::place).filter(|place| !place.is_empty());
        let name = workspace.map(|workspace| quoted_name(&workspace.name)).unwrap_or_default();
        let place = place.map(|place| format!(" at {}", place.escape_debug())).unwrap_or_default();
        format!("  {id}{name}{place}: {which}, {memories} memories, {traces} traces")
    }
}
