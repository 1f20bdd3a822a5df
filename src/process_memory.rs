//! What the system says of the memory that this process takes.

use serde::Serialize;

/// The memory of this process in bytes. None where the system does not say.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct ProcessMemory {
    pub(crate) now: Option<u64>,
    pub(crate) peak: Option<u64>,
}

/// Reads the memory of this process.
pub(crate) fn read() -> ProcessMemory {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kilobytes: u64 = line.trim_end_matches("kB").trim().parse().ok()?;
        Some(kilobytes * 1024)
    };
    ProcessMemory { now: bytes("VmRSS:"), peak: bytes("VmHWM:") }
}
