//! Tests of memories by hand, through the real binary on a real store.

use reasoning_bank::embed::LocalEmbedder;
use reasoning_bank_actors::ports::{Embedder, StoreReads};
use reasoning_bank_store::{LanceStore, Options};
use serde_json::{Value, json};

use crate::store_fixtures::soon;
use crate::support::{Place, Ran};

const RETRIES: &[&str] = &[
    "memory",
    "record",
    "--title",
    "Bound retries",
    "--description",
    "When calling a flaky service",
    "--content",
    "Retry at most three times, with backoff and jitter.",
    "--tag",
    "network",
    "--domain",
    "networking",
];

fn with<'a>(arguments: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [arguments, more].concat()
}

fn recorded(place: &Place, arguments: &[&str]) -> Value {
    place.run(&with(arguments, &["--json"])).ok().json()
}

#[test]
fn a_recorded_lesson_is_found_by_meaning_shown_and_exported() {
    let place = Place::new();
    let new = recorded(&place, RETRIES);
    assert_eq!(new["status"], "created");
    let id = new["id"].as_str().unwrap();

    let found = place.run(&["--json", "memory", "search", "the server answers 503 now and then"]).ok().json();
    assert_eq!(found["memories"][0]["id"], id);
    assert_eq!(found["mode"], "hybrid", "{found}");
    let text = place.run(&["memory", "search", "flaky service", "--explain"]).ok().stdout;
    assert!(text.contains("Bound retries") && text.contains(id) && text.contains("confidence_factor"), "{text}");

    let shown = place.run(&["memory", "get", id, "--json"]).ok().json();
    assert_eq!(shown["domain_category"], "networking");
    assert_eq!(shown["trust"], "user");
    assert!(place.run(&["memory", "get", id]).ok().stdout.contains("Retry at most three times"));

    let lines = place.run(&["memory", "export", "--vectors"]).ok().stdout;
    let line: Value = serde_json::from_str(lines.trim()).unwrap();
    assert_eq!((line["kind"].as_str(), line["id"].as_str()), (Some("memory"), Some(id)));
    assert_eq!(line["passages"][0]["vector"].as_array().unwrap().len(), 384);
    assert!(line["embedder"].as_str().unwrap().contains("/384/"));
}

#[test]
fn the_same_lesson_again_is_confirmed() {
    let place = Place::new();
    let first = recorded(&place, RETRIES);
    let again = recorded(&place, RETRIES);
    assert_eq!(again["status"], "reinforced");
    assert_eq!(again["duplicate_of"], first["id"]);
    assert!(again["confidence"].as_f64() > first["confidence"].as_f64());
}

#[test]
fn a_lesson_comes_from_a_file_or_from_stdin() {
    let place = Place::new();
    let warning = json!({
        "title": "Do not retry at once", "description": "When a service is down", "content": "It stays down.",
        "error_context": {"error_type": "RetryStorm", "failure_pattern": "no pause", "corrective_guidance": "back off"},
    });
    let file = place.write("project/lesson.json", &warning.to_string());
    assert_eq!(recorded(&place, &["memory", "record", "--file", file.to_str().unwrap()])["status"], "created");
    let again = place.run_with_stdin(&["--json", "memory", "record", "--file", "-"], &warning.to_string());
    assert_eq!(again.ok().json()["status"], "reinforced");

    let errors = place.run(&["--json", "memory", "search", "service", "--errors-only"]).ok().json();
    assert_eq!(errors["memories"][0]["warning"], true);
    assert_eq!(errors["memories"][0]["error_context"]["error_type"], "RetryStorm");
}

#[test]
fn workspaces_do_not_see_each_other_and_subdirectories_are_one_with_their_repository() {
    let place = Place::new();
    let other = place.path("other");
    for part in ["project/.git/objects", "project/.git/refs", "project/src", "other"] {
        std::fs::create_dir_all(place.path(part)).unwrap();
    }
    place.write("project/.git/HEAD", "ref: refs/heads/main\n");
    recorded(&place, RETRIES);
    let count = |ran: Ran| ran.ok().json()["memories"].as_array().unwrap().len();
    let search = ["--json", "memory", "search", "service"];
    assert_eq!(count(Ran::of(place.command(&search).current_dir(place.path("project/src")).output().unwrap())), 1);
    assert_eq!(count(place.run(&with(&search, &["--workspace", other.to_str().unwrap()]))), 0);
    assert_eq!(place.run(&["memory", "export", "--workspace", other.to_str().unwrap()]).ok().stdout, "");
    assert_eq!(place.run(&["memory", "export", "--all"]).ok().stdout.lines().count(), 1);
}

#[test]
fn a_search_is_narrowed_and_explained_by_all_that_was_considered() {
    let place = Place::new();
    let id = recorded(&place, RETRIES)["id"].as_str().unwrap().to_owned();
    let lesson = ["memory", "record", "--description", "When calling a service", "--outcome", "mixed"];
    let other = recorded(&place, &with(&lesson, &["--title", "Call once", "--content", "Never retry a payment."]));
    let other = other["id"].as_str().unwrap();
    let search = |more: &[&str]| {
        let found = place.run(&with(&["--json", "memory", "search", "calling a service"], more)).ok().json();
        let found = found["memories"].as_array().unwrap().iter();
        found.map(|found| found["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(search(&["--since", "1d", "--until", "2999-12-31"]).len(), 2);
    for nothing in [&["--until", "1h"][..], &["--since", "2999-01-01"], &["--errors-only"], &["--min-confidence", "1"]]
    {
        assert!(search(nothing).is_empty(), "{nothing:?}");
    }
    assert_eq!(search(&["--outcome", "mixed"]), [other]);
    for own in [&["--domain-filter", "Networking"][..], &["--tag", "network", "--source", "explicit", "--no-errors"]] {
        assert_eq!(search(own), std::slice::from_ref(&id), "{own:?}");
    }

    let listed = |more: &[&str]| place.run(&with(&["--json", "memory", "list"], more)).ok().json();
    assert_eq!(listed(&["--since", "1d", "--outcome", "mixed"])["memories"][0]["id"], other);
    assert_eq!(listed(&["--until", "1d"])["memories"], json!([]));

    let explain = ["memory", "search", "calling a flaky service", "--explain", "--n", "1"];
    let document = place.run(&with(&explain, &["--json"])).ok().json();
    assert_eq!(document["memories"].as_array().unwrap().len(), 1);
    let [first, second] = document["candidates"].as_array().unwrap().as_slice() else { panic!("{document}") };
    assert_eq!((&first["id"], &first["rank"], &first["why"]), (&json!(id), &json!(1), &document["memories"][0]["why"]));
    assert_eq!((&second["id"], &second["cut"]), (&json!(other), &json!({"rule": "beyond_n", "n": 1})));
    let text = place.run(&explain).ok().stdout;
    assert!(text.contains("2 candidates by score") && text.contains("Call once  (beyond the first 1)"), "{text}");

    let refused = place.run(&["--json", "memory", "search", "q", "--since", "yesterday"]).exits(2);
    assert_eq!(refused.json()["error"]["code"], "invalid_argument");
    assert!(refused.stderr.contains("since") && refused.stderr.contains("7d"), "{}", refused.stderr);
}

#[test]
fn bad_input_is_told_clearly_and_stores_nothing() {
    let place = Place::new();
    let refused = place.run(&["memory", "record", "--title", " ", "--content", "c"]).exits(2);
    assert!(refused.stderr.starts_with("error: ") && refused.stderr.contains("hint: "), "{}", refused.stderr);
    assert!(refused.stderr.contains("title") && refused.stderr.contains("description"), "{}", refused.stderr);

    let code = |ran: &Ran| ran.json()["error"]["code"].as_str().unwrap().to_owned();
    let blank = place.run(&["--json", "memory", "search", "  "]).exits(2);
    assert_eq!(code(&blank), "invalid_argument");
    for n in ["0", "10000", "many"] {
        let refused = place.run(&["--json", "memory", "search", "q", "--n", n]).exits(2);
        assert_eq!(code(&refused), "invalid_argument");
    }
    let unknown = place.run(&["--json", "memory", "get", "00000000-0000-7000-8000-000000000000"]).exits(1);
    assert_eq!(code(&unknown), "not_found");
    let no_workspace = place.run(&["--json", "memory", "search", "q", "--workspace", "0123456789abcdef"]).exits(2);
    assert_eq!(code(&no_workspace), "workspace_unknown");
    let no_json = place.run_with_stdin(&["--json", "memory", "record", "--file", "-"], "{").exits(2);
    assert_eq!(code(&no_json), "invalid_argument");
    let array = place.run_with_stdin(&["--json", "memory", "record", "--file", "-"], r#"["t", "d", "c"]"#).exits(2);
    let told = array.json()["error"].to_string();
    assert!(told.contains("one JSON object") && told.contains("hint"), "{told}");
    let no_workspace = place.run(&["--json", "memory", "export", "--workspace", "0123456789abcdef"]).exits(2);
    assert_eq!(code(&no_workspace), "workspace_unknown");
    assert_eq!(place.run(&["memory", "export", "--all"]).ok().stdout, "");
    assert_eq!(place.run(&["memory", "export", "--json"]).ok().stdout, "[]\n");
}

#[test]
fn a_data_directory_that_cannot_be_used_is_told_with_a_hint() {
    let place = Place::new();
    place.write("data", "a file where the directory should be");
    let refused = place.run(&["--json", "memory", "search", "q"]).exits(1);
    assert_eq!(refused.json()["error"]["code"], "store_unavailable");
    assert!(refused.stderr.contains("hint: check that the data directory exists"), "{}", refused.stderr);
    let below = place.path("data/below");
    for scope in [&[][..], &["--all"]] {
        let arguments = ["--json", "--data-dir", below.to_str().unwrap(), "memory", "export"];
        let refused = place.run(&with(&arguments, scope)).exits(1);
        assert_eq!(refused.json()["error"]["code"], "store_unavailable");
    }
}

#[test]
fn a_home_directory_as_workspace_is_warned_of() {
    let place = Place::new();
    let search = |more: &[&str]| {
        let mut command = place.command(&with(&["memory", "search", "q"], more));
        Ran::of(command.current_dir(place.path("home")).output().unwrap()).ok()
    };
    assert!(search(&[]).stderr.starts_with("warning: the workspace is your home directory"));
    assert_eq!(search(&["-q"]).stderr, "");
}

#[test]
fn memories_need_no_key_and_no_model() {
    let place = Place::new();
    for provider in ["none", "openrouter", "simulated"] {
        place.run(&["--llm", provider, "memory", "search", "q"]).ok();
    }
}

#[tokio::test]
async fn a_workspace_is_registered_under_the_name_that_its_file_gives_it() {
    let place = Place::new();
    place.write("project/.reasoning-bank.toml", "workspace.name = 'shop'\n");
    recorded(&place, RETRIES);
    let embedder = LocalEmbedder::builtin();
    let store = LanceStore::open(&place.path("data"), embedder.fingerprint(), Options::default()).await.unwrap();
    let stored = store.workspaces(soon()).await.unwrap();
    assert_eq!(stored.iter().map(|workspace| workspace.name.as_str()).collect::<Vec<_>>(), ["shop"]);
}

#[test]
fn contacts_are_taken_out_where_the_user_wants_that() {
    let place = Place::new();
    let content = "Ask jane.doe@example.com or +49 30 901820 before a release.";
    let lesson = ["memory", "record", "--description", "Before a release.", "--content", content, "--title"];
    let stored = |id: &str| place.run(&["--json", "memory", "get", id]).ok().json()["content"].clone();
    let kept = recorded(&place, &with(&lesson, &["Ask first"]));
    assert_eq!((&kept["redactions"], stored(kept["id"].as_str().unwrap())), (&json!(0), json!(content)));

    place.write("config/reasoning-bank/config.toml", "redaction.contacts = true\n");
    let id = kept["id"].as_str().unwrap();
    assert_eq!(stored(id), "Ask [REDACTED:email] or [REDACTED:phone] before a release.", "on the way out");
    let clean = recorded(&place, &with(&lesson, &["Never release alone"]));
    assert_eq!(clean["redactions"], 2);
    place.write("config/reasoning-bank/config.toml", "");
    assert_eq!(stored(clean["id"].as_str().unwrap()), "Ask [REDACTED:email] or [REDACTED:phone] before a release.");
}
