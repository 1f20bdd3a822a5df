//! The reason why a command did not succeed, as the user is told: an exit code with `error:` and `hint:` lines, or a
//! JSON document.

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::StoreError;
use reasoning_bank_actors::runtime::Ended;
use reasoning_bank_domain::note::Code;
use reasoning_bank_domain::solve::task::BestSoFar;
use reasoning_bank_store::backup::BackupError;
use serde::Serialize;

use crate::embed::EmbeddingModelError;
use crate::http::ServeError;
use crate::llm::ClientError;
use crate::mcp::{BridgeError, SessionError};
use crate::remedies;
use crate::settings::{ProviderError, SettingsError};
use crate::telemetry::TelemetryError;
use crate::tokens::TokensError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandExit {
    Ok,
    /// The work failed.
    Failed,
    /// The use or the configuration was wrong: the same call fails again until something is corrected.
    Usage,
}

impl CommandExit {
    pub(super) fn code(self) -> i32 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Usage => 2,
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct CommandFailure {
    /// The codes are those that MCP clients meet, and `configuration_invalid`.
    pub(super) code: Code,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
    pub(super) retryable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) retry_after_ms: Option<u64>,
    /// The best solution there was when a solve ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) best: Option<Box<BestSoFar>>,
    #[serde(skip)]
    pub(super) exit: CommandExit,
    /// Part of the answer is on stdout already: no document can be put there any more.
    #[serde(skip)]
    pub(super) is_after_output: bool,
}

impl CommandFailure {
    /// A failure with what the user can do about it.
    fn new(exit: CommandExit, code: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::without_hint(exit, code, message).hint(hint)
    }

    /// A failure after which nothing is left to be done, or of which the message says what to do.
    fn without_hint(exit: CommandExit, code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        let (hint, retry_after_ms, best) = (None, None, None);
        Self { code, message, hint, retryable: false, retry_after_ms, best, exit, is_after_output: false }
    }

    /// The call was wrong.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::without_hint(CommandExit::Usage, Code::InvalidArgument, message)
    }

    /// A file that the user names, or stdin, cannot be read.
    pub(super) fn unreadable(name: &str, cause: impl std::fmt::Display) -> Self {
        Self::usage(format!("{name} cannot be read: {cause}")).hint("give a file that is there and that you may read")
    }

    /// The user was asked and did not agree.
    pub(super) fn declined() -> Self {
        Self::without_hint(CommandExit::Failed, Code::Cancelled, "nothing was changed")
    }

    /// The process was asked to end.
    pub(super) fn ended_by(signal: &str) -> Self {
        Self::without_hint(CommandExit::Failed, Code::Cancelled, format!("ended by {signal}"))
    }

    /// The answer could not be written out.
    pub(super) fn output(error: std::io::Error) -> Self {
        let message = format!("the answer cannot be written: {error}");
        let hint = "send it to a file or a program that takes it, and look for space on the disk";
        Self::new(CommandExit::Failed, Code::Internal, message, hint)
    }

    pub(super) fn runtime(error: std::io::Error) -> Self {
        let message = format!("there are no threads to work with: {error}");
        let hint = "end other programs, or raise the number of processes that the user may have (`ulimit -u`)";
        Self::new(CommandExit::Failed, Code::Internal, message, hint)
    }

    pub(super) fn signals(error: std::io::Error) -> Self {
        let message = format!("signals cannot be handled: {error}");
        let hint = "end other programs, or raise the number of files that may be open (`ulimit -n`), and repeat it";
        Self::new(CommandExit::Failed, Code::Internal, message, hint)
    }

    pub(super) fn temporary(error: std::io::Error) -> Self {
        let message = format!("no temporary directory can be made: {error}");
        let hint = "name a directory with --data-dir, or a place for temporary files with TMPDIR";
        Self::new(CommandExit::Failed, Code::StoreUnavailable, message, hint)
    }

    /// A file of the data directory, which an import puts what it has checked into, could not be written.
    pub(super) fn put_aside(error: std::io::Error) -> Self {
        let message = format!("what was checked cannot be put aside: {error}");
        let hint = "free as much space in the data directory as the file has, or name another one with --data-dir";
        Self::new(CommandExit::Failed, Code::StoreUnavailable, message, hint)
    }

    pub(super) fn not_stored(error: std::io::Error) -> Self {
        let message = format!("the choice cannot be stored: {error}");
        let hint = "check that the data directory is writable; --data-dir or REASONING_BANK_DATA names another";
        Self::new(CommandExit::Failed, Code::StoreUnavailable, message, hint)
    }

    /// A part of a measurement, which is a process of its own, failed.
    pub(super) fn part(message: String) -> Self {
        let hint = "correct what the part said, which is above, and repeat it; `reasoning-bank doctor` checks the rest";
        Self::new(CommandExit::Failed, Code::Internal, message, hint)
    }

    pub(super) fn session(error: SessionError) -> Self {
        let hint = "start the client again; `reasoning-bank doctor` checks this side";
        Self::new(CommandExit::Failed, Code::Internal, error.to_string(), hint)
    }

    /// The system restarted too often and ended.
    pub(super) fn gave_up(ended: &Ended) -> Self {
        let message = format!("the system gave up: {ended:?}");
        let hint = "start it again; the log says which part failed, and `reasoning-bank doctor` checks what it needs";
        Self::new(CommandExit::Failed, Code::Internal, message, hint)
    }

    /// The data directory, or something in it, cannot be used as it is.
    fn unavailable(error: &impl std::fmt::Display, hint: &str) -> Self {
        Self::new(CommandExit::Failed, Code::StoreUnavailable, error.to_string(), hint)
    }

    pub(super) fn after_output(mut self) -> Self {
        self.is_after_output = true;
        self
    }

    pub(super) fn caused_by(mut self, cause: impl std::fmt::Display) -> Self {
        self.message = format!("{}: {cause}", self.message);
        self
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<SettingsError> for CommandFailure {
    fn from(error: SettingsError) -> Self {
        let hint = "correct or remove what each line names";
        Self::new(CommandExit::Usage, Code::ConfigurationInvalid, error.to_string(), hint)
    }
}

impl From<TelemetryError> for CommandFailure {
    fn from(error: TelemetryError) -> Self {
        let hint = "name a file in log.file that you may write, or leave log.file empty to log to stderr";
        Self::new(CommandExit::Usage, Code::ConfigurationInvalid, error.to_string(), hint)
    }
}

impl From<ProviderError> for CommandFailure {
    fn from(error: ProviderError) -> Self {
        Self::new(CommandExit::Usage, error.code(), error.to_string(), error.hint())
    }
}

impl From<EmbeddingModelError> for CommandFailure {
    fn from(error: EmbeddingModelError) -> Self {
        Self::new(CommandExit::Usage, Code::ConfigurationInvalid, error.to_string(), error.hint())
    }
}

impl From<ClientError> for CommandFailure {
    fn from(error: ClientError) -> Self {
        let hint = "install the certificates of the system (the package ca-certificates), or choose another `--llm`";
        Self::new(CommandExit::Usage, Code::LlmUnavailable, error.to_string(), hint)
    }
}

impl From<TokensError> for CommandFailure {
    fn from(error: TokensError) -> Self {
        match error {
            TokensError::Unknown(_) | TokensError::NoneValid(_) => {
                let hint = "`token list` shows which there are";
                Self::new(CommandExit::Usage, Code::NotFound, error.to_string(), hint)
            }
            TokensError::NameTaken(_) => {
                Self::usage(error.to_string()).hint("choose another name, or `token rotate` that one")
            }
            TokensError::Invalid(_) => Self::usage(error.to_string()).hint("correct what the message names"),
            TokensError::Ambiguous(_) => {
                Self::usage(error.to_string()).hint("name it by its id, which `token list` shows")
            }
            TokensError::TeamTaken { in_use: true, .. } => Self::usage(error.to_string()).hint(
                "choose another name for the team, or give the token that organisation with --org; to move the team, \
                 revoke its tokens first and add --move-team",
            ),
            TokensError::TeamTaken { in_use: false, .. } => Self::usage(error.to_string()).hint(
                "its tokens have ended; choose another name for the team, or take it over with all that it has: --move-team",
            ),
            TokensError::TooMany => Self::unavailable(&error, "`token revoke` ends one that nobody uses"),
            TokensError::Unreadable(..) => Self::unavailable(
                &error,
                "check that the file can be read and is whole; where it is not, move it away and make new tokens",
            ),
            TokensError::Unwritable(..) => {
                Self::unavailable(&error, "check that the data directory is writable and has space, and repeat it")
            }
            TokensError::NoRandomness(_) => {
                Self::unavailable(&error, "repeat it when the system has started up; it needs /dev/urandom")
            }
        }
    }
}

impl From<BackupError> for CommandFailure {
    fn from(error: BackupError) -> Self {
        let unavailable = |hint| Self::unavailable(&error, hint);
        match &error {
            BackupError::Store(cause) => Error::Store(cause.clone()).into(),
            BackupError::NoBank(_) => Self::usage(error.to_string()).hint("name the directory of a bank"),
            BackupError::Place { .. } => Self::usage(error.to_string()).hint("name another directory"),
            BackupError::OtherBank(_) => {
                Self::usage(error.to_string()).hint("name the data directory that the backup was made of")
            }
            BackupError::NoBackup { .. } => {
                unavailable("choose another backup; `backup create` gives it its name last")
            }
            BackupError::Damaged(_) => unavailable("choose another backup; `backup verify` names all that is wrong"),
            BackupError::Io { .. } => {
                unavailable("check that the directories can be used and have space, and repeat it")
            }
            BackupError::Busy => {
                let hint = "repeat it when that one has ended";
                Self { retryable: true, ..Self::new(CommandExit::Failed, Code::Overloaded, error.to_string(), hint) }
            }
            BackupError::Cancelled => Self::without_hint(CommandExit::Failed, Code::Cancelled, error.to_string()),
        }
    }
}

impl From<BridgeError> for CommandFailure {
    fn from(error: BridgeError) -> Self {
        let hint = match &error {
            BridgeError::Setup(_) => "install the certificates of the system (the package ca-certificates)",
            BridgeError::Token => "give the token as `token create` printed it, without quotes or line ends",
            BridgeError::Key => "give --key with plain letters alone, as `workspace link PATH KEY` takes it",
            BridgeError::Stream(_) => "start the client again",
        };
        Self::new(CommandExit::Failed, Code::Internal, error.to_string(), hint)
    }
}

impl From<ServeError> for CommandFailure {
    fn from(error: ServeError) -> Self {
        Self::new(CommandExit::Usage, Code::ConfigurationInvalid, error.to_string(), error.hint())
    }
}

impl From<Error> for CommandFailure {
    fn from(error: Error) -> Self {
        let mut failure = Self::new(exit_of(&error), error.code(), error.to_string(), remedies::of(&error));
        failure.retryable = error.retryable();
        failure.retry_after_ms = error.retry_after().and_then(|wait| u64::try_from(wait.as_millis()).ok());
        if let Error::TokenBudgetExceeded { best, .. } = error {
            failure.best = best;
        }
        failure
    }
}

/// Picks the exit code. It is 2 where the caller or the configuration has to change, an unknown workspace included,
/// because that stands for a wrong path.
fn exit_of(error: &Error) -> CommandExit {
    match error {
        Error::InvalidArgument { .. }
        | Error::MemoryInvalid(_)
        | Error::WorkspaceUnknown(_)
        | Error::ScopeDenied(_)
        | Error::OtherWorkspace(_)
        | Error::TwoWorkspaces { .. }
        | Error::SharingDenied(_)
        | Error::WorkspaceRequired(_)
        | Error::KeyRequired
        | Error::KeyUnknown(_)
        | Error::PermissionDenied(_)
        | Error::ConsentRequired { .. }
        | Error::KeyRejected(_)
        | Error::Store(StoreError::OtherEmbedder { .. } | StoreError::NewerFormat { .. }) => CommandExit::Usage,
        _ => CommandExit::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_caller_must_correct_exits_with_2_and_what_went_wrong_with_1() {
        let exit = |error: Error| CommandFailure::from(error).exit.code();
        assert_eq!(exit(Error::invalid("query", "is empty")), 2);
        assert_eq!(exit(Error::WorkspaceUnknown("0123456789abcdef".into())), 2);
        assert_eq!(exit(Error::Store(StoreError::NewerFormat { found: 2, known: 1 })), 2);
        assert_eq!(exit(Error::Store(StoreError::Unusable("denied".into()))), 1);
        assert_eq!(exit(Error::NotFound("memory x".into())), 1);
    }

    #[test]
    fn what_the_user_can_mend_says_how() {
        let io = || std::io::Error::other("broken");
        let failures = [
            CommandFailure::output(io()),
            CommandFailure::runtime(io()),
            CommandFailure::signals(io()),
            CommandFailure::temporary(io()),
            CommandFailure::put_aside(io()),
            CommandFailure::not_stored(io()),
            CommandFailure::part("it failed".into()),
            CommandFailure::session(SessionError::Failed("it failed".into())),
            TokensError::TooMany.into(),
            TokensError::Unreadable("tokens.json".into(), "broken".into()).into(),
            TokensError::Unwritable("tokens.json".into(), "broken".into()).into(),
            TokensError::NoRandomness("broken".into()).into(),
            BridgeError::Token.into(),
            BridgeError::Key.into(),
            BridgeError::Stream(io()).into(),
        ];
        for failure in failures {
            assert!(failure.hint.is_some(), "{}", failure.message);
        }
    }

    #[test]
    fn the_best_solution_of_a_solve_cut_short_is_in_the_document() {
        let best = Some(Box::new(BestSoFar { solution: "fn main() {}".into(), score: Some(0.4) }));
        let failure = CommandFailure::from(Error::TokenBudgetExceeded { used: 12, limit: 10, best });
        let document = serde_json::to_value(&failure).unwrap();
        assert_eq!(document["code"], "token_budget_exceeded");
        assert_eq!(document["best"]["score"], 0.4);
        assert!(document.get("exit").is_none());
    }
}
