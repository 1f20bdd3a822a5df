//! Starts the server as a client does, and asks for its tools.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use reasoning_bank_clients::ServerCommand;
use serde_json::{Value, json};

/// A first start makes the bank and loads the embedding model.
const TIMEOUT: Duration = Duration::from_secs(60);
const END_TIMEOUT: Duration = Duration::from_secs(5);
/// The bound is above what a server says of itself.
const LINE_BYTES: u64 = 8 << 20;
const LIST_ID: u64 = 2;

/// Returns how many tools the server lists.
///
/// # Errors
/// The reason why there is no list, in the server's words where it said some.
pub(super) fn listed_tools(server: &ServerCommand, directory: &Path) -> Result<usize, String> {
    let mut said = tempfile::tempfile().map_err(|error| error.to_string())?;
    let stderr = said.try_clone().map_err(|error| error.to_string())?;
    let mut child = Command::new(&server.program)
        .args(&server.arguments)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(stderr)
        .spawn()
        .map_err(|error| format!("{}: {error}", server.program))?;
    let answer = ask(&mut child);
    end(&mut child);
    answer.map_err(|reason| {
        let mut text = String::new();
        let read = said.seek(SeekFrom::Start(0)).and_then(|_| said.take(LINE_BYTES).read_to_string(&mut text));
        let last = text.lines().rfind(|line| line.contains("error")).filter(|_| read.is_ok());
        last.map_or(reason, str::to_owned)
    })
}

fn ask(child: &mut Child) -> Result<usize, String> {
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("it has no input and output".to_owned());
    };
    let (sender, answers) = mpsc::channel();
    thread::spawn(move || {
        let mut reader = BufReader::new(stdout);
        loop {
            let mut line = String::new();
            match reader.by_ref().take(LINE_BYTES).read_line(&mut line) {
                Ok(1..) if sender.send(line).is_ok() => {}
                _ => break,
            }
        }
    });
    let client = json!({ "name": "reasoning-bank-setup", "version": env!("CARGO_PKG_VERSION") });
    let initialize = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let requests = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": LIST_ID, "method": "tools/list" }),
    ];
    let until = Instant::now() + TIMEOUT;
    for request in requests {
        writeln!(stdin, "{request}").map_err(|error| format!("it ended before it was asked: {error}"))?;
    }
    loop {
        let line = answers
            .recv_timeout(until.saturating_duration_since(Instant::now()))
            .map_err(|_| "it ended, or did not answer within a minute".to_owned())?;
        let answer: Value =
            serde_json::from_str(&line).map_err(|error| format!("it wrote what is no message: {error}"))?;
        if answer["id"] == LIST_ID {
            let tools = answer["result"]["tools"].as_array();
            return tools.map(Vec::len).ok_or_else(|| format!("it lists no tools: {}", answer["error"]));
        }
        if let Some(error) = answer.get("error") {
            return Err(format!("it answers with an error: {error}"));
        }
    }
}

/// Waits for the server, which ends when its input does.
fn end(child: &mut Child) {
    let until = Instant::now() + END_TIMEOUT;
    while Instant::now() < until {
        match child.try_wait() {
            Ok(None) => thread::sleep(Duration::from_millis(10)),
            _ => return,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
}
