//! A daemon that two teams share. The other team has everything that one can ask for, and a canary in all that it
//! wrote.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::surface::{Answer, Request, percent_encoded};
use crate::daemon::{Daemon, TIMEOUT, token};
use crate::support::Place;

/// A word that only the other team wrote.
pub(super) const CANARY: &str = "zygophyllaceous";

/// An answer comes within this time, or the text is [`UNANSWERED`].
const ANSWER_LIMIT: Duration = Duration::from_secs(20);
pub(super) const UNANSWERED: &str = "no answer";

/// The key under which this team has its own workspace.
pub(super) const OWN_KEY: &str = "own-shop";
const FOREIGN_KEY: &str = "git:example.org/quokka/shop";

/// The cache of answers of models is off: this team has asked some questions before, under a key of the other team.
const CONFIG: &str = "\
[llm.simulated]
latency_ms = 0
[llm.cache]
max_entries = 0
[agent]
max_iterations = 1
[matts]
enabled = false
[mcp]
toolsets = [\"all\"]
[http]
requests_per_second = 0
solves_per_token = 100
";

pub(super) struct Tenants {
    pub(super) place: Place,
    pub(super) daemon: Daemon,
    own_token: String,
    own_session: String,
    other_token: String,
    /// A memory of this team, which a call that needs some id is about.
    pub(super) own_id: String,
    ids: Vec<String>,
    names: Vec<String>,
    /// The memories, traces and jobs of the other team, as the paths that they are read at.
    listed: Vec<String>,
    numbers: AtomicU32,
}

impl Tenants {
    /// Starts a daemon for two teams, of which the other one has been at work before.
    pub(super) async fn start() -> Self {
        let place = Place::new();
        place.write("config/reasoning-bank/config.toml", CONFIG);
        let all = "read,write,solve,admin";
        let of = |name: &str, owner: &str, team: &str, org: &str| {
            let rights = ["--owner", owner, "--team", team, "--org", org, "--permissions", all, "--all-workspaces"];
            token(&place, &[&[name], rights.as_slice()].concat())
        };
        let own = of("own-laptop", "own-owner", "own-team", "own-org");
        let other = of("quokka-laptop", "quokka-owner", "quokka-team", "quokka-org");
        let mut ids = plant(&place, &other, &own).await;
        let own_id = ids.remove(0);

        let daemon = Daemon::start_logged(&place, &["--llm", "simulated"]);
        let session = async |token: &str| daemon.session(Some(token)).await.id.clone();
        let (own_session, other_session) = (session(&own).await, session(&other).await);
        ids.push(other_session);
        let listed = get(&daemon, &other, FOREIGN_KEY, "/workspaces").await;
        let id_of_workspace = listed["workspaces"][0]["id"].as_str().unwrap_or_else(|| panic!("{listed}")).to_owned();
        let id_of_token = other.split('_').nth(1).unwrap().to_owned();
        let names = [FOREIGN_KEY, "quokka-owner", "quokka-team", "quokka-org", "quokka-laptop"].map(str::to_owned);
        let names = names.into_iter().chain([id_of_workspace, id_of_token, ids[0].clone()]).collect();
        let mut tenants = Self {
            place,
            daemon,
            own_token: own,
            own_session,
            other_token: other,
            own_id,
            ids,
            names,
            listed: Vec::new(),
            numbers: AtomicU32::new(0),
        };
        tenants.listed = tenants.readable().await;
        tenants
    }

    /// Finds out where the other team reads what it has.
    async fn readable(&self) -> Vec<String> {
        let mut paths = vec!["/workspaces".to_owned(), "/consolidations".to_owned()];
        for (list, items, id) in [
            ("/memories", "memories", "id"),
            ("/traces", "traces", "trace_id"),
            ("/episodes", "episodes", "episode_id"),
        ] {
            let mut page = format!("{list}?limit=3");
            loop {
                let found = self.read_as_the_other_team(&page).await;
                paths.push(page);
                let of_items = found[items].as_array().unwrap_or_else(|| panic!("{found}"));
                // A reader of an episode changes how often it was read.
                if list != "/episodes" {
                    paths.extend(of_items.iter().map(|item| format!("{list}/{}", item[id].as_str().unwrap())));
                }
                let Some(next) = found["next"].as_str() else { break };
                page = format!("{list}?limit=3&after={next}");
            }
        }
        let memories: Vec<String> = paths.iter().filter(|path| path.starts_with("/memories/")).cloned().collect();
        paths.extend(memories.iter().map(|path| format!("{path}/genealogy")));
        let jobs = self.ids.iter().map(|id| format!("/jobs/{id}"));
        for job in jobs {
            if self.read_as_the_other_team(&job).await.get("error").is_none() {
                paths.push(job);
            }
        }
        assert!(paths.len() > 15 && paths.iter().any(|path| path.starts_with("/jobs/")), "{paths:?}");
        paths
    }

    async fn read_as_the_other_team(&self, path: &str) -> Value {
        get(&self.daemon, &self.other_token, FOREIGN_KEY, path).await
    }

    /// Reads everything that the other team has, as it reads it itself.
    pub(super) async fn listing_of_the_other_team(&self) -> Vec<(String, Value)> {
        let mut listing = Vec::new();
        for path in &self.listed {
            listing.push((path.clone(), self.read_as_the_other_team(path).await));
        }
        let texts = listing.iter().filter(|(_, document)| document.to_string().contains(CANARY)).count();
        assert!(texts > 5, "the canary is in what the other team reads: {listing:?}");
        listing
    }

    /// The texts that nothing shows to this team unless it names them itself.
    pub(super) fn foreign_texts(&self) -> impl Iterator<Item = &str> {
        self.ids.iter().chain(&self.names).map(String::as_str).chain([CANARY, "quokka"])
    }

    /// The values of the other team that fit an id, a name, or any text. For prose few of them do.
    pub(super) fn foreign_values(&self, is_id: bool, is_name: bool) -> &[String] {
        match (is_id, is_name) {
            (true, _) => &self.ids,
            (false, true) => &self.names,
            (false, false) => &self.names[..2],
        }
    }

    /// A number that was not given before.
    pub(super) fn next_number(&self) -> u32 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// A value of the same form that nobody ever had. Each is another one.
    pub(super) fn unknown_like(&self, foreign: &str) -> String {
        let n = self.next_number();
        let mut digits = format!("{n:06x}").into_bytes();
        let reversed = foreign.chars().rev().map(|c| match c {
            '-' | '/' | ':' | '.' => c,
            _ => digits.pop().map_or(c, char::from),
        });
        reversed.collect::<Vec<_>>().into_iter().rev().collect()
    }

    /// Finds the first id of the other team with which it has an answer to a request.
    pub(super) async fn one_that_is_there(&self, request: impl Fn(&str) -> Request) -> String {
        for id in &self.ids {
            let mut request = request(id);
            request.headers.insert("x-workspace", FOREIGN_KEY.parse().unwrap());
            if self.send_as(&self.other_token, &request).await.status == StatusCode::OK {
                return id.clone();
            }
        }
        panic!("the other team has nothing of this kind");
    }

    /// The session of this team.
    pub(super) fn session(&self) -> &str {
        &self.own_session
    }

    pub(super) async fn send(&self, request: &Request) -> Answer {
        self.send_as(&self.own_token, request).await
    }

    async fn send_as(&self, token: &str, request: &Request) -> Answer {
        let url = self.daemon.url.replace("/mcp", &request.path);
        let mut sent = self.daemon.http.request(request.method.clone(), url).bearer_auth(token);
        sent = sent.headers(request.headers.clone());
        if let Some(body) = &request.body {
            if !request.headers.contains_key("content-type") {
                sent = sent.header("content-type", "application/json");
            }
            sent = sent.body(body.to_string());
        }
        let answer = sent.send().await.unwrap_or_else(|error| panic!("{}: {error}", request.path));
        let status = answer.status();
        if request.method == Method::GET && request.path.starts_with("/mcp") && status == StatusCode::OK {
            // A stream that waits for news has no end.
            return Answer { status, text: String::new() };
        }
        // A client that gives two messages of a session the same id has an answer to one of them.
        let text = tokio::time::timeout(ANSWER_LIMIT, answer.text()).await;
        let text = text.map_or_else(|_| UNANSWERED.to_owned(), |text| text.unwrap_or_else(|error| panic!("{error:?}")));
        // The protocol answers with a document, or with a stream that has it.
        let mut data = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        let document = data.rfind(|data| request.path == "/mcp" && data.starts_with('{'));
        Answer { status, text: document.map_or_else(|| text.clone(), str::to_owned) }
    }

    /// Erases what this team has under a key, if anything.
    pub(super) async fn delete_own_workspace(&self, key: &str) {
        let (method, path) = (Method::DELETE, format!("/api/v1/workspaces/{}", percent_encoded(key)));
        let answer = self.send(&Request { method, path, headers: HeaderMap::new(), body: None }).await;
        assert!(matches!(answer.status.as_u16(), 200 | 404 | 422), "{}", answer.text);
    }

    /// Returns everything that the daemon wrote into its log.
    pub(super) fn log(&self) -> String {
        std::fs::read_to_string(self.place.path("log")).unwrap()
    }
}

async fn get(daemon: &Daemon, token: &str, key: &str, path: &str) -> Value {
    let answer = daemon.get(&format!("/api/v1{path}")).bearer_auth(token).header("x-workspace", key);
    answer.send().await.unwrap().json().await.unwrap()
}

/// Has the other team work, and ends its daemon, so that the work is stored when this returns. The first id is one of
/// this team.
async fn plant(place: &Place, other: &str, own: &str) -> Vec<String> {
    let mut daemon = Daemon::start(place, &["--llm", "simulated"]);
    let client = |token: &str, key: &'static str| {
        let mut headers = HeaderMap::new();
        headers.insert("x-workspace", key.parse().unwrap());
        (token.to_owned(), headers)
    };
    let post = async |(token, headers): &(String, HeaderMap), path: &str, body: Value| {
        let url = daemon.url.replace("/mcp", &format!("/api/v1{path}"));
        let sent = daemon.http.request(Method::POST, url).bearer_auth(token).headers(headers.clone()).json(&body);
        let answer = sent.send().await.unwrap();
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        assert_eq!(status, StatusCode::OK, "{path}: {text}");
        let last = text.lines().filter_map(|line| line.strip_prefix("data: ")).next_back().unwrap_or(&text);
        serde_json::from_str::<Value>(last).unwrap()
    };
    let lesson = |about: &str, more: Value| {
        let text = |what: &str| format!("{what} of the {CANARY} {about}");
        let mut lesson = json!({
            "title": text("Retries"), "description": text("When the queue is full"), "content": text("Wait for the drain"),
            "task": text("Mend the queue"), "pattern_tags": [CANARY], "domain_category": CANARY,
        });
        lesson.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        lesson
    };
    let id = |answer: &Value, field: &str| answer[field].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();

    let (mine, theirs) = (client(own, OWN_KEY), client(other, FOREIGN_KEY));
    let plain = json!({"title": "Take locks in one order", "description": "When locks wait.", "content": "Sort them."});
    let own_id = id(&post(&mine, "/memories", plain).await, "id");
    let first = id(&post(&theirs, "/memories", lesson("webhook", json!({}))).await, "id");
    let child = json!({"parent_memory_id": first, "derived_from": [first]});
    let child = id(&post(&theirs, "/memories", lesson("scheduler", child)).await, "id");
    let shared = id(&post(&theirs, "/memories", lesson("ledger", json!({"scope": "team"}))).await, "id");
    let error = json!({
        "error_type": CANARY, "failure_pattern": format!("{CANARY} loop"), "corrective_guidance": format!("stop {CANARY}"),
    });
    post(&theirs, "/memories", lesson("warning", json!({"error_context": error}))).await;
    let report = json!({
        "memory_ids": [first], "task": format!("Mend the {CANARY} webhook"), "helpful": true, "task_succeeded": true,
        "comment": format!("The {CANARY} was slow."),
    });
    let trace = id(&post(&theirs, "/outcomes", report).await, "trace_id");
    let failure =
        json!({"error": format!("{CANARY}Error: no drain"), "resolution": format!("start the {CANARY} first")});
    let episode = json!({
        "task": {"original_input": format!("Mend the {CANARY} drain"), "context": CANARY},
        "outcome": {"status": "SUCCESS", "primary_output": CANARY},
        "reflection": {"insights": [CANARY], "failures_analyzed": [failure]},
        "metadata": {"domain": CANARY, "tags": [CANARY], "tools_used": [CANARY]},
        "session_id": format!("{CANARY}-session"),
        // A call that needs some text is given this one, so it asks for this artefact.
        "artefacts": [{"name": OWN_KEY, "text": CANARY}],
    });
    let episode = id(&post(&theirs, "/episodes", episode).await, "episode_id");
    let pattern = json!({
        "title": format!("Search for the {CANARY} first"), "description": format!("A {CANARY} is unknown."),
        "explanation": format!("Look for the {CANARY} before any file is opened."), "category": "tool_selection",
        "content": {"type": "heuristic", "condition": CANARY, "action": {"text": CANARY, "tools": [CANARY]}},
        "applicability": {"problem_types": ["debugging"], "domains": [CANARY]},
    });
    let pattern = id(&post(&theirs, "/patterns", pattern).await, "pattern_id");
    // One task that is open, and one that was closed.
    let task = json!({"task": {"description": format!("Drain the {CANARY}")}, "system": CANARY});
    let open = id(&post(&theirs, "/working", task.clone()).await, "task_id");
    let closed = id(&post(&theirs, "/working", task).await, "task_id");
    let how = json!({"status": "SUCCESS", "output": CANARY, "insights": [CANARY]});
    post(&theirs, &format!("/working/{closed}/close"), how).await;
    let solved = json!({"task": format!("Sort the {CANARY} list.")});
    let solved = id(&post(&theirs, "/solve", solved).await, "trace_id");
    let said =
        format!("user: how does the {CANARY} drain?\nassistant: Name the pool first, then start {CANARY} again.");
    let session = json!({"session_id": format!("{CANARY}-session"), "transcript": said, "outcome": "success"});
    let job = id(&post(&theirs, "/sessions", session).await, "job_id");
    let began = Instant::now();
    loop {
        let state = get(&daemon, other, FOREIGN_KEY, &format!("/jobs/{job}")).await["state"].clone();
        if state == "done" || state == "failed" {
            break;
        }
        assert!(began.elapsed() < TIMEOUT, "the job does not end: {state}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let run = id(&post(&theirs, "/consolidations", json!({"apply": true})).await, "run_id");
    assert_eq!(daemon.terminate(), Some(0));
    vec![own_id, first, child, shared, trace, solved, episode, pattern, open, closed, job, run]
}
