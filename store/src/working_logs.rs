//! The logs of working memories, as files: `working/<workspace>/<task>.log` in the data directory, a line for each
//! operation. The process that has a task open holds the lock of its file.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use reasoning_bank_actors::ports::{OpenedLog, WorkingLog, WorkingLogs};
use reasoning_bank_domain::memory::ids::WorkingId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;

use super::data_dir;
use super::files::{create_locked, remove_if_there, sync_data, sync_dir, try_lock, unless_gone};

/// A log that is larger was not written by this program.
const MAX_BYTES: u64 = 1 << 30;

/// Returns the lines of a log that are whole, and how many bytes they take.
fn whole_lines(text: &[u8]) -> io::Result<(Vec<String>, usize)> {
    let bytes = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let lines = str::from_utf8(&text[..bytes]).map_err(io::Error::other)?.lines();
    Ok((lines.map(str::to_owned).collect(), bytes))
}

pub struct WorkingFiles {
    dir: PathBuf,
}

impl WorkingFiles {
    /// The logs of a data directory.
    pub fn of(data_dir: &Path) -> Self {
        Self { dir: data_dir.join(data_dir::WORKING) }
    }

    fn workspace(&self, workspace: &WorkspaceId) -> PathBuf {
        self.dir.join(workspace.as_str())
    }

    /// Lists the logs of a workspace, each with the time at which it was written to last.
    fn logs_of(&self, workspace: &WorkspaceId) -> io::Result<Vec<(SystemTime, WorkingId)>> {
        let mut logs = Vec::new();
        for entry in unless_gone(fs::read_dir(self.workspace(workspace)))?.into_iter().flatten() {
            let entry = entry?;
            let name = entry.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(".log")?.parse().ok());
            if let (Some(id), Some(metadata)) = (id, unless_gone(entry.metadata())?) {
                logs.push((metadata.modified()?, id));
            }
        }
        Ok(logs)
    }

    fn path(&self, workspace: &WorkspaceId, task: WorkingId) -> PathBuf {
        self.workspace(workspace).join(format!("{task}.log"))
    }
}

impl WorkingLogs for WorkingFiles {
    fn create(&self, workspace: &WorkspaceId, task: WorkingId) -> io::Result<Box<dyn WorkingLog>> {
        let path = self.path(workspace, task);
        match create_locked(&path) {
            Ok(file) => {
                sync_dir(&self.workspace(workspace))?;
                Ok(Box::new(WorkingFile { file, path }))
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match self.open(workspace, task)? {
                // A process ended before it wrote the first line, so that nobody was answered.
                OpenedLog::Opened(log, lines) if lines.is_empty() => Ok(log),
                _ => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    fn open(&self, workspace: &WorkspaceId, task: WorkingId) -> io::Result<OpenedLog> {
        let path = self.path(workspace, task);
        let opened = unless_gone(File::options().read(true).append(true).open(&path))?;
        let Some(mut file) = opened else { return Ok(OpenedLog::Missing) };
        if !try_lock(&file)? {
            return Ok(OpenedLog::InUse);
        }
        if file.metadata()?.len() > MAX_BYTES {
            return Err(io::Error::other(format!("{} has more than {MAX_BYTES} bytes", path.display())));
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        let (lines, bytes) = whole_lines(&text)?;
        // A crash may have cut the last line off. It was never answered.
        if bytes < text.len() {
            file.set_len(bytes as u64)?;
        }
        file.seek(SeekFrom::End(0))?;
        Ok(OpenedLog::Opened(Box::new(WorkingFile { file, path }), lines))
    }

    fn read(&self, workspace: &WorkspaceId, task: WorkingId) -> io::Result<Option<Vec<String>>> {
        let text = unless_gone(fs::read(self.path(workspace, task)))?;
        // The process that has it open may be in the middle of a line.
        text.map(|text| Ok(whole_lines(&text)?.0)).transpose()
    }

    fn list(&self, workspace: &WorkspaceId) -> io::Result<Vec<WorkingId>> {
        let mut listed = self.logs_of(workspace)?;
        listed.sort_unstable_by(|one, other| other.cmp(one));
        Ok(listed.into_iter().map(|(_, id)| id).collect())
    }

    fn unwritten_since(&self, at: Timestamp) -> io::Result<Vec<(WorkspaceId, WorkingId)>> {
        let at = SystemTime::from(at);
        let mut unwritten = Vec::new();
        for entry in unless_gone(fs::read_dir(&self.dir))?.into_iter().flatten() {
            let Ok(workspace) = entry?.file_name().to_string_lossy().parse::<WorkspaceId>() else { continue };
            let old = self.logs_of(&workspace)?.into_iter().filter(|(modified, _)| *modified <= at);
            unwritten.extend(old.map(|(_, task)| (workspace.clone(), task)));
        }
        Ok(unwritten)
    }
}

struct WorkingFile {
    file: File,
    path: PathBuf,
}

impl WorkingLog for WorkingFile {
    fn append(&mut self, lines: &str, sync: bool) -> io::Result<bool> {
        if !self.is_there()? {
            return Ok(false);
        }
        let end = self.file.stream_position()?;
        if let Err(error) = self.file.write_all(format!("{lines}\n").as_bytes()) {
            // The start of a line would spoil the next one.
            self.file.set_len(end)?;
            self.file.seek(SeekFrom::Start(end))?;
            return Err(error);
        }
        if sync { self.sync() } else { Ok(true) }
    }

    fn sync(&mut self) -> io::Result<bool> {
        sync_data(&self.path, &self.file)?;
        self.is_there()
    }

    fn is_there(&self) -> io::Result<bool> {
        Ok(self.file.metadata()?.nlink() > 0)
    }

    fn remove(&mut self) -> io::Result<()> {
        remove_if_there(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(opened: OpenedLog) -> Vec<String> {
        match opened {
            OpenedLog::Opened(_, lines) => lines,
            OpenedLog::InUse => vec!["in use".into()],
            OpenedLog::Missing => vec!["missing".into()],
        }
    }

    #[test]
    fn a_new_log_is_its_makers_and_one_without_a_line_is_taken_over() {
        let place = tempfile::tempdir().unwrap();
        let logs = WorkingFiles::of(place.path());
        let workspace = WorkspaceId::of_root("/shop");
        let task = |n: u128| WorkingId::from(uuid::Uuid::from_u128(n));
        let is_done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|threads| {
            // Whoever lists the tasks looks at each log, and has its lock for that time.
            threads.spawn(|| {
                while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                    logs.list(&workspace).unwrap().into_iter().for_each(|id| drop(logs.open(&workspace, id).unwrap()));
                }
            });
            let created: Vec<bool> = (0..100).map(|n| logs.create(&workspace, task(n)).is_ok()).collect();
            is_done.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(created.iter().all(|is_new| *is_new));
        });
        let mut log = logs.create(&workspace, task(7)).unwrap();
        log.append("one", true).unwrap();
        drop(log);
        let again = logs.create(&workspace, task(7)).err().unwrap();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(lines(logs.open(&workspace, task(7)).unwrap()), ["one"]);
    }

    #[test]
    fn a_log_belongs_to_one_at_a_time_and_loses_no_whole_line() {
        let place = tempfile::tempdir().unwrap();
        let logs = WorkingFiles::of(place.path());
        let (workspace, task) = (WorkspaceId::of_root("/shop"), WorkingId::from(uuid::Uuid::from_u128(7)));
        assert_eq!(lines(logs.open(&workspace, task).unwrap()), ["missing"]);
        let mut log = logs.create(&workspace, task).unwrap();
        assert!(log.append("one", true).unwrap() && log.append("two", false).unwrap());
        assert_eq!(lines(logs.open(&workspace, task).unwrap()), ["in use"]);
        assert_eq!(logs.read(&workspace, task).unwrap().unwrap(), ["one", "two"]);
        assert_eq!(logs.list(&workspace).unwrap(), [task]);
        drop(log);
        let path = logs.path(&workspace, task);
        fs::write(&path, "one\ntwo\nthr").unwrap();
        assert_eq!(logs.read(&workspace, task).unwrap().unwrap(), ["one", "two"]);
        let OpenedLog::Opened(mut log, read) = logs.open(&workspace, task).unwrap() else { panic!() };
        assert_eq!(read, ["one", "two"]);
        log.append("three", false).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\nthree\n");
        let old = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_600_000_000);
        log.append("four", true).unwrap();
        File::options().append(true).open(&path).unwrap().set_modified(old).unwrap();
        let since = |more: i64| Timestamp::from_second(1_600_000_000 + more).unwrap();
        assert_eq!(logs.unwritten_since(since(0)).unwrap(), [(workspace.clone(), task)]);
        assert_eq!(logs.unwritten_since(since(-1)).unwrap(), []);
        assert!(log.is_there().unwrap());
        fs::remove_file(&path).unwrap();
        assert!(!log.is_there().unwrap());
        assert!(!log.append("five", false).unwrap() && !log.sync().unwrap());
        assert!(logs.list(&workspace).unwrap().is_empty());
    }
}
