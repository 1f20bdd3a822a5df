//! Tests of working memory: an agent keeps a task in it, is cut off, and goes on in a new process.

use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::support::Place;

fn with_working() -> Place {
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", "mcp.toolsets = ['core', 'working']\nllm.provider = 'none'\n");
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
    let task = open(&mut process)["task_id"].clone();
    it_works_on_the_task(&mut process, &task);
    process.kill();

    let mut process = McpProcess::initialized(&place, &[]);
    the_task_is_shown_as_it_was(&mut process, &task);
    let whole = a_long_result_is_read_whole(&mut process, &task);
    a_terminal_shows_what_another_process_has_open(&place, &task);
    it_is_closed_once_however_often_it_is_closed(&mut process, &task);
    its_references_still_lead_to_the_same_texts(&mut process, &task, &whole);
    nothing_is_left_of_its_log(&place, &mut process, &task);
    its_episode_says_what_was_done(&place, &task);
    the_next_task_is_told_what_this_one_was(&mut process, &task);
}

/// Somebody on a terminal sees the task, and has to wait for the process that has it before it can be ended.
fn a_terminal_shows_what_another_process_has_open(place: &Place, task: &Value) {
    let task = task.as_str().unwrap();
    let listed = place.document(&["working", "list"]);
    assert_eq!((&listed["tasks"][0]["task_id"], &listed["tasks"][0]["open_elsewhere"]), (&json!(task), &json!(true)));
    assert!(place.run(&["working", "list"]).ok().stdout.contains("(open in another process)"));
    assert!(place.run(&["working", "show", task]).ok().stdout.contains("only parse() matters"));
    let refused = place.run(&["working", "clear", task, "--yes"]).exits(1).stderr;
    assert!(refused.contains(&format!("another process has the task {task} open")), "{refused}");
    assert!(refused.contains("end the server of that session"), "{refused}");
}

fn it_works_on_the_task(process: &mut McpProcess, task: &Value) {
    let output = format!("HEAD {} TAIL", "parse() takes all the time ".repeat(2_000));
    let updated = process.call(
        "working_update",
        json!({
            "task_id": task,
            "set": [{"key": "files", "value": ["src/import.rs"], "kind": "accumulator"}],
            "results": [{"subtask": "profile", "output": output}],
            "state": {"phase": "execution", "current": "mend", "completed": ["profile"]},
            "note": "only parse() matters",
            "snapshot": true,
        }),
    );
    assert_eq!(updated["added"], json!(["value:1", "result:2", "state:3"]), "{updated}");
    assert_eq!(updated["snapshots"], json!([1]));
    let shown = process.call("working_context", json!({"task_id": task}))["tokens"].as_u64().unwrap();
    assert!((shown..shown + 64).contains(&updated["tokens"].as_u64().unwrap()), "{shown}: {updated}");
}

fn the_task_is_shown_as_it_was(process: &mut McpProcess, task: &Value) {
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
}

/// Returns the result.
fn a_long_result_is_read_whole(process: &mut McpProcess, task: &Value) -> String {
    let read = process.call("working_context", json!({"task_id": task, "get": ["result:2"]}));
    let whole = read["entries"][0]["text"].as_str().unwrap();
    assert!(whole.starts_with("HEAD parse()") && whole.ends_with("TAIL") && whole.len() > 50_000, "{}", whole.len());
    let wrong = process.call_failing("working_context", json!({"task_id": task, "get": ["result"]}));
    assert_eq!(wrong["code"], "invalid_argument", "{wrong}");
    whole.to_owned()
}

fn it_is_closed_once_however_often_it_is_closed(process: &mut McpProcess, task: &Value) {
    let closed = process.call(
        "working_close",
        json!({"task_id": task, "status": "SUCCESS", "output": "ten times faster", "insights": ["Profile first"]}),
    );
    assert_eq!((&closed["results"], &closed["completed"]), (&json!(1), &json!(["profile"])), "{closed}");
    assert_eq!((&closed["episode_id"], &closed["status"]), (task, &json!("SUCCESS")), "{closed}");
    for again in [json!({"task_id": task}), json!({"task_id": task, "status": "SUCCESS"})] {
        assert_eq!(process.call("working_close", again), closed);
    }
    let refused = process.call_failing("working_close", json!({"task_id": task, "status": "FAILURE"}));
    assert_eq!(refused["code"], "invalid_argument", "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("closed before as SUCCESS"), "{refused}");
}

fn its_references_still_lead_to_the_same_texts(process: &mut McpProcess, task: &Value, whole: &str) {
    let kept = process.call("working_context", json!({"task_id": task, "get": ["[result:2]", "value:1"]}));
    assert_eq!((&kept["episode_id"], kept["entries"][0]["text"].as_str()), (task, Some(whole)), "{kept}");
    assert_eq!(kept["entries"][1]["text"], "[\"src/import.rs\"]");
    let wrong = process.call_failing("working_context", json!({"task_id": task, "get": ["result:9"]}));
    assert_eq!(wrong["code"], "not_found", "{wrong}");
}

fn nothing_is_left_of_its_log(place: &Place, process: &mut McpProcess, task: &Value) {
    let gone = process.call_failing("working_update", json!({"task_id": task, "note": "more"}));
    assert_eq!(gone["code"], "not_found", "{gone}");
    let workspaces = std::fs::read_dir(place.path("data/working")).unwrap();
    assert_eq!(workspaces.flat_map(|of| of.unwrap().path().read_dir().unwrap()).count(), 0);
}

fn its_episode_says_what_was_done(place: &Place, task: &Value) {
    let episode = place.document(&["episode", "get", task.as_str().unwrap()]);
    let (source, status) = (&episode["source"], &episode["outcome"]["status"]);
    assert_eq!((source, status), (&json!("reported"), &json!("SUCCESS")), "{episode}");
    assert_eq!(episode["execution"]["plan"][1]["depends_on"], json!(["profile"]));
    assert_eq!(episode["reflection"]["insights"], json!(["Profile first"]));
    assert_eq!(episode["execution"]["trace"][1]["succeeded"], true);
}

fn the_next_task_is_told_what_this_one_was(process: &mut McpProcess, task: &Value) {
    let next = process.call("working_open", json!({"task": {"description": "Make the exporter faster"}}));
    let found = process.call("working_context", json!({"task_id": next["task_id"], "retrieve": true}));
    assert_eq!(found["added"], json!(["retrieved:1"]), "{found}");
    let rendered = found["rendered"].as_str().unwrap();
    let named = format!("episode {}", task.as_str().unwrap());
    assert!(rendered.contains(&named) && rendered.contains("Profile first"), "{rendered}");
    let again = process.call("working_context", json!({"task_id": next["task_id"], "query": "the slow importer"}));
    assert_eq!(again.get("added"), None, "what is there is not added again: {again}");
    process.call(
        "record_memory",
        json!({
            "title": "Profile before you change",
            "description": "When something is slow.",
            "content": "Measure, then change one thing.",
        }),
    );
    let query = "something is slow, profile before a change";
    let found = process.call("working_context", json!({"task_id": next["task_id"], "query": query}));
    assert!(found["rendered"].as_str().unwrap().contains("Measure, then change one thing."), "{found}");
}

#[test]
fn an_update_with_a_wrong_part_stores_none_of_its_parts() {
    let place = with_working();
    let mut process = McpProcess::initialized(&place, &[]);
    let task = open(&mut process)["task_id"].clone();
    let good = json!({"key": "branch", "value": "main"});
    for (wrong, message) in [
        (json!({"key": " ", "value": 1}), "set[1].key: is missing or blank"),
        (json!({"key": "b"}), "set[1].value: is required: any JSON but null"),
    ] {
        let refused = process.call_failing("working_update", json!({"task_id": task, "set": [good, wrong]}));
        assert_eq!((&refused["code"], &refused["message"]), (&json!("invalid_argument"), &json!(message)), "{refused}");
    }
    let shown = process.call("working_context", json!({"task_id": task}));
    assert!(!shown["rendered"].as_str().unwrap().contains("branch"), "{shown}");
    let updated = process.call("working_update", json!({"task_id": task, "set": [good]}));
    assert_eq!(updated["added"], json!(["value:1"]), "{updated}");
}

#[test]
fn null_inside_of_a_value_or_a_result_is_kept() {
    let place = with_working();
    let mut process = McpProcess::initialized(&place, &[]);
    let task = open(&mut process)["task_id"].clone();
    let set = json!([{"key": "proxy", "value": {"proxy": null, "retries": 0}}]);
    let results = json!([{"subtask": "profile", "output": [1, null, {"a": null}]}]);
    process.call("working_update", json!({"task_id": task, "note": null, "set": set, "results": results}));
    let read = process.call("working_context", json!({"task_id": task, "get": ["value:1", "result:2"]}));
    let texts = [&read["entries"][0]["text"], &read["entries"][1]["text"]];
    assert_eq!(texts, [r#"{"proxy":null,"retries":0}"#, r#"[1,null,{"a":null}]"#], "{read}");
}

#[test]
fn a_plan_that_cannot_be_worked_off_begins_no_task() {
    let place = with_working();
    let mut process = McpProcess::initialized(&place, &[]);
    let plan = json!([{"id": "a", "title": "Do a", "depends_on": ["x"]}]);
    let refused = process.call_failing("working_open", json!({"task": {"description": "Ship it", "plan": plan}}));
    let message =
        r#"task.plan[0].depends_on[0]: "x" is no step of the plan; name one of "a", or add the step to task.plan"#;
    assert_eq!((&refused["code"], &refused["message"]), (&json!("invalid_argument"), &json!(message)), "{refused}");
    process.call_failing("working_open", json!({"task": {"description": " "}}));
    assert_eq!(process.call_failing("working_open", json!({}))["code"], "not_found", "no task was begun");
    let task = open(&mut process)["task_id"].clone();
    let refused = process.call_failing("working_update", json!({"task_id": task, "state": {"completed": ["x"]}}));
    let message = refused["message"].as_str().unwrap();
    assert!(message.starts_with(r#"state.completed[0]: "x" is no step of the plan"#), "{message}");
}

#[test]
fn a_close_that_is_killed_at_any_time_leaves_one_whole_episode() {
    let place = with_working();
    for round in 0..12_u64 {
        let mut process = McpProcess::initialized(&place, &[]);
        let task = open(&mut process)["task_id"].clone();
        let output = format!("what round {round} found");
        process.call("working_update", json!({"task_id": task, "results": [{"subtask": "profile", "output": output}]}));
        let arguments = json!({"task_id": task, "status": "FAILURE"});
        process.send(
            &json!({"id": 99, "method": "tools/call", "params": {"name": "working_close", "arguments": arguments}}),
        );
        std::thread::sleep(std::time::Duration::from_millis(round * 3));
        process.kill();

        let mut next = McpProcess::initialized(&place, &[]);
        // Whoever looks at the open tasks ends one that was being closed. One that was not is open as it was.
        place.document(&["working", "list"]);
        let closed = next.call("working_close", json!({"task_id": task, "status": "FAILURE"}));
        assert_eq!((&closed["episode_id"], &closed["status"]), (&task, &json!("FAILURE")), "{closed}");
        let kept = next.call("working_context", json!({"task_id": task, "get": ["result:1"]}));
        assert_eq!(kept["entries"][0]["text"], output, "round {round}: {kept}");
        let listed = place.document(&["episode", "list", "--limit", "100"]);
        assert_eq!(listed["episodes"].as_array().map(Vec::len), Some(round as usize + 1), "{listed}");
        assert_eq!(place.document(&["working", "list"])["tasks"], json!([]));
    }
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
    let cleared = place.document(&["working", "clear", &task, "--yes", "--insight", "It was the disk"]);
    assert_eq!((&cleared["episode_id"], &cleared["status"]), (&json!(task), &json!("PARTIAL")), "{cleared}");
    let shown = place.run(&["episode", "get", &task]).ok().stdout;
    assert!(shown.contains("It was the disk") && shown.contains("Mend it"), "{shown}");
    assert_eq!(place.document(&["working", "list"])["tasks"], json!([]));
    assert!(place.run(&["working", "show"]).exits(1).stderr.contains("there is no open task in this workspace"));
}

#[test]
fn nothing_is_retrieved_that_is_not_about_the_task() {
    let place = with_working();
    let mut process = McpProcess::initialized(&place, &[]);
    for task in ["Repair the lift controller", "Repair the door of the lift"] {
        place.run(&["episode", "record", "--task", task, "--status", "success"]).ok();
    }
    let lesson = json!({
        "title": "Lift controllers",
        "description": "When a lift does not stop.",
        "content": "Reset the controller of the lift before its motor.",
    });
    process.call("record_memory", lesson);
    let task = process.call("working_open", json!({"task": {"description": "Bake a cake"}}))["task_id"].clone();
    let query = "baking chocolate cake sponge";
    let found = process.call("working_context", json!({"task_id": task, "retrieve": true, "query": query}));
    assert_eq!(found.get("added"), None, "{found}");
    let nothing = "no earlier task and no lesson is about this; a query in other words may find some";
    let warnings = found["warnings"].as_array().unwrap();
    assert!(warnings.contains(&json!(nothing)) && !found.to_string().contains("min_relevance"), "{found}");
    let query = "the controller of the lift is broken";
    let found = process.call("working_context", json!({"task_id": task, "query": query}));
    assert!(found["rendered"].as_str().unwrap().contains("Repair the lift controller"), "{found}");
}

#[test]
fn a_workspace_that_is_deleted_takes_its_tasks_with_it() {
    let place = with_working();
    let mut process = McpProcess::initialized(&place, &[]);
    let task = open(&mut process)["task_id"].clone();
    let workspaces = place.document(&["workspace", "list"]);
    let id = workspaces["workspaces"][0]["id"].as_str().unwrap().to_owned();
    place.run(&["workspace", "delete", &id, "--yes"]).ok();
    for (tool, arguments) in [
        ("working_context", json!({"task_id": task})),
        ("working_open", json!({"task_id": task})),
        ("working_update", json!({"task_id": task, "note": "still here?"})),
    ] {
        let gone = process.call_failing(tool, arguments);
        assert_eq!(gone["code"], "not_found", "{tool}: {gone}");
    }
    assert!(!std::fs::exists(place.path("data/working").join(&id)).unwrap());
}
