//! The command `hook`: it answers an event of a client within a tenth of a second, or says nothing. It never fails,
//! never writes to the bank, and never keeps an agent from its work.

use std::io::{self, Read};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use clap::CommandFactory;
use reasoning_bank_clients::{AgentClient, HookCall, HookEvent};

use super::args::{Cli, HookArgs};
use super::output;
use super::session::one_thread;
use crate::hooks::{ColdAnswer, HookQuestion, HookReply, SpoolEntry, answer_cold, ask, leave, warm_up};
use crate::recall_log::UnwrittenRecalls;
use crate::settings::{self, Flags, SettingSources};

const SESSION_END: &str = "SessionEnd";
/// The longest time that an agent waits for a hook.
const LIMIT: Duration = Duration::from_millis(100);
/// Nobody waits for a hook at the end of a session, and what it leaves is to be on the disk.
const LIMIT_AT_END: Duration = Duration::from_secs(1);
/// The most bytes of an event. A longer one is not read.
const EVENT_BYTES: u64 = 32 << 20;

/// Says whether the command is `hook`, whatever else is wrong with the arguments.
pub(super) fn is_asked() -> bool {
    let read = Cli::command().ignore_errors(true).try_get_matches();
    read.is_ok_and(|read| read.subcommand_name() == Some("hook"))
}

/// Answers one event in time.
pub(super) fn run(args: &HookArgs, flags: Flags) {
    let limit = if args.event == SESSION_END { LIMIT_AT_END } else { LIMIT };
    let until = Instant::now() + limit;
    let (sender, answers) = mpsc::channel();
    let (client, event) = (args.client.clone(), args.event.clone());
    thread::spawn(move || {
        let _ = sender.send(answer(&client, &event, flags));
    });
    if let Ok(Some(HookOutput { document, noted })) =
        answers.recv_timeout(until.saturating_duration_since(Instant::now()))
        && output::line(&document).is_ok()
    {
        noted.iter().for_each(UnwrittenRecalls::write);
    }
}

/// The document that a hook prints, and what it notes once it has.
struct HookOutput {
    document: String,
    noted: Option<UnwrittenRecalls>,
}

fn answer(client: &str, name: &str, flags: Flags) -> Option<HookOutput> {
    let client: AgentClient = client.parse().ok()?;
    let mut document = String::new();
    io::stdin().lock().take(EVENT_BYTES).read_to_string(&mut document).ok()?;
    let call = HookCall::read(client, &document).filter(|call| call.name == name)?;
    let own = std::env::current_dir().ok()?;
    // The client may run its hooks elsewhere than where the session works.
    let directory = call.directory.as_ref().map_or_else(|| own.clone(), |directory| own.join(directory));
    let load = |flags: Flags| {
        let sources = SettingSources::of_process(flags).ok()?;
        settings::load(&SettingSources { directory: directory.clone(), ..sources }).ok()
    };
    // `setup` names the directory, so that the settings are read only where nobody serves the bank.
    let (data_dir, loaded) = match &flags.data_dir {
        Some(named) => (own.join(named), None),
        None => {
            let loaded = load(flags.clone())?;
            (loaded.settings.data_dir.clone(), Some(loaded))
        }
    };
    let question = HookQuestion { directory: directory.clone(), call };
    if matches!(question.call.event, HookEvent::SessionEnded { .. } | HookEvent::Compacting) {
        let _ = leave(&data_dir, &SpoolEntry::Event(question));
        return None;
    }
    let runtime = one_thread().ok()?;
    let (text, noted) = match runtime.block_on(ask(&data_dir, &question)) {
        Some(HookReply { text }) => (text?, None),
        // Only a server knows which warnings a session was shown.
        None if matches!(question.call.event, HookEvent::ToolSucceeded { .. }) => return None,
        None => {
            thread::spawn(warm_up);
            let loaded = match loaded {
                Some(loaded) => loaded,
                None => load(Flags { data_dir: Some(data_dir), ..flags })?,
            };
            let ColdAnswer { text, noted } = runtime.block_on(answer_cold(question.clone(), &loaded, LIMIT))?;
            (text, noted)
        }
    };
    Some(HookOutput { document: question.call.answer(&text).to_string(), noted })
}
