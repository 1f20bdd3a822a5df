//! The command `hook`: it answers an event of a client within a tenth of a second, or says nothing. It never fails, never
//! writes to the bank, and never keeps an agent from its work.

use std::io::{self, Read};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use reasoning_bank_clients::{AgentClient, HookEvent};
use reasoning_bank_domain::safety::secrets::redact;

use super::args::HookArgs;
use super::output;
use super::session::one_thread;
use crate::hook_socket::{HookQuestion, ask};
use crate::settings::{self, Flags, SettingSources};

/// The agent waits no longer for a hook.
const LIMIT: Duration = Duration::from_millis(100);
/// Of a longer event nothing is read.
const EVENT_BYTES: u64 = 32 << 20;

/// Answers one event, at the latest `LIMIT` after it began.
pub(super) fn run(args: &HookArgs, flags: Flags) {
    let until = Instant::now() + LIMIT;
    let (sender, answers) = mpsc::channel();
    let (client, event) = (args.client.clone(), args.event.clone());
    thread::spawn(move || {
        let _ = sender.send(answer(&client, &event, flags));
    });
    if let Ok(Some(answer)) = answers.recv_timeout(until.saturating_duration_since(Instant::now())) {
        let _ = output::line(&answer);
    }
}

fn answer(client: &str, name: &str, flags: Flags) -> Option<String> {
    let client: AgentClient = client.parse().ok()?;
    client.hook_events().iter().find(|known| **known == name)?;
    let mut document = String::new();
    io::stdin().lock().take(EVENT_BYTES).read_to_string(&mut document).ok()?;
    let event = HookEvent::read(client, &document)?;
    let directory = std::env::current_dir().ok()?;
    // `setup` names the directory: to read the settings would take half of the time.
    let data_dir = match &flags.data_dir {
        Some(named) => directory.join(named),
        None => settings::load(&SettingSources::of_process(flags).ok()?).ok()?.settings.data_dir,
    };
    let error = match &event {
        HookEvent::SessionStarted => None,
        HookEvent::ToolFailed { error } => Some(redact(error).text.into_owned()),
    };
    let question = HookQuestion { directory, error };
    let text = one_thread().ok()?.block_on(ask(&data_dir, &question))?;
    Some(event.answer(redact(&text).text.as_ref()).to_string())
}
