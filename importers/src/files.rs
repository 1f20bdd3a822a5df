//! Files of other programs, read within bounds.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure::{EntrySink, SourceError};
use crate::item::{SourceEntry, SourceItem, UnreadablePart};
use crate::source::ImportSource;

/// The most bytes of a file that is read whole.
const FILE_MAX_BYTES: u64 = 64 << 20;
/// The depth to which folders are looked into.
const MAX_DEPTH: usize = 8;

/// Reads a file whole, without the mark of its encoding.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(FILE_MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_MAX_BYTES {
        return Err(io::Error::other(format!("it has more than {} MiB", FILE_MAX_BYTES >> 20)));
    }
    let read = String::from_utf8(bytes).map_err(|error| {
        let right = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = right.iter().filter(|&&byte| byte == b'\n').count() + 1;
        io::Error::other(format!("line {line} is not UTF-8"))
    })?;
    Ok(read.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(read))
}

/// Returns the file of a source that a path names: the path itself, or in a folder the first there is of the files that
/// the program keeps its memories in.
pub(crate) fn file_of(source: ImportSource, place: &Path) -> Result<PathBuf, SourceError> {
    if !place.is_dir() {
        return Ok(place.to_owned());
    }
    let files: Vec<PathBuf> = source.file_names().iter().map(|name| place.join(name)).collect();
    if let Some(found) = files.iter().find(|file| file.is_file()) {
        return Ok(found.clone());
    }
    let looked_for = files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", nor at ");
    Err(SourceError::NotOfSource(format!("it is a folder, and there is no file at {looked_for}")))
}

/// Refuses a path that is no folder.
pub(crate) fn check_folder(place: &Path) -> Result<(), SourceError> {
    if place.is_file() {
        return Err(SourceError::NotOfSource("it is a file, and not a folder".to_owned()));
    }
    Ok(())
}

/// Makes the entry of a file that cannot be read while others of the source can.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> SourceEntry {
    SourceEntry::Unreadable(UnreadablePart { file: path.to_owned(), line: None, problem: error.to_string() })
}

/// Reads the memories of a JSON document one by one, so that one that cannot be read costs none of the others.
pub(crate) fn each_memory<T: DeserializeOwned>(
    path: &Path,
    memories: Vec<Value>,
    take: &mut EntrySink<'_>,
    item: impl Fn(T) -> SourceItem,
) -> Result<(), SourceError> {
    for (number, memory) in (1..).zip(memories) {
        take(match serde_json::from_value(memory) {
            Ok(memory) => SourceEntry::Item(item(memory)),
            Err(error) => unreadable(path, &io::Error::other(format!("memory {number}: {error}"))),
        })?;
    }
    Ok(())
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
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", folder.display()));
    for entry in fs::read_dir(folder).map_err(named)? {
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
