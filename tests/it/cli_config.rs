//! Tests of `config show`, and of every command with arguments and settings that are wrong.

use crate::support::{Place, Ran, without};

#[test]
fn config_show_prints_every_setting_with_its_origin_as_a_configuration_file() {
    let place = Place::new();
    let user = place.write("config/reasoning-bank/config.toml", "llm.model = 'mine'\n");
    let mut command = place.command(&["config", "show", "--llm", "simulated"]);
    command.env("REASONING_BANK__RETRIEVAL__N_RESULTS", "7");
    let shown = Ran::of(command.output().unwrap()).ok().stdout;
    let line = |key: &str| shown.lines().find(|line| line.starts_with(key)).unwrap().to_owned();
    assert!(line("llm.provider").ends_with("# flag --llm"));
    assert!(line("llm.model = \"mine\"").ends_with(&user.display().to_string()));
    assert!(line("retrieval.n_results = 7").ends_with("# environment variable REASONING_BANK__RETRIEVAL__N_RESULTS"));
    assert!(line("data_dir").ends_with("# environment variable REASONING_BANK_DATA"));
    assert!(line("matts.k = 5").ends_with("# built-in"));

    let again = place.write("shown.toml", &shown);
    place.run(&["config", "show", "--config", again.to_str().unwrap()]).ok();
}

#[test]
fn config_show_is_one_json_document_and_masks_the_key() {
    let place = Place::new();
    let mut command = place.command(&["--json", "config", "show"]);
    command.env("OPENROUTER_API_KEY", "sk-or-v1-0123456789");
    let ran = Ran::of(command.output().unwrap()).ok();
    assert!(!ran.stdout.contains("0123456789") && !ran.stderr.contains("0123456789"));
    let document = ran.json();
    let provider = &document["settings"][1];
    assert_eq!(provider["key"], "llm.provider");
    assert_eq!(provider["value"], "openrouter");
    assert_eq!(provider["origin"], "built-in");
    assert_eq!(document["secrets"][0]["value"], "********");
    assert_eq!(document["secrets"][0]["origin"], "environment variable OPENROUTER_API_KEY");
    assert_eq!(document["workspace"]["root"], place.path("project").to_str().unwrap());
}

#[test]
fn all_problems_of_the_configuration_are_told_at_once_and_exit_with_2() {
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", "[matts]\nk = 9\n[http]\nport = 80\n");
    place.write("project/.reasoning-bank.toml", "llm.provider = 'none'\n");
    let ran = place.run(&["config", "show", "--llm", "gpt"]).exits(2);
    assert_eq!(ran.stdout, "");
    insta::assert_snapshot!(without(&ran.stderr, &place.path(""), "/top/"));

    let as_json = place.run(&["config", "show", "--json"]).exits(2).json();
    assert_eq!(as_json["error"]["code"], "configuration_invalid");
    assert_eq!(as_json["error"]["retryable"], false);
}

#[test]
fn wrong_arguments_exit_with_2_and_one_json_document_where_asked_for() {
    let place = Place::new();
    let ran = place.run(&["memory", "serch", "x"]).exits(2);
    assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains("hint: "), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");

    let ran = place.run(&["--json", "memory", "search", "q", "--n", "0"]).exits(2);
    assert_eq!(ran.json()["error"]["code"], "invalid_argument");
    assert!(ran.json()["error"]["message"].as_str().unwrap().contains("--n"));

    let ran = place.run(&[]).exits(2);
    assert!(ran.stderr.contains("Usage: reasoning-bank"), "{}", ran.stderr);
}

#[test]
fn help_and_version_are_answers() {
    let place = Place::new();
    for arguments in [&["--help"][..], &["memory", "--help"], &["memory", "record", "--help"], &["help", "solve"]] {
        let help = place.run(arguments).ok();
        assert!(help.stdout.contains("Usage: reasoning-bank") && help.stderr.is_empty(), "{help:?}");
    }
    assert_eq!(place.run(&["--version"]).ok().stdout, format!("reasoning-bank {}\n", env!("CARGO_PKG_VERSION")));
}
