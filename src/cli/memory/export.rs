//! The command `memory export` writes the lines of an export.

use std::io::{self, Write};

use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_actors::workspaces::WorkspaceRef;

use crate::cli::failure::CommandFailure;
use crate::cli::session::request_deadline;
use crate::export::{Export, ExportOptions};

/// Writes the lines to `out`, or one array of them with `as_array`. Where no workspace is named, it writes those of
/// all. It is no failure when the reader goes away.
///
/// # Errors
/// Until the first line is read, nothing is written. A later failure says that the answer has begun.
pub(in crate::cli) async fn export(
    workspace: Option<&WorkspaceRef>,
    options: ExportOptions,
    as_array: bool,
    system: &SystemHandle,
    out: &mut impl Write,
) -> Result<(), CommandFailure> {
    let workspace = match workspace {
        Some(named) => Some(system.workspaces.resolve(named, request_deadline()).await?.workspace.id),
        None => None,
    };
    let export = Export::begin(workspace, options, system.clone()).await?;
    let mut lines = ExportLines { out, as_array, begun: false };
    let exported = write_all(export, &mut lines).await;
    exported.map_err(|failure| if lines.begun { failure.after_output() } else { failure })
}

async fn write_all(mut export: Export, lines: &mut ExportLines<'_, impl Write>) -> Result<(), CommandFailure> {
    while let Some(line) = export.next_line().await? {
        if !lines.write(&line)? {
            return Ok(());
        }
    }
    lines.end()
}

struct ExportLines<'a, W> {
    out: &'a mut W,
    as_array: bool,
    begun: bool,
}

impl<W: Write> ExportLines<'_, W> {
    /// Writes a line. It returns false once nobody reads any more.
    fn write(&mut self, text: &str) -> Result<bool, CommandFailure> {
        match (self.as_array, self.begun) {
            (true, false) => self.put(&format!("[{text}")),
            (true, true) => self.put(&format!(",\n{text}")),
            (false, _) => self.put(&format!("{text}\n")),
        }
    }

    fn end(&mut self) -> Result<(), CommandFailure> {
        if self.as_array {
            self.put(if self.begun { "]\n" } else { "[]\n" })?;
        }
        unless_closed(self.out.flush()).map(|_| ())
    }

    fn put(&mut self, text: &str) -> Result<bool, CommandFailure> {
        self.begun = true;
        unless_closed(self.out.write_all(text.as_bytes()))
    }
}

/// Returns false when nobody reads any more.
fn unless_closed(written: io::Result<()>) -> Result<bool, CommandFailure> {
    match written {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(CommandFailure::output(error)),
    }
}
