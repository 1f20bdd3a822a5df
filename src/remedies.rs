//! The remedies for failures, in the words of the edges: commands, options and keys of the configuration. The packages
//! below name none of these.

use std::borrow::Cow;

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::{ReadOnlyCause, StoreError};

/// Says what can be done about an error.
pub(crate) fn of(error: &Error) -> Cow<'static, str> {
    match error {
        Error::InvalidArgument { .. } => "correct the argument and call again".into(),
        Error::NotFound(_) => "check the id or the name; a search or a list of its kind shows what is there".into(),
        Error::WorkspaceUnknown(_) => "give the path of the project instead of an id, or record something there first".into(),
        Error::ScopeDenied(_) => "keep it in scope project, or give the workspace a team or organisation: `workspace trust`".into(),
        Error::OtherWorkspace(_) => {
            "leave `workspace` out; sessions on this machine name other projects where the user's own configuration lists the toolset \"workspace\" in mcp.toolsets".into()
        }
        Error::TwoWorkspaces { argument, .. } => {
            let in_query = if *argument == "workspace" { " (in a query: ?workspace=)" } else { "" };
            format!("name the same in `{argument}`{in_query} and in the header X-Workspace, or leave one of them out").into()
        }
        Error::SharingDenied(_) => {
            "keep it in scope project: `reasoning-bank memory promote` shares what has proved itself; workspace.share = true in the user's own configuration lets clients write there; over the network, a token with admin (a team) or admin:all (an organisation) may".into()
        }
        Error::WorkspaceRequired(_) => "name the project in `workspace`: the path of a directory that exists".into(),
        Error::KeyRequired => {
            "name the project by its key, in `workspace` or in the header X-Workspace; where `reasoning-bank mcp --server` is the client, the user can run `reasoning-bank workspace link PATH` once for the project, or start it with `--key KEY`".into()
        }
        Error::KeyUnknown(_) => "check the key; a token is good for the workspaces of its own list alone".into(),
        Error::PermissionDenied(_) => "ask whoever runs the server for a token that has it".into(),
        Error::ConsentRequired { command, .. } => format!("the user can run: {command}").into(),
        Error::Declined { .. } => "leave it as it is, unless the user asks for it again".into(),
        Error::MemoryInvalid(_) => "correct what the message names and call again; nothing was stored".into(),
        Error::Store(StoreError::Unusable(_)) => {
            "check that the data directory exists, is writable and has space; --data-dir or REASONING_BANK_DATA names another".into()
        }
        Error::Store(StoreError::NewerFormat { .. }) => "install the newer version of reasoning-bank, or use another --data-dir".into(),
        Error::Store(StoreError::OtherEmbedder { .. }) => {
            "use the embedder the directory was written with, or another --data-dir; `reembed` rewrites the vectors".into()
        }
        Error::Store(StoreError::TimedOut) => "call again; a write may have been done: look before you repeat it".into(),
        Error::Store(StoreError::Conflict(_) | StoreError::JobChanged(_) | StoreError::TraceChanged(_))
        | Error::Conflict(_) => "read it again and repeat the change".into(),
        Error::TaskInUse(_) => {
            "go on with it in the session that has it open, or end the server of that session and call again".into()
        }
        Error::ConsolidationRunning => "wait until it has ended, and call again".into(),
        Error::Store(StoreError::CarriedOut(_)) => {
            "do not send it again: it was done once, and only its answer was lost; read what is stored now".into()
        }
        Error::BankUnwritten(_) => {
            "put a readable and writable file in UTF-8 into the place of what the message names, or nothing at all, and run `bank sync` again; nothing is lost until then".into()
        }
        Error::RequestInWork => "wait a moment and send it again, with the same key".into(),
        Error::Store(StoreError::ReadOnly(cause)) => of_cause(*cause),
        Error::Store(StoreError::Failed(_)) => "call again; the log has the details".into(),
        Error::Embedding(_) => "call again in a moment; the log says why the embedding model is not ready".into(),
        Error::NoModel => {
            "have whoever runs the server choose a model: llm.provider, or `--llm`; the memory tools work without one".into()
        }
        Error::ModelUnavailable { .. } => "check the provider and `--llm`; `--llm none` keeps the memory tools without a model".into(),
        Error::ModelFailed { .. } => match error.retry_after() {
            Some(wait) => format!("call again after {} ms, or with another model", wait.as_millis()).into(),
            None => "call again later, or with another model".into(),
        },
        Error::ModelRefused(_) => {
            "check llm.model, the account's credits and the request; the provider's reason is in the message".into()
        }
        Error::ModelOutputInvalid(_) => "use a model that supports structured output".into(),
        Error::KeyRejected(_) => {
            "check OPENROUTER_API_KEY (for responses and chat: REASONING_BANK__LLM__API_KEY); `--llm none` keeps the memory tools without a model".into()
        }
        Error::DailyLimit { .. } => "solve again tomorrow, or have the operator raise http.model_tokens_per_day".into(),
        Error::TokenBudgetExceeded { .. } => "raise agent.total_token_budget, or lower matts_k; the best solution so far is in `best`".into(),
        Error::Overloaded { .. } => {
            format!("call again after {} ms", error.retry_after().unwrap_or_default().as_millis()).into()
        }
        Error::DeadlineExceeded => {
            "call again; a write may have been done: look before you repeat it; raise agent.deadline_s if the work is that long".into()
        }
        Error::Cancelled => {
            "nothing to do where the caller cancelled; else the server or its token ended: send it again then".into()
        }
        Error::Internal(_) => "this is a bug; report it with the log entry".into(),
    }
}

/// Says what can be done where nothing can be written.
pub(crate) fn of_cause(cause: ReadOnlyCause) -> Cow<'static, str> {
    match cause {
        ReadOnlyCause::FileSystem | ReadOnlyCause::Permission => {
            format!("{}; --data-dir names another data directory", cause.remedy()).into()
        }
        ReadOnlyCause::DiskFull | ReadOnlyCause::LockHeld => cause.remedy().into(),
    }
}

/// Writes a command, ready for a shell.
pub(crate) fn shell_command(words: &[&str]) -> String {
    words.iter().copied().map(shell_word).collect::<Vec<_>>().join(" ")
}

/// Writes a word of a command, quoted where a shell would read more into it.
fn shell_word(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_wait_is_named_where_it_is_known() {
        let failed = |retry_after| Error::ModelFailed { message: "429".into(), retry_after };
        assert_eq!(of(&failed(Some(Duration::from_secs(59)))), "call again after 59000 ms, or with another model");
        assert_eq!(of(&failed(Some(Duration::ZERO))), "call again later, or with another model");
        let overloaded = Error::Overloaded { retry_after: Duration::from_micros(1_001) };
        assert_eq!(of(&overloaded), "call again after 2 ms");
    }

    #[test]
    fn whose_time_is_up_looks_before_a_write_is_repeated() {
        for error in [Error::DeadlineExceeded, Error::Store(StoreError::TimedOut)] {
            assert!(of(&error).contains("a write may have been done: look before you repeat it"), "{error}");
        }
    }

    #[test]
    fn a_command_can_be_given_to_a_shell() {
        let words = ["reasoning-bank", "--data-dir", "/srv/ana's bank", "token", "list", ""];
        assert_eq!(shell_command(&words), r"reasoning-bank --data-dir '/srv/ana'\''s bank' token list ''");
    }

    #[test]
    fn a_file_of_a_memory_bank_is_mended_in_its_place() {
        let unwritten = Error::BankUnwritten("notes.md: what is there is not in UTF-8".into());
        assert!(unwritten.to_string().contains("notes.md") && !unwritten.to_string().contains("store"));
        assert!(of(&unwritten).contains("UTF-8") && !of(&unwritten).contains("--data-dir"));
    }

    #[test]
    fn where_nothing_can_be_written_another_directory_may_be_named() {
        for cause in [ReadOnlyCause::FileSystem, ReadOnlyCause::Permission] {
            assert!(of(&Error::Store(StoreError::ReadOnly(cause))).contains("--data-dir"));
        }
    }
}
