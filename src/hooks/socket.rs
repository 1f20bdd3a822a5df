//! The private socket on which hooks ask. It lies in a directory that this user alone may enter, and each end checks
//! whose the other one is. Clients hand on another environment to a server than to a hook, so that a hook looks in each
//! directory that a server may have taken.

use std::convert::Infallible;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use reasoning_bank_domain::text::hex::hex;
use reasoning_bank_store::files::try_lock;
use reasoning_bank_store::ownership::own_uid;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::HookActivity;
use super::answers::{HookAnswer, HookAnswers};
use super::question::HookQuestion;

/// A question or an answer is shorter than this.
const LINE_BYTES: u64 = 256 << 10;
/// The byte by which a hook says that it has printed the answer.
const PRINTED: u8 = b'\n';
/// A hook that has not asked, or has not printed the answer, after this time does not listen any more.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(1);
const AT_ONCE: usize = 32;
/// A server for hooks is not started again before this time is over.
const START_AGAIN_AFTER: Duration = Duration::from_secs(60);
/// After a connection that could not be taken, as where too many files are open, the next one is waited for so long.
const PAUSE: Duration = Duration::from_millis(50);

/// The directory of the sockets below that of the session.
const OF_SESSION: &str = "reasoning-bank";

/// The answer of a process that serves.
#[derive(Debug, Serialize, Deserialize)]
struct HookReply {
    /// The text for the agent; none where nothing is known.
    text: Option<String>,
}

/// The socket file of this process, removed with it.
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Answers hooks for as long as it is polled. Where there can be no socket, hooks are told nothing, and the log says
/// why.
pub(super) async fn listen(answers: Arc<HookAnswers>, activity: &HookActivity, data_dir: &Path) -> Infallible {
    match bind(data_dir).await {
        Ok((listener, _file, own)) => accept(&listener, own, answers, activity).await,
        Err(error) => {
            tracing::warn!("hooks are not answered: {error}");
            std::future::pending().await
        }
    }
}

async fn bind(data_dir: &Path) -> io::Result<(UnixListener, SocketFile, u32)> {
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
    let file = SocketFile(path.clone());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
    Ok((listener, file, own))
}

async fn accept(listener: &UnixListener, own: u32, answers: Arc<HookAnswers>, activity: &HookActivity) -> Infallible {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::debug!(%error, "a hook was not heard");
                sleep(PAUSE).await;
                continue;
            }
        };
        // More than that at once are told nothing.
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        if stream.peer_cred().is_ok_and(|peer| peer.uid() == own) {
            activity.asked.notify_one();
            activity.left.notify_one();
            let answers = Arc::clone(&answers);
            tokio::spawn(async move {
                let _place = place;
                let _ = answer_one(stream, &answers).await;
            });
        }
    }
}

async fn answer_one(stream: UnixStream, answers: &HookAnswers) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read.take(LINE_BYTES));
    let answer = timeout(QUESTION_TIMEOUT, async {
        let mut line = String::new();
        read.read_line(&mut line).await?;
        io::Result::Ok(answers.answer(serde_json::from_str(&line)?).await)
    });
    let HookAnswer { text, shown } = answer.await??;
    let mut reply = serde_json::to_string(&HookReply { text })?;
    reply.push('\n');
    let Some(shown) = shown else { return write.write_all(reply.as_bytes()).await };
    let newly_told = answers.sessions().note_told(&shown.told);
    let printed = timeout(QUESTION_TIMEOUT, async {
        write.write_all(reply.as_bytes()).await?;
        read.read_u8().await
    });
    match printed.await {
        Ok(Ok(PRINTED)) => answers.note(shown),
        // The time of the hook was up before it could print the answer.
        _ => answers.sessions().take_back(newly_told),
    }
    Ok(())
}

/// The answer of a process that serves the bank.
pub(crate) struct ServedAnswer {
    /// None where nothing is known.
    pub(crate) text: Option<String>,
    pub(crate) asked: AskedServer,
}

/// The process that answered. It counts the memories in its answer as shown once it is told that they were printed.
pub(crate) struct AskedServer(std::os::unix::net::UnixStream);

impl AskedServer {
    /// Tells the process that its answer was printed.
    pub(crate) fn note_printed(mut self) {
        // A process that has ended meanwhile counts nothing.
        let _ = self.0.write_all(&[PRINTED]);
    }
}

/// Asks the processes of this user that serve the bank, until one answers. None where nobody serves it.
pub(crate) async fn ask(data_dir: &Path, question: &HookQuestion) -> Option<ServedAnswer> {
    for socket in sockets_of(data_dir) {
        if let Some(stream) = connect(&socket).await
            && let Ok(reply) = ask_one(stream, question).await
        {
            return Some(reply);
        }
    }
    None
}

/// Tells whether a process of this user serves the bank.
pub(crate) async fn is_served(data_dir: &Path) -> bool {
    for socket in sockets_of(data_dir) {
        if connect(&socket).await.is_some() {
            return true;
        }
    }
    false
}

fn sockets_of(data_dir: &Path) -> Vec<PathBuf> {
    let Ok(own) = own_uid() else { return Vec::new() };
    let prefix = prefix(data_dir);
    directories_of_servers(own).iter().flat_map(|directory| sockets(directory, &prefix)).collect()
}

/// Connects to a process of this user. None where there is none any more, or it is another's.
async fn connect(socket: &Path) -> Option<UnixStream> {
    let stream = UnixStream::connect(socket).await.ok()?;
    let is_own = stream.peer_cred().ok()?.uid() == own_uid().ok()?;
    is_own.then_some(stream)
}

/// Tells whether a server for hooks may be started: nobody tried a short time ago. One that cannot open the bank ends,
/// and is not started again by each hook. From the call on, somebody has tried.
pub(crate) fn may_start_server(data_dir: &Path) -> bool {
    let Ok(directory) = own_uid().and_then(directory) else { return false };
    note_try(&directory.join(format!("{}.tried", prefix(data_dir)))).unwrap_or(false)
}

/// Notes in a file that a server is started now. False where that was noted a short time ago, or another hook notes it.
fn note_try(file: &Path) -> io::Result<bool> {
    let file = fs::File::options().create(true).truncate(false).write(true).open(file)?;
    if !try_lock(&file)? {
        return Ok(false);
    }
    let about = file.metadata()?;
    // A new file has nothing in it. A clock that was set back makes the time of the last try worthless.
    let is_recent = about.len() > 0 && about.modified()?.elapsed().is_ok_and(|age| age < START_AGAIN_AFTER);
    if !is_recent {
        file.set_len(0)?;
        (&file).write_all(b"1")?;
    }
    Ok(!is_recent)
}

async fn ask_one(mut stream: UnixStream, question: &HookQuestion) -> io::Result<ServedAnswer> {
    let mut line = serde_json::to_string(question)?;
    line.push('\n');
    stream.write_all(line.as_bytes()).await?;
    let mut reply = String::new();
    BufReader::new((&mut stream).take(LINE_BYTES)).read_line(&mut reply).await?;
    let HookReply { text } = serde_json::from_str(&reply)?;
    Ok(ServedAnswer { text, asked: AskedServer(stream.into_std()?) })
}

/// Returns the directory for a socket of this process, which is made where it is not there.
///
/// # Errors
/// None can be made that is this user's alone.
fn directory(own: u32) -> io::Result<PathBuf> {
    let temporary = of_temporary_files(own);
    let Some(runtime) = of_session() else { return private(temporary, own) };
    // The variable may name a directory that is not there.
    private(runtime, own).or_else(|_| private(temporary, own))
}

/// Returns the directories that sockets of this user may lie in, whatever environment their servers have. In the order
/// in which a server chooses its own.
fn directories_of_servers(own: u32) -> Vec<PathBuf> {
    let usual = Path::new("/run/user").join(own.to_string()).join(OF_SESSION);
    let mut found: Vec<PathBuf> = of_session().into_iter().chain([usual, of_temporary_files(own)]).collect();
    found.dedup();
    found.retain(|directory| is_private(directory, own).unwrap_or(false));
    found
}

/// Returns the directory below that of the session, where the environment names one.
fn of_session() -> Option<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").filter(|path| !path.is_empty());
    runtime.map(|runtime| Path::new(&runtime).join(OF_SESSION))
}

fn of_temporary_files(own: u32) -> PathBuf {
    std::env::temp_dir().join(format!("reasoning-bank-{own}"))
}

/// Makes a directory where it is not there.
///
/// # Errors
/// It cannot be made, or is not this user's alone.
fn private(directory: PathBuf, own: u32) -> io::Result<PathBuf> {
    match fs::DirBuilder::new().mode(0o700).create(&directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    if is_private(&directory, own)? {
        return Ok(directory);
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{} is open to others", directory.display())))
}

/// Tells whether a directory, and no link to one, may be entered by this user alone.
fn is_private(directory: &Path, own: u32) -> io::Result<bool> {
    let found = fs::symlink_metadata(directory)?;
    Ok(found.is_dir() && found.uid() == own && found.mode() & 0o077 == 0)
}

/// Returns what the names of the sockets of a bank begin with.
fn prefix(data_dir: &Path) -> String {
    let canonical = data_dir.canonicalize().unwrap_or_else(|_| data_dir.to_owned());
    hex(&Sha256::digest(canonical.as_os_str().as_encoded_bytes())[..8])
}

/// Lists the sockets of a bank, in the same order each time, so that one process sees all events of a session.
fn sockets(directory: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_of_bank = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| {
            name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('-') && rest.ends_with(".sock"))
        })
    };
    let mut sockets: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_of_bank).collect();
    sockets.sort_unstable();
    sockets
}
