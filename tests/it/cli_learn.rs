//! Tests of learning from conversations and notes through the real binary: the right lessons are kept, each once.

use rstest::rstest;
use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::redacted::Redacted;
use crate::support::{Place, test_data};

fn transcript(name: &str) -> String {
    test_data(&format!("transcripts/{name}"))
}

fn learn(place: &Place, files: &[&str]) -> Value {
    place.run(&[&["--llm", "none", "--json", "learn"][..], files].concat()).ok().json()
}

/// Returns what the bank holds, as it is exported: nothing of it may change.
fn held(place: &Place) -> String {
    place.run(&["memory", "export"]).ok().stdout
}

fn memories(place: &Place) -> Vec<Value> {
    let exported = held(place);
    let lines = exported.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["kind"] == "memory").collect()
}

#[rstest]
#[case("messages.jsonl", "messages", "model", Value::Null)]
#[case("claude_code.jsonl", "claude_code", "model", json!("7c1f9a52-30a8-4d0e-9b1e-2f6f0b7f5a11"))]
#[case("codex.jsonl", "codex", "model", json!("019bfe10-aaaa-7000-8000-000000000001"))]
#[case("codex_old.jsonl", "codex", "model", json!("0198e5c2-bbbb-7000-8000-000000000002"))]
#[case("chat.md", "chat", "model", Value::Null)]
#[case("notes.md", "notes", "tool", Value::Null)]
fn each_format_is_learned_once(#[case] name: &str, #[case] format: &str, #[case] trust: &str, #[case] session: Value) {
    let place = Place::new();
    let file = transcript(name);
    let first = learn(&place, &[&file]);
    assert_eq!((&first["files"][0]["format"], &first["total"]["kept"]), (&json!(format), &json!(1)), "{first}");
    let memories = memories(&place);
    let [memory] = memories.as_slice() else { panic!("{memories:?}") };
    assert_eq!((&memory["source_type"], &memory["trust"]), (&json!("passive_learning"), &json!(trust)));
    assert_eq!((&memory["source_session"], &memory["scope"]), (&session, &json!("project")));
    let before = held(&place);
    let again = learn(&place, &[&file]);
    assert_eq!((&again["total"]["kept"], &again["total"]["known"]), (&json!(0), &json!(1)), "{again}");
    assert_eq!(held(&place), before, "no memory, no signal, nothing changed");
}

#[test]
fn what_became_of_every_file_is_told_and_a_bad_one_stops_no_other() {
    let place = Place::new();
    place.write("project/empty.md", "");
    place.write("project/plain.txt", "neither a transcript nor notes\n");
    let token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    let note = format!(
        "# Deploying the shop by hand\n\nRun `deploy --token {token}`, because the pipeline has no access \
                        to the old cluster. Never do it while a migration runs.\n"
    );
    place.write("project/notes.md", &note);
    std::fs::copy(transcript("messages.jsonl"), place.path("project/messages.jsonl")).unwrap();
    let files = ["empty.md", "plain.txt", "missing.md", "messages.jsonl", "notes.md"];
    let ran = place.run(&[&["learn"][..], &files].concat()).exits(1);
    insta::assert_snapshot!("learn_several_files", ran.stdout);
    assert_eq!(memories(&place).len(), 2);
    assert!(!held(&place).contains(token));
    let document = place.run(&[&["--json", "learn"][..], &files].concat()).exits(1).json();
    insta::assert_json_snapshot!("learn_several_files_again", document);
}

#[test]
fn stdin_is_a_file() {
    let place = Place::new();
    let text = std::fs::read_to_string(transcript("chat.md")).unwrap();
    let ran = place.run_with_stdin(&["--json", "learn", "-"], &text).ok();
    assert_eq!(ran.json()["total"]["kept"], 1);
    let found =
        place.run(&["--json", "memory", "search", "remove a temporary directory in a shell script"]).ok().json();
    assert!(found["memories"][0]["content"].as_str().unwrap().contains("trap 'rm -rf"), "{found}");
}

#[test]
fn what_one_process_learns_another_that_serves_finds() {
    let place = Place::new();
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    process
        .call("record_memory", json!({"title": "Close files", "description": "When renaming.", "content": "First."}));
    learn(&place, &[&transcript("codex.jsonl"), &transcript("claude_code.jsonl")]);
    let found = process.call("retrieve_memories", json!({"query": "cargo test hangs in CI", "n_results": 2}));
    assert!(found["memories"][0]["title"].as_str().unwrap().contains("test hangs forever in CI"), "{found}");
}

#[test]
fn an_exchange_is_captured_over_mcp_once() {
    let place = Place::new();
    let root = place.path("");
    let mut redacted = Redacted::new(&root);
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    let exchange = json!({
        "question": "How do I see which process holds a port on Linux?",
        "answer": "Run `ss -ltnp`, because it shows the process of every listening socket. Without root you only see \
                   your own processes, so use `sudo` where the column is empty.",
    });
    let first = process.call("capture_exchange", exchange.clone());
    assert_eq!(first["captured"], true, "{first}");
    let again = process.call("capture_exchange", exchange);
    assert_eq!((&again["captured"], &again["ids"]), (&json!(false), &first["ids"]));
    let thanks = json!({"question": "Thanks a lot for your help!", "answer": "You're very welcome! ".repeat(9)});
    let refused = process.call("capture_exchange", thanks);
    insta::assert_json_snapshot!("mcp_capture_exchange", redacted.document(&json!([first, again, refused])));
    let invalid = process.call_failing("capture_exchange", json!({"question": "", "answer": "x"}));
    assert_eq!(invalid["code"], "invalid_argument");
}

#[test]
fn switched_off_the_tool_is_listed_only_where_it_is_asked_for_and_keeps_nothing() {
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", "[mcp]\ntoolsets = ['learning']\n[passive]\nenabled = false\n");
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    let exchange = json!({"question": "How do I see which process holds a port?", "answer": "Run `ss`. ".repeat(30)});
    let refused = process.call("capture_exchange", exchange);
    assert_eq!((&refused["captured"], &refused["ids"]), (&json!(false), &json!([])));
    assert!(refused["reason"].as_str().unwrap().contains("passive.enabled"), "{refused}");
}

#[test]
fn what_a_file_taught_before_it_was_corrected_is_superseded_by_what_puts_it_right() {
    let place = Place::new();
    let asked = "## User\n\nHow do I make the feed importer skip duplicate rows?\n\n## Assistant\n\nAdd ON CONFLICT DO \
                 NOTHING to the insert, because Postgres then skips rows whose key exists already. First add a unique \
                 index on the key, then change the statement.\n";
    place.write("project/chat.md", asked);
    assert_eq!(learn(&place, &["chat.md"])["total"]["kept"], 1);
    let wrong = memories(&place)[0]["id"].as_str().unwrap().to_owned();
    let corrected = format!(
        "{asked}\n## User\n\nThanks, but that did not work.\n\n## Assistant\n\nMake the index on (tenant_id, key) and \
         name it in ON CONFLICT (tenant_id, key), because Postgres only uses a conflict target that matches an index \
         exactly.\n"
    );
    place.write("project/chat.md", &corrected);
    learn(&place, &["chat.md"]);
    let of = |id: &str| memories(&place).into_iter().find(|memory| memory["id"] == id).unwrap();
    assert_eq!(of(&wrong)["status"], "superseded");
    let right = memories(&place).into_iter().find(|memory| memory["id"] != *wrong).unwrap();
    assert!(right["content"].as_str().unwrap().contains("tenant_id"), "{right:#}");
    place.run(&["memory", "supersede", &wrong, "--undo"]).ok();
    learn(&place, &["chat.md"]);
    assert_ne!(of(&wrong)["status"], "superseded", "somebody brought it back");
}

#[test]
fn an_answer_that_the_next_message_takes_back_is_no_strategy() {
    let place = Place::new();
    let chat = "## User\n\nHow do I make the feed importer skip duplicate rows?\n\n## Assistant\n\nAdd ON CONFLICT DO NOTHING \
                to the insert, because Postgres then skips rows whose key exists already. First add a unique index on \
                the key, then change the statement.\n\n## User\n\nThanks, but that did not work.\n\n## Assistant\n\nMake \
                the index on (tenant_id, key) and name it in ON CONFLICT (tenant_id, key), because Postgres only uses \
                a conflict target that matches an index exactly.\n";
    place.write("project/corrected.md", chat);
    let report = learn(&place, &["corrected.md"]);
    assert_eq!(
        (&report["total"]["kept"], &report["total"]["refused"]["taken_back"]),
        (&json!(1), &json!(1)),
        "{report:#}"
    );
    let unanswered = "## User\n\nHow do I see which process holds a port?\n\n## Assistant\n\nRun `netstat -r`, because it \
                      shows the process of every listening socket. First become root, then look for the port.\n\n## \
                      User\n\nThat did not work.\n";
    place.write("project/unanswered.md", unanswered);
    let report = learn(&place, &["unanswered.md"]);
    assert_eq!(
        (&report["total"]["kept"], &report["total"]["refused"]["taken_back"]),
        (&json!(0), &json!(1)),
        "{report:#}"
    );
    let kept = memories(&place);
    assert_eq!(kept.len(), 1, "{kept:#?}");
    assert_eq!(kept[0]["title"], "How do I make the feed importer skip duplicate rows?");
    assert!(kept[0]["content"].as_str().unwrap().contains("tenant_id"), "{kept:#?}");
}

#[rstest]
#[case("exchanges.jsonl", 100, 0.9, 0.05)]
#[case("exchanges_heldout.jsonl", 40, 0.7, 0.15)]
#[case("exchanges_languages.jsonl", 199, 0.9, 0.1)]
#[case("exchanges_languages_heldout.jsonl", 110, 0.8, 0.1)]
fn the_rules_tell_what_is_worth_keeping(
    #[case] name: &str,
    #[case] count: u64,
    #[case] least_valuable: f64,
    #[case] most_worthless: f64,
) {
    let place = Place::new();
    let report = place.run(&["--json", "eval", "capture", "--exchanges", &test_data(name)]).ok().json();
    assert_eq!(report["exchanges"], count);
    let share = |of: &str| report[of]["kept"].as_f64().unwrap() / report[of]["of"].as_f64().unwrap();
    assert!(share("valuable") >= least_valuable, "{report:#}");
    assert!(share("worthless") <= most_worthless, "{report:#}");
    let table = place.run(&["eval", "capture", "--exchanges", &test_data(name)]).ok().stdout;
    assert!(table.contains("valuable") && table.contains("worthless"), "{table}");
}

#[test]
fn what_is_cut_of_a_question_is_told() {
    let place = Place::new();
    let asked = json!({ "role": "user", "content": "why ".repeat(6_000) });
    let answered = json!({ "role": "assistant", "content": "Because the linker is missing." });
    let file = place.write("home/long.jsonl", &format!("{asked}\n{answered}\n"));
    let cut = learn(&place, &[file.to_str().unwrap()])["files"][0]["cut_characters"].clone();
    assert_eq!(cut, json!(6_000 * 4 - 1 - 20_000));
    let told = place.run(&["--llm", "none", "learn", file.to_str().unwrap()]).ok().stdout;
    assert!(told.contains("3999 characters of questions are left out: a question has at most 20000"), "{told}");
}
