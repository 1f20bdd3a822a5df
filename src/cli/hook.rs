//! The command `hook`: it answers an event of a client within a tenth of a second, or says nothing. It never fails,
//! never writes to the bank, and never keeps an agent from its work. Where nobody serves the bank it starts a process
//! that does, for the hooks that follow.

use std::io::{self, ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use clap::CommandFactory;
use jiff::Timestamp;
use reasoning_bank_clients::{AgentClient, HookCall, HookEvent, HookMoment};
use reasoning_bank_domain::memory::signature::error_message;
use reasoning_bank_store::LanceReader;
use serde::de::IgnoredAny;
use tokio_util::sync::CancellationToken;

use super::args::{Cli, HookArgs};
use super::failure::{CommandExit, CommandFailure};
use super::output;
use super::session::{end_of_process, one_thread, request_deadline, with_answering_bank};
use super::{hook_server, recall_log, redact_as_set};
use crate::hooks::{
    AskedServer, ColdAnswer, HookFailure, HookProblem, HookQuestion, ServedAnswer, SpoolEntry, answer_cold,
    answer_hooks_while_asked, ask, is_served, leave, may_start_server, note_failure, warm_up,
};
use crate::project;
use crate::recall_log::UnwrittenRecalls;
use crate::settings::{self, Flags, Loaded, SettingSources};

/// The longest time that an agent waits for an answer.
const LIMIT: Duration = Duration::from_millis(100);
/// The longest time that an event takes to be on the disk.
const LIMIT_TO_LEAVE: Duration = Duration::from_secs(1);
/// The longest time that is taken to note that a hook went wrong, once the agent was answered.
const LIMIT_TO_NOTE: Duration = Duration::from_millis(20);
/// The most bytes of an event. A longer one is not read.
const EVENT_BYTES: u64 = 32 << 20;

/// Says whether the command is `hook`, whatever else is wrong with the arguments.
pub(super) fn is_asked() -> bool {
    let read = Cli::command().ignore_errors(true).try_get_matches();
    read.is_ok_and(|read| read.subcommand_name() == Some("hook"))
}

/// Answers one event in time.
pub(super) fn run(args: &HookArgs, flags: Flags) {
    let limit =
        if args.client.parse().is_ok_and(|client| leaves(client, &args.event)) { LIMIT_TO_LEAVE } else { LIMIT };
    let until = Instant::now() + limit;
    let (sender, answers) = mpsc::channel();
    let (client, event) = (args.client.clone(), args.event.clone());
    let findings = Arc::new(Findings::default());
    let found = Arc::clone(&findings);
    thread::spawn(move || {
        let _ = sender.send(answer(&client, &event, flags, &found));
    });
    match answers.recv_timeout(until.saturating_duration_since(Instant::now())) {
        Ok(Some(HookOutput { document, counting })) => match output::line(&document) {
            Ok(()) => counting.note_printed(),
            Err(_) => findings.went_wrong(HookProblem::NotPrinted),
        },
        Ok(None) => {}
        Err(RecvTimeoutError::Timeout) => findings.went_wrong(HookProblem::Late),
        Err(RecvTimeoutError::Disconnected) => findings.went_wrong(HookProblem::Crashed),
    }
    note(&findings, args);
    if let Some(place) = findings.unserved.get() {
        start_server(place, args);
    }
}

/// What an answer found out besides.
#[derive(Default)]
struct Findings {
    data_dir: OnceLock<PathBuf>,
    /// What went wrong first, with the kind of error that the system told of.
    problem: OnceLock<(HookProblem, Option<ErrorKind>)>,
    /// The bank that nobody serves and a process is to be started for.
    unserved: OnceLock<ServerPlace>,
}

/// The place of a server for hooks. The paths are absolute.
struct ServerPlace {
    data_dir: PathBuf,
    /// The directory of the event, whose settings count.
    directory: PathBuf,
    config: Option<PathBuf>,
}

impl Findings {
    fn went_wrong(&self, problem: HookProblem) {
        let _ = self.problem.set((problem, None));
    }

    fn failed(&self, problem: HookProblem, error: &io::Error) {
        let _ = self.problem.set((problem, Some(error.kind())));
    }

    fn is_unserved(&self, loaded: &Loaded, directory: &Path, config: Option<&Path>) {
        if loaded.settings.hooks.server_idle_s > 0 {
            let data_dir = directory.join(&loaded.settings.data_dir);
            let config = config.map(|file| directory.join(file));
            let _ = self.unserved.set(ServerPlace { data_dir, directory: directory.to_owned(), config });
        }
    }
}

/// Notes in the data directory what went wrong, for `doctor`. A disk that hangs is not waited for.
fn note(findings: &Findings, args: &HookArgs) {
    let (Some(data_dir), Some((problem, kind))) = (findings.data_dir.get(), findings.problem.get()) else { return };
    let Ok(client) = args.client.parse::<AgentClient>() else { return };
    if client.hook_moment(&args.event).is_none() {
        return;
    }
    let failure = HookFailure {
        at: Timestamp::now(),
        client,
        event: args.event.clone(),
        problem: *problem,
        cause: kind.map(|kind| kind.to_string()),
    };
    let data_dir = data_dir.clone();
    let (sender, noted) = mpsc::channel();
    thread::spawn(move || {
        let _ = sender.send(note_failure(&data_dir, &failure));
    });
    let _ = noted.recv_timeout(LIMIT_TO_NOTE);
}

/// Starts a process that answers the hooks that follow. It is in a group of its own, so that it stays when the client
/// ends the hook's.
fn start_server(place: &ServerPlace, args: &HookArgs) {
    // The user of this process is told by a socket, which belongs to a runtime.
    let Ok(runtime) = one_thread() else { return };
    if !place.data_dir.is_dir() || !runtime.block_on(async { may_start_server(&place.data_dir) }) {
        return;
    }
    let Ok(binary) = std::env::current_exe() else { return };
    let mut server = Command::new(binary);
    server.arg("--data-dir").arg(&place.data_dir);
    if let Some(config) = &place.config {
        server.arg("--config").arg(config);
    }
    server.args(["hook", &args.client, &args.event, "--serve"]).current_dir(&place.directory);
    server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let _ = server.spawn();
}

/// Answers hooks until none has asked for a while. A bank that is not there, has another format, or has to be repaired
/// is left alone, as each hook leaves it.
pub(super) fn serve(loaded: &Loaded) -> Result<CommandExit, CommandFailure> {
    let settings = &loaded.settings;
    let idle = Duration::from_secs(settings.hooks.server_idle_s);
    if idle.is_zero() || one_thread()?.block_on(LanceReader::open(&settings.data_dir)).is_err() {
        return Ok(CommandExit::Ok);
    }
    with_answering_bank(loaded, async |system| {
        // A process that cannot read the bank, because it has another embedding model, must not answer for it.
        system.workspaces.resolve(&loaded.workspace, request_deadline()).await?;
        let end = CancellationToken::new();
        end_of_process(end.clone())?;
        let server = hook_server(system.clone(), loaded, recall_log(settings));
        tokio::select! {
            () = answer_hooks_while_asked(server, idle) => Ok(()),
            () = end.cancelled() => Ok(()),
            ended = system.ended() => Err(CommandFailure::gave_up(&ended)),
        }
    })
    .map(|()| CommandExit::Ok)
}

/// Says whether an event leaves something on the disk, and its hook answers nothing.
fn leaves(client: AgentClient, event: &str) -> bool {
    client.hook_moment(event).is_some_and(HookMoment::leaves)
}

/// The document that a hook prints.
struct HookOutput {
    document: String,
    counting: Counting,
}

/// The one that counts the memories in a document as shown.
enum Counting {
    Server(AskedServer),
    Hook(Option<UnwrittenRecalls>),
}

impl Counting {
    fn note_printed(self) {
        match self {
            Counting::Server(asked) => asked.note_printed(),
            Counting::Hook(noted) => noted.iter().for_each(UnwrittenRecalls::write),
        }
    }
}

fn answer(client: &str, name: &str, flags: Flags, findings: &Findings) -> Option<HookOutput> {
    let client: AgentClient = client.parse().ok()?;
    let own = std::env::current_dir().ok()?;
    // `setup` names the directory, so that the settings are read only where nobody serves the bank.
    let named = flags.data_dir.as_ref().map(|named| findings.data_dir.get_or_init(|| own.join(named)).clone());
    let document = read_event().map_err(|error| findings.failed(HookProblem::EventUnreadable, &error)).ok()?;
    let Some(call) = HookCall::read(client, &document, |printed| error_message(printed).is_some()) else {
        if serde_json::from_str::<IgnoredAny>(&document).is_err() {
            findings.went_wrong(HookProblem::EventUnreadable);
        }
        return None;
    };
    if call.name != name {
        return None;
    }
    // The client may run its hooks elsewhere than where the session works.
    let directory = call.directory.as_ref().map_or_else(|| own.clone(), |directory| own.join(directory));
    let begun_in = begun_in(client).filter(|begun_in| directory.starts_with(begun_in));
    // A repository is a project of its own.
    let directory = match &begun_in {
        Some(begun_in) if project::work_tree(&directory).is_none() => begun_in.clone(),
        _ => directory,
    };
    let load = |flags: Flags| {
        let sources = SettingSources::of_process(flags).ok()?;
        let loaded = settings::load(&SettingSources { directory: directory.clone(), ..sources });
        loaded.map_err(|_| findings.went_wrong(HookProblem::SettingsUnreadable)).ok()
    };
    let (data_dir, loaded) = match named {
        Some(named) => (named, None),
        None => {
            let loaded = load(flags.clone())?;
            let data_dir = findings.data_dir.get_or_init(|| loaded.settings.data_dir.clone()).clone();
            (data_dir, Some(loaded))
        }
    };
    // The settings where nobody serves the bank, and a server is to be started.
    let settings_unserved = |data_dir: PathBuf| {
        let loaded = loaded.or_else(|| load(Flags { data_dir: Some(data_dir), ..flags.clone() }))?;
        redact_as_set(&loaded);
        findings.is_unserved(&loaded, &directory, flags.config.as_deref());
        Some(loaded)
    };
    let question = HookQuestion { directory: directory.clone(), begun_in, call };
    let runtime = one_thread().ok()?;
    if leaves(client, name) {
        if let Err(error) = leave(&data_dir, &SpoolEntry::Event(question.clone())) {
            findings.failed(HookProblem::NotLeft, &error);
        }
        // The server of a session that is over ends, too, before it learns from it.
        let is_over = matches!(question.call.event, HookEvent::SessionEnded { .. });
        if is_over || !runtime.block_on(is_served(&data_dir)) {
            settings_unserved(data_dir)?;
        }
        return None;
    }
    let (text, counting) = match runtime.block_on(ask(&data_dir, &question)) {
        Some(ServedAnswer { text, asked }) => (text?, Counting::Server(asked)),
        // Only a server knows which warnings a session was shown.
        None if matches!(question.call.event, HookEvent::ToolSucceeded { .. }) => return None,
        None => {
            thread::spawn(warm_up);
            let loaded = settings_unserved(data_dir)?;
            let answered = runtime.block_on(answer_cold(question.clone(), &loaded, LIMIT));
            let ColdAnswer { text, noted } = answered.map_err(|problem| findings.went_wrong(problem)).ok()??;
            (text, Counting::Hook(noted))
        }
    };
    Some(HookOutput { document: question.call.answer(&text).to_string(), counting })
}

/// Returns the directory that the session was begun in, where the client names it.
fn begun_in(client: AgentClient) -> Option<PathBuf> {
    let named = match client {
        AgentClient::ClaudeCode => std::env::var_os("CLAUDE_PROJECT_DIR"),
        AgentClient::GeminiCli => std::env::var_os("GEMINI_PROJECT_DIR"),
        _ => None,
    };
    // Every path begins with the empty one.
    named.map(PathBuf::from).filter(|named| named.is_absolute())
}

/// Reads the event that the client tells of.
fn read_event() -> io::Result<String> {
    let mut document = String::new();
    io::stdin().lock().take(EVENT_BYTES).read_to_string(&mut document)?;
    Ok(document)
}
