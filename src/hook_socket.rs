//! The private socket on which a process that serves a bank answers the hooks of this user's clients. A hook lives for a
//! tenth of a second, too short to open a bank of its own.
//!
//! The socket lies in a directory that this user alone may enter, and each end checks whose the other one is.

use std::convert::Infallible;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use reasoning_bank_actors::memories::RetrieveRequest;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::memory::gist;
use reasoning_bank_domain::memory::signature::Signature;
use reasoning_bank_domain::prompt::{one_line, quoted_lines, recalled_notes};
use reasoning_bank_domain::retrieval::conditions::Conditions;
use reasoning_bank_domain::retrieval::responses::{MemoryView, RecalledView};
use reasoning_bank_domain::text::shortened;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::project::{self, Identity};

/// A question or an answer is shorter than this.
const LINE_BYTES: u64 = 256 << 10;
/// The bank has this long for an answer, so that the hook has some left.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(80);
/// A hook that has not asked after this time does not ask any more.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(1);
const AT_ONCE: usize = 16;
const WARNINGS_MAX: usize = 3;
const WARNING_CHARS: usize = 1_500;

/// What a hook asks.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HookQuestion {
    /// The absolute path of a directory in the project that the client works in.
    pub(crate) directory: PathBuf,
    /// What a failed tool printed. None asks what is known in the workspace.
    pub(crate) error: Option<String>,
}

/// What the agent is told; none where nothing is known.
#[derive(Debug, Serialize, Deserialize)]
struct HookReply {
    text: Option<String>,
}

/// The socket file of this process, removed with it.
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Answers hooks for as long as it is polled. Where there can be no socket, hooks are told nothing, and the log says why.
pub(crate) async fn answer_hooks(system: SystemHandle, data_dir: &Path, identity: Identity) -> Infallible {
    if let Err(error) = listen(system, data_dir, identity).await {
        tracing::warn!("hooks are not answered: {error}");
    }
    std::future::pending().await
}

async fn listen(system: SystemHandle, data_dir: &Path, identity: Identity) -> io::Result<()> {
    let own = own_uid()?;
    let directory = directory(own)?;
    let prefix = prefix(data_dir);
    for other in sockets(&directory, &prefix) {
        // A process that was killed leaves its file behind.
        let connected = UnixStream::connect(&other).await;
        if connected.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
            let _ = fs::remove_file(&other);
        }
    }
    let path = directory.join(format!("{prefix}-{}.sock", std::process::id()));
    let listener = UnixListener::bind(&path)?;
    let _file = SocketFile(path.clone());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
    let places = Arc::new(Semaphore::new(AT_ONCE));
    loop {
        let (stream, _) = listener.accept().await?;
        // More than that at once are told nothing.
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        if stream.peer_cred().is_ok_and(|peer| peer.uid() == own) {
            let system = system.clone();
            tokio::spawn(async move {
                let _place = place;
                let _ = timeout(QUESTION_TIMEOUT, answer_one(stream, &system, identity)).await;
            });
        }
    }
}

async fn answer_one(stream: UnixStream, system: &SystemHandle, identity: Identity) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut line = String::new();
    BufReader::new(read.take(LINE_BYTES)).read_line(&mut line).await?;
    let question: HookQuestion = serde_json::from_str(&line)?;
    let text = match (project::root(&question.directory, &question.directory, identity), question.error) {
        (Ok(root), Some(error)) => warnings(system, WorkspaceRef::Root(root), error).await,
        (Ok(root), None) => known(system, WorkspaceRef::Root(root)).await,
        (Err(_), _) => None,
    };
    let mut reply = serde_json::to_string(&HookReply { text })?;
    reply.push('\n');
    write.write_all(reply.as_bytes()).await
}

/// Returns the warnings whose error is the one that was met. One that is only similar would be noise at every failure.
async fn warnings(system: &SystemHandle, workspace: WorkspaceRef, error: String) -> Option<String> {
    let met = Signature::of(&error, None);
    let request = RetrieveRequest {
        conditions: Conditions { warnings_only: true, ..Conditions::default() },
        error_signature: Some(error.clone()),
        // The signature decides, so the words will do.
        embedding_timeout: Some(Duration::ZERO),
        ..RetrieveRequest::new(gist(&error), workspace, WARNINGS_MAX)
    };
    let found = system.memories.retrieve(request, Deadline::after(ANSWER_TIMEOUT)).await.ok()?;
    let is_about = |found: &&RecalledView| {
        found.outdated_by.is_none()
            && found.memory.error_context.as_ref().is_some_and(|error| error.signature().matches(&met))
    };
    let notes: String = found.memories.iter().filter(is_about).filter_map(|found| warning(&found.memory)).collect();
    (!notes.is_empty()).then(|| format!("This error was met before in this project.\n{}", recalled_notes(&notes)))
}

fn warning(memory: &MemoryView) -> Option<String> {
    let error = memory.error_context.as_ref()?;
    let part = |text: &str| shortened(&one_line(text), WARNING_CHARS);
    Some(format!(
        "warning {}, confidence {:.2}\n{}",
        memory.id,
        memory.confidence,
        quoted_lines(&format!(
            "{}\nWhat failed: {}\nWhat to do instead: {}",
            part(&memory.title),
            part(&error.failure_pattern),
            part(&error.corrective_guidance)
        ))
    ))
}

async fn known(system: &SystemHandle, workspace: WorkspaceRef) -> Option<String> {
    let deadline = Deadline::after(ANSWER_TIMEOUT);
    let workspace = system.workspaces.resolve(&workspace, deadline).await.ok()?.workspace.id;
    let held = system.store.held(workspace, deadline).await.ok()?;
    let memories = match held.memories {
        0 => return None,
        1 => "1 memory".to_owned(),
        count => format!("{count} memories"),
    };
    Some(format!(
        "reasoning-bank has {memories} of this project. The tool retrieve_memories finds what fits a task or an error."
    ))
}

/// Asks the processes of this user that serve the bank, until one answers.
pub(crate) async fn ask(data_dir: &Path, question: &HookQuestion) -> Option<String> {
    let own = own_uid().ok()?;
    let directory = directory(own).ok()?;
    for socket in sockets(&directory, &prefix(data_dir)) {
        let Ok(stream) = UnixStream::connect(&socket).await else { continue };
        if !stream.peer_cred().is_ok_and(|peer| peer.uid() == own) {
            continue;
        }
        if let Ok(text) = ask_one(stream, question).await {
            return text;
        }
    }
    None
}

async fn ask_one(mut stream: UnixStream, question: &HookQuestion) -> io::Result<Option<String>> {
    let mut line = serde_json::to_string(question)?;
    line.push('\n');
    stream.write_all(line.as_bytes()).await?;
    let mut reply = String::new();
    BufReader::new(stream.take(LINE_BYTES)).read_line(&mut reply).await?;
    Ok(serde_json::from_str::<HookReply>(&reply)?.text)
}

/// Returns the user of this process, as the other end of a socket sees him.
fn own_uid() -> io::Result<u32> {
    let (one, _other) = UnixStream::pair()?;
    Ok(one.peer_cred()?.uid())
}

/// Returns the directory of the sockets, which is made where it is not there.
///
/// # Errors
/// It cannot be made, or is not this user's alone.
fn directory(own: u32) -> io::Result<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").filter(|path| !path.is_empty());
    let directory = match runtime {
        Some(runtime) => Path::new(&runtime).join("reasoning-bank"),
        None => std::env::temp_dir().join(format!("reasoning-bank-{own}")),
    };
    match fs::DirBuilder::new().mode(0o700).create(&directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = fs::symlink_metadata(&directory)?;
    if found.is_dir() && found.uid() == own && found.mode() & 0o077 == 0 {
        return Ok(directory);
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{} is open to others", directory.display())))
}

/// Returns what the names of the sockets of a bank begin with.
fn prefix(data_dir: &Path) -> String {
    let canonical = data_dir.canonicalize().unwrap_or_else(|_| data_dir.to_owned());
    let hash = Sha256::digest(canonical.as_os_str().as_encoded_bytes());
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn sockets(directory: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_of_bank = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| {
            name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('-') && rest.ends_with(".sock"))
        })
    };
    entries.map(|entry| entry.path()).filter(is_of_bank).collect()
}
