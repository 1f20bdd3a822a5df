//! Tests of `backup` and its commands, through the real binary on a real store.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Place, Ran};

const QUERY: &[&str] =
    &["memory", "search", "parsing dates and numbers, dates in logs, time zones of dates", "--n", "50"];

fn record(place: &Place, title: &str) -> String {
    let (when, what) = (format!("when {title}"), format!("Do {title} with care."));
    let lesson = ["memory", "record", "--title", title, "--description", &when, "--content", &what];
    place.document(&lesson)["id"].as_str().unwrap().to_owned()
}

/// Makes a place with some lessons, a token, a choice of the default workspace, and a trace with its file.
fn place() -> Place {
    let place = Place::with_instant_model();
    for title in ["parsing dates", "parsing numbers", "dates in logs", "time zones of dates"] {
        record(&place, title);
    }
    let traced = ["--llm", "simulated", "solve", "--no-matts", "sort a list"];
    let mut command = place.command(&traced);
    Ran::of(command.env("REASONING_BANK__TRACES__FILES", "true").output().unwrap()).ok();
    place.document(&["token", "create", "ana", "--all-workspaces"]);
    let project = place.path("project").display().to_string();
    place.document(&["workspace", "switch", &project]);
    place
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn make(place: &Place, name: &str) -> PathBuf {
    let backup = place.path(name);
    place.run(&["backup", "create", &text(&backup)]).ok();
    backup
}

/// Runs a command on another data directory of the place.
fn run_on(place: &Place, data: &str, arguments: &[&str]) -> Ran {
    place.run(&[&["--data-dir", &text(&place.path(data))], arguments].concat())
}

fn document_on(place: &Place, data: &str, arguments: &[&str]) -> Value {
    run_on(place, data, &[&["--json"], arguments].concat()).ok().json()
}

/// Returns the answers of a bank to questions about all that it has, without what follows from the time that has
/// passed, and from the place of the bank.
fn answers(place: &Place, data: &str) -> Vec<Value> {
    let mut found = document_on(place, data, QUERY);
    found.as_object_mut().unwrap().remove("took_ms");
    let memories = found["memories"].as_array_mut().unwrap();
    assert!(memories.len() >= 4, "{memories:?}");
    for memory in memories {
        for field in ["recency_score", "base_score", "composite_score", "why"] {
            memory.as_object_mut().unwrap().remove(field).unwrap();
        }
    }
    let exported = run_on(place, data, &["memory", "export", "--all", "--vectors", "--with-jobs"]).ok().stdout;
    let mut shown = document_on(place, data, &["workspace", "show"]);
    shown.as_object_mut().unwrap().remove("origin");
    vec![found, exported.into(), document_on(place, data, &["trace", "list"]), shown]
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(files_below(&entry.path())),
            false => files.push(entry.path()),
        }
    }
    files
}

#[test]
fn a_restored_bank_answers_as_the_bank_did_and_has_no_tokens_unless_asked() {
    let place = place();
    let before = answers(&place, "data");
    let made = place.document(&["backup", "create", &text(&place.path("kept/monday"))]);
    let memories = before[3]["memories"].as_u64().unwrap();
    assert!(memories >= 4, "{}", before[3]);
    assert_eq!((&made["memories"], &made["workspaces"]), (&memories.into(), &1.into()));
    assert_eq!(made["directory"], text(&place.path("kept/monday")).as_str());
    // All of it is rewritten: nothing of that reaches the backup.
    record(&place, "later dates");
    place.run(&["maintain", "--apply"]).ok();
    let verified = place.document(&["backup", "verify", &text(&place.path("kept/monday"))]);
    assert_eq!((&verified["whole"], &verified["findings"], &verified["id"]), (&true.into(), &json!([]), &made["id"]));

    let restored = document_on(&place, "new", &["backup", "restore", &text(&place.path("kept/monday"))]);
    assert_eq!((&restored["memories_now"], &restored["with_tokens"]), (&made["memories"], &false.into()));
    assert_eq!(answers(&place, "new"), before);
    assert_eq!(document_on(&place, "new", &["token", "list"])["tokens"], json!([]));
    assert_eq!(fs::read_dir(place.path("new/traces")).unwrap().count(), 1);
    assert_eq!(
        fs::read(place.path("new/default_workspace")).unwrap(),
        fs::read(place.path("data/default_workspace")).unwrap()
    );
    for file in files_below(&place.path("new/lance")).into_iter().filter(|file| !file.ends_with(".write.lock")) {
        assert_eq!(file.metadata().unwrap().nlink(), 1, "{} is shared with the backup", file.display());
    }
    record_on(&place, "new");

    let restored =
        document_on(&place, "with-tokens", &["backup", "restore", &text(&place.path("kept/monday")), "--with-tokens"]);
    assert_eq!(restored["with_tokens"], true);
    assert_eq!(document_on(&place, "with-tokens", &["token", "list"])["tokens"][0]["name"], "ana");
}

/// A restored bank takes new memories and finds them.
fn record_on(place: &Place, data: &str) {
    let lesson = ["memory", "record", "--title", "dates once more", "--description", "when", "--content", "what to do"];
    run_on(place, data, &lesson).ok();
    let found = document_on(place, data, QUERY).to_string();
    assert!(found.contains("dates once more"), "{found}");
}

#[test]
fn every_file_of_a_backup_is_closed_to_others_and_none_is_left_over() {
    let place = place();
    let backup = make(&place, "monday");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&backup), mode(&backup.join("bank"))), (0o700, 0o700));
    assert_eq!(mode(&backup.join("manifest.json")), 0o600);
    assert_eq!(mode(&backup.join("bank/tokens.json")), 0o600);
    assert!(!place.path("data/snapshot").exists() && !place.path(".monday.partial").exists());
    let listed: Value = serde_json::from_slice(&fs::read(backup.join("manifest.json")).unwrap()).unwrap();
    let listed = listed["files"].as_array().unwrap().len();
    assert_eq!(files_below(&backup.join("bank")).len(), listed);
    assert!(!fs::read_to_string(backup.join("manifest.json")).unwrap().contains("parsing"), "it has words of a memory");
}

#[test]
fn what_is_missing_changed_or_added_is_named_and_not_restored() {
    let place = place();
    let backup = make(&place, "monday");
    let manifest: Value = serde_json::from_slice(&fs::read(backup.join("manifest.json")).unwrap()).unwrap();
    let longest = manifest["files"].as_array().unwrap().iter().max_by_key(|file| file["bytes"].as_u64()).unwrap();
    let longest = format!("bank/{}", longest["path"].as_str().unwrap());
    // The bank shares the file, which is put in the place of a copy that may be changed.
    let bytes = fs::read(backup.join(&longest)).unwrap();
    fs::remove_file(backup.join(&longest)).unwrap();
    let verify = |expected: Value| {
        let verified = place.run(&["--json", "backup", "verify", &text(&backup)]).exits(1).json();
        assert_eq!((&verified["whole"], &verified["findings"]), (&false.into(), &expected));
        let said = place.run(&["backup", "verify", &text(&backup)]).exits(1).stdout;
        assert!(said.contains(expected[0]["path"].as_str().unwrap()), "{said}");
    };
    verify(json!([{"flaw": "missing", "path": longest}]));
    let mut changed = bytes.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    fs::write(backup.join(&longest), changed).unwrap();
    verify(json!([{"flaw": "changed", "path": longest}]));
    let refused = run_on(&place, "new", &["--json", "backup", "restore", &text(&backup)]).exits(1).json();
    assert!(refused["error"]["message"].as_str().unwrap().contains(&longest), "{refused}");
    assert!(!place.path("new").exists(), "nothing is half restored");
    fs::write(backup.join(&longest), &bytes).unwrap();
    fs::write(backup.join("bank/lance/more"), "").unwrap();
    verify(json!([{"flaw": "unexpected", "path": "bank/lance/more"}]));
    let restored = document_on(&place, "new", &["backup", "restore", &text(&backup)]);
    assert_eq!(restored["left_out"][0]["path"], "bank/lance/more");
    assert!(!place.path("new/lance/more").exists());

    let sealed = fs::read_to_string(backup.join("manifest.json")).unwrap();
    fs::write(backup.join("manifest.json"), sealed.replacen("\"memories\": ", "\"memories\": 1", 1)).unwrap();
    let refused = place.run(&["--json", "backup", "verify", &text(&backup)]).exits(1).json();
    assert!(refused["error"]["message"].as_str().unwrap().contains("manifest.json"), "{refused}");
}

#[test]
fn a_backup_goes_through_a_stream_and_a_torn_one_is_refused() {
    let place = place();
    let tar = place.path("bank.tar");
    let mut command = place.command(&["backup", "create", "-"]);
    let said = command.stdout(fs::File::create(&tar).unwrap()).stderr(Stdio::piped()).output().unwrap();
    assert!(said.status.success(), "{said:?}");
    assert!(String::from_utf8_lossy(&said.stderr).contains("memories in 1 workspace"), "{said:?}");
    let from = |file: &Path, arguments: &[&str]| {
        Ran::of(place.command(arguments).stdin(fs::File::open(file).unwrap()).output().unwrap())
    };
    let verified = from(&tar, &["--json", "backup", "verify", "-"]).ok().json();
    assert_eq!((&verified["whole"], &verified["findings"]), (&true.into(), &json!([])));
    let new = text(&place.path("new"));
    from(&tar, &["--data-dir", &new, "backup", "restore", "-"]).ok();
    assert_eq!(answers(&place, "new"), answers(&place, "data"));

    let whole = fs::read(&tar).unwrap();
    for part in [0, 300, whole.len() / 2, whole.len() - 40_000] {
        let torn = place.path("torn.tar");
        fs::write(&torn, &whole[..part]).unwrap();
        from(&torn, &["backup", "verify", "-"]).exits(1);
        let other = text(&place.path("other"));
        from(&torn, &["--data-dir", &other, "backup", "restore", "-"]).exits(1);
        assert!(!place.path("other").exists(), "{part} bytes");
    }
    place.run(&["--json", "backup", "create", "-"]).exits(2);
}

#[test]
fn what_is_there_is_neither_replaced_nor_mixed_with_a_backup() {
    let place = place();
    let refused = |arguments: &[&str], data: &str, wanted: &str| {
        let refused = run_on(&place, data, &[&["--json"], arguments].concat()).exits(2).json();
        let message = refused["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(wanted) && refused["error"]["hint"].is_string(), "{refused}");
    };
    let backup = text(&make(&place, "monday"));
    refused(&["backup", "create", &backup], "data", "is there already");
    refused(&["backup", "create", &text(&place.path("data/inside/it"))], "data", "lies in the data directory");
    refused(&["backup", "create", &text(&place.path("none"))], "nowhere", "there is no bank");
    assert!(!place.path("none").exists() && !place.path("nowhere").exists() && !place.path("data/inside").exists());
    refused(&["backup", "restore", &backup], "data", "is not empty");
    let before = answers(&place, "data");
    let nothing = run_on(&place, "new", &["backup", "restore", &text(&place.path("project"))]).exits(1);
    assert!(nothing.stderr.contains("is no whole backup") && !place.path("new").exists(), "{nothing:?}");
    assert_eq!(answers(&place, "data"), before);
    fs::create_dir(place.path("new")).unwrap();
    run_on(&place, "new", &["backup", "restore", &backup]).ok();
    assert_eq!(answers(&place, "new"), before);
}

#[test]
fn what_was_erased_after_a_backup_is_erased_again() {
    let place = place();
    let gone = record(&place, "a secret of dates");
    place.write("other/file", "");
    let other = text(&place.path("other"));
    let of_other =
        ["memory", "record", "--title", "other", "--description", "d", "--content", "c", "--workspace", &other];
    place.run(&of_other).ok();
    let monday = make(&place, "kept/monday");
    place.run(&["memory", "delete", &gone, "--yes"]).ok();
    // A newer backup beside it knows of that.
    make(&place, "kept/tuesday");
    let deleted = place.document(&["workspace", "delete", &other, "--yes"]);
    let named: Vec<&str> =
        deleted["backups"].as_array().unwrap().iter().map(|backup| backup["directory"].as_str().unwrap()).collect();
    assert_eq!(named, [text(&monday), text(&place.path("kept/tuesday"))]);

    let restored = document_on(&place, "one", &["backup", "restore", &text(&monday)]);
    assert_eq!(
        (&restored["erased_again"], &restored["erasures_from"]),
        (&1.into(), &json!([text(&place.path("kept/tuesday"))]))
    );
    let listed = document_on(&place, "one", &["memory", "list"]).to_string();
    assert!(!listed.contains("a secret of dates") && listed.contains("parsing dates"), "{listed}");
    assert_eq!(document_on(&place, "one", &["workspace", "list"])["workspaces"].as_array().unwrap().len(), 2);
    let held = "a secret of dates".as_bytes();
    for file in files_below(&place.path("one")) {
        let bytes = fs::read(&file).unwrap();
        assert!(!bytes.windows(held.len()).any(|part| part == held), "{} still has it", file.display());
    }

    let data = text(&place.path("data"));
    let restored = document_on(&place, "two", &["backup", "restore", &text(&monday), "--erasures-of", &data]);
    assert_eq!(restored["erased_again"], 2);
    assert_eq!(document_on(&place, "two", &["workspace", "list"])["workspaces"].as_array().unwrap().len(), 1);
    assert_eq!(answers(&place, "two"), answers(&place, "data"));
    // An erasure that the log of the bank has already is not done again to what came later.
    let again = ["memory", "record", "--title", "anew", "--description", "d", "--content", "c", "--workspace", &other];
    run_on(&place, "two", &again).ok();
    run_on(&place, "two", &["backup", "create", &text(&place.path("elsewhere"))]).ok();
    let restored =
        document_on(&place, "three", &["backup", "restore", &text(&place.path("elsewhere")), "--erasures-of", &data]);
    assert_eq!(restored["erased_again"], 0);
    assert_eq!(document_on(&place, "three", &["workspace", "list"])["workspaces"].as_array().unwrap().len(), 2);

    let foreign = Place::new();
    foreign.run(&["memory", "record", "--title", "t", "--description", "d", "--content", "c"]).ok();
    let arguments = ["backup", "restore", &text(&monday), "--erasures-of", &text(&foreign.path("data"))];
    let refused = run_on(&place, "four", &arguments).exits(2);
    assert!(refused.stderr.contains("of another bank") && !place.path("four").exists(), "{refused:?}");
}

#[test]
fn a_deleted_workspace_is_named_with_the_backups_that_still_have_it() {
    let place = place();
    let before_it = make(&place, "before");
    place.write("other/file", "");
    let other = text(&place.path("other"));
    place
        .run(&["memory", "record", "--title", "t", "--description", "d", "--content", "c", "--workspace", &other])
        .ok();
    let with_it = make(&place, "with");
    let gone = make(&place, "gone");
    fs::remove_dir_all(gone).unwrap();
    let mut command = place.command(&["backup", "create", "-"]);
    assert!(command.stdout(Stdio::null()).status().unwrap().success());
    let said = place.run(&["workspace", "delete", &other, "--yes"]).ok().stdout;
    assert!(said.contains(&text(&with_it)) && said.contains("written to a stream"), "{said}");
    assert!(!said.contains(&text(&before_it)) && !said.contains("/gone"), "{said}");
}

#[test]
fn what_a_killed_process_left_is_neither_taken_for_a_backup_nor_in_the_way() {
    let place = place();
    for (dir, file) in [("data/snapshot/lance", "rows"), (".monday.partial/bank", "rows"), ("new/.restoring", "rows")] {
        fs::create_dir_all(place.path(dir)).unwrap();
        fs::write(place.path(dir).join(file), "half").unwrap();
    }
    place.run(&["backup", "verify", &text(&place.path(".monday.partial"))]).exits(1);
    let refused = run_on(&place, "new", &["memory", "list"]).exits(1);
    assert!(refused.stderr.contains("restore"), "{refused:?}");
    let backup = make(&place, "monday");
    assert!(!place.path("data/snapshot").exists() && !place.path(".monday.partial").exists());
    assert_eq!(place.document(&["backup", "verify", &text(&backup)])["whole"], true);
    run_on(&place, "new", &["backup", "restore", &text(&backup)]).ok();
    assert_eq!(answers(&place, "new"), answers(&place, "data"));
    assert!(!place.path("new/.restoring").exists());

    // An erasure leaves nothing of what a backup had gathered.
    fs::create_dir_all(place.path("data/snapshot")).unwrap();
    let id = record(&place, "to be erased");
    place.run(&["memory", "delete", &id, "--yes"]).ok();
    assert!(!place.path("data/snapshot").exists());
}

#[test]
fn another_file_system_gets_copies() {
    let place = place();
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else { return };
    if elsewhere.path().metadata().unwrap().dev() == place.path("data").metadata().unwrap().dev() {
        return;
    }
    let backup = elsewhere.path().join("monday");
    place.run(&["backup", "create", &text(&backup)]).ok();
    assert_eq!(place.document(&["backup", "verify", &text(&backup)])["whole"], true);
    for file in files_below(&backup) {
        let metadata = file.metadata().unwrap();
        assert_eq!((metadata.nlink(), metadata.permissions().mode() & 0o777), (1, 0o600), "{}", file.display());
    }
    run_on(&place, "new", &["backup", "restore", &text(&backup)]).ok();
    assert_eq!(answers(&place, "new"), answers(&place, "data"));
}
