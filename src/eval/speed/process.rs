//! The processes of a measurement. Each is started from the running binary with its arguments and settings; it reads
//! its order from stdin and writes what it measured to stdout. The file also adds up the disk space of a directory.

use std::io::{self, BufRead, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;

use super::Order;
use crate::eval::EvalError;

/// This argument tells a process that it is to do a part.
pub(crate) const PART: &str = "--part";

/// Starts a process for the part and waits for what it measured. The process ends when nobody waits for it any more.
pub(crate) async fn run<T: DeserializeOwned>(order: &Order) -> Result<T, EvalError> {
    let failed = |error: &dyn std::fmt::Display| EvalError::Part(format!("{:?}: {error}", order.part));
    let binary = std::env::current_exe().map_err(|error| failed(&error))?;
    let child = Command::new(binary)
        .args(std::env::args_os().skip(1))
        .arg(PART)
        // The files that the process leaves there are removed with everything else.
        .env("TMPDIR", &order.dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&error))?;
    let mut running = RunningPart(child);
    // The pipe stays open: a part whose stdin ends has nobody who waits for it.
    if let Some(orders) = &mut running.0.stdin {
        let order = serde_json::to_string(order).map_err(|error| failed(&error))?;
        // The exit of a process that is gone already says why.
        let _ = writeln!(orders, "{order}").and_then(|()| orders.flush());
    }
    let stdout = running.0.stdout.take();
    let reading = tokio::task::spawn_blocking(|| stdout.map_or(Ok(String::new()), io::read_to_string));
    let measured = reading.await.map_err(|error| failed(&error))?.map_err(|error| failed(&error))?;
    // Its output ends with it.
    let status = running.0.wait().map_err(|error| failed(&error))?;
    if !status.success() {
        return Err(failed(&status));
    }
    serde_json::from_str(&measured).map_err(|error| failed(&error))
}

/// A process that is killed when this is dropped: nothing is written any more.
struct RunningPart(Child);

impl Drop for RunningPart {
    fn drop(&mut self) {
        // Both calls do nothing where the process is over already.
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// Reads the order of this process. The process ends with the one that gave the order.
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

/// Returns the milliseconds of Unix time.
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, super::ms)
}

/// Adds up the bytes of all files in the directory and below.
pub(crate) fn disk_bytes(directory: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { disk_bytes(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}
