//! The team daemon as its clients see it: the real binary over HTTP, with the tokens that its command line makes.

mod api;
mod backup;
mod banks;
mod bootstrap;
mod bridge;
mod context;
mod described;
mod episodes;
mod evidence;
mod hostile;
mod idempotency;
mod import;
mod isolation;
mod limits;
mod metrics;
mod operating;
mod pages;
mod streams;
mod token_routes;
mod tokens;
mod two_daemons;
mod working;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};

use crate::support::Place;

/// The time for an answer, or for the end of the process. It is far above what either takes, for busy machines.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A daemon that runs, and is killed when it is dropped.
struct Daemon {
    child: Child,
    url: String,
    /// The line that says what to do next.
    next: String,
    http: Client,
}

impl Daemon {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        Self::start_at(place, arguments, "127.0.0.1:0")
    }

    fn start_at(place: &Place, arguments: &[&str], address: &str) -> Self {
        let model: &[&str] = if arguments.contains(&"--llm") { &[] } else { &["--llm", "none"] };
        let arguments = [model, arguments, &["serve", "--listen", address]].concat();
        Self::of(place.command(&arguments).stderr(Stdio::null()))
    }

    /// Starts one whose log is the file `log` of the place.
    fn start_logged(place: &Place, arguments: &[&str]) -> Self {
        let log = std::fs::File::create(place.path("log")).unwrap();
        Self::of(place.command(&[arguments, &["serve", "--listen", "127.0.0.1:0"]].concat()).stderr(log))
    }

    fn of(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let (mut stdout, mut said, mut next) =
            (BufReader::new(child.stdout.take().unwrap()), String::new(), String::new());
        stdout.read_line(&mut said).unwrap();
        stdout.read_line(&mut next).unwrap();
        let url = said.trim().strip_prefix("ReasoningBank listens on ").unwrap().to_owned();
        reasoning_bank::llm::use_ring();
        Self { child, url, next, http: Client::builder().timeout(TIMEOUT).no_proxy().build().unwrap() }
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.http.get(self.url.replace("/mcp", path))
    }

    /// A message of the protocol, without a token.
    fn post(&self, message: &Value) -> RequestBuilder {
        let accepted = "application/json, text/event-stream";
        let request = self.http.post(&self.url).header("accept", accepted).header("content-type", "application/json");
        request.body(message.to_string())
    }

    /// A session of the protocol, past its handshake.
    async fn session(&self, token: Option<&str>) -> Session<'_> {
        let answer = self.initialize(token).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{:?}", answer.text().await);
        let id = answer.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        assert_eq!(message(answer).await["result"]["serverInfo"]["name"], "reasoning-bank");
        let session = Session { daemon: self, id, token: token.map(Into::into), key: None };
        let noted = session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        assert_eq!(noted.status(), StatusCode::ACCEPTED);
        session
    }

    fn initialize(&self, token: Option<&str>) -> RequestBuilder {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let request = self.post(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
        match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    fn terminate(&mut self) -> Option<i32> {
        self.signal("-TERM");
        self.child.wait().unwrap().code()
    }

    fn signal(&self, signal: &str) {
        Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Session<'a> {
    daemon: &'a Daemon,
    id: String,
    token: Option<String>,
    key: Option<&'static str>,
}

impl Session<'_> {
    fn on(self, key: &'static str) -> Self {
        Self { key: Some(key), ..self }
    }

    async fn send(&self, message: &Value) -> Response {
        let mut request = self.daemon.post(message).header("mcp-session-id", &self.id);
        request = request.header("mcp-protocol-version", "2025-11-25");
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(key) = self.key {
            request = request.header("x-workspace", key);
        }
        request.send().await.unwrap()
    }

    async fn request(&self, method: &str, params: Value) -> Value {
        // Requests at the same time need ids of their own.
        let id = uuid::Uuid::now_v7();
        message(self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await).await
    }

    async fn tools(&self) -> Vec<String> {
        let answer = self.request("tools/list", json!({})).await;
        let tools = answer["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// The document that a tool answers with, be it an error.
    async fn call(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
        answer["result"]["structuredContent"].clone()
    }

    async fn record(&self, title: &str) -> String {
        let lesson =
            json!({"title": title, "description": format!("when {title}"), "content": format!("do {title} slowly")});
        let recorded = self.call("record_memory", lesson).await;
        recorded["id"].as_str().unwrap_or_else(|| panic!("{recorded}")).to_owned()
    }

    async fn recalled(&self, query: &str) -> Vec<String> {
        let found = self.call("retrieve_memories", json!({"query": query, "min_relevance": 0.0})).await;
        let memories = found["memories"].as_array().unwrap_or_else(|| panic!("{found}"));
        memories.iter().map(|memory| memory["title"].as_str().unwrap().to_owned()).collect()
    }
}

/// The message of an answer, which is a document or a stream of events.
async fn message(answer: Response) -> Value {
    let text = answer.text().await.unwrap();
    let data =
        text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim).rfind(|data| data.starts_with('{'));
    serde_json::from_str(data.unwrap_or(&text)).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The entries of the audit log, those of each process in the order in which they were made.
fn audited(place: &Place) -> Vec<Value> {
    let files = std::fs::read_dir(place.path("data/audit")).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let text: String = files.into_iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A token that the command line makes.
fn token(place: &Place, arguments: &[&str]) -> String {
    let made = place.document(&[&["token", "create"], arguments].concat());
    made["token"].as_str().unwrap().to_owned()
}

const ALL_TOOLS: [&str; 2] = ["--config", "all.toml"];

fn place_with_all_tools() -> Place {
    let place = Place::new();
    place.write("project/all.toml", "[mcp]\ntoolsets = [\"all\"]\n");
    place
}

#[tokio::test]
async fn one_team_shares_what_it_learns_and_another_one_sees_nothing_of_it() {
    let place = place_with_all_tools();
    let ana = token(&place, &["ana", "--team", "web", "--all-workspaces"]);
    let ben = token(&place, &["ben", "--team", "web", "--key", "shop", "--permissions", "read,write,admin"]);
    let eve = token(&place, &["eve", "--team", "ops", "--all-workspaces", "--permissions", "read,write,solve,admin"]);
    let daemon = Daemon::start(&place, &ALL_TOOLS);
    let ana = daemon.session(Some(&ana)).await.on("shop");
    let id = ana.record("migrations of the orders table").await;
    let ben = daemon.session(Some(&ben)).await;
    assert_eq!(
        ben.recalled("migrate orders").await,
        ["migrations of the orders table"],
        "a token with one workspace uses it"
    );

    let eve = daemon.session(Some(&eve)).await.on("shop");
    assert!(eve.recalled("migrate orders").await.is_empty());
    let unknown = "01890000-0000-7000-8000-000000000000";
    for (tool, of_id) in [
        ("get_memory", json!({"memory_id": id})),
        ("get_memory_genealogy", json!({"memory_id": id})),
        ("update_memory", json!({"memory_id": id, "pinned": true})),
        ("delete_memory", json!({"memory_id": id, "confirm": true})),
        ("report_outcome", json!({"memory_ids": [id], "helpful": false})),
    ] {
        let foreign = eve.call(tool, of_id.clone()).await;
        let of_unknown: Value = of_id.to_string().replace(&id, unknown).parse().unwrap();
        let missing = eve.call(tool, of_unknown).await;
        assert_eq!(foreign.to_string().replace(&id, unknown), missing.to_string(), "{tool}");
    }
    let listed = eve.call("list_workspaces", json!({})).await;
    assert_eq!(listed["workspaces"], json!([]), "{listed}");
    assert_eq!(
        eve.call("delete_workspace", json!({"path": "shop", "confirm": true})).await["code"],
        "workspace_unknown"
    );
    let listed = ana.call("list_workspaces", json!({})).await;
    assert_eq!(listed["workspaces"][0]["key"], "shop");
    assert_eq!(listed["current"], listed["workspaces"][0]["id"]);
    assert_eq!(ben.call("get_memory", json!({"memory_id": id})).await["title"], "migrations of the orders table");
    assert_eq!(ben.call("delete_memory", json!({"memory_id": id, "confirm": true})).await["code"], "consent_required");
    let audited: Vec<Value> =
        audited(&place).into_iter().filter(|entry| !entry["action"].as_str().unwrap().starts_with("token ")).collect();
    let of = |entry: &Value| ["owner", "action", "outcome"].map(|field| entry[field].as_str().unwrap().to_owned());
    assert_eq!(of(&audited[0]), ["ana", "record_memory", "ok"]);
    assert_eq!((&audited[0]["workspace"], &audited[0]["ids"]), (&json!("shop"), &json!([id])));
    assert_eq!(of(audited.last().unwrap()), ["ben", "delete_memory", "consent_required"]);
    assert!(!audited.iter().any(|entry| entry.to_string().contains("migrations")), "no word of a memory is in it");
}

#[tokio::test]
async fn a_workspace_is_named_by_its_key_and_the_token_says_which_are_good() {
    let place = place_with_all_tools();
    let both = token(&place, &["both", "--key", "git:example.org/a/shop", "--key", "bank"]);
    let daemon = Daemon::start(&place, &ALL_TOOLS);
    let mut session = daemon.session(Some(&both)).await;
    let lesson =
        |workspace: Option<&str>| json!({"title": "t", "description": "d", "content": "c", "workspace": workspace});
    let code = |answer: Value| answer["code"].as_str().unwrap_or("none").to_owned();
    assert_eq!(code(session.call("record_memory", lesson(None)).await), "workspace_required");
    assert_eq!(code(session.call("record_memory", lesson(Some("other"))).await), "workspace_unknown");
    for path in ["/etc", "~/shop", "../shop", "."] {
        assert_eq!(code(session.call("record_memory", lesson(Some(path))).await), "invalid_argument", "{path}");
        session.key = Some(path);
        let refused = session.request("tools/call", json!({"name": "record_memory", "arguments": lesson(None)})).await;
        let message = refused["error"]["message"].as_str().unwrap_or_default();
        assert!(message.starts_with("X-Workspace: a workspace key is no path"), "{path}: {refused}");
        session.key = None;
        let made = place.run(&["token", "create", "path", "--key", path]).exits(2).stderr;
        assert!(made.contains("workspaces: a workspace key is no path"), "{made}");
    }
    assert_eq!(session.call("record_memory", lesson(Some("bank"))).await["status"], "created");
    assert!(!session.tools().await.contains(&"switch_workspace".to_owned()));
    let bound = session.on("git:example.org/a/shop");
    assert_eq!(code(bound.call("record_memory", lesson(Some("bank"))).await), "scope_denied");
    assert_eq!(bound.call("record_memory", lesson(None)).await["status"], "created");
}

#[tokio::test]
async fn nobody_gets_in_without_a_valid_token() {
    let place = Place::new();
    let good = token(&place, &["ana", "--all-workspaces"]);
    let daemon = Daemon::start(&place, &[]);
    let refused = daemon.initialize(None).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(refused.headers()["www-authenticate"], "Bearer");
    let without = message(refused).await;
    let (all_but_last, last) = good.split_at(good.len() - 1);
    let other = format!("{all_but_last}{}", if last == "0" { "1" } else { "0" });
    for bad in ["", "rb_", all_but_last, &other, "password"] {
        let refused = daemon.initialize(Some(bad)).send().await.unwrap();
        assert_eq!(refused.status(), StatusCode::UNAUTHORIZED, "{bad}");
        assert_eq!(message(refused).await, without, "all are answered alike");
    }
    let in_url = daemon.http.post(format!("{}?token={good}", daemon.url)).send().await.unwrap();
    assert_eq!(in_url.status(), StatusCode::BAD_REQUEST);
    for path in
        ["/", "/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server", "/tokens.json"]
    {
        assert_eq!(daemon.get(path).send().await.unwrap().status(), StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn pages_of_other_sites_reach_nothing() {
    let place = Place::new();
    let daemon = Daemon::start(&place, &[]);
    for (name, value) in [("host", "evil.example"), ("origin", "https://evil.example"), ("origin", "null")] {
        let refused = daemon.initialize(None).header(name, value).send().await.unwrap();
        assert_eq!(refused.status(), StatusCode::FORBIDDEN, "{name}: {value}");
    }
    let own = daemon.initialize(None).header("origin", "http://localhost:3000").send().await.unwrap();
    assert_eq!(own.status(), StatusCode::OK);
    let probe = daemon.get("/healthz").header("host", "10.0.0.7").send().await.unwrap();
    assert_eq!(probe.status(), StatusCode::OK, "probes come under any name");
}

#[tokio::test]
async fn permissions_say_which_tools_are_listed_and_may_be_called() {
    let place = place_with_all_tools();
    let reads = token(&place, &["reads", "--all-workspaces", "--permissions", "read"]);
    let all = token(&place, &["all", "--all-workspaces", "--permissions", "read,write,solve,admin,admin:all"]);
    let daemon = Daemon::start(&place, &ALL_TOOLS);
    let reads = daemon.session(Some(&reads)).await.on("shop");
    let listed = reads.tools().await;
    let reading = ["retrieve_memories", "get_memory_genealogy", "get_job", "list_workspaces", "get_memory"];
    let more = [
        "get_context_for_task",
        "get_recovery",
        "find_patterns",
        "get_pattern",
        "search_episodes",
        "get_episode",
        "get_artefact",
        "activate",
    ];
    assert_eq!(listed, [reading.as_slice(), &more].concat());
    for tool in daemon.session(Some(&all)).await.tools().await {
        let answer = reads.call(&tool, json!({})).await;
        assert_eq!(answer["code"] == "permission_denied", !listed.contains(&tool), "{tool}: {answer}");
    }
    for (permissions, scope, denied) in
        [("write", "team", true), ("write,admin", "team", false), ("write,admin", "org", true)]
    {
        let rights = ["--team", "web", "--org", "acme", "--key", "shop", "--permissions", permissions];
        let name = format!("{permissions} {scope}");
        let token = token(&place, &[&[name.as_str()], rights.as_slice()].concat());
        let lesson = json!({"title": "t", "description": "d", "content": "c", "scope": scope});
        let answer = daemon.session(Some(&token)).await.call("record_memory", lesson).await;
        assert_eq!(answer["code"] == "scope_denied", denied, "{permissions} {scope}: {answer}");
    }
}

#[tokio::test]
async fn a_revoked_token_ends_what_it_has_open_within_a_second() {
    let place = Place::new();
    let ana = token(&place, &["ana", "--all-workspaces"]);
    let ben = token(&place, &["ben", "--all-workspaces"]);
    let daemon = Daemon::start(&place, &[]);
    let session = daemon.session(Some(&ana)).await;
    let stolen = Session { token: Some(ben.clone()), id: session.id.clone(), daemon: &daemon, key: None };
    let ping = json!({"jsonrpc": "2.0", "id": 7, "method": "ping"});
    assert_eq!(stolen.send(&ping).await.status(), StatusCode::NOT_FOUND, "a session belongs to its token");
    assert_eq!(session.send(&ping).await.status(), StatusCode::OK);
    let stream = daemon.http.get(&daemon.url).bearer_auth(&ana).header("mcp-session-id", &session.id);
    let stream = stream.header("accept", "text/event-stream").send().await.unwrap();
    assert_eq!(stream.status(), StatusCode::OK);

    place.run(&["token", "revoke", "ana"]).ok();
    let revoked = Instant::now();
    assert_eq!(session.send(&ping).await.status(), StatusCode::UNAUTHORIZED);
    let _ = tokio::time::timeout(TIMEOUT, stream.bytes()).await.expect("the stream ends");
    assert!(revoked.elapsed() < Duration::from_secs(5), "{:?}", revoked.elapsed());
    daemon.session(Some(&ben)).await;
}

#[tokio::test]
async fn a_solve_ends_with_its_token() {
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", "[llm.simulated]\nlatency_ms = 60000\n");
    let ana = token(&place, &["ana", "--all-workspaces", "--permissions", "solve"]);
    let mut daemon = Daemon::start(&place, &["--llm", "simulated"]);
    let session = daemon.session(Some(&ana)).await.on("shop");
    let task = json!({"task": "sort a list"});
    let params = json!({"name": "solve_coding_task", "arguments": task, "_meta": {"progressToken": "p"}});
    let solving = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let mut answer = session.send(&solving).await;
    let first = answer.chunk().await.unwrap().expect("a stream that begins");
    assert!(first.starts_with(b"data") || first.starts_with(b"id") || first.starts_with(b"event"), "{first:?}");
    place.run(&["token", "revoke", "ana"]).ok();
    let ended = async { while let Ok(Some(_)) = answer.chunk().await {} };
    tokio::time::timeout(Duration::from_secs(10), ended).await.expect("the stream ends with the token");
    drop(answer);
    let began = Instant::now();
    assert_eq!(daemon.terminate(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(4), "no solve is in work: {:?}", began.elapsed());
}

#[tokio::test]
async fn the_session_that_was_not_used_for_longest_makes_room_for_a_new_one() {
    let place = Place::new();
    let ana = token(&place, &["ana", "--all-workspaces"]);
    let daemon = Daemon::start(&place, &[]);
    let first = daemon.session(Some(&ana)).await;
    let second = daemon.session(Some(&ana)).await;
    let ping = json!({"jsonrpc": "2.0", "id": 7, "method": "ping"});
    for _ in 2..50 {
        daemon.session(Some(&ana)).await;
    }
    assert_eq!(first.send(&ping).await.status(), StatusCode::OK);
    daemon.session(Some(&ana)).await;
    assert_eq!(first.send(&ping).await.status(), StatusCode::OK, "it was used");
    assert_eq!(second.send(&ping).await.status(), StatusCode::NOT_FOUND);
    let ended = daemon.http.delete(&daemon.url).bearer_auth(&ana).header("mcp-session-id", &first.id).send().await;
    assert_eq!(ended.unwrap().status(), StatusCode::NO_CONTENT);
    assert_eq!(first.send(&ping).await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_daemon_that_is_asked_to_end_stores_everything_and_ends() {
    let place = Place::new();
    let mut daemon = Daemon::start(&place, &[]);
    let url = daemon.url.replace("/mcp", "");
    let session = daemon.session(None).await.on("shop");
    let id = session.record("what was stored last").await;
    let ready = place.run(&["health", "--url", &url]).ok();
    assert!(ready.stdout.contains("is ready"), "{}", ready.stdout);
    let waiting =
        daemon.http.get(&daemon.url).header("mcp-session-id", &session.id).header("accept", "text/event-stream");
    let waiting = waiting.send().await.unwrap();
    assert_eq!(waiting.status(), StatusCode::OK);
    let began = Instant::now();
    assert_eq!(daemon.terminate(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(4), "nobody waits for a stream that is idle: {:?}", began.elapsed());
    let gone = place.run(&["health", "--url", &url]).exits(1);
    assert!(gone.stdout.contains("nothing answers there; `reasoning-bank serve` starts a server"), "{}", gone.stdout);
    let again = Daemon::start(&place, &[]);
    let session = again.session(None).await.on("shop");
    assert_eq!(session.recalled("stored last").await, ["what was stored last"]);
    assert!(!id.is_empty());
}

#[test]
fn a_daemon_does_not_listen_to_a_network_unprotected() {
    let place = Place::new();
    let serve = ["--llm", "none", "serve", "--listen", "0.0.0.0:0"];
    let refused = place.run(&serve).exits(2);
    assert!(refused.stderr.contains("there is no token"), "{}", refused.stderr);
    token(&place, &["ana", "--all-workspaces"]);
    let refused = place.run(&serve).exits(2);
    assert!(refused.stderr.contains("unencrypted"), "{}", refused.stderr);
    let refused = place.run(&["--llm", "none", "serve", "--listen", "localhost"]).exits(2);
    assert!(refused.stderr.contains("an IP address and a port"), "{}", refused.stderr);
}

#[test]
fn tokens_are_made_listed_rotated_and_ended() {
    let place = Place::new();
    let made = place.document(&["token", "create", "ci", "--owner", "build", "--key", "shop", "--expires-days", "90"]);
    let listed = place.document(&["token", "list"]);
    let listed = &listed["tokens"][0];
    assert_eq!(listed["owner"], "build");
    assert_eq!(listed["workspaces"], json!({"only": ["shop"]}));
    assert_eq!(listed["status"], "valid");
    assert!(listed.get("token").is_none() && listed.get("sha256").is_none(), "{listed}");
    place.run(&["token", "create", "ci", "--all-workspaces"]).exits(2);
    place.run(&["token", "create", "nothing"]).exits(2);
    let secret = "sk-ant-api03-Zq7Xk2LmPv9RtYw3BnHs6JdFgQcE1aUoI8KlMxNz";
    for arguments in [["create", secret, "--all-workspaces", "--json"], ["create", "keyed", "--key", secret]] {
        let refused = place.run(&[&["token"], &arguments[..]].concat()).exits(2);
        assert!(refused.stderr.contains("must hold no secret") || refused.stdout.contains("must hold no secret"));
        assert!(!(refused.stderr + &refused.stdout).contains(secret));
    }
    let rotated = place.document(&["token", "rotate", "ci"]);
    assert_ne!(rotated["token"], made["token"]);
    assert_eq!(rotated["owner"], "build");
    let statuses = |list: Value| -> Vec<Value> {
        list["tokens"].as_array().unwrap().iter().map(|token| token["status"].clone()).collect()
    };
    assert_eq!(statuses(place.document(&["token", "list"])), ["revoked", "valid"]);
    place.run(&["token", "revoke", "ci"]).ok();
    place.run(&["token", "revoke", "ci"]).exits(2);
    assert_eq!(statuses(place.document(&["token", "list"])), ["revoked", "revoked"]);
    let stored = std::fs::read_to_string(place.path("data/tokens.json")).unwrap();
    for token in [&made, &rotated] {
        assert!(!stored.contains(token["token"].as_str().unwrap()), "no token is stored");
    }
}
