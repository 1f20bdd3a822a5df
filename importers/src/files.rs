//! Files of other programs, read within bounds.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

/// The most bytes of a file that is read whole.
const FILE_MAX_BYTES: u64 = 64 << 20;
/// The depth to which folders are looked into.
const MAX_DEPTH: usize = 8;

/// Reads a file whole.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(FILE_MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_MAX_BYTES {
        return Err(io::Error::other(format!("it has more than {} MiB", FILE_MAX_BYTES >> 20)));
    }
    Ok(text)
}

/// Returns the time of the last change of a file, where the system tells it.
pub(crate) fn changed_at(path: &Path) -> Option<Timestamp> {
    Timestamp::try_from(fs::metadata(path).ok()?.modified().ok()?).ok()
}

/// Lists the files below a folder whose names end with `.md`, in order. Links and hidden files are left alone.
pub(crate) fn markdown_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    visit(folder, 0, &mut found)?;
    found.sort();
    Ok(found)
}

fn visit(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if kind.is_dir() && depth < MAX_DEPTH {
            visit(&path, depth + 1, found)?;
        } else if kind.is_file() && path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
    Ok(())
}
