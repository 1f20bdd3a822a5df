//! The place from which clients start the binary. A copy is made where a package manager or a build may take the
//! running one away, with the library of ONNX Runtime where it lies beside the running one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::failure::CommandFailure;
use super::files;
use crate::embed;

/// The directories in which an installation puts binaries that stay.
const OF_THE_SYSTEM: [&str; 3] = ["/usr/", "/opt/", "/bin/"];
const OF_THE_USER: [&str; 2] = [".local/bin", ".cargo/bin"];
/// Homebrew keeps each version in a folder of this name, and removes it with the version.
const OF_ONE_VERSION: &str = "Cellar";

pub(super) struct StableBinary {
    running: PathBuf,
    pub(super) path: PathBuf,
    /// The library that lies beside the running binary, and the path that it is copied to.
    library: Option<(PathBuf, PathBuf)>,
}

/// Returns where the binary stays: where it runs from, or the place of a copy below `directory`.
pub(super) fn stable_place(home: &Path, directory: &Path) -> Result<StableBinary, CommandFailure> {
    let running = std::env::current_exe()
        .and_then(fs::canonicalize)
        .map_err(|error| CommandFailure::usage("the path of this program cannot be found").caused_by(error))?;
    Ok(stable_place_of(running, home, directory))
}

fn stable_place_of(running: PathBuf, home: &Path, directory: &Path) -> StableBinary {
    let is_of_one_version = running.components().any(|part| part.as_os_str() == OF_ONE_VERSION);
    let stays = OF_THE_SYSTEM.iter().any(|start| running.starts_with(start)) && !is_of_one_version
        || OF_THE_USER.iter().any(|start| running.parent() == Some(&home.join(start)));
    if stays {
        return StableBinary { path: running.clone(), running, library: None };
    }
    let library = embed::library_beside(&running).and_then(|library| {
        let copy = directory.join("lib/reasoning-bank").join(library.file_name()?);
        Some((library, copy))
    });
    StableBinary { path: directory.join("bin/reasoning-bank"), running, library }
}

impl StableBinary {
    /// Copies the binary to where it stays, unless it is there.
    pub(super) fn install(&self) -> Result<(), CommandFailure> {
        let library = self.library.iter().map(|(library, copy)| (library, copy));
        for (from, to) in library.chain([(&self.running, &self.path)]) {
            copy_file(from, to).map_err(|error| files::unwritable(to, error))?;
        }
        Ok(())
    }
}

/// Copies a file unless its copy is there. A process that uses an older copy keeps that.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let of = fs::metadata(from)?;
    let is_there =
        fs::metadata(to).is_ok_and(|copy| copy.len() == of.len() && copy.modified().ok() == of.modified().ok());
    if from == to || is_there {
        return Ok(());
    }
    let directory = to.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(directory)?;
    let copy = tempfile::Builder::new().prefix(".reasoning-bank").tempfile_in(directory)?;
    fs::copy(from, copy.path())?;
    copy.as_file().set_modified(of.modified()?)?;
    copy.into_temp_path().persist(to).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_package_manager_takes_away_is_copied_with_its_library() {
        let place = tempfile::tempdir().unwrap();
        let (home, own) = (place.path().join("home"), place.path().join("own"));
        let stable = |path: &str| stable_place_of(PathBuf::from(path), &home, &own);
        for stays in ["/usr/bin/reasoning-bank", "/opt/bank/bin/reasoning-bank"] {
            assert_eq!(stable(stays).path, Path::new(stays));
        }
        for goes in ["/nix/store/x/bin/reasoning-bank", "/opt/homebrew/Cellar/reasoning-bank/1/bin/reasoning-bank"] {
            assert_eq!(stable(goes).path, own.join("bin/reasoning-bank"));
        }
        let library = libloading::library_filename("onnxruntime");
        for (path, content) in [("venv/bin/reasoning-bank".as_ref(), "binary"), (&*library, "library")] {
            let path = if content == "library" { Path::new("venv/lib/reasoning-bank").join(path) } else { path.into() };
            fs::create_dir_all(place.path().join(&path).parent().unwrap()).unwrap();
            fs::write(place.path().join(path), content).unwrap();
        }
        stable_place_of(place.path().join("venv/bin/reasoning-bank"), &home, &own).install().unwrap();
        assert_eq!(fs::read_to_string(own.join("bin/reasoning-bank")).unwrap(), "binary");
        assert_eq!(fs::read_to_string(own.join("lib/reasoning-bank").join(library)).unwrap(), "library");
    }
}
