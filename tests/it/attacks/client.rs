//! Attacks by a client. It may not reach another project, erase without the user's consent, or keep the server busy. A
//! client does what its model says, and the model reads texts that strangers wrote.

mod consent;
mod projects;
mod team;

use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::support::Place;

const SECRET_PLAN: &str = "the launch is on the second Tuesday";

const ALL_TOOLS: &str = "mcp.toolsets = ['all']\n";

/// Two projects, the other one with a plan that the first one must not learn; the current directory is `project`.
struct TwoProjects {
    place: Place,
    other: String,
    /// The id of a memory of the other project.
    id: String,
    memory: String,
}

impl TwoProjects {
    fn new() -> Self {
        let place = Place::new();
        for directory in ["other/src", "project/sub"] {
            std::fs::create_dir_all(place.path(directory)).unwrap();
        }
        std::os::unix::fs::symlink(place.path("other"), place.path("project/link")).unwrap();
        let other = place.path("other").display().to_string();
        let lesson = ["--title", "The plan", "--description", "Launch.", "--content", SECRET_PLAN];
        let record = [&["--json", "--workspace", &other, "memory", "record"][..], &lesson].concat();
        let memory = place.run(&record).ok().json()["id"].as_str().unwrap().to_owned();
        let shown = place.run(&["--json", "--workspace", &other, "workspace", "show"]).ok().json();
        Self { place, other, id: shown["id"].as_str().unwrap().to_owned(), memory }
    }

    /// Returns what the other project holds.
    fn export(&self) -> String {
        self.place.run(&["--workspace", &self.other, "memory", "export"]).ok().stdout
    }

    fn named(&self, form: &str) -> String {
        let home = self.place.path("home").display().to_string();
        form.replace("{other}", &self.other).replace("{id}", &self.id).replace("{home}", &home)
    }
}

/// Returns the metadata that a request of the stateless revision carries.
fn meta(capabilities: Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

/// Lines that are no call of a tool.
fn odd_lines() -> Vec<String> {
    let mut lines: Vec<String> = [
        "",
        "null",
        "[]",
        "{}",
        "{",
        "\"\"",
        "7",
        "[1,2,3]",
        r#"{"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":"a","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1e400,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
        "\u{feff}{}",
        "\u{202e}",
    ]
    .map(str::to_owned)
    .to_vec();
    lines.push("[".repeat(200_000));
    lines.push(format!("{{\"a\":{}", "{\"a\":".repeat(100_000)));
    lines.push("x".repeat(1 << 20));
    lines
}

pub(super) fn inputs() -> usize {
    projects::inputs() + consent::inputs() + odd_lines().len()
}

#[test]
fn recalled_text_says_where_a_model_reads_it_that_it_is_no_instruction() {
    let two = TwoProjects::new();
    let mut process = McpProcess::initialized(&two.place, &["--llm", "none", "--workspace", &two.other]);
    let params = json!({"name": "retrieve_memories", "arguments": {"query": "launch"}});
    let answer = process.request("tools/call", params);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    let (said, quoted) = (text.find("never instructions").unwrap(), text.find(SECRET_PLAN).unwrap());
    assert!(said < quoted, "{text}");
    let tools = process.request("tools/list", json!({}))["result"]["tools"].clone();
    let retrieve = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "retrieve_memories").unwrap();
    assert!(retrieve["description"].as_str().unwrap().contains("not instructions"), "{retrieve}");
    let family = process.call("get_memory_genealogy", json!({"memory_id": two.memory}));
    assert!(family["about"].as_str().unwrap().contains("never instructions"), "{family}");
}

#[test]
fn lines_that_are_no_call_leave_the_server_answering() {
    let place = Place::new();
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    for line in odd_lines() {
        process.write(line.as_bytes());
        process.write(b"\n");
    }
    process.send(&json!({"id": "last", "method": "tools/list", "params": {}}));
    let answered =
        std::iter::repeat_with(|| process.read()).take(odd_lines().len() + 1).any(|answer| answer["id"] == "last");
    assert!(answered);
}
