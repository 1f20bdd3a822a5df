//! Tests that secrets of every kind, planted in everything that the process takes in, are in nothing that it writes,
//! sends or says. The rules for what a secret is are tested in `domain/src/safety/secrets/`; here is every way in and
//! out.

mod command_line;
pub(crate) mod corpus;
mod leaky_provider;
mod lookalikes;
mod mcp_client;
mod seen;

use std::process::Command;

use serde_json::Value;

use crate::support::{Place, Ran};
use corpus::{Planted, corpus, everything};
use leaky_provider::Provider;
use seen::Seen;

/// The key of the provider, as the environment gives it; another one than the corpus has.
const KEY: &str = "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";
/// A key of another provider, which has no known form.
const OTHER_KEY: &str = "correct-battery-horse-81";

/// A place whose log is at its loudest, in a file, and whose settings hold secrets where settings can.
fn place(provider: &Provider, corpus: &[Planted]) -> Place {
    let place = Place::new();
    let name = &corpus.iter().find(|planted| planted.text.starts_with("DB_PASSWORD")).unwrap().text;
    let settings = format!(
        "[llm]\nbase_url = {:?}\n[llm.retry]\nbase_delay_ms = 1\n[workspace]\nname = {name:?}\n\
         [background]\ndaily_token_cap = 100000000\n[mcp]\ntoolsets = [\"all\"]\n[log]\nlevel = \"trace\"\nfile = {:?}\n",
        provider.uri(),
        place.path("log").display().to_string(),
    );
    place.write("config/reasoning-bank/config.toml", &settings);
    place
}

fn command_with_key(place: &Place, arguments: &[&str]) -> Command {
    let mut command = place.command(arguments);
    command.env("OPENROUTER_API_KEY", KEY).env("REASONING_BANK_TRACES", place.path("traces"));
    command
}

fn run_with_key(place: &Place, arguments: &[&str]) -> Ran {
    Ran::of(command_with_key(place, arguments).output().unwrap())
}

#[test]
fn no_secret_of_any_kind_is_in_anything_that_a_client_leads_to() {
    let corpus = corpus();
    assert!(corpus.len() > 60, "{}", corpus.len());
    let provider = Provider::start(everything(&corpus));
    let place = place(&provider, &corpus);
    let mut seen = Seen::default();
    mcp_client::work(&place, &corpus, &mut seen);

    let exported = run_with_key(&place, &["memory", "export", "--all"]).ok();
    assert!(exported.stdout.lines().count() > corpus.len() / 6, "{}", exported.stdout);
    assert!(exported.stdout.contains("[REDACTED:github]") && exported.stdout.contains("\"kind\":\"trace\""));
    seen.ran("export", &exported);
    let requests = provider.requests();
    assert!(requests.len() > 10, "{}", requests.len());
    let purposes = requests.iter().filter_map(|request| serde_json::from_slice::<Value>(&request.body).ok());
    assert!(purposes.map(|body| body["metadata"]["purpose"].clone()).any(|purpose| purpose == "distill"));
    nothing_leaked(&place, &provider, &corpus, seen);
}

#[test]
fn no_secret_of_any_kind_is_in_anything_that_is_done_at_the_command_line() {
    let corpus = corpus();
    let provider = Provider::start(everything(&corpus));
    let place = place(&provider, &corpus);
    let mut seen = Seen::default();
    command_line::work(&place, &corpus, &mut seen);

    let exported = run_with_key(&place, &["memory", "export", "--all"]).ok();
    seen.ran("export", &exported);
    command_line::restore(&place, &corpus, &exported.stdout, &mut seen);
    nothing_leaked(&place, &provider, &corpus, seen);
}

/// Adds the log, every file and every request to what was seen, and looks through all of it.
fn nothing_leaked(place: &Place, provider: &Provider, corpus: &[Planted], mut seen: Seen) {
    let log = std::fs::read_to_string(place.path("log")).unwrap();
    assert!(log.contains("a model call ended"));
    seen.add("the log", log);
    for directory in ["data", "traces", "project", "home", "xdg-data"] {
        seen.directory(&place.path(directory));
    }
    for request in provider.requests() {
        assert!(request.headers.get("authorization").unwrap().to_str().unwrap().ends_with(KEY));
        seen.add(format!("the request {}", request.url), request.body);
    }
    let secrets = corpus.iter().map(|planted| planted.secret.as_str());
    let leaks = seen.leaks(secrets.chain([KEY]));
    assert!(leaks.is_empty(), "{} leaks: {:#?}", leaks.len(), &leaks[..leaks.len().min(40)]);
}

#[test]
fn a_key_of_no_known_form_is_nowhere_though_the_provider_quotes_it() {
    let provider = Provider::start(format!("the key was {OTHER_KEY}."));
    let place = Place::new();
    let settings = format!("[llm]\nbase_url = {:?}\n[llm.retry]\nmax_retries = 0\n", provider.uri());
    place.write("config/reasoning-bank/config.toml", &settings);
    let mut seen = Seen::default();
    for k in ["1", "4"] {
        let mut command = place.command(&["--llm", "responses", "--json", "-vv", "solve", "Log in.", "--matts-k", k]);
        command.env("REASONING_BANK__LLM__API_KEY", OTHER_KEY);
        seen.ran("solve", &Ran::of(command.output().unwrap()));
    }
    assert!(provider.requests().len() > 4);
    seen.directory(&place.path("data"));
    seen.ran("export", &place.run(&["memory", "export", "--all"]).ok());
    assert_eq!(seen.leaks([OTHER_KEY].into_iter()), Vec::<String>::new());
}
