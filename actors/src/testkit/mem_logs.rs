//! Logs of working memories that are in memory.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use reasoning_bank_domain::memory::ids::WorkingId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;

use crate::ports::{OpenedLog, WorkingLog, WorkingLogs};

type Key = (WorkspaceId, WorkingId);

/// Logs in memory. Clones share them, as processes share a data directory.
#[derive(Clone, Default)]
pub struct MemLogs(Arc<Mutex<BTreeMap<Key, MemLogLines>>>);

#[derive(Default)]
struct MemLogLines {
    lines: Vec<String>,
    is_in_use: bool,
}

impl MemLogs {
    fn with<T>(&self, work: impl FnOnce(&mut BTreeMap<Key, MemLogLines>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl WorkingLogs for MemLogs {
    fn create(&self, workspace: &WorkspaceId, task: WorkingId) -> io::Result<Box<dyn WorkingLog>> {
        let key = (workspace.clone(), task);
        self.with(|logs| logs.insert(key.clone(), MemLogLines { lines: Vec::new(), is_in_use: true }));
        Ok(Box::new(MemLog { logs: self.clone(), key }))
    }

    fn open(&self, workspace: &WorkspaceId, task: WorkingId) -> io::Result<OpenedLog> {
        let key = (workspace.clone(), task);
        self.with(|logs| match logs.get_mut(&key) {
            None => Ok(OpenedLog::Missing),
            Some(log) if log.is_in_use => Ok(OpenedLog::InUse),
            Some(log) => {
                log.is_in_use = true;
                Ok(OpenedLog::Opened(Box::new(MemLog { logs: self.clone(), key: key.clone() }), log.lines.clone()))
            }
        })
    }

    fn list(&self, workspace: &WorkspaceId) -> io::Result<Vec<WorkingId>> {
        Ok(self.with(|logs| logs.keys().filter(|(of, _)| of == workspace).map(|(_, task)| *task).rev().collect()))
    }
}

struct MemLog {
    logs: MemLogs,
    key: Key,
}

impl WorkingLog for MemLog {
    fn append(&mut self, line: &str, _sync: bool) -> io::Result<bool> {
        let log =
            |logs: &mut BTreeMap<Key, MemLogLines>| logs.get_mut(&self.key).map(|log| log.lines.push(line.to_owned()));
        Ok(self.logs.with(log).is_some())
    }

    fn remove(&mut self) -> io::Result<()> {
        self.logs.with(|logs| logs.remove(&self.key));
        Ok(())
    }
}

impl Drop for MemLog {
    fn drop(&mut self) {
        self.logs.with(|logs| logs.get_mut(&self.key).into_iter().for_each(|log| log.is_in_use = false));
    }
}
