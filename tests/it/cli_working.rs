//! Working memory: an agent keeps a task in it, is cut off, and goes on in a new process.

use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::support::Place;

fn with_working() -> Place {
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", "mcp.toolsets = ['working']\nllm.provider = 'none'\n");
    place
}

fn open(process: &mut McpProcess) -> Value {
    let plan = json!([{"id": "profile", "title": "Find the slow part"}, {"id": "mend", "title": "Mend it", "depends_on": ["profile"]}]);
    let task =
        json!({"description": "Make the importer faster", "success_criteria": ["make bench says so"], "plan": plan});
    process.call("working_open", json!({"task": task, "system": "It runs cargo."}))
}

#[test]
fn an_agent_that_was_killed_goes_on_where_it_was_in_a_new_process() {
    let place = with_working();
    let mut process = McpProcess::initialized(&place, &[]);
    let opened = open(&mut process);
    let task = &opened["task_id"];
    let updated = process.call("working_update",
        json!({
            "task_id": task,
            "set": [{"key": "files", "value": ["src/import.rs"], "kind": "accumulator"}],
            "results": [{"subtask": "profile", "output": format!("HEAD {} TAIL", "parse() takes all the time ".repeat(2_000))}],
            "state": {"phase": "execution", "current": "mend", "completed": ["profile"]},
            "note": "only parse() matters",
            "snapshot": true,
        }),
    );
    assert_eq!(updated["added"], json!(["value:1", "result:2", "state:3"]), "{updated}");
    assert_eq!(updated["snapshots"], json!([1]));
    process.kill();

    let mut process = McpProcess::initialized(&place, &[]);
    let resumed = process.call("working_open", json!({}));
    assert_eq!(&resumed["task_id"], task, "{resumed}");
    let rendered = resumed["rendered"].as_str().unwrap();
    for part in [
        "Make the importer faster",
        "make bench says so",
        "in work: mend",
        "only parse() matters",
        "src/import.rs",
        "HEAD",
        "TAIL",
    ] {
        assert!(rendered.contains(part), "{part}: {rendered}");
    }
    assert!(resumed["tokens"].as_u64().unwrap() < 5_000, "{resumed}");
    let read = process.call("working_context", json!({"task_id": task, "get": ["result:2"]}));
    let whole = read["entries"][0]["text"].as_str().unwrap();
    assert!(whole.starts_with("HEAD parse()") && whole.ends_with("TAIL") && whole.len() > 50_000, "{}", whole.len());
    let wrong = process.call_failing("working_context", json!({"task_id": task, "get": ["result"]}));
    assert_eq!(wrong["code"], "invalid_argument", "{wrong}");

    // Somebody on a terminal has to wait for the process that has the task.
    assert_eq!(place.document(&["working", "list"])["tasks"], json!([]));
    let closed = process.call("working_close", json!({"task_id": task}));
    assert_eq!((&closed["results"], &closed["completed"]), (&json!(1), &json!(["profile"])), "{closed}");
    let gone = process.call_failing("working_context", json!({"task_id": task}));
    assert_eq!(gone["code"], "not_found", "{gone}");
}

#[test]
fn a_person_sees_the_open_tasks_and_ends_one() {
    let place = with_working();
    let mut process = McpProcess::initialized(&place, &[]);
    let task = open(&mut process)["task_id"].as_str().unwrap().to_owned();
    process.kill();
    let listed = place.document(&["working", "list"]);
    assert_eq!(listed["tasks"][0]["task_id"], *task, "{listed}");
    assert_eq!(listed["tasks"][0]["description"], "Make the importer faster");
    let shown = place.run(&["working", "resume"]).ok().stdout;
    assert!(shown.contains("- step mend: Mend it (needs profile)"), "{shown}");
    place.run(&["working", "clear", &task]).exits(2);
    assert!(place.run(&["working", "clear", &task, "--yes"]).ok().stdout.contains("is ended"));
    assert_eq!(place.document(&["working", "list"])["tasks"], json!([]));
    assert!(place.run(&["working", "show"]).exits(1).stderr.contains("there is no open task in this workspace"));
}

#[test]
fn a_workspace_that_is_deleted_takes_its_tasks_with_it() {
    let place = with_working();
    let mut process = McpProcess::initialized(&place, &[]);
    let task = open(&mut process)["task_id"].clone();
    let workspaces = place.document(&["workspace", "list"]);
    let id = workspaces["workspaces"][0]["id"].as_str().unwrap().to_owned();
    place.run(&["workspace", "delete", &id, "--yes"]).ok();
    let gone = process.call_failing("working_update", json!({"task_id": task, "note": "still here?"}));
    assert_eq!(gone["code"], "not_found", "{gone}");
    assert!(!std::fs::exists(place.path("data/working").join(&id)).unwrap());
}
