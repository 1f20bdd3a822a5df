//! Logs of working memories that are in memory.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use reasoning_bank_domain::memory::ids::WorkingId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;

use super::hanging::{Hang, Hanging};
use crate::ports::{OpenedLog, WorkingLog, WorkingLogs};

type Key = (WorkspaceId, WorkingId);

/// Logs in memory. Clones share them, as processes share a data directory.
#[derive(Clone, Default)]
pub struct MemLogs {
    logs: Arc<Mutex<BTreeMap<Key, MemLogLines>>>,
    keeps_removed: Arc<AtomicBool>,
    refuses_reads: Arc<AtomicBool>,
    reads: Arc<AtomicUsize>,
    hanging: Hanging<Key>,
}

#[derive(Default)]
struct MemLogLines {
    lines: Vec<String>,
    /// The number of lines that would outlive a loss of power.
    synced: usize,
    is_in_use: bool,
}

impl MemLogs {
    /// Counts the lines of all logs, and those of them that would outlive a loss of power.
    pub fn lines(&self) -> (usize, usize) {
        self.with(|logs| {
            logs.values().fold((0, 0), |(lines, synced), log| (lines + log.lines.len(), synced + log.synced))
        })
    }

    /// Removes the logs of a workspace, as its deletion by another process does.
    pub fn remove_all(&self, workspace: &WorkspaceId) {
        self.with(|logs| logs.retain(|(of, _), _| of != workspace));
    }

    /// Lets every removal of a log fail from now on, or no longer.
    pub fn keep_removed(&self, keeps: bool) {
        self.keeps_removed.store(keeps, Ordering::SeqCst);
    }

    /// Lets every reading of a log that a process has open fail from now on, or no longer.
    pub fn refuse_reads(&self, refuses: bool) {
        self.refuses_reads.store(refuses, Ordering::SeqCst);
    }

    /// Counts how often a log was read without being opened.
    pub fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }

    /// Lets every opening of a log hang until it is let go.
    pub fn hang(&self, workspace: &WorkspaceId, task: WorkingId) -> Hang {
        self.hanging.hang((workspace.clone(), task))
    }

    fn with<T>(&self, work: impl FnOnce(&mut BTreeMap<Key, MemLogLines>) -> T) -> T {
        work(&mut self.logs.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl WorkingLogs for MemLogs {
    fn create(&self, workspace: &WorkspaceId, task: WorkingId) -> io::Result<Box<dyn WorkingLog>> {
        let key = (workspace.clone(), task);
        self.with(|logs| logs.insert(key.clone(), MemLogLines { is_in_use: true, ..MemLogLines::default() }));
        Ok(Box::new(MemLog { logs: self.clone(), key }))
    }

    fn open(&self, workspace: &WorkspaceId, task: WorkingId) -> io::Result<OpenedLog> {
        let key = (workspace.clone(), task);
        self.hanging.wait(&key);
        self.with(|logs| match logs.get_mut(&key) {
            None => Ok(OpenedLog::Missing),
            Some(log) if log.is_in_use => Ok(OpenedLog::InUse),
            Some(log) => {
                log.is_in_use = true;
                Ok(OpenedLog::Opened(Box::new(MemLog { logs: self.clone(), key: key.clone() }), log.lines.clone()))
            }
        })
    }

    fn read(&self, workspace: &WorkspaceId, task: WorkingId) -> io::Result<Option<Vec<String>>> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        if self.refuses_reads.load(Ordering::SeqCst) {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied));
        }
        Ok(self.with(|logs| logs.get(&(workspace.clone(), task)).map(|log| log.lines.clone())))
    }

    fn list(&self, workspace: &WorkspaceId) -> io::Result<Vec<WorkingId>> {
        Ok(self.with(|logs| logs.keys().filter(|(of, _)| of == workspace).map(|(_, task)| *task).rev().collect()))
    }

    fn unwritten_since(&self, _: Timestamp) -> io::Result<Vec<Key>> {
        Ok(self.with(|logs| logs.keys().cloned().collect()))
    }
}

struct MemLog {
    logs: MemLogs,
    key: Key,
}

impl WorkingLog for MemLog {
    fn append(&mut self, lines: &str, sync: bool) -> io::Result<bool> {
        let append = |log: &mut MemLogLines| log.lines.extend(lines.lines().map(str::to_owned));
        let is_there = self.logs.with(|logs| logs.get_mut(&self.key).map(append).is_some());
        if sync { self.sync() } else { Ok(is_there) }
    }

    fn sync(&mut self) -> io::Result<bool> {
        let sync = |log: &mut MemLogLines| log.synced = log.lines.len();
        Ok(self.logs.with(|logs| logs.get_mut(&self.key).map(sync).is_some()))
    }

    fn is_there(&self) -> io::Result<bool> {
        Ok(self.logs.with(|logs| logs.contains_key(&self.key)))
    }

    fn remove(&mut self) -> io::Result<()> {
        if self.logs.keeps_removed.load(Ordering::SeqCst) {
            return Err(io::Error::other("the log is kept"));
        }
        self.logs.with(|logs| logs.remove(&self.key));
        Ok(())
    }
}

impl Drop for MemLog {
    fn drop(&mut self) {
        self.logs.with(|logs| logs.get_mut(&self.key).into_iter().for_each(|log| log.is_in_use = false));
    }
}
