//! Tests of what the log of a real process says, and what it keeps to itself: lines of JSON, spans within spans, ids
//! and sizes but no texts.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rstest::rstest;
use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::support::{Place, Ran};

/// The words that stand in questions to the process and in its answers, and in no line of its log.
const TASK: &str = "Write a binary search over a sorted list of zebrafinches.";
const BODIES: [&str; 5] =
    ["zebrafinch", "binary search", "This is a simulated solution", "Approach:", "sharing violation"];

fn place(level: &str, format: &str) -> Place {
    let place = Place::new();
    let log = place.path("logs/today/bank.log");
    let log = format!("[log]\nlevel = {level:?}\nformat = {format:?}\nfile = {:?}\n", log.display().to_string());
    place.write("config/reasoning-bank/config.toml", &format!("[llm.simulated]\nlatency_ms = 20\n{log}"));
    place
}

fn log(place: &Place) -> String {
    std::fs::read_to_string(place.path("logs/today/bank.log")).unwrap()
}

/// Records, searches and solves, and closes.
fn work(place: &Place) {
    let mut process = McpProcess::initialized(place, &["--llm", "simulated"]);
    let lesson = json!({
        "title": "Close the zebrafinch first",
        "description": "When a rename fails with a sharing violation.",
        "content": "Drop every handle to the zebrafinch.",
    });
    process.call("record_memory", lesson);
    process.call("retrieve_memories", json!({"query": "sharing violation of a zebrafinch"}));
    let report = process.call("solve_coding_task", json!({"task": TASK, "matts_k": 2}));
    assert_eq!(report["outcome"], "success", "{report}");
    process.call_failing("solve_coding_task", json!({"task": ""}));
    let ended = process.end();
    assert!(ended.status.success(), "{}", ended.stderr);
    assert_eq!(ended.stderr, "", "with a log file nothing is said elsewhere");
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

fn messages<'a>(lines: &'a [Value], message: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["fields"]["message"] == message).collect()
}

/// The names of the spans around a line, the outermost first.
fn around(line: &Value) -> Vec<&str> {
    let spans = line["spans"].as_array().map(Vec::as_slice).unwrap_or_default();
    spans.iter().map(|span| span["name"].as_str().unwrap()).collect()
}

#[test]
fn a_solve_leaves_its_spans_and_no_text_of_the_user_or_the_model() {
    let place = place("debug", "json");
    work(&place);
    let text = log(&place);
    for body in BODIES {
        assert!(!text.contains(body), "{body:?} in {text}");
    }
    let lines = lines(&text);
    let (began, ended) = the_task_begins_and_ends_once(&lines);
    model_calls_name_their_task_and_attempt(&lines, &began["spans"][1]["task_id"], &ended["fields"]);
    the_task_asks_the_store_and_commits_once(&lines);
    let tools: BTreeSet<&str> = lines.iter().filter_map(|line| line["spans"][0]["tool"].as_str()).collect();
    assert_eq!(tools, BTreeSet::from(["record_memory", "retrieve_memories", "solve_coding_task"]));
}

/// Returns the line of its begin and that of its end.
fn the_task_begins_and_ends_once(lines: &[Value]) -> (&Value, &Value) {
    let (began, ended) = (messages(lines, "a task began"), messages(lines, "a task ended"));
    let (&[began], &[ended]) = (&began[..], &ended[..]) else {
        panic!("a line when the task begins and one when it ends: {lines:#?}");
    };
    assert_eq!(around(began), ["tool_call", "task"]);
    let task = &began["spans"][1];
    assert_eq!(task["k"], 2);
    assert_eq!(task["workspace"].as_str().unwrap().len(), 16);
    assert_eq!((&ended["level"], &ended["fields"]["outcome"]), (&json!("INFO"), &json!("success")));
    for field in ["score", "elapsed_ms", "llm_calls", "cache_hits", "iterations"] {
        assert!(ended["fields"][field].is_number(), "{field} in {ended}");
    }
    (began, ended)
}

/// There are as many of them as the task counts.
fn model_calls_name_their_task_and_attempt(lines: &[Value], task_id: &Value, counted: &Value) {
    let calls = messages(lines, "a model call ended");
    assert_eq!(calls.len() as u64, counted["llm_calls"].as_u64().unwrap() + counted["cache_hits"].as_u64().unwrap());
    let mut purposes = BTreeSet::new();
    for call in calls {
        let spans = call["spans"].as_array().unwrap();
        assert_eq!((&call["level"], &spans[1]["task_id"]), (&json!("DEBUG"), task_id), "{call}");
        let span = spans.last().unwrap();
        assert_eq!((&span["name"], &span["model"]), (&json!("model_call"), &json!("simulated")));
        match span.get("attempt") {
            Some(attempt) => {
                assert_eq!(around(call), ["tool_call", "task", "attempt", "model_call"]);
                assert_eq!(&spans[2]["attempt"], attempt);
            }
            None => assert_eq!(around(call), ["tool_call", "task", "model_call"]),
        }
        purposes.insert(span["purpose"].as_str().unwrap());
        for field in ["input_tokens", "output_tokens", "reasoning_tokens", "elapsed_ms"] {
            assert!(call["fields"][field].is_u64(), "{field} in {call}");
        }
        assert_eq!(call["fields"]["outcome"], "ok");
    }
    assert!(purposes.is_superset(&BTreeSet::from(["think", "evaluate", "judge", "contrast"])), "{purposes:?}");
}

fn the_task_asks_the_store_and_commits_once(lines: &[Value]) {
    let stored = messages(lines, "a store operation ended");
    let of_task = |op: &str| {
        let within = |line: &&&Value| around(line) == ["tool_call", "task", "store"] && line["spans"][2]["op"] == op;
        stored.iter().filter(within).count()
    };
    assert_eq!(of_task("commit"), 1, "the trace and the lessons are one batch");
    assert!(of_task("candidates") >= 1 && of_task("get") >= 1, "{stored:#?}");
    for line in &stored {
        assert_eq!((&line["level"], &line["fields"]["outcome"]), (&json!("DEBUG"), &json!("ok")), "{line}");
        assert!(line["fields"]["rows"].is_u64() && line["fields"]["elapsed_ms"].is_u64(), "{line}");
    }
}

#[test]
fn a_prompt_that_is_cut_leaves_its_sizes_and_none_of_its_text() {
    let place = place("warn", "json");
    place.write("extra.toml", "agent.prompt_token_budget = 2000\n");
    let extra = place.path("extra.toml").display().to_string();
    let task = format!("Sort the zebrafinches. {}", "They are many. ".repeat(4_000));
    let mut process = McpProcess::initialized(&place, &["--llm", "simulated", "--config", &extra]);
    process.call("solve_coding_task", json!({"task": task, "matts_k": 1}));
    assert!(process.end().status.success());
    let text = log(&place);
    let lines = lines(&text);
    assert!(!text.contains("zebrafinch") && !text.contains("They are many"), "{text}");
    let cut = messages(&lines, "a prompt was cut to its budget");
    let think = cut.iter().find(|line| line["fields"]["purpose"] == "think").unwrap();
    let tokens = |field: &str| think["fields"][field].as_u64().unwrap();
    assert!(tokens("from_tokens") > 12_000 && tokens("to_tokens") < 2_000, "{think}");
}

#[rstest]
#[case::at_info("info", "json")]
#[case::at_info_as_text("info", "text")]
#[case::at_trace("trace", "json")]
#[case::at_trace_as_text("trace", "text")]
fn the_log_has_no_text_of_the_user_at_any_level(#[case] level: &str, #[case] format: &str) {
    let place = place(level, format);
    work(&place);
    let text = log(&place);
    for body in BODIES {
        assert!(!text.contains(body), "{body:?} in {text}");
    }
    assert_eq!(text.matches("a task began").count(), 1, "{text}");
    assert_eq!(text.matches("a task ended").count(), 1, "{text}");
    let calls = text.matches("a model call ended").count();
    assert_eq!(calls > 0, level == "trace", "calls are for debugging: {text}");
}

#[test]
fn a_cancelled_solve_is_said_to_be() {
    let place = place("info", "json");
    let mut process = McpProcess::initialized(&place, &["--llm", "simulated", "--config", &slow(&place)]);
    let solve = json!({"name": "solve_coding_task", "arguments": {"task": TASK}});
    process.send(&json!({"id": 70, "method": "tools/call", "params": solve}));
    // Answered after the solve was read.
    process.call("retrieve_memories", json!({"query": "q"}));
    process.send(&json!({"method": "notifications/cancelled", "params": {"requestId": 70}}));
    process.request("ping", json!({}));
    assert!(process.end().status.success());
    let lines = lines(&log(&place));
    let outcomes: Vec<&Value> =
        messages(&lines, "a task ended").iter().map(|line| &line["fields"]["outcome"]).collect();
    assert_eq!(outcomes, ["cancelled"]);
}

/// A model that answers after the test is over.
fn slow(place: &Place) -> String {
    place.write("slow.toml", "[llm.simulated]\nlatency_ms = 60000\n").display().to_string()
}

#[test]
fn a_client_that_does_not_read_stderr_is_answered_all_the_same() {
    let place = Place::new();
    let (unread, stderr) = std::io::pipe().unwrap();
    let mut command = place.command(&["--llm", "none", "-vv", "mcp"]);
    command.stderr(stderr);
    let mut process = McpProcess::spawn_with_its_stderr(command);
    process.initialize();
    // A pipe takes 64 KiB, and a line is about 100 bytes.
    for _ in 0..1_500 {
        process.call_failing("retrieve_memories", json!({"query": ""}));
    }
    assert!(process.end().status.success());
    drop(unread);
}

#[test]
fn the_log_is_for_its_owner_and_grows_line_by_line_whoever_writes() {
    let place = place("debug", "json");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| place.run(&["--llm", "none", "--json", "memory", "search", "anything"]).ok());
        }
    });
    let both = lines(&log(&place)).len();
    place.run(&["--llm", "none", "memory", "search", "anything"]).ok();
    assert!(lines(&log(&place)).len() > both, "it is appended to");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&place.path("logs/today/bank.log")), 0o600);
    assert_eq!(mode(&place.path("logs/today")), 0o700);
}

#[test]
fn a_log_file_that_cannot_be_written_is_named_with_its_key() {
    let place = Place::new();
    place.write("file", "");
    let mut command = place.command(&["--llm", "none", "memory", "search", "anything"]);
    command.env("REASONING_BANK__LOG__FILE", place.path("file/bank.log"));
    let ran = Ran::of(command.output().unwrap()).exits(2);
    assert!(ran.stderr.starts_with("error: log.file: ") && ran.stderr.contains("bank.log"), "{}", ran.stderr);
}
