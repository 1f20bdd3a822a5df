//! Files that only their owner may read, and that are replaced whole.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// With its parents; nobody but the user may look into what is created.
pub(super) fn create_dir(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Replaces the file whole: after a crash the old content is there, or the new one.
pub(super) fn write_synced(path: &Path, content: &[u8]) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    fs::File::open(dir)?.sync_all()
}
