//! Tests of where the key of a provider is found, and of what is said of one that cannot be used.

use reasoning_bank_domain::note::Code;
use rstest::rstest;
use secrecy::ExposeSecret;

use super::*;

fn origin_of_key(place: &Place) -> Option<String> {
    place.load().api_key.map(|key| key.origin)
}

#[test]
fn the_key_is_looked_for_only_where_the_provider_takes_one_and_is_never_shown() {
    let openrouter = Place::new().variable("OPENROUTER_API_KEY", " sk-or-v1-secret ");
    let loaded = openrouter.load();
    let key = loaded.api_key.clone().unwrap();
    assert_eq!(
        (key.origin.as_str(), key.secret.expose_secret()),
        ("environment variable OPENROUTER_API_KEY", "sk-or-v1-secret")
    );
    assert!(!format!("{loaded:?}").contains("secret-") && !format!("{loaded:?}").contains("sk-or"));
    assert_eq!(loaded.check_provider(false), Ok(()));

    let simulated =
        Place::new().variable("OPENROUTER_API_KEY_FILE", "/missing").user_file("llm.provider = 'simulated'");
    assert_eq!(origin_of_key(&simulated), None);
    assert_eq!(simulated.load().check_provider(false), Ok(()));

    // It is OpenRouter's, whoever else is asked.
    let responses = Place::new().variable("OPENROUTER_API_KEY", "sk-or-v1-secret").user_file("llm.provider = 'chat'");
    assert_eq!(origin_of_key(&responses), None);
    assert_eq!(responses.load().check_provider(false), Ok(()));
}

#[test]
fn the_key_comes_from_the_environment_a_file_it_names_or_the_users_file() {
    let place = Place::new().user_file("llm.api_key = 'sk-of-file'");
    assert_eq!(origin_of_key(&place), Some(place.path("config/reasoning-bank/config.toml").display().to_string()));
    let place = place.file("project/key", "sk-or-v1-secret\n").variable("OPENROUTER_API_KEY_FILE", "key");
    assert_eq!(origin_of_key(&place).as_deref(), Some("environment variable OPENROUTER_API_KEY_FILE"));
    let place = place.variable("REASONING_BANK__LLM__API_KEY", "sk-own");
    assert_eq!(origin_of_key(&place).as_deref(), Some("environment variable REASONING_BANK__LLM__API_KEY"));
    let chat = Place::new()
        .user_file("llm.provider = 'chat'")
        .file("project/key", "sk-local")
        .variable("REASONING_BANK__LLM__API_KEY_FILE", "key");
    assert_eq!(origin_of_key(&chat).as_deref(), Some("environment variable REASONING_BANK__LLM__API_KEY_FILE"));

    for text in ["sk secret", "sk-secret\nsecond line", "sk-sécret"] {
        let problem = Place::new().variable("OPENROUTER_API_KEY", text).load().key_problem.unwrap();
        assert!(problem.key == "llm.api_key" && !problem.to_string().contains("secret"), "{problem}");
    }
    let (key, problem, _) = Place::new().user_file("llm.api_key = 5").problem();
    assert!(key == "llm.api_key" && !problem.contains('5'), "{problem}");
    let (key, ..) = Place::new().workspace_file("llm.api_key = 'sk-secret'").problem();
    assert_eq!(key, "llm.api_key");
}

#[test]
fn a_key_that_cannot_be_used_is_told_to_what_needs_it_and_with_all_other_problems() {
    let place = Place::new().variable("OPENROUTER_API_KEY_FILE", "missing");
    let loaded = place.load();
    let problem = loaded.key_problem.clone().unwrap();
    assert_eq!(
        (problem.key.as_str(), problem.layer.as_str()),
        ("llm.api_key", "environment variable OPENROUTER_API_KEY_FILE")
    );
    let error = loaded.check_provider(true).unwrap_err();
    assert_eq!((error.code(), error.to_string()), (Code::ConfigurationInvalid, format!("configuration: {problem}")));

    let place = place.user_file("matts.k = 99\nllm.timeout_s = 0");
    let problems = load(&place.sources).unwrap_err().problems;
    let mut keys: Vec<&str> = problems.iter().map(|problem| problem.key.as_str()).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["llm.api_key", "llm.timeout_s", "matts.k"]);
    // The destination of the key is not known, so nothing is said of it.
    let place = place.user_file("llm.provider = 'gpt'");
    assert_eq!(place.problem().0, "llm.provider");
}

/// The key under such a name would be found by nobody, and be handed on to the commands of checks.
#[rstest]
#[case("REASONING_BANK__LLM__api_key", "llm.api_key", "is read from REASONING_BANK__LLM__API_KEY alone, in capitals")]
#[case(
    "REASONING_BANK__llm__API_KEY_file",
    "llm.api_key_file",
    "is read from REASONING_BANK__LLM__API_KEY_FILE alone, in capitals"
)]
fn the_variable_of_the_key_is_refused_in_another_case(#[case] name: &str, #[case] key: &str, #[case] expected: &str) {
    let (of, problem, layer) = Place::new().variable(name, "sk-secret").problem();
    assert_eq!((of.as_str(), problem.as_str()), (key, expected));
    assert_eq!(layer, format!("environment variable {name}"));
}
