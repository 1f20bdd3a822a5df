//! A task that this process has: its working memory and its log, which is locked.

use std::collections::HashSet;

use jiff::Timestamp;
use reasoning_bank_domain::memory::ids::KeyedRequestId;
use reasoning_bank_domain::working::{Operation, TaskEnd, WorkingChange, WorkingInvalid, WorkingMemory};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::file_io::unusable;
use crate::ports::WorkingLog;

/// The most bytes of a log: a task that was changed more often can only be closed.
const LOG_MAX_BYTES: usize = 64 << 20;

/// The first line of a log.
#[derive(Debug, Serialize, Deserialize)]
struct TaskLogHead {
    owner: String,
    system: String,
    at: Timestamp,
}

/// Every other line.
#[derive(Debug, Serialize, Deserialize)]
struct LogLine {
    at: Timestamp,
    /// The request of a client that asked for this operation and those behind it, where it has a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<KeyedRequestId>,
    #[serde(flatten)]
    operation: Operation,
}

/// The content of a log.
pub(super) struct ReadTask {
    pub(super) owner: String,
    pub(super) memory: WorkingMemory,
    /// The requests with a key that were carried out.
    requests: HashSet<KeyedRequestId>,
}

/// A task in the memory of this process, with its log.
pub(crate) struct LoadedTask {
    owner: String,
    memory: WorkingMemory,
    requests: HashSet<KeyedRequestId>,
    log: Box<dyn WorkingLog>,
    log_bytes: usize,
    is_synced: bool,
}

impl LoadedTask {
    pub(super) fn begin(log: Box<dyn WorkingLog>, owner: String, system: String, at: Timestamp) -> Result<Self, Error> {
        let memory = WorkingMemory::new(&system, at);
        let head = TaskLogHead { owner: owner.clone(), system, at };
        let mut begun = Self { owner, memory, requests: HashSet::new(), log, log_bytes: 0, is_synced: true };
        begun.append(&[head], true, false)?;
        Ok(begun)
    }

    /// Makes the memory again from the lines of its log. None where there is no line, since the task was never
    /// answered.
    pub(super) fn read(log: Box<dyn WorkingLog>, lines: &[String]) -> Result<Option<Self>, Error> {
        let read = Self::read_lines(lines)?;
        let log_bytes = lines.iter().map(|line| line.len() + 1).sum();
        Ok(read.map(|ReadTask { owner, memory, requests }| Self {
            owner,
            memory,
            requests,
            log,
            log_bytes,
            is_synced: true,
        }))
    }

    /// Reads what the lines of a log tell. None where there is no line.
    pub(super) fn read_lines(lines: &[String]) -> Result<Option<ReadTask>, Error> {
        let Some((head, operations)) = lines.split_first() else { return Ok(None) };
        let head: TaskLogHead = serde_json::from_str(head).map_err(Error::internal)?;
        let (mut memory, mut requests) = (WorkingMemory::new(&head.system, head.at), HashSet::new());
        for line in operations {
            let LogLine { at, request, operation } = serde_json::from_str(line).map_err(Error::internal)?;
            requests.extend(request);
            match memory.apply(&operation, at) {
                // Earlier versions gave a number again after a return to a snapshot. Nobody has what was read under it.
                Ok(_) | Err(WorkingInvalid::NoReference(_)) => {}
                Err(error) => return Err(Error::internal(error)),
            }
        }
        Ok(Some(ReadTask { owner: head.owner, memory, requests }))
    }

    pub(super) fn owner(&self) -> &str {
        &self.owner
    }

    pub(super) fn memory(&self) -> &WorkingMemory {
        &self.memory
    }

    /// Says whether everything that was appended here is on the disk.
    pub(super) fn is_synced(&self) -> bool {
        self.is_synced
    }

    /// Carries out operations, or none of them where one is not possible. Where there are none, it still says whether
    /// the task is there. So it does where the `request` for them was carried out before.
    pub(super) fn apply_all(
        &mut self,
        operations: Vec<Operation>,
        request: Option<KeyedRequestId>,
        at: Timestamp,
    ) -> Result<WorkingChange, Error> {
        if operations.is_empty() || request.is_some_and(|request| self.requests.contains(&request)) {
            return if self.log.is_there().map_err(unusable)? { Ok(WorkingChange::default()) } else { Err(gone()) };
        }
        self.memory.check_all(&operations, at)?;
        let sync = operations.iter().any(Operation::is_synced);
        let ends = operations.iter().any(|operation| matches!(operation, Operation::Close(_)));
        let mut of_first = request;
        let line = |operation| LogLine { at, request: of_first.take(), operation };
        let lines: Vec<LogLine> = operations.into_iter().map(line).collect();
        self.append(&lines, sync, ends)?;
        self.requests.extend(request);
        let mut applied = WorkingChange::default();
        for line in lines {
            applied.extend(self.memory.apply(&line.operation, at)?);
        }
        Ok(applied)
    }

    /// Ends the task, unless it has ended, and returns how it did. Nothing is added to the log afterwards.
    pub(super) fn close(&mut self, end: TaskEnd, at: Timestamp) -> Result<TaskEnd, Error> {
        match self.memory.end().cloned() {
            Some(earlier) if self.sync()? => Ok(earlier),
            Some(_) => Err(gone()),
            None => {
                self.apply_all(vec![Operation::Close(end.clone())], None, at)?;
                Ok(end)
            }
        }
    }

    /// Returns when everything that was appended is on the disk. False where the log was removed.
    pub(super) fn sync(&mut self) -> Result<bool, Error> {
        let is_there = self.log.sync().map_err(unusable)?;
        self.is_synced = true;
        Ok(is_there)
    }

    pub(super) fn remove_log(&mut self) -> Result<(), Error> {
        self.is_synced = true;
        self.log.remove().map_err(unusable)
    }

    /// Appends lines in one write, so that all of them are there afterwards or none.
    /// Lines that end the task have room in any log.
    fn append(&mut self, lines: &[impl Serialize], sync: bool, ends: bool) -> Result<(), Error> {
        let lines: Result<Vec<String>, _> = lines.iter().map(serde_json::to_string).collect();
        let lines = lines.map_err(Error::internal)?.join("\n");
        let log_bytes = self.log_bytes + lines.len() + 1;
        if !ends && log_bytes > LOG_MAX_BYTES {
            return Err(Error::invalid(
                "task",
                format!(
                    "was changed so often that its log has {} MiB; close it, which keeps it as an episode, and open \
                     another one",
                    LOG_MAX_BYTES >> 20
                ),
            ));
        }
        match self.log.append(&lines, sync).map_err(unusable)? {
            true => {
                self.is_synced = sync;
                self.log_bytes = log_bytes;
                Ok(())
            }
            false => Err(gone()),
        }
    }
}

impl Drop for LoadedTask {
    /// A task is dropped when it was not used for long, and when its process ends.
    fn drop(&mut self) {
        if !self.is_synced
            && let Err(error) = self.sync()
        {
            tracing::warn!(%error, "the log of a task could not be synced");
        }
    }
}

/// The log was removed: the task is closed, or its workspace deleted.
fn gone() -> Error {
    Error::NotFound("task with this id".into())
}

#[cfg(test)]
mod tests {
    use reasoning_bank_domain::memory::workspace::WorkspaceId;
    use serde_json::json;

    use super::*;
    use crate::ports::WorkingLogs;
    use crate::testkit::MemLogs;

    #[test]
    fn a_task_whose_log_is_full_can_be_closed_and_nothing_else() {
        let log = MemLogs::default().create(&WorkspaceId::of_root("/shop"), uuid::Uuid::nil().into()).unwrap();
        let at: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
        let mut task = LoadedTask::begin(log, "ann".to_owned(), String::new(), at).unwrap();
        let set =
            || Operation::Set(serde_json::from_value(json!({"key": "k", "value": "x".repeat(60 << 10)})).unwrap());
        let until_full = (0..2_000).find_map(|_| task.apply_all(vec![set()], None, at).err()).unwrap();
        assert!(until_full.to_string().contains("close it"), "{until_full}");
        task.close(TaskEnd::unknown(), at).unwrap();
    }

    #[test]
    fn a_log_whose_numbers_were_given_again_is_read() {
        let at = "2026-01-31T12:00:00Z";
        let line = |operation: serde_json::Value| {
            let mut line = operation;
            line["at"] = json!(at);
            line.to_string()
        };
        let result =
            |output: &str| line(json!({"operation": "add_intermediate", "of": {"subtask": "a", "output": output}}));
        let read = serde_json::to_value(Operation::Read("result:2".parse().unwrap())).unwrap();
        let lines = [
            json!({"owner": "ann", "system": "", "at": at}).to_string(),
            result("first"),
            line(json!({"operation": "snapshot"})),
            result("second"),
            line(json!({"operation": "restore", "of": 1})),
            result("third"),
            line(read),
        ];
        let log = MemLogs::default().create(&WorkspaceId::of_root("/shop"), uuid::Uuid::nil().into()).unwrap();
        let task = LoadedTask::read(log, &lines).unwrap().unwrap();
        let texts: Vec<&str> = task.memory().entries().iter().map(|entry| &*entry.text).collect();
        assert_eq!(texts, ["first", "third"]);
    }
    #[test]
    fn a_request_that_is_in_the_log_is_carried_out_once() {
        let logs = MemLogs::default();
        let (shop, id) = (WorkspaceId::of_root("/shop"), uuid::Uuid::nil().into());
        let at: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
        let results = || {
            ["one", "two"].map(|output| Operation::AddIntermediate { subtask: "a".to_owned(), output: json!(output) })
        };
        let [first, second] = [1, 2].map(|n| Some(KeyedRequestId::from(uuid::Uuid::from_u128(n))));
        let mut task = LoadedTask::begin(logs.create(&shop, id).unwrap(), "ann".to_owned(), String::new(), at).unwrap();
        for request in [first, first, second, None] {
            task.apply_all(results().to_vec(), request, at).unwrap();
        }
        assert_eq!(task.memory().entries().len(), 6);
        let lines = logs.read(&shop, id).unwrap().unwrap();
        let mut again =
            LoadedTask::read(logs.create(&shop, uuid::Uuid::max().into()).unwrap(), &lines).unwrap().unwrap();
        again.apply_all(results().to_vec(), first, at).unwrap();
        again.apply_all(results().to_vec(), second, at).unwrap();
        assert_eq!(again.memory().entries().len(), 6, "another process knows it from the log");
    }
}
