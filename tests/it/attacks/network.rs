//! Attacks by a proxy or a provider. They may not see the key in plain text, get a piece of it into anything that is
//! said or stored, take memory or time without bound, or end the server.

mod peer;
mod replies;

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::peer::{Peer, Reply, Request};
use self::replies::{Input, answers, faults, http, json_reply, quotes, refusals_without_end, retry_afters};
use crate::mcp_process::McpProcess;
use crate::support::{Place, Ran};

/// Returns how many inputs this family goes through.
pub(super) fn inputs() -> usize {
    let replies = [quotes(), answers(), faults(), refusals_without_end()].map(|inputs| inputs.len());
    let proxies = PROXY_VARIABLES.len() * BASE_URLS.len() + TUNNELS.len();
    replies.iter().sum::<usize>() + retry_afters().len() + redirects(80).len() + proxies
}

/// The form of a key of OpenRouter.
const KEY: &str = "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";
/// The longest that an input keeps the server from its next answer.
const LONGEST: Duration = Duration::from_secs(20);
/// The memory that all inputs of a session may take, besides what a good answer takes.
const MEMORY_KIB: u64 = 256 * 1024;

/// Points the user's configuration at this provider, with the key, a log of everything and traces.
fn place(base_url: &str, timeout_s: u64) -> Place {
    let place = Place::new();
    let log = place.path("bank.log");
    let settings = format!(
        "[llm]\nbase_url = '{base_url}'\napi_key = '{KEY}'\ntimeout_s = {timeout_s}\nretry.max_retries = 0\n\
         [traces]\nfiles = true\n[log]\nlevel = 'trace'\nfile = '{}'\n",
        log.display()
    );
    place.write("config/reasoning-bank/config.toml", &settings);
    place
}

/// The texts that were said, and every file but the configuration.
struct Found(Vec<(String, Vec<u8>)>);

impl Found {
    fn of(place: &Place, said: Vec<(String, Vec<u8>)>) -> Self {
        let mut found = Self(said);
        found.read(&place.path("home"), &place.path("config"));
        found.read(place.path("home").parent().unwrap(), &place.path("config"));
        found
    }

    fn read(&mut self, path: &Path, without: &Path) {
        if path == without {
            return;
        }
        match std::fs::read_dir(path) {
            Ok(entries) => entries.for_each(|entry| self.read(&entry.unwrap().path(), without)),
            Err(_) => self.0.extend(std::fs::read(path).map(|bytes| (path.display().to_string(), bytes))),
        }
    }

    /// Asserts that nothing holds eight characters of the key in a row, in any case, or sixteen bytes of a form that it
    /// was quoted in.
    #[track_caller]
    fn assert_without_key<'a>(&self, forms: impl Iterator<Item = &'a [u8]>) {
        let lower = |bytes: &[u8]| bytes.to_ascii_lowercase();
        let pieces: HashSet<Vec<u8>> = KEY.as_bytes().windows(8).map(lower).collect();
        let quoted: HashSet<Vec<u8>> = forms.flat_map(|form| form.windows(16)).map(lower).collect();
        for (name, bytes) in &self.0 {
            let bytes = lower(bytes);
            for (length, forbidden) in [(8, &pieces), (16, &quoted)] {
                if let Some(at) = bytes.windows(length).position(|window| forbidden.contains(window)) {
                    let around = &bytes[at.saturating_sub(200)..(at + 200).min(bytes.len())];
                    panic!("a piece of the key is in {name}: {}", String::from_utf8_lossy(around));
                }
            }
        }
    }
}

/// The document of a tool's answer as it is, and what its texts say without the escapes of JSON.
fn texts(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::String(text) => out.extend_from_slice(text.as_bytes()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, out)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            out.extend_from_slice(name.as_bytes());
            texts(value, out);
        }),
        other => out.extend_from_slice(other.to_string().as_bytes()),
    }
    out.push(b'\n');
}

/// The server, in a session with a provider that answers drafts with whatever it is told to, and all else well.
struct Session {
    place: Place,
    process: McpProcess,
    reply: Arc<Mutex<Reply>>,
    said: Vec<(String, Vec<u8>)>,
    _provider: Peer,
}

impl Session {
    fn start(timeout_s: u64) -> Self {
        let reply = Arc::new(Mutex::new(json_reply(200, &good("think"))));
        let drafts = Arc::clone(&reply);
        let provider = Peer::new(move |request: &Request| match request.purpose() {
            "think" => drafts.lock().unwrap().clone(),
            purpose => json_reply(200, &good(purpose)),
        });
        let place = place(&format!("{}/v1", provider.url()), timeout_s);
        let mut process = McpProcess::spawn(with_its_id_in(&place.path("pid"), &place.command(&["mcp"])));
        process.initialize();
        Self { place, process, reply, said: Vec::new(), _provider: provider }
    }

    /// Solves a task whose draft gets this reply.
    fn solve(&mut self, name: &str, reply: Reply) -> Value {
        *self.reply.lock().unwrap() = reply;
        let begun = Instant::now();
        let task = json!({"task": format!("Sort a list, {name}"), "enable_matts": false, "use_memory": false});
        let answer = self.process.request("tools/call", json!({"name": "solve_coding_task", "arguments": task}));
        assert!(begun.elapsed() < LONGEST, "{name}: {:?}", begun.elapsed());
        let mut said = answer.to_string().into_bytes();
        texts(&answer, &mut said);
        self.said.push((format!("the answer to {name}"), said));
        answer["result"]["structuredContent"].clone()
    }

    /// The highest memory that the process has had, where the system says so.
    fn peak_kib(&self) -> u64 {
        let id = std::fs::read_to_string(self.place.path("pid")).unwrap();
        let status = std::fs::read_to_string(format!("/proc/{}/status", id.trim())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        line.and_then(|line| line.trim().split(' ').next()?.parse().ok()).unwrap_or(0)
    }

    /// Goes through all inputs, after which the server still works, holds no key and took no more than its memory.
    fn go_through(mut self, inputs: &[Input], check: impl Fn(&Input, &Value)) {
        let well = |document: &Value| assert_eq!(document["outcome"], "success", "{document}");
        well(&self.solve("at first", json_reply(200, &good("think"))));
        let before = self.peak_kib();
        for input in inputs {
            let document = self.solve(input.name, input.reply.clone());
            check(input, &document);
        }
        well(&self.solve("at last", json_reply(200, &good("think"))));
        // The system counts pages on each core for a while, so a peak can seem to fall by a few.
        let taken = self.peak_kib().saturating_sub(before);
        assert!(taken < MEMORY_KIB, "{taken} KiB");
        let ended = self.process.end();
        assert!(ended.status.success(), "{}", ended.stderr);
        self.said.push(("stderr".into(), ended.stderr.into_bytes()));
        let found = Found::of(&self.place, self.said);
        assert!(found.0.iter().any(|(name, _)| name.ends_with("bank.log")), "the log is looked through");
        found.assert_without_key(inputs.iter().map(|input| &*input.form));
    }
}

/// The same command, which writes its process id to a file first.
fn with_its_id_in(file: &Path, command: &Command) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(file).arg(command.get_program()).args(command.get_args());
    shell.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(command.get_current_dir().unwrap());
    shell
}

/// Returns the answer of a provider that does what it is asked for.
fn good(purpose: &str) -> Value {
    let text = match purpose {
        "evaluate" => json!({"score": 0.9, "feedback": "fine"}).to_string(),
        "judge" => json!({"verdict": "success", "score": 0.9, "reasoning": "fine", "learnings": []}).to_string(),
        "think" => "A draft.".to_owned(),
        _ => json!({"learnings": []}).to_string(),
    };
    replies::answer(&text)
}

/// An error of the model has one of its codes, whatever the provider sent.
fn is_failure(input: &Input, document: &Value) {
    let code = document["code"].as_str().unwrap_or_else(|| panic!("{}: {document}", input.name));
    assert!(code.starts_with("llm_"), "{}: {document}", input.name);
}

#[test]
fn no_reason_of_a_refusal_quotes_a_piece_of_the_key() {
    // A provider that answers nine times in ten with an error is left alone: a session is shorter than that.
    std::thread::scope(|scope| {
        for inputs in quotes().chunks(20).map(<[Input]>::to_vec) {
            scope.spawn(move || Session::start(20).go_through(&inputs, is_failure));
        }
    });
}

#[test]
fn no_answer_of_a_model_carries_the_key_into_solutions_and_traces() {
    Session::start(20).go_through(&answers(), |input, document| {
        assert_eq!(document["outcome"], "success", "{}: {document}", input.name);
        let solution = document["solution"].as_str().unwrap();
        assert!(solution.contains("[key]") || solution.contains("[REDACTED"), "{}: {solution}", input.name);
    });
}

#[test]
fn no_answer_takes_time_or_memory_without_bound() {
    let all = faults();
    std::thread::scope(|scope| {
        for inputs in all.chunks(20) {
            scope.spawn(move || {
                Session::start(2).go_through(inputs, |input, document| {
                    let is_known = document["code"].is_string() || document["outcome"].is_string();
                    assert!(is_known, "{}: {document}", input.name);
                });
            });
        }
    });
}

#[test]
fn a_refusal_whose_reason_does_not_end_is_told_as_what_it_is() {
    Session::start(60).go_through(&refusals_without_end(), |input, document| {
        let code = if input.name.contains("401") { "llm_rejected_key" } else { "llm_failed" };
        assert_eq!(document["code"], code, "{}: {document}", input.name);
    });
}

#[test]
fn a_client_is_told_to_wait_as_long_as_the_provider_says_and_never_for_nothing() {
    let cases = retry_afters();
    let inputs: Vec<Input> = cases.iter().map(|(input, _)| input.clone()).collect();
    Session::start(20).go_through(&inputs, |input, document| {
        let (_, expected) = cases.iter().find(|(one, _)| one.name == input.name).unwrap();
        assert_eq!(
            (&document["code"], document["retry_after_ms"].as_u64()),
            (&json!("llm_failed"), *expected),
            "{document}"
        );
        let is_named = document["hint"].as_str().unwrap().contains(" ms");
        assert_eq!(is_named, expected.is_some(), "{document}");
    });
}

/// Returns the places to which a provider could send the client, with its key; `port` is where somebody listens.
fn redirects(port: u16) -> Vec<(u16, String)> {
    let elsewhere = [
        format!("http://127.0.0.1:{port}/v1/key"),
        format!("http://localhost:{port}/v1/responses"),
        format!("http://user:pass@127.0.0.1:{port}/"),
        format!("//127.0.0.1:{port}/v1/key"),
        "/v1/elsewhere".to_owned(),
        format!("http://127.0.0.1:{port}/?key={KEY}"),
    ];
    [301, 302, 303, 307, 308].into_iter().flat_map(|status| elsewhere.clone().map(|url| (status, url))).collect()
}

#[test]
fn the_key_follows_no_redirect() {
    let elsewhere = Peer::new(|_| json_reply(200, &json!({})));
    let all = redirects(elsewhere.port());
    let next = Arc::new(Mutex::new(0));
    let (served, at) = (all.clone(), Arc::clone(&next));
    let provider = Peer::new(move |request: &Request| match request.path() {
        "/v1/key" => json_reply(200, &json!({})),
        "/v1/responses" => {
            let (status, url) = &served[*at.lock().unwrap()];
            Reply::Bytes(http(*status, &format!("location: {url}\r\n"), b"moved"))
        }
        other => panic!("{other} was asked for"),
    });
    let place = place(&format!("{}/v1", provider.url()), 20);
    let mut process = McpProcess::initialized(&place, &[]);
    let mut said = Vec::new();
    for (number, (status, url)) in all.iter().enumerate() {
        *next.lock().unwrap() = number;
        let error = process.call_failing("solve_coding_task", json!({"task": "task", "enable_matts": false}));
        assert_eq!(
            (&error["code"], &error["retryable"]),
            (&json!("llm_failed"), &json!(false)),
            "{status} {url}: {error}"
        );
        said.push((url.clone(), error.to_string().into_bytes()));
    }
    assert!(process.end().status.success());
    assert!(elsewhere.seen().is_empty(), "{:?}", elsewhere.seen());
    Found::of(&place, said).assert_without_key(std::iter::empty());
}

const PROXY_VARIABLES: [&str; 4] = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];
/// The hosts to which a key may go by http; nobody is there.
const BASE_URLS: [&str; 6] = [
    "http://127.0.0.1:9/v1",
    "http://[::1]:9/v1",
    "http://llm.localhost:9/v1",
    "http://llm-of-nobody:9/v1",
    "http://llm.of-nobody.internal:9/v1",
    "http://192.168.255.254:9/v1",
];
/// The hosts that are reached through a proxy by https.
const TUNNELS: [&str; 3] =
    ["https://llm.example/v1", "https://192.168.255.254/v1", "https://llm.of-nobody.internal:8443/v1"];

fn doctor(place: &Place, variable: &str, proxy: &str) -> Ran {
    let mut command = place.command(&["doctor"]);
    Ran::of(command.env(variable, proxy).output().unwrap())
}

#[test]
fn a_key_by_http_goes_through_no_proxy() {
    let proxy = Peer::new(|_| json_reply(200, &json!({"data": {}})));
    std::thread::scope(|scope| {
        for variable in PROXY_VARIABLES {
            let proxy = &proxy;
            scope.spawn(move || {
                for base_url in BASE_URLS {
                    let place = place(base_url, 20);
                    let ran = doctor(&place, variable, &proxy.url());
                    assert!(ran.stdout.contains("not checked"), "{variable} {base_url}: {}", ran.stdout);
                    let said = vec![("stdout".into(), ran.stdout.into()), ("stderr".into(), ran.stderr.into())];
                    Found::of(&place, said).assert_without_key(std::iter::empty());
                }
            });
        }
    });
    assert!(proxy.seen().is_empty(), "{:?}", proxy.seen());
}

#[test]
fn a_proxy_of_https_sees_the_host_alone_and_its_password_is_not_told() {
    for base_url in TUNNELS {
        let proxy = Peer::new(|_| {
            Reply::Bytes(http(
                407,
                "proxy-authenticate: Basic realm=\"x\"\r\n",
                b"who are you, proxy-user:a-proxy-password?",
            ))
        });
        let place = place(base_url, 20);
        let url = format!("http://proxy-user:a-proxy-password@127.0.0.1:{}", proxy.port());
        let ran = doctor(&place, "https_proxy", &url);
        assert!(ran.stdout.contains("not checked"), "{base_url}: {}", ran.stdout);
        let seen = proxy.seen();
        assert!(!seen.is_empty() && seen.iter().all(|request| request.head.starts_with("CONNECT ")), "{seen:?}");
        // The proxy is shown its own password, and no key.
        let heads = seen.iter().map(|request| ("the proxy".into(), request.head.clone().into_bytes()));
        Found(heads.collect()).assert_without_key(std::iter::empty());
        let said = vec![("stdout".into(), ran.stdout.into()), ("stderr".into(), ran.stderr.into())];
        let found = Found::of(&place, said);
        found.assert_without_key(std::iter::empty());
        for (name, bytes) in &found.0 {
            let text = String::from_utf8_lossy(bytes);
            let is_told = ["a-proxy-password", "YS1wcm94eS1wYXNzd29yZ"].iter().any(|secret| text.contains(secret));
            assert!(!is_told, "{name}: {text}");
        }
    }
}

/// The proxies above would be seen: without a key, http goes where the user's environment sends it.
#[test]
fn without_a_key_a_proxy_is_used() {
    let proxy = Peer::new(|request: &Request| {
        json_reply(200, &replies::chat_answer(&request.purpose().replace("think", "A draft.")))
    });
    let place = Place::new();
    place.write(
        "config/reasoning-bank/config.toml",
        "[llm]\nprovider = 'chat'\nbase_url = 'http://llm-of-nobody:9/v1'\n",
    );
    let mut command = place.command(&["--json", "solve", "--no-matts", "--no-store", "--no-memory", "task"]);
    let ran = Ran::of(command.env("http_proxy", proxy.url()).output().unwrap());
    assert!(ran.stdout.contains("A draft."), "{ran:#?}");
    assert!(proxy.seen().iter().all(|request| request.head.starts_with("POST http://llm-of-nobody:9/v1/")));
}
