//! Tests of `doctor`, of `completions`, and of what is shown on a terminal only.

use crate::support::{Place, Ran};
use crate::terminal::on_terminal;

#[test]
fn doctor_checks_everything_in_a_line_each_and_creates_nothing() {
    let place = Place::new();
    let ran = place.run(&["--llm", "none", "doctor"]).ok();
    let names: Vec<&str> = ran.stdout.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    for name in ["configuration", "key", "store", "embedder", "disk"] {
        assert_eq!(names.iter().filter(|own| **own == name).count(), 1, "{}", ran.stdout);
    }
    assert!(ran.stdout.contains("all-MiniLM-L6-v2-int8, 384 dimensions"), "{}", ran.stdout);
    assert!(!place.path("data").exists());
    assert!(!ran.stdout.contains('\u{1b}') && ran.stderr.is_empty(), "{ran:?}");
}

#[test]
fn doctor_opens_the_bank_that_is_there() {
    let place = Place::new();
    let lesson = ["memory", "record", "--title", "t", "--description", "d", "--content", "c"];
    place.run(&lesson).ok();
    let document = place.run(&["--llm", "none", "--json", "doctor"]).ok().json();
    assert_eq!(document["checks"][2]["name"], "store");
    assert_eq!(document["checks"][2]["status"], "ok", "{document}");
    assert!(document["checks"][2]["detail"].as_str().unwrap().contains("workspaces: 1"), "{document}");

    place.write("data/format_version", "999\n");
    let document = place.run(&["--llm", "none", "--json", "doctor"]).exits(1).json();
    assert_eq!((&document["status"], &document["checks"][2]["status"]), (&"fail".into(), &"fail".into()));
    assert!(document["checks"][2]["hint"].as_str().unwrap().contains("newer version"), "{document}");
}

#[test]
fn doctor_fails_with_hints_where_key_or_configuration_are_wrong() {
    let place = Place::new();
    let ran = place.run(&["doctor"]).exits(1);
    assert!(ran.stdout.contains("fail  key") && ran.stdout.contains("OPENROUTER_API_KEY"), "{}", ran.stdout);
    assert!(ran.stdout.contains("hint: ") && ran.stdout.contains("--llm none"), "{}", ran.stdout);

    place.write("config/reasoning-bank/config.toml", "[matts]\nk = 99\n");
    let document = place.run(&["--json", "doctor"]).exits(1).json();
    assert_eq!(document["checks"][0]["status"], "fail");
    assert!(document["checks"][0]["detail"].as_str().unwrap().contains("matts.k"), "{document}");
    assert_eq!(document["checks"][4]["status"], "warn");
}

#[test]
fn doctor_names_the_embedding_model_that_is_missing_and_the_runtime_that_cannot_be_used() {
    let place = Place::new();
    let doctor = |name: &str, value: &str| {
        let mut command = place.command(&["--llm", "none", "--json", "doctor"]);
        Ran::of(command.env(name, value).output().unwrap())
    };
    let document = doctor("REASONING_BANK__EMBEDDING__MODEL_DIR", "models/mini").exits(1).json();
    let embedder = &document["checks"][3];
    assert!(embedder["detail"].as_str().unwrap().contains("models/mini has no model.onnx"), "{document}");
    assert!(embedder["hint"].as_str().unwrap().contains("embedding.model_dir"), "{document}");

    let document = doctor("ORT_DYLIB_PATH", "/nonexistent/libonnxruntime.so").ok().json();
    let embedder = &document["checks"][3];
    assert_eq!(embedder["status"], "warn", "{document}");
    let detail = embedder["detail"].as_str().unwrap();
    assert!(detail.contains("on tract") && detail.contains("/nonexistent/libonnxruntime.so"), "{document}");
}

#[test]
fn completions_are_a_script_that_its_shell_reads() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.run(&["completions", shell]).ok().stdout;
        assert!(script.contains("reasoning-bank") && script.contains("workspace"), "{shell}");
    }
    let document = place.run(&["completions", "bash", "--json"]).ok().json();
    let script = place.write("project/completions.bash", document["script"].as_str().unwrap());
    let read = std::process::Command::new("bash").arg("-n").arg(script).status().unwrap();
    assert!(read.success());
    place.run(&["completions", "tcsh"]).exits(2);
}

#[test]
fn colours_and_progress_are_for_terminals_that_want_them() {
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", "[llm]\nprovider = 'simulated'\nsimulated.latency_ms = 150\n");
    let solve = ["solve", "--no-store", "Write a sort"];
    let (code, shown) = on_terminal(place.command(&solve), "");
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("model calls") && shown.contains("\u{1b}[32msuccess"), "{shown}");

    let mut plain = place.command(&solve);
    plain.env("NO_COLOR", "1");
    let (_, shown) = on_terminal(plain, "");
    assert!(shown.contains("outcome   success") && !shown.contains("\u{1b}[3"), "{shown}");

    let mut json = place.command(&["--json", "solve", "--no-store", "Write a sort"]);
    json.env("NO_COLOR", "1");
    let (_, shown) = on_terminal(json, "");
    assert!(serde_json::from_str::<serde_json::Value>(shown.trim()).is_ok(), "{shown}");

    let ran = place.run(&solve).ok();
    assert!(!ran.stdout.contains('\u{1b}') && ran.stderr.is_empty(), "{ran:?}");
    let mut forced = place.command(&solve);
    let ran = Ran::of(forced.env("CLICOLOR_FORCE", "1").output().unwrap()).ok();
    assert!(ran.stdout.contains("\u{1b}[32msuccess"), "{ran:?}");
}
