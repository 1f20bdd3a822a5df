use super::*;
use crate::settings::{self, Flags, SettingSources};

/// The grades by name, and the diagnosis.
fn of(sources: &SettingSources) -> (Vec<(&'static str, Grade)>, Diagnosis) {
    let diagnosis = diagnose(&settings::load(sources), sources).unwrap();
    (diagnosis.checks.iter().map(|check| (check.name, check.status)).collect(), diagnosis)
}

fn sources(dir: &Path, provider: &str) -> SettingSources {
    let flags = Flags { llm: Some(provider.into()), data_dir: Some(dir.join("data")), ..Flags::default() };
    SettingSources { directory: dir.to_owned(), flags, ..SettingSources::default() }
}

#[test]
fn a_machine_that_has_everything_is_told_so_and_nothing_is_created() {
    let temp = tempfile::tempdir().unwrap();
    let (grades, diagnosis) = of(&sources(temp.path(), "none"));
    let names: Vec<&str> = grades.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["configuration", "key", "store", "embedder", "disk", "jobs"]);
    assert_ne!(diagnosis.status, Grade::Fail, "{diagnosis:?}");
    assert!(diagnosis.checks[2].detail.contains("nothing is kept"), "{diagnosis:?}");
    assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 0);
}

#[test]
fn a_wrong_configuration_fails_and_the_rest_is_not_guessed() {
    let temp = tempfile::tempdir().unwrap();
    let (grades, diagnosis) = of(&sources(temp.path(), "gpt"));
    assert_eq!(grades[0], ("configuration", Grade::Fail));
    assert_eq!(grades[2], ("store", Grade::Warn));
    assert_eq!(diagnosis.status, Grade::Fail);
    assert!(diagnosis.checks[0].detail.contains("llm.provider") && diagnosis.checks[0].hint.is_some());
}

#[test]
fn a_missing_key_and_a_directory_that_is_none_fail_with_a_hint() {
    let temp = tempfile::tempdir().unwrap();
    std::fs::write(temp.path().join("data"), "a file").unwrap();
    let (grades, diagnosis) = of(&sources(temp.path(), "openrouter"));
    assert_eq!((grades[1], grades[2]), (("key", Grade::Fail), ("store", Grade::Fail)));
    assert!(diagnosis.checks[1].detail.contains("OPENROUTER_API_KEY"));
    assert!(diagnosis.checks.iter().filter(|check| check.status == Grade::Fail).all(|check| check.hint.is_some()));
}

#[test]
fn a_missing_key_is_no_fault_where_the_clients_need_none() {
    let temp = tempfile::tempdir().unwrap();
    let entry = |arguments: &str| {
        let text = format!("[mcp_servers.reasoning-bank]\ncommand = '/bin/reasoning-bank'\nargs = {arguments}\n");
        std::fs::write(temp.path().join("config.toml"), text).unwrap();
    };
    let flags = Flags { data_dir: Some(temp.path().join("data")), ..Flags::default() };
    let unchosen = SettingSources {
        environment: vec![("CODEX_HOME".into(), temp.path().into())],
        directory: temp.path().to_owned(),
        home: Some(temp.path().to_owned()),
        config_home: Some(temp.path().to_owned()),
        flags,
        ..SettingSources::default()
    };
    let key = |sources: &SettingSources| of(sources).1.checks[1].clone();
    entry("['--llm', 'none', 'mcp']");
    let found = key(&unchosen);
    assert_eq!(found.status, Grade::Ok, "{found:?}");
    assert!(found.detail.contains("Codex"), "{found:?}");
    // Whoever chose the provider wants its key.
    let mut chosen = unchosen.clone();
    chosen.flags.llm = Some("openrouter".into());
    assert_eq!(key(&chosen).status, Grade::Fail);
    entry("['mcp']");
    assert_eq!(key(&unchosen).status, Grade::Fail);
}

#[test]
fn little_space_is_a_warning_and_almost_none_a_failure() {
    let status = |mib: u64| disk::graded(mib << 20, Path::new("/d")).status;
    assert_eq!(
        [status(99), status(100), status(1023), status(1024)],
        [Grade::Fail, Grade::Warn, Grade::Warn, Grade::Ok]
    );
}

#[test]
fn background_jobs_that_were_given_up_are_named_with_their_reason() {
    assert_eq!(given_up(&[]).status, Grade::Ok);
    let work = Work::Distill {
        session_id: "monday".into(),
        outcome: reasoning_bank_domain::memory::MemoryOutcome::Mixed,
        transcript: "t".into(),
    };
    let now = Timestamp::UNIX_EPOCH;
    let mut job = Job::queued(reasoning_bank_domain::memory::workspace::WorkspaceId::of_root("/p"), work, now);
    while job.state != JobState::Failed {
        job = job.begun(now).failed_once("llm_failed: no such model", now);
    }
    let check = given_up(std::slice::from_ref(&job));
    assert_eq!(check.status, Grade::Warn);
    assert_eq!(check.detail, format!("1 given up: {} (session monday): llm_failed: no such model", job.id));
    assert!(check.hint.is_some());
}
