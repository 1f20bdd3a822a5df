//! Tests of a session whose conversation is replaced by a summary: its task is in working memory, read from its
//! transcript, until the session is over.

use serde_json::{Value, json};

use super::events::wait_for_the_spool;
use super::{answered, hook};
use crate::mcp_process::McpProcess;
use crate::support::Place;

const SESSION: &str = "5e551041-0000-4000-8000-000000000001";

/// A transcript of Claude Code.
#[derive(Default)]
struct Written(Vec<Value>);

impl Written {
    fn said(&mut self, role: &str, content: Value) {
        let second = self.0.len();
        self.0.push(json!({
            "type": role, "sessionId": SESSION, "uuid": second.to_string(),
            "timestamp": format!("2026-11-20T10:{:02}:{:02}Z", second / 60, second % 60),
            "message": { "role": role, "content": content },
        }));
    }

    fn called(&mut self, tool: &str, input: Value, output: &str, failed: bool) {
        let id = format!("call{}", self.0.len());
        self.said("assistant", json!([{ "type": "tool_use", "id": id, "name": tool, "input": input }]));
        let result = json!([{ "type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed }]);
        self.said("user", result);
    }

    fn save(&self, place: &Place) -> String {
        let lines: Vec<String> = self.0.iter().map(Value::to_string).collect();
        place.write("transcript.jsonl", &(lines.join("\n") + "\n"));
        place.path("transcript.jsonl").display().to_string()
    }
}

fn half_done() -> Written {
    let mut written = Written::default();
    written.said("user", json!("Fix the date parser of the importer"));
    for (n, title) in [(1, "Reproduce the wrong day"), (2, "Mend the parser")] {
        let created = format!("Task #{n} created successfully: {title}");
        written.called("TaskCreate", json!({ "subject": title, "description": title }), &created, false);
    }
    let test = json!({ "command": "cargo test -p dates" });
    written.called("Bash", test, "Exit code 101\nValueError: day is out of range in leap years", true);
    written.called("TaskUpdate", json!({ "taskId": "1", "status": "completed" }), "Updated task #1 status", false);
    written
}

fn told_at_start(place: &Place, session: &str, source: &str) -> String {
    let event = json!({ "hook_event_name": "SessionStart", "session_id": session, "source": source });
    let output = hook(place, "claude-code", "SessionStart", &event.to_string()).stdout;
    let output: Value = serde_json::from_str(&output).unwrap_or_default();
    output["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

fn tell(place: &Place, server: &mut McpProcess, event: &str, transcript: &str) {
    let about = json!({ "hook_event_name": event, "session_id": SESSION, "transcript_path": transcript });
    assert_eq!(hook(place, "claude-code", event, &about.to_string()).stdout, "");
    wait_for_the_spool(place, server);
}

#[test]
fn a_session_finds_its_plan_and_results_after_a_compaction_and_in_a_new_process() {
    let place = Place::with_instant_model();
    let mut server = McpProcess::initialized(&place, &["--llm", "none"]);
    let mut written = half_done();
    tell(&place, &mut server, "PreCompact", &written.save(&place));
    let found = |place: &Place, source: &str| {
        let event = json!({ "hook_event_name": "SessionStart", "session_id": SESSION, "source": source });
        answered(place, "SessionStart", &event).to_string()
    };
    for (source, restarts) in [("compact", false), ("resume", true)] {
        if restarts {
            server.end();
            server = McpProcess::initialized(&place, &["--llm", "none"]);
        }
        let told = found(&place, source);
        for part in ["Fix the date parser", "Mend the parser", "cargo test -p dates", "out of range in leap years"] {
            assert!(told.contains(part), "{source}, {part}: {told}");
        }
        let other = told_at_start(&place, "another", "startup");
        assert!(!other.contains("date parser"), "a task is of its session: {other}");
    }

    written.called("Edit", json!({ "file_path": "src/dates.rs" }), "done", false);
    written.called("Bash", json!({ "command": "cargo test -p dates" }), "14 passed", false);
    tell(&place, &mut server, "PreCompact", &written.save(&place));
    assert!(found(&place, "compact").contains("14 passed"));
    assert_eq!(place.document(&["working", "list"])["tasks"].as_array().unwrap().len(), 1);

    tell(&place, &mut server, "SessionEnd", &written.save(&place));
    server.end();
    assert_eq!(place.document(&["working", "list"])["tasks"], json!([]));
    let episodes = place.document(&["episode", "list"])["episodes"].as_array().unwrap().clone();
    let [episode] = &episodes[..] else { panic!("{episodes:?}") };
    assert_eq!(episode["status"], "SUCCESS", "{episode}");
}

#[test]
fn a_session_that_may_not_be_learned_from_leaves_no_task() {
    let place = Place::with_instant_model();
    place.write("config/reasoning-bank/config.toml", "[passive]\nenabled = false\n");
    let mut server = McpProcess::initialized(&place, &["--llm", "none"]);
    tell(&place, &mut server, "PreCompact", &half_done().save(&place));
    server.end();
    assert_eq!(place.document(&["working", "list"])["tasks"], json!([]));
}
