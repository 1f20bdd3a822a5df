//! The place from which clients start the binary. A copy is made where a package manager or a build may take the running
//! one away.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::failure::CommandFailure;
use super::files;

/// Where an installation puts binaries that stay.
const OF_THE_SYSTEM: [&str; 4] = ["/usr/", "/opt/", "/bin/", "/nix/store/"];
const OF_THE_USER: [&str; 2] = [".local/bin", ".cargo/bin"];

pub(super) struct StableBinary {
    running: PathBuf,
    pub(super) path: PathBuf,
}

/// Returns where the binary stays: where it runs from, or the place of a copy below `directory`.
pub(super) fn stable_place(home: &Path, directory: &Path) -> Result<StableBinary, CommandFailure> {
    let running = std::env::current_exe()
        .and_then(fs::canonicalize)
        .map_err(|error| CommandFailure::usage("the path of this program cannot be found").caused_by(error))?;
    let stays = OF_THE_SYSTEM.iter().any(|start| running.starts_with(start))
        || OF_THE_USER.iter().any(|start| running.parent() == Some(&home.join(start)));
    let path = if stays { running.clone() } else { directory.join("bin/reasoning-bank") };
    Ok(StableBinary { running, path })
}

impl StableBinary {
    /// Copies the binary to where it stays, unless it is there.
    pub(super) fn install(&self) -> Result<(), CommandFailure> {
        let copied = || -> io::Result<()> {
            let of = fs::metadata(&self.running)?;
            let is_there = fs::metadata(&self.path)
                .is_ok_and(|copy| copy.len() == of.len() && copy.modified().ok() == of.modified().ok());
            if self.path == self.running || is_there {
                return Ok(());
            }
            let directory = self.path.parent().unwrap_or(Path::new("/"));
            fs::create_dir_all(directory)?;
            let copy = tempfile::Builder::new().prefix(".reasoning-bank").tempfile_in(directory)?;
            fs::copy(&self.running, copy.path())?;
            copy.as_file().set_modified(of.modified()?)?;
            // A server that runs keeps the file it was started from.
            copy.into_temp_path().persist(&self.path).map_err(|error| error.error)
        };
        copied().map_err(|error| files::unwritable(&self.path, error))
    }
}
