//! Tests of what Prometheus reads of a daemon, by a parser that takes nothing but its text format.

use std::collections::{BTreeMap, HashSet};

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::api::script;
use super::{ALL_TOOLS, Daemon, message, place_with_all_tools, token};
use crate::support::Place;

/// The values by their series, each written as `name{label="value",…}`.
struct Scraped {
    text: String,
    values: BTreeMap<String, f64>,
}

impl Scraped {
    async fn of(daemon: &Daemon) -> Self {
        let answer = daemon.get("/metrics").send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(answer.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
        let text = answer.text().await.unwrap();
        Self { values: parsed(&text), text }
    }

    #[track_caller]
    fn value(&self, series: &str) -> f64 {
        *self.values.get(series).unwrap_or_else(|| panic!("{series} is not in {}", self.text))
    }
}

/// Parses the text format, version 0.0.4.
fn parsed(text: &str) -> BTreeMap<String, f64> {
    assert!(text.ends_with('\n'));
    let (mut values, mut families) = (BTreeMap::new(), HashSet::new());
    let (mut family, mut kind) = (String::new(), String::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, help) = help.split_once(' ').unwrap_or_else(|| panic!("{line}"));
            assert!(!help.is_empty() && families.insert(name), "{line}");
            let of_type =
                lines.next().and_then(|line| line.strip_prefix("# TYPE ")).unwrap_or_else(|| panic!("{line}"));
            let (same, of_kind) = of_type.split_once(' ').unwrap_or_else(|| panic!("{of_type}"));
            assert_eq!(same, name);
            assert!(["counter", "gauge", "histogram"].contains(&of_kind), "{of_type}");
            (family, kind) = (name.to_owned(), of_kind.to_owned());
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
        let (name, labels) = series.split_once('{').map_or((series, None), |(name, labels)| (name, Some(labels)));
        assert!(name.chars().all(|sign| sign.is_ascii_lowercase() || sign == '_'), "{line}");
        let suffixes: &[&str] = if kind == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
        assert!(suffixes.iter().any(|suffix| name == format!("{family}{suffix}")), "{line} is not of {family}");
        let mut names = HashSet::new();
        for label in labels.into_iter().flat_map(|labels| labels.strip_suffix('}').unwrap().split("\",")) {
            let (label, value) = label.split_once("=\"").unwrap_or_else(|| panic!("{line}"));
            assert!(
                label.chars().all(|sign| sign.is_ascii_lowercase() || sign == '_') && names.insert(label),
                "{line}"
            );
            assert!(!value.trim_end_matches('"').contains(['"', '\\']), "{line}");
        }
        let value: f64 = value.parse().unwrap_or_else(|_| panic!("{line}"));
        assert!(value.is_finite() && value >= 0.0, "{line}");
        assert!(values.insert(series.to_owned(), value).is_none(), "{line} is there twice");
    }
    for (series, count) in values.iter().filter(|(series, _)| series.contains("_count")) {
        let last = series.replacen("_count", "_bucket", 1);
        let last = match last.strip_suffix('}') {
            Some(labels) => format!("{labels},le=\"+Inf\"}}"),
            None => format!("{last}{{le=\"+Inf\"}}"),
        };
        assert_eq!(values.get(&last), Some(count), "{last}");
    }
    values
}

#[tokio::test]
async fn the_metrics_move_with_what_happens_and_tell_no_names() {
    let place = place_with_all_tools();
    let all = ["--owner", "ophelia", "--team", "denmark", "--permissions", "read,write,solve,admin,admin:all"];
    let token = token(&place, &[&["hamlet", "--all-workspaces"], all.as_slice()].concat());
    let daemon = Daemon::start(&place, &ALL_TOOLS);
    let before = Scraped::of(&daemon).await;
    assert_eq!(before.value("reasoning_bank_scrape_complete"), 1.0);
    assert_eq!(before.value("reasoning_bank_http_sessions"), 0.0);
    assert_eq!(before.value(r#"reasoning_bank_actor_up{actor="store"}"#), 1.0);
    assert!(before.value("process_resident_memory_bytes") > 1e6);
    assert!(!before.text.contains("tool_call"), "nobody has called a tool");

    let session = daemon.session(Some(&token)).await.on("elsinore");
    session.record("ghosts on the platform").await;
    session.recalled("ghosts").await;
    let unknown = json!({"memory_id": "01890000-0000-7000-8000-000000000000"});
    assert_eq!(session.call("get_memory", unknown).await["code"], "not_found");
    let nowhere = daemon.get("/yorick/skull?name=horatio").send().await.unwrap();
    assert_eq!(nowhere.status(), StatusCode::NOT_FOUND);
    let strange = daemon.http.request("BREW".parse().unwrap(), &daemon.url).bearer_auth(&token).send().await.unwrap();
    assert_eq!(strange.status(), StatusCode::METHOD_NOT_ALLOWED);

    let after = Scraped::of(&daemon).await;
    let calls = |tool, outcome| {
        format!(r#"reasoning_bank_tool_call_duration_seconds_count{{tool="{tool}",outcome="{outcome}"}}"#)
    };
    assert_eq!(after.value(&calls("record_memory", "ok")), 1.0);
    assert_eq!(after.value(&calls("retrieve_memories", "ok")), 1.0);
    assert_eq!(after.value(&calls("get_memory", "not_found")), 1.0);
    let requests = |route, method, status| {
        let labels = format!(r#"route="{route}",method="{method}",status="{status}""#);
        format!("reasoning_bank_http_request_duration_seconds_count{{{labels}}}")
    };
    assert_eq!(after.value(&requests("/mcp", "POST", "2xx")), 5.0);
    assert_eq!(after.value(&requests("/metrics", "GET", "2xx")), 1.0);
    assert_eq!(after.value(&requests("none", "GET", "4xx")), 1.0);
    assert_eq!(after.value(&requests("/mcp", "other", "4xx")), 1.0);
    assert_eq!(after.value(r#"reasoning_bank_memories{status="active"}"#), 1.0);
    assert_eq!(after.value("reasoning_bank_http_sessions"), 1.0);
    assert_eq!(after.value(r#"reasoning_bank_work_duration_seconds_count{work="retrieval"}"#), 1.0);
    assert!(after.value("reasoning_bank_store_rows") > before.value("reasoning_bank_store_rows"));
    let id = token.split('_').nth(1).unwrap();
    for name in ["hamlet", "ophelia", "denmark", "elsinore", "ghosts", "yorick", "horatio", "BREW", "rb_", id] {
        assert!(!after.text.contains(name), "{name}");
    }
}

#[tokio::test]
async fn the_metrics_count_episodes_patterns_runs_and_working_memories() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &ALL_TOOLS);
    let script = script(&daemon, &place, "read,write,admin,admin:all");
    let before = scraped_with(&daemon, &script.token).await;
    assert!(!before.contains_key("reasoning_bank_consolidation_last_run_time_seconds"), "nothing ran");
    let sent = async |path: &str, body: Value| {
        let (status, answer) = script.send(Method::POST, path, Some(body)).await;
        assert_eq!(status, StatusCode::OK, "{path}: {answer}");
        answer
    };
    let pattern = json!({
        "title": "Search first", "description": "A name is unknown.", "explanation": "Search for the name.",
        "category": "strategy",
        "content": {"type": "heuristic", "condition": "A name is unknown.", "action": {"text": "Search for it."}},
    });
    let pattern = sent("/patterns", pattern).await["pattern_id"].as_str().unwrap().to_owned();
    let task = json!({"task": {"original_input": "Find the ghost"}, "outcome": {"status": "SUCCESS"}});
    let episode = sent("/episodes", task).await["episode_id"].clone();
    sent(&format!("/patterns/{pattern}/applications"), json!({"trace_id": episode})).await;
    sent("/working", json!({"task": {"description": "Find the other ghost"}})).await;
    sent("/consolidations", json!({"apply": true})).await;

    let after = scraped_with(&daemon, &script.token).await;
    let value = |series: &str| *after.get(series).unwrap_or_else(|| panic!("{series} is not in {after:?}"));
    assert_eq!(value(r#"reasoning_bank_episodes{visibility="active"}"#), 1.0);
    assert_eq!(value(r#"reasoning_bank_patterns{stage="candidate"}"#), 1.0);
    assert_eq!(value("reasoning_bank_pattern_applications"), 1.0);
    assert_eq!(value("reasoning_bank_consolidation_runs"), 1.0);
    assert_eq!(value("reasoning_bank_working_memories"), 1.0);
    assert!(value("reasoning_bank_consolidation_last_run_time_seconds") > 1.7e9);
    let (_, stats) = script.send(Method::GET, "/stats", None).await;
    let counted = ["applications", "working_memories", "consolidation_runs"].map(|name| stats[name].clone());
    assert_eq!(counted, [json!(1), json!(1), json!(1)], "{stats}");
}

async fn scraped_with(daemon: &Daemon, token: &str) -> BTreeMap<String, f64> {
    let answer = daemon.get("/metrics").bearer_auth(token).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    parsed(&answer.text().await.unwrap())
}

#[tokio::test]
async fn the_metrics_of_a_server_that_others_reach_need_a_token_of_its_operator() {
    let place = Place::new();
    let writer = token(&place, &["writer", "--all-workspaces"]);
    let operator = token(&place, &["operator", "--all-workspaces", "--permissions", "admin:all"]);
    let status = async |daemon: &Daemon, token: &str| {
        let request = daemon.get("/metrics");
        let request = if token.is_empty() { request } else { request.bearer_auth(token) };
        request.send().await.unwrap().status().as_u16()
    };
    place.write("project/proxy.toml", "[http]\nbehind_proxy = true\n");
    let behind_proxy = Daemon::start(&place, &["--config", "proxy.toml"]);
    for (token, wanted) in [("", 401), (&*writer, 403), (&*operator, 200)] {
        assert_eq!(status(&behind_proxy, token).await, wanted, "{token}");
    }
    place.write("project/open.toml", "[http]\nbehind_proxy = true\nmetrics = \"open\"\n");
    let open = Daemon::start(&place, &["--config", "open.toml"]);
    assert_eq!(status(&open, "").await, 200);
    let elsewhere = open.get("/metrics").header("host", "evil.example").send().await.unwrap();
    assert_eq!(elsewhere.status(), StatusCode::FORBIDDEN);
    let here = Daemon::start(&place, &[]);
    assert_eq!(status(&here, "").await, 200);
    for header in ["x-forwarded-for", "x-forwarded-proto", "x-real-ip"] {
        let forwarded = here.get("/metrics").header(header, "192.0.2.1").send().await.unwrap();
        assert_eq!(forwarded.status(), StatusCode::UNAUTHORIZED, "{header}");
        assert_eq!(message(forwarded).await["error"]["code"], "unauthenticated");
    }
}

#[tokio::test]
async fn what_is_only_read_refuses_other_methods_in_words() {
    let place = Place::new();
    let daemon = Daemon::start(&place, &[]);
    for path in ["/healthz", "/readyz", "/metrics"] {
        let refused = daemon.http.delete(daemon.url.replace("/mcp", path)).send().await.unwrap();
        assert_eq!(refused.status(), StatusCode::METHOD_NOT_ALLOWED, "{path}");
        assert_eq!(refused.headers()["allow"], "GET,HEAD", "{path}");
        let said: Value = refused.json().await.unwrap();
        assert_eq!(said["error"]["code"], "invalid_argument", "{path}: {said}");
        let probed = daemon.http.head(daemon.url.replace("/mcp", path)).send().await.unwrap();
        assert_eq!(probed.status(), StatusCode::OK, "{path}");
    }
}
