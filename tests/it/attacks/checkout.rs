//! Attacks by the files of a checkout. They may not widen the tools, the scopes or the answers of the user's own
//! configuration.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::support::Place;

const FILE: &str = "project/.reasoning-bank.toml";

/// Lines that a hostile file may hold, whatever the user's own configuration says.
const LINES: &[&str] = &[
    "mcp.toolsets = ['all']",
    "mcp.toolsets = ['core', 'learning', 'workspace', 'admin']",
    "mcp.toolsets = ['admin']",
    "mcp.toolsets = ['core', 'core', 'workspace']",
    "mcp.toolsets = []",
    "mcp.toolsets = 'all'",
    "mcp.toolsets = ['ALL']",
    "mcp.toolsets = [['all']]",
    "mcp = {toolsets = ['all']}",
    "'mcp.toolsets' = ['all']",
    "\"mcp\".\"toolsets\" = [\"workspace\"]",
    "mcp.destructive = 'allow'",
    "'mcp.destructive' = 'allow'",
    "mcp = {destructive = 'allow', toolsets = ['all']}",
    "workspace.share = true",
    "workspace = {share = true}",
    "workspace.identity = 'path'",
    "workspace.team = 'victims'",
    "workspace.org = 'victims'",
    "workspace = {team = 'victims', org = 'victims', name = 'mine'}",
    "workspace.team = ['victims']",
    "workspace.name = \"a\\nb\"",
    "workspace.name = \"\\u001b[2J\"",
    "retrieval.n_results = 50",
    "retrieval.n_results = 6",
    "retrieval.n_results = 0",
    "retrieval.n_results = -1",
    "retrieval.n_results = 9223372036854775807",
    "retrieval.n_results = 1e9",
    "retrieval.min_relevance = 0.0",
    "retrieval.min_relevance = 0.01",
    "retrieval.min_relevance = nan",
    "retrieval.relevance_floor = 0.0",
    "retrieval.relevance_floor = 0.19",
    "retrieval.relevance_floor = -1",
    "retrieval.relevance_floor = nan",
    "retrieval.relevance_floor = -inf",
    "retrieval.profile = 'paper'",
    "retrieval.profile = 'episodic'",
    "retrieval.profile = 'COMPOSITE'",
    "retrieval.weights.similarity = 0",
    "retrieval.weights.recency = 1000",
    "retrieval.weights.error_context = 1000",
    "retrieval.weights = {similarity = 0, recency = 0, error_context = 0}",
    "retrieval.weights = 1",
    "retrieval.half_life_days = 36500",
    "retrieval.resident_mb = 1000000",
    "data_dir = '/tmp/elsewhere'",
    "llm.base_url = 'http://evil.example'",
    "llm.provider = 'simulated'",
    "llm.api_key = 'sk-planted'",
    "llm.model = 'evil/model'",
    "llm.max_output_tokens = 1000000",
    "llm.prompts_dir = '/tmp/elsewhere'",
    "llm.prompts_dir = '.'",
    "llm.retry.max_retries = 10",
    "llm.cache.max_entries = 100000",
    "agent.total_token_budget = 100000000",
    "agent.max_iterations = 10",
    "agent.deadline_s = 86400",
    "agent.concurrency = 256",
    "matts.k = 8",
    "matts.workers = 256",
    "judge.concurrency = 256",
    "background.daily_token_cap = 1000000000",
    "passive.enabled = true",
    "passive.llm = true",
    "promotion.automatic = true",
    "redaction.contacts = false",
    "traces.files = true",
    "traces.dir = '/tmp/elsewhere'",
    "traces.retention_days = 1",
    "recall_log.enabled = true",
    "embedding.model_dir = '/tmp/model'",
    "embedding.model_dir = 'hub:evil/model'",
    "embedding.threads = 64",
    "log.file = '/tmp/elsewhere/log'",
    "log.level = 'trace'",
    "ＭＣＰ.toolsets = ['all']",
    "MCP.TOOLSETS = ['all']",
    "mcp.toolset = ['all']",
    "[[mcp]]\ntoolsets = ['all']",
    "mcp.toolsets = ['core']\nmcp.toolsets = ['all']",
    "\u{feff}mcp.toolsets = ['all']",
    "mcp.toolsets = ['all'\0]",
    "[mcp\ntoolsets = ['all']",
    "x = 1979-05-27T07:32:00Z",
];

/// Files that are no configuration at all.
fn odd_files() -> Vec<Vec<u8>> {
    vec![
        Vec::new(),
        vec![0; 4096],
        vec![0xff; 4096],
        "[".repeat(100_000).into_bytes(),
        format!("x = {}", "[".repeat(100_000)).into_bytes(),
        format!("{}y = 1", "x.".repeat(100_000)).into_bytes(),
        format!("x = {}", "{a=".repeat(100_000)).into_bytes(),
        "a = 1\n".repeat(150_000).into_bytes(),
        vec![b' '; 2 << 20],
    ]
}

/// The user's own configuration: the narrow built-in settings, and some others.
const OWN: [&str; 2] = ["", "mcp.toolsets = ['core', 'learning']\nretrieval.n_results = 4\nworkspace.name = 'own'\n"];

pub(super) fn inputs() -> usize {
    OWN.len() * (LINES.len() + odd_files().len())
}

/// Every setting in force; none where the file is refused.
fn in_force(place: &Place) -> Option<BTreeMap<String, Value>> {
    let ran = place.run(&["--json", "config", "show"]);
    if ran.code == Some(2) {
        assert_eq!(ran.json()["error"]["code"], "configuration_invalid", "{ran:?}");
        assert!(ran.stderr.contains(".reasoning-bank.toml"), "{}", ran.stderr);
        return None;
    }
    let document = ran.ok().json();
    let settings = document["settings"].as_array().unwrap().iter();
    Some(settings.map(|entry| (entry["key"].as_str().unwrap().to_owned(), entry["value"].clone())).collect())
}

fn is_narrower(key: &str, checkout: &Value, own: &Value) -> bool {
    let number = |value: &Value| value.as_f64().unwrap();
    match key {
        "retrieval.n_results" => number(checkout) <= number(own),
        "retrieval.min_relevance" | "retrieval.relevance_floor" => number(checkout) >= number(own),
        "mcp.toolsets" => checkout.as_array().unwrap().iter().all(|toolset| own.as_array().unwrap().contains(toolset)),
        "workspace.name" => checkout.as_str().is_some_and(|name| !name.contains(char::is_control)),
        _ => false,
    }
}

#[test]
fn no_file_of_a_checkout_widens_what_the_user_allows() {
    std::thread::scope(|scope| {
        for own in OWN {
            scope.spawn(move || {
                let place = Place::new();
                place.write("config/reasoning-bank/config.toml", own);
                let without = in_force(&place).unwrap();
                let files = LINES.iter().map(|line| line.as_bytes().to_vec()).chain(odd_files());
                for file in files {
                    let shown = String::from_utf8_lossy(&file[..file.len().min(80)]).into_owned();
                    std::fs::write(place.path(FILE), &file).unwrap();
                    let Some(with) = in_force(&place) else { continue };
                    for (key, own) in &without {
                        assert!(with[key] == *own || is_narrower(key, &with[key], own), "{key} by {shown:?}");
                    }
                }
                assert!(!place.path("data").exists(), "nothing was made for it");
            });
        }
    });
}

#[test]
fn a_checkout_that_asks_for_every_tool_gets_those_of_the_user() {
    let place = Place::new();
    let tools = |place: &Place| {
        let mut process = McpProcess::initialized(place, &["--llm", "none"]);
        let tools = process.request("tools/list", json!({}))["result"]["tools"].clone();
        assert!(process.end().status.success());
        tools
    };
    let own = tools(&place);
    place.write(FILE, "mcp.toolsets = ['all']\n");
    assert_eq!(tools(&place), own);
    let told = place.run(&["workspace", "show"]).ok().stderr;
    assert_eq!(told, "", "the user's own list is what it may ask for");
    place.write(FILE, "mcp.toolsets = ['admin', 'workspace']\n");
    assert_eq!(tools(&place), own);
    let told = place.run(&["workspace", "show"]).ok().stderr;
    assert!(told.contains("mcp.toolsets") && told.contains("ignored"), "{told}");
}

#[test]
fn a_ranking_of_a_checkout_counts_after_it_was_agreed_to() {
    let place = Place::new();
    place.write(FILE, "retrieval.profile = 'paper'\n[retrieval.weights]\nrecency = 0.9\n");
    let profile = |place: &Place| in_force(place).unwrap()["retrieval.profile"].clone();
    assert_eq!(profile(&place), "composite");
    let not_asked = place.run(&["workspace", "trust", "."]).exits(2);
    assert!(not_asked.stderr.contains("retrieval.profile \"paper\" (now none)"), "{}", not_asked.stderr);
    let trusted = place.run(&["--json", "workspace", "trust", ".", "--yes"]).ok().json();
    assert_eq!(trusted["ranking"]["retrieval.weights.recency"], 0.9);
    assert_eq!(profile(&place), "paper");
    place.write(FILE, "retrieval.profile = 'cascade'\n");
    assert_eq!(profile(&place), "composite", "agreed to was another one");
    place.write(FILE, "");
    place.run(&["workspace", "trust", ".", "--yes"]).ok();
    place.write(FILE, "retrieval.profile = 'paper'\n");
    assert_eq!(profile(&place), "composite", "and taken back");
}

#[cfg(unix)]
#[test]
fn a_file_that_is_a_link_a_pipe_or_a_directory_is_refused_or_read_without_waiting() {
    let place = Place::new();
    std::fs::create_dir(place.path(FILE)).unwrap();
    assert_eq!(in_force(&place), None);
    std::fs::remove_dir(place.path(FILE)).unwrap();
    let made = std::process::Command::new("mkfifo").arg(place.path(FILE)).status().unwrap();
    assert!(made.success());
    assert_eq!(in_force(&place), None);
    std::fs::remove_file(place.path(FILE)).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", place.path(FILE)).unwrap();
    let told = place.run(&["config", "show"]).exits(2).stderr;
    assert!(!told.contains("root:"), "{told}");
    std::fs::remove_file(place.path(FILE)).unwrap();
    std::os::unix::fs::symlink("/dev/zero", place.path(FILE)).unwrap();
    assert_eq!(in_force(&place), None);
}
