//! The daemon that is measured: a process of the binary that runs, with the configuration in force, on a data directory
//! of its own. It is killed when this is dropped.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

use super::client::HttpClient;
use super::failed;
use crate::eval::EvalError;
use crate::mcp::PATH;

/// A daemon that has not said where it listens, or is not ready, by then has failed.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// The time after which a daemon that was asked to end, and still runs, is killed.
const END_TIMEOUT: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(1);

pub(super) struct DaemonProcess {
    child: Child,
    started: Instant,
    pub(super) address: SocketAddr,
}

/// The end of a daemon that was asked to end.
pub(super) struct DaemonEnd {
    pub(super) took: Duration,
    pub(super) status: ExitStatus,
}

/// The line in which a daemon says that it listens.
#[derive(Deserialize)]
struct Announced {
    url: String,
}

/// Prepares a command of the binary that runs, on the data directory.
pub(super) fn command(data_dir: &Path, arguments: &[&str]) -> Result<Command, EvalError> {
    let mut command = Command::new(std::env::current_exe().map_err(|error| failed("the binary")(&error))?);
    command.arg("--data-dir").arg(data_dir).args(["--llm", "none", "--quiet"]).args(arguments).kill_on_drop(true);
    Ok(command)
}

impl DaemonProcess {
    /// Starts a daemon and returns when it listens.
    pub(super) async fn start(data_dir: &Path) -> Result<Self, EvalError> {
        let started = Instant::now();
        let mut command = command(data_dir, &["--json", "serve", "--listen", "127.0.0.1:0"])?;
        let failed = failed("the start of the daemon");
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| failed(&error))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            let read = timeout(START_TIMEOUT, BufReader::new(stdout).read_line(&mut line)).await;
            read.map_err(|error| failed(&error))?.map_err(|error| failed(&error))?;
        }
        let Announced { url } = serde_json::from_str(&line).map_err(|error| failed(&error))?;
        let address = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix(PATH)).unwrap_or_default();
        let address = address.parse().map_err(|error| failed(&error))?;
        Ok(Self { child, started, address })
    }

    /// Returns when the daemon says that it is ready, with the time since its start.
    pub(super) async fn ready(&self) -> Result<Duration, EvalError> {
        // The probe needs no token.
        let mut probe = HttpClient::new(self.address, "", String::new());
        let ready = async {
            while !probe.get("/readyz").await.is_ok_and(|answer| answer.status.is_success()) {
                sleep(LOOK_EVERY).await;
            }
            self.started.elapsed()
        };
        timeout(START_TIMEOUT, ready).await.map_err(|error| failed("the daemon is not ready")(&error))
    }

    /// Returns the id of the process. None once it has ended.
    pub(super) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Asks the daemon to end, and waits until it has.
    pub(super) async fn terminate(mut self) -> Result<DaemonEnd, EvalError> {
        let failed = failed("the end of the daemon");
        let asked = Instant::now();
        let id = self.child.id().ok_or_else(|| failed(&"it had ended by itself"))?;
        let signal = Command::new("kill").args(["-s", "TERM", &id.to_string()]).status().await;
        signal.map_err(|error| failed(&error))?;
        let status = timeout(END_TIMEOUT, self.child.wait()).await;
        let status = status.map_err(|error| failed(&error))?.map_err(|error| failed(&error))?;
        Ok(DaemonEnd { took: asked.elapsed(), status })
    }

    /// Kills the daemon at once (SIGKILL), whatever it does.
    pub(super) async fn kill(mut self) -> Result<(), EvalError> {
        self.child.kill().await.map_err(|error| failed("the kill of the daemon")(&error))
    }
}
