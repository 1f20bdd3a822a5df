//! Runs the real binary, cut off from the machine it runs on: a home, a data directory and a project of its own, and
//! nothing in its environment.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use jiff::Timestamp;
use reasoning_bank_actors::runtime::Deadline;
use serde_json::Value;

/// A place to run the binary in; removed when dropped.
pub(crate) struct Place {
    top: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let top = tempfile::tempdir().unwrap();
        let place = Self { top };
        for directory in ["home", "project", "config/reasoning-bank"] {
            std::fs::create_dir_all(place.path(directory)).unwrap();
        }
        place
    }

    /// A place whose simulated model answers at once.
    pub(crate) fn with_instant_model() -> Self {
        let place = Self::new();
        place.write("config/reasoning-bank/config.toml", "[llm.simulated]\nlatency_ms = 0\n");
        place
    }

    /// A path in the place: `home`, `project` (the current directory), `data` (the data directory), `config`.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.top.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The binary with these arguments, ready to be run or changed first.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reasoning-bank"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_DATA_HOME", self.path("xdg-data"))
            .env("REASONING_BANK_DATA", self.path("data"))
            .env("TMPDIR", self.top.path())
            .current_dir(self.path("project"))
            .stdin(Stdio::null());
        if arguments.contains(&"hook") {
            command.env("REASONING_BANK__HOOKS__SERVER_IDLE_S", "0");
        }
        if let Some(profile) = std::env::var_os("LLVM_PROFILE_FILE") {
            command.env("LLVM_PROFILE_FILE", profile);
        }
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    /// The JSON document of a run that goes well.
    #[track_caller]
    pub(crate) fn document(&self, arguments: &[&str]) -> Value {
        self.run(&[&["--json"], arguments].concat()).ok().json()
    }

    pub(crate) fn run_with_stdin(&self, arguments: &[&str], stdin: &str) -> Ran {
        Ran::with_stdin(self.command(arguments), stdin)
    }
}

/// The outcome of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn with_stdin(mut command: Command, stdin: &str) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A child that does not read to the end is its own matter.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        Ran::of(child.wait_with_output().unwrap())
    }

    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Asserts that it went well.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    /// Asserts how it ended.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// The one JSON document on stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

/// The number of rounds of a test that kills processes: this one, or as many as the environment says.
pub(crate) fn kill_rounds(default: usize) -> usize {
    std::env::var("REASONING_BANK_KILL_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// A file or a folder of `tests/data`.
pub(crate) fn test_data(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name).display().to_string()
}

/// Returns a deadline for work that takes long on a busy machine, such as making an index.
pub(crate) fn in_five_minutes() -> Deadline {
    Deadline::after(Duration::from_secs(300))
}

/// The text with a path replaced by a name, for snapshots.
pub(crate) fn without(text: &str, path: &Path, name: &str) -> String {
    text.replace(&path.display().to_string(), name)
}

/// Runs git in a directory.
#[track_caller]
pub(crate) fn git(directory: &Path, arguments: &[&str]) {
    git_at(directory, None, arguments);
}

/// Runs git in a directory; what it commits is made at this time.
#[track_caller]
pub(crate) fn git_at(directory: &Path, time: Option<Timestamp>, arguments: &[&str]) {
    let mut command = Command::new("git");
    command
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null");
    if let Some(time) = time {
        let date = format!("@{} +0000", time.as_second());
        command.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}
