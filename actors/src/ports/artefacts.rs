//! Artefacts: files and long texts that are kept beside the bodies of episodes. A content is kept once in its
//! workspace, and goes when the last episode that names it is erased. All calls block.

use std::io;

use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;

pub trait Artefacts: Send + Sync + 'static {
    /// Keeps a content for an episode that is stored next. When this returns, it is on the disk. `sha256` is its
    /// checksum as 64 hexadecimal digits.
    fn keep(&self, workspace: &WorkspaceId, episode: TraceId, sha256: &str, content: &[u8]) -> io::Result<()>;

    /// Reads a content. None where there is none with this checksum.
    fn read(&self, workspace: &WorkspaceId, sha256: &str) -> io::Result<Option<Vec<u8>>>;
}
