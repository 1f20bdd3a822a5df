//! The command `man` writes a manual page for each command, for packages.

use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use serde::Serialize;

use super::args::Cli;
use super::failure::CommandFailure;

#[derive(Debug, Serialize)]
pub(super) struct ManualPages {
    directory: PathBuf,
    pages: usize,
}

impl ManualPages {
    /// Writes the pages.
    ///
    /// # Errors
    /// The directory cannot be made or written to.
    pub(super) fn write(directory: &Path) -> Result<Self, CommandFailure> {
        let unwritable =
            |error| CommandFailure::usage(format!("{} cannot be written to", directory.display())).caused_by(error);
        fs::create_dir_all(directory).map_err(unwritable)?;
        clap_mangen::generate_to(Cli::command(), directory).map_err(unwritable)?;
        let pages = fs::read_dir(directory).map_err(unwritable)?.count();
        Ok(Self { directory: directory.to_owned(), pages })
    }

    pub(super) fn text(&self) -> String {
        format!("{} manual pages are in {}\n", self.pages, self.directory.display())
    }
}
