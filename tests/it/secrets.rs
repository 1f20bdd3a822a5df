//! Secrets of every kind, planted in everything the process takes in, are in nothing that it writes, sends or says. The
//! rules for what a secret is are tested in `domain/src/safety/secrets/`; here is every way in and out.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use crate::mcp_process::McpProcess;
use crate::support::{Place, Ran};

/// Of the provider, as the environment gives it; another one than the corpus has.
const KEY: &str = "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";
/// For another provider: of no known form.
const OTHER_KEY: &str = "correct-battery-horse-81";

/// A line of the corpus: a text, and the secret in it.
pub(crate) struct Planted {
    pub(crate) text: String,
    pub(crate) secret: String,
}

/// Every line, with its secret between « and ».
fn lines() -> impl Iterator<Item = String> {
    let corpus = include_str!("../../domain/src/safety/secrets/corpus.txt");
    let lines = corpus.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" | "));
    lines.map(|(_, line)| {
        let text = line.replace('·', "").replace("\\\\", "\0").replace("\\n", "\n").replace("\\r", "\r");
        text.replace('\0', "\\")
    })
}

pub(crate) fn corpus() -> Vec<Planted> {
    let planted = lines().filter_map(|text| {
        let (_, rest) = text.split_once('«')?;
        let (secret, _) = rest.split_once('»')?;
        Some(Planted { secret: secret.to_owned(), text: text.replace(['«', '»'], "") })
    });
    planted.collect()
}

/// What only looks like a secret.
fn lookalikes() -> Vec<String> {
    lines().filter(|text| !text.contains('«') && !text.contains("[REDACTED:")).collect()
}

/// All of the corpus in one text.
fn everything(corpus: &[Planted]) -> String {
    corpus.iter().map(|planted| planted.text.as_str()).collect::<Vec<_>>().join("\n\n")
}

/// Bytes of a part of a secret that is too much to let out.
const PIECE: usize = 12;

/// Whether it is of what differs from key to key, not of what all keys of a kind begin with.
fn is_random(piece: &[u8]) -> bool {
    let digits = piece.iter().filter(|byte| byte.is_ascii_digit()).count();
    digits >= 2 && piece.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/_-=".contains(byte))
}

/// A number below 2^20 for its first four bytes.
fn start_of(piece: &[u8]) -> usize {
    let start = piece[..4].iter().fold(0u32, |number, byte| number << 8 | u32::from(*byte));
    (start.wrapping_mul(0x9e37_79b1) >> 12) as usize
}

/// What was written, sent and said, piece by piece.
#[derive(Default)]
struct Seen(Vec<(String, String)>);

impl Seen {
    /// Secrets are ASCII: they are found in what is no UTF-8 all the same.
    fn add(&mut self, name: impl Into<String>, bytes: impl AsRef<[u8]>) {
        self.0.push((name.into(), String::from_utf8_lossy(bytes.as_ref()).into_owned()));
    }

    fn ran(&mut self, name: &str, ran: &Ran) {
        self.add(format!("stdout of {name}"), &ran.stdout);
        self.add(format!("stderr of {name}"), &ran.stderr);
    }

    /// Every file below.
    fn directory(&mut self, directory: &Path) {
        for entry in std::fs::read_dir(directory).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.directory(&path);
            } else {
                self.add(path.display().to_string(), std::fs::read(&path).unwrap());
            }
        }
    }

    /// Where which secret is: as it is, as it stands in JSON, and in part.
    fn leaks<'a>(&'a self, secrets: impl Iterator<Item = &'a str>) -> Vec<String> {
        let mut leaks = Vec::new();
        let mut pieces = HashSet::new();
        for secret in secrets {
            pieces.extend(secret.as_bytes().windows(PIECE).filter(|piece| is_random(piece)));
            let escaped = serde_json::to_string(secret).unwrap();
            for form in [secret, escaped.trim_matches('"')] {
                let found = self.0.iter().filter(|(_, text)| text.contains(form));
                leaks.extend(found.map(|(name, _)| format!("{form:?} in {name}")));
            }
        }
        // Most of the bytes are looked at without hashing twelve of them.
        let mut begins = vec![false; 1 << 20];
        pieces.iter().for_each(|piece| begins[start_of(piece)] = true);
        for (name, text) in &self.0 {
            let mut windows = text.as_bytes().windows(PIECE).filter(|window| begins[start_of(window)]);
            let part = windows.find(|window| pieces.contains(window));
            leaks.extend(part.map(|part| format!("part {:?} in {name}", String::from_utf8_lossy(part))));
        }
        leaks
    }
}

/// Answers as a model of OpenRouter would, with secrets in everything it says; now and then it fails, and quotes the
/// request and its key.
struct Leaky {
    secrets: String,
    calls: AtomicUsize,
}

impl Leaky {
    fn lesson(&self, title: &str) -> Value {
        json!({
            "title": title,
            "description": "When a client has to log in.",
            "content": format!("Read the credentials at run time. Never:\n{}", &self.secrets[..self.secrets.floor_char_boundary(1_500)]),
            "pattern_tags": ["token=9aB8cD7eF6gH5iJ4"],
            "domain_category": "auth",
            "difficulty_level": "moderate",
            "error_context": null,
        })
    }
}

/// The one lesson that is kept: those with a secret are not, replaced or not.
fn clean() -> Value {
    json!({
        "title": "Read credentials at run time", "description": "When a client has to log in.",
        "content": "Take them from the environment and keep them out of code and logs.", "pattern_tags": [],
        "domain_category": "auth", "difficulty_level": "moderate", "error_context": null,
    })
}

impl Respond for Leaky {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let asked: Value = serde_json::from_slice(&request.body).unwrap();
        if call % 5 == 3 {
            let authorization = request.headers.get("authorization").unwrap().to_str().unwrap();
            let message = format!("cannot serve {authorization} nor {OTHER_KEY}\n{}", self.secrets);
            return ResponseTemplate::new(503).set_body_json(json!({"error": {"code": 503, "message": message}}));
        }
        let secrets = &self.secrets;
        let said = match asked["metadata"]["purpose"].as_str().unwrap() {
            "think" | "refine" => format!("fn login() {{}} // attempt {call}\n{secrets}"),
            "evaluate" => json!({"score": 0.9, "feedback": secrets}).to_string(),
            "judge" => json!({
                "verdict": "success", "score": 0.9, "reasoning": secrets, "learnings": [self.lesson("Log in at run time"), clean()],
            })
            .to_string(),
            "distill" => json!({"learnings": [self.lesson("Fetch credentials late"), clean()]}).to_string(),
            _ => json!({
                "best_index": 1, "analysis": secrets,
                "learnings": [
                    self.lesson("Fetch credentials late"), self.lesson(&"password=hunter2hunter ".repeat(4)), clean(),
                ],
            })
            .to_string(),
        };
        let message = json!({"type": "message", "content": [{"type": "output_text", "text": said}]});
        let usage = json!({"input_tokens": 10, "output_tokens": 10});
        ResponseTemplate::new(200).set_body_json(json!({"status": "completed", "output": [message], "usage": usage}))
    }
}

struct Provider {
    runtime: tokio::runtime::Runtime,
    server: MockServer,
}

impl Provider {
    fn start(secrets: String) -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let server = runtime.block_on(async {
            let server = MockServer::start().await;
            let leaky = Leaky { secrets, calls: AtomicUsize::new(0) };
            Mock::given(method("POST")).and(path("/responses")).respond_with(leaky).mount(&server).await;
            let account = json!({"data": {"label": KEY, "limit": null}});
            let account = ResponseTemplate::new(200).set_body_json(account);
            Mock::given(method("GET")).and(path("/key")).respond_with(account).mount(&server).await;
            server
        });
        Self { runtime, server }
    }

    fn requests(&self) -> Vec<Request> {
        self.runtime.block_on(self.server.received_requests()).unwrap()
    }
}

/// A place whose log is at its loudest, in a file, and whose settings hold secrets where settings can.
fn place(provider: &Provider, corpus: &[Planted]) -> Place {
    let place = Place::new();
    let name = &corpus.iter().find(|planted| planted.text.starts_with("DB_PASSWORD")).unwrap().text;
    let settings = format!(
        "[llm]\nbase_url = {:?}\n[llm.retry]\nbase_delay_ms = 1\n[workspace]\nname = {name:?}\n\
         [background]\ndaily_token_cap = 100000000\n[mcp]\ntoolsets = [\"all\"]\n[log]\nlevel = \"trace\"\nfile = {:?}\n",
        provider.server.uri(),
        place.path("log").display().to_string(),
    );
    place.write("config/reasoning-bank/config.toml", &settings);
    place
}

fn with_key(place: &Place, arguments: &[&str]) -> Ran {
    let mut command = place.command(arguments);
    command.env("OPENROUTER_API_KEY", KEY).env("REASONING_BANK_TRACES", place.path("traces"));
    Ran::of(command.output().unwrap())
}

/// Secrets in every argument of every tool, and in lines that are no message.
fn work_of_a_client(place: &Place, corpus: &[Planted], seen: &mut Seen) {
    let mut command = place.command(&["mcp"]);
    command.env("OPENROUTER_API_KEY", KEY).env("REASONING_BANK_TRACES", place.path("traces"));
    let mut process = McpProcess::spawn(command);
    process.initialize();
    let mut created = 0;
    let mut id = Value::Null;
    // Embedding a lesson takes most of the time: eight texts go into each.
    for part in corpus.chunks(8) {
        let text = |at: usize| part[at % part.len()].text.as_str();
        let short = |at: usize, most: usize| if text(at).chars().count() <= most { text(at) } else { "long" };
        let lesson = json!({
            "title": short(0, 120), "description": short(1, 400), "content": everything(part), "task": text(2),
            "pattern_tags": [short(0, 100), short(1, 100), short(2, 100)],
            "domain_category": short(1, 120), "difficulty_level": short(2, 120),
            "error_context": {
                "error_type": text(0), "failure_pattern": text(1), "corrective_guidance": text(2),
                "error_message": text(0), "stack_trace": everything(part), "task_domain": text(1),
            },
        });
        let answer = process.request("tools/call", json!({"name": "record_memory", "arguments": lesson}));
        if answer["result"]["isError"] == false {
            created += 1;
            id = answer["result"]["structuredContent"]["id"].clone();
        }
        seen.add("the reply of record_memory", answer.to_string());
    }
    assert_eq!(created, corpus.len().div_ceil(8));
    for Planted { text, .. } in corpus {
        for wrong in [
            json!({"query": "q", "n_results": text}),
            json!({"query": "q", (text.as_str()): 1}),
            json!({"query": "q", "workspace": text}),
        ] {
            let answer = process.request("tools/call", json!({"name": "retrieve_memories", "arguments": wrong}));
            seen.add(format!("the reply to {wrong}"), answer.to_string());
        }
    }
    let everything = everything(corpus);
    let domain = &corpus.iter().find(|planted| planted.text.starts_with("API_KEY=")).unwrap().text;
    for (tool, arguments) in [
        (
            "retrieve_memories",
            json!({"query": everything, "detail": "full", "n_results": 50, "domain": domain, "error_signature": everything}),
        ),
        ("solve_coding_task", json!({"task": everything, "matts_k": 3, "domain": domain})),
        ("solve_coding_task", json!({"task": format!("Log in with {}", corpus[0].text), "matts_k": 1})),
        ("get_memory_genealogy", json!({"memory_id": id})),
        ("get_statistics", json!({})),
    ] {
        let answer = process.request("tools/call", json!({"name": tool, "arguments": arguments}));
        if tool == "solve_coding_task" {
            assert_eq!(answer["result"]["structuredContent"]["outcome"], "success", "{answer}");
            let report = &answer["result"]["structuredContent"];
            assert_eq!(report["learnings"][0]["title"], "Read credentials at run time", "{answer}");
            assert!(report["warnings"].to_string().contains("has_secret"), "{answer}");
        }
        seen.add(format!("the reply of {tool}"), answer.to_string());
    }
    // As much of the corpus as a comment takes.
    for (n, part) in corpus.chunks(12).enumerate() {
        let text = self::everything(part);
        let learning = json!({"title": "Keep it out", "description": "When logging.", "content": text});
        let evidence = json!({"kind": "tests", "passed": true, "detail": text});
        let report = json!({
            "memory_ids": [id], "helpful": true, "comment": text, "evidence": evidence, "learnings": [learning],
        });
        let update = json!({"memory_id": id, "content": text});
        let (tool, arguments) = if n % 2 == 0 { ("report_outcome", report) } else { ("update_memory", update) };
        let answer = process.request("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        seen.add(format!("the reply of {tool}"), answer.to_string());
    }
    for transcript in [everything.clone(), json!({"role": "user", "content": everything}).to_string()] {
        distil(&mut process, &corpus[0].text, &transcript, seen);
    }
    let mut captured = 0;
    for part in corpus.chunks(12) {
        let [question, answer] = exchange(part);
        let answer = process.call("capture_exchange", json!({"question": question, "answer": answer}));
        // Where the pieces of a lesson make up something like a secret, it is refused.
        captured += usize::from(answer["captured"] == true);
        seen.add("the reply of capture_exchange", answer.to_string());
    }
    assert!(captured > corpus.len() / 24, "{captured}");
    process.write(format!("{}\n", everything.replace('\n', " ")).as_bytes());
    seen.add("the reply to an unknown tool", process.request("tools/call", json!({"name": everything})).to_string());
    seen.add("the reply to an unknown method", process.request(&everything, json!({})).to_string());
    let ended = process.end();
    assert!(ended.status.success());
    seen.add("stderr of mcp", ended.stderr);
}

/// Hands in a session and waits until nothing more comes of it.
fn distil(process: &mut McpProcess, session: &str, transcript: &str, seen: &mut Seen) {
    let session = json!({"session_id": session, "transcript": transcript, "outcome": "mixed"});
    let queued = process.request("tools/call", json!({"name": "distill_session", "arguments": session}));
    seen.add("the reply of distill_session", queued.to_string());
    let id = &queued["result"]["structuredContent"]["job_id"];
    let begun = Instant::now();
    loop {
        let job = process.call("get_job", json!({"job_id": id}));
        if job["state"] == "done" || job["state"] == "failed" {
            return seen.add("the reply of get_job", job.to_string());
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{job}");
    }
}

/// A question and its answer that are worth keeping.
fn exchange(part: &[Planted]) -> [String; 2] {
    let answer = format!(
        "Read it at run time, because what stands in the code ends up in the history. Use the environment:\n\n```sh\n{}\n\
         ```\n\nThen every deployment has a value of its own, and none of them is in the repository.",
        everything(part)
    );
    [format!("How do I hand this to the client?\n\n{}", part[0].text), answer]
}

fn work_at_the_command_line(place: &Place, corpus: &[Planted], seen: &mut Seen) {
    let everything = everything(corpus);
    let secret = &corpus[0].text;
    let verify = format!("printf '%s' '{}'; exit 1", everything.replace('\'', r"'\''"));
    for arguments in [
        &["solve", "--matts-k", "1", "--verify", &verify, &everything][..],
        &["memory", "record", "--title", secret, "--description", secret, "--content", &everything],
        &["memory", "search", &everything, "--explain"],
        &["memory", "search", &everything, "--json"],
        &["config", "show"],
        &["--json", "config", "show"],
        &["doctor"],
        &["--llm", secret, "config", "show"],
        &["--workspace", secret, "memory", "search", "q"],
        &["--json", "--workspace", secret, "memory", "search", "q"],
        &["--config", secret, "config", "show"],
        &["memory", "get", secret],
        &["--json", "memory", "get", secret],
        &["memory", secret],
        &[secret],
    ] {
        seen.ran(&format!("{arguments:?}"), &with_key(place, arguments));
    }
    for (variable, value) in [
        ("REASONING_BANK__LOG__LEVEL", secret.as_str()),
        ("REASONING_BANK__LOG__FORMAT", secret),
        ("REASONING_BANK__LOG__FILE", "/dev/null/password=hunter2hunter2"),
        ("REASONING_BANK__MATTS__K", secret),
        ("REASONING_BANK__LLM__BASE_URL", "https://deploy:hunter2@git.example.com/"),
        ("REASONING_BANK__LLM__API_KEY", secret),
    ] {
        for arguments in [&["config", "show"][..], &["--json", "memory", "search", "q"]] {
            let mut command = place.command(arguments);
            command.env("OPENROUTER_API_KEY", KEY).env(variable, value);
            seen.ran(variable, &Ran::of(command.output().unwrap()));
        }
    }
    // Other exchanges than those that were captured.
    let messages = corpus.chunks(7).flat_map(|part| {
        let [question, answer] = exchange(part);
        [json!({"role": "user", "content": question}), json!({"role": "assistant", "content": answer})]
    });
    let transcript: String = messages.map(|message| format!("{message}\n")).collect();
    let file = place.write("transcripts/session.jsonl", &transcript);
    let learned = with_key(place, &["learn", "--json", file.to_str().unwrap()]).ok();
    assert!(learned.json()["files"][0]["kept"].as_u64().unwrap() > 0, "{learned:?}");
    seen.ran("learn", &learned);
}

/// An export that others have written into.
fn restore(place: &Place, corpus: &[Planted], exported: &str, seen: &mut Seen) {
    let everything = everything(corpus);
    let lines = exported.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut memory = lines.clone().find(|line| line["kind"] == "memory").unwrap();
    // The first line has it, and that may be any: some ids are hashes.
    memory["workspace"] = lines.clone().find(|line| line["workspace"].is_object()).unwrap()["workspace"].take();
    memory["id"] = json!("01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11");
    memory["content"] = json!(everything);
    memory["source_session"] = json!(corpus[0].text);
    memory["workspace"]["name"] = json!(corpus[0].text);
    memory["workspace"]["root"] = json!("/elsewhere");
    let vote = json!({
        "kind": "signal", "memory_id": memory["id"], "workspace_id": memory["workspace_id"], "signal": "helpful",
        "at": "2026-01-01T00:00:00Z",
    });
    let mut signal = lines.clone().find(|line| line["kind"] == "signal").unwrap_or(vote);
    signal["id"] = json!("01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d12");
    signal["comment"] = json!(everything);
    let mut trace = lines.clone().find(|line| line["kind"] == "trace").unwrap();
    trace["trace_id"] = json!("01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d13");
    trace["task"] = json!(everything);
    let file = place.write("restored.jsonl", &format!("{memory}\n{signal}\n{trace}\n"));
    let restored = with_key(place, &["memory", "import", "--trusted-backup", file.to_str().unwrap()]);
    seen.ran("import", &restored);
    restored.ok();
    let id = memory["id"].as_str().unwrap();
    for arguments in [
        &["memory", "feedback", id, "--helpful", "--comment", &corpus[0].text][..],
        &["memory", "update", id, "--title", &corpus[0].text],
        &["memory", "export", "--all"],
        &["trace", "list", "--json"],
        &["trace", "show", "01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d13"],
        &["workspace", "list"],
        &["workspace", "switch", &corpus[0].text],
        &["stats"],
    ] {
        seen.ran(&format!("{arguments:?}"), &with_key(place, arguments));
    }
}

#[test]
fn no_secret_of_any_kind_is_in_anything_that_a_client_leads_to() {
    let corpus = corpus();
    assert!(corpus.len() > 60, "{}", corpus.len());
    let provider = Provider::start(everything(&corpus));
    let place = place(&provider, &corpus);
    let mut seen = Seen::default();
    work_of_a_client(&place, &corpus, &mut seen);

    let exported = with_key(&place, &["memory", "export", "--all"]).ok();
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
    work_at_the_command_line(&place, &corpus, &mut seen);

    let exported = with_key(&place, &["memory", "export", "--all"]).ok();
    seen.ran("export", &exported);
    restore(&place, &corpus, &exported.stdout, &mut seen);
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
    let settings = format!("[llm]\nbase_url = {:?}\n[llm.retry]\nmax_retries = 0\n", provider.server.uri());
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

#[test]
fn what_only_looks_like_a_secret_comes_through_every_way_unchanged() {
    let lookalikes = lookalikes();
    assert!(lookalikes.len() >= 60, "{}", lookalikes.len());
    let everything = lookalikes.join("\n\n");
    let provider = Provider::start(everything.clone());
    let place = Place::new();
    let settings = format!(
        "[llm]\nbase_url = {:?}\n[llm.retry]\nmax_retries = 3\nbase_delay_ms = 1\n[mcp]\ntoolsets = [\"all\"]\n",
        provider.server.uri()
    );
    place.write("config/reasoning-bank/config.toml", &settings);
    let mut command = place.command(&["mcp"]);
    command.env("OPENROUTER_API_KEY", KEY).env("REASONING_BANK_TRACES", place.path("traces"));
    let mut process = McpProcess::spawn(command);
    process.initialize();

    let mut id = Value::Null;
    for (n, part) in lookalikes.chunks(15).enumerate() {
        let text = part.join("\n\n");
        let short =
            |most: usize| part.iter().find(|text| text.chars().count() <= most && !text.contains('\n')).unwrap();
        let lesson = json!({
            "title": format!("Lesson {n}"), "description": short(400), "content": text, "task": text,
            "pattern_tags": [short(100)], "domain_category": short(100),
        });
        let recorded = process.call("record_memory", lesson.clone());
        assert_eq!(recorded["redactions"], 0, "{recorded}");
        id = recorded["id"].clone();
        let read = process.call("get_memory", json!({"memory_id": id}));
        for field in ["description", "content", "pattern_tags", "domain_category"] {
            assert_eq!(read[field], lesson[field], "{field}");
        }
        process.call(
            "report_outcome",
            json!({"memory_ids": [id], "helpful": true, "comment": &text[..text.floor_char_boundary(1_900)]}),
        );
    }
    let updated = process.call(
        "update_memory",
        json!({"memory_id": id, "content": &everything[..everything.floor_char_boundary(3_900)]}),
    );
    assert_eq!(updated["content"].as_str().unwrap(), &everything[..everything.floor_char_boundary(3_900)]);
    let found = process.call("retrieve_memories", json!({"query": everything, "n_results": 50}));
    assert!(!found.to_string().contains("[REDACTED:"), "{found}");
    let solved = process.call("solve_coding_task", json!({"task": everything, "matts_k": 1}));
    assert!(solved["solution"].as_str().unwrap().ends_with(&everything), "{solved}");
    assert!(process.end().status.success());

    let asked: Vec<String> = provider
        .requests()
        .iter()
        .filter_map(|request| serde_json::from_slice::<Value>(&request.body).ok())
        .map(|request| request["input"].to_string())
        .collect();
    let escaped = serde_json::to_string(&everything).unwrap();
    assert!(asked.iter().any(|input| input.contains(escaped.trim_matches('"'))), "{asked:?}");

    let exported = place.run(&["memory", "export", "--all"]).ok().stdout;
    let things: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_kind = |kind: &'static str| things.iter().filter(move |thing| thing["kind"] == kind);
    assert_eq!(of_kind("trace").next().unwrap()["task"], everything.as_str());
    let comments: String = of_kind("signal").filter_map(|signal| signal["comment"].as_str()).collect();
    // What the model's lessons hold besides is a secret of their own.
    let given = of_kind("memory").filter(|memory| memory["source_type"] == "explicit").map(Value::to_string);
    assert!(!(given.collect::<String>() + &comments).contains("[REDACTED:"), "{comments}");

    let clean: String =
        exported.lines().filter(|line| !line.contains("[REDACTED:")).map(|line| format!("{line}\n")).collect();
    let file = place.write("exported.jsonl", &clean);
    let restored = Place::new();
    let imported =
        restored.run(&["--json", "memory", "import", "--trusted-backup", file.to_str().unwrap()]).ok().json();
    assert_eq!(imported["redactions"], 0, "{imported}");
    assert_eq!(restored.run(&["memory", "export", "--all"]).ok().stdout, clean);
}
