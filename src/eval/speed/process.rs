//! The processes of a measurement: started from the binary that runs, with its arguments and its settings; what is to be
//! done comes on stdin, what was measured goes to stdout. And what a process and a directory take.

use std::io::{self, BufRead, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Order;
use crate::eval::EvalError;

/// The argument by which a process knows that it is to do a part.
pub(crate) const PART: &str = "--part";

/// Starts a process for the part and waits for what it measured.
pub(crate) fn run<T: DeserializeOwned>(order: &Order) -> Result<T, EvalError> {
    let failed = |error: &dyn std::fmt::Display| EvalError::Part(format!("{:?}: {error}", order.part));
    let binary = std::env::current_exe().map_err(|error| failed(&error))?;
    let mut child = Command::new(binary)
        .args(std::env::args_os().skip(1))
        .arg(PART)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&error))?;
    // Open to the end: a part whose stdin ends has nobody who waits for it.
    let mut orders = child.stdin.take();
    if let Some(orders) = &mut orders {
        let order = serde_json::to_string(order).map_err(|error| failed(&error))?;
        // Where the process is gone already, its exit says why.
        let _ = writeln!(orders, "{order}").and_then(|()| orders.flush());
    }
    let output = child.wait_with_output().map_err(|error| failed(&error))?;
    drop(orders);
    if !output.status.success() {
        return Err(failed(&output.status));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(&error))
}

/// The order of this process, which ends with the one that gave it.
pub(crate) fn order() -> Result<Order, EvalError> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(|error| EvalError::Part(error.to_string()))?;
    let order = serde_json::from_str(&line).map_err(|error| EvalError::Part(error.to_string()))?;
    std::thread::spawn(|| {
        let _ = io::stdin().lock().read(&mut [0]);
        std::process::exit(1);
    });
    Ok(order)
}

/// Milliseconds of Unix time.
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, super::ms)
}

/// What this process has of memory, in bytes; none where the system does not say.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Memory {
    pub(crate) now: Option<u64>,
    pub(crate) peak: Option<u64>,
}

pub(crate) fn memory() -> Memory {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kilobytes: u64 = line.trim_end_matches("kB").trim().parse().ok()?;
        Some(kilobytes * 1024)
    };
    Memory { now: bytes("VmRSS:"), peak: bytes("VmHWM:") }
}

/// Of all files in the directory and below.
pub(crate) fn disk_bytes(directory: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { disk_bytes(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}
