//! The caller's own check of a solution, `--verify COMMAND`. A shell runs the command in the workspace with the
//! solution on stdin and in a file; its exit code is the evidence.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use futures::FutureExt;
use futures::future::BoxFuture;
use reasoning_bank_actors::ports::{Verifier, VerifyError};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::memory::observation::{DETAIL_MAX_CHARS, EvidenceKind, Observed};
use reasoning_bank_domain::safety::secrets::scrub;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

use crate::settings::SECRET_VARIABLES;

/// This variable names the file that holds the solution.
pub(super) const SOLUTION: &str = "REASONING_BANK_SOLUTION";
/// A shell answers with this code, or the next, when the command cannot be run at all, which says nothing about the
/// solution.
const NOT_EXECUTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;
/// The end of what the command prints is kept, because that is where tests say what failed.
const TAIL_BYTES: usize = 3 * 1024;
/// This much of the end is searched for secrets before that is cut off.
const SEARCHED_BYTES: usize = 64 * 1024;
/// This much of its beginning may belong to a secret that began before it.
const UNSURE_BYTES: usize = 16 * 1024;

#[derive(Debug, Clone)]
pub(super) struct ShellCheck {
    pub(super) command: String,
    pub(super) directory: PathBuf,
}

impl Verifier for ShellCheck {
    fn verify(
        &self,
        solution: String,
        deadline: Deadline,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Observed, VerifyError>> {
        async move {
            tokio::select! {
                observed = self.run(&solution) => observed.map_err(|error| VerifyError::NotRun(error.to_string()))?,
                () = cancel.cancelled() => Err(VerifyError::Cancelled),
                () = tokio::time::sleep_until(deadline.instant()) => Err(VerifyError::TimedOut),
            }
        }
        .boxed()
    }
}

impl ShellCheck {
    fn shell(&self, solution: &Path) -> Command {
        let mut command = Command::new("sh");
        command.arg("-c").arg(&self.command).current_dir(&self.directory).env(SOLUTION, solution);
        // The command runs code that a model wrote: keys are none of its business.
        for secret in SECRET_VARIABLES {
            command.env_remove(secret);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        command
    }

    async fn run(&self, solution: &str) -> io::Result<Result<Observed, VerifyError>> {
        let mut file = tempfile::NamedTempFile::with_prefix("solution-")?;
        file.write_all(solution.as_bytes())?;
        file.flush()?;
        let mut group = ProcessGroup::of(self.shell(file.path()).spawn()?);
        let child = &mut group.child;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let feed = async {
            if let Some(mut stdin) = stdin {
                // A command that does not read it is no failure.
                let _ = stdin.write_all(solution.as_bytes()).await;
            }
        };
        let end = async {
            let status = group.child.wait().await;
            // A process that the check left running would keep its output open.
            group.kill();
            status
        };
        let ((), said, complained, status) = tokio::join!(feed, tail(stdout), tail(stderr), end);
        Ok(observed(status?, &said, &complained))
    }
}

fn observed(status: ExitStatus, said: &str, complained: &str) -> Result<Observed, VerifyError> {
    use std::os::unix::process::ExitStatusExt;
    let ended = match (status.code(), status.signal()) {
        (Some(code @ (NOT_EXECUTABLE | NOT_FOUND)), _) => {
            return Err(VerifyError::NotRun(format!("exit code {code}: {}", complained.trim())));
        }
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "ended in an unknown way".to_owned(),
    };
    // A text that is too long loses its start. The two characters are the line ends between the parts.
    let room = DETAIL_MAX_CHARS - ended.chars().count() - 2;
    let complained = last_chars(complained.trim(), room);
    let said = last_chars(said.trim(), room - complained.chars().count());
    let parts = [ended.as_str(), said.trim(), complained.trim()];
    let detail = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    Ok(Observed { kind: EvidenceKind::ExitCode, passed: status.success(), detail: Some(detail) })
}

/// Returns the last of what a stream says. All of it is read, so that the command is never held up.
async fn tail(stream: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut stream) = stream else { return String::new() };
    let (mut kept, mut chunk, mut from_bytes) = (Vec::new(), vec![0; 8 * 1024], 0);
    while let Ok(read @ 1..) = stream.read(&mut chunk).await {
        from_bytes += read;
        kept.extend_from_slice(&chunk[..read]);
        if kept.len() > 2 * SEARCHED_BYTES {
            kept.drain(..kept.len() - SEARCHED_BYTES);
        }
    }
    let end = end_of(&kept, if from_bytes > kept.len() { UNSURE_BYTES } else { 0 }, TAIL_BYTES);
    if from_bytes > TAIL_BYTES {
        tracing::info!(from_bytes, to_bytes = end.len(), "the output of a check was cut");
    }
    end
}

/// Returns the end of an output without its secrets. They are removed before anything is cut off: of half a secret no
/// rule knows that it is one. For the same reason the first `unsure` bytes are not kept where the output has lost its
/// beginning.
fn end_of(output: &[u8], unsure: usize, most_bytes: usize) -> String {
    let text = String::from_utf8_lossy(output);
    let clean = scrub(&text).text;
    let unsure = scrub(&text[..text.floor_char_boundary(unsure)]).text.len();
    let start = clean.ceil_char_boundary(clean.len().saturating_sub(most_bytes).max(unsure));
    let end = &clean[start..];
    if start > 0 { format!("… {end}") } else { end.to_owned() }
}

fn last_chars(text: &str, most: usize) -> &str {
    let beyond = text.chars().count().saturating_sub(most);
    text.char_indices().nth(beyond).map_or("", |(start, _)| &text[start..])
}

/// A command and everything that it started. They are killed together, at the latest when this is dropped.
struct ProcessGroup {
    child: Child,
    id: Option<i32>,
}

impl ProcessGroup {
    /// Takes a child, which must lead a process group of its own.
    fn of(child: Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self { child, id }
    }

    fn kill(&mut self) {
        if let Some(id) = self.id.take() {
            // SAFETY: takes no pointer.
            unsafe {
                libc::kill(-id, libc::SIGKILL);
            }
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn check(command: &str, limit: Duration) -> Result<Observed, VerifyError> {
        let directory = tempfile::tempdir().unwrap();
        let check = ShellCheck { command: command.into(), directory: directory.path().to_owned() };
        check.verify("let it = 1;".into(), Deadline::after(limit), CancellationToken::new()).await
    }

    const SOON: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn the_solution_is_on_stdin_and_in_a_file_and_the_exit_code_decides() {
        let passed = check("grep -q 'it = 1' && test \"$(cat $REASONING_BANK_SOLUTION)\" = 'let it = 1;'", SOON).await;
        assert!(passed.unwrap().passed);
        let failed = check("echo out; echo problem >&2; exit 3", SOON).await.unwrap();
        assert!(!failed.passed && failed.kind == EvidenceKind::ExitCode);
        assert_eq!(failed.detail.as_deref(), Some("exit code 3\nout\nproblem"));
        let left_running = check("sleep 600 & exit 0", SOON).await.unwrap();
        assert!(left_running.passed);
        let killed = check("kill -9 $$", SOON).await.unwrap();
        assert_eq!((killed.passed, killed.detail.as_deref()), (false, Some("ended by signal 9")));
    }

    #[test]
    fn a_command_is_started_without_the_variables_of_keys() {
        let command = ShellCheck { command: "true".into(), directory: "/".into() }.shell(Path::new("/tmp/solution"));
        let removed: Vec<_> =
            command.as_std().get_envs().filter(|(_, value)| value.is_none()).map(|(name, _)| name).collect();
        let of_keys = [
            "OPENROUTER_API_KEY",
            "OPENROUTER_API_KEY_FILE",
            "REASONING_BANK_BOOTSTRAP_TOKEN_FILE",
            "REASONING_BANK__LLM__API_KEY",
            "REASONING_BANK__LLM__API_KEY_FILE",
        ];
        assert_eq!(removed, of_keys);
    }

    #[tokio::test]
    async fn a_command_that_cannot_be_run_says_nothing_about_the_solution() {
        let error = check("no-such-command-anywhere", SOON).await.unwrap_err();
        assert!(matches!(&error, VerifyError::NotRun(reason) if reason.contains("127")), "{error}");
    }

    #[tokio::test]
    async fn much_output_and_unread_input_neither_block_nor_grow() {
        let seen = check("yes line | head -c 3000000; echo the end; exit 1", SOON).await.unwrap();
        let detail = seen.detail.unwrap();
        assert!(detail.ends_with("the end") && detail.chars().count() <= DETAIL_MAX_CHARS, "{}", detail.len());
    }

    #[tokio::test]
    async fn of_two_long_streams_the_ends_are_kept() {
        let seen = check(
            "yes out | head -c 9000; echo end of out; (yes err | head -c 9000; echo end of err) >&2; exit 1",
            SOON,
        );
        let detail = seen.await.unwrap().detail.unwrap();
        assert!(detail.starts_with("exit code 1\n") && detail.ends_with("end of err"), "{detail}");
        assert!(detail.contains("end of out") && detail.chars().count() <= DETAIL_MAX_CHARS, "{}", detail.len());
    }

    /// The secrets of the corpus, each with the text it stands in.
    fn corpus() -> Vec<(String, String)> {
        let corpus = include_str!("../../../domain/src/safety/secrets/corpus.txt");
        let lines = corpus.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" | "));
        let planted = lines.filter_map(|(_, line)| {
            let text = line.replace('·', "").replace("\\\\", "\0").replace("\\n", "\n").replace("\\r", "\r");
            let text = text.replace('\0', "\\");
            let secret = text.split_once('«')?.1.split_once('»')?.0.to_owned();
            Some((text.replace(['«', '»'], ""), secret))
        });
        planted.collect()
    }

    /// Twelve characters in a row of a secret.
    fn piece_of(secret: &str, said: &str) -> Option<String> {
        let secret: Vec<char> = secret.chars().collect();
        let pieces = secret.windows(12).map(|piece| piece.iter().collect::<String>());
        // The armour of a key is no secret.
        let mut random =
            pieces.filter(|piece| scrub(piece).redactions == 0 && !piece.contains("--") && !piece.contains(' '));
        random.find(|piece| said.contains(piece))
    }

    #[test]
    fn wherever_an_output_is_cut_no_piece_of_a_secret_is_left() {
        let corpus = corpus();
        assert!(corpus.len() > 60);
        for (text, secret) in corpus {
            let output = format!("building\n{text}\n1 test failed");
            for most in 1..output.len() {
                let kept = end_of(output.as_bytes(), 0, most);
                assert_eq!(piece_of(&secret, &kept), None, "the last {most} of {output:?}: {kept:?}");
            }
            let after = "more lines\n".repeat(output.len() / 10);
            for start in 0..output.len() {
                let rest = [&output.as_bytes()[start..], b"\n", after.as_bytes()].concat();
                let kept = end_of(&rest, output.len() + 1, TAIL_BYTES);
                assert_eq!(piece_of(&secret, &kept), None, "from {start} of {output:?}: {kept:?}");
            }
        }
    }

    #[tokio::test]
    async fn at_the_deadline_the_command_is_killed_with_what_it_started() {
        let temp = tempfile::tempdir().unwrap();
        let pid_file = temp.path().join("pid");
        let command = format!("sleep 600 & echo $! > {}; wait", pid_file.display());
        let ended = check(&command, Duration::from_millis(500)).await;
        assert_eq!(ended, Err(VerifyError::TimedOut));
        let pid: i32 = std::fs::read_to_string(&pid_file).unwrap().trim().parse().unwrap();
        let gone = async {
            // An orphan is reaped by whoever adopts it; until then it is a zombie.
            while std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z ")) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(SOON, gone).await.unwrap();
    }
}
