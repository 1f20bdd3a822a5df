//! Artefacts of episodes, each content once in its workspace. All calls block.
//!
//! ```text
//! artefacts/WORKSPACE/AB/AB….zst     the content, compressed; AB… is its SHA-256 checksum
//! artefacts/WORKSPACE/AB/AB….of/ID   an empty file for each episode that names it
//! ```
//!
//! The name of the episode is there before the content, and the content before the episode is stored. So what is left
//! of an episode that was never stored, or was erased, is found by its name: [`ArtefactFiles::named`] lists the names,
//! and [`ArtefactFiles::release`] takes away those of episodes that are gone, with the contents that nobody names any
//! more.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use reasoning_bank_actors::ports::Artefacts;
use reasoning_bank_domain::episode::ARTEFACT_MAX_BYTES;
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;

use super::data_dir;
use super::files::{create_dir, open_private, remove_if_there, sync_dir, unless_gone, write_synced};

const CONTENT: &str = "zst";
const NAMES: &str = "of";
const LEVEL: i32 = 3;
/// The time for which the episode of a name may be on its way into the store.
const UNDER_WAY: Duration = Duration::from_secs(3_600);

/// The artefacts below a data directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtefactFiles {
    dir: PathBuf,
}

/// The name of an episode at an artefact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedBy {
    pub workspace: WorkspaceId,
    pub episode: TraceId,
    /// The file of the name.
    path: PathBuf,
}

impl NamedBy {
    /// Says whether the episode has been stored by now, if it ever is.
    pub(crate) fn is_overdue(&self) -> bool {
        let named_at = fs::metadata(&self.path).and_then(|name| name.modified());
        let age = named_at.map(|at| SystemTime::now().duration_since(at).unwrap_or_default());
        age.is_ok_and(|age| age > UNDER_WAY)
    }
}

impl ArtefactFiles {
    pub fn of(data_dir: &Path) -> Self {
        Self { dir: data_dir.join(data_dir::ARTEFACTS) }
    }

    fn workspace(&self, workspace: &WorkspaceId) -> PathBuf {
        self.dir.join(workspace.as_str())
    }

    fn path(&self, workspace: &WorkspaceId, sha256: &str) -> io::Result<PathBuf> {
        let is_checksum = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_checksum {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "an artefact is named by its SHA-256 checksum"));
        }
        Ok(self.workspace(workspace).join(&sha256[..2]).join(sha256).with_extension(CONTENT))
    }

    /// Lists who names what. Directories that are not of artefacts are left alone.
    pub(crate) fn named(&self) -> io::Result<Vec<NamedBy>> {
        let mut named = Vec::new();
        for workspace in entries(&self.dir)? {
            let Some(id) = file_name(&workspace).and_then(|name| name.parse::<WorkspaceId>().ok()) else { continue };
            for part in entries(&workspace)? {
                let names = entries(&part)?.into_iter().filter(|path| path.extension().is_some_and(|end| end == NAMES));
                for path in names.map(|names| entries(&names)).collect::<io::Result<Vec<_>>>()?.into_iter().flatten() {
                    let Some(episode) = file_name(&path).and_then(|name| name.parse().ok()) else { continue };
                    named.push(NamedBy { workspace: id.clone(), episode, path });
                }
            }
        }
        Ok(named)
    }

    /// Removes these names, and the contents that no episode names any more.
    pub(crate) fn release(&self, gone: &[NamedBy]) -> io::Result<()> {
        for of_one in gone.chunk_by(|one, other| one.workspace == other.workspace) {
            let Some(_locked) = self.locked(&of_one[0].workspace)? else { continue };
            for name in of_one {
                remove_if_there(&name.path)?;
                let Some(names) = name.path.parent() else { continue };
                // A directory that still holds names stays.
                if fs::remove_dir(names).is_ok() {
                    remove_if_there(&names.with_extension(CONTENT))?;
                }
            }
        }
        Ok(())
    }

    /// Takes the lock of a workspace; none where it has no artefacts.
    fn locked(&self, workspace: &WorkspaceId) -> io::Result<Option<File>> {
        let Some(dir) = unless_gone(File::open(self.workspace(workspace)))? else { return Ok(None) };
        dir.lock()?;
        Ok(Some(dir))
    }
}

impl Artefacts for ArtefactFiles {
    fn keep(&self, workspace: &WorkspaceId, episode: TraceId, sha256: &str, content: &[u8]) -> io::Result<()> {
        let path = self.path(workspace, sha256)?;
        let names = path.with_extension(NAMES);
        let mut packed = zstd::Encoder::new(Vec::new(), LEVEL)?;
        packed.write_all(content)?;
        let packed = packed.finish()?;
        create_dir(&self.workspace(workspace))?;
        let _locked = self.locked(workspace)?;
        create_dir(&names)?;
        open_private(&names.join(episode.to_string()), File::options().append(true))?;
        sync_dir(&names)?;
        if path.try_exists()? {
            return Ok(());
        }
        write_synced(&path, &packed)
    }

    fn read(&self, workspace: &WorkspaceId, sha256: &str) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = unless_gone(File::open(self.path(workspace, sha256)?))? else { return Ok(None) };
        let mut content = Vec::new();
        zstd::Decoder::new(file)?.take(ARTEFACT_MAX_BYTES as u64).read_to_end(&mut content)?;
        Ok(Some(content))
    }
}

/// Lists what is in a directory; nothing where it is not there, or is none.
fn entries(dir: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn file_name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_content_is_kept_once_and_goes_with_the_last_that_names_it() {
        let place = tempfile::tempdir().unwrap();
        let files = ArtefactFiles::of(place.path());
        let (shop, bank) = (WorkspaceId::of_root("/shop"), WorkspaceId::of_root("/bank"));
        let (one, other) = (TraceId::from(Uuid::from_u128(1)), TraceId::from(Uuid::from_u128(2)));
        let sha256 = "ab".repeat(32);
        assert_eq!(files.read(&shop, &sha256).unwrap(), None);
        let content = "log line\n".repeat(10_000).into_bytes();
        for (workspace, episode) in [(&shop, one), (&shop, other), (&shop, one), (&bank, other)] {
            files.keep(workspace, episode, &sha256, &content).unwrap();
        }
        assert_eq!(files.read(&shop, &sha256).unwrap(), Some(content));
        let path = files.path(&shop, &sha256).unwrap();
        assert!(path.ends_with(format!("artefacts/{shop}/ab/{sha256}.zst")));
        assert!(fs::metadata(&path).unwrap().len() < 1_000, "it is compressed");
        let of = |workspace: &WorkspaceId, episode| {
            let named = files.named().unwrap().into_iter();
            named.filter(|name| name.workspace == *workspace && name.episode == episode).collect::<Vec<_>>()
        };
        assert_eq!((files.named().unwrap().len(), of(&shop, one).len()), (3, 1));
        assert!(!of(&shop, one)[0].is_overdue());
        files.release(&of(&shop, one)).unwrap();
        assert!(path.exists() && of(&shop, one).is_empty());
        files.release(&of(&shop, other)).unwrap();
        assert_eq!(files.read(&shop, &sha256).unwrap(), None);
        assert!(files.read(&bank, &sha256).unwrap().is_some());
        assert!(files.read(&bank, "../../x").is_err());
    }
}
