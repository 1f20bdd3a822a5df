//! The work of scripts on a whole workspace: its export and imports into it. No agent has a tool for them.

use std::collections::HashMap;
use std::fs::File;

use axum::http::request::Parts;
use jiff::Timestamp;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::access::Permission;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use tokio_util::sync::CancellationToken;

use super::Server;
use crate::audit::AuditEntry;
use crate::export::{Export, ExportOptions};
use crate::import::{self, ImportFailure, ImportMode, ImportTarget, ImportWords, Imported};
use crate::mcp::caller::{Caller, RequestEnd, ServerEnd};
use crate::mcp::calls::{MEMORY_DEADLINE, shared_workspace};

struct OverNetwork;

impl ImportWords for OverNetwork {
    fn exactly(&self) -> &'static str {
        "`backup restore` restores a whole bank exactly"
    }

    fn left_out(&self, _workspace: &WorkspaceId, what: &str) -> String {
        format!("an import over the network is for one project, and not for a whole {what}")
    }
}

/// An import that has arrived whole.
pub(crate) struct ArrivedImport {
    pub(crate) target: ImportTarget,
    /// The lines, and an empty file for what is checked.
    pub(crate) files: (File, File),
    /// Cancelled when nobody waits for it. It ends by that only while nothing is written.
    pub(crate) given_up: CancellationToken,
    /// The end of its token, or of the server, which ends it in any case.
    pub(crate) end: RequestEnd,
}

impl Server {
    /// Begins the export of the workspace that a request of a script is for. It is noted in the audit log.
    ///
    /// # Errors
    /// The errors are those of a call of a tool.
    pub(crate) async fn export(
        &self,
        request: &Parts,
        named: Option<&str>,
        options: ExportOptions,
    ) -> Result<Export, Error> {
        let caller = self.0.end.caller(Some(request))?;
        let begun = self.begin_export(&caller, named, options).await;
        let workspace = begun.as_ref().ok().and_then(|(_, key)| key.clone());
        let outcome = begun.as_ref().err().map_or("ok", |error| error.code().as_str());
        self.note_bulk(&caller, "export", workspace, outcome).await;
        begun.map(|(export, _)| export).map_err(|error| caller.told(error))
    }

    /// Returns the workspace that a script may import into, as an import needs to know it.
    ///
    /// # Errors
    /// Those of a call of a tool that writes.
    pub(crate) async fn import_target(&self, request: &Parts, named: Option<&str>) -> Result<ImportTarget, Error> {
        let caller = self.0.end.caller(Some(request))?;
        let target = async {
            if !caller.may(Permission::Write) {
                return Err(Error::PermissionDenied(Permission::Write));
            }
            let here = self.shared(&caller, named).await?;
            Ok(ImportTarget { here, now: Timestamp::now(), mode: ImportMode::Copies, known: HashMap::new() })
        };
        let target = target.await;
        if let Err(error) = &target {
            self.note_bulk(&caller, "import", None, error.code().as_str()).await;
        }
        target.map_err(|error| caller.told(error))
    }

    /// Imports what has arrived, and notes it in the audit log. It is to run to its end, whether its client waits or
    /// not.
    pub(crate) async fn import(&self, request: &Parts, arrived: ArrivedImport) -> Result<Imported, ImportFailure> {
        let _served = self.0.system.activity.begin();
        let key = arrived.target.here.key.clone().map(String::from);
        let imported = self.check_and_write(arrived).await;
        let outcome = imported.as_ref().err().map_or("ok", |failure| failure.code().as_str());
        if let Ok(caller) = self.0.end.caller(Some(request)) {
            self.note_bulk(&caller, "import", key, outcome).await;
        }
        imported
    }

    async fn check_and_write(&self, arrived: ArrivedImport) -> Result<Imported, ImportFailure> {
        let ArrivedImport { target, files: (lines, aside), given_up, end } = arrived;
        let broken_off = |error| ImportFailure::BrokenOff { lines: 0, error: Box::new(error) };
        // The check goes on to its end, and so does what it holds.
        let checking = tokio::task::spawn_blocking(move || import::check(lines, aside, &target, |_lines| {})).await;
        let checked = checking.map_err(|panicked| broken_off(Error::internal(panicked)))??;
        if given_up.is_cancelled() {
            return Err(broken_off(Error::Cancelled));
        }
        let notes = checked.notes(&OverNetwork);
        let written = tokio::select! {
            biased;
            _ = end.reached() => return Err(broken_off(Error::Cancelled)),
            written = checked.write(&self.0.system, |_things| {}) => written,
        };
        written.map(|imported| Imported { notes, ..imported })
    }

    /// Writes to the audit log what the holder of a token did with a whole workspace.
    async fn note_bulk(&self, caller: &Caller<'_>, action: &str, workspace: Option<String>, outcome: &'static str) {
        if let (ServerEnd::Http { audit, .. }, Caller::Holder { principal, .. }) = (&self.0.end, caller) {
            audit.append(AuditEntry { workspace, outcome, ..AuditEntry::by(principal, action) }).await;
        }
    }

    /// Resolves a workspace that a script names by its key.
    async fn shared(&self, caller: &Caller<'_>, named: Option<&str>) -> Result<Workspace, Error> {
        let workspace = WorkspaceRef::Shared(shared_workspace(caller, named)?);
        Ok(self.0.system.workspaces.resolve(&workspace, Deadline::after(MEMORY_DEADLINE)).await?.workspace)
    }

    async fn begin_export(
        &self,
        caller: &Caller<'_>,
        named: Option<&str>,
        options: ExportOptions,
    ) -> Result<(Export, Option<String>), Error> {
        if !caller.may(Permission::Read) {
            return Err(Error::PermissionDenied(Permission::Read));
        }
        let workspace = self.shared(caller, named).await?;
        let export = Export::begin(Some(workspace.id), options, self.0.system.clone()).await?;
        Ok((export, workspace.key.map(String::from)))
    }
}
