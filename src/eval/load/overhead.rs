//! This file measures what the protocol over HTTP adds to a call. The same call goes to a daemon and to a process over
//! stdio, by turns, and both have one lesson to search.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::time::{Instant, sleep, timeout};

use super::client::{HttpClient, McpClient, ToolAnswer, initialize, initialized, tool_call};
use super::daemon::{DaemonProcess, command};
use super::failed;
use super::traffic::LoadLesson;
use crate::eval::EvalError;
use crate::eval::speed::ms;

/// The number of calls of each that are compared, after some that are not.
const CALLS: usize = 200;
const WARMING: usize = 20;
const PAUSE: Duration = Duration::from_millis(12);
/// The key of a workspace that no client of the load uses.
const KEY: &str = "overhead";
/// The embedding model loads in well under a second.
const MODEL_TIMEOUT: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The times of the calls in milliseconds.
pub(super) struct CallTimes {
    pub(super) http_ms: Vec<f64>,
    pub(super) stdio_ms: Vec<f64>,
}

/// Measures both. It returns when the models of both processes are loaded at the earliest.
pub(super) async fn measure(
    daemon: &DaemonProcess,
    token: &str,
    data_dir: &Path,
    project: &Path,
) -> Result<CallTimes, EvalError> {
    let mut http = Transport::Http(McpClient::new(HttpClient::new(daemon.address, token, KEY.to_owned())));
    let mut stdio = Transport::Stdio(StdioProcess::start(data_dir, project).await?);
    for transport in [&mut http, &mut stdio] {
        transport.call("record_memory", &LoadLesson::of(0).arguments()).await?;
        let loaded = async {
            while transport.retrieve().await?["mode"] != "hybrid" {
                sleep(LOOK_EVERY).await;
            }
            Ok::<(), EvalError>(())
        };
        timeout(MODEL_TIMEOUT, loaded).await.map_err(|error| failed("the embedding model")(&error))??;
    }
    let mut times = CallTimes { http_ms: Vec::new(), stdio_ms: Vec::new() };
    for call in 0..WARMING + CALLS {
        let (http, stdio) = (timed(&mut http).await?, timed(&mut stdio).await?);
        if call >= WARMING {
            times.http_ms.push(http);
            times.stdio_ms.push(stdio);
        }
        // One token may not ask as often as one process can.
        sleep(PAUSE).await;
    }
    Ok(times)
}

async fn timed(transport: &mut Transport) -> Result<f64, EvalError> {
    let begun = Instant::now();
    transport.retrieve().await?;
    Ok(ms(begun.elapsed()))
}

enum Transport {
    Http(McpClient),
    Stdio(StdioProcess),
}

impl Transport {
    async fn retrieve(&mut self) -> Result<Value, EvalError> {
        self.call("retrieve_memories", &json!({"query": "what to do about it"})).await
    }

    async fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, EvalError> {
        let failed = failed("a call that is compared");
        let answer = match self {
            Self::Http(client) => client.call(tool, arguments).await.map_err(|error| failed(&error))?,
            Self::Stdio(process) => {
                let message = process.request(&tool_call(tool, arguments)).await?;
                ToolAnswer::of(&message).map_err(|error| failed(&error))?
            }
        };
        match answer.error_code() {
            None => Ok(answer.document),
            Some(_) => Err(failed(&answer.document)),
        }
    }
}

/// A process of `mcp`, spoken to line by line. It is killed when this is dropped.
struct StdioProcess {
    _child: Child,
    stdin: ChildStdin,
    stdout: Lines<BufReader<ChildStdout>>,
}

impl StdioProcess {
    async fn start(data_dir: &Path, project: &Path) -> Result<Self, EvalError> {
        let failed = failed("the process over stdio");
        let mut command = command(data_dir, &["--workspace"])?;
        let child = command.arg(project).arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| failed(&error))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(&"it has no pipes"));
        };
        let mut process = Self { _child: child, stdin, stdout: BufReader::new(stdout).lines() };
        process.request(&initialize()).await?;
        process.send(&initialized()).await?;
        Ok(process)
    }

    async fn send(&mut self, message: &Value) -> Result<(), EvalError> {
        let sent = self.stdin.write_all(format!("{message}\n").as_bytes()).await;
        sent.map_err(|error| failed("the process over stdio")(&error))
    }

    /// Sends a request and reads the next message, which is its answer: nothing else is asked meanwhile.
    async fn request(&mut self, message: &Value) -> Result<Value, EvalError> {
        let failed = failed("the process over stdio");
        self.send(message).await?;
        let line = self.stdout.next_line().await.map_err(|error| failed(&error))?;
        let line = line.ok_or_else(|| failed(&"it ended"))?;
        serde_json::from_str(&line).map_err(|error| failed(&error))
    }
}
