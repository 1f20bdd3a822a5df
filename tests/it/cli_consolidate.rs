//! Tests of consolidation through the real binary: patterns are found in what agents told, proven by what they do
//! later, refined by what went wrong, and every run can be taken back. `killing` kills runs.

use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::support::Place;

mod proposing;

pub(crate) fn place() -> Place {
    let place = Place::new();
    let config =
        "mcp.toolsets = ['episodes', 'patterns', 'context']\nllm.provider = 'none'\nconsolidation.schedule = 'off'\n";
    place.write("config/reasoning-bank/config.toml", config);
    place
}

/// Tells an episode of a session of its own.
fn tell(process: &mut McpProcess, number: usize, domain: &str, tools: &[&str], succeeded: bool) {
    let calls: Vec<Value> = tools.iter().map(|tool| json!({"action": "call", "tool": tool})).collect();
    let status = if succeeded { "SUCCESS" } else { "FAILURE" };
    let told = process.call(
        "record_episode",
        json!({
            "task": {"original_input": format!("Fix bug {number} of the {domain} pager")},
            "outcome": {"status": status},
            "execution": {"trace": calls},
            "metadata": {"domain": domain},
            "session_id": format!("session {number}"),
        }),
    );
    assert_eq!(told["created"], true, "{told}");
}

/// Tells of eight tasks that succeed with the same two tools, and eight others of which two do.
pub(crate) fn tell_a_history(process: &mut McpProcess) {
    for number in 0..8 {
        tell(process, number, "cli", &["rg", "cargo test"], true);
        tell(process, 100 + number, "cli", &["sed"], number < 2);
    }
}

fn run(place: &Place, arguments: &[&str]) -> Value {
    place.run(&[&["--json", "consolidate"], arguments].concat()).ok().json()
}

fn changes(run: &Value, kind: &str) -> Vec<String> {
    let stages = run["stages"].as_array().unwrap().iter();
    let all = stages.flat_map(|stage| stage["changes"].as_array().unwrap());
    all.filter(|change| change["change"] == kind).map(|change| change["id"].as_str().unwrap().to_owned()).collect()
}

fn stage(place: &Place, id: &str) -> (String, u64) {
    let pattern = place.run(&["--json", "pattern", "get", id]).ok().json();
    (pattern["lifecycle"]["status"].as_str().unwrap().to_owned(), pattern["version"].as_u64().unwrap())
}

#[test]
fn a_pattern_that_agents_followed_is_found_proven_doubted_refined_and_taken_back() {
    let place = place();
    let mut process = McpProcess::initialized(&place, &[]);
    tell_a_history(&mut process);
    let planned = run(&place, &[]);
    assert_eq!(planned["applied"], false);
    assert_eq!(place.run(&["--json", "pattern", "list"]).ok().json()["patterns"], json!([]), "nothing was changed");
    let first = run(&place, &["--apply"]);
    let proposed = changes(&first, "proposed");
    assert_eq!(proposed, changes(&planned, "proposed"));
    assert_eq!(proposed.len(), 1, "{first}");
    let id = proposed[0].as_str();
    let pattern = place.run(&["--json", "pattern", "get", id]).ok().json();
    assert_eq!(
        (&pattern["category"], &pattern["lifecycle"]["status"]),
        (&json!("tool_selection"), &json!("candidate"))
    );
    assert_eq!(changes(&run(&place, &["--apply"]), "proposed"), [""; 0], "a second run finds nothing new");

    for number in 200..205 {
        tell(&mut process, number, "cli", &["rg", "cargo test"], true);
    }
    assert_eq!(stage(&place, id), ("validated".into(), 1), "nobody reported an application");
    let asked = json!({"task": {"task_type": "debugging", "domain": "cli"}});
    assert_eq!(process.call("find_patterns", asked)["patterns"][0]["pattern_id"], id);
    let given = process.call("get_context_for_task", json!({"task": "Fix bug 900 of the cli pager", "domain": "cli"}));
    assert_eq!(given["applicable_patterns"][0]["pattern_id"], id, "{given}");
    assert!(given["rendered"].as_str().unwrap().contains("cargo test, rg for debugging"), "{given}");
    for number in 300..306 {
        tell(&mut process, number, "web", &["rg", "cargo test"], false);
    }
    assert_eq!(stage(&place, id), ("under_review".into(), 1));
    // At its end the process writes down what its client was shown.
    process.end();
    let before = place.run(&["memory", "export"]).ok().stdout;

    let refining = run(&place, &["--apply"]);
    assert_eq!(changes(&refining, "refined"), [id]);
    assert_eq!(stage(&place, id), ("validated".into(), 2));
    let run_id = refining["run_id"].as_str().unwrap();
    let undone = run(&place, &["--undo", run_id]);
    assert_eq!((&undone["undone"]["taken_back"], &undone["undone"]["skipped"]), (&json!(1), &json!([])));
    assert_eq!(without_revisions(&place.run(&["memory", "export"]).ok().stdout), without_revisions(&before));
    assert_eq!(run(&place, &["--show", run_id])["undone"], undone["undone"]);

    let kept = run(&place, &["--undo", first["run_id"].as_str().unwrap()]);
    assert_eq!(kept["undone"]["skipped"], json!([{"id": id, "because": "changed"}]), "it was changed since");
    let unknown = place.run(&["consolidate", "--undo", "01995a2c-7d1e-7c3a-9d0e-5f2f6c1b7a90"]);
    assert!(unknown.code != Some(0) && unknown.stderr.contains("run of consolidation"), "{}", unknown.stderr);
}

/// The lines of an export, without what each write changes.
pub(crate) fn without_revisions(export: &str) -> Vec<Value> {
    let lines = export.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if let Some(line) = line.as_object_mut() {
            for key in ["revision", "updated_at", "exported_at"] {
                line.remove(key);
            }
        }
        line
    });
    lines.collect()
}

/// Makes two memories that say the same, as edits do.
pub(crate) fn same_memories(place: &Place) -> [String; 2] {
    let said = |content: &str, task: &str| {
        let (title, description) = ("Calls to the bank", "When a call goes out.");
        let lesson = ["--title", title, "--description", description, "--content", content, "--task", task];
        let recorded = place.document(&[&["memory", "record"], lesson.as_slice()].concat());
        recorded["id"].as_str().unwrap_or_else(|| panic!("{recorded}")).to_owned()
    };
    let first = said("Retry the call when it times out.", "Keep the billing client alive");
    let other = said("Ask the operator.", "Nightly report of the warehouse fails");
    place.run(&["memory", "update", &other, "--content", "When it times out, retry the call"]).ok();
    [first, other]
}

#[test]
fn memories_that_say_the_same_become_one_and_come_back() {
    let place = place();
    let [first, other] = same_memories(&place);
    let exported = || without_revisions(&place.run(&["memory", "export"]).ok().stdout);
    let before = exported();
    assert_eq!(changes(&run(&place, &[]), "superseded"), [other.as_str()]);
    assert_eq!(exported(), before, "nothing was changed");
    let applied = run(&place, &["--apply"]);
    assert_eq!(
        (changes(&applied, "extended"), changes(&applied, "superseded")),
        (vec![first.clone()], vec![other.clone()])
    );
    assert_eq!(place.document(&["memory", "get", &other])["superseded_by"], first);
    let found = place.document(&["memory", "search", "Nightly report of the warehouse fails"]);
    let found: Vec<&str> =
        found["memories"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(found, [first.as_str()], "it is found by the task of the other one, once");
    let undone = run(&place, &["--undo", applied["run_id"].as_str().unwrap()]);
    assert_eq!((&undone["undone"]["taken_back"], &undone["undone"]["skipped"]), (&json!(2), &json!([])));
    assert_eq!(exported(), before);

    let again = run(&place, &["--apply"]);
    assert_eq!(changes(&again, "superseded"), [other.as_str()]);
    place.run(&["memory", "delete", &other, "--yes"]).ok();
    assert!(!place.run(&["memory", "export"]).ok().stdout.contains("Nightly"), "what is erased leaves no word behind");
}

/// A session of Claude Code in which a command fails, another one mends that, and the first one then works.
fn session(id: &str) -> String {
    let at = |second: u32| format!("2026-11-20T10:00:{second:02}.000Z");
    let user = |n: u32, content: Value| {
        json!({"type": "user", "sessionId": id, "uuid": format!("{id}-{n}"), "timestamp": at(n),
            "message": {"role": "user", "content": content}})
    };
    let called = |n: u32, command: &str| {
        let call =
            json!({"type": "tool_use", "id": format!("call-{n}"), "name": "Bash", "input": {"command": command}});
        json!({"type": "assistant", "sessionId": id, "uuid": format!("{id}-{n}"), "timestamp": at(n),
            "message": {"role": "assistant", "content": [call]}})
    };
    let result = |n: u32, of: u32, text: &str, is_error: bool| {
        let result =
            json!({"type": "tool_result", "tool_use_id": format!("call-{of}"), "content": text, "is_error": is_error});
        user(n, json!([result]))
    };
    let lines = [
        user(1, json!(format!("Run the reports of {id} and fix what fails"))),
        called(2, "python report.py"),
        result(3, 2, "Traceback (most recent call last):\nModuleNotFoundError: No module named 'yaml'", true),
        called(4, "pip install pyyaml"),
        result(5, 4, "Successfully installed pyyaml", false),
        called(6, "python report.py"),
        result(7, 6, "42 reports", false),
    ];
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn sessions_that_recovered_the_same_way_propose_it_with_no_tool_of_ours_called() {
    let place = place();
    for id in ["monday", "friday"] {
        let file = place.write(&format!("project/{id}.jsonl"), &session(id));
        let learned = place.run(&["--json", "learn", file.to_str().unwrap()]).ok().json();
        assert_eq!(learned["files"][0]["episodes"], 1, "{learned}");
    }
    let failures = place.run(&["--json", "episode", "failures", "ModuleNotFoundError"]).ok().json();
    assert!(failures.to_string().contains("pip install"), "{failures}");
    let proposed = changes(&run(&place, &["--apply"]), "proposed");
    let categories: Vec<Value> = proposed
        .iter()
        .map(|id| place.run(&["--json", "pattern", "get", id]).ok().json())
        .map(|pattern| pattern["category"].clone())
        .collect();
    assert!(categories.contains(&json!("recovery")), "{categories:?}");
}
