//! The real binary as an MCP client sees it: lines of JSON on its stdin and stdout, logs on its stderr.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::Place;

/// The time for an answer, or for the end of the process. It is far above what either takes, for machines that are
/// busy.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct McpProcess {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Receiver<String>,
    stderr: Option<JoinHandle<String>>,
    last_id: u64,
}

/// The end of the process after it was told to.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

impl McpProcess {
    /// Starts `reasoning-bank ARGUMENTS mcp`.
    pub(crate) fn start(place: &Place, arguments: &[&str]) -> Self {
        Self::spawn(place.command(&[arguments, &["mcp"]].concat()))
    }

    /// A command that serves.
    pub(crate) fn spawn(mut command: Command) -> Self {
        command.stderr(Stdio::piped());
        Self::spawn_with_its_stderr(command)
    }

    /// The same; its stderr is not read here unless it is a pipe to here.
    pub(crate) fn spawn_with_its_stderr(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, stdout) = channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let stderr = child.stderr.take().map(|mut stderr| {
            std::thread::spawn(move || {
                let mut text = Vec::new();
                let _ = stderr.read_to_end(&mut text);
                String::from_utf8_lossy(&text).into_owned()
            })
        });
        Self { stdin: child.stdin.take(), child, stdout, stderr, last_id: 0 }
    }

    /// The same, past the handshake.
    pub(crate) fn initialized(place: &Place, arguments: &[&str]) -> Self {
        let mut process = Self::start(place, arguments);
        process.initialize();
        process
    }

    #[track_caller]
    pub(crate) fn initialize(&mut self) {
        self.initialize_with(json!({}));
    }

    /// The handshake of a client with these capabilities.
    #[track_caller]
    pub(crate) fn initialize_with(&mut self, capabilities: Value) {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client});
        let answer = self.request("initialize", params);
        assert_eq!(answer["result"]["serverInfo"]["name"], "reasoning-bank", "{answer}");
        self.send(&json!({"method": "notifications/initialized"}));
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        self.write(format!("{message}\n").as_bytes());
    }

    /// The next message; nothing but messages comes on stdout.
    #[track_caller]
    pub(crate) fn read(&mut self) -> Value {
        let line = match self.stdout.recv_timeout(TIMEOUT) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => panic!("no answer after {TIMEOUT:?}"),
            Err(RecvTimeoutError::Disconnected) => panic!("stdout ended: {}", self.kill()),
        };
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        message
    }

    /// Sends a request and returns its answer.
    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        self.send(&json!({"id": self.last_id, "method": method, "params": params}));
        let answer = self.read();
        assert_eq!(answer["id"], self.last_id, "{answer}");
        answer
    }

    /// Calls a tool, answers the one request that the server sends meanwhile, and returns it with the call's result.
    #[track_caller]
    pub(crate) fn call_and_answer(&mut self, tool: &str, arguments: Value, answer: Value) -> (Value, Value) {
        self.last_id += 1;
        let params = json!({"name": tool, "arguments": arguments});
        self.send(&json!({"id": self.last_id, "method": "tools/call", "params": params}));
        let asked = self.read();
        self.send(&json!({"id": asked["id"], "result": answer}));
        let result = self.read();
        assert_eq!(result["id"], self.last_id, "{result}");
        (asked, result["result"].clone())
    }

    #[track_caller]
    fn result(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"));
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
        result.clone()
    }

    /// Calls a tool that succeeds.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result(tool, arguments);
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].clone()
    }

    /// Calls a tool that fails; the document of its error.
    #[track_caller]
    pub(crate) fn call_failing(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        result["structuredContent"].clone()
    }

    /// Returns the id of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Closes the input and waits for the process to end by itself.
    #[track_caller]
    pub(crate) fn end(mut self) -> Ended {
        self.close_input();
        self.ended()
    }

    /// Waits for the process to end although its input is open.
    #[track_caller]
    pub(crate) fn ended_by_itself(mut self) -> Ended {
        self.ended()
    }

    /// Sends a signal, such as `TERM`, and waits for the process to end by itself.
    #[track_caller]
    pub(crate) fn end_by(mut self, signal: &str) -> Ended {
        let sent = Command::new("kill").args(["-s", signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        self.ended()
    }

    #[track_caller]
    fn ended(&mut self) -> Ended {
        let begun = Instant::now();
        // The end of stdout is the end of the process: nobody else holds it.
        loop {
            match self.stdout.recv_timeout(TIMEOUT) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("still running {TIMEOUT:?} after it was told to end"),
            }
        }
        let status = self.child.wait().unwrap();
        let stderr = self.stderr.take().map(|stderr| stderr.join().unwrap()).unwrap_or_default();
        Ended { status, stderr, took: begun.elapsed() }
    }

    pub(crate) fn kill(&mut self) -> String {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.stderr.take().and_then(|stderr| stderr.join().ok()).unwrap_or_default()
    }
}

impl Drop for McpProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
