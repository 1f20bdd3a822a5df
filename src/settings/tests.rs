use std::fs;

use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::note::Code;
use reasoning_bank_domain::retrieval::score::{ProfileName, Weights};
use rstest::rstest;

use super::*;

mod api_key;
mod checkout;
mod prompts;

/// A home, a project directory in it, and nothing in the environment.
struct Place {
    temp: tempfile::TempDir,
    sources: SettingSources,
}

impl Place {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().canonicalize().unwrap();
        fs::create_dir_all(home.join("project")).unwrap();
        fs::create_dir_all(home.join("config/reasoning-bank")).unwrap();
        let sources = SettingSources {
            environment: Vec::new(),
            directory: home.join("project"),
            config_home: Some(home.join("config")),
            data_home: Some(home.join("data")),
            home: Some(home),
            flags: Flags::default(),
        };
        Self { temp, sources }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(name)
    }

    fn user_file(self, text: &str) -> Self {
        self.file("config/reasoning-bank/config.toml", text)
    }

    fn workspace_file(self, text: &str) -> Self {
        self.file("project/.reasoning-bank.toml", text)
    }

    fn config_flag(mut self, text: &str) -> Self {
        self.sources.flags.config = Some(self.path("extra.toml"));
        self.file("extra.toml", text)
    }

    fn file(self, name: &str, text: &str) -> Self {
        fs::write(self.path(name), text).unwrap();
        self
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.sources.environment.push((name.into(), value.into()));
        self
    }

    fn load(&self) -> Loaded {
        load(&self.sources).unwrap()
    }

    fn problems(&self) -> Vec<(String, String, String)> {
        let problems = load(&self.sources).unwrap_err().problems;
        problems.into_iter().map(|p| (p.key, p.problem, p.layer)).collect()
    }

    /// The only problem there is.
    fn problem(&self) -> (String, String, String) {
        let problems = self.problems();
        assert_eq!(problems.len(), 1, "{problems:?}");
        problems.into_iter().next().unwrap()
    }
}

fn origin(loaded: &Loaded, key: &str) -> String {
    loaded.effective().iter().find(|entry| entry.key == key).unwrap().origin.clone()
}

#[test]
fn the_built_in_layer_has_every_key_and_makes_valid_settings() {
    let place = Place::new();
    let loaded = place.load();
    let effective = loaded.effective();
    let names: Vec<&str> = effective.iter().map(|entry| entry.key.as_str()).collect();
    let known: Vec<&str> = keys::KEYS.iter().filter(|key| !key.is_secret()).map(|key| key.name).collect();
    assert_eq!(names, known);
    assert!(loaded.effective().iter().all(|e| e.origin == "built-in" || e.key == "data_dir"));
    assert_eq!(loaded.settings.data_dir, place.path("data/reasoning-bank"));
    assert_eq!(origin(&loaded, "data_dir"), "XDG data directory");
    assert_eq!(loaded.settings.llm.provider, Provider::Openrouter);
    assert_eq!(Weights::from(&loaded.settings.retrieval.weights), Weights::COMPOSITE);
}

#[test]
fn every_built_in_key_has_a_comment_of_its_own() {
    let mut commented = false;
    for line in DEFAULTS.lines() {
        let weight = ["similarity", "recency", "error_context"].iter().any(|name| line.starts_with(name));
        if line.contains(" = ") && !line.starts_with('#') {
            assert!(commented || weight, "{line}");
            commented = false;
        } else {
            commented = line.starts_with('#');
        }
    }
}

#[test]
fn later_layers_win_and_the_origin_says_which() {
    let mut place = Place::new()
        .user_file("[retrieval]\nn_results = 2\nprofile = 'paper'\n[matts]\nk = 2\n[agent]\ndeadline_s = 2")
        .workspace_file("retrieval.n_results = 1\nretrieval.relevance_floor = 0.5")
        .config_flag("retrieval.n_results = 4\nllm.model = 'of-file'\nllm.provider = 'chat'")
        .variable("DEFAULT_MODEL", "of-seed-name")
        .variable("REASONING_BANK__LLM__MODEL", "of-own-name")
        .variable("REASONING_BANK__RETRIEVAL__WEIGHTS__ERROR_CONTEXT", "0.5")
        .variable("REASONING_BANK_DATA", "bank");
    place.sources.flags.llm = Some("simulated".into());
    let loaded = place.load();
    assert_eq!(loaded.settings.retrieval.n_results, 4);
    assert_eq!(loaded.settings.retrieval.profile, ProfileName::Paper);
    assert_eq!(loaded.settings.retrieval.relevance_floor, 0.5);
    assert_eq!(loaded.settings.matts.k, 2);
    assert_eq!(loaded.settings.llm.model, "of-own-name");
    assert_eq!(loaded.settings.llm.provider, Provider::Simulated);
    assert_eq!(loaded.settings.retrieval.weights.error_context, 0.5);
    assert_eq!(loaded.settings.data_dir, place.path("project/bank"));
    assert_eq!(origin(&loaded, "retrieval.n_results"), place.path("extra.toml").display().to_string());
    let workspace_file = place.path("project/.reasoning-bank.toml").display().to_string();
    assert_eq!(origin(&loaded, "retrieval.relevance_floor"), workspace_file);
    assert_eq!(origin(&loaded, "llm.model"), "environment variable REASONING_BANK__LLM__MODEL");
    assert_eq!(origin(&loaded, "llm.provider"), "flag --llm");
    assert_eq!(origin(&loaded, "data_dir"), "environment variable REASONING_BANK_DATA");
    assert!(loaded.is_default("log.level") && !loaded.is_default("matts.k"));
}

#[test]
fn all_problems_of_all_layers_are_told_at_once() {
    let mut place = Place::new()
        .user_file("[llm]\nmodle = 'x'\n[agent]\nmax_iterations = 11\nsuccess_threshold = nan")
        .workspace_file("llm.provider = 'none'")
        .config_flag("matts = 3")
        .variable("REASONING_BANK__MATTS__WORKERS", "many")
        .variable("REASONING_BANK__HTTP__PORT", "80")
        .variable("DEFAULT_REASONING_EFFORT", "huge");
    place.sources.flags.llm = Some("gpt".into());
    let problems = place.problems();
    let user = place.path("config/reasoning-bank/config.toml").display().to_string();
    let found: Vec<(&str, &str)> = problems.iter().map(|(key, _, layer)| (key.as_str(), layer.as_str())).collect();
    let workspace = place.path("project/.reasoning-bank.toml").display().to_string();
    let extra = place.path("extra.toml").display().to_string();
    for expected in [
        ("llm.modle", user.as_str()),
        ("agent.max_iterations", &user),
        ("agent.success_threshold", &user),
        ("llm.provider", &workspace),
        ("matts", &extra),
        ("matts.workers", "environment variable REASONING_BANK__MATTS__WORKERS"),
        ("http.port", "environment variable REASONING_BANK__HTTP__PORT"),
        ("llm.effort", "environment variable DEFAULT_REASONING_EFFORT"),
        ("llm.provider", "flag --llm"),
    ] {
        assert!(found.contains(&expected), "{expected:?} in {found:#?}");
    }
    assert_eq!(problems.len(), 9, "{problems:#?}");
}

#[rstest]
#[case("agent.success_threshold = inf", "must be a number from 0 to 1, not inf")]
#[case("agent.success_threshold = -0.1", "must be a number from 0 to 1, not -0.1")]
#[case("matts.k = 4.7", "must be a whole number from 1 to 8, not 4.7")]
#[case("matts.k = '4'", "must be a whole number from 1 to 8, not \"4\"")]
#[case("matts.enabled = 1", "must be true or false, not 1")]
#[case("llm.model = '  '", "must be text that is not blank, not \"  \"")]
#[case(
    "mcp.toolsets = []",
    "must be a list of at least one of core, learning, workspace, admin, context, episodes, patterns, working, banks, all, not []"
)]
#[case(
    "mcp.toolsets = ['core', 'memory']",
    "must be a list of at least one of core, learning, workspace, admin, context, episodes, patterns, working, banks, all, not [\"core\", \"memory\"]"
)]
#[case("llm.simulated.seed = -1", "must be a whole number of at least 0, not -1")]
#[case("llm.simulated.jitter = 1.5", "must be a number from 0 to 1, not 1.5")]
#[case("http.port = 80", "is no setting of this version")]
fn a_bad_value_is_told_with_its_bound(#[case] line: &str, #[case] problem: &str) {
    let place = Place::new().user_file(line);
    let (key, found, _) = place.problem();
    assert_eq!(found, problem);
    assert_eq!(key, line.split(" = ").next().unwrap());
}

#[rstest]
#[case("REASONING_BANK__AGENT__SUCCESS_THRESHOLD", "NaN")]
#[case("REASONING_BANK__AGENT__SUCCESS_THRESHOLD", "inf")]
#[case("REASONING_BANK__MATTS__ENABLED", "yes")]
#[case("REASONING_BANK__MCP__TOOLSETS", " , ")]
fn bad_text_in_the_environment_is_refused(#[case] name: &str, #[case] value: &str) {
    let (_, problem, layer) = Place::new().variable(name, value).problem();
    assert!(problem.ends_with(&format!("not {value:?}")), "{problem}");
    assert_eq!(layer, format!("environment variable {name}"));
}

#[test]
fn an_empty_variable_counts_as_not_set() {
    let place = Place::new()
        .variable("REASONING_BANK_DATA", "")
        .variable("REASONING_BANK__MATTS__K", "")
        .variable("REASONING_BANK__UNKNOWN", "");
    assert_eq!(place.load().effective(), Place::new_like(&place).load().effective());
}

impl Place {
    fn new_like(other: &Self) -> Self {
        let sources = SettingSources { environment: Vec::new(), ..other.sources.clone() };
        Self { temp: tempfile::tempdir().unwrap(), sources }
    }
}

#[test]
fn bounds_between_keys_name_both_layers() {
    let place = Place::new().user_file("matts.k = 8").variable("REASONING_BANK__MATTS__WORKERS", "4");
    let (key, problem, layer) = place.problem();
    let user = place.path("config/reasoning-bank/config.toml");
    assert_eq!(key, "matts.workers");
    assert_eq!(problem, format!("is 4, below matts.k, which is 8 ({}); it must be at least that", user.display()));
    assert_eq!(layer, "environment variable REASONING_BANK__MATTS__WORKERS");

    let (key, ..) = Place::new().user_file("judge.concurrency = 4").problem();
    assert_eq!(key, "judge.concurrency");

    let (key, problem, _) =
        Place::new().user_file("[retrieval.weights]\nsimilarity = 0\nrecency = 0\nerror_context = 0").problem();
    assert_eq!((key.as_str(), problem.as_str()), ("retrieval.weights", "are all 0; their sum must be above 0"));
}

#[test]
fn the_workspace_file_is_found_from_below_the_root_but_cannot_move_it() {
    let mut place = Place::new().workspace_file("retrieval.n_results = 2");
    fs::create_dir_all(place.path("project/src")).unwrap();
    for part in ["objects", "refs"] {
        fs::create_dir_all(place.path("project/.git").join(part)).unwrap();
    }
    fs::write(place.path("project/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    place.sources.directory = place.path("project/src");
    assert_eq!(place.load().settings.retrieval.n_results, 2);

    let by_path = place.variable("REASONING_BANK__WORKSPACE__IDENTITY", "path");
    assert_eq!(by_path.load().settings.retrieval.n_results, 5);
}

#[test]
fn a_file_that_is_no_toml_is_told_with_its_line_but_without_its_text() {
    let place = Place::new().user_file("[llm]\nmodel = \"sk-or-v1-secret\n");
    let (key, problem, layer) = place.problem();
    assert_eq!(key, "file");
    assert!(problem.starts_with("is not TOML: line 2"), "{problem}");
    assert!(!problem.contains("secret"), "{problem}");
    assert_eq!(layer, place.path("config/reasoning-bank/config.toml").display().to_string());
}

#[test]
fn a_file_named_by_a_flag_must_exist() {
    let mut place = Place::new();
    place.sources.flags.config = Some("missing.toml".into());
    let (key, problem, layer) = place.problem();
    assert!(key == "file" && problem.starts_with("cannot be read"), "{problem}");
    assert_eq!(layer, place.path("project/missing.toml").display().to_string());
}

#[test]
fn without_a_home_the_data_directory_must_be_named() {
    let mut place = Place::new();
    place.sources.data_home = None;
    assert_eq!(place.problem().0, "data_dir");
    place.sources.flags.data_dir = Some("here".into());
    assert_eq!(place.load().settings.data_dir, place.path("project/here"));
}

#[rstest]
#[case("https://llm.example.com/v1", true)]
#[case("http://localhost:11434/v1", true)]
#[case("http://127.0.0.1:8000/v1", true)]
#[case("http://[::1]:8000/v1", true)]
#[case("http://192.168.1.7/v1", true)]
#[case("http://ollama:11434/v1", true)]
#[case("http://llm.example.com/v1", false)]
#[case("http://8.8.8.8/v1", false)]
fn a_key_is_sent_only_where_nobody_reads_it_on_the_way(#[case] url: &str, #[case] safe: bool) {
    let place = Place::new().user_file(&format!("llm.base_url = '{url}'"));
    assert_eq!(place.load().settings.llm.endpoint().unwrap().as_str(), url);
    let place = place.variable("OPENROUTER_API_KEY", "sk-or-v1-secret");
    let loaded = place.load();
    assert_eq!(loaded.api_key.is_some(), safe);
    assert_eq!(loaded.check_provider(true).is_ok(), safe);
    if let Some(SettingProblem { key, problem, layer }) = loaded.key_problem {
        let file = place.path("config/reasoning-bank/config.toml").display().to_string();
        assert_eq!((key.as_str(), layer), ("llm.base_url", file));
        assert!(problem.contains("must be https"), "{problem}");
    }
}

#[rstest]
#[case("ftp://host/v1")]
#[case("localhost:8000")]
#[case("https://user:secret@host/v1")]
fn a_base_url_is_http_and_holds_no_secret(#[case] url: &str) {
    let (key, problem, _) = Place::new().user_file(&format!("llm.base_url = '{url}'")).problem();
    assert_eq!(key, "llm.base_url");
    assert_eq!(problem, "must be an http or https URL without a user name or password");
}

#[test]
fn a_provider_that_cannot_be_used_is_told_with_its_origin() {
    let missing = Place::new().load().check_provider(true).unwrap_err();
    assert_eq!(missing.code(), Code::LlmKeyMissing);
    let told = "the provider openrouter (built-in) needs a key, and OPENROUTER_API_KEY is not set";
    assert_eq!(missing.to_string(), told);
    let none = Place::new().user_file("llm.provider = 'none'").load();
    assert_eq!(none.check_provider(true), Ok(()));
    assert!(matches!(none.check_provider(false), Err(ProviderError::NoModel { .. })));
}

#[test]
fn home_as_workspace_is_warned_of() {
    let mut place = Place::new();
    place.sources.directory = place.path("");
    let loaded = place.load();
    let warnings = loaded.all_warnings();
    assert!(!loaded.workspace_is_chosen);
    assert!(matches!(&warnings[..], [warning] if warning.contains("home directory")), "{warnings:?}");
}

#[test]
fn the_directory_of_a_model_is_relative_to_the_current_one_and_never_the_workspaces() {
    let place = Place::new().variable("REASONING_BANK__EMBEDDING__MODEL_DIR", "models/mini");
    assert_eq!(place.load().settings.embedding.model_dir, place.sources.directory.join("models/mini"));
    let named = Place::new().variable("REASONING_BANK__EMBEDDING__MODEL_DIR", "hub:owner/mini").load();
    assert_eq!(named.settings.embedding.model_dir.to_str(), Some("hub:owner/mini"));
    assert_eq!(Place::new().load().settings.embedding.model_dir.as_os_str(), "");
}

#[test]
fn a_directory_for_traces_turns_their_files_on_unless_they_are_turned_off() {
    assert!(!Place::new().load().settings.traces.files);
    let place = || Place::new().variable("REASONING_BANK_TRACES", "traces");
    let own = place();
    let traces = own.load().settings.traces;
    assert!(traces.files);
    assert_eq!(traces.dir, own.sources.directory.join("traces"));
    let off = place().variable("REASONING_BANK__TRACES__FILES", "false").load().settings.traces;
    assert!(!off.files);
    assert_eq!(Place::new().variable("REASONING_BANK_TRACES", "").load().settings.traces.dir.as_os_str(), "");
}

#[test]
fn a_blank_name_names_nothing() {
    assert_eq!(Place::new().load().root_name(), None);
    assert_eq!(Place::new().user_file("workspace.name = '  '").load().root_name(), None);
}

#[test]
fn team_and_organisation_count_from_the_users_configuration_and_are_proposals_in_a_checkout() {
    let own = Place::new().user_file("workspace.team = ' web '").variable("REASONING_BANK__WORKSPACE__ORG", "acme");
    let named = own.load().root_name().unwrap();
    assert_eq!((named.name, named.team.as_deref(), named.org.as_deref()), (None, Some("web"), Some("acme")));

    let checkout = Place::new().workspace_file("[workspace]\nname = 'shop'\nteam = 'web'\norg = ' '");
    let loaded = checkout.load();
    let file = checkout.path("project/.reasoning-bank.toml");
    let proposed = CheckoutProposal { team: Some("web".into()), org: None, ranking: CheckoutRanking::new(), file };
    assert_eq!(loaded.proposal, Some(proposed.clone()));
    assert_eq!(proposal(&checkout.path("project")).unwrap(), Some(proposed));
    assert_eq!((loaded.root_name().unwrap().team, loaded.settings.workspace.team.as_str()), (None, ""));
    assert_eq!(origin(&loaded, "workspace.team"), "built-in");
    assert_eq!(proposal(&Place::new().path("project")).unwrap(), None);
    let forbidden = Place::new().workspace_file("data_dir = '/tmp'");
    assert_eq!(proposal(&forbidden.path("project")).unwrap_err().problems.len(), 1);
}

#[test]
fn the_default_workspace_counts_outside_of_repositories_where_no_flag_names_one() {
    let mut place = Place::new().file("other", "");
    fs::remove_file(place.path("other")).unwrap();
    fs::create_dir(place.path("other")).unwrap();
    let other = WorkspaceRef::Root(place.path("other").display().to_string());
    assert_eq!(place.load().workspace_origin, "current directory");
    let file = store_default(&place.load().settings.data_dir, &other).unwrap();
    let loaded = place.load();
    assert_eq!((loaded.workspace, loaded.workspace_origin), (other.clone(), format!("default in {}", file.display())));
    assert!(!loaded.workspace_is_named && loaded.workspace_is_chosen);

    fs::write(place.path("other/.reasoning-bank.toml"), "retrieval.n_results = 3").unwrap();
    assert_eq!(place.load().settings.retrieval.n_results, 3);
    place.sources.flags.workspace = Some(".".into());
    assert_eq!(place.load().workspace_origin, "flag --workspace");
    place.sources.flags.workspace = None;

    for part in ["objects", "refs"] {
        fs::create_dir_all(place.path("project/.git").join(part)).unwrap();
    }
    fs::write(place.path("project/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    assert_eq!(place.load().workspace_origin, "repository of the current directory");
    let by_path = place.variable("REASONING_BANK__WORKSPACE__IDENTITY", "path");
    assert_eq!(by_path.load().workspace, other);

    let id = WorkspaceRef::Id("0123456789abcdef".parse().unwrap());
    store_default(&by_path.load().settings.data_dir, &id).unwrap();
    assert_eq!(by_path.load().workspace, id);
    let data_dir = by_path.load().settings.data_dir;
    let root = by_path.path("other").display().to_string();
    let deleted = Workspace::of_root(&root, jiff::Timestamp::UNIX_EPOCH);
    forget(&data_dir, &deleted).unwrap();
    assert_eq!(by_path.load().workspace, id, "another one was deleted");
    for named in [other.clone(), WorkspaceRef::Id(deleted.id.clone())] {
        store_default(&data_dir, &named).unwrap();
        forget(&data_dir, &deleted).unwrap();
        assert_eq!(by_path.load().workspace_origin, "current directory");
        forget(&data_dir, &deleted).unwrap();
    }
    fs::write(&file, "").unwrap();
    let (key, problem, layer) = by_path.problem();
    assert_eq!((key.as_str(), layer), ("workspace", format!("default in {}", file.display())));
    assert!(problem.contains("workspace switch"), "{problem}");
}
