//! The commands of the team daemon: `serve` runs it, `health` asks one that runs whether it is ready, and
//! `mcp --server` takes a client to it.

mod reload;
mod service_manager;

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::memory::workspace::WorkspaceKey;
use reqwest::{StatusCode, Url};
use secrecy::SecretString;
use serde::Serialize;
use tokio::task::block_in_place;
use tokio_util::sync::CancellationToken;

use self::reload::Reloader;
use super::failure::{CommandExit, CommandFailure};
use super::output::{Output, line};
use super::session::{end_of_process, one_thread, with_serving_bank};
use super::signals;
use crate::hooks::answer_hooks;
use crate::hosts::may_carry_token;
use crate::http::{Daemon, ServeError};
use crate::mcp::{BridgeOptions, McpOptions, PATH, bridge_stdio};
use crate::remedies::shell_command;
use crate::settings::{BOOTSTRAP_TOKEN_FILE, Loaded, SettingSources};
use crate::tokens::{TokenFile, take_over_banks, teams_in_common};

/// A server that does not answer within this time is not ready.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) fn serve(
    loaded: &Loaded,
    sources: &SettingSources,
    options: McpOptions,
    output: Output,
) -> Result<CommandExit, CommandFailure> {
    check_backups(loaded)?;
    take_first_token(loaded)?;
    take_over_banks(&loaded.settings.data_dir);
    tell_of_teams_in_common(loaded)?;
    let recalls = options.recalls.clone();
    with_serving_bank(loaded, async |system: SystemHandle| {
        let end = CancellationToken::new();
        end_of_process(end.clone())?;
        let mut hangups = signals::asked_to_reload().map_err(CommandFailure::signals)?;
        let daemon = Daemon::bind(&loaded.settings.http, &loaded.settings.data_dir).await?;
        let reloader = Reloader::new(sources.clone(), loaded.clone(), daemon.limits());
        let ending = end.clone();
        let reloads = async {
            while hangups.recv().await.is_some() && !ending.is_cancelled() {
                block_in_place(|| service_manager::reloading(|| reloader.reload()));
            }
            std::future::pending().await
        };
        announce(&daemon, &loaded.settings.data_dir, output)?;
        let told = service_manager::follow(system.clone(), end.clone());
        tokio::select! {
            ((), ()) = async { tokio::join!(daemon.serve(system.clone(), options, end), told) } => Ok(()),
            ended = system.ended() => Err(CommandFailure::gave_up(&ended)),
            never = reloads => never,
            never = answer_hooks(super::hook_server(system.clone(), loaded, recalls)) => match never {},
        }
    })
    .map(|()| CommandExit::Ok)
}

/// Refuses a directory in which no backup can be made, so that nobody learns of it when a backup is needed.
fn check_backups(loaded: &Loaded) -> Result<(), CommandFailure> {
    let Some(schedule) = loaded.settings.backup.schedule() else { return Ok(()) };
    schedule.check(&loaded.settings.data_dir).map_err(|error| {
        let hint = "name a directory outside of the data directory that the user of the server may write to; \
                    with an empty one no backups are made";
        CommandFailure::usage(format!("backup.dir: {error}")).hint(hint)
    })
}

/// Stores the token of the file that the environment names, where there has never been a token.
fn take_first_token(loaded: &Loaded) -> Result<(), ServeError> {
    let path = std::env::var_os(BOOTSTRAP_TOKEN_FILE).filter(|path| !path.is_empty());
    let Some(path) = path.map(PathBuf::from) else { return Ok(()) };
    match TokenFile::of(&loaded.settings.data_dir).add_first(&path, Timestamp::now())? {
        true => tracing::info!("the first token was taken from {BOOTSTRAP_TOKEN_FILE}"),
        false => tracing::info!("{BOOTSTRAP_TOKEN_FILE} is ignored, because there are tokens already"),
    }
    Ok(())
}

/// Names in the log the teams that several organisations have in common.
fn tell_of_teams_in_common(loaded: &Loaded) -> Result<(), ServeError> {
    let tokens = TokenFile::of(&loaded.settings.data_dir).read()?;
    for team in teams_in_common(&tokens, Timestamp::now()) {
        tracing::warn!("{team}; `token revoke` those of all organisations but one");
    }
    Ok(())
}

/// Says on stdout where the server is and what to do next.
fn announce(daemon: &Daemon, data_dir: &Path, output: Output) -> Result<(), CommandFailure> {
    let url = format!("http://{}{PATH}", daemon.address());
    if output.json {
        return line(&serde_json::json!({"url": url, "needs_token": daemon.needs_token()}).to_string());
    }
    line(&format!("ReasoningBank listens on {url}"))?;
    if !daemon.needs_token() {
        return line("next: give a client this URL; there is no token, so every user of this machine has the bank");
    }
    let data_dir = data_dir.to_string_lossy();
    let words: [&str; 7] = ["reasoning-bank", "--data-dir", &data_dir, "token", "create", "NAME", "--all-workspaces"];
    line(&format!("next: give a client this URL and a token; `{}` makes one", shell_command(&words)))
}

/// Connects the client at stdin and stdout to a server.
pub(super) fn bridge(url: Url, token_env: &str, key: Option<WorkspaceKey>) -> Result<CommandExit, CommandFailure> {
    let token = std::env::var(token_env).ok().filter(|token| !token.trim().is_empty());
    let token = token.map(|token| SecretString::from(token.trim().to_owned()));
    if token.is_some() && !may_carry_token(&url) {
        let problem = format!("the token would go to {url} unencrypted");
        return Err(CommandFailure::usage(problem).hint("use https, or a server on this machine"));
    }
    let options = BridgeOptions { url, token, key };
    let runtime = one_thread()?;
    let done = runtime.block_on(async {
        let end = CancellationToken::new();
        end_of_process(end.clone())?;
        bridge_stdio(options, end).await.map_err(CommandFailure::from)
    });
    // A read of stdin that blocks would hold a runtime that is dropped.
    runtime.shutdown_background();
    done.map(|()| CommandExit::Ok)
}

/// The answer of a server about itself.
#[derive(Debug, Serialize)]
struct ProbeAnswer {
    url: String,
    ready: bool,
    /// The server's answer, or the reason why there is none.
    detail: String,
}

/// Asks the server of the settings, or the one at a URL, whether it is ready.
pub(super) fn health(url: Option<Url>, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    let url = match url {
        Some(url) => url.join("/readyz").map_err(|error| CommandFailure::usage(error.to_string()))?.to_string(),
        None => format!("http://{}/readyz", loaded.settings.http.listen),
    };
    let runtime = one_thread()?;
    let asked = runtime.block_on(async {
        let client = reqwest::Client::builder().timeout(HEALTH_TIMEOUT).no_proxy().build()?;
        let answer = client.get(&url).send().await?;
        let status = answer.status();
        Ok::<_, reqwest::Error>((status, answer.text().await?))
    });
    let answer = match asked {
        Ok((status, detail)) => ProbeAnswer { url, ready: status == StatusCode::OK, detail },
        Err(error) => {
            let detail = match error.is_connect() {
                true => "nothing answers there; `reasoning-bank serve` starts a server".to_owned(),
                false => error.to_string(),
            };
            ProbeAnswer { url, ready: false, detail }
        }
    };
    output.answer(&answer, |answer| {
        let said = if answer.ready { "is ready" } else { "is not ready" };
        format!("{} {said}: {}", answer.url, answer.detail)
    })?;
    Ok(if answer.ready { CommandExit::Ok } else { CommandExit::Failed })
}
