//! The memory that a process takes, as the system tells it.

use std::fmt::Display;

use serde::Serialize;

/// The memory of a process in bytes. None where the system does not say.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct ProcessMemory {
    pub(crate) now: Option<u64>,
    pub(crate) peak: Option<u64>,
}

/// Reads the memory of this process.
pub(crate) fn read() -> ProcessMemory {
    of("self")
}

/// Reads the memory of the process with this id.
pub(crate) fn of(process: impl Display) -> ProcessMemory {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let bytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kilobytes: u64 = line.trim_end_matches("kB").trim().parse().ok()?;
        Some(kilobytes * 1024)
    };
    ProcessMemory { now: bytes("VmRSS:"), peak: bytes("VmHWM:") }
}
